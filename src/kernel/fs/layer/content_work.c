/* Long works of the host at the content of one file, made by the other thread
 * (docs/decisions/0027): copying it for the first change, and cutting it short.
 *
 * A content has one at a time. Whoever wants to change the content meanwhile waits: the host would
 * hold the change up, too, and the loop with it. Readers go on; they find one size or the other.
 * The work holds its inode and has descriptors of its own, so it need not know what becomes of its
 * caller: a call that waits is run again from its start and finds that the content is as it should
 * be. If the host has failed, the call finds the content as it was, and a mark that says that this
 * is for the loop to do: that meets the same error and tells the caller.
 *
 * A seal waits for all of them: what is sealed changes no more. */
#include <errno.h>
#include <poll.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* Copies go in steps, as syncs of others are to come between. */
struct content_limits content_limits = { .piece = 2u << 20, .copy = 32u << 20, .cut = 16u << 20 };

struct content_work {
	struct hostwork work; /* first */
	struct lnode *n; /* counted, and its file system */
	uint64_t copied; /* when it is done; 0: it cuts */
};
OBJ_TYPE(content_work_type, struct content_work, 1024);

/* All who wait, for whichever: there are few. */
static struct waitq *working(void)
{
	static struct waitq q;
	static bool ready;

	if (!ready)
		waitq_init(&q);
	ready = true;
	return &q;
}

/* Whether the call that runs can wait, and is run again. */
static bool may_wait(void)
{
	return task_current && task_current->call.may_wait;
}

int content_settle(struct lnode *n)
{
	if (n->beside && may_wait())
		return call_wait_outside(task_current, working());
	while (n->beside && hostwork_wait())
		;
	return 0;
}

int content_later(void)
{
	return call_wait_turn(task_current);
}

bool content_may_wait(void)
{
	return may_wait();
}

void content_settle_all(struct layer *l)
{
	while (l->store->working && hostwork_wait())
		;
}

static void work_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	struct content_work *c = (struct content_work *)h;
	struct lnode *n = c->n;
	struct layer *l = layer_of(n);

	(void)tag;
	n->beside = NULL;
	l->store->working--;
	if (w->result < 0)
		n->beside_failed = true;
	if (c->copied && w->result < 0) {
		store_content_unlink(l->store, n->copied_in, n->id, n->copied);
		n->copied = 0;
	} else if (c->copied) {
		n->copied = c->copied;
	} else {
		n->wrote = true;
		lnode_recount(n);
	}
	obj_free(&content_work_type, c);
	waitq_wake(working(), POLLIN);
	inode_put(&n->inode);
	fs_put(&l->fs);
}

/* Takes the descriptors of w. 0: it could not be begun. */
static int work_begin(struct lnode *n, struct work *w, uint64_t copied)
{
	struct layer *l = layer_of(n);
	struct content_work *c = hostwork_has_room(1) ? obj_new(&content_work_type) : NULL;

	if (!c) {
		host_close(w->fd);
		if (w->op == WORK_COPY)
			host_close(w->to);
		return 0;
	}
	c->work.done = CALLBACK(work_done);
	c->n = n;
	c->copied = copied;
	inode_get(&n->inode);
	fs_get(&l->fs);
	n->beside = c;
	l->store->working++;
	w->flags = WORK_FIRST | WORK_CLOSE;
	hostwork_put(&c->work, 0, w);
	hostwork_start();
	return content_settle(n);
}

/* Whether the call may wait, and has not come here before for the same. A posted call has no next
 * run: it is made again. */
static int work_may_begin(struct lnode *n)
{
	if (!layer_of(n)->store || n->beside_failed || !may_wait())
		return 0;
	if (task_current->call.way == WAY_POST)
		return content_later();
	return 1;
}

int content_cut_beside(struct lnode *n, int fd, uint64_t size)
{
	struct work w = { .op = WORK_CUT, .len = (int64_t)size };
	int r;

	if (size >= n->inode.size || MIN(n->inode.size - size, n->charged) < content_limits.cut)
		return 0;
	r = work_may_begin(n);
	n->beside_failed = false;
	if (r <= 0)
		return r;
	w.fd = host_dup(fd);
	return w.fd < 0 ? 0 : work_begin(n, &w, 0);
}

int content_copy_beside(struct lnode *n, int in, int out, uint64_t end)
{
	uint64_t to = MIN(end, n->copied + content_limits.copy);
	struct work w = { .op = WORK_COPY,
			  .off = (int64_t)n->copied,
			  .len = (int64_t)(to - n->copied) };
	int r = work_may_begin(n);

	if (r <= 0)
		return r;
	w.fd = host_dup(in);
	w.to = w.fd < 0 ? w.fd : host_dup(out);
	if (w.to < 0) {
		if (w.fd >= 0)
			host_close(w.fd);
		return 0;
	}
	return work_begin(n, &w, to);
}
