/* A daemon's main loop: SIGCHLD and SIGTERM by signalfd in an epoll set, children that end, then
 * the end itself. */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/signalfd.h>

#define CHILDREN 5

int main(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = 7 };
	struct signalfd_siginfo si;
	int sum = 0, reaped = 0, status, rounds = 0;
	bool term = false;
	sigset_t m, old;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&m);
	sigaddset(&m, SIGCHLD);
	sigaddset(&m, SIGTERM);
	sigprocmask(SIG_BLOCK, &m, &old);
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = signalfd(-1, &m, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == 0);
	pid_t parent = getpid();
	for (int i = 0; i < CHILDREN; i++)
		if (xfork() == 0) {
			usleep(1000 * 10 * i);
			_exit(i);
		}
	while (!term && rounds++ < 100) {
		int n = epoll_wait(ep, &ev, 1, 10000);
		if (n != 1) {
			printf("epoll_wait: %d %s\n", n, ename(errno));
			break;
		}
		while (read(fd, &si, sizeof(si)) == sizeof(si)) {
			if (si.ssi_signo == SIGTERM) {
				printf("term, code %d\n", si.ssi_code);
				term = true;
				continue;
			}
			pid_t pid;
			while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
				sum += WEXITSTATUS(status);
				if (++reaped == CHILDREN && xfork() == 0) {
					kill(parent, SIGTERM);
					_exit(0);
				}
			}
		}
	}
	printf("reaped %d of at least %d, sum %d\n", reaped >= CHILDREN, CHILDREN, sum);
	while (waitpid(-1, &status, 0) > 0)
		;

	/* One child alone: what its signal says. */
	while (read(fd, &si, sizeof(si)) > 0)
		;
	pid_t pid = xfork();
	if (pid == 0)
		_exit(42);
	epoll_wait(ep, &ev, 1, 10000);
	SHOW(read(fd, &si, sizeof(si)));
	printf("child %d status %d code %d\n", si.ssi_pid == (uint32_t)pid, si.ssi_status,
	       si.ssi_code == CLD_EXITED);
	CHECK(waitpid(pid, &status, 0) == pid);

	/* A blocking read waits for it; the program that is started does not have the mask. */
	int b = signalfd(-1, &m, SFD_CLOEXEC);
	pid = xfork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		usleep(20000);
		execlp("sh", "sh", "-c", "kill -TERM $$; exit 3", NULL);
		_exit(9);
	}
	SHOW(read(b, &si, sizeof(si)));
	printf("child %d status %d code %d\n", si.ssi_pid == (uint32_t)pid, si.ssi_status == SIGTERM,
	       si.ssi_code == CLD_KILLED);
	show_status("child", xwait(pid));
	return 0;
}
