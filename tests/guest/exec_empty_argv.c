/* execve with argv NULL or empty: since Linux 5.18 the program gets one empty argument. */
#include "guest.h"
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	if (getenv("AGAIN")) {
		printf("argc %d, argv[0] '%s', then NULL %d\n", argc, argv[0] ? argv[0] : "(null)",
		       argv[1] == NULL);
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	char *env[] = { "AGAIN=1", NULL }, *none[] = { NULL };
	for (int i = 0; i < 2; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			syscall(SYS_execve, "/proc/self/exe", i ? none : NULL, env);
			_exit(127);
		}
		show_status(i ? "empty argv" : "argv NULL", xwait(pid));
	}
	pid_t pid = xfork();
	if (pid == 0) {
		execve("/bin/true", none, NULL);
		_exit(127);
	}
	show_status("envp NULL", xwait(pid));
	return 0;
}
