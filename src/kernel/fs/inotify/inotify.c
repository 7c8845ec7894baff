/* inotify on every file system of the cell: events come from the VFS (vfs_notify), so they need
 * nothing of the file system.
 *
 * A watch holds its inode and hangs on it (inode->watches, a chain of all instances' watches). An
 * event is queued for each watch that asked for it, unless it equals the last one in the queue.
 * While there is no instance, vfs_watched is false and nothing is told.
 *
 * What other programs of the host do in a mounted directory its file system tells in the same way
 * (fs/hostdir/watch.c).
 *
 * Left out: content that is changed through mappings (as on Linux); IN_UNMOUNT: a watch keeps its
 * file system. */
#include "kernel/fs/inotify/inotify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"

/* As /proc/sys/fs/inotify shows them. */
#define MAX_EVENTS 16384
#define MAX_INSTANCES 128
#define MAX_WATCHES 65536

struct watch {
	struct watch *next; /* of the same inode */
	struct list link; /* of the same instance, by number */
	struct inotify *in;
	struct inode *ino; /* counted */
	int wd;
	uint32_t mask;
};
OBJ_TYPE(watch_type, struct watch, 0);

/* struct inotify_event without its name. */
struct event_head {
	int32_t wd;
	uint32_t mask, cookie;
	uint32_t len; /* of the name, padded */
};
_Static_assert(sizeof(struct event_head) == 16, "inotify_event");

struct event {
	struct list link;
	uint32_t name_size; /* with its NUL; 0: no name */
	struct event_head ev;
	char name[];
};

struct inotify {
	struct list link; /* all instances */
	struct list watches;
	struct list events;
	uint32_t nevents, nwatches, uid;
	bool overflown; /* the overflow event is in the queue */
	int last_wd;
	struct waitq q;
};
OBJ_TYPE(inotify_type, struct inotify, 8192);

static struct list instances = LIST_INIT(instances);
static const struct file_ops inotify_fops;

/* ---- the queue ---- */

static size_t event_blob(const struct event *e)
{
	return sizeof(*e) + e->name_size;
}

static size_t event_size(const struct event *e)
{
	return sizeof(e->ev) + e->ev.len;
}

static void event_drop(struct inotify *in, struct event *e)
{
	list_remove(&e->link);
	in->nevents--;
	if (e->ev.mask & IN_Q_OVERFLOW)
		in->overflown = false;
	blob_free(e, event_blob(e));
}

static bool event_repeats(const struct inotify *in, int wd, uint32_t mask, const char *name)
{
	const struct event *last;

	if (list_is_empty(&in->events))
		return false;
	last = list_last(&in->events, struct event, link);
	if (last->ev.mask != mask || last->ev.wd != wd || (mask & IN_IGNORED) ||
	    !last->name_size != !name)
		return false;
	return !name || !strcmp(last->name, name);
}

static void event_append(struct inotify *in, int wd, uint32_t mask, uint32_t cookie,
			 const char *name)
{
	uint32_t size = name ? (uint32_t)strlen(name) + 1 : 0;
	struct event *e = blob_new(sizeof(*e) + size);

	if (!e) /* no memory: the event is lost, as on Linux */
		return;
	e->name_size = size;
	e->ev = (struct event_head){
		.wd = wd,
		.mask = mask,
		.cookie = cookie,
		.len = (uint32_t)ALIGN_UP(size, sizeof(struct event_head)),
	};
	if (size)
		memcpy(e->name, name, size);
	list_append(&in->events, &e->link);
	in->nevents++;
	waitq_wake(&in->q, POLLIN | POLLRDNORM);
}

static void event_overflow(struct inotify *in)
{
	if (in->overflown)
		return;
	in->overflown = true;
	event_append(in, -1, IN_Q_OVERFLOW, 0, NULL);
}

static void event_queue(struct inotify *in, int wd, uint32_t mask, uint32_t cookie,
			const char *name)
{
	if (event_repeats(in, wd, mask, name))
		return;
	if (in->nevents >= MAX_EVENTS)
		event_overflow(in);
	else
		event_append(in, wd, mask, cookie, name);
}

/* ---- watches ---- */

static void watch_free(struct watch *w)
{
	struct watch **at = (struct watch **)&w->ino->watches;
	struct fs *fs;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	list_remove(&w->link);
	w->in->nwatches--;
	if (!w->ino->watches && w->ino->ops->watch)
		(void)CHECKED(w->ino->ops)->watch(w->ino, false);
	fs = w->ino->fs;
	inode_put(w->ino);
	fs_put(fs);
	obj_free(&watch_type, w);
}

static void watch_end(struct watch *w)
{
	event_queue(w->in, w->wd, IN_IGNORED, 0, NULL);
	watch_free(w);
}

static void watches_tell(struct inode *ino, const char *name, uint32_t mask, uint32_t cookie)
{
	uint32_t what = mask & IN_ALL_EVENTS, shown = mask & (IN_ALL_EVENTS | IN_ISDIR);
	struct watch *w, *next;

	if (what & (IN_DELETE_SELF | IN_MOVE_SELF))
		shown &= ~(uint32_t)IN_ISDIR;
	for (w = ino->watches; w; w = next) {
		next = w->next;
		if ((w->mask & what) && !(mask & w->mask & IN_EXCL_UNLINK)) {
			event_queue(w->in, w->wd, shown, cookie, name);
			if (w->mask & IN_ONESHOT) {
				watch_end(w);
				continue;
			}
		}
		if (what & IN_DELETE_SELF)
			watch_end(w);
	}
}

void inotify_notify(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
		    uint32_t cookie)
{
	struct inotify *in;

	if (mask & IN_Q_OVERFLOW)
		list_for_each(in, &instances, link)
			event_overflow(in);
	/* The last watch may be what holds the inode. */
	if (dir && dir->watches) {
		inode_get(dir);
		watches_tell(dir, name, mask, cookie);
		inode_put(dir);
	}
	if (ino && ino->watches) {
		inode_get(ino);
		watches_tell(ino, NULL, mask, cookie);
		inode_put(ino);
	}
}

static uint32_t watches_of_user(uint32_t uid)
{
	struct inotify *in;
	uint32_t n = 0;

	list_for_each(in, &instances, link)
		if (in->uid == uid)
			n += in->nwatches;
	return n;
}

int inotify_watch(struct inotify *in, struct inode *ino, uint32_t mask)
{
	uint32_t keep = mask & (IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK);
	struct watch *w;
	int r = 0;

	for (w = ino->watches; w; w = w->next) {
		if (w->in != in)
			continue;
		if (mask & IN_MASK_CREATE)
			return -EEXIST;
		w->mask = mask & IN_MASK_ADD ? w->mask | keep : keep;
		return w->wd;
	}
	if (watches_of_user(in->uid) >= MAX_WATCHES)
		return -ENOSPC;
	w = obj_new(&watch_type);
	if (!w)
		return -ENOMEM;
	if (!ino->watches && ino->ops->watch)
		r = CHECKED(ino->ops)->watch(ino, true);
	if (r < 0) {
		obj_free(&watch_type, w);
		return r;
	}
	if (in->last_wd == INT32_MAX)
		in->last_wd = 0;
	w->wd = ++in->last_wd;
	w->in = in;
	w->mask = keep;
	w->ino = inode_get(ino);
	fs_get(ino->fs); /* it may be unmounted meanwhile */
	w->next = ino->watches;
	ino->watches = w;
	list_append(&in->watches, &w->link);
	in->nwatches++;
	return w->wd;
}

int inotify_unwatch(struct inotify *in, int wd)
{
	struct watch *w;

	list_for_each(w, &in->watches, link)
		if (w->wd == wd) {
			watch_end(w);
			return 0;
		}
	return -EINVAL;
}

/* ---- the file ---- */

static int64_t inotify_read(struct file *f, struct uio *u, int64_t pos)
{
	static const char zeros[sizeof(struct event_head)];
	struct inotify *in = f->priv;
	int64_t done = 0;

	(void)pos;
	if (list_is_empty(&in->events))
		return -EAGAIN;
	while (!list_is_empty(&in->events)) {
		struct event *e = list_first(&in->events, struct event, link);
		size_t size = event_size(e), pad = e->ev.len - e->name_size;

		if (u->left < size)
			return done ? done : -EINVAL;
		if (uio_put(u, &e->ev, sizeof(e->ev)) != sizeof(e->ev) ||
		    (e->name_size && uio_put(u, e->name, e->name_size) != e->name_size) ||
		    (pad && uio_put(u, zeros, pad) != (int64_t)pad)) {
			event_drop(in, e); /* as on Linux: what could not be copied is lost */
			return done ? done : -EFAULT;
		}
		event_drop(in, e);
		done += (int64_t)size;
	}
	return done;
}

static uint32_t inotify_poll(struct file *f)
{
	return list_is_empty(&((struct inotify *)f->priv)->events) ? 0 : POLLIN | POLLRDNORM;
}

static struct waitq *inotify_poll_q(struct file *f)
{
	return &((struct inotify *)f->priv)->q;
}

static int64_t inotify_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct inotify *in = f->priv;
	struct event *e;
	int n = 0;

	if (cmd != FIONREAD)
		return -ENOTTY;
	list_for_each(e, &in->events, link)
		n += (int)event_size(e);
	return guest_put(t->tid, arg, &n);
}

static void inotify_release(struct file *f)
{
	struct inotify *in = f->priv;

	while (!list_is_empty(&in->watches))
		watch_free(list_first(&in->watches, struct watch, link));
	while (!list_is_empty(&in->events))
		event_drop(in, list_first(&in->events, struct event, link));
	waitq_fini(&in->q);
	list_remove(&in->link);
	obj_free(&inotify_type, in);
	if (list_is_empty(&instances))
		vfs_watched = false;
}

static void inotify_fdinfo(struct file *f, struct uio *u)
{
	struct inotify *in = f->priv;
	struct watch *w;
	char line[96];

	list_for_each(w, &in->watches, link) {
		int n = snprintf(line, sizeof(line),
				 "inotify wd:%x ino:%llx sdev:%x mask:%x ignored_mask:0 \n",
				 (unsigned)w->wd, (unsigned long long)w->ino->ino, w->ino->fs->dev,
				 w->mask & IN_ALL_EVENTS);

		if (uio_put(u, line, (size_t)n) < n)
			return;
	}
}

static const struct file_ops inotify_fops = {
	.async = ASYNC_ALWAYS,
	.read = inotify_read,
	.poll = inotify_poll,
	.poll_q = inotify_poll_q,
	.ioctl = inotify_ioctl,
	.release = inotify_release,
	.fdinfo = inotify_fdinfo,
};

struct inotify *inotify_of(const struct file *f)
{
	return f->ops == &inotify_fops ? f->priv : NULL;
}

int inotify_make(uint32_t uid, uint32_t flags, struct file **ret_)
{
	struct inotify *in;
	uint32_t n = 0;
	int r;

	list_for_each(in, &instances, link)
		n += in->uid == uid;
	if (n >= MAX_INSTANCES)
		return -EMFILE;
	in = obj_new(&inotify_type);
	if (!in)
		return -ENFILE;
	in->uid = uid;
	list_init(&in->watches);
	list_init(&in->events);
	waitq_init(&in->q);
	r = file_new_anon("anon_inode:inotify", 0600, &inotify_fops, in,
			  O_RDONLY | (flags & O_NONBLOCK), ret_);
	if (r < 0) {
		obj_free(&inotify_type, in);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_STREAM;
	list_append(&instances, &in->link);
	vfs_watched = true;
	return 0;
}
