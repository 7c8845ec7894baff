/* See http.h. */
#include "client/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>

int http_send_bytes(struct http *h, const char *data, size_t size)
{
	while (size) {
		ssize_t n = send(h->fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

int http_send(struct http *h, const char *method, const char *path, const char *body, size_t size)
{
	char head[HTTP_HEAD_MAX];
	int n = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: vivd\r\n", method, path);
	int err;

	if (n < 0 || (size_t)n + 128 > sizeof(head))
		return -ENAMETOOLONG;
	if (body)
		n += snprintf(head + n, sizeof(head) - (size_t)n,
			      "Content-Type: application/json\r\nContent-Length: %zu\r\n", size);
	n += snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
	err = http_send_bytes(h, head, (size_t)n);
	return err || !body ? err : http_send_bytes(h, body, size);
}

/* More bytes into in, which has room. 0 at the end, -errno. */
static ssize_t in_fill(struct http *h)
{
	ssize_t n;

	if (h->at == h->len)
		h->at = h->len = 0;
	do
		n = recv(h->fd, h->in + h->len, sizeof(h->in) - h->len,
			 h->nowait ? MSG_DONTWAIT : 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	h->len += (size_t)n;
	return n;
}

/* One line without its end, NUL-terminated, in place. */
static int line_read(struct http *h, char **ret)
{
	for (;;) {
		char *nl = memchr(h->in + h->at, '\n', h->len - h->at);
		ssize_t n;

		if (nl) {
			*ret = h->in + h->at;
			h->at = (size_t)(nl - h->in) + 1;
			if (nl > *ret && nl[-1] == '\r')
				nl--;
			*nl = '\0';
			return 0;
		}
		if (h->len - h->at >= HTTP_HEAD_MAX)
			return -EPROTO;
		if (h->at) {
			memmove(h->in, h->in + h->at, h->len - h->at);
			h->len -= h->at;
			h->at = 0;
		}
		n = in_fill(h);
		if (n <= 0)
			return n < 0 ? (int)n : -EPIPE;
	}
}

static bool number_read(const char *s, int base, uint64_t *ret)
{
	char *end;

	if (!*s || strspn(s, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") == 0)
		return false;
	errno = 0;
	*ret = strtoull(s, &end, base);
	return errno == 0 && (*end == '\0' || *end == ';' || *end == ' ');
}

static int header_apply(struct http *h, char *line)
{
	char *value = strchr(line, ':');

	if (!value)
		return -EPROTO;
	*value++ = '\0';
	value += strspn(value, " \t");
	if (!strcasecmp(line, "Content-Length"))
		return number_read(value, 10, &h->left) ? (h->until_end = false, 0) : -EPROTO;
	if (!strcasecmp(line, "Transfer-Encoding")) {
		if (strcasecmp(value, "chunked"))
			return -EPROTO;
		h->chunked = true;
		h->until_end = false;
	} else if (!strcasecmp(line, "Connection") && !strcasecmp(value, "close")) {
		h->close = true;
	}
	return 0;
}

int http_head(struct http *h)
{
	char *line;
	int err = line_read(h, &line);

	if (err)
		return err;
	if (strncmp(line, "HTTP/1.", 7) || strlen(line) < 12)
		return -EPROTO;
	h->status = atoi(line + 9);
	h->chunked = h->close = h->body_done = false;
	h->until_end = true;
	h->left = 0;
	while (!(err = line_read(h, &line)) && *line)
		if ((err = header_apply(h, line)))
			return err;
	if (h->status == 204 || h->status == 304)
		h->body_done = true;
	else if (h->chunked)
		h->left = 0;
	else if (!h->until_end && !h->left)
		h->body_done = true;
	h->close |= h->until_end;
	return err;
}

/* The size of the next chunk; at the last one, what follows it is read too. */
static int chunk_begin(struct http *h)
{
	char *line;
	int err = line_read(h, &line);

	if (!err && !*line) /* the end of the one before */
		err = line_read(h, &line);
	if (err)
		return err;
	if (!number_read(line, 16, &h->left))
		return -EPROTO;
	if (h->left)
		return 0;
	h->body_done = true;
	while (!(err = line_read(h, &line)) && *line)
		;
	return err;
}

ssize_t http_body(struct http *h, char *buf, size_t size)
{
	size_t n;

	if (!h->body_done && h->chunked && !h->left) {
		int err = chunk_begin(h);

		if (err)
			return err;
	}
	if (h->body_done)
		return 0;
	if (h->at == h->len) {
		ssize_t got = in_fill(h);

		if (got < 0)
			return got;
		if (got == 0) {
			h->body_done = true;
			return h->until_end ? 0 : -EPIPE;
		}
	}
	n = MIN(size, h->len - h->at);
	if (!h->until_end)
		n = MIN(n, h->left);
	memcpy(buf, h->in + h->at, n);
	h->at += n;
	if (!h->until_end) {
		h->left -= n;
		if (!h->left && !h->chunked)
			h->body_done = true;
	}
	return (ssize_t)n;
}
