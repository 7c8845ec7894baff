/*
 * Touching a mapped page beyond the end of the file is SIGBUS; within the last page the rest reads
 * as zero.
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

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	int fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGBUS, &sa, NULL);
	(void)!write(fd, "abc", 3);
	volatile char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("in the file %c, after it %d %d\n", p[2], p[3], p[4095]);
	if (sigsetjmp(env, 1) == 0)
		p[4096] = 1;
	printf("beyond: %s, code ADRERR %d, address right %d\n", signame(got.si_signo),
	       got.si_code == BUS_ADRERR, got.si_addr == p + 4096);
	(void)!ftruncate(fd, 8192);
	p[4096] = 'x';
	printf("after growing %c\n", p[4096]);
	memset(&got, 0, sizeof(got));
	(void)!ftruncate(fd, 0);
	if (sigsetjmp(env, 1) == 0)
		(void)p[0];
	printf("after shrinking: %s, code ADRERR %d\n", signame(got.si_signo),
	       got.si_code == BUS_ADRERR);
	unlink("f");
	return 0;
}
