/* Processor time behind the kernel's back, for a cell that is paused meanwhile (run.sh does that,
 * and looks from outside): a process that was never announced, one that has a thread which waits
 * for the kernel, and a thread that was never announced beside a first thread which waits for the
 * kernel. Only the first two can be told by the host to stop as a whole. */
#include <sys/file.h>

#include "hostile.h"

#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static char stacks[2][16384] __attribute__((aligned(16)));

/* A thread that is not announced and computes for ever. */
static void burner(char *top)
{
	__asm__ volatile("mov $56, %%eax; movabs %[magic], %%r9; syscall; test %%rax, %%rax; jnz 1f;"
			 "2: jmp 2b; 1:"
			 :
			 : "D"(THREAD_FLAGS), "S"(top), "d"(0), [magic] "i"(STUB_MAGIC)
			 : "rax", "rcx", "r9", "r11", "memory");
}

int main(void)
{
	int p[2];
	char c;

	(void)!pipe(p);
	/* Births that never come: what is unknown may be one of them. */
	for (int i = 0; i < 8; i++)
		RAW(HC_CLONE_PREP, SIGCHLD, SIGCHLD);
	if (MARKED(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
		for (;;)
			;
	if (fork() == 0) {
		burner(stacks[0] + sizeof(stacks[0]));
		(void)!read(p[0], &c, 1);
		_exit(0);
	}
	if (fork() == 0) {
		burner(stacks[1] + sizeof(stacks[1]));
		(void)!flock(open("/tmp", O_RDONLY), 2);
		for (;;)
			(void)!read(p[0], &c, 1);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
