/* A process that is stopped while it waits in read does not take what arrives meanwhile; it does
 * when it is continued. */
#include "guest.h"
#include <sys/ioctl.h>

int main(void)
{
	int in[2], out[2], left = -1, status;
	char c = 0;

	signal(SIGCHLD, SIG_DFL);
	CHECK(pipe(in) == 0 && pipe(out) == 0);
	pid_t pid = xfork();
	if (pid == 0) {
		if (read(in[0], &c, 1) == 1)
			(void)!write(out[1], &c, 1);
		_exit(0);
	}
	usleep(50000); /* it waits in read now */
	kill(pid, SIGSTOP);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	CHECK(write(in[1], "x", 1) == 1);
	usleep(100000);
	CHECK(ioctl(in[0], FIONREAD, &left) == 0);
	printf("left while stopped: %d\n", left);
	kill(pid, SIGCONT);
	CHECK(read(out[0], &c, 1) == 1);
	printf("after SIGCONT: %c\n", c);
	show_status("child", xwait(pid));
	return 0;
}
