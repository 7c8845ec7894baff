/* For a script: comm and AT_EXECFN come from the script, /proc/self/exe is the interpreter. */
#include "guest.h"
#include <sys/auxv.h>

int main(int argc, char **argv)
{
	char exe[512] = "", real[512] = "", comm[17] = "";

	if (strcmp(argv[0], "./interp") == 0) {
		(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		prctl(PR_GET_NAME, comm);
		printf("argc %d, comm '%s', execfn '%s'\n", argc, comm,
		       (char *)getauxval(AT_EXECFN));
		printf("exe is the interpreter %d\n", strcmp(exe, argv[1]) == 0);
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	(void)!readlink("/proc/self/exe", real, sizeof(real) - 1);
	(void)!symlink(real, "interp");
	char text[600];
	snprintf(text, sizeof(text), "#!./interp %s\n", real);
	put_file("a-script-with-a-long-name", text);
	chmod("a-script-with-a-long-name", 0755);
	pid_t pid = xfork();
	if (pid == 0) {
		execl("./a-script-with-a-long-name", "zero", (char *)NULL);
		_exit(127);
	}
	show_status("script", xwait(pid));
	unlink("a-script-with-a-long-name");
	unlink("interp");
	return 0;
}
