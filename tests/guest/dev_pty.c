/*
 * A pseudo-terminal: unlocking, echo and line editing, size, raw mode, and what each side sees when
 * the other goes.
 */
#include "guest.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

/*
 * Reads until want bytes are there, since the terminal may hand them over in pieces; 0 is for an
 * end or an error.
 */
static void show_read(const char *what, int fd, int want)
{
	char buf[64];
	int n = 0;
	printf("%s: ", what);
	do {
		struct pollfd f = { fd, POLLIN, 0 };
		ssize_t r = poll(&f, 1, 3000) == 1 ? read(fd, buf + n, sizeof(buf) - n) : 0;
		if (r < 0)
			printf("%s", ename(errno));
		if (r <= 0)
			break;
		n += r;
	} while (n < want);
	for (int i = 0; i < n; i++)
		printf(buf[i] > 31 && buf[i] < 127 ? "%c" : "<%02x>", buf[i]);
	printf("\n");
}

int main(void)
{
	struct winsize ws = { 25, 80, 0, 0 }, got;
	struct termios t;
	int m = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(m >= 0);
	char *name = ptsname(m);
	CHECK(name && strncmp(name, "/dev/pts/", 9) == 0);
	CHECK(open(name, O_RDWR | O_NOCTTY) == -1 && errno == EIO);
	SHOW(grantpt(m));
	SHOW(unlockpt(m));
	int s = open(name, O_RDWR | O_NOCTTY);
	CHECK(s >= 0 && isatty(s) && isatty(m));
	SHOW(write(m, "hello\n", 6));
	show_read("slave reads", s, 6);
	show_read("master sees the echo", m, 7);
	SHOW(write(s, "out\n", 4));
	show_read("master reads", m, 5);
	/* Erase and kill. */
	SHOW(write(m, "abd\177c\n", 6));
	show_read("edited", s, 4);
	show_read("its echo", m, 9);
	SHOW(ioctl(m, TIOCSWINSZ, &ws));
	SHOW(ioctl(s, TIOCGWINSZ, &got));
	printf("%d x %d\n", got.ws_row, got.ws_col);
	SHOW(tcgetattr(s, &t));
	CHECK((t.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG) &&
	      (t.c_oflag & (OPOST | ONLCR)) == (OPOST | ONLCR));
	cfmakeraw(&t);
	SHOW(tcsetattr(s, TCSANOW, &t));
	SHOW(write(m, "r\003\r\n", 4));
	show_read("raw", s, 4);
	SHOW(write(s, "a\n", 2));
	show_read("raw out", m, 2);
	int n = -1;
	SHOW(write(m, "123", 3));
	struct pollfd f = { s, POLLIN, 0 };
	SHOW(poll(&f, 1, 3000));
	SHOW(ioctl(s, FIONREAD, &n));
	SHOW(n);
	SHOW(close(s));
	show_read("slave closed", m, 0);
	s = open(name, O_RDWR | O_NOCTTY);
	CHECK(s >= 0);
	SHOW(close(m));
	show_read("master closed", s, 0);
	SHOW(write(s, "x", 1));
	return 0;
}
