/*
 * Scripts that cannot run: interpreter missing, a directory, not executable, none given, line too
 * long, CR at its end.
 */
#include "guest.h"

static void script(const char *what, const char *text)
{
	put_file("script", text);
	chmod("script", 0755);
	pid_t pid = xfork();
	if (pid == 0) {
		execl("./script", "x", (char *)NULL);
		printf("%s: %s\n", what, ename(errno));
		fflush(stdout);
		_exit(1);
	}
	int status = xwait(pid);
	if (status != 0x100)
		show_status(what, status);
	unlink("script");
}

int main(void)
{
	static char line[600];

	signal(SIGCHLD, SIG_DFL);
	put_file("plain", "text");
	script("missing", "#!/no/such/interpreter\n");
	script("directory", "#!/tmp\n");
	script("not executable", "#!./plain\n");
	script("not executable, absolute", "#!/etc/passwd\n");
	script("none", "#!\n");
	script("only blanks", "#!   \t \n");
	script("carriage return", "#!/bin/true\r\n");
	script("blank before", " #!/bin/true\n");
	script("through a file", "#!./plain/x\n");
	memset(line, 'a', 599);
	memcpy(line, "#!/", 3);
	script("300 bytes and more without a blank", line);
	script("works", "#!/bin/true\n");
	unlink("plain");
	return 0;
}
