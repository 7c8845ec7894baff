/*
 * TIOCSLCKTRMIOS: locked settings of a terminal stay as they are, from either end, until they are
 * unlocked.
 */
/* needs: root */
#include "guest.h"
#include <sys/ioctl.h>
#include <termios.h>

static void change(int fd)
{
	struct termios t;

	CHECK(tcgetattr(fd, &t) == 0);
	t.c_lflag &= ~(ECHO | ICANON);
	t.c_iflag |= IGNCR;
	t.c_cc[VINTR] = 'x';
	t.c_cc[VEOF] = 'y';
	SHOW(tcsetattr(fd, TCSANOW, &t));
	CHECK(tcgetattr(fd, &t) == 0);
	printf("echo %d icanon %d igncr %d intr %d eof %d\n", !!(t.c_lflag & ECHO), !!(t.c_lflag & ICANON),
	       !!(t.c_iflag & IGNCR), t.c_cc[VINTR], t.c_cc[VEOF]);
}

int main(void)
{
	struct termios lock = { 0 };
	int m = posix_openpt(O_RDWR | O_NOCTTY), s;

	CHECK(m >= 0 && unlockpt(m) == 0);
	s = open(ptsname(m), O_RDWR | O_NOCTTY);
	CHECK(s >= 0);
	memset(&lock, 1, sizeof(lock));
	SHOW(ioctl(s, TIOCGLCKTRMIOS, &lock));
	printf("locked at first: %d %d %d\n", (int)lock.c_lflag, (int)lock.c_iflag, lock.c_cc[VINTR]);
	lock.c_lflag = ECHO;
	lock.c_cc[VINTR] = 1;
	SHOW(ioctl(s, TIOCSLCKTRMIOS, &lock));
	memset(&lock, 0, sizeof(lock));
	SHOW(ioctl(s, TIOCGLCKTRMIOS, &lock));
	printf("locked now: %d %d %d\n", (int)lock.c_lflag, (int)lock.c_iflag, lock.c_cc[VINTR]);
	change(s);
	memset(&lock, 0, sizeof(lock));
	SHOW(ioctl(s, TIOCSLCKTRMIOS, (void *)8));
	SHOW(ioctl(s, TIOCSLCKTRMIOS, &lock));
	change(s);
	CHECK(setuid(65534) == 0);
	SHOW(ioctl(s, TIOCGLCKTRMIOS, &lock));
	SHOW(ioctl(s, TIOCSLCKTRMIOS, &lock));
	return 0;
}
