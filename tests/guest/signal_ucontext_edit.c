/* A handler may change the interrupted context: registers and the place to go on. */
#include "guest.h"
#include <ucontext.h>

static volatile int faults;

static void handler(int sig, siginfo_t *si, void *ctx)
{
	ucontext_t *uc = ctx;

	(void)sig;
	(void)si;
	faults++;
	/* ud2 is two bytes: skip it, and give a result in rax. */
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	uc->uc_mcontext.gregs[REG_RAX] += 1000;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	long rax = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGILL, &sa, NULL);
	for (int i = 0; i < 50; i++)
		__asm__ volatile("ud2" : "+a"(rax));
	printf("faults %d, rax %ld\n", faults, rax);
	return 0;
}
