/* exec closes the descriptors marked close-on-exec, and no others; the numbers stay. */
#include "guest.h"
#include <sys/socket.h>

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		for (int fd = 50; fd < 58; fd++)
			printf("%d: %s\n", fd, fcntl(fd, F_GETFD) < 0 ? ename(errno) : "open");
		printf("content of 50: ");
		char buf[6] = "";
		printf("%d '%s'\n", (int)read(50, buf, 5), buf);
		return 0;
	}
	put_file("f", "01234567");
	int fd = open("f", O_RDONLY);
	lseek(fd, 2, SEEK_SET);
	dup2(fd, 50);
	dup3(fd, 51, O_CLOEXEC);
	dup2(fd, 52);
	fcntl(52, F_SETFD, FD_CLOEXEC);
	dup3(fd, 53, O_CLOEXEC);
	fcntl(53, F_SETFD, 0);
	dup3(fd, 54, O_CLOEXEC);
	dup2(54, 55);
	fcntl(fd, F_DUPFD_CLOEXEC, 56);
	fcntl(51, F_DUPFD, 57);
	unlink("f");
	/* A failed exec closes nothing. */
	SHOW(execl("./missing", "x", (char *)NULL));
	SHOW(fcntl(51, F_GETFD));
	fflush(stdout);
	execl("/proc/self/exe", "self", "again", (char *)NULL);
	return 1;
}
