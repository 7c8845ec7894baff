/*
 * sigaltstack: flags seen inside and outside, EPERM while on it, ENOMEM when too small; fork keeps
 * it, a thread has none.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/auxv.h>

static char stack[65536], other[65536];
static volatile int inside, change, off;

static void handler(int sig)
{
	stack_t ss, new = { .ss_sp = other, .ss_size = sizeof(other) };
	char here;

	(void)sig;
	sigaltstack(NULL, &ss);
	inside = (ss.ss_flags == SS_ONSTACK) +
		 10 * (&here >= stack && &here < stack + sizeof(stack));
	change = sigaltstack(&new, NULL) ? errno : 0;
	off = sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL) ? errno : 0;
}

static void *thread(void *arg)
{
	stack_t ss;

	sigaltstack(NULL, &ss);
	printf("thread: disabled %d\n", ss.ss_flags == SS_DISABLE);
	return arg;
}

int main(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) }, old;
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	pthread_t t;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaltstack(NULL, &old);
	printf("at first: disabled %d\n", old.ss_flags == SS_DISABLE);
	SHOW(sigaltstack(&ss, &old));
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("inside %d, change %s, disable %s\n", inside, ename(change), ename(off));
	sigaltstack(NULL, &old);
	CHECK(old.ss_sp == stack && old.ss_size == sizeof(stack) && old.ss_flags == 0);
	ss.ss_size = 1024;
	SHOW(sigaltstack(&ss, NULL));
	ss.ss_size = sizeof(stack);
	ss.ss_flags = 77;
	SHOW(sigaltstack(&ss, NULL));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pid_t pid = xfork();
	if (pid == 0) {
		sigaltstack(NULL, &old);
		_exit(old.ss_sp == stack && old.ss_flags == 0 ? 1 : 2);
	}
	show_status("kept by fork: 1", xwait(pid));
	/* Without SA_ONSTACK the handler stays on the normal stack. */
	sa.sa_flags = 0;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("inside %d, change %s\n", inside, ename(change));
	return 0;
}
