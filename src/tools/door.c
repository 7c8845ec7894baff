/* See door.h. */
#include "tools/door.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/utf8.h"
#include "wire/tools.h"

#define RETRIES 100
#define RETRY_US 100000
#define PATIENCE_MS 3000 /* then somebody at a terminal is told what it waits for */

const char *command_name = "viv-tools";

void complain(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_hide_controls(text);
	fprintf(stderr, "%s: %s\n", command_name, text);
}

static int connect_to_vivd(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *path = getenv("VIV_SOCK");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!path || strlen(path) >= sizeof(sa.sun_path))
		path = DOOR_PATH;
	strcpy(sa.sun_path, path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	complain("cannot connect to %s: %s; the cell has it only if it was started with --tool, or "
		 "with rules about tools",
		 path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool send_all(int fd, const void *data, size_t n)
{
	const char *at = data;

	while (n) {
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* The next piece; 0: the end. */
static size_t read_more(int fd, struct buf *in, bool *patient)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[65536];
	ssize_t n;

	if (*patient && poll(&p, 1, PATIENCE_MS) == 0) {
		*patient = false;
		complain("waiting for vivd on the host; 'viv daemon start' there starts it");
	}
	do
		n = recv(fd, chunk, sizeof(chunk), 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	*patient = false;
	buf_add(in, chunk, (size_t)n);
	return (size_t)n;
}

struct answer {
	int (*fn)(void *arg, const struct json *line);
	void *arg;
	bool started; /* it may have had effects */
};

static int line_take(struct answer *a, const char *text, size_t n)
{
	struct json_doc d = { 0 };
	struct err e = { 0 };
	int r;

	if (json_parse(&d, text, n, &e) < 0) {
		complain("vivd's answer cannot be read: %s", e.message);
		r = TOOL_EXIT_FAILED;
	} else if (json_get(d.root, "started", JSON_BOOL)) {
		a->started = true;
		r = -1;
	} else {
		r = a->fn(a->arg, d.root);
	}
	json_free(&d);
	return r;
}

/* -1: it ended without a last line. */
static int answer_read(int fd, struct answer *a)
{
	struct buf in = { 0 };
	bool patient = true;
	size_t seen = 0;
	int r = -1;

	while (r < 0 && in.len <= DOOR_LINE_MAX && read_more(fd, &in, &patient)) {
		size_t at = 0;
		const char *end;

		while (r < 0 &&
		       (end = memchr(in.p + MAX(at, seen), '\n', in.len - MAX(at, seen)))) {
			size_t n = (size_t)(end - ((char *)in.p + at));

			r = line_take(a, (char *)in.p + at, n);
			at += n + 1;
		}
		memmove(in.p, in.p + at, in.len - at);
		in.len -= at;
		seen = in.len;
	}
	buf_free(&in);
	return r;
}

int door_ask(const struct buf *request, int (*fn)(void *arg, const struct json *line), void *arg)
{
	struct answer a = { .fn = fn, .arg = arg };
	int r = -1;

	for (int i = 0; r < 0 && i < RETRIES && !a.started; i++) {
		int fd = connect_to_vivd();

		if (fd < 0)
			return TOOL_EXIT_FAILED;
		if (i)
			usleep(RETRY_US);
		/* What cannot be sent may have been answered. */
		(void)!send_all(fd, request->p, request->len);
		r = answer_read(fd, &a);
		close(fd);
	}
	if (r < 0) {
		complain(a.started ? "vivd ended during the call; what the tool has done is not "
				     "known"
				   : "vivd does not answer");
		r = TOOL_EXIT_FAILED;
	}
	return r;
}

int door_error(const struct json *line)
{
	const struct json *error = json_get(line, "error", JSON_OBJECT);
	uint64_t status = TOOL_EXIT_FAILED;
	struct err e;

	json_get_err(error, 0, &e);
	complain("%s", err_line(&e).str);
	(void)!json_get_u64(line, "exit", &status);
	return (int)MIN(status, (uint64_t)255);
}
