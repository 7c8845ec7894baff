/* Streams of large reads and writes (src/stub/post.h): whatever the box says of them and however it
 * changes in the middle, the calls do what they could have done anyway, and nobody waits for a
 * runner that does not go on. usage: stream [seconds] */
#include "hostile.h"

#include <pthread.h>

#include "box.h"

#define SCRIBBLERS 2
#define LEN (1 << 20)

static struct post_box *box;
static char *area, *mem;
static volatile int stop;
static uint32_t tids[SCRIBBLERS + 1];
static int files[4];

static uint32_t odd(void)
{
	static const uint32_t some[] = { 0, 1, 4096, 65535, 65536, 131072, LEN, AREA_SIZE, AREA_SIZE - 1, AREA_SIZE + 1, 1u << 31, ~0u };

	return rnd() % 3 ? some[rnd() % (sizeof(some) / sizeof(some[0]))] : (uint32_t)rnd();
}

static void scribble(uint32_t i)
{
	static const uint64_t nrs[] = { SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_fstat };
	struct post_slot *s = &box->slot[i];

	s->nr = nrs[rnd() % 6];
	s->a[0] = (uint64_t)files[rnd() % 4];
	s->a[1] = (uint64_t)mem + rnd() % 8 * 4096;
	s->a[2] = rnd() % 4 ? rnd() % (2 * LEN) : odd();
	s->a[3] = rnd() % LEN;
	s->nin = 0;
	s->out_room = 0;
	s->stream = rnd() % 4;
	s->stream_len = rnd() % 2 ? (uint32_t)s->a[2] : odd();
	s->stream_at = rnd() % 2 ? 0 : odd();
	s->ready = odd();
	s->filled = odd();
	s->far = odd();
	box->area_owner = rnd() % 2 ? 0 : tids[0];
	__atomic_store_n(&box->state[i], POST_STATE(tids[rnd() % (SCRIBBLERS + 1)], POST_POSTED), __ATOMIC_SEQ_CST);
	for (int k = 0; k < 200; k++) {
		s->ready = odd();
		s->filled = odd();
		s->stream_len = odd();
		s->stream_at = odd();
		area[rnd() % AREA_SIZE]++;
	}
}

static void *scribbler(void *arg)
{
	tids[(long)arg] = (uint32_t)RAW(SYS_gettid);
	while (!stop)
		for (uint32_t i = 0; i < POST_SLOTS; i++)
			scribble(i);
	return NULL;
}

static void all_open(void)
{
	box = box_map();
	area = box ? shared_map(1, AREA_SIZE) : NULL;
	if (!area || shared_map(1, AREA_SIZE))
		_exit(9); /* there is one for us, and not a second */
	mem = mmap(NULL, 4 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	files[0] = open("/tmp/stream.rw", O_RDWR | O_CREAT | O_TRUNC, 0600);
	files[1] = open("/tmp/stream.ro", O_RDONLY);
	files[2] = open("/tmp/stream.rw", O_WRONLY | O_APPEND);
	files[3] = open("/proc/self/maps", O_RDONLY);
}

static void attack(void *arg)
{
	pthread_t th[SCRIBBLERS];
	char c;

	all_open();
	tids[SCRIBBLERS] = (uint32_t)getpid();
	for (long i = 0; i < SCRIBBLERS; i++)
		pthread_create(&th[i], NULL, scribbler, (void *)i);
	for (time_t end = time(NULL) + *(int *)arg; time(NULL) < end;) {
		RAW(SYS_pread64, files[1], &c, 1, 0);
		RAW(SYS_ftruncate, files[0], LEN);
	}
	_exit(7);
}

/* A read of a megabyte whose place is said to be tried as far as ready says: what it gave, or -1 if
 * it was never made. */
static long posted(uint32_t kind, uint64_t nr, uint32_t ready)
{
	struct post_slot *s = &box->slot[0];
	uint32_t tid = (uint32_t)RAW(SYS_gettid), state;
	char c;

	s->nr = nr;
	s->ip = 0;
	s->a[0] = (uint64_t)files[nr == SYS_pread64];
	s->a[1] = (uint64_t)mem;
	s->a[2] = LEN;
	s->a[3] = 0;
	s->nin = 0;
	s->out_room = 0;
	s->stream = kind;
	s->stream_len = LEN;
	s->stream_at = 4096;
	s->ready = ready;
	s->filled = 0;
	__atomic_store_n(&box->state[0], POST_STATE(tid, POST_POSTED), __ATOMIC_SEQ_CST);
	for (time_t end = time(NULL) + 20; time(NULL) < end;) {
		state = __atomic_load_n(&box->state[0], __ATOMIC_ACQUIRE);
		if (POST_STEP(state) == POST_DONE)
			return s->ret;
		if (POST_STEP(state) == POST_ASK) /* there was something else of ours to see to */
			__atomic_store_n(&box->state[0], POST_STATE(tid, POST_POSTED), __ATOMIC_SEQ_CST);
		RAW(SYS_pread64, files[1], &c, 1, 0); /* the kernel is awake for who makes calls */
	}
	return -1;
}

static int is(const char *p, int c)
{
	return p[0] == c && !memcmp(p, p + 1, LEN - 1);
}

/* Nobody goes on where the stream stands still: the kernel reads and writes our memory itself. */
static void stalled(void *arg)
{
	static const uint32_t at[] = { 0, 1, 65536, 131072 + 5, READY_NO_MORE, READY_NO_MORE | 70000 };

	(void)arg;
	all_open();
	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint32_t said = at[i] & ~READY_NO_MORE, filled;

		memset(mem, 'n', LEN);
		if (posted(STREAM_OUT, SYS_pread64, at[i]) != LEN)
			_exit(8);
		filled = box->slot[0].filled;
		memcpy(mem, area + 4096, filled);
		if (filled > said || !is(mem, 'r'))
			_exit(10 + (int)i);
		memset(mem, 'w', LEN);
		memset(area + 4096, 'w', said);
		memset(area + 4096 + said, 'x', LEN - said);
		if (posted(STREAM_IN, SYS_pwrite64, at[i]) != LEN || RAW(SYS_pread64, files[0], mem, LEN, 0) != LEN || !is(mem, 'w'))
			_exit(20 + (int)i);
	}
	_exit(7);
}

static int gives(void (*fn)(void *), void *arg, int ms)
{
	int status = in_child(fn, arg, ms);

	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int main(int argc, char **argv)
{
	int lasts = argc > 1 ? atoi(argv[1]) : 2, fd;
	static char bytes[LEN];

	memset(bytes, 'r', LEN);
	fd = open("/tmp/stream.ro", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(write(fd, bytes, LEN) == LEN && close(fd) == 0, "a file to read");
	check(gives(stalled, NULL, 120000), "a runner that does not go on");
	/* It may well destroy itself: its calls write where it says. */
	check(in_child(attack, &lasts, lasts * 1000 + 20000) >= 0 && cell_is_well(), "streams full of nonsense");
	check(gives(stalled, NULL, 120000), "... and again");
	fd = open("/tmp/stream.ro", O_RDONLY);
	memset(bytes, 0, LEN);
	check(read(fd, bytes, LEN) == LEN && is(bytes, 'r'), "what was only to be read");
	return done();
}
