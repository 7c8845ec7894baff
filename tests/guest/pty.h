/* What the guest programs about pseudo-terminals share. */
#ifndef GUEST_PTY_H
#define GUEST_PTY_H

#include "guest.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

static int m = -1, s = -1; /* the pair's master and slave */

static inline void pair_open(void)
{
	m = posix_openpt(O_RDWR | O_NOCTTY);
	if (m < 0 || grantpt(m) || unlockpt(m) || (s = open(ptsname(m), O_RDWR | O_NOCTTY)) < 0) {
		printf("no pair: %s\n", ename(errno));
		exit(97);
	}
}

static inline void put(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		printf("short write: %s\n", ename(errno));
}

/*
 * Reads until want bytes are there, since the terminal may hand them over in pieces, and prints
 * them; an end or an error ends it. What comes after them is left.
 */
static inline void show_read(const char *what, int fd, int want)
{
	char buf[256];
	int n = 0;
	printf("%s: ", what);
	while (n < want) {
		struct pollfd f = { fd, POLLIN, 0 };
		ssize_t r = -2;
		if (poll(&f, 1, 3000) == 1)
			r = read(fd, buf + n, want - n);
		if (r <= 0) {
			printf("(%s)", r == -2 ? "nothing" : r == 0 ? "end" : ename(errno));
			break;
		}
		n += r;
	}
	for (int i = 0; i < n; i++)
		printf(buf[i] > 31 && buf[i] < 127 ? "%c" : "<%02x>", buf[i] & 0xff);
	printf("\n");
}

/* Prints what one read gives. */
static inline void show_one(const char *what, int fd, int size)
{
	char buf[256];
	ssize_t n = read(fd, buf, size);
	printf("%s: ", what);
	if (n < 0)
		printf("(%s)", ename(errno));
	for (int i = 0; i < n; i++)
		printf(buf[i] > 31 && buf[i] < 127 ? "%c" : "<%02x>", buf[i] & 0xff);
	printf(" = %zd\n", n);
}

/* Waits up to ms for something to read; whether it came. */
static inline bool ready(int fd, int ms)
{
	struct pollfd f = { fd, POLLIN, 0 };
	return poll(&f, 1, ms) == 1 && (f.revents & POLLIN);
}

static inline void flags_change(tcflag_t *field, tcflag_t on, tcflag_t off)
{
	*field = (*field | on) & ~off;
}

static inline void set_iflag(tcflag_t on, tcflag_t off)
{
	struct termios t;
	tcgetattr(s, &t);
	flags_change(&t.c_iflag, on, off);
	tcsetattr(s, TCSANOW, &t);
}

static inline void set_oflag(tcflag_t on, tcflag_t off)
{
	struct termios t;
	tcgetattr(s, &t);
	flags_change(&t.c_oflag, on, off);
	tcsetattr(s, TCSANOW, &t);
}

static inline void set_lflag(tcflag_t on, tcflag_t off)
{
	struct termios t;
	tcgetattr(s, &t);
	flags_change(&t.c_lflag, on, off);
	tcsetattr(s, TCSANOW, &t);
}

static inline void set_cc(int which, cc_t c)
{
	struct termios t;
	tcgetattr(s, &t);
	t.c_cc[which] = c;
	tcsetattr(s, TCSANOW, &t);
}

/* Waits up to three seconds for a condition. */
#define UNTIL(cond)                                          \
	for (int i_ = 0; i_ < 300 && !(cond); i_++)          \
		usleep(10000)

/* Prints how a child changed: stopped, continued or ended. */
static inline int show_change(const char *what, pid_t pid)
{
	int status = 0;
	if (waitpid(pid, &status, WUNTRACED | WCONTINUED) != pid)
		printf("%s: %s\n", what, ename(errno));
	else if (WIFSTOPPED(status))
		printf("%s: stopped by %s\n", what, signame(WSTOPSIG(status)));
	else if (WIFCONTINUED(status))
		printf("%s: continued\n", what);
	else
		show_status(what, status);
	return status;
}

/* The slave becomes the controlling terminal of the calling child's new session. */
static inline void session_begin(void)
{
	if (setsid() < 0 || ioctl(s, TIOCSCTTY, 0)) {
		printf("session: %s\n", ename(errno));
		fflush(stdout);
		_exit(96);
	}
}

#endif
