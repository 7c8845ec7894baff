/* kcmp tells whether two processes share something. */
#include "guest.h"

#include <linux/kcmp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static int stack[16384];

static int wait_there(void *p)
{
	char c;

	(void)!read(*(int *)p, &c, 1);
	return 0;
}

static const char *cmp(pid_t a, pid_t b, int kind, unsigned long x, unsigned long y)
{
	long r = syscall(SYS_kcmp, a, b, kind, x, y);

	return r == 0 ? "same" : r == 1 || r == 2 ? "ordered" : r == 3 ? "differ" : ename(errno);
}

int main(void)
{
	int p[2], fd, same;
	pid_t me = getpid(), fork1, shared;
	struct kcmp_epoll_slot slot;

	CHECK(pipe(p) == 0);
	fd = open("/dev/null", O_RDONLY);
	same = dup(fd);
	printf("dup: %s\n", cmp(me, me, KCMP_FILE, (unsigned long)fd, (unsigned long)same));
	printf("two: %s\n", cmp(me, me, KCMP_FILE, (unsigned long)fd, (unsigned long)p[0]));
	printf("bad: %s\n", cmp(me, me, KCMP_FILE, (unsigned long)fd, 999));
	fork1 = xfork();
	if (fork1 == 0) {
		close(p[1]);
		wait_there(&p[0]);
		_exit(0);
	}
	shared = clone(wait_there, stack + 16000, CLONE_FILES | CLONE_FS | CLONE_VM | SIGCHLD,
		       &p[0]);
	printf("forked: %s\n", cmp(me, fork1, KCMP_FILE, (unsigned long)fd, (unsigned long)fd));
	printf("vm %s %s\n", cmp(me, fork1, KCMP_VM, 0, 0), cmp(me, shared, KCMP_VM, 0, 0));
	printf("files %s %s\n", cmp(me, fork1, KCMP_FILES, 0, 0),
	       cmp(me, shared, KCMP_FILES, 0, 0));
	printf("fs %s %s\n", cmp(me, fork1, KCMP_FS, 0, 0), cmp(me, shared, KCMP_FS, 0, 0));
	printf("sighand %s %s\n", cmp(me, fork1, KCMP_SIGHAND, 0, 0),
	       cmp(me, me, KCMP_SIGHAND, 0, 0));
	printf("io %s\n", cmp(me, me, KCMP_IO, 0, 0));
	printf("sysvsem %s\n", cmp(me, me, KCMP_SYSVSEM, 0, 0));
	int ep = epoll_create1(0);
	struct epoll_event ev = { .events = EPOLLIN };
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
	slot = (struct kcmp_epoll_slot){ (unsigned)ep, (unsigned)p[0], 0 };
	printf("epoll %s\n",
	       cmp(me, me, KCMP_EPOLL_TFD, (unsigned long)p[0], (unsigned long)&slot));
	printf("epoll, another %s\n",
	       cmp(me, me, KCMP_EPOLL_TFD, (unsigned long)fd, (unsigned long)&slot));
	slot.toff = 1;
	printf("epoll, second %s\n",
	       cmp(me, me, KCMP_EPOLL_TFD, (unsigned long)p[0], (unsigned long)&slot));
	printf("kind 77: %s\n", cmp(me, me, 77, 0, 0));
	printf("nobody: %s\n", cmp(me, 4000000, KCMP_VM, 0, 0));
	close(p[1]);
	xwait(fork1);
	xwait(shared);
	return 0;
}
