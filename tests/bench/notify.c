/* The bare cost of a notified system call, to compare a cell's with:   notify COUNT [ROUNDS]
 *
 * A child calls getppid in a loop under a filter that sends it to us; we do the least that a
 * supervisor can do: poll, receive, answer. Flags as in a cell: WAIT_KILLABLE_RECV, and
 * SYNC_WAKE_UP where the host has it. Prints nanoseconds for each call, as the child sees it, one
 * line each round. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1UL

static void die(const char *what)
{
	fprintf(stderr, "notify: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
}

static void fd_send(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &m, 0) != 1)
		die("sendmsg");
}

static int fd_receive(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(sock, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void child(int sock, long n, int rounds)
{
	int fd = filter_install();

	if (fd < 0)
		die("seccomp");
	fd_send(sock, fd);
	close(fd);
	for (long i = 0; i < n / 10 + 1; i++)
		syscall(SYS_getppid);
	while (rounds--) {
		long long start = now();

		for (long i = 0; i < n; i++)
			syscall(SYS_getppid);
		printf("%.1f\n", (double)(now() - start) / (double)n);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;
	int rounds = argc > 2 ? atoi(argv[2]) : 1, pair[2], fd, status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		child(pair[1], n, rounds);
	close(pair[1]);
	fd = fd_receive(pair[0]);
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) < 0)
		fprintf(stderr, "notify: this host has no SYNC_WAKE_UP\n");
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct seccomp_notif in;
		struct seccomp_notif_resp out;

		if (poll(&p, 1, -1) < 0)
			die("poll");
		if (!(p.revents & POLLIN))
			break; /* the child is gone */
		memset(&in, 0, sizeof(in));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
			continue;
		out = (struct seccomp_notif_resp){ .id = in.id, .val = 42 };
		(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &out);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}
