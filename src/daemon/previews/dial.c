/* A stream into a cell: one end of a pair goes to its keeper, the other is ours. A cell that sleeps
 * is woken first. Its command has only just been started then: while nobody listens at the port, it
 * is asked again, for EARLY_NS at most. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/cells/sleep.h"
#include "daemon/keepers/link.h"
#include "daemon/previews/previews.h"

#define EARLY_NS (30 * NSEC_PER_SEC)
#define EARLY_STEP_MS 10

struct dial {
	int fd; /* -1: the keeper is not asked yet */
	dial_fn *fn; /* NULL: nobody waits any more */
	void *arg;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	uint16_t port;
	struct cell_waker waker;
	bool waking, beginning;
	uv_timer_t *timer; /* until it is tried again; NULL: none */
	struct err e; /* of a failure before dial() returned */
};

static void timer_closed(uv_handle_t *h)
{
	free(h);
}

static void timer_end(struct dial *x)
{
	if (x->timer)
		uv_close((uv_handle_t *)x->timer, timer_closed);
	x->timer = NULL;
}

static void dial_end(struct dial *x, int fd, const struct err *e)
{
	if (x->beginning) { /* its caller is told */
		x->e = *e;
		return;
	}
	timer_end(x);
	x->fn(x->arg, fd, e);
	free(x);
}

static int dial_ask(struct dial *x, struct cell *c, struct err *e);

static void on_again(uv_timer_t *t)
{
	struct dial *x = t->data;
	struct cell *c = cell_by_id(x->d, x->cell);
	struct err e = { 0 };

	timer_end(x);
	if (!c)
		err_note(&e, ERR_NOT_FOUND, "the cell was removed meanwhile");
	if (!c || dial_ask(x, c, &e) < 0)
		dial_end(x, -1, &e);
}

/* Its program may not listen yet. */
static bool is_early(const struct dial *x)
{
	const struct cell *c = cell_by_id(x->d, x->cell);

	return c && c->woken && json_object_get(c->spec, "command") &&
	       uv_hrtime() - c->woken < EARLY_NS;
}

static void answered(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct dial *x = arg;
	struct err e = { 0 };

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (!m)
		err_note(&e, ERR_ENDED, "the cell ended meanwhile");
	else if (m->type != KEEP_OK)
		keep_fail_get(m, &e);
	if (!x->fn || e.kind) {
		close(x->fd);
		x->fd = -1;
	}
	if (!x->fn) {
		free(x);
	} else if (e.kind == ERR_NOT_FOUND && is_early(x)) {
		x->timer = xalloc(sizeof(*x->timer));
		uv_timer_init(&x->d->loop, x->timer);
		x->timer->data = x;
		uv_timer_start(x->timer, on_again, EARLY_STEP_MS, 0);
	} else {
		dial_end(x, x->fd, &e);
	}
}

static int dial_ask(struct dial *x, struct cell *c, struct err *e)
{
	struct keep_msg m = { .type = KEEP_DIAL, .a = x->port };
	int pair[2], err;

	if (!c->keeper)
		return err_set(e, ERR_WRONG_STATE, "the cell does not run; it is %s",
			       cell_state_name(c->state));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return err_set(e, ERR_OVERLOADED, "vivd has too much to do" REMEDY "try again");
	x->fd = pair[0];
	err = link_ask(c->keeper, &m, &pair[1], 1, answered, x);
	close(pair[1]);
	if (!err)
		return 0;
	close(x->fd);
	x->fd = -1;
	return err_set(e, err == -EAGAIN ? ERR_OVERLOADED : ERR_ENDED,
		       err == -EAGAIN ? "the cell has too much to do" REMEDY "try again"
				      : "the cell has just ended");
}

static void woken(struct cell_waker *w, struct cell *c, const struct err *e)
{
	struct dial *x = container_of(w, struct dial, waker);
	struct err f = { 0 };

	x->waking = false;
	if (e)
		dial_end(x, -1, e);
	else if (dial_ask(x, c, &f) < 0)
		dial_end(x, -1, &f);
}

struct dial *dial(struct cell *c, uint16_t port, dial_fn *fn, void *arg, struct err *e)
{
	struct dial *x = xalloc(sizeof(*x));

	*x = (struct dial){ .fd = -1, .fn = fn, .arg = arg, .d = c->d, .port = port };
	strcpy(x->cell, c->id);
	if (cell_is_asleep(c)) {
		x->waking = x->beginning = true;
		cell_wake(c, &x->waker, "preview", woken);
		x->beginning = false;
		*e = x->e;
	} else {
		(void)!dial_ask(x, c, e);
	}
	if (!e->kind)
		return x;
	free(x);
	return NULL;
}

void dial_cancel(struct dial *x)
{
	x->fn = NULL;
	if (x->waking)
		cell_wake_cancel(&x->waker);
	timer_end(x);
	if (x->fd < 0)
		free(x);
}
