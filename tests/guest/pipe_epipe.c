/* Writing where nobody reads: SIGPIPE kills, or EPIPE when it is ignored or handled. */
#include "guest.h"
#include <sys/uio.h>

static int handled;

static void on_pipe(int sig)
{
	handled += sig == SIGPIPE;
}

static void dies(void)
{
	int p[2];
	pipe(p);
	close(p[0]);
	write(p[1], "x", 1);
	printf("not reached\n");
}

int main(void)
{
	int p[2];
	show_status("default", in_child(dies));
	signal(SIGPIPE, SIG_IGN);
	SHOW(pipe(p));
	SHOW(write(p[1], "x", 1));
	SHOW(close(p[0]));
	SHOW(write(p[1], "x", 1));
	SHOW(write(p[1], "", 0));
	struct iovec iov = { p, 4 };
	SHOW(writev(p[1], &iov, 1));
	signal(SIGPIPE, on_pipe);
	SHOW(write(p[1], "x", 1));
	SHOW(handled);
	SHOW(fcntl(p[1], F_SETFL, O_NONBLOCK));
	SHOW(write(p[1], "x", 1));
	SHOW(handled);

	/* A writer that sleeps because the pipe is full is woken by the reader's close. */
	pid_t pid;
	SHOW(pipe(p));
	if ((pid = xfork()) == 0) {
		static char big[200000];
		close(p[0]);
		ssize_t n = write(p[1], big, sizeof(big));
		/*
		 * A part went through, so the count is returned, and the signal comes all the same.
		 */
		printf("blocked write: %s, signals %d\n",
		       n > 0 && n < 200000 ? "short"
		       : n < 0		   ? ename(errno)
					   : "all",
		       handled - 2);
		fflush(stdout);
		_exit(0);
	}
	close(p[1]);
	char c;
	read(p[0], &c, 1);
	usleep(100000);
	close(p[0]);
	show_status("writer", xwait(pid));
	return 0;
}
