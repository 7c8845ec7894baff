/* A signal for a parent that waits in vfork is handled only after the child has exited. */
#include "guest.h"

static volatile int child_done, seen = -1;

static void handler(int sig)
{
	(void)sig;
	seen = child_done;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	pid_t self = getpid();

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	pid_t pid = vfork();
	if (pid == 0) {
		kill(self, SIGUSR1);
		usleep(150000);
		child_done = 1;
		_exit(0);
	}
	printf("handler saw the child done: %d\n", seen);
	CHECK(pid > 0);
	show_status("child", xwait(pid));
	return 0;
}
