/* needs: root */
/*
 * Two users cannot signal each other; the sender's real or effective uid must be the target's real
 * or saved one.
 */
#include "guest.h"

static pid_t target(uid_t r, uid_t e, uid_t s)
{
	int p[2];
	char c;

	(void)!pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		if (setresuid(r, e, s))
			_exit(98);
		close(p[0]);
		close(p[1]);
		for (;;)
			pause();
	}
	close(p[1]);
	/* End of file: the identity is set. */
	(void)!read(p[0], &c, 1);
	close(p[0]);
	return pid;
}

static void sender(uid_t uid, pid_t *pids, int n)
{
	pid_t pid = xfork();
	if (pid == 0) {
		if (setresuid(uid, uid, uid))
			_exit(98);
		for (int i = 0; i < n; i++)
			printf("uid %d to target %d: %s\n", (int)uid, i,
			       kill(pids[i], 0) ? ename(errno) : "0");
		fflush(stdout);
		_exit(0);
	}
	xwait(pid);
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	pid_t t[] = { target(1000, 1000, 1000), target(1001, 1001, 1001), target(1000, 1001, 1001),
		      target(1001, 1000, 1001), target(0, 1000, 0) };
	sender(1000, t, 5);
	sender(1001, t, 5);
	sender(0, t, 5);
	for (int i = 0; i < 5; i++) {
		kill(t[i], SIGKILL);
		show_status("target", xwait(t[i]));
	}
	return 0;
}
