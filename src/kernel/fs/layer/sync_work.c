/* Syncs that another thread makes, while the loop goes on. docs/decisions/0027.
 *
 * A flight is a sync whose steps (sync.c) are made by the other thread, with descriptors of their
 * own: whatever becomes of files and logs meanwhile, they are of those that were meant. Others go
 * on changing the tree. A flight promises what was there when it was gathered: the log up to its
 * end then, the graves that were dug then. What comes later the host may bring to its disk too, as
 * it may at any time. There is one flight at a time for a disk; whoever syncs here, seals or writes
 * the log anew waits for it first and holds off the next (store_sync_hold). So who settles finds
 * the same log and the same active layer as who gathered.
 *
 * Many bytes are not left to the flight. They are written out before, in pieces: that changes
 * nothing that is known of the disk, needs no order, and lets the flights of others between the
 * pieces.
 *
 * A call that waits has a request; those that wait when a flight ends share the next one. A request
 * holds its inode. One whose call is gone is completed as if nothing had happened. */
#include <errno.h>
#include <poll.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/sync.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* What takes the host longer than the way to the other thread and back, by far. */
#define LONG_BYTES (4u << 20)
#define PIECE (32UL << 20)
#define PIECES_MAX 64

OBJ_TYPE(flight_type, struct flight, 64);

struct sync_request {
	struct hostwork work; /* first */
	struct list link; /* in the store's requests, or in the flight */
	struct layer *l; /* counted */
	struct lnode *n; /* counted; NULL: only the log and what goes before it */
	bool data_only;
	bool whole; /* everything */
	bool gone; /* the call is */
	/* Not of a call, and nothing is promised: who hears of its end; else NULL. */
	void (*const *told)(void);
	bool ended;
	int result;
	int fd; /* while its content is written out; else -1 */
	uint64_t at, end, step;
	uint32_t left; /* works that are on their way */
	struct waitq q;
};
OBJ_TYPE(request_type, struct sync_request, 4096);

static void request_free(struct sync_request *q)
{
	if (q->n)
		inode_put(&q->n->inode);
	fs_put(&q->l->fs);
	obj_free(&request_type, q);
}

static void request_end(struct sync_request *q, int r)
{
	list_remove(&q->link);
	q->result = r;
	q->ended = true;
	if (q->l->store->own_request == q)
		q->l->store->own_request = NULL;
	if (q->fd >= 0)
		host_close(q->fd);
	q->fd = -1;
	waitq_wake(&q->q, POLLIN);
	if (q->told)
		(*CHECKED(q->told))();
	if (q->gone || q->told)
		request_free(q);
}

static struct sync_request *flight_request(struct flight *y, uint8_t who)
{
	struct sync_request *q;

	list_for_each(q, &y->requests, link)
		if (who-- == 0)
			return q;
	return NULL;
}

/* All steps are made; or one of this kind could not, for r. */
static void flight_end(struct flight *y, enum step_kind kind, int r)
{
	struct layer *l = y->l;
	struct lstore *s = l->store;

	for (uint32_t i = 0; i < y->nsteps; i++) {
		const struct step *t = &y->steps[i];
		struct sync_request *q;

		if (t->result >= 0 || t->result == -ECANCELED)
			continue;
		if (t->kind >= STEP_ORDERED) {
			r = t->result;
			kind = t->kind;
			continue;
		}
		/* Somebody's own. */
		sync_names_are_due(y);
		q = flight_request(y, t->who);
		if (q && q->result == 0)
			q->result = t->result;
		if (q && q->n)
			q->n->content.synced = false;
	}
	sync_settle(y, kind, r);
	if (!y->here)
		sync_took(s, y->ns);
	s->flight = NULL;
	while (!list_is_empty(&y->requests)) {
		struct sync_request *q = list_first(&y->requests, struct sync_request, link);

		request_end(q, q->result < 0 ? q->result : r);
	}
	obj_free(&flight_type, y);
	fs_put(&l->fs);
}

static void flight_step_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	struct flight *y = (struct flight *)h;
	struct layer *l = y->l;

	y->steps[tag].result = (int)w->result;
	y->ns += w->ns;
	if (--y->left > 0)
		return;
	fs_get(&l->fs);
	flight_end(y, STEP_LOG, 0);
	flight_start(l);
	fs_put(&l->fs);
}

/* Those that wait, up to as many as one takes. Each whose own steps cannot be gathered ends
 * here. */
static void flight_board(struct flight *y)
{
	struct lstore *s = y->l->store;
	uint8_t who = 0;

	while (!list_is_empty(&s->requests) && who < SHARED_MAX) {
		struct sync_request *q = list_first(&s->requests, struct sync_request, link);
		uint32_t before = y->nsteps;
		int r = q->n ? sync_gather_node(y, who, q->n, q->data_only) : 0;

		if (r < 0) {
			while (!y->here && y->nsteps > before)
				host_close(y->steps[--y->nsteps].fd);
			sync_names_are_due(y);
			request_end(q, r);
			continue;
		}
		y->whole |= q->whole;
		list_remove(&q->link);
		list_append(&y->requests, &q->link);
		who++;
	}
}

static void flight_launch(struct flight *y)
{
	for (uint32_t i = 0; i < y->nsteps; i++) {
		const struct step *t = &y->steps[i];
		struct work w = { .op = t->op, .flags = WORK_CLOSE, .fd = t->fd };

		if (i == 0)
			w.flags |= WORK_FIRST;
		if (t->kind >= STEP_ORDERED)
			w.flags |= WORK_MUST;
		if (i + 1 < y->nsteps)
			w.flags |= WORK_QUIET;
		hostwork_put(&y->work, i, &w);
	}
	y->left = y->nsteps;
	hostwork_start();
}

/* Nobody is left who waits. */
static void requests_end(struct layer *l)
{
	struct lstore *s = l->store;

	s->held++;
	while (!list_is_empty(&s->requests)) {
		struct sync_request *q = list_first(&s->requests, struct sync_request, link);

		request_end(q, s->broken ? -EROFS : sync_here(l, q->n, q->data_only, q->whole));
	}
	s->held--;
}

/* Whether it is on its way: else it is done, or could not be begun. */
static bool flight_try(struct flight *y)
{
	enum step_kind kind = STEP_LOG;
	int r;

	flight_board(y);
	r = sync_gather_log(y, &kind);
	if (r < 0 && !y->here)
		while (y->nsteps > 0)
			host_close(y->steps[--y->nsteps].fd);
	if (r == 0 && !y->here && y->nsteps > 0) {
		flight_launch(y);
		return true;
	}
	flight_end(y, kind, r);
	return false;
}

/* What waits is on its way, if nothing is yet. Without room or memory for that it is done here. */
void flight_start(struct layer *l)
{
	struct lstore *s = l->store;

	fs_get(&l->fs);
	while (!s->flight && !s->held && !list_is_empty(&s->requests)) {
		struct flight *y =
			!s->broken && hostwork_has_room(STEPS_MAX) ? obj_new(&flight_type) : NULL;

		if (!y) {
			requests_end(l);
			break;
		}
		y->work.done = CALLBACK(flight_step_done);
		y->l = l;
		list_init(&y->requests);
		s->flight = y;
		fs_get(&l->fs);
		if (flight_try(y))
			break;
	}
	fs_put(&l->fs);
}

/* ---- before it: many bytes are written out ---- */

enum { OWN, OTHERS }; /* whose bytes: those whose loss breaks a promise to somebody else, too */

static void clean_next(struct sync_request *q);

static void clean_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	struct sync_request *q = (struct sync_request *)h;
	int result = (int)w->result;

	/* The host tells of it once. */
	if (result < 0 && q->result == 0)
		q->result = result;
	if (result < 0 && tag == OTHERS)
		store_break(q->l, sync_broke[STEP_ORDERED], result);
	if (w->op == WORK_SYNCFS)
		q->l->store->sweeping--;
	if (--q->left == 0)
		clean_next(q);
}

static void clean_put(struct sync_request *q, uint32_t tag, uint8_t op, int fd, unsigned flags,
		      uint64_t len)
{
	struct work w = { .op = op,
			  .flags = (uint8_t)(flags | WORK_FIRST),
			  .fd = fd,
			  .off = (int64_t)q->at,
			  .len = (int64_t)len };

	hostwork_put(&q->work, tag, &w);
	q->left++;
}

/* The next piece, or on to the flight. */
static void clean_next(struct sync_request *q)
{
	struct layer *l = q->l;

	if (q->result < 0 || q->told) {
		request_end(q, q->result);
		return;
	}
	if (q->fd >= 0 && q->at < q->end && hostwork_has_room(1)) {
		uint64_t len = MIN(q->step, q->end - q->at);

		clean_put(q, OWN, WORK_FLUSH, q->fd, 0, len);
		q->at += len;
		hostwork_start();
		return;
	}
	if (q->fd >= 0)
		host_close(q->fd);
	q->fd = -1;
	list_append(&l->store->requests, &q->link);
	flight_start(l);
}

static uint64_t bytes_due(const struct lstore *s, const struct lnode *n)
{
	if (!n || !sync_content_is_due(s, n))
		return 0;
	/* What a mapping wrote nobody counts; after the first time it is the time it took that
	 * tells. */
	return n->mapped_shared && !n->content.synced ? MAX(n->unsynced, n->inode.size)
						      : n->unsynced;
}

/* Everything of the disk, or what is ordered before the log. */
static void clean_others(struct sync_request *q)
{
	struct lstore *s = q->l->store;
	struct lnode *n;

	if (q->whole || s->norder > ORDER_MAX) {
		int fd = hostwork_has_room(1) ? host_dup(s->log.fd) : -1;

		if (fd >= 0) {
			clean_put(q, OTHERS, WORK_SYNCFS, fd, WORK_CLOSE, 0);
			s->sweeping++;
		}
		return;
	}
	if (s->order_bytes < LONG_BYTES || !hostwork_has_room(ORDER_MAX))
		return;
	list_for_each(n, &s->order, content.order) {
		int fd = layer_hostfd(&n->inode, false);

		fd = fd < 0 ? fd : host_dup(fd);
		if (fd >= 0)
			clean_put(q, OTHERS, WORK_FDATASYNC, fd, WORK_CLOSE, 0);
	}
}

static void request_begin(struct sync_request *q)
{
	struct lstore *s = q->l->store;

	if (bytes_due(s, q->n) >= LONG_BYTES && !q->whole) {
		int fd = layer_hostfd(&q->n->inode, false);

		q->fd = fd < 0 ? fd : host_dup(fd);
		q->end = q->n->inode.size;
		q->step = MAX(PIECE, ALIGN_UP(q->end / PIECES_MAX, PAGE_SIZE));
	}
	clean_others(q);
	if (q->left)
		hostwork_start();
	else
		clean_next(q);
}

/* ---- calls ---- */

void layer_sync_drop(struct sync_request *q)
{
	q->gone = true;
	if (q->ended)
		request_free(q);
}

bool layer_sync_waits(void)
{
	return task_current->call.kept.kind == KEPT_SYNC;
}

static bool may_wait(void)
{
	return task_current && task_current->call.may_wait;
}

static bool is_long(const struct lstore *s, const struct lnode *n, bool whole)
{
	return whole || s->flight || s->sweeping || !list_is_empty(&s->requests) ||
	       s->long_row >= LONG_ROW || s->norder > ORDER_MAX || s->order_bytes >= LONG_BYTES ||
	       bytes_due(s, n) >= LONG_BYTES;
}

/* NULL: no memory. */
static struct sync_request *request_make(struct layer *l, struct lnode *n, bool data_only,
					 bool whole)
{
	struct sync_request *q = obj_new(&request_type);

	if (!q)
		return NULL;
	q->work.done = CALLBACK(clean_done);
	q->l = l;
	fs_get(&l->fs);
	q->n = n;
	if (n)
		inode_get(&n->inode);
	q->data_only = data_only;
	q->whole = whole;
	q->fd = -1;
	list_init(&q->link);
	waitq_init(&q->q);
	return q;
}

static int request_new(struct layer *l, struct lnode *n, bool data_only, bool whole)
{
	struct call_kept *k = &task_current->call.kept;
	struct file *file = k->kind == KEPT_FILE ? k->file : NULL;
	struct sync_request *q =
		file || k->kind == KEPT_NOTHING ? request_make(l, n, data_only, whole) : NULL;

	if (!q)
		return sync_here(l, n, data_only, whole);
	*k = (struct call_kept){ .kind = KEPT_SYNC, .sync = { q, file } };
	request_begin(q);
	return layer_sync_again();
}

int layer_sync_again(void)
{
	struct call_kept *k = &task_current->call.kept;
	struct sync_request *q = k->sync.request;
	struct file *file = k->sync.file;
	int r = q->result;

	if (!q->ended)
		return call_wait_outside(task_current, &q->q);
	*k = (struct call_kept){ .kind = file ? KEPT_FILE : KEPT_NOTHING, .file = file };
	layer_sync_drop(q);
	return r;
}

static int sync_any(struct layer *l, struct lnode *n, bool data_only, bool whole)
{
	struct lstore *s = l->store;

	/* Whoever has several to make comes to them one after the other, so this is the one that
	 * was waited for. */
	if (may_wait() && layer_sync_waits())
		return layer_sync_again();
	if (s->broken)
		return -EROFS;
	if (s->log.fd < 0)
		return 0;
	if (may_wait() && is_long(s, n, whole))
		return request_new(l, n, data_only, whole);
	return sync_here(l, n, data_only, whole);
}

int store_sync_replacing(struct layer *l, struct lnode *n)
{
	struct lstore *s = l->store;
	int r;

	if (!s)
		return 0;
	if (may_wait() && layer_sync_waits()) {
		r = layer_sync_again();
		if (r < 0)
			return r;
	}
	if ((!s->flight && !s->sweeping) || !n->scratch || n->content.synced)
		return 0;
	/* A posted call cannot wait: it is made again as one that can. */
	if (may_wait() && task_current->call.way == WAY_POST)
		return call_wait_turn(task_current);
	return store_sync_node(l, n, true);
}

int store_sync_names(struct layer *l)
{
	return sync_any(l, NULL, false, false);
}

int store_sync_node(struct layer *l, struct lnode *n, bool data_only)
{
	return sync_any(l, n, data_only, false);
}

int store_sync_all(struct layer *l)
{
	return sync_any(l, NULL, false, true);
}

bool layer_sync_beside(struct fs *fs, void (*const *told)(void))
{
	struct layer *l = (struct layer *)fs;
	struct lstore *s = l->store;
	struct sync_request *q =
		s && !s->broken && s->log.fd >= 0 ? request_make(l, NULL, false, true) : NULL;

	if (!q)
		return false;
	q->told = told;
	request_begin(q);
	return true;
}

bool store_sync_beside(struct layer *l)
{
	struct lstore *s = l->store;

	if (s->own_request)
		return true;
	/* Nobody holds it: it goes, after a start that failed. */
	if (!l->fs.refs || s->broken || s->log.fd < 0 || !hostwork_has_room(STEPS_MAX))
		return false;
	s->own_request = request_make(l, NULL, false, false);
	if (!s->own_request)
		return false;
	s->own_request->gone = true;
	request_begin(s->own_request);
	return true;
}

bool store_order_is_long(const struct layer *l)
{
	return l->store->norder > ORDER_MAX || l->store->order_bytes >= LONG_BYTES;
}
