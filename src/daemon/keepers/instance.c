/* See instance.h. The lock decides who is vivd for this RUN; a socket without a lock belongs to
 * nobody. */
#include "daemon/keepers/instance.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/paths.h"

#define BACKLOG 512

int place_take(struct daemon *d, struct err *e)
{
	char path[4200], text[32];
	int n;

	if (path_run(d->run, sizeof(d->run), true, e) < 0 ||
	    path_state(d->state, sizeof(d->state), e) < 0)
		return -1;
	snprintf(d->socket, sizeof(d->socket), "%s/" VIVD_SOCKET, d->run);
	snprintf(path, sizeof(path), "%s/vivd.lock", d->run);
	d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock < 0)
		return err_set(e, ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
	if (flock(d->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			err_set(e, ERR_CONFLICT,
				"vivd runs already for '%s'" REMEDY "'viv daemon status' shows it",
				d->run);
		else
			err_set(e, ERR_FAILED, "cannot lock '%s': %s", path, strerror(errno));
		close(d->lock);
		return -1;
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	(void)!ftruncate(d->lock, 0);
	(void)!pwrite(d->lock, text, (size_t)n, 0);
	return 0;
}

/* What systemd passes: one descriptor, number 3, to exactly this process. */
static int activated_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	int fd = -1, listening = 0;
	socklen_t len = sizeof(listening);

	if (pid && n && atoi(pid) == getpid() && atoi(n) >= 1)
		fd = 3;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) < 0 || !listening)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

int place_listen(struct daemon *d, struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = activated_socket(), dir, err;
	mode_t mask;

	if (fd >= 0) {
		d->activated = true;
		return fd;
	}
	dir = open(d->run, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (dir < 0 || fd < 0) {
		err = errno;
		if (dir >= 0)
			close(dir);
		return err_set(e, ERR_FAILED, "cannot make a socket in '%s': %s", d->run,
			       strerror(err));
	}
	/* By way of the directory's descriptor: the path itself may be longer than a socket's
	 * address. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/" VIVD_SOCKET, dir);
	unlinkat(dir, VIVD_SOCKET, 0);
	mask = umask(0177);
	err = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, BACKLOG) < 0 ? errno
											  : 0;
	umask(mask);
	close(dir);
	if (!err)
		return fd;
	close(fd);
	return err_set(e, ERR_FAILED, "cannot listen at '%s': %s", d->socket, strerror(err));
}

void place_notify(const char *text)
{
	static char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *given = getenv("NOTIFY_SOCKET");
	int fd;

	if (given) {
		if ((*given == '/' || *given == '@') && strlen(given) < sizeof(sa.sun_path))
			strcpy(path, given);
		unsetenv("NOTIFY_SOCKET");
	}
	if (!*path)
		return;
	strcpy(sa.sun_path, path);
	if (*path == '@') /* an abstract name */
		sa.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&sa,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(fd);
}

void place_leave(struct daemon *d)
{
	if (!d->activated)
		unlink(d->socket);
	close(d->lock);
}

/* ADDR:PORT or [ADDR]:PORT, in numbers or "localhost". */
static int address_parse(const char *text, struct addrinfo **ret, struct err *e)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	char host[64];
	size_t n = colon ? (size_t)(colon - text) : 0;
	int r;

	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (!n || n >= sizeof(host) || !colon[1])
		return err_set(e, ERR_USAGE,
			       "--listen '%s': give it as ADDRESS:PORT, such as 127.0.0.1:7411 or "
			       "[::1]:7411",
			       text);
	snprintf(host, sizeof(host), "%.*s", (int)n, text);
	r = getaddrinfo(strcmp(host, "localhost") ? host : "127.0.0.1", colon + 1, &hints, ret);
	if (r)
		return err_set(e, ERR_USAGE, "--listen '%s': %s", text, gai_strerror(r));
	return 0;
}

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >>
			24) == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

int tcp_listen(const char *text, bool tls, struct err *e)
{
	struct addrinfo *a;
	int fd, on = 1;

	if (address_parse(text, &a, e) < 0)
		return -1;
	if (!tls && !is_loopback(a->ai_addr)) {
		freeaddrinfo(a);
		return err_set(
			e, ERR_USAGE,
			"--listen '%s' is not a loopback address, and tokens would go over the "
			"network as they are" REMEDY "give --tls-cert and --tls-key",
			text);
	}
	fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		err_set(e, ERR_FAILED, "cannot listen at '%s': %s", text, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(a);
	return fd;
}
