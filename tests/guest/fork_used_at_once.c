/* A new child can be signalled, moved to a group and waited for the moment fork returns. */
#include "guest.h"

int main(void)
{
	int nokill = 0, nopgrp = 0, nowait = 0, nosig = 0;

	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			for (;;)
				pause();
		}
		int status = 0;
		nopgrp += setpgid(pid, pid) != 0 || getpgid(pid) != pid;
		nokill += kill(pid, 0) != 0;
		nokill += kill(pid, SIGKILL) != 0;
		nowait += waitpid(pid, &status, 0) != pid;
		nosig += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	}
	printf("failed: setpgid %d, kill %d, wait %d, status %d\n", nopgrp, nokill, nowait, nosig);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(i);
		int status = 0;
		nowait += waitpid(-1, &status, 0) != pid || !WIFEXITED(status) ||
			  WEXITSTATUS(status) != i;
	}
	printf("failed: wait for any %d\n", nowait);
	return 0;
}
