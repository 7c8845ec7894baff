/* /proc/self/cmdline and environ are the strings given to execve, each ended by a NUL. */
#include "guest.h"

static void show(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf));
	printf("%s (%zd):", path, n);
	for (ssize_t i = 0; i < n; i++)
		putchar(buf[i] ? buf[i] : '|');
	putchar('\n');
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		show("/proc/self/cmdline");
		show("/proc/self/environ");
		show("/proc/self/comm");
		/* The memory itself is shown, not a copy. */
		argv[1][0] = 'A';
		show("/proc/self/cmdline");
		setenv("LATER", "1", 1);
		show("/proc/self/environ");
		return 0;
	}
	pid_t pid = xfork();
	if (pid == 0) {
		char *args[] = {
			"a name of its own", "a", "", "two words", "-x", "tab\there", NULL
		};
		char *env[] = { "ONE=1", "EMPTY=", "PATH=/bin", NULL };
		execve("/proc/self/exe", args, env);
		_exit(99);
	}
	show_status("child", xwait(pid));
	/* A forked child shows its parent's. */
	if ((pid = xfork()) == 0) {
		char buf[4096] = "";
		int fd = open("/proc/self/cmdline", O_RDONLY);
		ssize_t n = read(fd, buf, sizeof(buf));
		CHECK(n == (ssize_t)strlen(argv[0]) + 1 && strcmp(buf, argv[0]) == 0);
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
	return 0;
}
