/* What the host counts for a user, used up from inside a cell: pending signals, inotify's watches.
 * Started by run.sh, in a cell as "fill DIRECTORY", with a directory of the host's mounted, and
 * meanwhile on the host, as the same user, as "probe DIRECTORY SIGNALS WATCHES": so much must be
 * left. */
#include <sys/inotify.h>

#include "hostile.h"

#define FILLERS 8

static long signals_queue(long max)
{
	long n = 0;

	while (n < max && sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ 0 }) == 0)
		n++;
	return n;
}

/* Of as many files as there is room for. */
static long watches_add(const char *dir, long max)
{
	int fd = inotify_init1(0);
	char name[256];
	long n = 0;

	for (; n < max; n++) {
		snprintf(name, sizeof(name), "%s/%ld", dir, n);
		if (inotify_add_watch(fd, name, IN_MODIFY) < 0)
			break;
	}
	return n;
}

static void fill(const char *dir)
{
	long total = 0, watches;
	int p[2];

	if (pipe(p) < 0)
		exit(1);
	for (int i = 0; i < FILLERS; i++)
		if (fork() == 0) {
			long n = signals_queue(1000000);

			(void)!write(p[1], &n, sizeof(n));
			for (;;)
				pause();
		}
	for (int i = 0; i < FILLERS; i++) {
		long n = 0;

		(void)!read(p[0], &n, sizeof(n));
		total += n;
	}
	watches = watches_add(dir, 1000000);
	check(watches > 0, "%ld signals and %ld watches were to be had", total, watches);
	/* The cell's own signals and timers go on: none of them waits in the queue. */
	check(kill(getpid(), SIGTERM) == 0 && cell_is_well(), "the kernel goes on");
	printf("full\n");
	fflush(stdout);
	for (;;)
		naptime(1000);
}

int main(int argc, char **argv)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2 };
	sigset_t all;
	timer_t timer;
	long n, want;

	if (argc < 3)
		return 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (!strcmp(argv[1], "fill"))
		fill(argv[2]);
	check(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0, "the user can make a timer");
	want = atol(argv[3]);
	n = signals_queue(want);
	check(n == want, "the user can queue %ld signals (%ld)", want, n);
	want = atol(argv[4]);
	n = watches_add(argv[2], want);
	check(n == want, "the user can watch %ld files (%ld)", want, n);
	return done();
}
