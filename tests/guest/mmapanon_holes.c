/*
 * munmap in the middle splits a mapping; PROT_NONE areas of any size can be reserved and partly
 * used.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;

static void handler(int sig)
{
	siglongjmp(env, sig);
}

static const char *touch(volatile char *p)
{
	int sig = sigsetjmp(env, 1);

	if (sig)
		return "fault";
	*p = *p + 1;
	return "ok";
}

int main(void)
{
	char *p = mmap(NULL, 10 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGSEGV, handler);
	for (int i = 1; i < 10; i += 2)
		munmap(p + i * 4096, 4096);
	for (int i = 0; i < 10; i++)
		printf("%s%c", touch(p + i * 4096), i == 9 ? '\n' : ' ');
	/* Over holes too: unmapping nothing is no error. */
	SHOW(munmap(p, 10 * 4096));
	printf("%s\n", touch(p));
	size_t huge = 1ul << 40;
	char *r = mmap(NULL, huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(r != MAP_FAILED);
	printf("%s\n", touch(r + (huge >> 1)));
	SHOW(mprotect(r + (huge >> 1), 4096, PROT_READ | PROT_WRITE));
	printf("%s %s\n", touch(r + (huge >> 1)), touch(r + (huge >> 1) + 4096));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(r[huge >> 1]);
	show_status("child", xwait(pid));
	SHOW(munmap(r, huge));
	return 0;
}
