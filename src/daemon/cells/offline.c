/* See offline.h. */
#include "daemon/cells/offline.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "daemon/keepers/spawn.h"
#include "daemon/state/fields.h"

struct visit {
	struct cell *c;
	struct keeper_link *link; /* NULL: not yet */
	struct list visitors; /* those that use it, or wait for it */
	struct list leaving; /* those that wait for its end */
	struct list next; /* those that came too late, and need another one */
	bool ending;
	void (*then)(struct cell *c);
	uv_timer_t *timer; /* NULL: nobody hurries */
};

static void timer_closed(uv_handle_t *h)
{
	free(h);
}

static void timer_end(struct visit *v)
{
	if (v->timer)
		uv_close((uv_handle_t *)v->timer, timer_closed);
	v->timer = NULL;
}

/* Nothing is waited for but the disk, which is brought in order. */
static void stop_send(struct visit *v)
{
	struct keep_msg m = { .type = KEEP_STOP };

	v->ending = true;
	if (v->link && link_ask(v->link, &m, NULL, 0, link_ignore, NULL) < 0)
		log_warn("cell %s: its keeper does not take a message", v->c->id);
}

static void visit_new(struct cell *c, struct list *visitors);

/* The kernel is gone, or was never there; nobody uses it any more. */
static void visit_over(struct visit *v)
{
	struct cell *c = v->c;
	struct list next = LIST_INIT(next);

	timer_end(v);
	c->visit = NULL;
	while (!list_is_empty(&v->next)) {
		struct visitor *w = list_first(&v->next, struct visitor, link);

		list_remove(&w->link);
		list_append(&next, &w->link);
	}
	/* Before anybody hears of the end who may start the cell: that waits for this one then. */
	if (!list_is_empty(&next))
		visit_new(c, &next);
	while (!list_is_empty(&v->leaving)) {
		struct visitor *w = list_first(&v->leaving, struct visitor, link);

		list_remove(&w->link);
		w->v = NULL;
		w->left(w);
	}
	if (v->then && c->visit)
		visit_before(c, v->then);
	else if (v->then)
		v->then(c);
	free(v);
}

/* Tells everybody that there will be no kernel for them. */
static void visitors_refuse(struct visit *v, const struct err *f)
{
	while (!list_is_empty(&v->visitors)) {
		struct visitor *w = list_first(&v->visitors, struct visitor, link);

		list_remove(&w->link);
		w->v = NULL;
		w->ready(w, NULL, f);
	}
}

static void link_event(void *arg, const struct keep_msg *m)
{
	(void)arg;
	(void)m;
}

static void link_is_gone(void *arg)
{
	struct visit *v = arg;
	struct visitor *w;

	v->link = NULL;
	/* Those that still use it see that by what they do with it. */
	while (!list_is_empty(&v->visitors)) {
		w = list_first(&v->visitors, struct visitor, link);
		list_remove(&w->link);
		w->v = NULL;
	}
	visit_over(v);
}

static void spawned(void *arg, const struct keep_hello *h, int ready, int status,
		    const struct err *e)
{
	struct link_owner o = { .event = link_event, .gone = link_is_gone, .arg = arg };
	struct visit *v = arg;
	struct err f = { 0 };
	struct visitor *w, *tmp;
	int fd = h ? fcntl(ready, F_DUPFD_CLOEXEC, 3) : -1;

	(void)status;
	if (fd < 0) {
		err_note(&f, ERR_FAILED, "vivd has too many open files");
		f = e ? *e : f;
		f.kind = ERR_START_FAILED;
		err_wrap(&f, "the cell's disk cannot be used");
		visitors_refuse(v, &f);
		visit_over(v);
		return;
	}
	v->link = link_new(v->c->d, fd, h->keeper_pid, 0, &o);
	if (v->ending || list_is_empty(&v->visitors)) {
		stop_send(v);
		return;
	}
	list_for_each_safe(w, tmp, &v->visitors, link)
		w->ready(w, v->link, NULL);
}

static struct visit *visit_of(struct cell *c)
{
	struct visit *v = xalloc(sizeof(*v));

	v->c = c;
	list_init(&v->visitors);
	list_init(&v->leaving);
	list_init(&v->next);
	c->visit = v;
	return v;
}

static void visit_new(struct cell *c, struct list *visitors)
{
	struct visit *v = visit_of(c);
	struct buf words = { 0 };

	while (!list_is_empty(visitors)) {
		struct visitor *w = list_first(visitors, struct visitor, link);

		list_remove(&w->link);
		list_append(&v->visitors, &w->link);
		w->v = v;
	}
	cellspec_visit_words(c->spec, c->name, &words);
	keeper_spawn(c->d, &words, spawned, v);
	buf_free(&words);
}

void visit_begin(struct cell *c, struct visitor *w,
		 void (*ready)(struct visitor *w, struct keeper_link *l, const struct err *f))
{
	struct list one = LIST_INIT(one);

	list_init(&w->link);
	w->ready = ready;
	w->left = NULL;
	if (!c->visit) {
		list_append(&one, &w->link);
		visit_new(c, &one);
		return;
	}
	w->v = c->visit;
	list_append(c->visit->ending ? &c->visit->next : &c->visit->visitors, &w->link);
	if (!c->visit->ending && c->visit->link)
		ready(w, c->visit->link, NULL);
}

static void merged(void *arg, const struct keep_hello *h, int ready, int status,
		   const struct err *e)
{
	struct visit *v = arg;
	struct cell *c = v->c;

	(void)h;
	(void)ready;
	free(c->unmerged);
	c->unmerged = NULL;
	if (status) {
		c->unmerged = xalloc(sizeof(*c->unmerged));
		*c->unmerged = *e;
		err_wrap(c->unmerged, "what only a removed snapshot needed stays");
		event_add(c->d, "snapshot.unmerged", c->id,
			  json_pack("{s:s,s:o}", "name", c->name, "error", json_err(c->unmerged)));
		log_warn("cell %s: %s", c->id, err_line(c->unmerged).str);
	}
	visit_over(v);
}

void visit_merge(struct cell *c, struct visitor *w, void (*left)(struct visitor *w))
{
	struct visit *v = visit_of(c);
	struct buf words = { 0 };

	/* Who comes now needs a kernel, and another visit. */
	v->ending = true;
	w->v = v;
	w->left = left;
	list_append(&v->leaving, &w->link);
	cellspec_merge_words(c->name, &words);
	keeper_spawn(c->d, &words, merged, v);
	buf_free(&words);
}

bool visit_end(struct visitor *w, void (*left)(struct visitor *w))
{
	struct visit *v = w->v;

	if (!v)
		return true;
	list_remove(&w->link);
	if (list_is_empty(&v->visitors) && !v->ending)
		stop_send(v);
	if (!left || !v->ending) {
		w->v = NULL;
		return true;
	}
	w->left = left;
	list_append(&v->leaving, &w->link);
	return false;
}

static void on_late(uv_timer_t *t)
{
	struct visit *v = t->data;
	struct err f = { 0 };

	timer_end(v);
	stop_send(v);
	/* Those who use it see its end; nobody else would tell those who still wait for it. */
	err_note(&f, ERR_BUSY, "the cell is being started" REMEDY "try again");
	if (!v->link)
		visitors_refuse(v, &f);
}

void visit_before(struct cell *c, void (*then)(struct cell *c))
{
	struct visit *v = c->visit;

	v->then = then;
	if (v->timer)
		return;
	v->timer = xalloc(sizeof(*v->timer));
	uv_timer_init(&c->d->loop, v->timer);
	v->timer->data = v;
	uv_timer_start(v->timer, on_late, VISIT_SECONDS * 1000, 0);
}

void visit_close(struct cell *c)
{
	struct visit *v = c->visit;

	if (!v)
		return;
	timer_end(v);
	if (v->link)
		link_close(v->link);
	v->link = NULL;
}
