/*
 * Threads share directory, umask, descriptors, signal actions and limits, whichever thread changes
 * them.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/resource.h>

static void handler(int sig)
{
	(void)sig;
}

static void *work(void *arg)
{
	struct rlimit lim = { .rlim_cur = 123, .rlim_max = 456 };

	(void)!chdir("sub");
	umask(077);
	dup2(1, 77);
	close(*(int *)arg);
	signal(SIGUSR2, handler);
	setrlimit(RLIMIT_NOFILE, &lim);
	return NULL;
}

int main(void)
{
	struct sigaction sa;
	struct rlimit lim;
	pthread_t t;
	int fd = open("/dev/null", O_RDONLY);

	mkdir("sub", 0755);
	pthread_create(&t, NULL, work, &fd);
	pthread_join(t, NULL);
	char *cwd = getcwd(NULL, 0);
	printf("directory %s\n", strrchr(cwd, '/') + 1);
	free(cwd);
	printf("umask %03o\n", umask(022));
	SHOW(fcntl(77, F_GETFD));
	SHOW(fcntl(fd, F_GETFD));
	sigaction(SIGUSR2, NULL, &sa);
	CHECK(sa.sa_handler == handler);
	getrlimit(RLIMIT_NOFILE, &lim);
	printf("limit %ld %ld\n", (long)lim.rlim_cur, (long)lim.rlim_max);
	SHOW(rmdir("../sub"));
	return 0;
}
