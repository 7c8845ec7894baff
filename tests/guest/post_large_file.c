/*
 * Large reads and writes of files, each so often that it goes the shortest way there is: sizes
 * around the pieces in which they are moved, at odd places of memory, at the file's position and at
 * a given one, beyond its end, appended, with a limit on its size, and by two threads at a time.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB (1 << 20)
/* Says something only if it is not so. */
#define MUST(expr) ((void)((expr) || CHECK(!#expr[0])))
#define TIMES 40

static unsigned char *mem, *back; /* 5 MiB each */

static void fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = (unsigned char)(seed >> 16);
	}
}

/* Until the program counts as busy. */
static void warm_up(int fd)
{
	for (int i = 0; i < 700; i++)
		if (pwrite(fd, mem, 40000, 0) != 40000 || pread(fd, back, 40000, 0) != 40000)
			abort();
	for (int i = 0; i < 300; i++)
		if (pwrite(fd, mem, 100000, 0) != 100000 || pread(fd, back, 100000, 0) != 100000 ||
		    lseek(fd, 0, SEEK_SET) || write(fd, mem, 70000) != 70000 || lseek(fd, 0, SEEK_SET) ||
		    read(fd, back, 70000) != 70000)
			abort();
	CHECK(!memcmp(mem, back, 100000));
}

static void sizes(int fd)
{
	static const size_t size[] = { 32767,  32768,  32769,   65535,   65536,       65537,       98304, 131071,
				       131072, 131073, 196608,  262145,  MIB - 1,     MIB,         MIB + 1,
				       2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 3 * MIB };
	static const size_t odd[] = { 0, 1, 63, 4095 };

	for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		int same = 0, times = size[i] > 300000 ? 4 : TIMES;

		for (int r = 0; r < times; r++) {
			unsigned char *from = mem + odd[r % 4], *to = back + odd[(r / 2) % 4];
			off_t at = (r % 3) * 1000;

			fill(from, 64, (unsigned)r);
			fill(from + size[i] - 64, 64, (unsigned)r + 7);
			memset(to - (to > back), 0x5a, 1);
			to[size[i]] = 0x5a;
			if (r & 1) {
				same += lseek(fd, at, SEEK_SET) == at && write(fd, from, size[i]) == (ssize_t)size[i] &&
					lseek(fd, 0, SEEK_CUR) == at + (off_t)size[i];
				same += lseek(fd, at, SEEK_SET) == at && read(fd, to, size[i]) == (ssize_t)size[i] &&
					lseek(fd, 0, SEEK_CUR) == at + (off_t)size[i];
			} else {
				same += pwrite(fd, from, size[i], at) == (ssize_t)size[i];
				same += pread(fd, to, size[i], at) == (ssize_t)size[i];
			}
			same += !memcmp(from, to, size[i]) && to[size[i]] == 0x5a;
		}
		printf("%zu bytes: %s\n", size[i], same == 3 * times ? "the same" : "NOT THE SAME");
	}
}

static void ends(int fd)
{
	int same = 0;

	CHECK(ftruncate(fd, 200001) == 0);
	for (int r = 0; r < TIMES; r++) {
		memset(back, 0x33, 300000);
		same += pread(fd, back, 131072, 100000) == 100001 && back[100000] == mem[200000] && back[100001] == 0x33;
		same += pread(fd, back, 131072, 200000) == 1 && pread(fd, back, 131072, 200001) == 0;
		same += pread(fd, back, 131072, 1L << 40) == 0 && pread(fd, back, 300000, 0) == 200001;
		lseek(fd, 150000, SEEK_SET);
		same += read(fd, back, 131072) == 50001 && read(fd, back, 131072) == 0 && lseek(fd, 0, SEEK_CUR) == 200001;
		same += pread(fd, back, 131072, -1) == -1 && errno == EINVAL;
		same += pwrite(fd, mem, 131072, -1) == -1 && errno == EINVAL;
	}
	CHECK(same == 6 * TIMES);
}

static void modes(void)
{
	int rd = open("f", O_RDONLY), wr = open("f", O_WRONLY), ap = open("f", O_RDWR | O_APPEND), p[2], same = 0;
	struct rlimit rl = { 300000, RLIM_INFINITY };

	for (int r = 0; r < TIMES; r++) {
		same += write(rd, mem, 131072) == -1 && errno == EBADF;
		same += read(wr, back, 131072) == -1 && errno == EBADF;
		same += read(99, back, 131072) == -1 && errno == EBADF;
		MUST(ftruncate(wr, 1000) == 0 && lseek(ap, 0, SEEK_SET) == 0);
		same += write(ap, mem, 131072) == 131072 && lseek(ap, 0, SEEK_CUR) == 132072;
		same += pwrite(ap, mem, 70000, 5) == 70000 && lseek(ap, 0, SEEK_END) == 202072;
		same += pread(ap, back, 131072, 1000) == 131072 && !memcmp(mem, back, 131072);
	}
	CHECK(same == 6 * TIMES);

	/* A pipe takes what fits. */
	CHECK(pipe2(p, O_NONBLOCK) == 0);
	for (int r = same = 0; r < TIMES; r++)
		same += write(p[1], mem, 131072) == 65536 && read(p[0], back, 131072) == 65536 && !memcmp(mem, back, 65536);
	CHECK(same == TIMES);

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &rl) == 0);
	for (int r = same = 0; r < TIMES; r++) {
		MUST(ftruncate(wr, 0) == 0);
		same += pwrite(wr, mem, 131072, 200000) == 100000 && pwrite(wr, mem, 131072, 300000) == -1 && errno == EFBIG;
	}
	CHECK(same == TIMES);
	rl.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &rl) == 0);
	close(rd);
	close(wr);
	close(ap);
}

static int shared, bad;

/* Blocks of one letter, at one position that both have: none is torn, none is lost. */
static void *writer(void *arg)
{
	static char block[2][131072];
	char *b = block[(long)arg];

	memset(b, 'a' + (int)(long)arg, sizeof(block[0]));
	for (int i = 0; i < 60; i++)
		if (write(shared, b, sizeof(block[0])) != sizeof(block[0]))
			__atomic_fetch_add(&bad, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *reader(void *arg)
{
	static char block[2][131072];
	char *b = block[(long)arg];
	long n, blocks = 0;

	while ((n = read(shared, b, sizeof(block[0]))) > 0) {
		blocks++;
		if (n != sizeof(block[0]) || (b[0] != 'a' && b[0] != 'b') || memcmp(b, b + 1, (size_t)n - 1))
			__atomic_fetch_add(&bad, 1, __ATOMIC_SEQ_CST);
	}
	return (void *)blocks;
}

static void threads(void)
{
	pthread_t th[2];
	long blocks = 0;
	void *ret;

	shared = open("g", O_CREAT | O_RDWR | O_TRUNC, 0600);
	for (long i = 0; i < 2; i++)
		pthread_create(&th[i], NULL, writer, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(th[i], NULL);
	CHECK(bad == 0 && lseek(shared, 0, SEEK_CUR) == 120 * 131072 && lseek(shared, 0, SEEK_SET) == 0);
	for (long i = 0; i < 2; i++)
		pthread_create(&th[i], NULL, reader, (void *)i);
	for (int i = 0; i < 2; i++) {
		pthread_join(th[i], &ret);
		blocks += (long)ret;
	}
	CHECK(bad == 0 && blocks == 120);
	close(shared);
	unlink("g");
}

int main(void)
{
	int fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);

	mem = mmap(NULL, 5 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	back = mmap(NULL, 5 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || mem == MAP_FAILED || back == MAP_FAILED)
		return 2;
	fill(mem, 5 * MIB, 1);
	warm_up(fd);
	sizes(fd);
	CHECK(pwrite(fd, mem, 300000, 0) == 300000);
	ends(fd);
	modes();
	threads();
	close(fd);
	unlink("f");
	return 0;
}
