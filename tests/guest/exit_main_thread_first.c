/*
 * The first thread may end while others go on: the process lives, is waited for only when the last
 * one has ended.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/syscall.h>

static int way;

static void *other(void *arg)
{
	(void)arg;
	usleep(100000);
	/* The first thread is gone, but the process has its number still. */
	printf("thread: getpid %s\n",
	       getpid() == (pid_t)syscall(SYS_getpid) && kill(getpid(), 0) == 0 ? "works"
										: "fails");
	printf("thread: own /proc entry %d\n", access("/proc/thread-self/comm", R_OK) == 0);
	pid_t pid = xfork();
	if (pid == 0)
		_exit(3);
	show_status("thread: child", xwait(pid));
	fflush(stdout);
	if (way == 1)
		_exit(8);
	return NULL;
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	for (way = 0; way < 3; way++) {
		pid_t pid = xfork();
		if (pid == 0) {
			pthread_t t;
			pthread_create(&t, NULL, other, NULL);
			if (way == 2)
				syscall(SYS_exit, 5);
			pthread_exit(NULL);
		}
		show_status("process", xwait(pid));
	}
	return 0;
}
