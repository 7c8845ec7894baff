/* mprotect: each protection allows what it says; code can be made, executed and changed; errors. */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;

static void handler(int sig)
{
	siglongjmp(env, sig);
}

static bool can(char *p, int what)
{
	if (sigsetjmp(env, 1))
		return false;
	if (what == 0)
		(void)*(volatile char *)p;
	else if (what == 1)
		*(volatile char *)p = *(volatile char *)p;
	else
		((void (*)(void))p)();
	return true;
}

int main(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	/* mov eax, 42; ret */
	static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int prots[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
			PROT_READ | PROT_WRITE | PROT_EXEC };

	signal(SIGSEGV, handler);
	memcpy(p, code, sizeof(code));
	for (int i = 0; i < 5; i++) {
		int rc = mprotect(p, 4096, prots[i]);
		printf("prot %d: rc %d, read %d, write %d, execute %d\n", prots[i], rc, can(p, 0),
		       can(p, 1), can(p, 2));
	}
	int (*fn)(void) = (int (*)(void))p;
	printf("code gives %d", fn());
	p[1] = 43;
	printf(", then %d\n", fn());
	SHOW(mprotect(p + 1, 4096, PROT_READ));
	SHOW(mprotect(p, 0, PROT_READ));
	SHOW(mprotect(p, 4096, 0x7000));
	munmap(p + 4096, 4096);
	SHOW(mprotect(p, 3 * 4096, PROT_READ));
	/* What lies before the hole has been changed. */
	printf("first writable %d, third writable %d\n", can(p, 1), can(p + 8192, 1));
	int fd = open("f", O_RDONLY | O_CREAT, 0600);
	char *s = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	SHOW(mprotect(s, 4096, PROT_READ | PROT_WRITE));
	unlink("f");
	return 0;
}
