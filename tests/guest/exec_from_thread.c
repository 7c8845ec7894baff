/*
 * exec in a thread other than the first: the new program has the process's pid, and is single-
 * threaded.
 */
#include "guest.h"
#include <pthread.h>

static char pidtext[16];

static void *execer(void *arg)
{
	(void)arg;
	execl("/proc/self/exe", "self", pidtext, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1) {
		printf("pid kept %d, gettid == getpid %d\n", getpid() == atoi(argv[1]),
		       gettid() == getpid());
		printf("threads: %d\n",
		       atoi(strstr(get_file("/proc/self/status"), "Threads:") + 8));
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		snprintf(pidtext, sizeof(pidtext), "%d", getpid());
		pthread_create(&t, NULL, execer, NULL);
		pthread_join(t, NULL);
		_exit(126);
	}
	show_status("exec in a thread", xwait(pid));
	return 0;
}
