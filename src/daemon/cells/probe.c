/* See probe.h. */
#include "daemon/cells/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

struct probing {
	struct list link;
	struct daemon *d;
	uv_poll_t poll;
	int fd;
	uint64_t asked; /* by the loop's clock */
	probe_fn fn;
	char id[KEEP_ID_LEN + 1];
};
static struct list probings = LIST_INIT(probings);

static struct probing *probing_find(const char *id)
{
	struct probing *x;

	list_for_each(x, &probings, link)
		if (!strcmp(x->id, id))
			return x;
	return NULL;
}

uint64_t probe_left(struct daemon *d, const char *id, uint64_t ms)
{
	uint64_t now = uv_now(&d->loop), left = 0;
	struct probing *x;

	list_for_each(x, &probings, link)
		if ((!id || !strcmp(x->id, id)) && x->asked + ms > now)
			left = MAX(left, x->asked + ms - now);
	return left;
}

static void probing_closed(uv_handle_t *h)
{
	struct probing *x = h->data;

	close(x->fd);
	free(x);
}

static void on_answer(uv_poll_t *p, int status, int events)
{
	struct probing *x = p->data;
	struct keep_msg m;
	int err = keep_recv(x->fd, &m, NULL, NULL, KEEP_NOWAIT);
	bool good = !err && m.type == KEEP_HELLO && m.hello.version == KEEP_VERSION &&
		    m.hello.state < KEEP_STOPPED;

	(void)status;
	(void)events;
	if (err == -EAGAIN)
		return;
	list_remove(&x->link);
	uv_close((uv_handle_t *)p, probing_closed);
	x->fn(x->d, x->id, good ? &m.hello : NULL);
	if (x->d->settled)
		x->d->settled(x->d);
}

enum probe probe_begin(struct daemon *d, const char *id, probe_fn fn)
{
	/* From then on the keeper leaves a record of its end. */
	const struct keep_msg m = {
		.type = KEEP_HELLO, .id = 1, .n = KEEP_VERSION, .flags = KEEP_WORD
	};
	struct probing *x;
	struct err e;
	int fd;

	if (probing_find(id))
		return PROBE_ASKED;
	fd = keep_connect(id, KEEP_NOWAIT, &e);
	if (fd < 0)
		return e.kind == ERR_CONFLICT ? PROBE_BUSY : PROBE_NONE;
	x = xalloc(sizeof(*x));
	if (keep_send(fd, &m, NULL, 0, KEEP_NOWAIT) < 0 || uv_poll_init(&d->loop, &x->poll, fd)) {
		close(fd);
		free(x);
		return PROBE_NONE;
	}
	x->d = d;
	x->fd = fd;
	x->fn = fn;
	x->poll.data = x;
	/* The loop's clock stands still while vivd starts. */
	uv_update_time(&d->loop);
	x->asked = uv_now(&d->loop);
	snprintf(x->id, sizeof(x->id), "%s", id);
	list_append(&probings, &x->link);
	uv_poll_start(&x->poll, UV_READABLE | UV_DISCONNECT, on_answer);
	return PROBE_ASKED;
}
