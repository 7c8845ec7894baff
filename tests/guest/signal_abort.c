/* abort ends with SIGABRT even when it is caught (handler returns), ignored or blocked. */
#include "guest.h"

static void handler(int sig)
{
	(void)!write(1, sig == SIGABRT ? "handler\n" : "?\n", sig == SIGABRT ? 8 : 2);
}

static void plain(void)
{
	abort();
}
static void caught(void)
{
	signal(SIGABRT, handler);
	abort();
}
static void ignored(void)
{
	signal(SIGABRT, SIG_IGN);
	abort();
}
static void blocked(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	abort();
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	show_status("plain", in_child(plain));
	show_status("caught", in_child(caught));
	show_status("ignored", in_child(ignored));
	show_status("blocked", in_child(blocked));
	return 0;
}
