/*
 * PR_SET_CHILD_SUBREAPER: orphans below become children of the nearest subreaper, which can wait
 * for them; fork clears it.
 */
#include "guest.h"

int main(void)
{
	int on = -1, gate[2], inherited = -1;
	char c;

	signal(SIGCHLD, SIG_DFL);
	SHOW(prctl(PR_GET_CHILD_SUBREAPER, &on));
	printf("at first %d\n", on);
	SHOW(prctl(PR_SET_CHILD_SUBREAPER, 1));
	SHOW(prctl(PR_GET_CHILD_SUBREAPER, &on));
	printf("then %d\n", on);
	(void)!pipe(gate);
	pid_t self = getpid(), pid = xfork();
	if (pid == 0) {
		prctl(PR_GET_CHILD_SUBREAPER, &inherited);
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				close(gate[1]);
				(void)!read(gate[0], &c, 1);
				_exit(getppid() == self ? 20 : 21);
			}
		_exit(inherited);
	}
	show_status("child; inherited flag", xwait(pid));
	SHOW(waitpid(-1, NULL, WNOHANG));
	close(gate[1]);
	for (int i = 0; i < 3; i++) {
		int status = 0;
		CHECK(waitpid(-1, &status, 0) > 0);
		show_status("orphan", status);
	}
	SHOW(waitpid(-1, NULL, 0));
	return 0;
}
