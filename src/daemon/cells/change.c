/* See change.h. The order is: a note that the keeper is being told (table 'changing'), the keeper,
 * the row. Killed in between, the next vivd finds the note and tells the keeper what the row says,
 * so that a change is made as a whole or not at all. */
#include "daemon/cells/change.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "wire/limits.h"
#include "wire/memfd.h"

/* Of a set, besides KEEP_L_: the policy, which the keeper is told before the limits. */
#define TELL_POLICY (1u << 16)

struct change {
	struct cell_wait wait;
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
	json_t *spec;
	unsigned set; /* KEEP_L_ and TELL_POLICY */
	unsigned told, telling; /* of it */
	changed_fn fn;
	void *arg;
};

static const struct {
	const char *name; /* of limits */
	unsigned bit;
} limits[] = {
	{ "cpus", KEEP_L_CPUS }, { "memory", KEEP_L_MEMORY }, { "pids", KEEP_L_PIDS },
	{ "disk", KEEP_L_DISK }, { "inodes", KEEP_L_INODES },
}, budgets[] = { /* beside them */
	{ "timeout", KEEP_L_TIMEOUT },		{ "max_connections", KEEP_L_CONNECTIONS },
	{ "max_net_in", KEEP_L_NET_IN },	{ "max_net_out", KEEP_L_NET_OUT },
	{ "max_net_rate", KEEP_L_NET_RATE },
};

static json_int_t pids_of(const json_t *spec)
{
	json_int_t n = json_integer_value(json_object_get(json_object_get(spec, "limits"), "pids"));

	return n ? n : TASKS_DEFAULT;
}

bool change_needs_restart(const json_t *is, const json_t *wanted)
{
	return pids_of(wanted) > MAX(pids_of(is), (json_int_t)TASKS_DEFAULT);
}

unsigned change_names(const json_t *part)
{
	const json_t *l = json_object_get(part, "limits");
	unsigned set = 0;

	for (unsigned i = 0; i < ARRAY_LEN(budgets); i++)
		if (json_object_get(part, budgets[i].name))
			set |= budgets[i].bit;
	for (unsigned i = 0; i < ARRAY_LEN(limits); i++)
		if (json_object_get(l, limits[i].name) || json_is_null(l))
			set |= limits[i].bit;
	return set;
}

/* ---- for the keeper ---- */

static bool differs(const json_t *a, const json_t *b, const char *name)
{
	return json_number_value(json_object_get(a, name)) !=
	       json_number_value(json_object_get(b, name));
}

/* None is the same as an empty one. */
static bool policy_differs(const json_t *is, const json_t *wanted)
{
	const json_t *a = json_object_get(is, "policy"), *b = json_object_get(wanted, "policy");

	return (json_array_size(a) || json_array_size(b)) && !json_equal(a, b);
}

static unsigned specs_differ(const json_t *is, const json_t *wanted)
{
	const json_t *a = json_object_get(is, "limits"), *b = json_object_get(wanted, "limits");
	unsigned set = 0;

	for (unsigned i = 0; i < ARRAY_LEN(budgets); i++)
		if (differs(is, wanted, budgets[i].name))
			set |= budgets[i].bit;
	if (policy_differs(is, wanted))
		set |= TELL_POLICY;
	for (unsigned i = 0; i < ARRAY_LEN(limits); i++)
		if (differs(a, b, limits[i].name))
			set |= limits[i].bit;
	return set;
}

static uint64_t limit_of(const json_t *spec, const char *name, uint64_t most)
{
	return MIN((uint64_t)json_integer_value(
			   json_object_get(json_object_get(spec, "limits"), name)),
		   most);
}

static uint64_t budget_of(const json_t *spec, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(spec, name));
}

static void limits_message(const json_t *spec, unsigned set, struct keep_limits *ret)
{
	double cpus = json_number_value(json_object_get(json_object_get(spec, "limits"), "cpus"));
	double seconds = json_number_value(json_object_get(spec, "timeout"));

	*ret = (struct keep_limits){
		.set = set,
		.cpu_milli = (uint32_t)(cpus * 1000 + 0.5),
		.pids = (uint32_t)limit_of(spec, "pids", UINT32_MAX),
		.memory = limit_of(spec, "memory", UINT64_MAX),
		.disk = limit_of(spec, "disk", UINT64_MAX),
		.inodes = limit_of(spec, "inodes", UINT64_MAX),
		.connections = budget_of(spec, "max_connections"),
		.net_in = budget_of(spec, "max_net_in"),
		.net_out = budget_of(spec, "max_net_out"),
		.net_rate = budget_of(spec, "max_net_rate"),
		.timeout_ns = (int64_t)(seconds * NSEC_PER_SEC),
	};
}

static int policy_tell(struct cell *c, const json_t *spec, ask_fn fn, void *arg)
{
	const json_t *rules = json_object_get(spec, "policy"), *rule;
	struct keep_msg m = { .type = KEEP_POLICY };
	struct buf text = { 0 };
	size_t i;
	int fd, r;

	json_array_foreach(rules, i, rule) {
		buf_add_text(&text, json_string_value(rule));
		buf_add_text(&text, "\n");
	}
	fd = memfd_sealed("policy", text.p, text.len);
	buf_free(&text);
	if (fd < 0)
		return fd;
	r = link_ask(c->keeper, &m, &fd, 1, fn, arg);
	close(fd);
	return r;
}

/* The first of what is in set. */
static int keeper_tell(struct cell *c, const json_t *spec, unsigned set, ask_fn fn, void *arg)
{
	struct keep_msg m = { .type = KEEP_LIMITS };

	if (set & TELL_POLICY)
		return policy_tell(c, spec, fn, arg);
	limits_message(spec, set, &m.limits);
	return link_ask(c->keeper, &m, NULL, 0, fn, arg);
}

static int note_set(struct cell *c, unsigned set, struct err *f)
{
	db_begin(&c->d->db);
	db_run(&c->d->db, f, "INSERT OR REPLACE INTO changing(id,limits) VALUES(?,?)", "ti", c->id,
	       (int64_t)set);
	return db_end(&c->d->db, f);
}

static void note_end(struct daemon *d, const char *id)
{
	db_run(&d->db, NULL, "DELETE FROM changing WHERE id=?", "t", id);
}

static unsigned note_get(struct cell *c)
{
	sqlite3_stmt *q = db_query(&c->d->db, "SELECT limits FROM changing WHERE id=?", "t", c->id);
	unsigned set = db_next(q) ? (unsigned)db_int(q, 0) : 0;

	db_done(q);
	return set;
}

void cell_change_drop(struct cell *c)
{
	if (note_get(c))
		note_end(c->d, c->id);
}

/* All of set, whatever it answers. */
static void keeper_tell_again(struct cell *c, unsigned set)
{
	for (unsigned part = set & TELL_POLICY, i = 0; i < 2; part = set & ~TELL_POLICY, i++)
		if (part && c->keeper && keeper_tell(c, c->spec, part, link_ignore, NULL) < 0)
			log_warn("cell %s: its keeper does not take a message", c->id);
}

void cell_change_again(struct cell *c)
{
	unsigned set = note_get(c);

	keeper_tell_again(c, set);
	if (set)
		note_end(c->d, c->id);
}

/* ---- the change ---- */

static void change_end(struct change *x, struct cell *c, const struct err *f)
{
	struct cell *known = cell_by_id(x->d, x->id);

	if (known)
		known->changing = false;
	x->fn(x->arg, c, f);
	json_decref(x->spec);
	free(x);
}

static void change_fail(struct change *x, const struct err *f)
{
	change_end(x, NULL, f);
}

/* It was to be started again, and is not any more. */
static void restart_follow(struct cell *c)
{
	if (!c->restart_at || cellspec_restart(c->spec).policy != RESTART_NO)
		return;
	c->restart_at = 0;
	c->wanted = false;
	cell_timer(c, -1, NULL);
	cell_save(c);
	if (!cell_is_kept(c))
		cell_linger(c);
}

/* The keeper has agreed, or there is none. */
static void change_keep(struct change *x, struct cell *c)
{
	bool idle = !json_equal(json_object_get(c->spec, "idle_timeout"),
				json_object_get(x->spec, "idle_timeout")) ||
		    !json_equal(json_object_get(c->spec, "sleep_after"),
				json_object_get(x->spec, "sleep_after"));
	struct err f = { 0 };

	bool policy = policy_differs(c->spec, x->spec);

	if (cell_respec(c, json_incref(x->spec), c->run, &f) < 0) {
		keeper_tell_again(c, x->set);
		change_fail(x, &f);
		return;
	}
	if (policy)
		event_add(c->d, "policy.changed", c->id,
			  json_pack("{s:s,s:O?}", "name", c->name, "policy",
				    json_object_get(c->spec, "policy")));
	if (idle)
		cell_idle_reset(c);
	restart_follow(c);
	cell_changed_soon(c);
	change_end(x, c, NULL);
}

static void gone_note(struct err *f)
{
	err_note(f, ERR_NOT_FOUND, "the cell was removed meanwhile");
}

static void change_tell(struct change *x, struct cell *c);

static void told(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct change *x = arg;
	struct daemon *d = x->d;
	struct cell *c = cell_by_id(d, x->id);
	struct err f = { 0 };
	char id[CELL_ID_LEN + 1];
	bool ok = !m || m->type == KEEP_OK;

	(void)fds;
	(void)nfds;
	strcpy(id, x->id);
	x->told |= x->telling;
	if (c && ok && (x->set & ~x->told) && c->keeper) {
		change_tell(x, c);
		return;
	}
	if (!c) {
		gone_note(&f);
		change_fail(x, &f);
	} else if (ok) {
		/* One that ended meanwhile has it from its next start on. */
		change_keep(x, c);
	} else {
		keep_fail_get(m, &f);
		if (x->told != x->telling)
			keeper_tell_again(c, x->told & ~x->telling);
		change_fail(x, &f);
	}
	note_end(d, id);
}

/* The policy first, then the rest. */
static void change_tell(struct change *x, struct cell *c)
{
	unsigned left = x->set & ~x->told;
	struct err f = { 0 };

	x->telling = left & TELL_POLICY ? TELL_POLICY : left;
	if (keeper_tell(c, x->spec, x->telling, told, x) == 0)
		return;
	keeper_tell_again(c, x->told);
	note_end(c->d, c->id);
	err_note(&f, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
	change_fail(x, &f);
}

static void change_begin(struct change *x, struct cell *c)
{
	struct err f = { 0 };

	if (!x->set || !c->keeper || (c->state != CELL_RUNNING && c->state != CELL_PAUSED)) {
		change_keep(x, c);
	} else if (note_set(c, x->set, &f) < 0) {
		change_fail(x, &f);
	} else {
		change_tell(x, c);
	}
}

static void on_started(struct cell_wait *w, struct cell *c, bool gone)
{
	struct change *x = container_of(w, struct change, wait);
	struct err f = { 0 };

	if (!gone && c->state == CELL_STARTING)
		return;
	cell_wait_remove(w);
	if (gone) {
		gone_note(&f);
		change_fail(x, &f);
	} else {
		change_begin(x, c);
	}
}

void cell_change(struct cell *c, json_t *spec, unsigned named, changed_fn fn, void *arg)
{
	struct change *x = xalloc(sizeof(*x));
	struct err f = { 0 };

	x->d = c->d;
	strcpy(x->id, c->id);
	x->spec = spec;
	x->set = named | specs_differ(c->spec, spec);
	x->told = x->telling = 0;
	x->fn = fn;
	x->arg = arg;
	list_init(&x->wait.link);
	if (c->busy || c->changing) {
		err_note(&f, ERR_BUSY, "the cell is being changed" REMEDY "try again");
		fn(arg, NULL, &f);
		json_decref(spec);
		free(x);
		return;
	}
	c->changing = true;
	if (x->set && c->state == CELL_STARTING)
		cell_wait_add(c, &x->wait, on_started);
	else
		change_begin(x, c);
}
