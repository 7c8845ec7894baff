/* A static musl program: threads, posix_spawn (musl clones with CLONE_VM), popen, signals,
 * qsort. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static volatile sig_atomic_t got;

static void *body(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5000; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void handler(int sig)
{
	got = sig;
}

int main(void)
{
	char *argv[] = { "sh", "-c", "exit 6", NULL };
	struct timespec ts = { 0, 10000000 };
	char line[64] = "";
	pthread_t t[8];
	int status;
	pid_t pid;
	FILE *f;

	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, body, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	printf("threads %d\n", counter);
	fflush(stdout);
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		return 2;
	waitpid(pid, &status, 0);
	printf("spawn %d\n", WEXITSTATUS(status));
	fflush(stdout);
	f = popen("echo piped", "r");
	if (!f || !fgets(line, sizeof(line), f))
		return 3;
	printf("popen %s", line);
	pclose(f);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	printf("signal %d\n", got);
	nanosleep(&ts, NULL);
	printf("system %d\n", system("exit 3") >> 8);
	pid = fork();
	if (!pid)
		_exit(9);
	waitpid(pid, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	return 0;
}
