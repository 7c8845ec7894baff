/* See family.h: what a family may have, and what of it is taken.
 *
 * A child's limits are summed up with its siblings'; its own children have theirs from it, so they
 * are not counted again. What a running child may use belongs to the sum, used or not; its files,
 * if it has a name, also while it does not run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/cells/family.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"

struct kind {
	const char *name; /* in "limits", or of a setting */
	double scale; /* of the value in JSON */
	uint64_t least; /* that a cell can have */
	unsigned bit; /* KEEP_L_ */
	bool files; /* it is taken as long as there are files */
	bool setting;
};

static const struct kind kinds[] = {
	{ "memory", 1, 4 << 20, KEEP_L_MEMORY, false, false },
	{ "cpus", 1000, 10, KEEP_L_CPUS, false, false },
	{ "pids", 1, 1, KEEP_L_PIDS, false, false },
	{ "disk", 1, 1 << 20, KEEP_L_DISK, true, false },
	{ "inodes", 1, 16, KEEP_L_INODES, true, false },
	/* Not what is used up over time: max_net_in and max_net_out. */
	{ "max_connections", 1, 1, KEEP_L_CONNECTIONS, false, true },
	{ "max_net_rate", 1, 1024, KEEP_L_NET_RATE, false, true },
};

static uint64_t limit_of(const json_t *spec, const struct kind *k)
{
	const json_t *in = k->setting ? spec : json_object_get(spec, "limits");
	double v = json_number_value(json_object_get(in, k->name));

	return v > 0 ? (uint64_t)(v * k->scale + 0.5) : 0;
}

static bool is_taking(const struct cell *c, bool files)
{
	return cell_state_is_live(c->state) || c->state == CELL_CREATED || c->restart_at ||
	       (files && c->name[0]);
}

/* Of one kind, by all children but one. */
static uint64_t taken_of(const struct cell *parent, const struct kind *k, const struct cell *but)
{
	const struct cell *c;
	uint64_t sum = 0, bytes, files;

	list_for_each(c, &parent->d->cells, link)
		if (c != but && !strcmp(c->parent, parent->id) && is_taking(c, k->files))
			sum += limit_of(c->spec, k);
	if (k->files) {
		family_layers_sum(parent, &bytes, &files);
		sum += k->bit == KEEP_L_DISK ? bytes : files;
	}
	return sum;
}

unsigned family_count(const struct cell *ancestor)
{
	const struct cell *c;
	unsigned n = cells_being_made(ancestor);

	list_for_each(c, &ancestor->d->cells, link)
		n += is_taking(c, true) && family_is_below(c, ancestor->id);
	return n;
}

/* ---- limits ---- */

static json_t *value_json(const struct kind *k, uint64_t v)
{
	return k->scale == 1 ? json_integer((json_int_t)v) : json_real((double)v / k->scale);
}

/* One kind: wanted 0 gets a share. *ret is what it gets; 0: none is needed. */
static int share(const struct cell *parent, const struct kind *k, uint64_t wanted,
		 const struct cell *but, uint64_t *ret, struct err *f)
{
	uint64_t whole = limit_of(parent->spec, k), taken = taken_of(parent, k, but);
	uint64_t left;

	*ret = wanted;
	if (!whole)
		return 0;
	/* The parent keeps the least that a cell can have. */
	left = whole > taken + k->least ? whole - taken - k->least : 0;
	if (!wanted)
		*ret = MAX(left / 2, k->least);
	if (*ret <= left)
		return 0;
	return err_set(f, ERR_TOO_MANY,
		       "the budget of %s is not enough: %llu of %llu is left%s" REMEDY
		       "ask for less, or end another cell of the family",
		       k->name, (unsigned long long)left, (unsigned long long)whole,
		       k->scale == 1 ? "" : " (in thousandths)");
}

int family_admit(struct cell *parent, json_t *spec, struct err *f)
{
	json_t *limits = json_object_get(spec, "limits");
	uint64_t v;

	if (!limits) {
		limits = json_object();
		json_object_set_new(spec, "limits", limits);
	}
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		if (share(parent, &kinds[i], limit_of(spec, &kinds[i]), NULL, &v, f) < 0)
			return -1;
		if (v)
			json_object_set_new(kinds[i].setting ? spec : limits, kinds[i].name,
					    value_json(&kinds[i], v));
	}
	return 0;
}

/* What is left of a kind for one more. */
static uint64_t left_of(const struct cell *parent, const struct kind *k)
{
	uint64_t whole = limit_of(parent->spec, k), taken = taken_of(parent, k, NULL);

	return whole > taken + k->least ? whole - taken - k->least : 0;
}

json_t *family_fork_limits(const struct cell *parent, const struct cell *from)
{
	json_t *limits = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		uint64_t v = kinds[i].setting ? 0 : limit_of(from->spec, &kinds[i]);

		if (v &&
		    (!limit_of(parent->spec, &kinds[i]) || v <= left_of(parent, &kinds[i]) / 2))
			json_object_set_new(limits, kinds[i].name, value_json(&kinds[i], v));
	}
	return limits;
}

int family_layer_admit(const struct cell *parent, struct cell *c, struct err *f)
{
	uint64_t most[2] = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];
		uint64_t v = limit_of(c->spec, k);

		if (!k->files || !limit_of(parent->spec, k))
			continue;
		if (!v || v > left_of(parent, k))
			return err_set(f, ERR_TOO_MANY,
				       "the budget of %s is not enough for what a snapshot of this "
				       "cell can take: %llu is left, the cell may use %llu" REMEDY
				       "remove snapshots or cells, or make cells with smaller "
				       "limits",
				       k->name, (unsigned long long)left_of(parent, k),
				       (unsigned long long)v);
		most[k->bit == KEEP_L_INODES] = v;
	}
	c->layer_bytes = most[0];
	c->layer_files = most[1];
	return 0;
}

int family_may_start(const struct cell *c, struct err *f)
{
	const struct cell *parent = family_parent(c);
	uint64_t v;

	if (!c->parent[0])
		return 0;
	if (!parent || !parent->keeper || parent->state == CELL_STOPPING)
		return err_set(f, ERR_WRONG_STATE,
			       "the cell that made this one does not run" REMEDY "start it first");
	/* It does not count any more, so it cannot be had again. */
	if (!c->name[0] && c->state != CELL_CREATED && !c->restart_at)
		return err_set(f, ERR_WRONG_STATE,
			       "the cell has no name and has ended" REMEDY "make another one");
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		uint64_t wanted = limit_of(c->spec, &kinds[i]);

		/* Its parent got a limit since: the child has none to take out of it. */
		if (!wanted && limit_of(parent->spec, &kinds[i]))
			return err_set(f, ERR_TOO_MANY,
				       "the cell has no limit of %s, and the one that made it "
				       "has" REMEDY "make the cell again",
				       kinds[i].name);
		if (share(parent, &kinds[i], wanted, c, &v, f) < 0)
			return -1;
	}
	return 0;
}

/* ---- the parent's keeper ---- */

static void left_message(const struct cell *parent, struct keep_limits *l)
{
	uint64_t left[ARRAY_LEN(kinds)] = { 0 };

	*l = (struct keep_limits){ 0 };
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		uint64_t whole = limit_of(parent->spec, &kinds[i]);
		uint64_t taken = taken_of(parent, &kinds[i], NULL);

		if (!whole)
			continue;
		l->set |= kinds[i].bit;
		left[i] = whole > taken + kinds[i].least ? whole - taken : kinds[i].least;
	}
	l->memory = left[0];
	l->cpu_milli = (uint32_t)left[1];
	l->pids = (uint32_t)left[2];
	l->disk = left[3];
	l->inodes = left[4];
	l->connections = left[5];
	l->net_rate = left[6];
}

/* A child that waits for its parent's keeper. All that wait are told to it together, since they are
 * in the sum. */
struct taking {
	struct list link;
	struct daemon *d;
	char id[CELL_ID_LEN + 1], parent[CELL_ID_LEN + 1];
	bool told; /* it was in the sum that the keeper has, or is being told */
	void (*next)(struct cell *c);
	void (*failed)(struct cell *c, const struct err *f);
	/* instead of these two, whether the cell is still there or not */
	void (*done)(void *arg, const struct err *f);
	void *arg;
};

static struct list takings = LIST_INIT(takings);

/* The keeper of a parent, by its id, which may be gone when it answers. */
struct telling {
	struct daemon *d;
	char parent[CELL_ID_LEN + 1];
};

static void parent_tell(struct cell *parent);

static void taking_end(struct taking *t, const struct err *f)
{
	struct cell *c = cell_by_id(t->d, t->id);

	list_remove(&t->link);
	if (t->done)
		t->done(t->arg, f);
	else if (c && f)
		t->failed(c, f);
	else if (c)
		t->next(c);
	free(t);
}

/* The first of a parent's that were told, or the last; NULL: none. */
static struct taking *taking_of(const char *parent, bool last)
{
	struct taking *t, *found = NULL;

	list_for_each(t, &takings, link)
		if (t->told && !strcmp(t->parent, parent) && (last || !found))
			found = t;
	return found;
}

static bool is_waiting(const char *parent)
{
	struct taking *t;

	list_for_each(t, &takings, link)
		if (!strcmp(t->parent, parent))
			return true;
	return false;
}

/* Refused: the newest goes without, and the others are told again. */
static void parent_told(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct telling *x = arg;
	bool agreed = m && m->type == KEEP_OK;
	struct cell *parent;
	struct taking *t;
	struct err f = { 0 };

	(void)fds;
	(void)nfds;
	if (m && !agreed)
		keep_fail_get(m, &f);
	else if (!m)
		err_note(&f, ERR_ENDED, "it has ended");
	if (!agreed)
		err_wrap(&f, "the cell that made this one cannot do with what would be left");
	while (agreed && (t = taking_of(x->parent, false)))
		taking_end(t, NULL);
	while (!m && (t = taking_of(x->parent, false)))
		taking_end(t, &f);
	t = m && !agreed ? taking_of(x->parent, true) : NULL;
	if (t)
		taking_end(t, &f);
	parent = cell_by_id(x->d, x->parent);
	if (parent) {
		parent->leaving = false;
		if (parent->leave_again || is_waiting(parent->id) || t)
			parent_tell(parent);
	}
	free(x);
}

static void parent_tell(struct cell *parent)
{
	struct keep_msg m = { .type = KEEP_LIMITS };
	struct telling *x;
	struct taking *t;
	struct err f;

	if (parent->leaving) {
		parent->leave_again = true;
		return;
	}
	parent->leave_again = false;
	left_message(parent, &m.limits);
	list_for_each(t, &takings, link)
		t->told |= !strcmp(t->parent, parent->id);
	x = xalloc(sizeof(*x));
	x->d = parent->d;
	strcpy(x->parent, parent->id);
	parent->leaving = true;
	if (parent->keeper && link_ask(parent->keeper, &m, NULL, 0, parent_told, x) == 0)
		return;
	parent->leaving = false;
	free(x);
	err_note(&f, ERR_ENDED, "the cell that made this one does not answer");
	while ((t = taking_of(parent->id, false)))
		taking_end(t, &f);
}

static bool has_limits(const struct cell *c)
{
	struct keep_limits l;

	left_message(c, &l);
	return l.set;
}

void family_limits_tell(struct cell *parent)
{
	if (parent->keeper && has_limits(parent))
		parent_tell(parent);
}

static void taking_begin(struct cell *c, struct cell *parent, const struct taking *how)
{
	struct taking *t = xalloc(sizeof(*t));

	*t = *how;
	t->d = c->d;
	strcpy(t->id, c->id);
	strcpy(t->parent, parent->id);
	list_init(&t->link);
	list_append(&takings, &t->link);
	parent_tell(parent);
}

void family_take(struct cell *c, void (*next)(struct cell *c),
		 void (*failed)(struct cell *c, const struct err *f))
{
	struct cell *parent = family_parent(c);

	if (!parent || !has_limits(parent))
		next(c);
	else
		taking_begin(c, parent, &(struct taking){ .next = next, .failed = failed });
}

void family_take_for(struct cell *c, void (*done)(void *arg, const struct err *f), void *arg)
{
	struct cell *parent = family_parent(c);

	/* One that does not run is told when it starts. */
	if (!parent || !parent->keeper || !has_limits(parent))
		done(arg, NULL);
	else
		taking_begin(c, parent, &(struct taking){ .done = done, .arg = arg });
}

/* ---- what is told ---- */

static json_t *reserved_json(const struct cell *c)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		uint64_t v = taken_of(c, &kinds[i], NULL);

		if (v)
			json_object_set_new(o, kinds[i].name, value_json(&kinds[i], v));
	}
	json_object_set_new(o, "cells", json_integer(family_count(c)));
	return o;
}

void family_describe(const struct cell *c, json_t *o)
{
	json_t *children = json_array();
	const struct cell *child;

	list_for_each(child, &c->d->cells, link)
		if (!strcmp(child->parent, c->id))
			json_array_append_new(children, json_string(child->id));
	if (json_array_size(children))
		json_object_set_new(o, "reserved", reserved_json(c));
	json_object_set_new(o, "children", children);
}
