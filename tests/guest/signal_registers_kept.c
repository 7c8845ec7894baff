/*
 * A handler that comes at any moment leaves all registers of the interrupted code alone, SSE and
 * x87 too.
 */
#include "guest.h"
#include <sys/time.h>

static volatile int hits;

static void handler(int sig)
{
	volatile double d = 1.5;

	(void)sig;
	/* Use the registers that the loop uses. */
	for (int i = 0; i < 20; i++)
		d = d * 1.0001 + i;
	__asm__ volatile("xorps %%xmm0,%%xmm0; xorps %%xmm7,%%xmm7; xorps %%xmm15,%%xmm15; fldz; "
			 "fstp %%st(0)" ::
				 : "xmm0", "xmm7", "xmm15");
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	long bad = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	pid_t parent = getpid(), pid = xfork();
	if (pid == 0)
		for (;;) {
			kill(parent, SIGUSR1);
			usleep(500);
		}
	while (hits < 300) {
		uint64_t rbx = 0x1111111111111111, r12 = 0x2222222222222222,
			 r9 = 0x3333333333333333, x = 0x4444444444444444, x7, x15, rcx = 20000;
		long double ld = 3.25L, out;
		__asm__ volatile("movq %4,%%xmm7; movq %4,%%xmm15; fldt %8\n"
				 "1: dec %3; jnz 1b\n"
				 "fstpt %7; movq %%xmm7,%5; movq %%xmm15,%6"
				 : "+r"(rbx), "+r"(r12), "+r"(r9), "+r"(rcx), "+r"(x), "=r"(x7),
				   "=r"(x15), "=m"(out)
				 : "m"(ld)
				 : "xmm7", "xmm15", "cc");
		bad += rbx != 0x1111111111111111 || r12 != 0x2222222222222222 ||
		       r9 != 0x3333333333333333 || x7 != x || x15 != x || out != 3.25L || rcx != 0;
	}
	kill(pid, SIGKILL);
	xwait(pid);
	printf("wrong %ld\n", bad);
	return 0;
}
