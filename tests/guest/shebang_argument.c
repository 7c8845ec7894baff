/*
 * "#!interp rest of line": the rest is one argument, then the script's path as given, then the
 * arguments.
 */
#include "guest.h"

static void script(const char *name, const char *text)
{
	put_file(name, text);
	chmod(name, 0755);
	pid_t pid = xfork();
	if (pid == 0) {
		execl(name, "lost argv0", "x", "y z", (char *)NULL);
		printf("%s\n", ename(errno));
		fflush(stdout);
		_exit(1);
	}
	show_status(name, xwait(pid));
	unlink(name);
}

int main(int argc, char **argv)
{
	static char line[400];
	char exe[512] = "";

	if (strcmp(argv[0], "./interp") == 0) {
		for (int i = 0; i < argc; i++)
			printf(strlen(argv[i]) > 100 ? " [long]" : " [%s]", argv[i]);
		printf("\n");
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	(void)!symlink(exe, "interp");
	script("./s1", "#!./interp\nbody\n");
	script("./s2", "#!./interp one\n");
	script("./s3", "#! \t./interp   one two\t three  \t\n");
	script("./s4", "#!./interp");
	script("./s5", "#!./interp -x");
	script("s6", "#!./interp \n");
	mkdir("dir", 0755);
	script("dir/../s7", "#!./interp a\n");
	rmdir("dir");
	memset(line, 'a', 399);
	memcpy(line, "#!./interp ", 11);
	script("./s8", line);
	unlink("interp");
	return 0;
}
