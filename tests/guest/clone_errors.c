/* clone refuses combinations that make no sense: EINVAL. */
#include "guest.h"
#include <sched.h>
#include <sys/syscall.h>

static long try(unsigned long flags)
{
	return syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

int main(void)
{
	fflush(stdout);
	SHOW(try(CLONE_THREAD | SIGCHLD));
	SHOW(try(CLONE_THREAD | CLONE_VM));
	SHOW(try(CLONE_SIGHAND | SIGCHLD));
	SHOW(try(CLONE_FS | CLONE_NEWNS | SIGCHLD));
	SHOW(unshare(CLONE_FILES));
	SHOW(unshare(CLONE_FS));
	SHOW(unshare(0));
	SHOW(unshare(1));
	return 0;
}
