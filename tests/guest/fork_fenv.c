/* The rounding mode and floating point registers pass through fork, vfork and into new threads. */
#include "guest.h"
#include <pthread.h>
#include <xmmintrin.h>

static volatile double one = 1, three = 3;

/* 1 for the SSE unit, 2 for the x87: both round up. */
static int rounds_up(void)
{
	unsigned short x87;

	__asm__ volatile("fnstcw %0" : "=m"(x87));
	return (_MM_GET_ROUNDING_MODE() == _MM_ROUND_UP) + 2 * ((x87 & 0xc00) == 0x800);
}

static void *show(void *who)
{
	printf("%s: units rounding up %d, third rounded up %d\n", (char *)who, rounds_up(),
	       one / three > 0.33333333333333331);
	return NULL;
}

static void child(void)
{
	show("fork");
}

int main(void)
{
	pthread_t t;
	unsigned short x87 = 0xb7f;

	signal(SIGCHLD, SIG_DFL);
	_MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
	__asm__ volatile("fldcw %0" : : "m"(x87));
	show("main");
	pthread_create(&t, NULL, show, "thread");
	pthread_join(t, NULL);
	show_status("child", in_child(child));
	fflush(stdout);
	pid_t pid = vfork();
	if (pid == 0)
		_exit(rounds_up());
	show_status("vfork", xwait(pid));
	show("main");
	return 0;
}
