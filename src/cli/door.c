/* See door.h. The sockets are in $XDG_RUNTIME_DIR/vivarium, else /run/vivarium for root, else "run" in the store; named
 * by the disk, which is unique, so that instances live side by side. */
#include "cli/door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/store.h"

static int run_dir(struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[4096 + 16];
	int fd;

	if (runtime && *runtime == '/') {
		snprintf(path, sizeof(path), "%.4000s/vivarium", runtime);
	} else if (!geteuid() && access("/run", W_OK) == 0) {
		strcpy(path, "/run/vivarium");
	} else {
		if (store_path(path, 4096, e) < 0)
			return -1;
		strcat(path, "/run");
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make '%s': %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
	return fd;
}

/* By way of the directory's descriptor: the path itself may be longer than a socket's address. */
static void address(struct sockaddr_un *sa, int dir, const char *disk)
{
	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", dir, disk);
}

int door_open(const char *disk, struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int dir = run_dir(e);
	struct sockaddr_un sa;

	if (dir < 0 || fd < 0) {
		if (fd >= 0)
			close(fd);
		return dir < 0 ? -1 : err_set(e, ERR_FAILED, "no socket: %s", strerror(errno));
	}
	/* The disk is locked by us, so a socket that is there belongs to nobody. */
	unlinkat(dir, disk, 0);
	address(&sa, dir, disk);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || fchmodat(dir, disk, 0600, 0) < 0 ||
	    listen(fd, 16) < 0) {
		err_set(e, ERR_FAILED, "cannot listen for requests to the cell: %s",
			strerror(errno));
		close(fd);
		fd = -1;
	}
	close(dir);
	return fd;
}

void door_close(int fd, const char *disk)
{
	struct err e;
	int dir = run_dir(&e);

	close(fd);
	if (dir < 0)
		return;
	unlinkat(dir, disk, 0);
	close(dir);
}

int door_accept(int fd, struct door_request *q)
{
	int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pollfd p = { .fd = conn, .events = POLLIN };
	struct ucred who;
	socklen_t len = sizeof(who);

	if (conn < 0)
		return -1;
	/* Whoever connects has its request ready; nobody is waited for. */
	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ||
	    (who.uid != geteuid() && who.uid) || poll(&p, 1, 100) != 1 ||
	    recv(conn, q, sizeof(*q), MSG_DONTWAIT) != sizeof(*q)) {
		close(conn);
		return -1;
	}
	q->name[sizeof(q->name) - 1] = 0;
	return conn;
}

void door_answer(int conn, const struct door_answer *a)
{
	(void)!send(conn, a, sizeof(*a), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(conn);
}

int door_ask(const char *disk, const struct door_request *q, struct door_answer *a, struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), dir = run_dir(e), ret = -1;
	struct sockaddr_un sa;

	if (dir < 0 || fd < 0) {
		if (fd >= 0)
			close(fd);
		return dir < 0 ? -1 : err_set(e, ERR_FAILED, "no socket: %s", strerror(errno));
	}
	address(&sa, dir, disk);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		err_set(e, errno == ENOENT || errno == ECONNREFUSED ? ERR_NOT_FOUND : ERR_FAILED,
			"cannot reach the process that runs the cell: %s", strerror(errno));
	else if (send(fd, q, sizeof(*q), MSG_NOSIGNAL) != sizeof(*q) ||
		 recv(fd, a, sizeof(*a), 0) != sizeof(*a))
		err_set(e, ERR_FAILED, "the cell ended while it was asked");
	else
		ret = 0;
	close(fd);
	close(dir);
	if (ret == 0 && a->kind) {
		a->text[sizeof(a->text) - 1] = 0;
		return err_set(e, (enum err_kind)a->kind, "%s", a->text);
	}
	return ret;
}
