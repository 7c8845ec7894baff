/*
 * Handlers that make calls themselves, fork included, while the main program makes calls: neither
 * disturbs the other.
 */
#include "guest.h"
#include <sys/time.h>

static volatile int hits, bad;

static void handler(int sig)
{
	struct stat st;
	int saved = errno;

	(void)sig;
	hits++;
	bad += stat("/", &st) != 0;
	int fd = open("/dev/null", O_WRONLY);
	bad += write(fd, "x", 1) != 1;
	bad += close(fd) != 0;
	if (hits % 16 == 0) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(3);
		bad += WEXITSTATUS(xwait(pid)) != 3;
	}
	errno = saved;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	struct itimerval it = { .it_value = { .tv_usec = 1000 },
				.it_interval = { .tv_usec = 1000 } };
	int fails = 0, p[2];
	char c;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGALRM, &sa, NULL);
	(void)!pipe(p);
	setitimer(ITIMER_REAL, &it, NULL);
	while (hits < 100) {
		struct stat st;
		fails += fstat(p[0], &st) != 0 || !S_ISFIFO(st.st_mode);
		fails += write(p[1], "q", 1) != 1;
		fails += read(p[0], &c, 1) != 1 || c != 'q';
		fails += access("/nonexistent", F_OK) != -1 || errno != ENOENT;
	}
	memset(&it, 0, sizeof(it));
	setitimer(ITIMER_REAL, &it, NULL);
	printf("failures %d, in the handler %d\n", fails, bad);
	return 0;
}
