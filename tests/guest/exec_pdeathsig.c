/*
 * What execve keeps and resets of the ties to parent and children: PR_SET_PDEATHSIG stays,
 * SA_NOCLDWAIT goes, an ignored SIGCHLD stays ignored; a new thread has no signal of its own.
 */
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

static void nothing(int sig)
{
	(void)sig;
}

static void *thread(void *arg)
{
	int sig = -1;

	(void)arg;
	prctl(PR_GET_PDEATHSIG, &sig);
	printf("in a thread: %d\n", sig);
	return NULL;
}

static void child_end(void)
{
	int st;
	pid_t pid = fork();

	if (pid == 0)
		_exit(5);
	usleep(50000);
	pid_t got = waitpid(pid, &st, 0);
	printf("waited: %d errno %d\n", got == pid, got < 0 ? errno : 0);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = nothing, .sa_flags = SA_NOCLDWAIT };
	int sig = -1;
	pthread_t t;

	if (argc > 1) {
		prctl(PR_GET_PDEATHSIG, &sig);
		printf("%s after exec: %d\n", argv[1], sig);
		child_end();
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGUSR1);
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
			if (i == 0)
				sigaction(SIGCHLD, &sa, NULL);
			else
				signal(SIGCHLD, SIG_IGN);
			child_end();
			fflush(stdout);
			execl("/proc/self/exe", "self", i ? "ignored" : "nocldwait", (char *)NULL);
			_exit(127);
		}
		show_status("child", xwait(pid));
	}
	return 0;
}
