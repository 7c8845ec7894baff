/* A gate that was broken into, as far as its journal's ring goes: cc -DMODE=N, started by a keeper instead of viv-gate. What a real one
 * could do that has closed the ring's descriptor; see tests/e2e/journalnet.py for what must not come of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DATA (256u << 10)
#define HEAD 4096u

struct ring {
	uint64_t magic, head, tail;
	uint32_t sleeping, waiting, moved, zero;
	uint64_t id;
};

struct frame {
	uint32_t size;
	uint16_t kind, pad;
	int32_t pid;
	uint32_t zero;
	int64_t mono, wall;
	uint8_t fields[8];
};

int main(void)
{
	uint8_t *at = mmap(NULL, HEAD + DATA, PROT_READ | PROT_WRITE, MAP_SHARED, 7, 0);
	volatile struct ring *r = (void *)at;
	uint8_t *data = at + HEAD;
	/* A fork by process 4242, whom nobody has seen: a kernel's record. */
	struct frame f = { .size = 40, .kind = 5, .pad = 7, .pid = 4242, .mono = 1, .wall = 1, .fields = { 1 } };
	uint64_t one = 1;

	if (at == MAP_FAILED)
		return 1;
	close(7);
	srand(MODE);
	for (unsigned long i = 0;; i++) {
		uint64_t here = r->head % DATA;

		switch (MODE) {
		case 0: /* kinds of the kernel's */
			if (here + sizeof(f) <= DATA)
				memcpy(data + here, &f, sizeof(f));
			r->head += here + sizeof(f) <= DATA ? sizeof(f) : DATA - here;
			break;
		case 1: /* impossible positions */
			r->head += (uint64_t)rand() << (rand() % 32);
			break;
		case 2: /* sizes beyond all, also when they have been looked at */
			f.size = i % 3 ? 0xfffffff8u : 0;
			memcpy(data + (here & ~7ull) % (DATA - 64), &f, sizeof(f));
			r->head += 64;
			break;
		case 3: /* times in the past and the future, at any speed, and a bell that never rests */
			f.kind = 18, f.mono = i % 2 ? INT64_MIN : INT64_MAX, memset(f.fields, 0, 8), f.pad = 5;
			if (here + sizeof(f) <= DATA)
				memcpy(data + here, &f, sizeof(f));
			r->head += here + sizeof(f) <= DATA ? sizeof(f) : DATA - here;
			break;
		default: /* everything, at random */
			((volatile uint8_t *)at)[(size_t)rand() % (i % 2 ? sizeof(struct ring) : HEAD + DATA)] ^= (uint8_t)rand();
		}
		if (write(8, &one, sizeof(one)) < 0)
			return 1;
		if (i % 64 == 63)
			usleep(1000);
	}
}
