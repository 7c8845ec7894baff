/*
 * Once waitpid() told of a stop no thread of the process goes on, whichever of them wait and which
 * are busy, nor does a handler run; SIGCONT continues all, and the handler runs once.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

#define ROUNDS 60

static volatile struct {
	long count;
	int handled, making;
} * shared;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&shared->handled, 1, __ATOMIC_SEQ_CST);
}

static void *busy(void *arg)
{
	for (;;) {
		__atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST);
		if (arg)
			getppid();
	}
	return NULL;
}

static void *waits(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Threads that are being made while the process stops. */
static void *brief(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void child(int kind)
{
	pthread_t t;

	signal(SIGUSR1, on_signal);
	if (kind == 3)
		for (;;)
			if (pthread_create(&t, NULL, brief, NULL) || pthread_join(t, NULL))
				_exit(9);
	pthread_create(&t, NULL, busy, kind == 2 ? &t : NULL);
	if (kind == 1)
		pthread_create(&t, NULL, waits, NULL);
	waits(NULL);
}

int main(void)
{
	int moved = 0, early = 0, handled = 0, odd = 0, status;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int kind = 0; kind < 4; kind++) {
		pid_t pid = xfork();

		if (pid == 0)
			child(kind);
		for (long was = shared->count; shared->count == was;)
			usleep(100);
		for (int i = 0; i < ROUNDS; i++) {
			int before = shared->handled;
			long at;

			usleep(i * 7);
			kill(pid, SIGSTOP);
			odd += waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status);
			at = shared->count;
			kill(pid, SIGUSR1);
			usleep(300);
			moved += shared->count != at;
			early += shared->handled != before;
			kill(pid, SIGCONT);
			odd += waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status);
			while (shared->handled == before)
				usleep(100);
			handled += shared->handled - before;
		}
		kill(pid, SIGKILL);
		xwait(pid);
	}
	printf("told otherwise %d, went on while stopped %d, handled while stopped %d, then %d\n",
	       odd, moved, early, handled);
	return 0;
}
