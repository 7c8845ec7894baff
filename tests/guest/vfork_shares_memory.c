/* vfork: the child runs in the parent's memory, and the parent waits until it has exited. */
#include "guest.h"

static volatile int steps;

int main(void)
{
	volatile int local = 1;
	pid_t self = getpid();

	signal(SIGCHLD, SIG_DFL);
	pid_t pid = vfork();
	if (pid == 0) {
		usleep(100000);
		local = 2;
		steps = (getppid() == self) + 10 * (getpid() != self);
		_exit(6);
	}
	printf("parent: local %d, steps %d\n", local, steps);
	show_status("child", xwait(pid));
	for (volatile int i = 0; i < 200; i++) {
		pid = vfork();
		if (pid == 0) {
			local++;
			_exit(i);
		}
		int status = xwait(pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != i)
			printf("round %d: wrong status\n", i);
	}
	printf("parent: local %d\n", local);
	return 0;
}
