/* A process that is killed at any moment of an execve() was killed by that signal. */
#include "guest.h"

#define ROUNDS 800

int main(int argc, char **argv)
{
	int odd = 0;

	if (argc > 1)
		for (;;)
			pause();
	for (int i = 0; i < ROUNDS; i++) {
		const int sig = i % 2 ? SIGKILL : SIGTERM;
		pid_t pid = xfork();
		int status;

		if (pid == 0) {
			execl("/proc/self/exe", argv[0], "pause", NULL);
			_exit(9);
		}
		usleep(i * 13 % 1200);
		kill(pid, sig);
		status = xwait(pid);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != sig)
			odd++;
	}
	printf("ended otherwise: %d\n", odd);
	return 0;
}
