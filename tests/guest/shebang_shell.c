/*
 * A real shell script by its path, with arguments and exit code; execvp gives a file without #! to
 * the shell.
 */
#include "guest.h"

static void run(const char *file)
{
	char *args[] = { "zero", "one", "two words", NULL };
	pid_t pid = xfork();

	if (pid == 0) {
		execvp(file, args);
		_exit(127);
	}
	show_status(file, xwait(pid));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	put_file("script", "#!/bin/sh\nfor a in \"$0\" \"$@\"; do echo \"<$a>\"; done\nexit 12\n");
	put_file("plain", "echo plain \"$0\" $#; exit 13\n");
	chmod("script", 0755);
	chmod("plain", 0755);
	run("./script");
	run("./plain");
	SHOW(execl("./plain", "x", (char *)NULL));
	setenv("PATH", ".:/usr/bin:/bin", 1);
	run("script");
	unlink("script");
	unlink("plain");
	return 0;
}
