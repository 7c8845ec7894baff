/*
 * vfork ends when the child execs: the parent goes on while the new program runs. Descriptors are
 * not shared.
 */
#include "guest.h"

int main(int argc, char **argv)
{
	int gate[2], back[2];
	char a[16], b[16], c = 0;

	if (argc == 3) {
		/* The new program: it can end only after the parent has gone on. */
		ssize_t n = read(atoi(argv[1]), &c, 1);
		return n == 1 && write(atoi(argv[2]), "y", 1) == 1 ? c : 1;
	}
	signal(SIGCHLD, SIG_DFL);
	if (pipe(gate) || pipe(back))
		return 1;
	snprintf(a, sizeof(a), "%d", gate[0]);
	snprintf(b, sizeof(b), "%d", back[1]);
	pid_t pid = vfork();
	if (pid == 0) {
		close(gate[1]);
		close(back[0]);
		execl("/proc/self/exe", "self", a, b, (char *)NULL);
		_exit(127);
	}
	SHOW(waitpid(pid, NULL, WNOHANG));
	SHOW(write(gate[1], "\x21", 1));
	SHOW(read(back[0], &c, 1));
	show_status("child", xwait(pid));
	pid = vfork();
	if (pid == 0) {
		execl("/nonexistent", "x", (char *)NULL);
		_exit(errno == ENOENT ? 44 : 45);
	}
	show_status("failed exec", xwait(pid));
	return 0;
}
