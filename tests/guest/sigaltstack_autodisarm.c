/*
 * SS_AUTODISARM: the signal stack is off while the handler runs on it, so it may be set or left
 * freely; then it is back.
 */
#include "guest.h"

static char stack[65536];
static volatile int inside, set;

static void handler(int sig)
{
	stack_t ss;
	char here;

	(void)sig;
	sigaltstack(NULL, &ss);
	inside = (ss.ss_flags == SS_DISABLE) +
		 10 * (&here >= stack && &here < stack + sizeof(stack));
	set = sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL) ? errno : 0;
}

int main(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack), .ss_flags = (int)(1u << 31) }, old;
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	SHOW(sigaltstack(&ss, NULL));
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	printf("inside %d, set %s\n", inside, ename(set));
	sigaltstack(NULL, &old);
	CHECK(old.ss_sp == stack && old.ss_flags == (int)(1u << 31));
	return 0;
}
