/*
 * Division by zero, an illegal instruction, a breakpoint, a privileged instruction: signal, code
 * and address.
 */
#include "guest.h"
#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf env;
static siginfo_t got;
static unsigned long rip;
static volatile int zero;

static void handler(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	got = *si;
	rip = ((ucontext_t *)ctx)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(env, 1);
}

static void show(const char *what)
{
	printf("%s: %s, code %#x, address is the instruction %d\n", what, signame(got.si_signo),
	       (unsigned)got.si_code, (unsigned long)got.si_addr == rip);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	int sigs[] = { SIGFPE, SIGILL, SIGTRAP, SIGSEGV, SIGBUS };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	for (int i = 0; i < 5; i++)
		sigaction(sigs[i], &sa, NULL);
	if (sigsetjmp(env, 1) == 0)
		__asm__ volatile("xorl %%edx,%%edx; movl $1,%%eax; idivl %0"
				 :
				 : "m"(zero)
				 : "eax", "edx", "cc");
	show("idiv by 0");
	if (sigsetjmp(env, 1) == 0)
		__asm__ volatile("ud2");
	show("ud2");
	if (sigsetjmp(env, 1) == 0)
		__asm__ volatile("int3");
	show("int3");
	if (sigsetjmp(env, 1) == 0)
		__asm__ volatile("hlt");
	show("hlt");
	unsigned short cw = 0x33b;
	if (sigsetjmp(env, 1) == 0) {
		__asm__ volatile("fninit; fldcw %0; fld1; fldz; fdivrp; fwait" : : "m"(cw));
		printf("not reached\n");
	}
	__asm__ volatile("fninit");
	printf("x87 division: %s, code %#x\n", signame(got.si_signo), (unsigned)got.si_code);
	return 0;
}
