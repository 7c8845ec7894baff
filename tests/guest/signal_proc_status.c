/* /proc/self/status shows blocked, ignored, caught and pending signals as masks. */
#include "guest.h"

static void handler(int sig)
{
	(void)sig;
}

static void show(const char *field)
{
	const char *p = strstr(get_file("/proc/self/status"), field);

	printf("%.24s\n", p ? p : "missing");
}

int main(void)
{
	sigset_t set;

	for (int sig = 1; sig < 65; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 6);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	kill(getpid(), SIGUSR1);
	raise(SIGRTMIN + 6);
	show("SigPnd:");
	show("ShdPnd:");
	show("SigBlk:");
	show("SigIgn:");
	show("SigCgt:");
	return 0;
}
