/* How long others wait while one process does something to a large file: the longest that a process
 * waited between two of its own small calls, in nanoseconds.
 *   gap VERB FILE MIB ROUNDS
 * The verbs: none (nothing, for a moment), fsync, osync (one write with O_SYNC), osync4k (1,000
 * small ones), unlink, truncate, trunc (open with O_TRUNC), shrink (to its half), punch, fallocate,
 * first (its first byte is written, after a line on stdin: a snapshot can be made before), log (of
 * 1,000 files for each MiB the mode is changed until their log was written anew), watch (until a
 * line on stdin). What happened before the verb is on the disk. A second figure tells what the verb
 * itself took. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(e)                                                               \
	do {                                                                   \
		if (!(e)) {                                                    \
			fprintf(stderr, "gap: %s: %s\n", #e, strerror(errno)); \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define BLOCK (1L << 20)

static struct {
	volatile int go, stop;
	volatile long long longest;
} * shared;

static const char *verb, *name;
static long mib;
static char *bytes;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int is(const char *v)
{
	return !strcmp(verb, v);
}

/* Calls that the kernel sees, and that wait for nothing. */
static void watch(void)
{
	long long last, t;
	int p[2];
	char c = 0;

	CHECK(pipe(p) == 0);
	while (!shared->go)
		usleep(1000);
	for (last = now(); !shared->stop; last = t) {
		CHECK(write(p[1], &c, 1) == 1 && read(p[0], &c, 1) == 1);
		t = now();
		if (t - last > shared->longest)
			shared->longest = t - last;
	}
	exit(0);
}

static void log_file(long i, char path[64])
{
	snprintf(path, 64, "%s.%ld", name, i % (mib * 1000));
}

static int log_prepare(void)
{
	char path[64];

	for (long i = 0; i < mib * 1000; i++) {
		log_file(i, path);
		CHECK(close(open(path, O_RDWR | O_CREAT, 0600)) == 0);
	}
	return -1;
}

static void log_grow(void)
{
	char path[64];

	for (long i = 0; i < mib * 12000; i++) {
		log_file(i, path);
		CHECK(chmod(path, 0600 + (i / (mib * 1000)) % 64) == 0);
	}
	for (long i = 0; i < mib * 1000; i++) {
		log_file(i, path);
		CHECK(unlink(path) == 0);
	}
}

static int prepare(void)
{
	if (is("log"))
		return log_prepare();

	int fd = open(name, O_RDWR | O_CREAT | (is("first") ? 0 : O_TRUNC), 0644);

	CHECK(fd >= 0);
	if (is("osync") || is("osync4k") || is("fallocate") || is("watch") || is("none") ||
	    (is("first") && lseek(fd, 0, SEEK_END) > 0))
		return fd;
	for (long i = 0; i < mib; i++)
		CHECK(pwrite(fd, bytes, BLOCK, i * BLOCK) == BLOCK);
	if (!is("fsync"))
		CHECK(fsync(fd) == 0);
	return fd;
}

static void line_wait(void)
{
	char c;

	printf("ready\n");
	fflush(stdout);
	do
		CHECK(read(0, &c, 1) == 1);
	while (c != '\n');
}

static void act(int fd)
{
	const off_t size = mib * BLOCK;
	int sync = is("osync") || is("osync4k") ? open(name, O_RDWR | O_SYNC) : -1;

	if (is("none"))
		usleep(300000);
	else if (is("fsync"))
		CHECK(fsync(fd) == 0);
	else if (is("osync"))
		CHECK(write(sync, bytes, (size_t)size) == size);
	else if (is("osync4k"))
		for (long i = 0; i < 1000; i++)
			CHECK(write(sync, bytes, 4096) == 4096);
	else if (is("unlink"))
		CHECK(unlink(name) == 0 && close(fd) == 0);
	else if (is("truncate"))
		CHECK(ftruncate(fd, 0) == 0);
	else if (is("shrink"))
		CHECK(truncate(name, size / 2) == 0);
	else if (is("trunc"))
		CHECK(close(open(name, O_RDWR | O_TRUNC)) == 0);
	else if (is("punch"))
		CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size) == 0);
	else if (is("fallocate"))
		CHECK(fallocate(fd, 0, 0, size) == 0);
	else if (is("first"))
		CHECK(pwrite(fd, "x", 1, 0) == 1);
	else if (is("log"))
		log_grow();
	else if (is("watch"))
		line_wait();
	else
		CHECK(!"a verb that is known");
}

int main(int argc, char **argv)
{
	long long start;
	pid_t pid;
	int fd;

	if (argc != 5) {
		fprintf(stderr, "usage: gap VERB FILE MIB ROUNDS\n");
		return 2;
	}
	verb = argv[1];
	name = argv[2];
	mib = atol(argv[3]);
	bytes = malloc((size_t)mib * BLOCK);
	CHECK(bytes);
	memset(bytes, 'a', (size_t)mib * BLOCK);
	for (int i = atoi(argv[4]); i > 0; i--) {
		shared =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		CHECK(shared != MAP_FAILED);
		pid = fork();
		if (pid == 0)
			watch();
		fd = prepare();
		if (is("first"))
			line_wait();
		shared->go = 1;
		usleep(50000);
		start = now();
		act(fd);
		start = now() - start;
		shared->stop = 1;
		CHECK(waitpid(pid, NULL, 0) == pid);
		printf("%lld %lld\n", shared->longest, start);
		fflush(stdout);
		if (fd >= 0)
			close(fd);
		if (!is("first"))
			unlink(name);
	}
	return 0;
}
