/* What the programs slow*.c share. Each makes calls of a size that a guest chooses, and exits with
 * much in its tables: none may keep the kernel for long, as everybody else waits for it. What
 * counts is the CPU time of the longest turn of its loop, which it measures itself and tells as
 * that of process 1: how long somebody really waits also depends on the machine, and is the
 * benchmark's to say. A machine that is busy can make a turn look longer, never shorter, so of a
 * few tries the best one counts. usage: slow... [part of a name [scale [milliseconds]]]; scale 2:
 * as much as a cell's limits allow */
#ifndef SLOW_H
#define SLOW_H

#include <sys/resource.h>

#include "hostile.h"

#define TRIES 4

static int slow_scale = 1;

struct kind {
	const char *name;
	void (*fn)(void);
};

/* So many descriptors, and whatever else there is a limit for. */
__attribute__((unused)) static void no_limits(void)
{
	static const int all[] = { RLIMIT_NOFILE, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct rlimit r;

		getrlimit(all[i], &r);
		r.rlim_cur = r.rlim_max;
		setrlimit(all[i], &r);
	}
}

/* Runs fn in a process of its own, and ends all that it made. */
static void kind_run(const struct kind *k)
{
	double end = seconds() + 10;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		no_limits();
		k->fn();
		_exit(0);
	}
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (seconds() > end) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			break;
		}
		usleep(1000);
	}
	kill(-pid, SIGKILL);
	/* What is left of it ends as well, and is part of the measure. */
	for (end = seconds() + 5; kill(-pid, 0) == 0 && seconds() < end;)
		usleep(1000);
	usleep(20000);
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* Milliseconds of CPU time that the longest turn took; negative: not to be had. */
static double longest_turn(void)
{
	FILE *f = fopen("/proc/1/sched", "r");
	char line[256];
	double ms = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "exec_max : %lf", &ms);
	if (f)
		fclose(f);
	return ms;
}

static int slow_main(const struct kind *kinds, size_t n, int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	double limit = 20; /* ms */

	if (argc > 2 && atoi(argv[2]) > 1)
		slow_scale = 2;
	if (argc > 3)
		limit = atof(argv[3]);
	check(put("/proc/sys/kernel/sched_schedstats", "1"), "turns of the kernel are measured");
	(void)!mkdir("/tmp/slow", 0700);
	(void)!chdir("/tmp/slow");
	for (size_t i = 0; i < n; i++) {
		double start = seconds(), best = 1e9;
		int tries = 0;

		if (!strstr(kinds[i].name, part))
			continue;
		while (best >= limit && tries++ < TRIES) {
			double ms;

			put("/proc/1/sched", "0");
			kind_run(&kinds[i]);
			ms = longest_turn();
			if (ms > 0 && ms < best)
				best = ms;
		}
		check(best < limit, "%s: the kernel works %.1f ms at most between two looks at its calls (%.1f s, %d tries)",
		      kinds[i].name, best, seconds() - start, tries > TRIES ? TRIES : tries);
	}
	return done();
}
#define SLOW_MAIN(kinds)                                                                                            \
	int main(int argc, char **argv)                                                                             \
	{                                                                                                           \
		return slow_main(kinds, sizeof(kinds) / sizeof((kinds)[0]), argc, argv);                            \
	}

#endif
