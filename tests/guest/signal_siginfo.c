/*
 * si_code tells the source: kill, raise/tgkill, sigqueue, a child; si_pid and si_uid name the
 * sender.
 */
#include "guest.h"
#include <sys/syscall.h>

static volatile int code, value;
static volatile pid_t pid;
static volatile uid_t uid;
static volatile int signo, hits;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	hits++;
	signo = sig == si->si_signo ? sig : -1;
	code = si->si_code;
	pid = si->si_pid;
	uid = si->si_uid;
	value = si->si_value.sival_int;
}

static void show(const char *what, pid_t sender)
{
	printf("%s: hits %d, number right %d, code %s, sender %d, uid %d\n", what, hits,
	       signo == SIGUSR1,
	       code == SI_USER	  ? "SI_USER"
	       : code == SI_TKILL ? "SI_TKILL"
	       : code == SI_QUEUE ? "SI_QUEUE"
				  : "other",
	       pid == sender, uid == getuid());
	if (code == SI_QUEUE)
		printf("value %d\n", value);
	hits = 0;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t self = getpid();

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	kill(self, SIGUSR1);
	show("kill self", self);
	raise(SIGUSR1);
	show("raise", self);
	syscall(SYS_tkill, gettid(), SIGUSR1);
	show("tkill", self);
	sigqueue(self, SIGUSR1, (union sigval){ .sival_int = -77 });
	show("sigqueue self", self);
	for (int how = 0; how < 3; how++) {
		pid_t child = xfork();
		if (child == 0) {
			if (how == 0)
				kill(self, SIGUSR1);
			else if (how == 1)
				sigqueue(self, SIGUSR1, (union sigval){ .sival_int = 1234 });
			else
				syscall(SYS_tgkill, self, self, SIGUSR1);
			_exit(0);
		}
		xwait(child);
		show(how == 0	? "kill from child"
		     : how == 1 ? "sigqueue from child"
				: "tgkill from child",
		     child);
	}
	return 0;
}
