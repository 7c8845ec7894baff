/* A stream into a cell: one end of a pair goes to its keeper, the other is ours. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/cells/cells.h"
#include "daemon/keepers/link.h"
#include "daemon/previews/previews.h"

struct dial {
	int fd;
	dial_fn *fn; /* NULL: nobody waits any more */
	void *arg;
};

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
	if (x->fn)
		x->fn(x->arg, x->fd, &e);
	free(x);
}

struct dial *dial(struct cell *c, uint16_t port, dial_fn *fn, void *arg, struct err *e)
{
	struct keep_msg m = { .type = KEEP_DIAL, .a = port };
	struct dial *x;
	int pair[2], err;

	if (!c->keeper) {
		err_set(e, ERR_WRONG_STATE, "the cell does not run; it is %s",
			cell_state_name(c->state));
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		err_set(e, ERR_OVERLOADED, "vivd has too much to do" REMEDY "try again");
		return NULL;
	}
	x = xalloc(sizeof(*x));
	*x = (struct dial){ .fd = pair[0], .fn = fn, .arg = arg };
	err = link_ask(c->keeper, &m, &pair[1], 1, answered, x);
	close(pair[1]);
	if (!err)
		return x;
	close(x->fd);
	free(x);
	err_set(e, err == -EAGAIN ? ERR_OVERLOADED : ERR_ENDED,
		err == -EAGAIN ? "the cell has too much to do" REMEDY "try again"
			       : "the cell has just ended");
	return NULL;
}

void dial_cancel(struct dial *x)
{
	x->fn = NULL;
}
