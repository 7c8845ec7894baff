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
