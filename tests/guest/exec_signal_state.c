/*
 * Across exec: caught signals become default, ignored stay ignored, mask and pending signals are
 * kept.
 */
#include "guest.h"

static void handler(int sig)
{
	(void)sig;
}

static const char *action(int sig)
{
	struct sigaction sa;

	sigaction(sig, NULL, &sa);
	return sa.sa_handler == SIG_DFL	  ? "default"
	       : sa.sa_handler == SIG_IGN ? "ignored"
					  : "caught";
}

static void report(void)
{
	int sigs[] = { SIGUSR1, SIGUSR2, SIGHUP, SIGCHLD, SIGRTMIN + 1 };
	sigset_t mask, pend;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pend);
	for (unsigned i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		printf("sig %u: %s, blocked %d, pending %d\n", i, action(sigs[i]),
		       sigismember(&mask, sigs[i]), sigismember(&pend, sigs[i]));
}

int main(int argc, char **argv)
{
	siginfo_t si;
	sigset_t set;

	(void)argv;
	if (argc > 1) {
		report();
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN + 1);
		for (int i = 0; i < 2; i++) {
			sigwaitinfo(&set, &si);
			printf("value %d, code queue %d, from self %d\n", si.si_value.sival_int,
			       si.si_code == SI_QUEUE, si.si_pid == getpid());
		}
		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		printf("not reached: USR1 was pending\n");
		return 0;
	}
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGRTMIN + 1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGCHLD, SIG_IGN);
		raise(SIGUSR1);
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = 11 });
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = 12 });
		report();
		fflush(stdout);
		execl("/proc/self/exe", "self", "again", (char *)NULL);
		_exit(127);
	}
	show_status("child", xwait(pid));
	return 0;
}
