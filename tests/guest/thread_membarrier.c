/*
 * membarrier: the query gives a mask with the usual commands; private expedited needs registration
 * first.
 */
#include "guest.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>

static long mb(int cmd, int flags)
{
	return syscall(SYS_membarrier, cmd, flags, 0);
}

static void child(void)
{
	long q = mb(MEMBARRIER_CMD_QUERY, 0);

	CHECK(q > 0 && (q & MEMBARRIER_CMD_GLOBAL) && (q & MEMBARRIER_CMD_PRIVATE_EXPEDITED));
	SHOW(mb(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0));
	SHOW(mb(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0));
	SHOW(mb(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0));
	SHOW(mb(MEMBARRIER_CMD_QUERY, 1 << 20));
	SHOW(mb(1 << 30, 0));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("child", in_child(child));
	return 0;
}
