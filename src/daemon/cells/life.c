/* See life.h. */
#include "daemon/cells/life.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/family.h"
#include "daemon/cells/health.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/result.h"
#include "daemon/cells/runfollow.h"
#include "daemon/keepers/spawn.h"
#include "daemon/cells/usage.h"
#include "daemon/cells/sleep.h"
#include "daemon/cells/sleepports.h"
#include "daemon/cells/uses.h"
#include "keeper/named.h"
#include "daemon/cells/offline.h"
#include "store/named.h"
#include "store/store.h"

#define GRACE (10 * NSEC_PER_SEC)

int64_t cell_grace(const struct cell *c)
{
	const json_t *v = json_object_get(c->spec, "stop_grace");

	return v ? (int64_t)(json_number_value(v) * NSEC_PER_SEC) : GRACE;
}

/* ---- what a keeper leaves in RUN/cells ---- */

enum remains {
	REMAINS_LOGS, /* how it ended, and the output that was kept */
	REMAINS_ALL, /* and the socket, which a killed keeper leaves: the cell is removed */
};

static void remains_remove(const struct cell *c, enum remains what)
{
	struct err e;
	int fd = keep_cells_dir(&e);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = strlen(c->id);
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		const char *rest = d->d_name + n;

		if (strncmp(d->d_name, c->id, n) || *rest != '.')
			continue;
		if (what == REMAINS_ALL || strcmp(rest, ".sock"))
			unlinkat(dirfd(dir), d->d_name, 0);
	}
	closedir(dir);
}

static void end_remove(const struct cell *c)
{
	char name[CELL_ID_LEN + 8];
	struct err e;
	int dir = keep_cells_dir(&e);

	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "%s.result", c->id);
	unlinkat(dir, name, 0);
	snprintf(name, sizeof(name), "%s.end", c->id);
	unlinkat(dir, name, 0);
	close(dir);
}

static int end_open(const struct cell *c)
{
	char name[CELL_ID_LEN + 8];
	struct err e;
	int dir = keep_cells_dir(&e), fd;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.end", c->id);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	close(dir);
	return fd;
}

/* How it ended while nobody listened. */
static bool end_read(const struct cell *c, struct keep_msg *m)
{
	int fd = end_open(c);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, m, sizeof(*m));
		close(fd);
	}
	m->text[sizeof(m->text) - 1] = '\0';
	return n == sizeof(*m) && m->kind == KEEP_EV_END;
}

bool cell_has_end(const struct cell *c)
{
	struct keep_msg m;

	return end_read(c, &m);
}

bool cell_is_ending(const struct cell *c)
{
	int fd = end_open(c);
	bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return held;
}

/* ---- the end ---- */

static enum cell_reason reason_of(int reason)
{
	static const uint8_t reasons[] = { [KEEP_ENDED] = REASON_EXITED,
					   [KEEP_ASKED] = REASON_ASKED,
					   [KEEP_TIME_UP] = REASON_TIMEOUT,
					   [KEEP_OUT_OF_MEMORY] = REASON_MEMORY,
					   [KEEP_FAILED] = REASON_FAILED };

	return reason > 0 && reason < (int)ARRAY_LEN(reasons) ? (enum cell_reason)reasons[reason]
							      : REASON_FAILED;
}

static void end_note(struct cell *c, const struct keep_msg *m)
{
	c->status = m->a;
	/* Its own word, however late it is heard: another run may have begun since. */
	c->ended = MIN((int64_t)m->time, time_now());
	c->reason = reason_of(m->b);
	cell_failure_clear(c);
	if (m->b == KEEP_FAILED || m->b == KEEP_OUT_OF_MEMORY)
		keep_text_get(m->text, err_kind_of_status(m->a), cell_failure(c));
}

static void on_restart(uv_timer_t *t);

static void restart_wait(struct cell *c, int64_t ms)
{
	c->restart_at = time_now() + ms * 1000000;
	cell_timer(c, ms, on_restart);
}

static void on_restart(uv_timer_t *t)
{
	struct cell *c = t->data;
	struct err f = { 0 };

	cell_timer(c, -1, NULL);
	if (cell_start(c, &f) == 0)
		return;
	c->restart_at = 0;
	log_warn("cell %s is not started again: %s", c->id, err_line(&f).str);
	/* There may be room for its state later. */
	if (f.kind == ERR_STORAGE)
		restart_wait(c, RESTART_MOST_MS);
}

bool cell_is_kept(const struct cell *c)
{
	return c->name[0] && !json_is_true(json_object_get(c->spec, "auto_remove")) &&
	       !family_is_orphan(c);
}

static void on_removed(void *arg, const struct err *f)
{
	struct cell *c = arg;

	if (!f)
		return;
	log_warn("cell %s is not removed yet: %s", c->id, err_line(f).str);
	if (!cell_state_is_live(c->state))
		cell_linger(c);
}

static void on_linger(uv_timer_t *t)
{
	struct cell *c = t->data;
	struct err f = { 0 };

	cell_timer(c, -1, NULL);
	if (c->name[0]) {
		cell_remove(c, on_removed, c);
		return;
	}
	remains_remove(c, REMAINS_ALL);
	if (cell_forget(c, &f) < 0)
		cell_linger(c);
}

void cell_linger(struct cell *c)
{
	struct cell *o = NULL;

	cell_timer(c, c->name[0] ? CELL_REMOVE_MS : CELL_LINGER_MS, on_linger);
	while ((o = family_surplus(c, o)))
		cell_timer(o, 0, on_linger);
}

/* The milliseconds until it is started again; -1: it is not. */
static int64_t policy_delay(const struct cell *c, uint32_t *row)
{
	struct restart r = cellspec_restart(c->spec);

	return restart_delay(&r, row, !c->wanted || c->reason == REASON_ASKED,
			     c->state == CELL_FAILED || c->reason == REASON_UNHEALTHY, c->status,
			     health_was_good(c) ? c->ran_ms : 0);
}

/* Its command has done its work: what the end of a run is for its state. */
static enum cell_input end_input(const struct cell *c)
{
	uint32_t row = c->restarts;

	return c->reason == REASON_EXITED && c->status == 0 && policy_delay(c, &row) < 0
		       ? IN_DONE
		       : cell_reason_input(c->reason);
}

/* After a run: started again, kept, or forgotten after a while. */
void cell_policy(struct cell *c)
{
	int64_t delay = policy_delay(c, &c->restarts);

	if (delay >= 0) {
		restart_wait(c, delay);
		event_add(c->d, "cell.restarting", c->id,
			  json_pack("{s:I,s:I}", "delay_ms", (json_int_t)delay, "restarts",
				    (json_int_t)c->restarts));
		return;
	}
	c->wanted = false;
	cell_save(c);
	if (!cell_is_kept(c))
		cell_linger(c);
}

/* Unhealthy, and to be started again. */
static bool is_sick(const struct cell *c)
{
	return health_is_bad(c) && cellspec_restart(c->spec).policy != RESTART_NO;
}

/* No keeper any more, and why is noted: the state follows. */
static void cell_over(struct cell *c)
{
	/* Its keeper agreed to stop it, or was told to; however it went then. */
	bool sleeps = (c->sleep == SLEEP_FALLING && c->state == CELL_STOPPING) ||
		      (c->sleep == SLEEP_ASKED && c->reason == REASON_ASKED) ||
		      (c->sleep == SLEEP_WAKING && c->reason == REASON_LOST && c->adopting);

	c->sleep = SLEEP_NO;
	if (sleeps)
		c->reason = REASON_SLEEP;
	else if (c->idled && c->reason == REASON_ASKED)
		c->reason = REASON_IDLE;
	else if (is_sick(c) && c->wanted && c->reason == REASON_ASKED)
		c->reason = REASON_UNHEALTHY;
	c->idled = false;
	c->keeper = NULL;
	c->d->asked(c);
	if (c->d->met)
		c->d->met(c);
	c->kernel_pid = 0;
	c->ended = c->ended ? c->ended : time_now();
	c->ran_ms = (int64_t)(uv_hrtime() - c->began) / 1000000;
	db_begin(&c->d->db);
	cell_result_take(c);
	if (sleeps) {
		c->wanted = false;
		cell_failure_clear(c);
		/* One that its keeper stopped before it was told that it may is running here. */
		if (c->state == CELL_RUNNING || c->state == CELL_PAUSED)
			cell_move(c, IN_SLEEP, NULL);
		cell_move(c, IN_SLEPT, NULL);
	} else {
		cell_move(c, end_input(c), NULL);
		cell_policy(c);
	}
	/* What the keeper left is needed until this is written. */
	if (db_end(&c->d->db, NULL) == 0)
		end_remove(c);
	family_over(c);
}

static void keeper_gone(void *arg)
{
	struct cell *c = arg;
	struct keep_msg m;

	if (!c->reason) {
		if (end_read(c, &m)) {
			end_note(c, &m);
		} else {
			c->status = 137;
			c->reason = REASON_LOST;
			err_note(cell_failure(c), ERR_FAILED, "the cell's keeper was killed");
			keep_bury(c->id);
		}
	}
	cell_over(c);
}

void cell_lost(struct cell *c)
{
	c->adopting = true;
	keeper_gone(c);
	c->adopting = false;
}

/* ---- events of the keeper ---- */

static json_t *process_json(const struct keep_msg *m)
{
	json_t *o = json_pack("{s:I,s:i}", "proc", (json_int_t)m->proc, "pid", (int)m->pid);

	if (m->kind == KEEP_EV_START)
		json_object_set_new(o, "command", json_clean(m->text));
	else
		json_set_exit(o, m->a, m->b);
	return o;
}

static json_t *limit_json(const struct keep_msg *m)
{
	static const char *const names[] = {
		[LIMIT_OBJECTS] = "objects", [LIMIT_DISK] = "disk",
		[LIMIT_INODES] = "inodes",   [LIMIT_TASKS] = "tasks",
		[LIMIT_MEMORY] = "memory",   [LIMIT_CONNECTIONS] = "connections",
		[LIMIT_NET_IN] = "net_in",   [LIMIT_NET_OUT] = "net_out"
	};

	return json_pack("{s:s,s:b,s:o}", "limit",
			 m->a >= 0 && m->a < (int)ARRAY_LEN(names) ? names[m->a] : "other", "hit",
			 m->b ? 1 : 0, "text", json_clean(m->text));
}

static json_t *denied_json(const struct keep_msg *m)
{
	json_t *o = json_loads(m->text, 0, NULL);

	if (!json_is_object(o)) {
		json_decref(o);
		o = json_object();
	}
	if (m->a > 0)
		json_object_set_new(o, "suppressed", json_integer(m->a));
	return o;
}

/* What the keeper does with a cell by itself, or because another client asked. */
static void state_follow(struct cell *c, int state)
{
	if (state == KEEP_PAUSED && c->state == CELL_RUNNING)
		cell_move(c, IN_PAUSE, NULL);
	else if ((state == KEEP_RUNNING || state == KEEP_IDLE) && c->state == CELL_PAUSED)
		cell_move(c, IN_RESUME, NULL);
	else if ((state == KEEP_RUNNING || state == KEEP_IDLE) && c->state == CELL_STARTING)
		cell_move(c, IN_UP, NULL);
	else if (state == KEEP_STOPPING && c->state != CELL_STOPPING)
		cell_move(c, IN_STOP, NULL);
}

static void keeper_event(void *arg, const struct keep_msg *m)
{
	struct cell *c = arg;
	struct daemon *d = c->d;

	if (m->n <= c->seen)
		return;
	c->seen = m->n;
	db_begin(&d->db);
	switch (m->kind) {
	case KEEP_EV_STATE:
		state_follow(c, m->a);
		break;
	case KEEP_EV_START:
		event_add(d, "process.started", c->id, process_json(m));
		/* One that comes from the pool had none when it was met. */
		if (m->proc == KEEP_FIRST)
			snprintf(c->command, sizeof(c->command), "%.*s",
				 (int)sizeof(c->command) - 1, m->text);
		cell_proc(c, m->proc, m->flags, true);
		break;
	case KEEP_EV_EXIT:
		event_add(d, "process.exited", c->id, process_json(m));
		cell_proc(c, m->proc, m->flags, false);
		break;
	case KEEP_EV_LIMIT:
		event_add(d, "limit", c->id, limit_json(m));
		break;
	case KEEP_EV_OOM:
	case KEEP_EV_LOG:
		event_add(d, m->kind == KEEP_EV_OOM ? "oom" : "warning", c->id,
			  json_pack("{s:o}", "text", json_clean(m->text)));
		break;
	case KEEP_EV_DENIED:
		event_add(d, "cell.denied", c->id, denied_json(m));
		break;
	case KEEP_EV_USE:
		uses_add(c, m->text, m->a);
		break;
	case KEEP_EV_ASK:
		d->asked(c);
		break;
	case KEEP_EV_END:
		end_note(c, m);
		break;
	default:
		break;
	}
	cell_save(c);
	/* Until it is written, the keeper has it: it is asked for what comes after the last that
	 * was. */
	db_end_later(&d->db);
}

/* ---- the start ---- */

static void stop_send(struct cell *c, int64_t grace)
{
	struct keep_msg m = { .type = KEEP_STOP, .n = (uint64_t)grace };
	int err = c->keeper ? link_ask(c->keeper, &m, NULL, 0, link_ignore, NULL) : 0;

	if (err < 0)
		log_warn("cell %s: its keeper does not take a message: %s", c->id, strerror(-err));
}

void cell_stop_again(struct cell *c)
{
	if (c->sleep == SLEEP_FALLING)
		cell_sleep_send(c);
	else
		stop_send(c, cell_grace(c));
}

void cell_linked_by(struct cell *c, const struct keep_hello *h, int fd, uint64_t since)
{
	struct link_owner o = { .event = keeper_event, .gone = keeper_gone, .arg = c };

	c->kernel_pid = h->kernel_pid;
	c->foreground = h->flags & KEEP_H_FOREGROUND;
	c->calls = h->flags & KEEP_H_CELLS;
	c->keeper = link_new(c->d, fd, h->keeper_pid, since, &o);
	cell_rest_begin(c);
	json_decref(c->ports);
	c->ports = NULL;
	if (h->flags & KEEP_H_PORTS)
		cell_ports_ask(c);
	c->asks = ASKS_KNOWN;
	if (h->flags & KEEP_H_ASKS && c->keeper)
		c->d->asked(c);
	if (h->flags & KEEP_H_DOOR && c->keeper)
		c->d->linked(c);
	if (c->keeper && c->d->met)
		c->d->met(c);
}

/* Its keeper runs: the connection, and what it told since event number 'since'. */
void cell_linked(struct cell *c, const struct keep_hello *h, uint64_t since)
{
	struct err e;
	int fd = keep_connect(c->id, KEEP_NOWAIT, &e);

	snprintf(c->command, sizeof(c->command), "%.*s", (int)sizeof(h->command) - 1, h->command);
	cell_linked_by(c, h, fd, since);
	/* So fast was its end. What it leaves, and its disk, are to be had when it is gone. */
	if (!c->keeper)
		keeper_gone(c);
	if (fd < 0)
		return;
	/* What was started before those events is counted by the keeper. */
	cell_idle_reset(c);
	/* Children that have files keep their part of its disk. */
	if (c->keeper && family_has_children(c))
		family_limits_tell(c);
	/* A start may have made one layer of many. */
	if (json_object_size(c->layers))
		family_layers_count(c);
	if (c->state == CELL_STARTING)
		cell_move(c, IN_UP, NULL);
	else if (c->state == CELL_STOPPING)
		cell_stop_again(c);
	health_follow(c);
}

static void spawned(void *arg, const struct keep_hello *h, int ready, int status,
		    const struct err *e)
{
	struct cell *c = arg;
	struct keep_msg m;

	(void)ready;
	c->spawning = false;
	if (h) {
		cell_linked(c, h, 1);
		return;
	}
	/* A command that is not there: the cell was, and has said how it ended. */
	if (end_read(c, &m) && m.b != KEEP_FAILED) {
		end_note(c, &m);
	} else {
		c->reason = REASON_FAILED;
		c->status = status;
		*cell_failure(c) = *e;
	}
	cell_over(c);
}

void cell_start_cold(struct cell *c)
{
	struct buf words = { 0 };
	int fds[PORTS_MAX];
	unsigned n = sleep_ports_give(c, fds);

	c->spawning = true;
	cellspec_words(c, &words);
	if (n || c->woken)
		buf_add(&words, "--woken", sizeof("--woken"));
	keeper_spawn_given(c->d, &words, fds, n, spawned, c);
	buf_free(&words);
}

void cell_start_error(const struct cell *c, const char *text, struct err *e)
{
	*e = c->failure ? *c->failure : (struct err){ 0 };
	e->kind = ERR_START_FAILED;
	if (c->failure)
		err_wrap(e, "%s", text);
	else
		err_note(e, ERR_START_FAILED, "%s", text);
}

/* What it needs is there. */
static void start_go(struct cell *c)
{
	c->spawning = false;
	if (c->visit) {
		c->spawning = true;
		visit_before(c, cell_start_cold);
	} else if (!cell_start_pooled(c)) {
		cell_start_cold(c);
	}
}

static void start_refused(struct cell *c, const struct err *e)
{
	c->spawning = false;
	c->reason = REASON_FAILED;
	c->status = 125;
	*cell_failure(c) = *e;
	cell_over(c);
}

int cell_start(struct cell *c, struct err *f)
{
	struct cell before = *c;

	if (c->d->ending)
		return err_set(f, ERR_ENDING, "vivd is about to end");
	if (c->removing)
		return err_set(f, ERR_WRONG_STATE, "the cell is being removed");
	if (c->run == RUN_UNNAMED)
		return err_set(f, ERR_WRONG_STATE,
			       "the cell was a 'viv run' without a name, which keeps nothing" REMEDY
			       "run it again");
	if (family_may_start(c, f) < 0 || family_policy_renew(c, f) < 0)
		return -1;
	cell_run_follow(c);
	c->sleep = c->state == CELL_SLEEPING ? SLEEP_WAKING : SLEEP_NO;
	c->woken = c->sleep ? uv_hrtime() : 0;
	c->wanted = true;
	c->started = time_now();
	c->began = uv_hrtime();
	c->ended = 0;
	c->status = -1;
	c->reason = REASON_NONE;
	c->command[0] = '\0';
	c->failure = NULL;
	c->seen = 0;
	if (!cell_move(c, IN_START, f)) {
		c->sleep = before.sleep;
		c->woken = before.woken;
		c->wanted = before.wanted;
		c->started = before.started;
		c->ended = before.ended;
		c->status = before.status;
		c->reason = before.reason;
		c->failure = before.failure;
		c->seen = before.seen;
		return -1;
	}
	free(before.failure);
	cell_timer(c, -1, NULL);
	c->restart_at = 0;
	c->d->count.starts++;
	if (before.started)
		remains_remove(c, REMAINS_LOGS);
	cell_result_forget(c);
	health_reset(c);
	usage_drop(c);
	c->spawning = true;
	family_take(c, start_go, start_refused);
	return 0;
}

int cell_stop(struct cell *c, int64_t grace, struct err *f)
{
	bool waited = c->restart_at != 0;

	if (waited) {
		c->restart_at = 0;
		c->wanted = false;
		cell_timer(c, -1, NULL);
		cell_save(c);
		cell_changed_soon(c);
		if (!cell_is_kept(c))
			cell_linger(c);
	}
	if (c->state == CELL_SLEEPING)
		return cell_move(c, IN_STOP, f) ? 0 : -1;
	if (!cell_state_is_live(c->state))
		return waited ? 0
			      : err_set(f, ERR_WRONG_STATE, "the cell does not run; it is %s",
					cell_state_name(c->state));
	c->wanted = false;
	c->sleep = SLEEP_NO;
	if (!cell_move(c, IN_STOP, f))
		return -1;
	stop_send(c, grace);
	return 0;
}

void cell_stop_sick(struct cell *c)
{
	if (is_sick(c) && cell_state_is_live(c->state) && cell_move(c, IN_STOP, NULL))
		stop_send(c, cell_grace(c));
}

/* ---- removing ---- */

struct removal {
	uv_work_t work;
	struct cell *c;
	char name[CELL_NAME_LEN + 1];
	struct err e;
	bool failed;
	void (*done)(void *arg, const struct err *f);
	void *arg;
};

/* In a thread: the store's locks and its disk take their time. */
static void removal_work(uv_work_t *w)
{
	struct removal *r = w->data;
	struct store s;
	struct disk disk;
	int err, lock;

	if (store_open(&s, &r->e) < 0) {
		r->failed = true;
		return;
	}
	/* Somebody may use it whom vivd has not seen yet. */
	err = disk_open(s.fd, r->c->id, DISK_EXCLUSIVE, &disk);
	if (!err)
		disk_close(&disk);
	if (err != -EBUSY)
		err = named_remove(s.fd, NAMED_CELL, r->name);
	if (err == -EBUSY) {
		disk_failed("cell", r->name, err, &r->e);
		r->failed = true;
	} else if (err && err != -ENOENT) {
		err_set(&r->e, ERR_FAILED, "cannot remove the cell's name: %s", strerror(-err));
		r->failed = true;
	} else if ((lock = store_lock(&s, true, NULL, &r->e)) < 0) {
		r->failed = true;
	} else {
		/* What is not cleared away now is cleared away with the next one. */
		named_collect(s.fd);
		close(lock);
	}
	store_close(&s);
}

static void removal_done(uv_work_t *w, int status)
{
	struct removal *r = w->data;

	(void)status;
	r->c->busy = false;
	if (r->failed) {
		cell_changed_soon(r->c);
		r->done(r->arg, &r->e);
	} else {
		remains_remove(r->c, REMAINS_ALL);
		r->done(r->arg, cell_forget(r->c, &r->e) < 0 ? &r->e : NULL);
	}
	free(r);
}

void cell_remove(struct cell *c, void (*done)(void *arg, const struct err *f), void *arg)
{
	struct removal *r;
	struct err f = { 0 };

	if (cell_state_next(c->state, IN_REMOVE) == CELL_NONE || c->busy || c->visit) {
		bool busy = c->busy || c->visit;

		err_note(&f, busy ? ERR_BUSY : ERR_WRONG_STATE,
			 busy ? "the cell is being changed" REMEDY "try again"
			      : "the cell is %s" REMEDY "stop it first, or remove it with force",
			 cell_state_name(c->state));
		done(arg, &f);
		return;
	}
	cell_timer(c, -1, NULL);
	if (!c->name[0]) {
		remains_remove(c, REMAINS_ALL);
		if (cell_forget(c, &f) < 0) {
			cell_linger(c);
			done(arg, &f);
		} else {
			done(arg, NULL);
		}
		return;
	}
	c->busy = true;
	r = xalloc(sizeof(*r));
	r->c = c;
	r->done = done;
	r->arg = arg;
	r->work.data = r;
	strcpy(r->name, c->name);
	uv_queue_work(&c->d->loop, &r->work, removal_work, removal_done);
}
