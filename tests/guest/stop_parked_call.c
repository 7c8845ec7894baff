/*
 * A process stopped in a blocking read goes on waiting after SIGCONT, and takes data or a signal as
 * usual then.
 */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	int p[2], up[2], status;
	char c;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(p);
	(void)!pipe(up);
	pid_t pid = xfork();
	if (pid == 0) {
		sigaction(SIGUSR1, &sa, NULL);
		(void)!write(up[1], "r", 1);
		ssize_t n = read(p[0], &c, 1);
		printf("child: first read %zd, %c\n", n, n == 1 ? c : '?');
		(void)!write(up[1], "r", 1);
		n = read(p[0], &c, 1);
		printf("child: second read %s, handler %d\n", n < 0 ? ename(errno) : "ended", hits);
		fflush(stdout);
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		(void)!read(up[0], &c, 1);
		usleep(50000);
		for (int j = 0; j < 3; j++) {
			kill(pid, SIGSTOP);
			waitpid(pid, &status, WUNTRACED);
			if (i == 0 && j == 2)
				(void)!write(p[1], "d", 1);
			if (i == 1 && j == 2)
				kill(pid, SIGUSR1);
			kill(pid, SIGCONT);
			/* After the last one it may have ended already. */
			if (i == 0 || j < 2)
				waitpid(pid, &status, WCONTINUED);
			usleep(10000);
		}
	}
	show_status("child", xwait(pid));
	return 0;
}
