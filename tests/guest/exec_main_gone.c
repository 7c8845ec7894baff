/*
 * exec in a thread after the first thread has left: the new program has the process's number, and
 * what the calling thread had is what goes on.
 */
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

static char pidtext[16], *self;

static void *execer(void *arg)
{
	(void)arg;
	usleep(200000); /* the first thread is gone */
	execl(self, self, pidtext, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1) {
		printf("pid kept %d, gettid == getpid %d\n", getpid() == atoi(argv[1]),
		       gettid() == getpid());
		usleep(1000);
		printf("kill: %d\n", kill(getpid(), 0));
		return 3;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		snprintf(pidtext, sizeof(pidtext), "%d", getpid());
		self = argv[0];
		pthread_create(&t, NULL, execer, NULL);
		usleep(20000);
		syscall(SYS_exit, 0);
	}
	show_status("exec in a thread", xwait(pid));
	return 0;
}
