/*
 * The signal of O_ASYNC needs the right to send it: that of who set the owner, whoever writes.
 */
/* needs: root */
#include "guest.h"
#include <signal.h>
#include <sys/wait.h>

static int ends(pid_t pid)
{
	int status;

	for (int i = 0; i < 50; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
		usleep(2000);
	}
	return 0;
}

static int sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

int main(void)
{
	pid_t mine = sleeper(), roots = sleeper();
	int p[2], status;

	CHECK(pipe(p) == 0);
	SHOW(fcntl(p[0], F_SETFL, O_ASYNC));
	SHOW(fcntl(p[0], F_SETSIG, SIGKILL));
	pid_t pid = fork();
	if (!pid) {
		CHECK(setuid(65534) == 0);
		SHOW(fcntl(p[0], F_SETOWN, roots)); /* anybody may be named */
		fflush(stdout);
		_exit(write(p[1], "x", 1) != 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	printf("named by nobody: %d\n", ends(roots));
	CHECK(write(p[1], "x", 1) == 1);
	printf("still, when root writes: %d\n", ends(roots));
	SHOW(fcntl(p[0], F_SETOWN, mine));
	CHECK(write(p[1], "x", 1) == 1);
	printf("named by root: %d\n", ends(mine));
	kill(roots, SIGTERM);
	printf("%d\n", ends(roots));
	return 0;
}
