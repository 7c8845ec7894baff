/* See pipeend.h. The handle that watches an end outlives it until the loop lets go of it, so it has
 * memory of its own. */
#include "api/http/pipeend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

#define WIDE (256 * 1024)

void pipe_end_init(struct pipe_end *e, uv_loop_t *loop, void (*ready)(struct pipe_end *e),
		   void *owner)
{
	*e = (struct pipe_end){ .fd = -1, .loop = loop, .ready = ready, .owner = owner };
}

int pipe_end_open(struct pipe_end *e, bool reads)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	e->reads = reads;
	e->fd = p[reads ? 0 : 1];
	/* Ours only: the process's end is as the process expects it. */
	fcntl(e->fd, F_SETFL, O_NONBLOCK | (reads ? O_RDONLY : O_WRONLY));
	return p[reads ? 1 : 0];
}

void pipe_end_adopt(struct pipe_end *e, int fd, bool reads)
{
	pipe_end_close(e);
	e->reads = reads;
	e->fd = fd;
}

void pipe_end_widen(struct pipe_end *e)
{
	fcntl(e->fd, F_SETPIPE_SZ, WIDE);
}

static void poll_closed(uv_handle_t *h)
{
	free(h);
}

void pipe_end_close(struct pipe_end *e)
{
	if (e->poll)
		uv_close((uv_handle_t *)e->poll, poll_closed);
	e->poll = NULL;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

/* What a call did with the end, as pipeend.h has it. */
static ssize_t end_result(struct pipe_end *e, ssize_t n)
{
	if (n > 0)
		return n;
	if (n < 0 && errno == EAGAIN)
		return 0;
	pipe_end_close(e);
	return -1;
}

ssize_t pipe_end_read(struct pipe_end *e, void *buf, size_t size)
{
	ssize_t n;

	if (e->fd < 0)
		return -1;
	do
		n = read(e->fd, buf, size);
	while (n < 0 && errno == EINTR);
	return end_result(e, n);
}

ssize_t pipe_end_write(struct pipe_end *e, const void *data, size_t size)
{
	ssize_t n;

	if (e->fd < 0)
		return -1;
	do
		n = write(e->fd, data, size);
	while (n < 0 && errno == EINTR);
	return end_result(e, n);
}

static void on_ready(uv_poll_t *p, int status, int events)
{
	struct pipe_end *e = p->data;

	(void)status;
	(void)events;
	uv_poll_stop(p);
	e->ready(e);
}

bool pipe_end_wait(struct pipe_end *e)
{
	if (!e->poll) {
		e->poll = xalloc(sizeof(*e->poll));
		if (uv_poll_init(e->loop, e->poll, e->fd)) {
			free(e->poll);
			e->poll = NULL;
			pipe_end_close(e);
			return false;
		}
		e->poll->data = e;
	}
	uv_poll_start(e->poll, e->reads ? UV_READABLE : UV_WRITABLE, on_ready);
	return true;
}
