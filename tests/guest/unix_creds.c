/* SO_PEERCRED, SO_PASSCRED and SCM_CREDENTIALS. */
#include "net.h"

static ssize_t get(int fd, struct ucred *u, int *n)
{
	union {
		char raw[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr h;
	} c;
	char b[8];
	struct iovec iov = { b, sizeof(b) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	ssize_t r = recvmsg(fd, &m, 0);
	*n = 0;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
		if (h->cmsg_type == SCM_CREDENTIALS) {
			memcpy(u, CMSG_DATA(h), sizeof(*u));
			(*n)++;
		}
	return r;
}

int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0guest creds" };
	socklen_t alen = sizeof(sa_family_t) + 12, len;
	int s[2], n, l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);
	struct ucred u;

	len = sizeof(u);
	SHOW(getsockopt(c, SOL_SOCKET, SO_PEERCRED, &u, &len));
	printf("%d %d %d\n", (int)u.pid, (int)u.uid, (int)u.gid);
	SHOW(bind(l, SA(&a), alen));
	SHOW(listen(l, 1));
	pid_t pid = xfork();
	if (pid == 0) {
		SHOW(connect(c, SA(&a), alen));
		SHOW(getsockopt(c, SOL_SOCKET, SO_PEERCRED, &u, &len));
		SHOW(u.pid == getppid() && u.uid == getuid());
		_exit(0);
	}
	int d = accept(l, NULL, NULL);
	xwait(pid);
	SHOW(getsockopt(d, SOL_SOCKET, SO_PEERCRED, &u, &len));
	SHOW(u.pid == pid && u.uid == getuid() && u.gid == getgid());
	SHOW(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	SHOW(opt_set(s[1], SOL_SOCKET, SO_PASSCRED, 1));
	SHOW(opt_get(s[1], SOL_SOCKET, SO_PASSCRED));
	pid = xfork();
	if (pid == 0)
		_exit(write(s[0], "hi", 2) != 2);
	SHOW(get(s[1], &u, &n));
	SHOW(n == 1 && u.pid == pid && u.uid == getuid());
	xwait(pid);
	union {
		char raw[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr h;
	} cm = { .h = { .cmsg_len = CMSG_LEN(sizeof(u)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS } };
	struct iovec iov = { "own", 3 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cm, .msg_controllen = sizeof(cm) };
	u = (struct ucred){ getpid(), getuid(), getgid() };
	memcpy(CMSG_DATA(&cm.h), &u, sizeof(u));
	SHOW(sendmsg(s[0], &m, 0));
	SHOW(get(s[1], &u, &n));
	SHOW(n == 1 && u.pid == getpid());
	cm.h.cmsg_len = CMSG_LEN(4);
	SHOW(sendmsg(s[0], &m, 0));
	fflush(stdout);
	pid = xfork();
	if (pid == 0) {
		drop_to_user();
		cm.h.cmsg_len = CMSG_LEN(sizeof(u));
		u = (struct ucred){ 1, getuid(), getgid() };
		memcpy(CMSG_DATA(&cm.h), &u, sizeof(u));
		SHOW(sendmsg(s[0], &m, 0));
		u = (struct ucred){ getpid(), 54321, getgid() };
		memcpy(CMSG_DATA(&cm.h), &u, sizeof(u));
		SHOW(sendmsg(s[0], &m, 0));
		_exit(0);
	}
	show_status("user", xwait(pid));
	return 0;
}
