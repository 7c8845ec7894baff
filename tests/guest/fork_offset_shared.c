/*
 * Descriptors copied by fork name the same open file: offset and status flags are shared, close is
 * not.
 */
#include "guest.h"

int main(void)
{
	int fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char buf[4] = "";

	signal(SIGCHLD, SIG_DFL);
	(void)!write(fd, "abcdefgh", 8);
	lseek(fd, 0, SEEK_SET);
	pid_t pid = xfork();
	if (pid == 0) {
		(void)!read(fd, buf, 3);
		fcntl(fd, F_SETFL, O_APPEND);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		close(fd);
		_exit(0);
	}
	show_status("child", xwait(pid));
	SHOW(lseek(fd, 0, SEEK_CUR));
	CHECK(fcntl(fd, F_GETFL) & O_APPEND);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(read(fd, buf, 3));
	printf("read %.3s\n", buf);
	close(fd);
	unlink("f");
	return 0;
}
