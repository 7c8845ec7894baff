/*
 * O_CLOEXEC closes at execve; a plain descriptor and its offset pass through. The program executes
 * itself to see.
 */
#include "guest.h"

int main(int argc, char **argv)
{
	if (argc == 4) {
		char buf[8] = "";
		printf("plain: %s\n", fcntl(atoi(argv[1]), F_GETFD) == 0 ? "open" : ename(errno));
		printf("cloexec: %s\n", fcntl(atoi(argv[2]), F_GETFD) == 0 ? "open" : ename(errno));
		printf("cleared: %s\n", fcntl(atoi(argv[3]), F_GETFD) == 0 ? "open" : ename(errno));
		SHOW(read(atoi(argv[1]), buf, 3));
		printf("%s\n", buf);
		return 7;
	}
	put_file("f", "abcdef");
	int a = open("f", O_RDONLY);
	int b = open("f", O_RDONLY | O_CLOEXEC);
	int c = open("f", O_RDONLY | O_CLOEXEC);
	SHOW(fcntl(a, F_GETFD));
	SHOW(fcntl(b, F_GETFD));
	CHECK((fcntl(b, F_GETFL) & O_CLOEXEC) == 0);
	SHOW(fcntl(c, F_SETFD, 0));
	SHOW(lseek(a, 2, SEEK_SET));
	pid_t pid = xfork();
	if (pid == 0) {
		char s[3][16];
		snprintf(s[0], 16, "%d", a);
		snprintf(s[1], 16, "%d", b);
		snprintf(s[2], 16, "%d", c);
		execl("/proc/self/exe", "self", s[0], s[1], s[2], (char *)NULL);
		_exit(99);
	}
	show_status("child", xwait(pid));
	SHOW(lseek(a, 0, SEEK_CUR));
	unlink("f");
	return 0;
}
