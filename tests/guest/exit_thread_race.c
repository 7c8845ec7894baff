/*
 * The first thread leaves at once after it made another: the process goes on in that one, which
 * gets its signals.
 */
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

static volatile int seen;

static void handler(int sig)
{
	(void)sig;
	seen = 1;
}

static void *second(void *arg)
{
	(void)arg;
	for (int i = 0; i < 400 && !seen; i++)
		usleep(10000);
	_exit(seen ? 7 : 8);
}

int main(void)
{
	int ok = 0, other = 0, st;

	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t t;

			signal(SIGUSR1, handler);
			pthread_create(&t, NULL, second, NULL);
			syscall(SYS_exit, 0);
		}
		usleep(5000);
		kill(pid, SIGUSR1);
		waitpid(pid, &st, 0);
		if (WIFEXITED(st) && WEXITSTATUS(st) == 7)
			ok++;
		else if (!(WIFSIGNALED(st) && WTERMSIG(st) == SIGUSR1)) /* too early */
			other++;
	}
	printf("lost %d\n", other);
	return ok ? 0 : 1;
}
