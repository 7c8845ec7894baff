/* SIGSTOP stops every thread of the process, SIGCONT continues every one. */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

static volatile long *count;

static void *work(void *arg)
{
	long i = (long)arg;

	for (;;) {
		count[i * 8]++;
		if (i % 2)
			usleep(500);
	}
	return NULL;
}

int main(void)
{
	long before[4];
	int status, moved = 0;

	signal(SIGCHLD, SIG_DFL);
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = xfork();
	if (pid == 0) {
		pthread_t t;
		for (long i = 1; i < 4; i++)
			pthread_create(&t, NULL, work, (void *)i);
		work(0);
	}
	for (int i = 0; i < 4; i++)
		while (count[i * 8] == 0)
			usleep(1000);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d\n", WIFSTOPPED(status));
	for (int i = 0; i < 4; i++)
		before[i] = count[i * 8];
	usleep(50000);
	for (int i = 0; i < 4; i++)
		moved += count[i * 8] != before[i];
	printf("threads that ran while stopped %d\n", moved);
	kill(pid, SIGCONT);
	for (int i = 0; i < 4; i++)
		while (count[i * 8] == before[i])
			usleep(1000);
	printf("all go on\n");
	kill(pid, SIGKILL);
	show_status("child", xwait(pid));
	return 0;
}
