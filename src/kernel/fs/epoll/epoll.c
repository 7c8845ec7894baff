/* epoll: level, edge and one-shot, nested.
 *
 * Each watched descriptor is an item: a waiter on the file's poll queue. A wake-up puts the item on
 * the set's ready list and wakes the set's own queue; nothing else happens then. epoll_wait asks
 * each file on the ready list again what is true now; items that are not edge-triggered go back to
 * the end of the list while they are ready.
 *
 * An item does not hold its file: when the last reference to the file goes, the VFS tells us and
 * the item is dropped. Sets may watch sets: the depth is bounded and loops are refused when an item
 * is added, so that asking a nested set (which asks its own files) ends; the number of questions
 * for one answer is bounded as well. An exclusive item takes an event from the others behind it
 * when somebody waits in its set and was not woken yet. Left out: EPOLLWAKEUP means nothing
 * here. */
#include "kernel/fs/epoll/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define EP_MAX_NESTS 4
#define EP_PRIVATE (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)
#define EP_EXCLUSIVE_OK \
	(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)
#define EP_POLL_BUDGET 100000

struct epoll {
	struct waitq q;
	struct list items;
	struct list nested; /* of these, the items whose file is an epoll */
	struct list ready;
	struct file *file; /* its own, borrowed */
	bool told; /* its queue was woken and nobody has looked since: once is enough */
	uint64_t mark; /* generation of the last walk that came here */
	int mark_depth; /* what that walk found */
};
OBJ_TYPE(epoll_type, struct epoll, 8192);

struct epoll_item {
	struct waiter waiter;
	struct epoll *ep;
	struct file *file; /* borrowed */
	int fd;
	struct linux_epoll_event ev;
	struct list link, nested_link, ready_link, file_link, hash_link;
};
OBJ_TYPE(epoll_item_type, struct epoll_item, 65536);

#define EP_HASH 512
static struct list item_hash[EP_HASH];
static const struct file_ops epoll_fops;

static struct list *item_bucket(const struct epoll *ep, const struct file *f, int fd)
{
	uint64_t h = ((uintptr_t)ep >> 4) * 0x9e3779b97f4a7c15u;

	h = (h ^ ((uintptr_t)f >> 4)) * 0x9e3779b97f4a7c15u;
	h = (h ^ (uint32_t)fd) * 0x9e3779b97f4a7c15u;
	return &item_hash[h >> 55];
}

static struct epoll_item *item_find(const struct epoll *ep, const struct file *f, int fd)
{
	struct epoll_item *it;
	struct list *bucket = item_bucket(ep, f, fd);

	list_for_each(it, bucket, hash_link)
		if (it->ep == ep && it->file == f && it->fd == fd)
			return it;
	return NULL;
}

static void item_set_ready(struct epoll_item *it)
{
	if (list_is_empty(&it->ready_link))
		list_append(&it->ep->ready, &it->ready_link);
	if (it->ep->told)
		return;
	it->ep->told = true;
	waitq_wake(&it->ep->q, POLLIN | POLLRDNORM);
}

static void item_wake(struct waiter *w, uint32_t events)
{
	struct epoll_item *it = container_of(w, struct epoll_item, waiter);

	if (!(it->ev.events & ~EP_PRIVATE)) /* a one-shot that has shot */
		return;
	if (events && !(events & it->ev.events))
		return;
	w->took = !it->ep->told && !list_is_empty(&it->ep->q.waiters);
	item_set_ready(it);
}

static void item_free(struct epoll_item *it)
{
	waiter_remove(&it->waiter);
	list_remove(&it->link);
	list_remove(&it->nested_link);
	list_remove(&it->ready_link);
	list_remove(&it->file_link);
	list_remove(&it->hash_link);
	obj_free(&epoll_item_type, it);
}

/* ---- readiness ---- */

static uint32_t poll_budget; /* questions that the current answer may still ask */
static int poll_nesting;

static uint32_t item_poll(struct epoll_item *it)
{
	if (!poll_budget)
		return it->ev.events & POLLIN;
	poll_budget--;
	return file_poll(it->file) & it->ev.events & ~EP_PRIVATE;
}

static uint32_t epoll_poll(struct file *f)
{
	struct epoll *ep = f->priv;
	struct epoll_item *it, *tmp;
	uint32_t ready = 0;

	ep->told = false;
	if (!poll_nesting)
		poll_budget = EP_POLL_BUDGET;
	if (poll_nesting > EP_MAX_NESTS)
		return 0;
	poll_nesting++;
	list_for_each_safe(it, tmp, &ep->ready, ready_link) {
		if (item_poll(it)) {
			ready = POLLIN | POLLRDNORM;
			break;
		}
		list_remove(&it->ready_link);
	}
	poll_nesting--;
	return ready;
}

static struct waitq *epoll_poll_q(struct file *f)
{
	return &((struct epoll *)f->priv)->q;
}

int epoll_collect(struct epoll *ep, struct task *t, uaddr_t addr, uint32_t max)
{
	static struct linux_epoll_event out[EPOLL_BATCH];
	static struct epoll_item *from[EPOLL_BATCH];
	struct epoll_item *it, *tmp;
	uint32_t n = 0;

	ep->told = false;
	max = MIN(max, EPOLL_BATCH);
	poll_budget = EP_POLL_BUDGET;
	poll_nesting = 1;
	list_for_each_safe(it, tmp, &ep->ready, ready_link) {
		if (n == max)
			break;
		uint32_t events = item_poll(it);
		if (!events) {
			list_remove(&it->ready_link);
			continue;
		}
		out[n].events = events;
		out[n].data = it->ev.data;
		from[n++] = it;
	}
	poll_nesting = 0;
	if (!n)
		return 0;
	if (guest_write(t->tid, addr, out, n * sizeof(out[0])) < 0)
		return -EFAULT;
	for (uint32_t i = 0; i < n; i++) {
		it = from[i];
		list_remove(&it->ready_link);
		if (it->ev.events & EPOLLONESHOT)
			it->ev.events &= EP_PRIVATE;
		else if (!(it->ev.events & EPOLLET))
			list_append(&ep->ready, &it->ready_link);
	}
	return (int)n;
}

/* ---- nesting ---- */

static uint64_t mark_now;

struct chain_frame {
	struct epoll *ep;
	struct list *head, *at; /* the next item of ep to look at */
	int best;
};

static void chain_frame_init(struct chain_frame *c, struct epoll *ep, bool down)
{
	c->ep = ep;
	c->head = down ? &ep->nested : &ep->file->epoll_links;
	c->at = c->head->next;
	c->best = 0;
}

/* The longest chain of sets that starts at ep and goes down (what it watches) or up (what watches
 * it), not counting ep itself; EP_MAX_NESTS + 1 when it is longer than allowed or meets avoid. Each
 * set is visited once; the stack is as deep as the chain may be. */
static int chain_depth(struct epoll *ep, bool down, const struct epoll *avoid)
{
	struct chain_frame stack[EP_MAX_NESTS + 2];
	int n = 0;

	mark_now++;
	chain_frame_init(&stack[0], ep, down);
	for (;;) {
		struct chain_frame *top = &stack[n];
		if (top->at == top->head) {
			top->ep->mark = mark_now;
			top->ep->mark_depth = top->best;
			if (n == 0)
				return top->best;
			n--;
			stack[n].best = MAX(stack[n].best, top->best + 1);
			continue;
		}
		struct epoll_item *it = down ? list_entry(top->at, struct epoll_item, nested_link)
					     : list_entry(top->at, struct epoll_item, file_link);
		struct epoll *other = down ? it->file->priv : it->ep;
		top->at = top->at->next;
		if (other == avoid)
			return EP_MAX_NESTS + 1;
		if (other->mark == mark_now) {
			top->best = MAX(top->best, other->mark_depth + 1);
			continue;
		}
		if (n > EP_MAX_NESTS)
			return EP_MAX_NESTS + 1;
		chain_frame_init(&stack[++n], other, down);
	}
}

/* ---- the operations ---- */

int epoll_add(struct file *ef, struct file *target, int fd, const struct linux_epoll_event *ev)
{
	struct epoll *ep = ef->priv, *inner = epoll_of(target);
	struct epoll_item *it;
	struct waitq *q;

	if (ev->events & EPOLLEXCLUSIVE && (inner || ev->events & ~EP_EXCLUSIVE_OK))
		return -EINVAL;
	if (item_find(ep, target, fd))
		return -EEXIST;
	if (inner) {
		int below = inner == ep ? EP_MAX_NESTS + 1 : chain_depth(inner, true, ep);
		int above = below > EP_MAX_NESTS ? 0 : chain_depth(ep, false, inner);
		if (below + 1 + above > EP_MAX_NESTS)
			return -ELOOP;
	}
	it = obj_new(&epoll_item_type);
	if (!it)
		return -ENOSPC;
	it->ep = ep;
	it->file = target;
	it->fd = fd;
	it->ev = *ev;
	it->ev.events |= EPOLLERR | EPOLLHUP;
	waiter_init(&it->waiter, it->ev.events & ~EP_PRIVATE, item_wake);
	it->waiter.exclusive = ev->events & EPOLLEXCLUSIVE;
	list_init(&it->nested_link);
	list_init(&it->ready_link);
	list_append(&ep->items, &it->link);
	if (inner)
		list_append(&ep->nested, &it->nested_link);
	list_append(&target->epoll_links, &it->file_link);
	list_append(item_bucket(ep, target, fd), &it->hash_link);
	q = file_poll_q(target);
	if (q)
		waitq_add(q, &it->waiter);
	if (file_poll(target) & it->ev.events & ~EP_PRIVATE)
		item_set_ready(it);
	return 0;
}

struct file *epoll_watched(const struct epoll *ep, int fd, uint32_t toff)
{
	struct epoll_item *it;

	list_for_each(it, &ep->items, link)
		if (it->fd == fd && toff-- == 0)
			return it->file;
	return NULL;
}

int epoll_mod(struct file *ef, struct file *target, int fd, const struct linux_epoll_event *ev)
{
	struct epoll *ep = ef->priv;
	struct epoll_item *it = item_find(ep, target, fd);

	if (!it)
		return -ENOENT;
	if ((it->ev.events | ev->events) & EPOLLEXCLUSIVE)
		return -EINVAL;
	it->ev = *ev;
	it->ev.events |= EPOLLERR | EPOLLHUP;
	it->waiter.events = it->ev.events & ~EP_PRIVATE;
	if (file_poll(target) & it->ev.events & ~EP_PRIVATE)
		item_set_ready(it);
	return 0;
}

int epoll_del(struct file *ef, struct file *target, int fd)
{
	struct epoll_item *it = item_find(ef->priv, target, fd);

	if (!it)
		return -ENOENT;
	item_free(it);
	return 0;
}

/* ---- the open file ---- */

static int64_t epoll_seek(struct file *f, int64_t off, int whence)
{
	(void)off, (void)whence;
	return f->pos;
}

static void epoll_release(struct file *f)
{
	struct epoll *ep = f->priv;
	struct epoll_item *it, *tmp;

	list_for_each_safe(it, tmp, &ep->items, link)
		item_free(it);
	waitq_fini(&ep->q);
	obj_free(&epoll_type, ep);
}

static void epoll_fdinfo(struct file *f, struct uio *u)
{
	struct epoll *ep = f->priv;
	struct epoll_item *it;
	char line[160];

	list_for_each(it, &ep->items, link) {
		int n = snprintf(line, sizeof(line),
				 "tfd: %8d events: %8x data: %16llx  pos:%lli ino:%llx sdev:%x\n",
				 it->fd, it->ev.events, (unsigned long long)it->ev.data,
				 (long long)it->file->pos, (unsigned long long)it->file->inode->ino,
				 it->file->inode->fs ? it->file->inode->fs->dev : 0);
		if (uio_put(u, line, (size_t)n) < n)
			return;
	}
}

static const struct file_ops epoll_fops = {
	.seek = epoll_seek,
	.poll = epoll_poll,
	.poll_q = epoll_poll_q,
	.release = epoll_release,
	.fdinfo = epoll_fdinfo,
};

struct epoll *epoll_of(const struct file *f)
{
	return f->ops == &epoll_fops ? f->priv : NULL;
}

int epoll_make(struct file **ret_)
{
	struct epoll *ep = obj_new(&epoll_type);
	int r;

	if (!ep)
		return -ENFILE;
	if (!item_hash[0].next) {
		for (uint32_t i = 0; i < EP_HASH; i++)
			list_init(&item_hash[i]);
	}
	waitq_init(&ep->q);
	list_init(&ep->items);
	list_init(&ep->nested);
	list_init(&ep->ready);
	r = file_new_anon("anon_inode:[eventpoll]", 0600, &epoll_fops, ep, O_RDWR, ret_);
	if (r < 0) {
		obj_free(&epoll_type, ep);
		return r;
	}
	ep->file = *ret_;
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	return 0;
}

void epoll_file_gone(struct file *f)
{
	while (!list_is_empty(&f->epoll_links))
		item_free(list_first(&f->epoll_links, struct epoll_item, file_link));
}
