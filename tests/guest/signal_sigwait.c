/*
 * sigwait, sigwaitinfo and sigtimedwait take pending signals without a handler; timeout EAGAIN,
 * another signal EINTR.
 */
#include "guest.h"
#include <time.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct timespec zero = { 0 }, shorty = { .tv_nsec = 50000000 }, lengthy = { .tv_sec = 10 },
			wrong = { .tv_nsec = 2000000000 };
	struct timespec a, b;
	sigset_t set;
	siginfo_t si;
	int sig;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SHOW(sigtimedwait(&set, &si, &zero));
	clock_gettime(CLOCK_MONOTONIC, &a);
	SHOW(sigtimedwait(&set, &si, &shorty));
	clock_gettime(CLOCK_MONOTONIC, &b);
	CHECK((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec >= 50000000);
	SHOW(sigtimedwait(&set, &si, &wrong));
	kill(getpid(), SIGUSR1);
	CHECK(sigwait(&set, &sig) == 0 && sig == SIGUSR1);
	pid_t pid = xfork();
	if (pid == 0) {
		usleep(50000);
		kill_parent(SIGUSR1);
		_exit(0);
	}
	CHECK(sigwaitinfo(&set, &si) == SIGUSR1 && si.si_pid == pid && si.si_code == SI_USER);
	xwait(pid);
	pid = xfork();
	if (pid == 0)
		for (;;) {
			usleep(20000);
			kill_parent(SIGUSR2);
		}
	SHOW(sigtimedwait(&set, &si, &lengthy));
	kill(pid, SIGKILL);
	xwait(pid);
	printf("handler ran for USR2: %d\n", hits > 0);
	return 0;
}
