/* File locks: flock, POSIX byte ranges, open file descriptions' byte ranges.
 *
 * An inode that has locks has a flock_list: a list, a set of ranges and the queue on which all that
 * want one wait. It goes away with its last lock, which wakes the waiters; they run their call
 * again and look anew. An owner is a number: the lock_id of the file for flock and OFD locks, of
 * the table of descriptors for POSIX locks. The locks of one owner never overlap.
 *
 * Deadlocks are looked for as Linux does: only among POSIX locks, along at most ten waiting
 * processes. Who waits for whom is kept in the task as a process number, which cannot dangle. Left
 * out: leases and mandatory locks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/lock.h"
#include "kernel/vfs/ranges.h"

#define DEADLOCK_STEPS 10

enum lock_kind { LOCK_FLOCK, LOCK_POSIX, LOCK_OFD };

struct lock {
	struct list link; /* a flock's, in flocks */
	struct range_node at; /* others', in ranges */
	enum lock_kind kind;
	bool exclusive;
	uint64_t owner;
	pid_t pid;
};

struct flock_list {
	struct list flocks;
	struct range_set ranges;
	struct waitq q;
};

OBJ_TYPE(lock_type, struct lock, 65536);
OBJ_TYPE(flock_list_type, struct flock_list, 0);

static struct flock_list *locks_of(struct inode *ino)
{
	if (ino->locks)
		return ino->locks;
	struct flock_list *l = obj_new(&flock_list_type);
	if (!l)
		return NULL;
	list_init(&l->flocks);
	waitq_init(&l->q);
	return ino->locks = l;
}

/* After a change: wakes those who wait, and drops the lists when they are empty. */
static void locks_changed(struct inode *ino)
{
	struct flock_list *l = ino->locks;

	if (!l)
		return;
	if (!list_is_empty(&l->flocks) || l->ranges.root) {
		waitq_wake(&l->q, POLLOUT);
		return;
	}
	ino->locks = NULL;
	waitq_fini(&l->q);
	obj_free(&flock_list_type, l);
}

static void lock_free(struct lock *lk)
{
	list_remove(&lk->link);
	obj_free(&lock_type, lk);
}

struct waitq *lock_waitq(struct inode *ino)
{
	return ino->locks ? &ino->locks->q : NULL;
}

/* ---- flock ---- */

static struct lock *flock_find(struct flock_list *l, uint64_t owner)
{
	struct lock *lk;

	list_for_each(lk, &l->flocks, link)
		if (lk->owner == owner)
			return lk;
	return NULL;
}

int lock_flock(struct file *f, int op)
{
	struct inode *ino = f->inode;
	int want = op & ~LOCK_NB;
	struct lock *own = ino->locks ? flock_find(ino->locks, f->lock_id) : NULL;
	struct lock *lk;

	if (want != LOCK_SH && want != LOCK_EX && want != LOCK_UN)
		return -EINVAL;
	if (own && want != LOCK_UN && own->exclusive == (want == LOCK_EX))
		return 0;
	if (want == LOCK_UN) {
		if (own) {
			lock_free(own);
			locks_changed(ino);
		}
		return 0;
	}
	struct lock *fresh = obj_new(&lock_type);
	struct flock_list *l = fresh ? locks_of(ino) : NULL;
	if (!l) {
		obj_free(&lock_type, fresh);
		return -ENOLCK;
	}
	bool conflict = false;
	list_for_each(lk, &l->flocks, link)
		conflict |= (lk->exclusive || want == LOCK_EX) && lk != own;
	if (own)
		lock_free(own);
	if (conflict) {
		obj_free(&lock_type, fresh);
		if (own)
			waitq_wake(&l->q, POLLOUT);
		return -EAGAIN;
	}
	fresh->kind = LOCK_FLOCK;
	fresh->exclusive = want == LOCK_EX;
	fresh->owner = f->lock_id;
	list_append(&l->flocks, &fresh->link);
	if (own)
		waitq_wake(&l->q, POLLOUT); /* it may have been a downgrade */
	return 0;
}

/* ---- ranges ---- */

int lock_range_init(struct lock_range *r, int type, int64_t base, int64_t start, int64_t len)
{
	int64_t from, to;

	if (__builtin_add_overflow(base, start, &from))
		return -EOVERFLOW;
	if (from < 0)
		return -EINVAL;
	to = INT64_MAX;
	if (len > 0) {
		if (__builtin_add_overflow(from, len - 1, &to))
			return -EOVERFLOW;
	} else if (len < 0) {
		if (__builtin_add_overflow(from, len, &to) || to < 0)
			return -EINVAL;
		int64_t swap = from - 1;
		from = to;
		to = swap;
	}
	if (type != F_RDLCK && type != F_WRLCK && type != F_UNLCK)
		return -EINVAL;
	*r = (struct lock_range){ .type = type, .start = (uint64_t)from, .end = (uint64_t)to };
	return 0;
}

struct owner {
	enum lock_kind kind;
	uint64_t id;
};

static struct owner owner_of(const struct file *f, const struct fdtable *ft, bool ofd)
{
	return ofd ? (struct owner){ LOCK_OFD, f->lock_id }
		   : (struct owner){ LOCK_POSIX, ft->lock_id };
}

static bool lock_is_of(const struct lock *lk, const struct owner *o)
{
	return lk->kind == o->kind && lk->owner == o->id;
}

static struct lock *lock_of(struct range_node *n)
{
	return n ? container_of(n, struct lock, at) : NULL;
}

static void range_free(struct flock_list *l, struct lock *lk)
{
	range_remove(&l->ranges, &lk->at);
	obj_free(&lock_type, lk);
}

static struct lock *range_conflict(struct flock_list *l, const struct owner *o,
				   const struct lock_range *r)
{
	struct range_node *n = range_first(&l->ranges, r->start);

	for (; n && n->start <= r->end; n = range_next(n, r->start)) {
		struct lock *lk = lock_of(n);

		/* To ask for an unlock is to ask for one's own. */
		if (lock_is_of(lk, o) == (r->type == F_UNLCK) &&
		    (lk->exclusive || r->type != F_RDLCK))
			return lk;
	}
	return NULL;
}

/* Takes [start, end] out of the owner's locks. A lock that sticks out at both ends is split with
 * *spare, which is then NULL. */
static void range_cut(struct flock_list *l, const struct owner *o, uint64_t start, uint64_t end,
		      struct lock **spare)
{
	struct range_node *n = range_first(&l->ranges, start), *next;

	for (; n && n->start <= end; n = next) {
		struct lock *lk = lock_of(n), *rest = lk;
		uint64_t from = n->start, to = n->end;

		next = range_next(n, start);
		if (!lock_is_of(lk, o))
			continue;
		if (from >= start && to <= end) {
			range_free(l, lk);
			continue;
		}
		range_remove(&l->ranges, n);
		if (from < start) {
			n->end = start - 1;
			range_add(&l->ranges, n);
			rest = NULL;
		}
		if (to > end) {
			if (!rest) {
				rest = *spare;
				*spare = NULL;
				*rest = *lk;
			}
			rest->at.start = end + 1;
			rest->at.end = to;
			range_add(&l->ranges, &rest->at);
			break; /* nothing else of the owner can overlap */
		}
	}
}

/* Grows fresh over the owner's locks of the same kind that touch it: one on each side at most. */
static void range_merge(struct flock_list *l, const struct owner *o, struct lock *fresh)
{
	uint64_t start = fresh->at.start, end = fresh->at.end;
	uint64_t from = start ? start - 1 : 0;
	struct range_node *n = range_first(&l->ranges, from), *next;

	for (; n && n->start <= end + 1; n = next) {
		struct lock *lk = lock_of(n);

		next = range_next(n, from);
		if (!lock_is_of(lk, o) || lk->exclusive != fresh->exclusive)
			continue;
		if (n->end + 1 == start)
			fresh->at.start = n->start;
		else if (end + 1 == n->start)
			fresh->at.end = n->end;
		else
			continue;
		range_free(l, lk);
	}
}

void lock_posix_get(struct file *f, const struct fdtable *ft, bool ofd, struct lock_range *r)
{
	struct owner o = owner_of(f, ft, ofd);
	struct lock *lk = f->inode->locks ? range_conflict(f->inode->locks, &o, r) : NULL;

	if (!lk) {
		r->type = F_UNLCK;
		return;
	}
	r->type = lk->exclusive ? F_WRLCK : F_RDLCK;
	r->start = lk->at.start;
	r->end = lk->at.end;
	r->pid = lk->kind == LOCK_OFD ? -1 : lk->pid;
}

/* The process that one of p's threads waits for in F_SETLKW; 0: none does. */
static pid_t proc_waits_for(const struct proc *p)
{
	struct task *t;

	list_for_each(t, &p->threads, thread_link)
		if (t->locks_waiting && t->call.parked && t->call.nr == SYS_fcntl)
			return (pid_t)(uintptr_t)t->locks_waiting;
	return 0;
}

static bool is_deadlock(const struct proc *self, pid_t holder)
{
	for (int i = 0; i < DEADLOCK_STEPS && holder; i++) {
		if (holder == self->pid)
			return true;
		struct proc *p = proc_find(holder);
		if (!p)
			return false;
		holder = proc_waits_for(p);
	}
	return false;
}

static int range_blocked(struct task *t, const struct lock *blocker, const struct owner *o,
			 bool wait)
{
	if (!wait || o->kind != LOCK_POSIX || blocker->kind != LOCK_POSIX)
		return -EAGAIN;
	if (is_deadlock(t->proc, blocker->pid))
		return -EDEADLK;
	t->locks_waiting = (void *)(uintptr_t)blocker->pid;
	return -EAGAIN;
}

int lock_posix_set(struct file *f, struct task *t, bool ofd, const struct lock_range *r, bool wait)
{
	struct inode *ino = f->inode;
	struct owner o = owner_of(f, t->files, ofd);

	t->locks_waiting = NULL;
	if (r->type == F_UNLCK && !ino->locks)
		return 0;
	struct lock *blocker = NULL;
	if (r->type != F_UNLCK && ino->locks)
		blocker = range_conflict(ino->locks, &o, r);
	if (blocker)
		return range_blocked(t, blocker, &o, wait);
	/* All that may be needed, before anything changes. */
	struct lock *spare = obj_new(&lock_type), *fresh = NULL;
	if (r->type != F_UNLCK)
		fresh = obj_new(&lock_type);
	struct flock_list *l = spare && (fresh || r->type == F_UNLCK) ? locks_of(ino) : NULL;
	if (!l) {
		obj_free(&lock_type, spare);
		obj_free(&lock_type, fresh);
		return -ENOLCK;
	}
	range_cut(l, &o, r->start, r->end, &spare);
	if (fresh) {
		*fresh = (struct lock){
			.kind = o.kind,
			.exclusive = r->type == F_WRLCK,
			.owner = o.id,
			.at = { .start = r->start, .end = r->end },
			.pid = t->proc->pid,
		};
		range_merge(l, &o, fresh);
		range_add(&l->ranges, &fresh->at);
	}
	obj_free(&lock_type, spare);
	locks_changed(ino);
	return 0;
}

/* ---- release ---- */

static void ranges_release(struct flock_list *l, const struct owner *o)
{
	struct range_node *n = range_first(&l->ranges, 0), *next;

	for (; n; n = next) {
		next = range_next(n, 0);
		if (lock_is_of(lock_of(n), o))
			range_free(l, lock_of(n));
	}
}

void locks_release_file(struct file *f)
{
	struct owner o = { LOCK_OFD, f->lock_id };

	if (!f->inode->locks)
		return;
	struct lock *lk = flock_find(f->inode->locks, f->lock_id);
	if (lk)
		lock_free(lk);
	ranges_release(f->inode->locks, &o);
	locks_changed(f->inode);
}

void locks_release_posix(struct inode *ino, const struct fdtable *ft)
{
	struct owner o = { LOCK_POSIX, ft->lock_id };

	if (!ino->locks)
		return;
	ranges_release(ino->locks, &o);
	locks_changed(ino);
}
