/*
 * Writing to a pipe or socket without reader: SIGPIPE kills by default; ignored, blocked or
 * MSG_NOSIGNAL give EPIPE.
 */
#include "guest.h"
#include <sys/socket.h>

static int fds[2];
static volatile int hits, code, self;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	hits++;
	code = si->si_code;
	self = si->si_pid == getpid();
}

static void die(void)
{
	signal(SIGPIPE, SIG_DFL);
	(void)!write(fds[1], "x", 1);
	printf("not reached\n");
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	(void)!pipe(fds);
	close(fds[0]);
	show_status("default", in_child(die));
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(fds[1], "x", 1));
	sigaction(SIGPIPE, &sa, NULL);
	SHOW(write(fds[1], "x", 1));
	printf("hits %d, code user %d, from self %d\n", hits, code == SI_USER, self);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SHOW(write(fds[1], "x", 1));
	sigpending(&set);
	printf("pending %d\n", sigismember(&set, SIGPIPE));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	int s[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	close(s[0]);
	hits = 0;
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
	printf("hits %d\n", hits);
	SHOW(send(s[1], "x", 1, 0));
	printf("hits %d\n", hits);
	fds[1] = s[1];
	show_status("socket", in_child(die));
	return 0;
}
