/* Cells that nobody uses: 'idle_timeout' stops one when no process has run in it for that time,
 * 'sleep_after' lets one sleep when nobody has used it. One count for both:
 *
 *	procs	processes that clients started, the cell's command and agents of sessions
 *	execs	of these, what somebody runs: not the command, not agents, which wait for prompts
 *	holds	what vivd does in it for others: file operations, streams, prompts, connections
 *
 * Health checks count nowhere. The timer is left alone when something begins, and looks at the
 * times when it fires: a cell that is busy costs nothing here.
 *
 * Connections into a cell are its kernel's to count, and do not pass through vivd. So its keeper is
 * asked when the time is over; while there are some it is asked again and again, and their end
 * begins the time anew. The keeper refuses to let a cell sleep in which something was started
 * meanwhile. What a cell's kernel says can only keep the cell awake, or let it sleep. */
#include "base/log.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/sleep.h"

#define DEFAULT_MS (15 * 60 * 1000)
/* How often a cell with connections is looked at. */
#define LOOK_LEAST_MS 250
#define LOOK_MOST_MS 60000

static int64_t setting_ms(const struct cell *c, const char *name)
{
	return (int64_t)(json_number_value(json_object_get(c->spec, name)) * 1000);
}

/* Nobody said whether it sleeps: one that does nothing by itself does. */
static bool sleeps_by_default(const struct cell *c)
{
	return !json_object_get(c->spec, "sleep_after") && !json_object_get(c->spec, "command") &&
	       !json_object_get(c->spec, "idle_timeout") && !c->run;
}

/* After so many milliseconds without use; 0: never. */
static int64_t sleep_ms(const struct cell *c)
{
	if (!cell_is_kept(c) || c->foreground)
		return 0;
	return sleeps_by_default(c) ? DEFAULT_MS : setting_ms(c, "sleep_after");
}

/* ---- the times ---- */

static void on_rest(uv_timer_t *t);

static void timer_follow(struct cell *c)
{
	uint64_t now = uv_now(&c->d->loop), at = c->idle_due;

	if (c->sleep_due && (!at || c->sleep_due < at))
		at = c->sleep_due;
	if (!at || (c->resting && now + uv_timer_get_due_in(c->timer) <= at))
		return;
	cell_timer(c, at > now ? (int64_t)(at - now) : 0, on_rest);
	c->resting = true;
}

static uint64_t due(const struct cell *c, uint64_t is, bool unused, int64_t ms)
{
	if (!unused || ms <= 0)
		return 0;
	return is ? is : uv_now(&c->d->loop) + (uint64_t)ms;
}

void cell_rest(struct cell *c)
{
	bool runs = c->state == CELL_RUNNING && c->keeper;

	c->idle_due =
		due(c, c->idle_due, runs && !c->procs && !c->holds, setting_ms(c, "idle_timeout"));
	c->sleep_due = due(c, c->sleep_due, runs && !c->execs && !c->holds, sleep_ms(c));
	if (runs)
		timer_follow(c);
	else if (c->resting)
		cell_timer(c, -1, NULL);
}

/* It was used: its time begins now, or after ms. */
static void sleep_later(struct cell *c, int64_t ms)
{
	c->sleep_due = 0;
	cell_rest(c);
	if (!c->sleep_due || ms <= 0)
		return;
	c->sleep_due = uv_now(&c->d->loop) + (uint64_t)ms;
	timer_follow(c);
}

/* ---- what runs in it ---- */

static void change(uint32_t *n, bool more)
{
	*n = more ? *n + 1 : *n ? *n - 1 : 0;
}

void cell_proc(struct cell *c, uint32_t proc, uint32_t flags, bool began)
{
	change(&c->procs, began);
	if (flags & KEEP_X_WHOLE)
		change(&c->agents, began);
	else if (proc != KEEP_FIRST)
		change(&c->execs, began);
	cell_rest(c);
}

void cell_hold(struct cell *c, int n)
{
	change(&c->holds, n > 0);
	cell_rest(c);
}

void cell_rest_begin(struct cell *c)
{
	c->procs = c->execs = c->agents = 0;
	c->idle_due = c->sleep_due = 0;
	c->connected = false;
}

static void procs_counted(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;

	(void)fds;
	(void)nfds;
	if (m && m->type == KEEP_PROC && !m->proc_is.ended && !(m->proc_is.flags & KEEP_X_QUIET))
		cell_proc(c, m->proc, m->proc_is.flags, true);
	else if (m && m->type == KEEP_OK)
		cell_rest(c);
}

void cell_idle_reset(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_PROCS };

	if (!c->keeper)
		return;
	if (c->resting)
		cell_timer(c, -1, NULL);
	cell_rest_begin(c);
	if ((sleep_ms(c) > 0 || json_object_get(c->spec, "idle_timeout")) &&
	    link_ask(c->keeper, &m, NULL, 0, procs_counted, c) < 0)
		log_warn("cell %s: its keeper does not take a message", c->id);
}

/* ---- the end of the times ---- */

static void idle_stop(struct cell *c)
{
	struct err f = { 0 };

	c->idled = true;
	if (cell_stop(c, cell_grace(c), &f) < 0)
		log_warn("cell %s is idle and cannot be stopped: %s", c->id, err_line(&f).str);
}

/* Its keeper's figures: is somebody connected, or was? */
static void looked(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	int64_t ms = sleep_ms(c), since;
	bool was = c->connected;

	link_ignore(NULL, NULL, fds, nfds);
	if (!m || c->state != CELL_RUNNING || !c->sleep_due || ms <= 0)
		return;
	if (m->type != KEEP_STATS) {
		sleep_later(c, 0);
		return;
	}
	c->connected = m->stats.inbound > 0;
	since = (time_now() - (int64_t)m->stats.inbound_at) / 1000000;
	if (c->connected)
		sleep_later(c, MIN(MAX(ms / 10, (int64_t)LOOK_LEAST_MS), (int64_t)LOOK_MOST_MS));
	else if (was)
		sleep_later(c, 0);
	else if (since >= 0 && since < ms)
		sleep_later(c, ms - since);
	/* Nobody asked for it, and something that an exec left behind goes on in it. */
	else if (sleeps_by_default(c) && m->stats.procs && !c->agents)
		sleep_later(c, 0);
	else
		cell_sleep_unused(c, m->stats.inbound_at);
}

void cell_used(struct cell *c)
{
	sleep_later(c, 0);
}

static void on_rest(uv_timer_t *t)
{
	struct cell *c = t->data;
	struct keep_msg m = { .type = KEEP_STATS };
	uint64_t now = uv_now(&c->d->loop);

	cell_timer(c, -1, NULL);
	if (c->state != CELL_RUNNING)
		return;
	if (c->idle_due && now >= c->idle_due)
		idle_stop(c);
	else if (!c->sleep_due || now < c->sleep_due)
		timer_follow(c);
	else if (c->busy || c->changing || link_ask(c->keeper, &m, NULL, 0, looked, c) < 0)
		sleep_later(c, 0);
}
