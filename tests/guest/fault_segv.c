/*
 * SIGSEGV tells where and why: no mapping, no permission, not even a valid address; the code
 * address is in the context.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;
static siginfo_t got;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	got = *si;
	siglongjmp(env, 1);
}

static void show(const char *what, const volatile void *want)
{
	printf("%s: signal %s, ", what, signame(got.si_signo));
	printf("code %s, address right %d\n",
	       got.si_code == SEGV_MAPERR   ? "MAPERR"
	       : got.si_code == SEGV_ACCERR ? "ACCERR"
	       : got.si_code == SI_KERNEL   ? "KERNEL"
					    : "other",
	       got.si_addr == want);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	char *page = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	munmap(page + 8192, 4096);
	mprotect(page + 4096, 4096, PROT_NONE);
	if (sigsetjmp(env, 1) == 0)
		*(volatile char *)(page + 5) = 1;
	show("write to read-only", page + 5);
	if (sigsetjmp(env, 1) == 0)
		(void)*(volatile char *)(page + 4096 + 6);
	show("read of PROT_NONE", page + 4096 + 6);
	if (sigsetjmp(env, 1) == 0)
		(void)*(volatile char *)(page + 8192 + 7);
	show("read of nothing", page + 8192 + 7);
	if (sigsetjmp(env, 1) == 0)
		((void (*)(void))page)();
	show("call of data", page);
	char *volatile null = NULL;
	if (sigsetjmp(env, 1) == 0)
		(void)*(volatile char *)(null + 16);
	show("null pointer", (char *)16);
	char *volatile weird = (char *)0x8000000000000000;
	if (sigsetjmp(env, 1) == 0)
		(void)*(volatile char *)weird;
	show("not canonical", NULL);
	return 0;
}
