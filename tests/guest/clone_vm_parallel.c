/*
 * clone(CLONE_VM) alone: another process in the same memory, running at the same time, with its own
 * pid and descriptors.
 */
#include "guest.h"
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static volatile int ping, pong;
static volatile char *volatile page;
static volatile int fds[2];

static int child(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 50; i++) {
		while (ping != i)
			syscall(SYS_sched_yield);
		pong = i;
	}
	/*
	 * A mapping made here is there for the other; a descriptor closed here is not closed there.
	 */
	page = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[7] = 77;
	syscall(SYS_close, fds[0]);
	syscall(SYS_exit_group, syscall(SYS_getpid) == syscall(SYS_gettid) ? 9 : 10);
	return 0;
}

int main(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	int p[2];

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(p);
	fds[0] = p[0];
	pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	CHECK(pid > 0 && pid != getpid());
	for (int i = 1; i <= 50; i++) {
		ping = i;
		while (pong != i)
			sched_yield();
	}
	show_status("child", xwait(pid));
	printf("pong %d, page %d\n", pong, page[7]);
	SHOW(fcntl(p[0], F_GETFD));
	return 0;
}
