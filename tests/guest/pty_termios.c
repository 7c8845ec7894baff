/* The settings: what a new pair has, from either end, in all their structs. */
#include "pty.h"

struct termios2_ {
	unsigned iflag, oflag, cflag, lflag;
	unsigned char line, cc[19];
	unsigned ispeed, ospeed;
};
struct termio_ {
	unsigned short iflag, oflag, cflag, lflag;
	unsigned char line, cc[8];
};

static void show(const char *what, int fd)
{
	struct termios2_ t;
	memset(&t, 0xee, sizeof(t));
	if (ioctl(fd, 0x802c542a, &t))
		printf("TCGETS2: %s\n", ename(errno));
	printf("%s: %o %o %o %o line %d speed %u %u cc", what, t.iflag, t.oflag, t.cflag, t.lflag,
	       t.line, t.ispeed, t.ospeed);
	for (int i = 0; i < 19; i++)
		printf(" %d", t.cc[i]);
	printf("\n");
}

int main(void)
{
	struct termios t;
	struct termios2_ t2;
	struct termio_ old;
	int disc = -1;
	pair_open();
	show("new", s);
	show("from the master", m);
	SHOW(tcgetattr(m, &t));
	t.c_cc[VINTR] = 'i';
	t.c_cflag = (t.c_cflag & ~CSIZE) | CS7 | PARENB;
	SHOW(cfsetspeed(&t, B9600));
	SHOW(tcsetattr(m, TCSANOW, &t));
	show("set by the master", s);
	SHOW(ioctl(s, 0x802c542a, &t2));
	t2.cflag = (t2.cflag & ~0010017) | 0010000; /* BOTHER */
	t2.ispeed = t2.ospeed = 12345;
	SHOW(ioctl(s, 0x402c542b, &t2));
	show("any speed", s);
	SHOW(ioctl(s, TCGETA, &old));
	old.lflag &= ~ECHO;
	old.cc[VEOF] = 'e';
	SHOW(ioctl(s, TCSETA, &old));
	show("by the old struct", s);
	SHOW(ioctl(s, TCSETS, (void *)8));
	SHOW(ioctl(s, TCGETS, (void *)8));
	SHOW(ioctl(s, TIOCGETD, &disc));
	SHOW(disc);
	SHOW(ioctl(s, TIOCSETD, &disc));
	SHOW(ioctl(s, 0x5499, &disc));
	SHOW(ioctl(m, 0x5499, &disc));
	return 0;
}
