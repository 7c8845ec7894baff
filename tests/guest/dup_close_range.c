/* close_range closes a span of descriptors, or marks it close-on-exec; gaps do not matter. */
#include "guest.h"
#include <linux/close_range.h>
#include <sys/syscall.h>

static int cr(unsigned first, unsigned last, unsigned flags)
{
	return syscall(SYS_close_range, first, last, flags);
}

static void show(void)
{
	for (int i = 100; i < 110; i++) {
		int f = fcntl(i, F_GETFD);
		printf("%c", f < 0 ? '-' : f ? 'c' : 'o');
	}
	printf("\n");
}

static void unshared(void)
{
	SHOW(cr(100, 101, CLOSE_RANGE_UNSHARE));
	show();
}

int main(void)
{
	for (int i = 100; i < 110; i++)
		if (i != 104)
			dup2(0, i);
	show();
	SHOW(cr(102, 105, CLOSE_RANGE_CLOEXEC));
	show();
	SHOW(cr(102, 103, 0));
	show();
	SHOW(cr(109, 108, 0));
	SHOW(cr(100, 109, 64));
	in_child(unshared);
	show();
	SHOW(cr(107, ~0u, 0));
	show();
	SHOW(cr(5000, ~0u, 0));
	SHOW(fcntl(1, F_GETFD));
	return 0;
}
