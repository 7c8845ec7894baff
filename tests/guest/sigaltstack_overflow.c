/*
 * A stack overflow is SIGSEGV; a handler on the signal stack survives it, without one the process
 * dies.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/resource.h>

static sigjmp_buf env;
static volatile int on_alt, near_sp;
static char stack[65536];

static void handler(int sig, siginfo_t *si, void *uc)
{
	char here;

	(void)sig;
	(void)uc;
	on_alt = &here >= stack && &here < stack + sizeof(stack);
	near_sp = si->si_addr != NULL;
	siglongjmp(env, 1);
}

__attribute__((noinline)) static int recurse(volatile char *up)
{
	volatile char pad[4096];

	pad[0] = up ? up[0] : 1;
	if (pad[0] == 0)
		return 0;
	return recurse(pad) + pad[0];
}

static void with(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&ss, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(env, 1) == 0)
			recurse(NULL);
		printf("caught, on the signal stack %d, address %d\n", on_alt, near_sp);
	}
}

static void without(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	if (sigsetjmp(env, 1) == 0)
		recurse(NULL);
	printf("not reached\n");
}

int main(void)
{
	struct rlimit lim;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	getrlimit(RLIMIT_STACK, &lim);
	lim.rlim_cur = 1 << 20;
	setrlimit(RLIMIT_STACK, &lim);
	prctl(PR_SET_DUMPABLE, 0);
	show_status("with", in_child(with));
	show_status("without", in_child(without));
	return 0;
}
