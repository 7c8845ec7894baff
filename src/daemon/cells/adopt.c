/* vivd's start: what it knew is compared with what is there. A cell whose keeper runs is adopted,
 * and its events since the last that was taken are asked for. One that should have a keeper and has
 * none ended meanwhile: its record says how, or it was lost with the machine; its policy decides.
 * One that is just ending is waited for, and so is the answer of one that is slow (probe.h): its
 * cell is as it was until then. One whose start was under way may have a keeper that is not heard
 * yet, and is given some time. Cells that others made (named ones of the store, keepers that 'viv
 * run' started) become known: at the start, when their sockets appear, and before anybody is told
 * what cells there are (cells_look). */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/cells/change.h"
#include "daemon/cells/family.h"
#include "daemon/state/fields.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/make.h"
#include "daemon/cells/probe.h"
#include "daemon/cells/runfollow.h"
#include "daemon/cells/sleepports.h"
#include "daemon/cells/offline.h"
#include "store/named.h"
#include "store/store.h"

/* For a keeper that the vivd before has just started to be heard of. One that needs longer is
 * adopted when it comes. */
#define START_MS 5000
#define ENDING_MS 20
/* How long those who ask for a cell wait for its keeper to answer vivd; and those who ask for all
 * of them. */
#define ANSWER_MS 2000
#define ANSWER_ALL_MS 500
#define YOUNG_NS (50 * 1000000L)

/* A keeper of this id came up: it has a name in RUN/cells before it starts anything, and what it
 * leaves there stays until it is looked for. True as well if that cannot be known. */
static bool cell_has_trace(const struct cell *c)
{
	struct err e;
	int fd = keep_cells_dir(&e);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = strlen(c->id);
	struct dirent *f;
	bool found = !dir;

	if (!dir && fd >= 0)
		close(fd);
	while (!found && (f = readdir(dir)))
		found = !strncmp(f->d_name, c->id, n) && f->d_name[n] == '.';
	if (dir)
		closedir(dir);
	return found;
}

static void cell_adopt(struct cell *c, const struct keep_hello *h)
{
	enum cell_state is = h->state == KEEP_PAUSED	 ? CELL_PAUSED
			     : h->state == KEEP_STOPPING ? CELL_STOPPING
			     : h->state == KEEP_STARTING ? CELL_STARTING
							 : CELL_RUNNING;

	cell_timer(c, -1, NULL);
	c->restart_at = 0;
	/* Its keeper may never have been told. */
	if (c->state == CELL_STOPPING)
		is = CELL_STOPPING;
	/* Another run than the one that was known. */
	if (c->started > h->started + NSEC_PER_SEC || c->started < h->started - 60 * NSEC_PER_SEC ||
	    c->seen >= h->next_event)
		c->seen = 0;
	c->started = c->started ? c->started : h->started;
	c->began = uv_hrtime() - (uint64_t)MAX(time_now() - c->started, 0);
	c->ended = 0;
	c->status = -1;
	c->reason = REASON_NONE;
	cell_failure_clear(c);
	c->state = is;
	/* One that its keeper stops goes on falling asleep, and one that starts goes on waking. */
	if (!(c->sleep == SLEEP_WAKING && is == CELL_STARTING) && is != CELL_STOPPING)
		c->sleep = SLEEP_NO;
	else if (c->sleep == SLEEP_ASKED)
		c->sleep = SLEEP_FALLING;
	sleep_ports_follow(c);
	db_begin(&c->d->db);
	cell_save(c);
	event_add(c->d, "cell.adopted", c->id,
		  json_pack("{s:s,s:s}", "name", c->name, "state", cell_state_name(is)));
	db_end(&c->d->db, NULL);
	cell_linked(c, h, c->seen + 1);
	cell_change_again(c);
	if (family_has_children(c))
		family_limits_tell(c);
	cell_changed_soon(c);
}

/* No keeper came up for it: it is as it was before its start, for whoever made it. */
static void cell_unstart(struct cell *c)
{
	c->state = CELL_CREATED;
	c->wanted = c->unborn = false;
	c->started = 0;
	db_begin(&c->d->db);
	cell_save(c);
	event_add(c->d, "cell.state", c->id,
		  json_pack("{s:s,s:s,s:s}", "name", c->name, "from",
			    cell_state_name(CELL_STARTING), "state", cell_state_name(c->state)));
	db_end(&c->d->db, NULL);
	cell_changed_soon(c);
}

static void on_ending(uv_timer_t *t);

/* It has no keeper that could be reached. One at its end is waited for: how it ends is written, and
 * its disk is not free. */
static void cell_unheard(struct cell *c)
{
	bool ending = cell_is_ending(c);

	cell_timer(c, ending ? ENDING_MS : -1, on_ending);
	if (!ending && c->unborn && c->redone && c->state == CELL_STARTING)
		cell_unstart(c);
	else if (!ending)
		cell_lost(c);
}

static void on_ending(uv_timer_t *t)
{
	cell_unheard(t->data);
}

static void on_unheard(uv_timer_t *t);
static void known_answer(struct daemon *d, const char *id, struct keep_hello *h);

/* It cannot be reached at all, and is no news to us. */
static void known_settle(struct cell *c)
{
	/* One that does not run has it from its next start on. */
	cell_change_drop(c);
	if ((c->state == CELL_STARTING || c->state == CELL_STOPPING) && !cell_has_end(c))
		cell_timer(c, START_MS, on_unheard);
	else if (cell_state_is_live(c->state))
		cell_unheard(c);
	/* Its parent was removed, and vivd ended before it was. */
	else if (family_is_orphan(c))
		cell_linger(c);
	else if (c->state == CELL_SLEEPING)
		sleep_ports_follow(c);
	else if (c->wanted && c->state != CELL_CREATED)
		cell_policy(c);
	else if (!cell_is_kept(c) && c->state != CELL_CREATED)
		cell_linger(c);
}

static void on_unheard(uv_timer_t *t)
{
	struct cell *c = t->data;

	cell_timer(c, -1, NULL);
	/* Before the probe, which buries what a killed keeper left. */
	c->unborn = c->unborn && !cell_has_trace(c);
	switch (probe_begin(c->d, c->id, known_answer)) {
	case PROBE_NONE:
		cell_unheard(c);
		break;
	case PROBE_BUSY:
		cell_timer(c, START_MS, on_unheard);
		break;
	case PROBE_ASKED: /* as it was, until it answers */
		break;
	}
}

static void known_check(struct daemon *d)
{
	struct cell *c, *tmp;

	list_for_each_safe(c, tmp, &d->cells, link) {
		enum probe p;

		c->unborn = c->state == CELL_STARTING && !cell_has_trace(c);
		p = probe_begin(d, c->id, known_answer);
		cell_run_follow(c);
		c->began = uv_hrtime() - (uint64_t)MAX(time_now() - c->started, 0);
		if (p == PROBE_BUSY)
			cell_timer(c, START_MS, on_unheard);
		else if (p == PROBE_NONE)
			known_settle(c);
	}
}

/* Known, and ours or connected: its socket is no news. */
static bool is_ours(const struct cell *c)
{
	return c && (c->keeper || c->spawning || c->busy);
}

static void keeper_found(struct daemon *d, const char *id, struct keep_hello *h)
{
	struct cell *c = cell_by_id(d, id);
	struct err f = { 0 };
	json_t *spec;

	if (c && !cell_state_is_live(c->state)) { /* somebody else started it */
		if (h->started < c->ended)
			return; /* its last run, which is over */
		c->wanted = false;
		c->started = h->started;
	}
	if (!c) {
		h->image[sizeof(h->image) - 1] = h->name[sizeof(h->name) - 1] = '\0';
		spec = json_pack("{s:o}", "image", json_clean(h->image));
		c = cell_new(d, id, h->name, spec, &f);
		if (c && (c->name[0] || (h->flags & KEEP_H_FOREGROUND)))
			c->run = c->name[0] ? RUN_UNKNOWN : RUN_UNNAMED;
	}
	if (!c)
		return;
	cell_adopt(c, h);
	cell_run_follow(c);
}

/* Of one that was known when vivd started. */
static void known_answer(struct daemon *d, const char *id, struct keep_hello *h)
{
	struct cell *c = cell_by_id(d, id);

	if (!c || is_ours(c))
		return;
	if (h)
		cell_adopt(c, h);
	else
		known_settle(c);
}

/* Of one whose socket was found. */
static void found_answer(struct daemon *d, const char *id, struct keep_hello *h)
{
	struct cell *c = cell_by_id(d, id);

	if (is_ours(c))
		return;
	if (h)
		keeper_found(d, id, h);
	else if (c && cell_state_is_live(c->state))
		cell_unheard(c);
}

static bool keeper_step(void *arg, const char *id)
{
	struct cell *c = cell_by_id(arg, id);

	if (c)
		c->unborn = false;
	if (!is_ours(c))
		(void)probe_begin(arg, id, found_answer);
	return true;
}

struct cell *cell_found(struct daemon *d, const struct named *n)
{
	char parent[CELL_ID_LEN + 1];
	json_t *spec = cell_making_read(d, n->name, parent);
	bool making = spec;
	struct err f = { 0 };
	struct cell *c;

	if (!making)
		spec = json_pack("{s:o}", "image", json_clean(n->image));
	db_begin(&d->db);
	c = cell_new_child(d, parent, n->disk, n->name, spec, &f);
	if (c && c->parent[0])
		family_layers_set(c, family_layers(c->id));
	if (c && !making) {
		/* It was used before, or made from one that was. */
		c->state = CELL_STOPPED;
		c->created = n->created * NSEC_PER_SEC;
		c->run = RUN_UNKNOWN;
		cell_save(c);
	}
	(void)!db_end(&d->db, &f);
	if (c && !making)
		cell_run_follow(c);
	return c;
}

/* A named cell that is known: as the store has it. */
static void known_compare(struct cell *c, const struct named *list, unsigned n)
{
	const struct named *is = named_in(list, n, c->name);

	if (is && !strcmp(is->disk, c->id))
		return;
	if (c->busy) /* its name is being changed, or it is removed */
		return;
	if (c->visit) { /* somebody is in it; the next look will do */
		c->d->looked.names = 0;
		return;
	}
	for (is = list; is < list + n && strcmp(is->disk, c->id); is++)
		;
	if (is < list + n)
		cell_rename(c, is->name, NULL);
	else if (c->name[0] && !cell_state_is_live(c->state))
		cell_forget(c, NULL);
}

/* Named cells are the store's: those that vivd does not know, and those that are not there any
 * more. */
static void store_compare(struct daemon *d)
{
	const struct named *list;
	struct cell *c, *tmp;
	struct store s;
	struct err e;
	int err;

	if (store_open(&s, &e) < 0)
		return;
	err = named_list_again(s.fd, NAMED_CELL, &d->looked.list, &d->looked.n);
	store_close(&s);
	if (err)
		return;
	list = d->looked.list;
	list_for_each_safe(c, tmp, &d->cells, link)
		known_compare(c, list, d->looked.n);
	for (unsigned i = 0; i < d->looked.n; i++)
		if (cell_is_being_made(list[i].name) && !cell_by_id(d, list[i].disk))
			d->looked.names = 0;
		else if (!cell_by_id(d, list[i].disk))
			cell_found(d, &list[i]);
}

/* Files of cells that nobody knows any more: of those whose removal was under way when vivd was
 * killed. A keeper has its socket's name, which it takes with the directory locked, before it
 * writes anything else. */
struct sweep {
	uv_work_t work;
	struct daemon *d;
	int fd;
};

/* In a thread: somebody may have it locked, and be stopped. */
static void sweep_lock(uv_work_t *w)
{
	struct sweep *x = w->data;

	if (flock(x->fd, LOCK_EX) == 0)
		return;
	close(x->fd);
	x->fd = -1;
}

/* The names of such files in the locked directory fd, which is closed. */
static json_t *remains_take(struct daemon *d, int fd, bool clear)
{
	json_t *list = json_array();
	DIR *dir = fdopendir(fd);
	struct dirent *f;

	if (!dir)
		close(fd);
	while (dir && (f = readdir(dir))) {
		size_t n = strcspn(f->d_name, ".");
		char id[KEEP_ID_LEN + 1], sock[KEEP_ID_LEN + 8];

		if (!n || n > KEEP_ID_LEN)
			continue;
		snprintf(id, sizeof(id), "%.*s", (int)n, f->d_name);
		snprintf(sock, sizeof(sock), "%s.sock", id);
		if (!strcmp(f->d_name + n, ".new") ||
		    (!cell_by_id(d, id) && faccessat(fd, sock, F_OK, 0) < 0)) {
			json_array_append_new(list, json_clean(f->d_name));
			if (clear)
				unlinkat(fd, f->d_name, 0);
		}
	}
	if (dir)
		closedir(dir);
	return list;
}

/* Whoever has the directory locked is not waited for. */
json_t *cells_remains(struct daemon *d, bool clear)
{
	struct err e;
	int fd = keep_cells_dir(&e);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return remains_take(d, fd, clear);
	if (fd >= 0)
		close(fd);
	return json_array();
}

static void sweep_locked(uv_work_t *w, int status)
{
	struct sweep *x = w->data;

	(void)status;
	if (x->fd >= 0)
		json_decref(remains_take(x->d, x->fd, true));
	free(x);
}

static void remains_sweep(struct daemon *d)
{
	struct sweep *x = xalloc(sizeof(*x));
	struct err e;

	x->work.data = x;
	x->d = d;
	x->fd = keep_cells_dir(&e);
	if (x->fd < 0 || uv_queue_work(&d->loop, &x->work, sweep_lock, sweep_locked)) {
		if (x->fd >= 0)
			close(x->fd);
		free(x);
	}
}

/* Whether a directory may have changed since it was looked at last. A change in the same tick of
 * the host's clock leaves no trace, so one that is that young counts as changed the next time,
 * too. */
static bool has_changed(int dir, int64_t *seen)
{
	struct timespec now;
	struct stat st;
	int64_t changed;

	if (fstat(dir, &st) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return true;
	changed = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	if (changed == *seen)
		return false;
	*seen = now.tv_sec * NSEC_PER_SEC + now.tv_nsec - changed < YOUNG_NS ? 0 : changed;
	return true;
}

void cells_look(struct daemon *d)
{
	struct store s;
	struct err e;
	int dir;

	if (store_open(&s, &e) == 0) {
		dir = store_dir(&s, "cells");
		store_close(&s);
		if (dir < 0 || has_changed(dir, &d->looked.names))
			store_compare(d);
		if (dir >= 0)
			close(dir);
	}
	dir = keep_cells_dir(&e);
	if (dir >= 0 && has_changed(dir, &d->looked.keepers) && keep_each(keeper_step, d, &e) < 0)
		log_warn("cells that others started are not seen: %s", err_line(&e).str);
	if (dir >= 0)
		close(dir);
}

uint64_t cells_unsettled(struct daemon *d, const char *text)
{
	struct err f = { 0 };
	struct cell *c = text ? cell_find(d, text, &f) : NULL;
	uint64_t ms;

	if (!text)
		cells_look(d);
	if (c)
		return c->keeper ? c->ports_asked || c->asks ? ANSWER_MS : 0
				 : probe_left(d, c->id, ANSWER_MS);
	ms = probe_left(d, NULL, ANSWER_ALL_MS);
	list_for_each(c, &d->cells, link)
		if (!ms && c->keeper && c->asks)
			ms = ANSWER_MS;
	return ms;
}

/* A keeper that somebody else started while we run. */
static void socket_named(struct daemon *d, const char *name)
{
	size_t n = strlen(name);
	char id[KEEP_ID_LEN + 1];

	if (n <= 5 || n - 5 > KEEP_ID_LEN || strcmp(name + n - 5, ".sock"))
		return;
	memcpy(id, name, n - 5);
	id[n - 5] = '\0';
	if (cell_id_is_valid(id))
		keeper_step(d, id);
}

static void on_sockets(uv_poll_t *h, int status, int events)
{
	char bytes[4096] __attribute__((aligned(8)));
	struct daemon *d = h->data;
	ssize_t n = read(d->inotify, bytes, sizeof(bytes));

	(void)status;
	(void)events;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const struct inotify_event *)(bytes + at);

		at += (ssize_t)(sizeof(*e) + e->len);
		if (e->len)
			socket_named(d, e->name);
	}
}

static void sockets_watch(struct daemon *d)
{
	char path[4200];
	struct err e;
	int dir = keep_cells_dir(&e); /* makes it */

	if (dir >= 0)
		close(dir);
	snprintf(path, sizeof(path), "%s/cells", d->run);
	d->sockets.data = d;
	/* A socket gets its name last, by a rename; of logs, which are written there all the time,
	 * nothing is to be heard. */
	d->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (d->inotify >= 0 && inotify_add_watch(d->inotify, path, IN_MOVED_TO) >= 0 &&
	    uv_poll_init(&d->loop, &d->sockets, d->inotify) == 0)
		uv_poll_start(&d->sockets, UV_READABLE, on_sockets);
	else
		log_warn("cells that others start are not seen before vivd is started again");
}

int cells_open(struct daemon *d, struct err *e)
{
	list_init(&d->cells);
	list_init(&d->dead);
	list_init(&d->changed);
	uv_timer_init(&d->loop, &d->notify);
	d->notify.data = d;
	cells_read(d);
	store_compare(d);
	/* Of what was being made and has no disk either, nothing came. */
	db_run(&d->db, NULL, "DELETE FROM making", "");
	known_check(d);
	/* Watched first: what comes after the look is seen. */
	sockets_watch(d);
	if (keep_each(keeper_step, d, e) < 0)
		return -1;
	remains_sweep(d);
	return 0;
}

void cells_close(struct daemon *d)
{
	struct cell *c;

	list_for_each(c, &d->cells, link) {
		if (c->keeper)
			link_close(c->keeper);
		c->keeper = NULL;
		visit_close(c);
		sleep_ports_free(c);
		cell_timer(c, -1, NULL);
	}
	free(d->looked.list);
	d->looked.list = NULL;
	d->looked.n = 0;
	uv_close((uv_handle_t *)&d->notify, NULL);
	if (d->sockets.loop)
		uv_close((uv_handle_t *)&d->sockets, NULL);
}
