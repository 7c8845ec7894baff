/*
 * Any thread may wait for any child of the process; one child is given to one waiter, the other
 * gets ECHILD.
 */
#include "guest.h"
#include <pthread.h>

static pid_t pid;
static int gate[2];

static void *waiter(void *arg)
{
	int status = 0;
	pid_t got = waitpid(pid, &status, 0);

	(void)arg;
	if (got == pid)
		return (void *)(long)WEXITSTATUS(status);
	return (void *)(long)(errno == ECHILD ? 1000 : 2000);
}

static void *starter(void *arg)
{
	char c;

	(void)arg;
	pid = xfork();
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 21 : 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t s, t[4];
	void *ret;
	long sum = 0;

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(gate);
	/* The thread that made it has ended; the child stays the process's. */
	pthread_create(&s, NULL, starter, NULL);
	pthread_join(s, NULL);
	SHOW(waitpid(-1, NULL, WNOHANG));
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, waiter, NULL);
	usleep(50000);
	close(gate[1]);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &ret);
		sum += (long)ret;
	}
	printf("one exit code and three ECHILD: %ld\n", sum);
	/* __WNOTHREAD: only children made by this very thread. */
	if (pipe(gate))
		return 1;
	pthread_create(&s, NULL, starter, NULL);
	pthread_join(s, NULL);
	close(gate[1]);
	CHECK(waitpid(pid, NULL, __WNOTHREAD) == pid);
	return 0;
}
