/* Input of processes that were started with KEEP_X_WHOLE: bytes with their place in it, so that
 * what a client sends once more after it was killed is written once.
 *
 * One request of a process is written at a time, from the descriptor that came with it, as the
 * process reads: nothing is copied here, and a process that does not read costs a descriptor. When
 * its client goes, the request is finished without it, and a client that comes with the same bytes
 * takes its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper/keeper.h"

#define BLOCK 65536

struct put {
	struct source out; /* a descriptor of our own for the input; -1: nothing is being written */
	struct kproc *p;
	uint64_t position; /* bytes of its input that were written */
	/* what is being written; client NULL: nobody waits */
	struct client *client;
	uint32_t id;
	uint64_t from, end; /* where it begins and ends in the input */
	int fd; /* -1: it is in text */
	char text[KEEP_TEXT];
};

static bool is_busy(const struct put *u)
{
	return u->position < u->end;
}

static void put_stop(struct put *u)
{
	source_close(&u->out);
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
	u->end = u->position;
}

static void put_answer(struct put *u)
{
	struct client *c = u->client;

	u->client = NULL;
	put_stop(u);
	if (c)
		client_ok(c, u->id, u->position);
}

static void put_fail(struct put *u)
{
	struct client *c = u->client;

	u->client = NULL;
	put_stop(u);
	if (c)
		client_fail(c, u->id, ERR_CLOSED, 0, "the process reads no more input");
}

/* The next bytes; 0: the file is shorter than it was. */
static ssize_t block_get(const struct put *u, char *block)
{
	size_t n = (size_t)MIN(u->end - u->position, (uint64_t)BLOCK);

	if (u->fd >= 0)
		return pread(u->fd, block, n, (off_t)(u->position - u->from));
	memcpy(block, u->text + (u->position - u->from), n);
	return (ssize_t)n;
}

static void put_step(struct put *u)
{
	char block[BLOCK];

	while (is_busy(u)) {
		ssize_t n = block_get(u, block), put;

		put = n > 0 ? write(u->out.fd, block, (size_t)n) : -1;
		if (put < 0 && n > 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (put <= 0) {
			put_fail(u);
			return;
		}
		u->position += (uint64_t)put;
	}
	put_answer(u);
}

static void put_ready(struct source *s, uint32_t events)
{
	(void)events;
	put_step(container_of(s, struct put, out));
}

static struct put *put_of(struct kproc *p)
{
	if (!p->put)
		p->put = calloc(1, sizeof(*p->put));
	if (p->put && !p->put->p) {
		p->put->p = p;
		p->put->fd = p->put->out.fd = -1;
	}
	return p->put;
}

/* Where the bytes of a request end; 0: it is damaged. Those in a file are a client's of our own
 * user: its size is taken as it is now. */
static uint64_t end_of(const struct keep_msg *in, int fd)
{
	struct stat st;
	uint64_t n = fd < 0 ? (uint64_t)in->a : 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = (uint64_t)st.st_size;
	if ((fd < 0 && (in->a <= 0 || in->a >= KEEP_TEXT)) || !n || in->n + n < in->n)
		return 0;
	return in->n + n;
}

static void put_begin(struct put *u, struct client *c, const struct keep_msg *in, int fd,
		      uint64_t end)
{
	int out = dup(u->p->input);

	u->client = c;
	u->id = in->id;
	u->from = in->n;
	u->end = end;
	u->fd = fd;
	if (fd < 0)
		memcpy(u->text, in->text, KEEP_TEXT);
	if (out < 0 || source_add(&u->out, out, EPOLLOUT, put_ready) < 0) {
		if (out >= 0)
			close(out);
		u->out.fd = -1;
		put_fail(u);
		return;
	}
	put_step(u);
}

void put_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds)
{
	struct kproc *p = proc_by_num(in->proc);
	struct put *u = p && (p->flags & KEEP_X_WHOLE) && p->input >= 0 ? put_of(p) : NULL;
	int fd = nfds ? fds[0] : -1;
	uint64_t end = end_of(in, fd);

	for (unsigned i = 1; i < nfds; i++)
		close(fds[i]);
	/* The same bytes again, and perhaps more behind them, of a client that was killed. */
	if (u && end && is_busy(u) && !u->client && in->n <= u->position && end > u->position)
		put_stop(u);
	if (u && end && !is_busy(u) && in->n <= u->position && end > u->position) {
		put_begin(u, c, in, fd, end);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (!u)
		client_fail(c, in->id, ERR_CLOSED, 0, "the process reads no more input");
	else if (!end)
		client_fail(c, in->id, ERR_USAGE, 0, "the request with input is damaged");
	else if (end <= u->position)
		client_ok(c, in->id, u->position);
	else if (in->n > u->position && !is_busy(u))
		client_fail(c, in->id, ERR_CONFLICT, 0, "input is missing before these bytes");
	else
		client_fail(c, in->id, ERR_BUSY, 0, "other input is being written");
}

void put_client_gone(const struct client *c)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link)
		if (p->put && p->put->client == c)
			p->put->client = NULL;
}

void put_end(struct kproc *p)
{
	if (!p->put)
		return;
	put_fail(p->put);
	free(p->put);
	p->put = NULL;
}
