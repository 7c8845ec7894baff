/*
 * A SIGSEGV handler that repairs the mapping returns, and the instruction is done again: 200 pages
 * on demand.
 */
#include "guest.h"
#include <sys/mman.h>

enum { N = 200 };
static char *area;
static volatile int faults;

static void handler(int sig, siginfo_t *si, void *uc)
{
	char *page = (char *)((uintptr_t)si->si_addr & ~4095ul);

	(void)sig;
	(void)uc;
	faults++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	int sum = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	area = mmap(NULL, N * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < N; i++)
		((volatile char *)area)[i * 4096 + i] = (char)(i % 100);
	for (int i = 0; i < N; i++)
		sum += area[i * 4096 + i];
	printf("faults %d, sum %d\n", faults, sum);
	return 0;
}
