/* The thread for long calls of the host: order, chains, results, descriptors, its end and its
 * return. */
/* objects: src/host/worker.c src/base/sha256.c src/host/file.c src/host/sys.c src/host/fdmsg.c src/base/log.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "host/worker.h"
#include "tap.h"

static int event_fd;

static int new_file(void)
{
	char name[] = "/tmp/test_worker.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return fd;
}

static void put(uint8_t op, unsigned flags, int fd)
{
	struct work w = { .op = op, .flags = (uint8_t)flags, .fd = fd, .len = 4096 };

	worker_put(&w);
}

/* The next one that is done. */
static int64_t next(int *ret_fd)
{
	struct work w = { .result = 1 };

	if (!worker_pending())
		return 1;
	while (!worker_take(&w))
		worker_wait();
	if (ret_fd)
		*ret_fd = w.fd;
	return w.result;
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Whether some 16 KiB lie between two single pages that cannot be touched. */
static bool stack_is_guarded(void)
{
	char line[512];
	unsigned long from, to;
	int seen = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && seen < 3 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		if (seen == 1)
			seen = to - from == 16384 && strstr(line, "rw-p") ? 2 : 0;
		else if (to - from == 4096 && strstr(line, "---p"))
			seen++;
		else
			seen = 0;
	}
	if (f)
		fclose(f);
	return seen == 3;
}

int main(void)
{
	struct pollfd p = { .events = POLLIN };
	int fd = new_file(), dir = open("/tmp", O_RDONLY | O_DIRECTORY), got, n, wrong;
	struct work w;

	event_fd = worker_init();
	p.fd = event_fd;
	ok(event_fd >= 0, "there is a descriptor to watch");
	eq(threads(), 1, "no thread before there is work");
	eq(worker_room(), WORK_RING, "all room is there");

	/* Each call, and its result. */
	put(WORK_FSYNC, WORK_FIRST, fd);
	put(WORK_FDATASYNC, WORK_FIRST, fd);
	put(WORK_SYNCFS, WORK_FIRST, -1);
	put(WORK_FLUSH, WORK_FIRST, fd);
	put(WORK_FLUSH, WORK_FIRST, event_fd);
	put(WORK_NOTHING, WORK_FIRST, -1);
	ok(!worker_take(&w), "nothing is done before the kick");
	eq(threads(), 1, "nor is there a thread");
	worker_kick();
	eq(next(NULL), 0, "fsync");
	ok(stack_is_guarded(), "its stack has a page at each end that cannot be touched");
	eq(next(NULL), 0, "fdatasync");
	eq(next(NULL), -EBADF, "syncfs tells its error");
	eq(next(NULL), 0, "sync_file_range");
	eq(next(NULL), -ESPIPE, "sync_file_range of no file");
	eq(next(NULL), 0, "nothing");
	eq(worker_pending(), 0, "no more");
	eq(threads(), 2, "one thread did it");
	eq(poll(&p, 1, 20000), 1, "the descriptor tells");
	worker_heard();
	eq(poll(&p, 1, 0), 0, "once");

	/* A chain ends where something fails that must not. */
	put(WORK_FSYNC, WORK_FIRST, -1);
	put(WORK_FSYNC, 0, fd);
	put(WORK_FSYNC, WORK_MUST, -1);
	put(WORK_FSYNC, WORK_CLOSE | WORK_QUIET, dup(dir));
	put(WORK_FSYNC, WORK_FIRST | WORK_QUIET, fd);
	worker_kick();
	eq(next(NULL), -EBADF, "what need not succeed");
	eq(next(NULL), 0, "... does not end a chain");
	eq(next(NULL), -EBADF, "what must succeed");
	eq(next(&got), -ECANCELED, "... does");
	ok(!is_open(got), "a descriptor is closed even so");
	eq(next(NULL), 0, "the next chain begins anew");

	/* Round and round. */
	wrong = 0;
	for (int round = 0; round < 20; round++) {
		for (n = 0; worker_room(); n++)
			put(n % 3 ? WORK_NOTHING : WORK_FDATASYNC, WORK_FIRST | WORK_CLOSE,
			    dup(fd));
		worker_kick();
		for (wrong += n != WORK_RING; n > 0; n--)
			wrong += next(&got) != 0 || is_open(got);
	}
	eq(wrong, 0, "a full ring, many times");
	eq(threads(), 2, "still one thread");

	/* It ends when there is nothing to do, and comes back. */
	for (int i = 0; i < 400 && threads() > 1; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	eq(threads(), 1, "idle, the thread ends");
	put(WORK_FSYNC, WORK_FIRST, fd);
	worker_kick();
	eq(next(NULL), 0, "and there is one again");
	eq(threads(), 2, "... thread");
	return tap_end();
}
