/* What the rows about images and disks (disk.py) do, in a cell and outside:
 *   disk make FILE MIB           writes a file that no host can store as a hole or compress
 *   disk write FILE MIB ROUNDS   writes it anew; with the argument "sync" also to the host's disk
 *   disk read FILE ROUNDS        reads all of it
 *   disk mmap FILE COUNT ROUNDS  maps it and copies COUNT pages of it, in no order
 * The last three print what each round took, in nanoseconds: of the whole, or of one page. Blocks
 * are as large as those of cp and cat. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHECK(e)                                                                \
	do {                                                                    \
		if (!(e)) {                                                     \
			fprintf(stderr, "disk: %s: %s\n", #e, strerror(errno)); \
			exit(1);                                                \
		}                                                               \
	} while (0)

#define BLOCK (128 << 10)
#define PAGE 4096

static uint64_t block[BLOCK / 8], seed = 88172645463325252ull;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(void)
{
	for (unsigned i = 0; i < BLOCK / 8; i++)
		block[i] = rnd();
}

/* Each block is told from the others by its first word. */
static long long file_write(const char *name, long mib, int sync)
{
	long long start;
	int fd;

	CHECK(unlink(name) == 0 || errno == ENOENT);
	start = now();
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
	CHECK(fd >= 0);
	for (long i = 0; i < mib * ((1 << 20) / BLOCK); i++) {
		block[0] = rnd();
		CHECK(write(fd, block, BLOCK) == BLOCK);
	}
	CHECK(!sync || fsync(fd) == 0);
	CHECK(close(fd) == 0);
	return now() - start;
}

static long long file_read(const char *name)
{
	long long start = now();
	int fd = open(name, O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	while ((n = read(fd, block, BLOCK)) > 0)
		;
	CHECK(n == 0 && close(fd) == 0);
	return now() - start;
}

static double file_map(const char *name, long count)
{
	int fd = open(name, O_RDONLY);
	long long start;
	struct stat st;
	const char *p;

	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= PAGE);
	start = now();
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	for (long i = 0; i < count; i++) {
		memcpy(block, p + rnd() % (uint64_t)(st.st_size / PAGE) * PAGE, PAGE);
		__asm__ volatile("" : : "r"(block) : "memory");
	}
	CHECK(munmap((void *)(uintptr_t)p, (size_t)st.st_size) == 0 && close(fd) == 0);
	return (double)(now() - start) / (double)count;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 3 ? argv[1] : "";

	fill();
	if (argc == 4 && !strcmp(verb, "make")) {
		file_write(argv[2], atol(argv[3]), 0);
	} else if ((argc == 5 || argc == 6) && !strcmp(verb, "write")) {
		for (int i = atoi(argv[4]); i > 0; i--)
			printf("%lld\n", file_write(argv[2], atol(argv[3]), argc == 6));
		CHECK(unlink(argv[2]) == 0);
	} else if (argc == 4 && !strcmp(verb, "read")) {
		file_read(argv[2]); /* warm */
		for (int i = atoi(argv[3]); i > 0; i--)
			printf("%lld\n", file_read(argv[2]));
	} else if (argc == 5 && !strcmp(verb, "mmap")) {
		file_read(argv[2]);
		for (int i = atoi(argv[4]); i > 0; i--)
			printf("%.1f\n", file_map(argv[2], atol(argv[3])));
	} else {
		fprintf(stderr, "usage: disk make FILE MIB | write FILE MIB ROUNDS [sync] | read "
				"FILE ROUNDS | "
				"mmap FILE COUNT ROUNDS\n");
		return 2;
	}
	return 0;
}
