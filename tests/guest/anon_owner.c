/* Pipes, sockets and memory files belong to whoever made them, and are opened again by their mode;
 * eventfds and their kin belong to nobody in particular. */
/* needs: root */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static void again(const char *what, int fd)
{
	char name[64];
	int mode[3] = { O_RDONLY, O_WRONLY, O_RDWR };

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 3; i++) {
		int r = open(name, mode[i] | O_NONBLOCK);

		printf("%s, opened again with %d: %s\n", what, mode[i],
		       r < 0 ? ename(errno) : "ok");
		close(r);
	}
}

static void owner(const char *what, int fd)
{
	struct stat st;

	fstat(fd, &st);
	printf("%s: type %o mode %o of %d:%d\n", what, st.st_mode & S_IFMT, st.st_mode & 07777,
	       (int)st.st_uid, (int)st.st_gid);
}

static void made_by(const char *who)
{
	int p[2], s[2], m, fd;

	printf("-- made by %s\n", who);
	SHOW(pipe(p));
	owner("pipe", p[0]);
	owner("pipe, other end", p[1]);
	again("pipe", p[0]);
	SHOW(fchmod(p[0], 0640));
	owner("pipe", p[1]);
	again("pipe of 0640", p[0]);
	SHOW(fchmod(p[1], 0));
	again("pipe of 0000", p[0]);
	SHOW(fchmod(p[1], 07600));
	owner("pipe", p[1]);
	SHOW(fchown(p[0], 4711, -1));
	SHOW(fchown(p[0], -1, 4711));
	SHOW(fchown(p[0], geteuid(), getegid()));
	owner("pipe", p[1]);
	again("pipe after chown", p[0]);
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	owner("socket", s[1]);
	again("socket", s[0]);
	SHOW(fchmod(s[0], 0600));
	owner("socket", s[0]);
	owner("socket, its peer", s[1]);
	SHOW(fchown(s[0], -1, getegid()));
	SHOWOK(m = socket(AF_INET, SOCK_STREAM, 0));
	owner("inet socket", m);
	close(m);
	SHOWOK(m = memfd_create("m", 0));
	owner("memfd", m);
	SHOW(fchmod(m, 0600));
	owner("memfd", m);
	again("memfd", m);
	SHOW(fchown(m, geteuid(), getegid()));
	fd = eventfd(0, 0);
	again("eventfd", fd);
	fd = epoll_create1(0);
	again("epoll", fd);
	fd = timerfd_create(CLOCK_MONOTONIC, 0);
	again("timerfd", fd);
}

static void as_user(void)
{
	if (setegid(1234) || seteuid(1234))
		puts("cannot change the user");
	made_by("another user");
}

/* What root made, another user has in its hands but cannot open again. */
static void inherited(void)
{
	int p[2];

	SHOW(pipe(p));
	if (setegid(1234) || seteuid(1234))
		puts("cannot change the user");
	owner("inherited pipe", p[0]);
	again("inherited pipe", p[0]);
	SHOW(fchmod(p[0], 0666));
	SHOW(fchown(p[0], 1234, 1234));
	SHOW((seteuid(0), fchmod(p[0], 0666)));
	SHOW(seteuid(1234));
	again("inherited pipe of 0666", p[0]);
}

/* The file system ids count, not the effective ones. */
static void by_fsuid(void)
{
	int p[2];

	setresgid(77, 77, 77);
	if (setresuid(0, 66, 0))
		puts("cannot change the user");
	SHOW(pipe(p));
	owner("pipe", p[0]);
}

int main(void)
{
	made_by("root");
	fflush(stdout);
	show_status("child", in_child(as_user));
	show_status("child", in_child(inherited));
	show_status("child", in_child(by_fsuid));
	return 0;
}
