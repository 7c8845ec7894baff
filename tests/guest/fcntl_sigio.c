/*
 * O_ASYNC: SIGIO for pipes, sockets and terminals, a signal of one's own with what it says, the
 * owner, and what cannot.
 */
#include "guest.h"
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static volatile sig_atomic_t got, code, band, fd_seen;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	got = sig;
	code = si->si_code;
	band = (int)si->si_band;
	fd_seen = si->si_fd;
}

static void told(const char *what, int fd, int with_info)
{
	for (int i = 0; i < 100 && !got; i++)
		usleep(2000);
	printf("%s: signal %d", what, got == SIGRTMIN + 3 ? 1003 : (int)got);
	if (got && with_info)
		printf(" code %d band %x right descriptor %d", (int)code, (unsigned)band, fd_seen == fd);
	printf("\n");
	got = 0;
}

static int async_on(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };
	char c, buf[100];
	int p[2], s[2], one = 1, zero = 0, status, e = eventfd(0, EFD_NONBLOCK);

	CHECK(sigaction(SIGIO, &sa, NULL) == 0 && sigaction(SIGRTMIN + 3, &sa, NULL) == 0);
	CHECK(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && e >= 0);
	SHOW(async_on(p[0]));
	CHECK(write(p[1], "x", 1) == 1);
	told("no owner yet", p[0], 0);
	SHOW(fcntl(p[0], F_SETOWN, getpid()));
	CHECK(write(p[1], "x", 1) == 1);
	told("pipe", p[0], 0);
	CHECK(write(p[1], "x", 1) == 1);
	told("pipe, more", p[0], 0);
	CHECK(read(p[0], buf, sizeof(buf)) == 3);
	told("reading", p[0], 0);
	SHOW(fcntl(p[0], F_SETSIG, SIGRTMIN + 3));
	CHECK(write(p[1], "x", 1) == 1);
	told("own signal", p[0], 1);
	SHOW(fcntl(p[0], F_SETFL, 0));
	CHECK(write(p[1], "x", 1) == 1);
	told("off again", p[0], 0);

	SHOW(fcntl(s[0], F_SETOWN, -getpgrp()) == 0 || errno == ESRCH);
	SHOW(ioctl(s[0], FIOASYNC, &one));
	SHOW((fcntl(s[0], F_GETFL) & O_ASYNC) != 0);
	CHECK(fcntl(s[0], F_SETOWN, getpid()) == 0);
	CHECK(write(s[1], "x", 1) == 1);
	told("socket", s[0], 0);
	SHOW(ioctl(s[0], FIOASYNC, &zero));
	CHECK(write(s[1], "x", 1) == 1);
	told("socket, off", s[0], 0);

	/* Another process writes; the reader is asleep. */
	CHECK(ioctl(s[0], FIOASYNC, &one) == 0 && recv(s[0], buf, sizeof(buf), 0) == 2);
	pid_t pid = fork();
	if (!pid) {
		usleep(20000);
		_exit(write(s[1], "y", 1) != 1);
	}
	SHOW(read(s[0], &c, 1));
	told("while reading", s[0], 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(fcntl(s[0], F_SETSIG, SIGRTMIN + 3) == 0);
	close(s[1]);
	told("the other end closed", s[0], 0);

	SHOW(fcntl(e, F_SETOWN, getpid()));
	SHOW(async_on(e));
	CHECK(eventfd_write(e, 1) == 0);
	told("eventfd cannot", e, 0);
	SHOW((fcntl(e, F_GETFL) & O_ASYNC) != 0);
	SHOW(ioctl(e, FIOASYNC, &zero));
	SHOW(ioctl(e, FIOASYNC, &one));
	SHOW(fcntl(p[0], F_SETOWN, 4000000));
	SHOW(ioctl(s[0], FIOSETOWN, &(int){ 4000000 }));
	return 0;
}
