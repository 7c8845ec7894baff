/* Tables of IPC objects. A number is a place in the table and a count of how often the places were
 * all gone through, so that an old number is not taken for a new object. Keys are found by a walk:
 * there are few. */
#include "kernel/ipc/ipc.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ipc.h>

#include "base/arena.h"
#include "kernel/ipc/sem.h"
#include "kernel/ipc/shm.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"

#define SEQ_STEP 32768

struct ipc_obj *ipc_at(const struct ipc_table *tb, int place)
{
	return tb->slots && place >= 0 && place < IPC_SLOTS ? tb->slots[place] : NULL;
}

struct ipc_obj *ipc_find(const struct ipc_table *tb, int id)
{
	struct ipc_obj *o = id < 0 ? NULL : ipc_at(tb, id % SEQ_STEP);

	return o && o->id == id ? o : NULL;
}

struct ipc_obj *ipc_find_key(const struct ipc_table *tb, int32_t key)
{
	struct ipc_obj *o;

	list_for_each(o, &tb->all, link)
		if (o->key == key)
			return o;
	return NULL;
}

int ipc_highest(const struct ipc_table *tb)
{
	int highest = 0;
	struct ipc_obj *o;

	list_for_each(o, &tb->all, link)
		highest = MAX(highest, o->id % SEQ_STEP);
	return highest;
}

int ipc_get(const struct ipc_table *tb, const struct cred *c, int32_t key, int flags,
	    bool (*too_small)(const struct ipc_obj *o, uint64_t size), uint64_t size,
	    struct ipc_obj **ret_)
{
	struct ipc_obj *o = key == IPC_PRIVATE ? NULL : ipc_find_key(tb, key);

	if (!o)
		return key == IPC_PRIVATE || (flags & IPC_CREAT) ? 1 : -ENOENT;
	if ((flags & IPC_CREAT) && (flags & IPC_EXCL))
		return -EEXIST;
	if (too_small && too_small(o, size))
		return -EINVAL;
	*ret_ = o;
	return ipc_permission(o, c, flags);
}

int ipc_add(struct ipc_table *tb, struct ipc_obj *o, const struct cred *c, int32_t key, int flags)
{
	int place = tb->last;

	if (tb->used >= tb->max)
		return -ENOSPC;
	if (!tb->slots) {
		tb->slots = blob_new(IPC_SLOTS * sizeof(*tb->slots));
		if (!tb->slots)
			return -ENOMEM;
		memset(tb->slots, 0, IPC_SLOTS * sizeof(*tb->slots));
	}
	do
		place = (place + 1) % (int)tb->max;
	while (tb->slots[place]);
	if (place <= tb->last)
		tb->seq++;
	tb->last = place;
	tb->slots[place] = o;
	tb->used++;
	o->seq = tb->seq;
	o->id = tb->seq * SEQ_STEP + place;
	o->key = key;
	o->uid = o->cuid = c->euid;
	o->gid = o->cgid = c->egid;
	o->mode = (uint32_t)flags & 0777;
	o->ctime = ipc_now();
	list_append(&tb->all, &o->link);
	return 0;
}

void ipc_remove(struct ipc_table *tb, struct ipc_obj *o)
{
	tb->slots[o->id % SEQ_STEP] = NULL;
	tb->used--;
	list_remove(&o->link);
}

int ipc_permission(const struct ipc_obj *o, const struct cred *c, int mode)
{
	uint32_t want = (uint32_t)(mode >> 6 | mode >> 3 | mode) & 7, granted = o->mode;

	if (c->euid == o->cuid || c->euid == o->uid)
		granted >>= 6;
	else if (cred_in_group(c, o->cgid) || cred_in_group(c, o->gid))
		granted >>= 3;
	return (want & ~granted & 7) && !cred_has_cap(c, CAP_IPC_OWNER) ? -EACCES : 0;
}

int ipc_owner(const struct ipc_obj *o, const struct cred *c)
{
	return c->euid == o->cuid || c->euid == o->uid || cred_has_cap(c, CAP_SYS_ADMIN) ? 0
											 : -EPERM;
}

void ipc_perm_fill(const struct ipc_obj *o, struct linux_ipc_perm *out)
{
	*out = (struct linux_ipc_perm){
		.key = o->key,
		.uid = o->uid,
		.gid = o->gid,
		.cuid = o->cuid,
		.cgid = o->cgid,
		.mode = o->mode,
		.seq = o->seq,
	};
}

void ipc_perm_set(struct ipc_obj *o, const struct linux_ipc_perm *in)
{
	o->uid = in->uid;
	o->gid = in->gid;
	o->mode = (o->mode & ~0777u) | (in->mode & 0777);
	o->ctime = ipc_now();
}

int64_t ipc_now(void)
{
	return now_real() / NSEC_PER_SEC;
}

void ipc_proc_gone(struct proc *p)
{
	shm_detach_all(p);
	sem_undo_all(p);
}
