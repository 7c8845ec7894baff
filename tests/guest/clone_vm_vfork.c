/*
 * clone(CLONE_VM | CLONE_VFORK) with a stack of its own, as posix_spawn does it: memory shared, the
 * parent waits.
 */
#include "guest.h"
#include <sched.h>

static volatile int told;
static int saved_errno;

static int child(void *arg)
{
	volatile char pad[4096];

	pad[0] = 1;
	usleep(50000);
	told = *(int *)arg + pad[0];
	return 17;
}

static int execs(void *arg)
{
	execl((char *)arg, "true", (char *)NULL);
	saved_errno = errno;
	_exit(127);
}

int main(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	int value = 41;

	signal(SIGCHLD, SIG_DFL);
	pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &value);
	printf("told %d\n", told);
	show_status("child", xwait(pid));
	pid = clone(execs, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, "/bin/true");
	show_status("exec", xwait(pid));
	pid = clone(execs, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, "/no/such");
	printf("errno left in shared memory: %s\n", ename(saved_errno));
	show_status("failed exec", xwait(pid));
	return 0;
}
