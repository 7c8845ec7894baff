/*
 * Handlers without SA_RESTART never make calls fail that do not block: stat, getppid, open, close,
 * write to a file.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/syscall.h>

static volatile int hits, stop;
static volatile pid_t victim;
static int fails, calls;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void *work(void *arg)
{
	struct stat st;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	victim = gettid();
	while (!stop) {
		fails += stat("/", &st) != 0;
		fails += syscall(SYS_getppid) <= 0;
		int fd = open("f", O_RDWR | O_CREAT, 0600);
		fails += fd < 0;
		fails += write(fd, "x", 1) != 1;
		fails += fcntl(fd, F_GETFL) < 0;
		fails += close(fd) != 0;
		fails += access("/nonexistent", F_OK) == 0 || errno != ENOENT;
		calls += 7;
	}
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	sigset_t set;
	pthread_t t;

	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, work, NULL);
	while (!victim)
		usleep(100);
	/* From this process, directed at the thread; then from another process, at the process. */
	for (int i = 0; i < 1000; i++) {
		pthread_kill(t, SIGUSR1);
		if (i % 10 == 0)
			usleep(200);
	}
	pid_t parent = getpid(), pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 1000; i++) {
			kill(parent, SIGUSR1);
			if (i % 4 == 0)
				usleep(200);
		}
		_exit(0);
	}
	xwait(pid);
	stop = 1;
	pthread_join(t, NULL);
	printf("failed calls %d, handler ran %d, calls made %d\n", fails, hits > 10, calls > 100);
	unlink("f");
	return 0;
}
