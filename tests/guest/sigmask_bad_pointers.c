/* Bad pointers in the signal calls are EFAULT, and change nothing. */
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static void handler(int sig)
{
	(void)sig;
}

int main(void)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t mask = 0;
	struct sigaction sa;

	signal(SIGUSR1, handler);
	SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8));
	SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, ro, 8));
	SHOW(syscall(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8));
	SHOW(syscall(SYS_rt_sigaction, SIGUSR1, NULL, ro, 8));
	SHOW(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4));
	SHOW(syscall(SYS_rt_sigpending, bad, 8));
	SHOW(syscall(SYS_rt_sigsuspend, bad, 8));
	SHOW(syscall(SYS_rt_sigtimedwait, bad, NULL, NULL, 8));
	SHOW(syscall(SYS_sigaltstack, bad, NULL));
	SHOW(syscall(SYS_sigaltstack, NULL, ro));
	SHOW(syscall(SYS_nanosleep, bad, NULL));
	SHOW(syscall(SYS_setitimer, 0, bad, NULL));
	/* A new mask is in force before the old one fails to be written. */
	mask = 1ull << (SIGUSR2 - 1);
	SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, ro, 8));
	mask = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, 8);
	printf("mask %#lx\n", (long)mask);
	sigaction(SIGUSR1, NULL, &sa);
	CHECK(sa.sa_handler == handler);
	return 0;
}
