/* 64 threads with the smallest stack make calls, take signals and fork without running over it. */
#include "guest.h"
#include <limits.h>
#include <pthread.h>

static volatile int hits;
static pthread_barrier_t bar;

static void handler(int sig)
{
	(void)sig;
	__atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct stat st;
	sigset_t set;
	long good = 0;

	(void)arg;
	pthread_barrier_wait(&bar);
	good += stat("/", &st) == 0;
	sigemptyset(&set);
	good += pthread_sigmask(SIG_BLOCK, &set, NULL) == 0;
	good += raise(SIGUSR1) == 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(2);
	good += WEXITSTATUS(xwait(pid)) == 2;
	int fd = open("/dev/null", O_RDWR);
	good += fd >= 0 && close(fd) == 0;
	return (void *)good;
}

int main(void)
{
	enum { N = 64 };
	pthread_attr_t at;
	pthread_t t[N];
	long sum = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, handler);
	pthread_barrier_init(&bar, NULL, N);
	pthread_attr_init(&at);
	CHECK(pthread_attr_setstacksize(&at, PTHREAD_STACK_MIN) == 0);
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], &at, work, NULL);
	for (int i = 0; i < N; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		sum += (long)ret;
	}
	printf("good %ld of %d, handled %d\n", sum, N * 5, hits);
	return 0;
}
