/* See sleep.h. */
#include "daemon/cells/family.h"
#include "daemon/cells/sleep.h"

#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/sleepports.h"

#define TRIES 3 /* to wake a cell that is put to sleep again and again */

/* ---- falling asleep ---- */

static void fds_close(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

/* Its keeper's answers: the sockets at which it listened, then that it stops. */
static void sent(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	struct keep_msg stop = { .type = KEEP_STOP, .n = (uint64_t)cell_grace(c) };

	if (m && m->type == KEEP_PORTS) {
		sleep_ports_take(c, fds, nfds);
		return;
	}
	fds_close(fds, nfds);
	/* One of another version stops as ever; its ports are opened again. */
	if (m && m->type == KEEP_FAIL && c->sleep == SLEEP_FALLING && c->keeper &&
	    link_ask(c->keeper, &stop, NULL, 0, link_ignore, NULL) < 0)
		log_warn("cell %s: its keeper does not take a message", c->id);
}

void cell_sleep_send(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_SLEEP,
			      .flags = KEEP_SLEEP_NOW,
			      .n = (uint64_t)(c->sleep_grace >= 0 ? c->sleep_grace
								  : cell_grace(c)) };

	if (c->keeper && link_ask(c->keeper, &m, NULL, 0, sent, c) < 0)
		log_warn("cell %s: its keeper does not take a message", c->id);
}

/* Whatever state it is in. */
static int sleep_check(const struct cell *c, struct err *f)
{
	if (!c->name[0])
		return err_set(f, ERR_NO_DISK,
			       "a cell without a name keeps no files, and cannot sleep");
	if (!cell_is_kept(c))
		return err_set(f, ERR_WRONG_STATE,
			       "the cell is removed when it ends, and cannot sleep");
	if (c->foreground && c->keeper)
		return err_set(f, ERR_WRONG_STATE,
			       "the cell belongs to a 'viv run' in the foreground");
	if (c->sleep == SLEEP_WAKING)
		return err_set(f, ERR_BUSY, "the cell is being woken" REMEDY "try again");
	return 0;
}

int cell_sleep_ask_frozen(struct cell *c, struct err *f)
{
	if (sleep_check(c, f) < 0)
		return -1;
	if (!c->keeper || c->sleep != SLEEP_NO || c->state != CELL_RUNNING)
		return err_set(f, ERR_WRONG_STATE,
			       "only the processes of a running cell can be frozen; it is %s",
			       cell_state_name(c->state));
	if (family_has_running(c))
		return err_set(f, ERR_WRONG_STATE, "cells that it made are running");
	c->why = "asked";
	c->sleep = SLEEP_ASKED;
	cell_save(c);
	return 0;
}

int cell_sleep(struct cell *c, int64_t grace, struct err *f)
{
	enum cell_sleep before = c->sleep;
	const char *why = c->why;

	if (sleep_check(c, f) < 0)
		return -1;
	if (c->state == CELL_SLEEPING || c->sleep == SLEEP_FALLING)
		return 0;
	c->why = "asked";
	c->sleep = cell_state_is_live(c->state) ? SLEEP_FALLING : SLEEP_NO;
	c->sleep_grace = grace;
	if (!cell_move(c, IN_SLEEP, f)) {
		c->sleep = before;
		c->why = why;
		return -1;
	}
	c->wanted = false;
	c->restart_at = 0;
	if (c->state == CELL_SLEEPING)
		cell_timer(c, -1, NULL);
	cell_save(c);
	cell_sleep_send(c);
	return 0;
}

void cell_sleep_answered(struct cell *c, bool agreed)
{
	if (c->sleep != SLEEP_ASKED)
		return;
	if (agreed) {
		c->sleep = SLEEP_FALLING;
		c->wanted = false;
		if (c->state != CELL_STOPPING)
			cell_move(c, IN_SLEEP, NULL);
		else
			cell_save(c);
		return;
	}
	c->sleep = SLEEP_NO;
	cell_save(c);
	cell_used(c);
	cell_changed_soon(c);
}

/* The answer to a question that its keeper may say no to. */
static void agreed(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;

	if (m && m->type == KEEP_PORTS) {
		sleep_ports_take(c, fds, nfds);
		return;
	}
	fds_close(fds, nfds);
	/* Its end tells the rest; or it was stopped, or told to sleep, meanwhile. */
	if (m)
		cell_sleep_answered(c, m->type == KEEP_OK);
}

void cell_sleep_unused(struct cell *c, uint64_t inbound_at)
{
	struct keep_msg m = { .type = KEEP_SLEEP,
			      .n = (uint64_t)cell_grace(c),
			      .time = (int64_t)inbound_at };

	/* Its children would end with it. */
	if (family_has_running(c)) {
		cell_used(c);
		return;
	}
	c->sleep = SLEEP_ASKED;
	c->why = "unused";
	cell_save(c);
	if (link_ask(c->keeper, &m, NULL, 0, agreed, c) == 0)
		return;
	c->sleep = SLEEP_NO;
	cell_save(c);
	cell_used(c);
}

/* ---- waking ---- */

bool cell_is_asleep(const struct cell *c)
{
	return c->state == CELL_SLEEPING || c->sleep != SLEEP_NO;
}

int cell_wake_begin(struct cell *c, const char *why, struct err *f)
{
	const char *before = c->why;

	c->why = why;
	if (cell_start(c, f) == 0)
		return 0;
	c->why = before;
	return -1;
}

static void waker_end(struct cell_waker *w, struct cell *c, const struct err *e)
{
	cell_wait_remove(&w->wait);
	w->fn(w, c, e);
}

static void wake_step(struct cell_wait *wait, struct cell *c, bool gone)
{
	struct cell_waker *w = container_of(wait, struct cell_waker, wait);
	struct err f = { 0 };

	if (gone) {
		err_note(&f, ERR_NOT_FOUND, "the cell was removed meanwhile");
		c = NULL;
	} else if (c->state == CELL_SLEEPING) {
		if (w->tries++ >= TRIES)
			err_note(&f, ERR_BUSY,
				 "the cell was put to sleep again" REMEDY "try again");
		else if (cell_wake_begin(c, w->why, &f) == 0)
			return;
		else if (f.kind ==
			 ERR_BUSY) { /* it is being changed, and the end of that is told */
			w->tries--;
			return;
		}
	} else if (c->sleep != SLEEP_NO || c->state == CELL_STARTING || c->state == CELL_STOPPING) {
		return;
	} else if (c->state == CELL_FAILED) {
		cell_start_error(c, "the cell could not start", &f);
	} else if (!c->keeper) {
		err_note(&f, ERR_WRONG_STATE, "the cell does not run; it is %s",
			 cell_state_name(c->state));
	}
	waker_end(w, c, f.kind ? &f : NULL);
}

void cell_wake(struct cell *c, struct cell_waker *w, const char *why,
	       void (*fn)(struct cell_waker *w, struct cell *c, const struct err *e))
{
	w->why = why;
	w->tries = 0;
	w->fn = fn;
	list_init(&w->wait.link);
	cell_wait_add(c, &w->wait, wake_step);
	wake_step(&w->wait, c, false);
}

void cell_wake_cancel(struct cell_waker *w)
{
	cell_wait_remove(&w->wait);
}
