/*
 * 6 threads in blocking calls, 1,000 process-directed signals: with SA_RESTART no call ends,
 * without it only by EINTR.
 */
#include "guest.h"
#include <poll.h>
#include <pthread.h>

static int data[2];
static volatile int stop, hits, restart;
static int eintr, other;

static void handler(int sig)
{
	(void)sig;
	__atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	char c;

	for (;;) {
		ssize_t n = read(data[0], &c, 1);
		if (n == 0)
			return arg;
		if (n == 1)
			continue;
		__atomic_add_fetch(errno == EINTR ? &eintr : &other, 1, __ATOMIC_RELAXED);
	}
}

static void round_(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0 };
	pthread_t t[6];

	hits = eintr = other = 0;
	sigaction(SIGUSR1, &sa, NULL);
	(void)!pipe(data);
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, work, NULL);
	pid_t parent = getpid(), pid = xfork();
	if (pid == 0) {
		close(data[1]);
		for (int i = 0; i < 1000; i++) {
			kill(parent, SIGUSR1);
			if (i % 5 == 0)
				usleep(100);
		}
		_exit(0);
	}
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	xwait(pid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(data[1]);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	close(data[0]);
	printf("restart %d: some handled %d, EINTR %s, other errors %d\n", restart, hits > 0,
	       eintr ? "seen" : "never", other);
}

int main(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	for (restart = 1; restart >= 0; restart--)
		round_();
	return 0;
}
