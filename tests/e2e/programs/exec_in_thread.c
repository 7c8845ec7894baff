/* exec from a thread that is not the first: one process with the same number goes on. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *sleeper(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

static void *execs(void *arg)
{
	char pid[16];

	(void)arg;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	execl("/bin/sh", "sh", "-c", "[ $$ = $0 ] && echo same; ls /proc/$$/task | wc -l", pid, NULL);
	return NULL;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < 5; i++)
		pthread_create(&t, NULL, sleeper, NULL);
	pthread_create(&t, NULL, execs, NULL);
	pthread_join(t, NULL);
	return 1;
}
