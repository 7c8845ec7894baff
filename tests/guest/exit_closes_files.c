/*
 * The end of a process closes its descriptors: a pipe's reader sees EOF, a writer EPIPE, a lock is
 * free again.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/file.h>

static int p[2], q[2];

static void *park(void *arg)
{
	char c;

	(void)!read(q[0], &c, 1);
	return arg;
}

int main(void)
{
	char c;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	for (int round = 0; round < 3; round++) {
		if (pipe(p) || pipe(q))
			return 1;
		int up[2];
		(void)!pipe(up);
		pid_t pid = xfork();
		if (pid == 0) {
			pthread_t t;
			close(p[0]);
			close(q[1]);
			int fd = open("lock", O_RDWR | O_CREAT, 0600);
			flock(fd, LOCK_EX);
			for (int i = 0; i < 4; i++)
				pthread_create(&t, NULL, park, NULL);
			(void)!write(up[1], "x", 1);
			if (round == 0)
				pause();
			if (round == 1)
				exit(1);
			abort();
		}
		(void)!read(up[0], &c, 1);
		close(p[1]);
		close(q[0]);
		if (round == 0)
			kill(pid, SIGKILL);
		SHOW(read(p[0], &c, 1));
		show_status("child", xwait(pid));
		SHOW(write(q[1], "x", 1));
		int fd = open("lock", O_RDWR);
		SHOW(flock(fd, LOCK_EX | LOCK_NB));
		close(fd);
		close(p[0]);
		close(q[1]);
		close(up[0]);
		close(up[1]);
	}
	unlink("lock");
	return 0;
}
