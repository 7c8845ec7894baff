/* pthread_kill reaches that thread and no other, whether it computes, sleeps or waits in a call. */
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>

static __thread volatile int mine;
static volatile int done, wrong, right;
static volatile pid_t target;
static int gate[2];
static sem_t handled;

static void handler(int sig)
{
	(void)sig;
	mine++;
	if (gettid() == target)
		right++;
	else
		wrong++;
	sem_post(&handled);
}

static void *work(void *arg)
{
	pid_t *tid = arg;
	char c;
	long kind = tid[1];

	tid[0] = gettid();
	while (!done) {
		if (kind == 0)
			usleep(1000);
		else if (kind == 1)
			(void)!read(gate[0], &c, 1);
	}
	return (void *)(long)mine;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	static volatile pid_t tid[3][2];
	pthread_t t[3];
	void *ret;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sem_init(&handled, 0, 0);
	(void)!pipe(gate);
	for (int i = 0; i < 3; i++) {
		tid[i][1] = i;
		pthread_create(&t[i], NULL, work, (void *)tid[i]);
		while (!tid[i][0])
			usleep(100);
	}
	for (int i = 0; i < 90; i++) {
		target = tid[i % 3][0];
		pthread_kill(t[i % 3], SIGUSR1);
		while (sem_wait(&handled))
			;
	}
	done = 1;
	close(gate[1]);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &ret);
		printf("thread %d handled %ld\n", i, (long)ret);
	}
	printf("right %d, wrong %d, main %d\n", right, wrong, mine);
	return 0;
}
