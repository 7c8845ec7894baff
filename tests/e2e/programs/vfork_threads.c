/* vfork+exec, posix_spawn and fork from a process in which 8 other threads allocate and free. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int stop;

static void *noise(void *arg)
{
	while (!stop)
		free(malloc(100 + (unsigned long)arg * 1000));
	return NULL;
}

static int spawner(int kind, int code)
{
	char text[32];
	char *argv[] = { "sh", "-c", text, NULL };
	int status;
	pid_t pid;

	snprintf(text, sizeof(text), "exit %d", code);
	if (kind == 0) {
		pid = vfork();
		if (!pid) {
			execve("/bin/sh", argv, environ);
			_exit(99);
		}
	} else if (kind == 1) {
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
			return -1;
	} else {
		pid = fork();
		if (!pid) {
			execve("/bin/sh", argv, environ);
			_exit(99);
		}
	}
	if (waitpid(pid, &status, 0) != pid)
		return -2;
	return WEXITSTATUS(status);
}

static void *spawns(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 12; i++)
		sum += spawner(i % 3, i);
	return (void *)(sum + (long)arg);
}

int main(void)
{
	pthread_t noisy[8], t[4];
	void *result;

	for (unsigned long i = 0; i < 8; i++)
		pthread_create(&noisy[i], NULL, noise, (void *)i);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, spawns, (void *)(i * 1000));
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &result);
		printf("%ld\n", (long)result);
	}
	stop = 1;
	for (int i = 0; i < 8; i++)
		pthread_join(noisy[i], NULL);
	return 0;
}
