/*
 * Once waitpid() told of the stop, SIGTERM waits for SIGCONT: also where the process had only just
 * begun to wait when it was stopped.
 */
#include "guest.h"

#define ROUNDS 200

int main(void)
{
	int early = 0, status;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = xfork();

		if (pid == 0)
			for (;;)
				pause();
		usleep(i * 5);
		kill(pid, SIGSTOP);
		waitpid(pid, &status, WUNTRACED);
		kill(pid, SIGTERM);
		usleep(500);
		early += waitpid(pid, &status, WNOHANG) != 0;
		kill(pid, SIGCONT);
		if (!early)
			waitpid(pid, &status, 0);
		if (early || !WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
			break;
	}
	printf("ended before SIGCONT: %d\n", early);
	show_status("at the end", status);
	return 0;
}
