/* See caller.h. */
#include "api/http/caller.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cells/family.h"
#include "daemon/cells/runfollow.h"
#include "daemon/keepers/link.h"
#include "daemon/tools/tools.h"

/* Requests and new cells: in a second, and at once. */
#define RATE 200.0
#define BURST 400.0
#define MAKE_RATE 8.0
#define MAKE_BURST 64.0
/* Each is looked for in the database. */
#define LOOK_RATE 2000.0
#define FORGET_MS 60000
/* An answer that is no larger is always given: connections bound how many there are. */
#define SMALL_ANSWER 4096

static struct list callers = LIST_INIT(callers);
static unsigned nconnections;

static void refill(struct daemon *d, struct caller *c)
{
	uint64_t now = uv_now(&d->loop);
	double seconds = (double)(now - c->at) / 1000;

	c->room = MIN(BURST, c->room + seconds * RATE);
	c->made = MIN(MAKE_BURST, c->made + seconds * MAKE_RATE);
	c->looks = MIN(LOOK_RATE, c->looks + seconds * LOOK_RATE);
	c->at = now;
}

/* Of this group; on the way those that nobody needs go. */
static struct caller *caller_of(struct daemon *d, const char *group)
{
	struct caller *c, *tmp, *found = NULL;

	list_for_each_safe(c, tmp, &callers, link) {
		if (!strcmp(c->group, group)) {
			found = c;
		} else if (!c->connections && uv_now(&d->loop) - c->at > FORGET_MS) {
			list_remove(&c->link);
			free(c);
		}
	}
	if (found)
		return found;
	found = xalloc(sizeof(*found));
	list_init(&found->link);
	list_append(&callers, &found->link);
	strcpy(found->group, group);
	found->room = BURST;
	found->made = MAKE_BURST;
	found->looks = LOOK_RATE;
	found->at = uv_now(&d->loop);
	return found;
}

struct caller *caller_get(const struct cell *cell)
{
	struct caller *c = caller_of(cell->d, family_group(cell).str);

	refill(cell->d, c);
	/* A connection counts as a request: closing it after each buys nothing. It is let in all the
	 * same, up to a bound, and its request waits until that is paid for. */
	if (c->connections >= (cell->parent[0] ? CALLER_BELOW : CALLER_CONNECTIONS) ||
	    nconnections >= CALLERS_CONNECTIONS || c->room < -BURST)
		return NULL;
	c->room--;
	c->connections++;
	nconnections++;
	return c;
}

void caller_put(struct caller *c)
{
	c->connections--;
	nconnections--;
}

/* It is too fast: it is begun anew after a moment. */
static void request_throttle(struct request *r)
{
	request_retry(r);
	request_wait(r);
}

static bool caller_takes(struct daemon *d, struct caller *c)
{
	refill(d, c);
	if (c->room < 1)
		return false;
	c->room--;
	return true;
}

bool caller_makes(struct request *r)
{
	struct caller *c = r->caller;

	if (!c || r->makes)
		return true;
	refill(r->d, c);
	if (c->made < 1) {
		request_throttle(r);
		return false;
	}
	c->made--;
	r->makes = true;
	return true;
}

bool caller_looks(struct request *r)
{
	struct caller *c = r->caller;

	if (!c)
		return true;
	refill(r->d, c);
	if (c->looks < 1) {
		request_retry(r);
		return false;
	}
	c->looks--;
	r->throttled = false;
	return true;
}

bool caller_made(const struct cell *cell)
{
	struct caller *c = caller_of(cell->d, family_group(cell).str);

	refill(cell->d, c);
	if (c->made < 1)
		return false;
	c->made--;
	return true;
}

bool caller_answers(struct request *r, size_t size)
{
	struct caller *c = r->caller;

	if (!c)
		return true;
	c->answers -= r->answer;
	r->answer = 0;
	if (size > SMALL_ANSWER && c->answers + size > CALLER_ANSWERS)
		return false;
	c->answers += size;
	r->answer = size;
	return true;
}

void caller_over(struct request *r)
{
	if (!r->caller)
		return;
	r->caller->bytes -= r->body.len;
	r->caller->answers -= r->answer;
	r->answer = 0;
}

/* ---- what is granted ---- */

struct asking {
	struct op op;
};

/* Of a 'viv run' without a name vivd knows no settings, but its keeper does: what its children have
 * is taken out of them. */
static void settings_learn(struct cell *c, const json_t *known)
{
	json_t *spec;

	if (!c || c->run != RUN_UNNAMED || json_object_get(c->spec, "policy") || !known)
		return;
	spec = json_deep_copy(known);
	json_object_del(spec, "env");
	json_object_del(spec, "command");
	json_object_del(spec, "name");
	if (json_object_get(c->spec, "image"))
		json_object_set(spec, "image", json_object_get(c->spec, "image"));
	(void)!cell_respec(c, spec, c->run, NULL);
}

static void granted(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct asking *x = arg;
	struct request *r = op_end(&x->op);
	struct grants *g = m && m->type == KEEP_TOOLS && nfds == 1 ? grants_read(fds[0]) : NULL;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	free(x);
	if (r && g && grants_may_have_cells(g)) {
		settings_learn(cell_by_id(r->d, r->rights.cell), grants_settings(g));
		r->granted = true;
		grants_free(r->grants);
		r->grants = g;
		g = NULL;
		request_wake(r);
	} else if (r) {
		reply_error(r, ERR_NO_ROUTE,
			    "the cell may not make cells" REMEDY
			    "the operator allows it by a rule: allow cells IMAGE");
	}
	grants_free(g);
}

static bool grants_ask(struct request *r, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_TOOLS };
	struct asking *x = xalloc(sizeof(*x));

	if (link_ask(c->keeper, &m, NULL, 0, granted, x) == 0) {
		op_begin(r, &x->op);
		return true;
	}
	free(x);
	return false;
}

bool caller_admits(struct request *r)
{
	struct cell *c = cell_by_id(r->d, r->rights.cell), *meant;
	struct err f = { 0 };

	if (!r->taken && !caller_takes(r->d, r->caller)) {
		request_throttle(r);
		return false;
	}
	r->taken = true;
	r->throttled = false;
	if (!c || !c->keeper || c->started != r->caller_run) {
		reply_error(r, ERR_UNAUTHORIZED, "the cell has ended");
		return false;
	}
	/* What its children get is taken from what vivd knows of it. */
	if (c->foreground && c->name[0] && c->run < RUN_UNNAMED) {
		reply_error(r, ERR_NO_ROUTE,
			    "this run of the cell has settings that vivd does not know" REMEDY
			    "start the cell with 'viv start', or with 'viv run -d'");
		return false;
	}
	if (!r->granted) {
		if (!grants_ask(r, c))
			reply_error(r, ERR_OVERLOADED,
				    "the cell has too much to do" REMEDY "try again");
		return false;
	}
	if (!strstr(r->route->path, "{cell}"))
		return true;
	/* From here on it is named by its id, which is one of the family. */
	meant = family_find(r->d, c->id, r->param[0], &f);
	if (meant == c && !(r->route->flags & ROUTE_SELF)) {
		meant = NULL;
		err_note(&f, ERR_NOT_FOUND, "a cell cannot do this with itself");
	}
	if (!meant) {
		reply_err(r, &f);
		return false;
	}
	strcpy(r->meant, meant->id);
	r->param[0] = r->meant;
	return true;
}
