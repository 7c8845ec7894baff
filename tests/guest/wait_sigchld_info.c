/*
 * SIGCHLD carries who and why: exit, kill, stop and continue; SA_NOCLDSTOP leaves out the last two.
 */
#include "guest.h"

static volatile int code, status_, pid_ok, uid_ok, hits;
static volatile pid_t child;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	hits++;
	code = si->si_code;
	status_ = si->si_status;
	pid_ok = si->si_pid == child;
	uid_ok = si->si_uid == getuid();
}

static void show(const char *what)
{
	sigset_t none;
	static const char *const names[] = { "?",	"exited",  "killed",   "killed",
					     "trapped", "stopped", "continued" };

	sigemptyset(&none);
	if (!hits)
		sigsuspend(&none);
	printf("%s: %s, status %d, pid %d, uid %d\n", what, names[code & 7], status_, pid_ok,
	       uid_ok);
	hits = 0;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	sigset_t set;

	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	child = xfork();
	if (child == 0)
		_exit(37);
	show("exit");
	show_status("exit", xwait(child));
	child = xfork();
	if (child == 0) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		for (;;)
			pause();
	}
	kill(child, SIGSTOP);
	show("stop");
	kill(child, SIGCONT);
	show("continue");
	sa.sa_flags |= SA_NOCLDSTOP;
	sigaction(SIGCHLD, &sa, NULL);
	kill(child, SIGSTOP);
	siginfo_t si;
	waitid(P_PID, child, &si, WSTOPPED);
	kill(child, SIGCONT);
	waitid(P_PID, child, &si, WCONTINUED);
	sigpending(&set);
	printf("pending with SA_NOCLDSTOP: %d\n", sigismember(&set, SIGCHLD));
	kill(child, SIGTERM);
	show("kill");
	show_status("kill", xwait(child));
	return 0;
}
