/* Running over a thread's stack hits its guard page: SIGSEGV, which kills the whole process. */
#include "guest.h"
#include <pthread.h>

__attribute__((noinline)) static int recurse(volatile char *up)
{
	volatile char pad[1024];

	pad[0] = up ? up[0] : 1;
	if (pad[0] == 0)
		return 0;
	return recurse(pad) + pad[0];
}

static void *over(void *arg)
{
	(void)arg;
	return (void *)(long)recurse(NULL);
}

static void child(void)
{
	pthread_attr_t at;
	pthread_t t;

	signal(SIGSEGV, SIG_DFL);
	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, 1 << 18);
	pthread_create(&t, &at, over, NULL);
	pthread_join(t, NULL);
	printf("not reached\n");
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	show_status("child", in_child(child));
	return 0;
}
