/* libvivarium: a stream of lines that is read when there is something to read; see vivarium.h. */
#include <errno.h>
#include <string.h>

#include "client/inner.h"
#include "client/start.h"

#define LINE_MAX_BYTES (64u << 20)
#define STEP 65536u

int viv_follow(struct viv_client *c, const char *path, struct viv_reply *reply,
	       struct viv_error *error)
{
	*reply = (struct viv_reply){ 0 };
	/* What an earlier stream left is nobody's any more. */
	if (c->http.nowait)
		client_drop(c);
	if (client_ask(c, "GET", path, NULL, error) < 0)
		return -1;
	if (c->http.status != 200)
		return client_reply(c, reply, error);
	reply->status = 200;
	c->http.nowait = true;
	return 0;
}

int viv_follow_fd(const struct viv_client *c)
{
	return c->http.fd;
}

/* The next whole line of what was read. */
static bool line_take(struct viv_client *c, const char **line, size_t *size)
{
	struct buf *b = &c->lines;
	char *nl;

	while (b->len > c->line_seen &&
	       (nl = memchr(b->p + c->line_seen, '\n', b->len - c->line_seen))) {
		*line = (char *)b->p + c->line_at;
		*size = (size_t)(nl - *line);
		*nl = '\0';
		c->line_at = c->line_seen = (size_t)(nl - (char *)b->p) + 1;
		/* An empty one only says that the stream lives. */
		if (*size)
			return true;
	}
	c->line_seen = b->len;
	return false;
}

static void room_make(struct viv_client *c)
{
	struct buf *b = &c->lines;

	if (!c->line_at)
		return;
	memmove(b->p, b->p + c->line_at, b->len - c->line_at);
	b->len -= c->line_at;
	c->line_seen -= c->line_at;
	c->line_at = 0;
}

int viv_follow_line(struct viv_client *c, const char **line, size_t *size, struct viv_error *error)
{
	ssize_t n;

	if (!c->http.nowait)
		return viv_error_set(error, EBADF, "nothing is being followed");
	while (!line_take(c, line, size)) {
		room_make(c);
		if (c->lines.len >= LINE_MAX_BYTES) {
			client_drop(c);
			return viv_error_set(error, EFBIG, "vivd sent a line without an end");
		}
		n = http_body(&c->http, buf_more(&c->lines, STEP), STEP);
		c->lines.len -= STEP - (size_t)MAX(n, 0);
		if (n == -EAGAIN)
			return 0;
		if (n > 0)
			continue;
		client_drop(c);
		return viv_error_set(error, (int)-n,
				     n ? "the connection to vivd broke" : "the stream ended");
	}
	return 1;
}
