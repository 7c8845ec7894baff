/* /proc/self/cmdline and environ show the argument and environment bytes of the last exec. */
#include "guest.h"

static void dump(const char *path)
{
	char buf[512];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf));

	printf("%s, %zd bytes: ", path, n);
	for (ssize_t i = 0; i < n; i++)
		putchar(buf[i] ? buf[i] : '|');
	putchar('\n');
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		dump("/proc/self/cmdline");
		dump("/proc/self/environ");
		setenv("LATER", "1", 1);
		argv[1][0] = 'X';
		dump("/proc/self/cmdline");
		dump("/proc/self/environ");
		return 0;
	}
	fflush(stdout);
	execve("/proc/self/exe", (char *[]){ "zero", "one", "", "two three", NULL },
	       (char *[]){ "A=1", "B=two words", NULL });
	return 1;
}
