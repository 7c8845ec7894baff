/* Runners as the host's processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/child.h"

/* #syscalls: rt_tgsigqueueinfo */
int host_tgsigqueue(pid_t tgid, pid_t tid, int sig, const void *siginfo)
{
	return syscall(SYS_rt_tgsigqueueinfo, tgid, tid, sig, siginfo) < 0 ? -errno : 0;
}

/* #syscalls: rt_sigqueueinfo */
int host_sigqueue(pid_t pid, int sig, const void *siginfo)
{
	return syscall(SYS_rt_sigqueueinfo, pid, sig, siginfo) < 0 ? -errno : 0;
}

/* #syscalls: kill */
int host_kill(pid_t pid, int sig)
{
	return kill(pid, sig) < 0 ? -errno : 0;
}

/* #syscalls: tgkill */
bool host_is_thread(pid_t tgid, pid_t tid)
{
	return syscall(SYS_tgkill, tgid, tid, 0) == 0;
}

/* #syscalls: waitid */
int host_wait_any(struct host_end *out)
{
	siginfo_t si = { 0 };

	if (syscall(SYS_waitid, P_ALL, 0, &si, WEXITED | WSTOPPED | WCONTINUED | WNOHANG,
		    &out->usage) < 0)
		return -errno;
	if (si.si_pid == 0)
		return 0;
	out->pid = si.si_pid;
	out->code = si.si_code;
	out->status = si.si_status;
	return 1;
}

int host_sigchld_fd(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* #syscalls: read */
void host_sigchld_drain(int fd)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == sizeof(si))
		;
}

static uint64_t field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 16) : 0;
}

/* #syscalls: openat read close */
int host_thread_sigs(int proc_fd, pid_t pid, pid_t tid, struct host_sigs *out)
{
	char buf[4096], path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%d/task/%d/status", pid, tid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	buf[n] = 0;
	out->blocked = field(buf, "\nSigBlk:");
	out->ignored = field(buf, "\nSigIgn:");
	out->caught = field(buf, "\nSigCgt:");
	return 0;
}

/* ---- the short way ----
 *
 * task/TID/stat costs the host half of what status does, and a descriptor that is still open half
 * of the rest. It has the first 31 signals only; the reserved one is blocked in the stub alone,
 * where all of them are. A descriptor belongs to its thread for good: when that has ended, it says
 * so, whoever has the number now. */

#define STATS_KEPT 16
/* What is blocked when everything is, or all that a guest can block. */
#define LOW_BIT(sig) (1u << ((sig)-1))
#define LOW_ALL (0x7fffffffu & ~LOW_BIT(SIGKILL) & ~LOW_BIT(SIGSTOP) & ~LOW_BIT(SIGSYS))

static struct {
	pid_t pid, tid;
	int fd;
} stats_kept[STATS_KEPT];

/* #syscalls: openat pread64 close */
static ssize_t stat_read(int proc_fd, pid_t pid, pid_t tid, char *buf, size_t size)
{
	static unsigned oldest;
	char path[64];
	unsigned i;
	ssize_t n;
	int fd;

	for (i = 0; i < STATS_KEPT; i++) {
		if (stats_kept[i].pid != pid || stats_kept[i].tid != tid)
			continue;
		n = pread(stats_kept[i].fd, buf, size, 0);
		if (n > 0)
			return n;
		break;
	}
	if (i == STATS_KEPT)
		i = oldest++ % STATS_KEPT;
	if (stats_kept[i].pid)
		close(stats_kept[i].fd);
	stats_kept[i].pid = 0;
	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stats_kept[i].pid = pid;
	stats_kept[i].tid = tid;
	stats_kept[i].fd = fd;
	n = pread(fd, buf, size, 0);
	return n > 0 ? n : -ESRCH;
}

/* #syscalls: close */
void host_thread_sigs_forget(void)
{
	for (unsigned i = 0; i < STATS_KEPT; i++) {
		if (stats_kept[i].pid)
			close(stats_kept[i].fd);
		stats_kept[i].pid = 0;
	}
}

int host_thread_sigs_of(int proc_fd, pid_t pid, pid_t tid, int sig, struct host_sigs *out)
{
	char buf[1024], *s;
	uint64_t set[3];
	ssize_t n;

	if (sig > 31)
		return host_thread_sigs(proc_fd, pid, tid, out);
	n = stat_read(proc_fd, pid, tid, buf, sizeof(buf) - 1);
	if (n < 0)
		return (int)n;
	buf[n] = 0;
	/* After the name, which may hold anything, comes field 3; 32 to 34 are these sets. */
	s = strrchr(buf, ')');
	for (int i = 2; s && i < 32; i++)
		s = strchr(s + 1, ' ');
	for (int i = 0; s && i < 3; i++)
		set[i] = strtoull(s + 1, &s, 10);
	if (!s || (set[0] & LOW_ALL) == LOW_ALL)
		return host_thread_sigs(proc_fd, pid, tid, out);
	out->blocked = set[0];
	out->ignored = set[1];
	out->caught = set[2];
	return 0;
}
