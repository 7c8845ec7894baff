/* signalfd: blocked signals are read with their siginfo, in order of their numbers; errors, mask
 * update, readiness. */
#include "guest.h"
#include <poll.h>
#include <sys/signalfd.h>

static void drain(int fd)
{
	struct signalfd_siginfo si[8];
	ssize_t n = read(fd, si, sizeof(si));
	if (n < 0) {
		printf("read: %s\n", ename(errno));
		return;
	}
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(si[0]); i++)
		printf("signal %u code %d mine %d value %d\n", si[i].ssi_signo, si[i].ssi_code,
		       si[i].ssi_pid == (uint32_t)getpid() && si[i].ssi_uid == getuid(), si[i].ssi_int);
}

static int ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	poll(&p, 1, 0);
	return p.revents;
}

int main(void)
{
	struct signalfd_siginfo one;
	sigset_t m;

	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	sigaddset(&m, SIGUSR2);
	sigaddset(&m, SIGRTMIN + 1);
	sigaddset(&m, SIGKILL);
	sigprocmask(SIG_BLOCK, &m, NULL);
	int fd = signalfd(-1, &m, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(fd >= 0);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK));
	printf("ready %x\n", ready(fd));
	drain(fd);
	SHOW(read(fd, &one, sizeof(one) - 1));
	SHOW(write(fd, &one, sizeof(one)));

	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	for (int i = 1; i <= 3; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i });
	printf("ready %x\n", ready(fd));
	drain(fd);
	printf("ready %x\n", ready(fd));

	raise(SIGUSR1);
	SHOW(read(fd, &one, sizeof(one)));
	printf("raise: code %d\n", one.ssi_code);
	drain(fd);

	/* A smaller mask: the other stays pending for the larger one. */
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	sigset_t only;
	sigemptyset(&only);
	sigaddset(&only, SIGUSR2);
	int two = signalfd(-1, &only, SFD_NONBLOCK);
	drain(two);
	drain(two);
	drain(fd);
	CHECK(signalfd(two, &m, 0) == two);
	kill(getpid(), SIGUSR1);
	drain(two);
	drain(fd);

	SHOW(signalfd(0, &m, 0));
	SHOW(signalfd(99, &m, 0));
	SHOW(signalfd(-1, &m, 0x10));
	SHOW(syscall(289, -1, &m, 4, 0));
	SHOW(syscall(289, -1, (void *)8, 8, 0));
	return 0;
}
