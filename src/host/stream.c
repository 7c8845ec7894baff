/* Standard streams and terminal settings; see stream.h. */
#include "host/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void streams_fill(void)
{
	for (int n = 0; n < 3; n++)
		if (fcntl(n, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return;
}

void streams_drop(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int n = 0; n < 3 && fd >= 0; n++)
		dup2(fd, n);
	if (fd > 2)
		close(fd);
}

int stream_open(int n, bool *ret_tty)
{
	char path[32];
	struct stat st;
	int fd = -1, flags = fcntl(n, F_GETFL);

	*ret_tty = false;
	if (flags < 0 || (flags & O_PATH) || fstat(n, &st) < 0 || S_ISDIR(st.st_mode)) {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	*ret_tty = S_ISCHR(st.st_mode) && isatty(n);
	if (S_ISFIFO(st.st_mode) || *ret_tty) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", n);
		fd = open(path,
			  (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	/* Not permitted for another user's terminal, for instance. */
	if (fd < 0)
		fd = fcntl(n, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

void terminal_save(struct terminal *t)
{
	memset(&t->saved, 0, sizeof(t->saved));
	for (t->fd = 0; t->fd < 3; t->fd++)
		if (!tcgetattr(t->fd, &t->saved))
			return;
	t->fd = -1;
}

void terminal_restore(const struct terminal *t, struct termios *now)
{
	memset(now, 0, sizeof(*now));
	if (t->fd < 0)
		return;
	if (tcgetattr(t->fd, now) < 0)
		*now = t->saved;
	/* Mostly nothing changed, and a background process would disturb the shell in front. */
	if (memcmp(now, &t->saved, sizeof(*now)))
		tcsetattr(t->fd, TCSANOW, &t->saved);
}

void terminal_set(const struct terminal *t, const struct termios *to)
{
	if (t->fd >= 0 && memcmp(to, &t->saved, sizeof(*to)))
		tcsetattr(t->fd, TCSANOW, to);
}
