/*
 * A fault whose signal is default, blocked or ignored kills the process with that signal, whatever
 * the thread.
 */
#include "guest.h"
#include <pthread.h>

static volatile int zero;
static int *volatile null;

static void segv(void)
{
	*null = 1;
}
static void fpe(void)
{
	zero = 100 / zero;
}
static void ill(void)
{
	__asm__ volatile("ud2");
}
static void trap(void)
{
	__asm__ volatile("int3");
}
static void handler(int sig)
{
	(void)sig;
}

static void blocked(void)
{
	sigset_t set;

	signal(SIGSEGV, handler);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*null = 1;
}

static void ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	*null = 1;
}

static void in_handler(int sig)
{
	(void)sig;
	*null = 1;
}

static void twice(void)
{
	signal(SIGSEGV, in_handler);
	*null = 1;
}

static void *thread(void *arg)
{
	*null = 1;
	return arg;
}

static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	for (;;)
		pause();
}

int main(void)
{
	int sigs[] = { SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS };

	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 5; i++)
		signal(sigs[i], SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	show_status("segv", in_child(segv));
	show_status("fpe", in_child(fpe));
	show_status("ill", in_child(ill));
	show_status("trap", in_child(trap));
	show_status("blocked", in_child(blocked));
	show_status("ignored", in_child(ignored));
	show_status("in its own handler", in_child(twice));
	show_status("in a thread", in_child(in_thread));
	return 0;
}
