/*
 * Detached threads leave by themselves: 300 in a row, then only the first task is left in
 * /proc/self/task.
 */
#include "guest.h"
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void *work(void *arg)
{
	sem_post(&done);
	return arg;
}

int main(void)
{
	pthread_attr_t at;
	pthread_t t;
	int failed = 0;

	sem_init(&done, 0, 0);
	pthread_attr_init(&at);
	pthread_attr_setdetachstate(&at, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 300; i++) {
		failed += pthread_create(&t, &at, work, NULL) != 0;
		while (sem_wait(&done))
			;
	}
	for (int i = 0; i < 1000 && tasks() > 1; i++)
		usleep(1000);
	printf("failed %d, tasks %d\n", failed, tasks());
	return 0;
}
