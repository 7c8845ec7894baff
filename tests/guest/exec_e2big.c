/* One string of 128 KiB or more, or more than a quarter of the stack limit altogether, is E2BIG. */
#include "guest.h"
#include <sys/resource.h>

static void try(const char *what, char **argv, char **envp)
{
	pid_t pid = xfork();
	if (pid == 0) {
		execve("/bin/true", argv, envp);
		printf("%s: %s\n", what, ename(errno));
		fflush(stdout);
		_exit(1);
	}
	show_status(what, xwait(pid));
}

int main(void)
{
	struct rlimit lim;
	char *none[] = { NULL };
	static char s[131073];
	static char *many[200];

	signal(SIGCHLD, SIG_DFL);
	getrlimit(RLIMIT_STACK, &lim);
	if (lim.rlim_max != RLIM_INFINITY && lim.rlim_max < (8 << 20))
		return 1;
	lim.rlim_cur = 8 << 20;
	setrlimit(RLIMIT_STACK, &lim);
	memset(s, 'a', 131072);
	try("string of 128 KiB", (char *[]){ "true", s, NULL }, none);
	try("variable of 128 KiB", (char *[]){ "true", NULL }, (char *[]){ s, NULL });
	s[131071] = '\0';
	try("string of 128 KiB less one", (char *[]){ "true", s, NULL }, none);
	s[100000] = '\0';
	many[0] = "true";
	for (int i = 1; i < 16; i++)
		many[i] = s;
	try("1.5 MB of arguments", many, none);
	for (int i = 1; i < 40; i++)
		many[i] = s;
	try("4 MB of arguments, stack limit 8 MB", many, none);
	return 0;
}
