/*
 * A shell's redirection by hand: dup2 onto 0 and 1 in the child, execve, and the pipe carries the
 * output.
 */
#include "guest.h"

int main(void)
{
	char buf[256];
	int in[2], out[2];
	SHOW(pipe2(in, O_CLOEXEC));
	SHOW(pipe2(out, O_CLOEXEC));
	pid_t pid = xfork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/usr/bin/tr", "tr", "a-z", "A-Z", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	SHOW(write(in[1], "hello through tr\n", 17));
	close(in[1]);
	size_t n = 0;
	for (ssize_t r; n < sizeof(buf) && (r = read(out[0], buf + n, sizeof(buf) - n)) > 0; n += r)
		;
	printf("%.*s", (int)n, buf);
	show_status("tr", xwait(pid));

	/* The parent's own stdout to a file and back. */
	int saved = dup(1);
	int fd = open("f", O_WRONLY | O_CREAT, 0644);
	dup2(fd, 1);
	printf("into the file\n");
	fflush(stdout);
	system("echo from a shell");
	dup2(saved, 1);
	printf("%s", get_file("f"));
	unlink("f");
	return 0;
}
