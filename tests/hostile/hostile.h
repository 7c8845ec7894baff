/* What the hostile programs share: raw calls, checks that print TAP, children that may die.
 *
 * Each program attacks one thing from inside a cell and prints a line for each check. run.sh runs
 * it, then a normal command in the same cell, and looks at the host's side. A child's death is an
 * acceptable answer to an attack; the end of the cell is not. */
#ifndef HOSTILE_H
#define HOSTILE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../src/stub/stub.h"

static int failures;

__attribute__((format(printf, 2, 3), unused)) static void check(int ok, const char *fmt, ...)
{
	va_list ap;

	printf("%s - ", ok ? "ok" : "not ok");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	failures += !ok;
}

__attribute__((unused)) static int done(void)
{
	return failures ? 1 : 0;
}

/* The result or -errno, and nothing of libc in between. */
__attribute__((unused)) static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#define RAW(nr, ...) RAW_(nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define RAW_(nr, a, b, c, d, e, f, ...) \
	raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* With the stub's mark. */
#define MARKED(nr, a, b, c, d, e) \
	raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)STUB_MAGIC)

static uint64_t seed_state = 88172645463325252ull;
__attribute__((unused)) static uint64_t rnd(void)
{
	seed_state ^= seed_state << 13;
	seed_state ^= seed_state >> 7;
	seed_state ^= seed_state << 17;
	return seed_state;
}
__attribute__((unused)) static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

__attribute__((unused)) static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((unused)) static void naptime(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Runs fn in a child that may die, for at most ms, and ends what it made if it leads a group; the
 * wait status, or -1 when it had to be killed. */
__attribute__((unused)) static int in_child(void (*fn)(void *), void *arg, int ms)
{
	pid_t pid = fork();
	int status = 0;
	double end;

	if (pid < 0)
		return -2;
	if (pid == 0) {
		fn(arg);
		_exit(0);
	}
	end = seconds() + ms / 1000.0;
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			kill(-pid, SIGKILL);
			return status;
		}
		if (seconds() > end)
			break;
		naptime(1);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	return -1;
}

/* Does the kernel still do the ordinary things, at once? */
__attribute__((unused)) static int cell_is_well(void)
{
	double start = seconds();
	int status, p[2], fd;
	char c = 0;
	pid_t pid;

	if (pipe(p) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		fd = open("/dev/zero", O_RDONLY);
		c = 'x';
		if (fd >= 0 && read(fd, &c, 1) == 1 && c == 0)
			(void)!write(p[1], "y", 1);
		_exit(7);
	}
	close(p[1]);
	if (pid < 0 || read(p[0], &c, 1) != 1 || c != 'y')
		return 0;
	close(p[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return 0;
	return seconds() - start < 5;
}

#endif
