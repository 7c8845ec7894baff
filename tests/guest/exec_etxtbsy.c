/*
 * A file open for writing cannot be executed, a running one cannot be opened for writing: ETXTBSY.
 */
#include "guest.h"
#include <sys/sendfile.h>

static int copy_self(void)
{
	int in = open("/proc/self/exe", O_RDONLY),
	    out = open("prog", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	struct stat st;

	fstat(in, &st);
	while (sendfile(out, in, NULL, st.st_size) > 0)
		;
	close(in);
	return out;
}

int main(int argc, char **argv)
{
	char c;

	if (argc > 1)
		return read(atoi(argv[1]), &c, 1) == 0 ? 21 : 1;
	signal(SIGCHLD, SIG_DFL);
	int gate[2], up[2];
	char num[16];

	int fd = copy_self();
	SHOW(execl("./prog", "prog", "0", (char *)NULL));
	close(fd);
	if (pipe(gate) || pipe2(up, O_CLOEXEC))
		return 1;
	snprintf(num, sizeof(num), "%d", gate[0]);
	pid_t pid = xfork();
	if (pid == 0) {
		close(gate[1]);
		execl("./prog", "prog", num, (char *)NULL);
		_exit(127);
	}
	close(up[1]);
	(void)!read(up[0], &c, 1);
	SHOW(open("prog", O_WRONLY));
	SHOW(open("prog", O_RDWR | O_TRUNC));
	SHOW(truncate("prog", 0));
	CHECK(open("prog", O_RDONLY) >= 0);
	close(gate[1]);
	show_status("prog", xwait(pid));
	SHOWOK(open("prog", O_WRONLY));
	SHOW(unlink("prog"));
	return 0;
}
