/* Bringing a disk to the host's disk. docs/decisions/0017 says what is promised.
 *
 * One sync is a row of steps, each a call of the host: contents, the directories with their names,
 * what is ordered before the log, the log. Gathering finds them, settling does what follows from
 * their results. Between the two they are made here, one by one (what is expected to be short, and
 * all that cannot wait), or by another thread (sync_work.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "kernel/fs/layer/sync.h"
#include "kernel/vfs/inode.h"

/* Much more than the way to another thread and back. */
#define LONG_NS (4 * NSEC_PER_SEC / 1000)

/* ---- steps ---- */

static int work_here(uint8_t op, int fd)
{
	return op == WORK_SYNCFS ? host_syncfs(fd) : host_fsync(fd, op == WORK_FDATASYNC);
}

/* Those that were found so far, and from now on each as it is found. */
static int steps_make(struct flight *y)
{
	int r = 0;

	y->here = true;
	for (uint32_t i = 0; i < y->nsteps; i++) {
		struct step *t = &y->steps[i];

		t->result = r < 0 ? -ECANCELED : work_here(t->op, t->fd);
		if (t->kind >= STEP_ORDERED && t->result < 0 && r == 0)
			r = t->result;
		host_close(t->fd);
	}
	return r;
}

/* own: fd is the step's. */
static int step_add(struct flight *y, enum step_kind kind, uint8_t who, uint8_t op, int fd,
		    bool own)
{
	int mine, r;

	if (fd < 0)
		return fd;
	if (y->here) {
		r = work_here(op, fd);
		if (own)
			host_close(fd);
		return r;
	}
	mine = own ? fd : host_dup(fd);
	if (mine < 0 || y->nsteps == STEPS_MAX) {
		/* No descriptor is left: it is made here after all, in its order. */
		r = steps_make(y);
		if (r == 0)
			r = work_here(op, fd);
		if (mine >= 0)
			host_close(mine);
		return r;
	}
	y->steps[y->nsteps++] = (struct step){ .kind = kind, .op = op, .who = who, .fd = mine };
	return 0;
}

static int step_dir(struct flight *y, enum step_kind kind, uint8_t who, int dir, const char *path)
{
	return step_add(y, kind, who, WORK_FSYNC,
			host_open_beneath(dir, path, O_RDONLY | O_DIRECTORY, 0), true);
}

/* The name of a content is there, too. Other new files may miss theirs: they count as empty
 * then. */
static int step_names(struct flight *y, enum step_kind kind, uint8_t who, uint64_t number)
{
	struct lstore *s = y->l->store;
	unsigned xx = number & 0xff;
	uint64_t bit = 1ULL << xx % 64;
	char name[8];
	int r = 0;

	if (s->dirs_dirty[xx / 64] & bit) {
		snprintf(name, sizeof(name), "c/%02x", xx);
		r = step_dir(y, kind, who, store_layer_fd(s, store_active(s)), name);
		if (r < 0)
			return r;
		s->dirs_dirty[xx / 64] &= ~bit;
		y->dirs[xx / 64] |= bit;
	}
	if (s->c_dirty) {
		r = step_dir(y, kind, who, store_layer_fd(s, store_active(s)), "c");
		if (r < 0)
			return r;
		s->c_dirty = false;
		y->c = true;
	}
	return 0;
}

/* The names of a content in a layer that was sealed before it was synced. */
static int step_sealed_names(struct flight *y, uint8_t who, uint32_t where, uint64_t number)
{
	int dir = store_layer_fd(y->l->store, where), r;
	char name[8];

	if (dir < 0)
		return dir;
	snprintf(name, sizeof(name), "c/%02x", (unsigned)(number & 0xff));
	r = step_dir(y, STEP_NAME, who, dir, name);
	return r < 0 ? r : step_dir(y, STEP_NAME, who, dir, "c");
}

/* ---- gathering ---- */

bool sync_content_is_due(const struct lstore *s, const struct lnode *n)
{
	return inode_is_reg(&n->inode) && n->own_content && n->scratch &&
	       (n->content.where == store_active(s) ||
		(!n->content.synced && n->content.epoch == s->epoch));
}

int sync_gather_node(struct flight *y, uint8_t who, struct lnode *n, bool data_only)
{
	struct lstore *s = y->l->store;
	struct lcontent *c = &n->content;
	int r;

	if (!sync_content_is_due(s, n))
		return 0;
	r = step_add(y, STEP_CONTENT, who, data_only ? WORK_FDATASYNC : WORK_FSYNC,
		     layer_hostfd(&n->inode, false), false);
	if (r == 0)
		r = c->where == store_active(s) ? step_names(y, STEP_NAME, who, n->scratch)
						: step_sealed_names(y, who, c->where, n->scratch);
	if (r == 0) {
		c->synced = true; /* from now on it may be on the host's disk */
		n->unsynced = 0;
	}
	return r;
}

static int gather_order(struct flight *y)
{
	struct lstore *s = y->l->store;
	struct lnode *n, *tmp;
	int r = 0;

	list_for_each_safe(n, tmp, &s->order, content.order) {
		list_remove(&n->content.order);
		s->norder--;
		if (!n->scratch || n->content.where != store_active(s))
			continue;
		r = step_add(y, STEP_ORDERED, 0, WORK_FDATASYNC, layer_hostfd(&n->inode, false),
			     false);
		if (r == 0)
			r = step_names(y, STEP_ORDERED, 0, n->scratch);
		if (r < 0)
			break;
		n->content.synced = true;
		n->unsynced = 0;
	}
	s->order_bytes = 0;
	return r;
}

/* All at once: the host then has one transaction to write, not one for each. */
static int gather_birth(struct flight *y)
{
	struct lstore *s = y->l->store;
	int r = step_add(y, STEP_BIRTH, 0, WORK_FDATASYNC, s->log.fd, false);

	if (r == 0)
		r = step_add(y, STEP_BIRTH, 0, WORK_FSYNC, store_layer_fd(s, store_active(s)),
			     false);
	if (r == 0)
		r = step_dir(y, STEP_BIRTH, 0, s->data_fd, ".");
	y->bears = r == 0;
	return r;
}

static void gather_forget_order(struct lstore *s)
{
	struct lnode *n, *tmp;

	list_for_each_safe(n, tmp, &s->order, content.order)
		list_remove(&n->content.order);
	s->norder = 0;
	s->order_bytes = 0;
}

int sync_gather_log(struct flight *y, enum step_kind *ret_kind)
{
	struct lstore *s = y->l->store;
	int r;

	y->log_end = s->log.end;
	y->graves = s->ngraves;
	if (y->whole || s->norder > ORDER_MAX) {
		/* The contents first: the log is not to be on the disk before them. */
		*ret_kind = STEP_WHOLE;
		y->whole = true;
		r = step_add(y, STEP_WHOLE, 0, WORK_SYNCFS, s->log.fd, false);
		if (r < 0)
			return r;
		gather_forget_order(s);
		s->epoch++;
		for (int i = 0; i < 4; i++)
			y->dirs[i] |= s->dirs_dirty[i];
		memset(s->dirs_dirty, 0, sizeof(s->dirs_dirty));
		y->c |= s->c_dirty;
		s->c_dirty = false;
		y->bears = s->unborn;
		return 0;
	}
	*ret_kind = STEP_ORDERED;
	r = gather_order(y);
	if (r < 0)
		return r;
	*ret_kind = s->unborn ? STEP_BIRTH : STEP_LOG;
	if (s->unborn)
		return gather_birth(y);
	return s->log.synced < s->log.end
		       ? step_add(y, STEP_LOG, 0, WORK_FDATASYNC, s->log.fd, false)
		       : 0;
}

/* ---- afterwards ---- */

const char *const sync_broke[] = {
	[STEP_ORDERED] = "the host could not write a copied file",
	[STEP_WHOLE] = "the host could not write",
	[STEP_BIRTH] = "the host could not write the name of the log",
	[STEP_LOG] = "the host could not write the log",
};

void sync_names_are_due(struct flight *y)
{
	struct lstore *s = y->l->store;

	for (int i = 0; i < 4; i++)
		s->dirs_dirty[i] |= y->dirs[i];
	s->c_dirty |= y->c;
}

void sync_settle(struct flight *y, enum step_kind kind, int r)
{
	struct layer *l = y->l;
	struct lstore *s = l->store;

	if (r < 0) {
		sync_names_are_due(y);
		store_break(l, sync_broke[kind], r);
		return;
	}
	if (y->bears)
		s->unborn = false;
	s->log.synced = MAX(s->log.synced, y->log_end);
	store_bury(l, y->graves);
}

void sync_took(struct lstore *s, int64_t ns)
{
	s->long_row = ns < LONG_NS ? 0 : MIN(s->long_row + 1, LONG_ROW);
}

/* ---- here ---- */

void store_sync_hold(struct layer *l)
{
	l->store->held++;
	while (l->store->flight && hostwork_wait())
		;
}

void store_sync_release(struct layer *l)
{
	if (--l->store->held == 0)
		flight_start(l);
}

/* The steps are not kept, so their places stay as they are. */
static void here_init(struct flight *y, struct layer *l)
{
	memset(y, 0, offsetof(struct flight, steps));
	y->l = l;
	y->here = true;
}

int sync_here(struct layer *l, struct lnode *n, bool data_only, bool whole)
{
	struct flight y;
	enum step_kind kind = STEP_LOG;
	int64_t began;
	int r = 0;

	here_init(&y, l);
	y.whole = whole;
	store_sync_hold(l);
	began = host_clock(CLOCK_MONOTONIC);
	if (l->store->broken)
		r = -EROFS;
	else if (n)
		r = sync_gather_node(&y, 0, n, data_only);
	if (r < 0) {
		sync_names_are_due(&y);
	} else {
		r = sync_gather_log(&y, &kind);
		sync_settle(&y, kind, r);
	}
	sync_took(l->store, host_clock(CLOCK_MONOTONIC) - began);
	store_sync_release(l);
	return r;
}

int store_bear(struct layer *l)
{
	struct lstore *s = l->store;
	struct flight y;
	int r = 0;

	if (!s->unborn || s->broken)
		return 0;
	store_sync_hold(l);
	if (s->unborn && !s->broken) {
		here_init(&y, l);
		y.log_end = s->log.end;
		r = gather_birth(&y);
		sync_settle(&y, STEP_BIRTH, r);
	}
	store_sync_release(l);
	return r;
}

int log_sync(struct layer *l)
{
	struct lstore *s = l->store;

	if (s->broken)
		return -EROFS;
	return s->log.fd < 0 ? 0 : sync_here(l, NULL, false, false);
}

int store_sync_all_here(struct layer *l)
{
	return sync_here(l, NULL, false, true);
}
