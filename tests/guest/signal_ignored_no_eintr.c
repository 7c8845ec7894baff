/*
 * An ignored signal, and one whose default is to be ignored, does not end a blocking call; nor does
 * a stop and continue.
 */
#include "guest.h"
#include <time.h>

int main(void)
{
	int p[2];
	char c = 0;
	pid_t parent = getpid();
	struct timespec rem = { 0 };

	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGWINCH, SIG_DFL);
	signal(SIGURG, SIG_DFL);
	(void)!pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 20; i++) {
			usleep(5000);
			kill(parent, SIGUSR1);
			kill(parent, SIGWINCH);
			kill(parent, SIGURG);
			kill(parent, SIGCONT);
			/* An ending child's SIGCHLD does not either. */
			if (fork() == 0)
				_exit(0);
		}
		(void)!write(p[1], "z", 1);
		for (int i = 0; i < 20; i++) {
			usleep(5000);
			kill(parent, SIGUSR1);
			kill(parent, SIGWINCH);
		}
		_exit(0);
	}
	SHOW(read(p[0], &c, 1));
	printf("read %c\n", c);
	SHOW(nanosleep(&(struct timespec){ .tv_nsec = 60000000 }, &rem));
	show_status("child", xwait(pid));
	return 0;
}
