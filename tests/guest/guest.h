/*
 * What every guest program shares. A guest program runs twice, on the host's kernel and in a cell,
 * and must print the same. So it prints relations and error names, never pids, addresses, inode
 * numbers or times. Include this file first: it defines _GNU_SOURCE. One C file is one program, so
 * everything here is static.
 *
 * Markers that run.sh reads in a program's source, each in a C comment on a line of its own:
 *   differs: reason     the cell is known to differ; reported as TODO
 *   disk: yes           in the cell it runs on a disk, not in memory
 *   needs: root         the program needs uid 0; skipped, and counted, where the host run has not
 */
#ifndef GUEST_H
#define GUEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* "ENOENT" for ENOENT, "0" for 0. */
static inline const char *ename(int e)
{
	const char *n = strerrorname_np(e);
	return n ? n : "unknown";
}

/* "SIGPIPE" for SIGPIPE. Not for two calls in one printf. */
static inline const char *signame(int sig)
{
	static char buf[32];
	const char *n = sigabbrev_np(sig);
	snprintf(buf, sizeof(buf), "SIG%s", n ? n : "?");
	return buf;
}

static inline bool check_(const char *text, bool good)
{
	int e = errno;
	if (good)
		printf("%s: ok\n", text);
	else
		printf("%s: FAIL (errno %s)\n", text, ename(e));
	return good;
}

static inline long long show_(const char *text, long long value)
{
	int e = errno;
	if (value == -1)
		printf("%s = -1 %s\n", text, ename(e));
	else
		printf("%s = %lld\n", text, value);
	return value;
}

/* Prints "expr: ok" or "expr: FAIL (errno NAME)"; its value is the truth of expr. */
#define CHECK(expr) (errno = 0, check_(#expr, (expr)))
/* Prints "expr = value", or "expr = -1 ENAME"; its value is that of expr. */
#define SHOW(expr) (errno = 0, show_(#expr, (long long)(expr)))
/*
 * As SHOW, for calls whose result (a descriptor, a pid) is not to be printed: "expr: ok" unless it
 * is -1.
 */
#define SHOWOK(expr) (errno = 0, showok_(#expr, (long long)(expr)))

static inline long long showok_(const char *text, long long value)
{
	check_(text, value != -1);
	return value;
}

static pid_t forked_by __attribute__((unused)); /* who called xfork last */

/*
 * fork() with stdout flushed and the child under its own alarm. Dies when there is no process to be
 * had.
 */
static inline pid_t xfork(void)
{
	fflush(stdout);
	forked_by = getpid();
	pid_t pid = fork();
	if (pid < 0) {
		printf("fork: %s\n", ename(errno));
		exit(99);
	}
	if (pid == 0)
		alarm(100);
	return pid;
}

/* In a child of xfork: signals its parent. Once that is gone, process 1 would be hit in its
 * place. */
static inline void kill_parent(int sig)
{
	if (getppid() != forked_by)
		_exit(0);
	kill(forked_by, sig);
}

static inline int xwait(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Runs fn in a child, which exits 0 when fn returns; returns the wait status. */
static inline int in_child(void (*fn)(void))
{
	pid_t pid = xfork();
	if (pid == 0) {
		fn();
		fflush(stdout);
		_exit(0);
	}
	return xwait(pid);
}

/* Prints "what: exited 0" or "what: killed by SIGSEGV". */
static inline void show_status(const char *what, int status)
{
	if (WIFEXITED(status))
		printf("%s: exited %d\n", what, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: killed by %s\n", what, signame(WTERMSIG(status)));
	else
		printf("%s: status %#x\n", what, (unsigned)status);
}

/*
 * Root becomes uid and gid 1000 without further groups or capabilities; others stay as they are.
 * Opens the current directory to all first, and stays dumpable, so that what follows looks the same
 * to either. For a child.
 */
static inline void drop_to_user(void)
{
	if (geteuid() != 0)
		return;
	if (chmod(".", 0777) || setgroups(0, NULL) || setresgid(1000, 1000, 1000) ||
	    setresuid(1000, 1000, 1000)) {
		printf("drop_to_user: %s\n", ename(errno));
		fflush(stdout);
		_exit(98);
	}
	prctl(PR_SET_DUMPABLE, 1);
}

/* Makes path a file that holds text, mode 0644; returns 0 or -1. */
static inline int put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return -1;
	ssize_t n = write(fd, text, strlen(text));
	return close(fd) || n != (ssize_t)strlen(text) ? -1 : 0;
}

/*
 * The content of path as a string, cut at 4,095 bytes, or "(ENAME)". Overwritten by the next call.
 */
static inline const char *get_file(const char *path)
{
	static char buf[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (n < 0)
		snprintf(buf, sizeof(buf), "(%s)", ename(errno));
	else
		buf[n] = '\0';
	if (fd >= 0)
		close(fd);
	return buf;
}

/* The state of a thread as in /proc/PID/stat, '?' when there is none. */
static inline char thread_state(pid_t pid, pid_t tid)
{
	char path[64], buf[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	p = strrchr(buf, ')');
	return p ? p[2] : '?';
}

/* Returns when the thread waits for something: until then a signal could come too early. */
static inline void task_await(pid_t pid, pid_t tid)
{
	for (int still = 0; still < 4; usleep(1000))
		still = strchr("SD", thread_state(pid, tid)) ? still + 1 : 0;
}

/* A hang ends the program; lines come out one by one; the caller's umask does not matter. */
__attribute__((constructor)) static void guest_begin(void)
{
	alarm(20);
	setvbuf(stdout, NULL, _IOLBF, 0);
	umask(022);
}

#endif
