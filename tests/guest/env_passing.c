/*
 * The environment as libc sees it: set, unset and passed on by execv, replaced by execve, order and
 * duplicates kept.
 */
#include "guest.h"

static void run(int how)
{
	char *env[] = { "B=2", "A=1", "B=3", "X", NULL };
	pid_t pid = xfork();

	if (pid == 0) {
		if (how == 0)
			execl("/proc/self/exe", "self", "show", (char *)NULL);
		if (how == 1)
			execle("/proc/self/exe", "self", "show", (char *)NULL, env);
		if (how == 2) {
			clearenv();
			execl("/proc/self/exe", "self", "show", (char *)NULL);
		}
		_exit(127);
	}
	show_status("program", xwait(pid));
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		int n = 0;
		for (; environ && environ[n]; n++)
			if (strncmp(environ[n], "LD_", 3))
				printf("[%s]\n", environ[n]);
		printf("getenv B %s, count %d\n", getenv("B") ? getenv("B") : "(none)", n);
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	clearenv();
	setenv("KEEP", "value with spaces", 1);
	setenv("B", "first", 1);
	setenv("B", "second", 0);
	setenv("GONE", "x", 1);
	unsetenv("GONE");
	putenv("PUT=here");
	run(0);
	run(1);
	run(2);
	return 0;
}
