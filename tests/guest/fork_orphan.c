/*
 * When the parent dies, the child is given to process 1 (or the nearest subreaper): getppid
 * changes.
 */
#include "guest.h"

int main(void)
{
	int out[2], gate[2];
	char text[64] = "";

	signal(SIGCHLD, SIG_DFL);
	if (pipe(out) || pipe(gate))
		return 1;
	pid_t pid = xfork();
	if (pid == 0) {
		pid_t before = getpid();
		if (fork() == 0) {
			char c;
			close(gate[1]);
			/* The gate opens when the grandparent has reaped our parent. */
			(void)!read(gate[0], &c, 1);
			pid_t after = getppid();
			dprintf(out[1], "changed %d, to process 1 %d", before != after, after == 1);
			_exit(0);
		}
		_exit(3);
	}
	close(out[1]);
	show_status("parent of the orphan", xwait(pid));
	close(gate[1]);
	(void)!read(out[0], text, sizeof(text) - 1);
	printf("getppid of the orphan: %s\n", text);
	SHOW(waitpid(-1, NULL, WNOHANG));
	return 0;
}
