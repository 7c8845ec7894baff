/* See link.h. */
#include "daemon/keepers/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"

/* Messages that are taken before others have their turn. */
#define BATCH 64
#define MAX_ASKS 8192

struct ask {
	struct list link;
	uint32_t id, type;
	uint32_t proc; /* of KEEP_WAIT */
	bool detached;
	ask_fn fn; /* NULL: forgotten */
	void *arg;
};

struct keeper_link {
	struct daemon *d;
	int fd, pidfd;
	uv_poll_t poll, end;
	unsigned nhandles;
	struct list asks;
	unsigned nasks;
	uint32_t last_id, events_id;
	struct link_owner owner;
	bool closed;
};

static void handle_closed(uv_handle_t *h)
{
	struct keeper_link *l = h->data;

	if (--l->nhandles)
		return;
	if (l->fd >= 0)
		close(l->fd);
	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
}

static void asks_drop(struct keeper_link *l)
{
	struct ask *a;

	/* One after the other: who is told may close the link, and drop the rest. */
	while (!list_is_empty(&l->asks)) {
		a = list_first(&l->asks, struct ask, link);
		list_remove(&a->link);
		if (a->fn)
			a->fn(a->arg, NULL, NULL, 0);
		free(a);
	}
	l->nasks = 0;
}

void link_close(struct keeper_link *l)
{
	if (l->closed)
		return;
	l->closed = true;
	asks_drop(l);
	if (l->fd >= 0)
		uv_close((uv_handle_t *)&l->poll, handle_closed);
	if (l->pidfd >= 0)
		uv_close((uv_handle_t *)&l->end, handle_closed);
}

static void link_gone(struct keeper_link *l)
{
	struct link_owner o = l->owner;

	link_close(l);
	o.gone(o.arg);
}

/* An ask that gets no more answers. */
static bool is_last(const struct ask *a, const struct keep_msg *m)
{
	return !(m->type == KEEP_PROC || (a->type == KEEP_SLEEP && m->type == KEEP_PORTS) ||
		 (a->type == KEEP_DOOR && m->type != KEEP_FAIL) ||
		 (m->type == KEEP_STARTED && !a->detached));
}

static struct ask *ask_find(struct keeper_link *l, uint32_t id)
{
	struct ask *a;

	list_for_each(a, &l->asks, link)
		if (a->id == id)
			return a;
	return NULL;
}

/* A process has started for somebody who has gone since: it gets what it would have got then. */
static void exec_hangup(struct keeper_link *l, uint32_t proc)
{
	static const int signals[] = { SIGHUP, SIGCONT };

	for (unsigned i = 0; i < ARRAY_LEN(signals); i++) {
		struct keep_msg m = {
			.type = KEEP_SIGNAL, .proc = proc, .a = signals[i], .flags = KEEP_TO_GROUP
		};

		(void)!link_ask(l, &m, NULL, 0, link_ignore, NULL);
	}
}

static void message(struct keeper_link *l, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct ask *found;

	if (m->type == KEEP_EVENT && m->id == l->events_id) {
		l->owner.event(l->owner.arg, m);
		nfds = 0;
		return;
	}
	found = ask_find(l, m->id);
	if (!found || !found->fn) {
		for (unsigned i = 0; i < nfds; i++)
			close(fds[i]);
		nfds = 0;
	}
	if (found && !is_last(found, m)) {
		if (found->fn)
			found->fn(found->arg, m, fds, nfds);
		else if (m->type == KEEP_STARTED)
			exec_hangup(l, m->proc);
		return;
	}
	/* Several may wait for one end. */
	for (; found; found = ask_find(l, m->id), nfds = 0) {
		list_remove(&found->link);
		l->nasks--;
		if (found->fn)
			found->fn(found->arg, m, fds, nfds);
		free(found);
	}
}

/* One message; 0 or -errno. */
static int take(struct keeper_link *l)
{
	struct keep_msg m;
	int fds[KEEP_MAX_FDS], err;
	unsigned nfds = 0;

	err = keep_recv(l->fd, &m, fds, &nfds, KEEP_NOWAIT);
	if (err)
		return err;
	if (m.type != KEEP_STATS && m.type != KEEP_HELLO && m.type != KEEP_PROC)
		m.text[sizeof(m.text) - 1] = '\0';
	message(l, &m, fds, nfds);
	return 0;
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct keeper_link *l = p->data;
	int err = 0;

	(void)status;
	(void)events;
	for (int i = 0; i < BATCH && !err && !l->closed; i++)
		err = take(l);
	if (l->closed || !err || err == -EAGAIN)
		return;
	/* Its end follows; whoever needs its disk has to wait for that. */
	uv_poll_stop(p);
	asks_drop(l);
	if (l->pidfd < 0)
		link_gone(l);
}

static void on_end(uv_poll_t *p, int status, int events)
{
	struct keeper_link *l = p->data;

	(void)status;
	(void)events;
	/* What it said last may be more than was taken at once. Nothing is added to it any more. */
	while (l->fd >= 0 && !l->closed && take(l) == 0)
		;
	if (!l->closed)
		link_gone(l);
}

void link_ignore(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	(void)arg;
	(void)m;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
}

struct keeper_link *link_new(struct daemon *d, int fd, int keeper_pid, uint64_t since,
			     const struct link_owner *o)
{
	struct keeper_link *l = xalloc(sizeof(*l));
	struct keep_msg m = { .type = KEEP_SUBSCRIBE, .n = since };

	l->d = d;
	l->fd = fd;
	l->owner = *o;
	l->poll.data = l->end.data = l;
	list_init(&l->asks);
	l->pidfd = keeper_pid > 0 ? (int)syscall(SYS_pidfd_open, keeper_pid, 0) : -1;
	if (l->pidfd >= 0 && uv_poll_init(&d->loop, &l->end, l->pidfd)) {
		close(l->pidfd);
		l->pidfd = -1;
	}
	l->nhandles = (fd >= 0) + (l->pidfd >= 0);
	if (!l->nhandles) {
		free(l);
		return NULL;
	}
	/* This first: what it said is heard before its end. */
	if (fd >= 0) {
		uv_poll_init(&d->loop, &l->poll, fd);
		uv_poll_start(&l->poll, UV_READABLE, on_poll);
	}
	if (l->pidfd >= 0)
		uv_poll_start(&l->end, UV_READABLE, on_end);
	if (fd >= 0 && link_ask(l, &m, NULL, 0, link_ignore, NULL) == 0)
		l->events_id = m.id;
	return l;
}

/* A question for the end of a process that was asked already, rather one that was forgotten; NULL:
 * none. */
static struct ask *wait_find(struct keeper_link *l, uint32_t proc)
{
	struct ask *a, *found = NULL;

	list_for_each(a, &l->asks, link) {
		if (a->type != KEEP_WAIT || a->proc != proc)
			continue;
		found = a;
		if (!a->fn)
			break;
	}
	return found;
}

int link_ask(struct keeper_link *l, struct keep_msg *m, const int *fds, unsigned nfds, ask_fn fn,
	     void *arg)
{
	struct ask *a, *same;
	int err;

	if (l->closed || l->fd < 0)
		return -EPIPE;
	/* Such a question cannot be taken back; so those who come and go share one. */
	same = m->type == KEEP_WAIT ? wait_find(l, m->proc) : NULL;
	if (same && !same->fn) {
		m->id = same->id;
		same->fn = fn;
		same->arg = arg;
		return 0;
	}
	if (l->nasks >= MAX_ASKS)
		return -EAGAIN;
	m->id = same ? same->id : ++l->last_id;
	err = same ? 0 : keep_send(l->fd, m, fds, nfds, KEEP_NOWAIT);
	if (err)
		return err;
	a = xalloc(sizeof(*a));
	a->id = m->id;
	a->type = m->type;
	a->proc = m->type == KEEP_WAIT ? m->proc : 0;
	a->detached = m->type == KEEP_EXEC && (m->exec.flags & KEEP_X_DETACH);
	a->fn = fn;
	a->arg = arg;
	list_append(&l->asks, &a->link);
	l->nasks++;
	return 0;
}

int link_tell(struct keeper_link *l, struct keep_msg *m)
{
	if (l->closed || l->fd < 0)
		return -EPIPE;
	m->id = ++l->last_id;
	return keep_send(l->fd, m, NULL, 0, KEEP_NOWAIT);
}

int link_exec(struct keeper_link *l, const struct keep_start *s, ask_fn fn, void *arg)
{
	int fds[KEEP_MAX_FDS], n, err;
	struct keep_msg m;

	n = keep_start_fill(s, &m, fds);
	if (n < 0)
		return n;
	err = link_ask(l, &m, fds, (unsigned)n, fn, arg);
	close(fds[0]);
	return err;
}

void link_forget(struct keeper_link *l, const void *arg)
{
	struct ask *a;

	list_for_each(a, &l->asks, link)
		if (a->arg == arg)
			a->fn = NULL;
}
