/*
 * siglongjmp out of SIGSEGV handlers, 1,000 times, with and without a signal stack: the next fault
 * is caught too.
 */
#include "guest.h"
#include <setjmp.h>

static sigjmp_buf env;
static volatile int faults;

static void handler(int sig)
{
	(void)sig;
	faults++;
	siglongjmp(env, 1);
}

int main(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = handler };
	volatile int *volatile null = NULL;
	sigset_t set;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < 500; i++)
		if (sigsetjmp(env, 1) == 0)
			*null = 1;
	printf("faults %d\n", faults);
	sigaltstack(&ss, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < 500; i++)
		if (sigsetjmp(env, 1) == 0)
			*null = 1;
	printf("faults %d\n", faults);
	sigaltstack(NULL, &ss);
	printf("on the stack still: %d\n", ss.ss_flags == SS_ONSTACK);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("blocked %d\n", sigismember(&set, SIGSEGV));
	return 0;
}
