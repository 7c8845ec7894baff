/* A process that is continued and stopped again at once is stopped: it takes nothing, and its
 * parent is told of the stop. */
#include "guest.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

int main(void)
{
	int to[2], from[2], bad = 0, status;
	char c;

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(to[1]);
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 60; i++) {
		struct pollfd f = { .fd = from[0], .events = POLLIN };

		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
			bad |= 1;
		kill(pid, SIGCONT);
		if (i & 1)
			usleep(i * 20);
		kill(pid, SIGSTOP);
		/* At last it says that it is stopped; a word of its going on may come first. */
		do {
			if (waitpid(pid, &status, WUNTRACED | WCONTINUED) != pid)
				bad |= 2;
		} while (WIFCONTINUED(status));
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
			bad |= 4;
		if (write(to[1], "a", 1) != 1)
			bad |= 8;
		if (poll(&f, 1, i % 10 ? 1 : 30) != 0)
			bad |= 16;
		kill(pid, SIGCONT);
		if (poll(&f, 1, 5000) != 1 || read(from[0], &c, 1) != 1)
			bad |= 32;
		if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
			bad |= 64;
	}
	SHOW(bad);
	close(to[1]);
	SHOW(waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}
