/* libvivarium; see vivarium.h. One connection, opened again when vivd closed it between two
 * requests. */
#include "client/vivarium.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "client/inner.h"
#include "client/paths.h"
#include "client/start.h"

#define REPLY_MAX (64u << 20)
#define LINE_MAX_BYTES (16u << 20)

int viv_error_set(struct viv_error *e, int code, const char *fmt, ...)
{
	struct err err;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&err, code == EACCES || code == EPERM ? ERR_DENIED : ERR_FAILED, fmt, ap);
	va_end(ap);
	return viv_error_from(e, code, &err);
}

int viv_error_from(struct viv_error *e, int code, const struct err *from)
{
	_Static_assert(sizeof(e->text) == sizeof(from->message), "nothing is cut");
	_Static_assert(sizeof(e->cause) == sizeof(from->cause), "nothing is cut");
	_Static_assert(sizeof(e->remedy) == sizeof(from->remedy), "nothing is cut");
	e->code = code;
	snprintf(e->kind, sizeof(e->kind), "%s", err_code(from));
	strcpy(e->text, from->message);
	strcpy(e->cause, from->cause);
	strcpy(e->remedy, from->remedy);
	return -1;
}

const char *viv_inside(void)
{
	const char *door = getenv("VIV_SOCK");

	return door && !strcmp(door, "/run/viv/sock") && access(door, F_OK) == 0 ? door : NULL;
}

int viv_socket_path(char *path, size_t size, struct viv_error *error)
{
	const char *given = getenv("VIVARIUM_SOCKET");
	struct err e;

	if (!given || !*given)
		given = viv_inside();
	if (given && *given) {
		if (strlen(given) >= size)
			return viv_error_set(error, ENAMETOOLONG, "VIVARIUM_SOCKET is too long");
		strcpy(path, given);
		return 0;
	}
	if (size < sizeof("/" VIVD_SOCKET) || path_run(path, size - sizeof(VIVD_SOCKET), false, &e))
		return viv_error_from(error, 0, &e);
	strcat(path, "/" VIVD_SOCKET);
	return 0;
}

/* By way of the directory's descriptor: the path itself may be longer than a socket's address. */
static int socket_connect(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *slash = strrchr(path, '/');
	char dir[4096];
	int dirfd, fd, err = 0;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%.64s", dirfd,
		 slash ? slash + 1 : path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		err = -errno;
	close(dirfd);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int client_connect(struct viv_client *c, struct viv_error *error)
{
	int fd = socket_connect(c->path);

	c->http.at = c->http.len = 0;
	c->http.fd = fd;
	if (fd >= 0)
		return 0;
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return viv_error_set(error, -fd,
				     "vivd does not run (no answer at %s)" REMEDY
				     "'viv daemon start' starts it",
				     c->path);
	return viv_error_set(error, -fd, "cannot connect to vivd at %s: %s", c->path,
			     strerror(-fd));
}

struct viv_client *viv_open(const char *socket, int flags, struct viv_error *error)
{
	struct viv_client *c = calloc(1, sizeof(*c));

	if (!c) {
		viv_error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	c->http.fd = -1;
	if (socket && strlen(socket) < sizeof(c->path))
		strcpy(c->path, socket);
	else if (socket)
		goto out_name;
	else if (viv_socket_path(c->path, sizeof(c->path), error) < 0)
		goto out_free;
	if (client_connect(c, error) == 0)
		return c;
	if (!socket && (flags & VIV_START) && !viv_inside() &&
	    (error->code == ENOENT || error->code == ECONNREFUSED) && viv_start(NULL, error) == 0 &&
	    client_connect(c, error) == 0)
		return c;
	goto out_free;
out_name:
	viv_error_set(error, ENAMETOOLONG, "the path of the socket is too long");
out_free:
	free(c);
	return NULL;
}

void viv_close(struct viv_client *c)
{
	if (!c)
		return;
	if (c->http.fd >= 0)
		close(c->http.fd);
	buf_free(&c->lines);
	free(c);
}

void viv_interrupt(struct viv_client *c)
{
	int saved = errno;

	if (c->http.fd >= 0)
		shutdown(c->http.fd, SHUT_RDWR);
	errno = saved;
}

/* Whether the connection can be used for one more request. */
static bool is_open(struct viv_client *c)
{
	struct pollfd p = { .fd = c->http.fd, .events = POLLIN };

	return c->http.fd >= 0 && !c->http.close && c->http.at == c->http.len &&
	       poll(&p, 1, 0) == 0;
}

void client_drop(struct viv_client *c)
{
	if (c->http.fd >= 0)
		close(c->http.fd);
	c->http.fd = -1;
	c->http.close = c->http.nowait = false;
	buf_free(&c->lines);
	c->line_at = c->line_seen = 0;
}

int client_ready(struct viv_client *c, struct viv_error *error)
{
	if (is_open(c))
		return 0;
	client_drop(c);
	return client_connect(c, error);
}

int client_head(struct viv_client *c, int err, struct viv_error *error)
{
	/* It may have answered before it read all, and closed. */
	if (!err || err == -EPIPE || err == -ECONNRESET)
		err = http_head(&c->http);
	if (!err)
		return 0;
	client_drop(c);
	if (err == -EPROTO)
		return viv_error_set(error, EPROTO, "what listens at %s is not vivd", c->path);
	return viv_error_set(error, -err, "the connection to vivd broke: %s",
			     err == -EPIPE ? "it ended" : strerror(-err));
}

int client_ask(struct viv_client *c, const char *method, const char *path, const char *json,
	       struct viv_error *error)
{
	if (client_ready(c, error) < 0)
		return -1;
	return client_head(c, http_send(&c->http, method, path, json, json ? strlen(json) : 0),
			   error);
}

/* Some more of the body at the end of b: how much, 0 at its end, or -errno. */
static ssize_t body_more(struct viv_client *c, struct buf *b)
{
	char *p = buf_more(b, 65536);
	ssize_t n = http_body(&c->http, p, 65536);

	b->len -= 65536 - (size_t)MAX(n, 0);
	return n;
}

int client_reply(struct viv_client *c, struct viv_reply *reply, struct viv_error *error)
{
	struct buf b = { 0 };
	ssize_t n;

	do
		n = body_more(c, &b);
	while (n > 0 && b.len < REPLY_MAX);
	if (n) {
		buf_free(&b);
		client_drop(c);
		return viv_error_set(error, n < 0 ? (int)-n : EFBIG,
				     n < 0 ? "vivd's answer was cut off"
					   : "vivd's answer is too big");
	}
	buf_add(&b, "", 1);
	reply->status = c->http.status;
	reply->body = (char *)b.p;
	reply->size = b.len - 1;
	return 0;
}

int viv_call(struct viv_client *c, const char *method, const char *path, const char *json,
	     struct viv_reply *reply, struct viv_error *error)
{
	*reply = (struct viv_reply){ 0 };
	if (client_ask(c, method, path, json, error) < 0)
		return -1;
	return client_reply(c, reply, error);
}

void viv_reply_free(struct viv_reply *reply)
{
	free(reply->body);
	*reply = (struct viv_reply){ 0 };
}

/* Gives the whole lines in b to fn and keeps the rest. */
static int lines_give(struct buf *b, viv_line_fn fn, void *arg)
{
	size_t at = 0;
	int ret = 0;
	char *nl;

	while (!ret && b->len > at && (nl = memchr(b->p + at, '\n', b->len - at))) {
		size_t n = (size_t)(nl - (char *)b->p) - at;

		*nl = '\0';
		if (n)
			ret = fn(arg, (char *)b->p + at, n);
		at += n + 1;
	}
	if (at) {
		memmove(b->p, b->p + at, b->len - at);
		b->len -= at;
	}
	return ret;
}

int viv_stream(struct viv_client *c, const char *method, const char *path, const char *json,
	       viv_line_fn line, void *arg, struct viv_reply *reply, struct viv_error *error)
{
	struct buf b = { 0 };
	int ret = 0;
	ssize_t n;

	*reply = (struct viv_reply){ 0 };
	if (client_ask(c, method, path, json, error) < 0)
		return -1;
	if (c->http.status != 200)
		return client_reply(c, reply, error);
	reply->status = 200;
	do {
		n = body_more(c, &b);
		if (n > 0)
			ret = lines_give(&b, line, arg);
	} while (n > 0 && !ret && b.len < LINE_MAX_BYTES);
	buf_free(&b);
	if (n || ret)
		client_drop(c);
	if (n < 0)
		return viv_error_set(error, (int)-n, "the connection to vivd broke");
	if (n > 0 && !ret)
		return viv_error_set(error, EFBIG, "vivd sent a line without an end");
	return ret;
}
