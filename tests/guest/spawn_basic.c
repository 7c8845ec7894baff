/* posix_spawn passes argv and environment, and returns the error of a failed exec itself. */
#include "guest.h"
#include <spawn.h>

int main(int argc, char **argv)
{
	char *args[] = { "spawned", "one", "", "three words here", NULL };
	char *env[] = { "A=1", "EMPTY=", NULL };
	char *miss[] = { "x", NULL };
	pid_t pid;

	if (argc > 1) {
		for (int i = 0; i < argc; i++)
			printf("argv[%d] '%s'\n", i, argv[i]);
		for (int i = 0; environ[i]; i++)
			printf("env '%s'\n", environ[i]);
		return 42;
	}
	signal(SIGCHLD, SIG_DFL);
	setenv("PATH", "/usr/bin:/bin", 1);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, env))
		return 1;
	show_status("spawned", xwait(pid));
	printf("missing: %s\n", ename(posix_spawn(&pid, "./missing", NULL, NULL, miss, env)));
	put_file("plain", "text\n");
	printf("not executable: %s\n", ename(posix_spawn(&pid, "./plain", NULL, NULL, miss, env)));
	printf("not in PATH: %s\n",
	       ename(posix_spawnp(&pid, "no-such-program-here", NULL, NULL, miss, env)));
	SHOW(waitpid(-1, NULL, 0));
	unlink("plain");
	args[0] = "true";
	SHOW(posix_spawnp(&pid, "true", NULL, NULL, args, env));
	show_status("true", xwait(pid));
	return 0;
}
