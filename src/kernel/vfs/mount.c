/* The mount tree, and paths as pairs of a mount and a name.
 *
 * The list of mounts holds a reference on each; a path and a child mount hold one more. So a mount
 * is in use exactly when its count is more than the list's and the asking caller's. A file system
 * that is mounted twice has one tree of names, shared by its mounts; which of two mounts covers a
 * name is told by the parent of the covering one. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/vfs_priv.h"

#define ATIME_RELATIVE_SEC (24 * 3600)

OBJ_TYPE(mount_type, struct mount, 4096);

static struct list mounts = LIST_INIT(mounts);
static int id_last = 20;
uint32_t mount_changes, mount_events;
struct waitq mounts_q = WAITQ_INIT(mounts_q);

void mounts_changed(void)
{
	mount_changes++;
	mount_events++;
	fastmem_flush();
	waitq_wake(&mounts_q, POLLPRI | POLLERR);
}

/* A mount may show a part of its file system only. */
static struct name *name_top(struct name *n)
{
	while (n->parent)
		n = n->parent;
	return n;
}

/* The root name of fs: that of a mount it has already, so that both see one tree. */
static struct name *fs_root_name(struct fs *fs)
{
	struct mount *m;

	list_for_each(m, &mounts, link)
		if (m->fs == fs && name_top(m->root)->inode == fs->root)
			return name_get(name_top(m->root));
	struct name *n = name_new_root(inode_get(fs->root));
	if (!n)
		inode_put(fs->root);
	return n;
}

static struct mount *mount_new(struct fs *fs)
{
	struct mount *m = obj_new(&mount_type);

	if (!m)
		return NULL;
	m->root = fs_root_name(fs);
	if (!m->root) {
		obj_free(&mount_type, m);
		return NULL;
	}
	m->refs = 1;
	m->id = ++id_last;
	m->fs = fs;
	list_init(&m->link);
	return m;
}

int mount_new_detached(struct fs *fs, struct mount **ret_)
{
	*ret_ = mount_new(fs);
	return *ret_ ? 0 : -ENOMEM;
}

int mount_add(struct fs *fs, const struct path *place, uint32_t flags, const char *source,
	      struct mount **ret_)
{
	struct path at = { NULL, NULL };

	if (place) {
		at = *place;
		path_get(&at);
		path_cross_mounts(&at);
		if (!at.name->inode || at.name->deleted) {
			path_put(&at);
			return -ENOENT;
		}
		/* Only a directory covers a directory. */
		if (inode_is_dir(at.name->inode) != inode_is_dir(fs->root)) {
			path_put(&at);
			return -ENOTDIR;
		}
	}
	struct mount *m = mount_new(fs);
	if (!m) {
		path_put(&at);
		return -ENOMEM;
	}
	m->flags = flags;
	strncpy(m->source, source ? source : "none", sizeof(m->source) - 1);
	m->parent = at.mnt; /* takes both references */
	m->point = at.name;
	if (m->point)
		m->point->mounted = m;
	list_append(&mounts, &m->link);
	mounts_changed();
	*ret_ = mount_get(m);
	return 0;
}

int mount_remove(struct mount *m)
{
	if (list_is_empty(&m->link) || !m->parent)
		return -EINVAL;
	if (m->refs > 2)
		return -EBUSY;
	mount_unhook(m);
	list_remove(&m->link);
	mounts_changed();
	mount_put(m);
	return 0;
}

struct mount *mount_covering(const struct mount *parent, const struct name *point)
{
	struct mount *m = point->mounted;

	if (!m || (m->parent == parent && m->point == point))
		return m;
	list_for_each(m, &mounts, link)
		if (m->parent == parent && m->point == point)
			return m;
	return NULL;
}

void mount_unhook(struct mount *m)
{
	struct mount *other;

	mounts_changed();
	if (!m->point || m->point->mounted != m)
		return;
	m->point->mounted = NULL;
	list_for_each(other, &mounts, link)
		if (other != m && other->point == m->point)
			m->point->mounted = other;
}

void mount_hook(struct mount *m, const struct path *at)
{
	mounts_changed();
	m->parent = mount_get(at->mnt);
	m->point = name_get(at->name);
	m->point->mounted = m;
}

uint32_t mounts_room(void)
{
	return mount_type.limit - MIN(mount_type.count, mount_type.limit);
}

struct mount *mount_clone(struct mount *from, struct name *root)
{
	struct mount *m = obj_new(&mount_type);

	if (!m)
		return NULL;
	*m = *from;
	m->refs = 1;
	m->writers = 0;
	m->id = ++id_last;
	m->fs = fs_get(from->fs);
	m->root = name_get(root);
	m->parent = NULL;
	m->point = NULL;
	m->copy = NULL;
	m->fixed = m->expiring = m->kept = false;
	list_init(&m->link);
	list_append(&mounts, &m->link);
	return m;
}

struct mount *mount_get(struct mount *m)
{
	ref_get(&m->refs);
	return m;
}

/* What was kept on a parent that goes: out of the list of all, into the caller's. */
static void kept_release(struct mount *parent, struct list *to)
{
	struct mount *m, *tmp;

	list_for_each_safe(m, tmp, &mounts, link) {
		if (!m->kept || m->parent != parent)
			continue;
		mount_unhook(m);
		name_put(m->point);
		m->parent = NULL;
		m->point = NULL;
		m->kept = false;
		list_remove(&m->link);
		list_append(to, &m->link);
	}
}

void mount_put(struct mount *m)
{
	struct list released = LIST_INIT(released);

	while (m && ref_put(&m->refs)) {
		struct mount *parent = m->parent;
		struct name *top = name_get(name_top(m->root));
		struct mount *other;
		bool shared = false;

		kept_release(m, &released);
		list_for_each(other, &mounts, link)
			shared |= other->fs == m->fs;
		/* Its inodes must not outlive the file system. The root that it showed goes first:
		 * nobody may hold it any more, and then it is one of the names that are cached. */
		name_put(m->root);
		if (!shared)
			name_shrink_tree(top);
		name_put(top);
		if (m->point)
			name_put(m->point);
		fs_put(m->fs);
		obj_free(&mount_type, m);
		mount_changes++; /* for those who remember it by its address */
		m = parent;
	}
	while (!list_is_empty(&released)) {
		m = list_first(&released, struct mount, link);
		list_remove(&m->link);
		mount_put(m); /* as deep as the operator's mounts lie on each other */
	}
}

struct mount *mount_next(struct mount *after)
{
	struct list *l = after ? after->link.next : mounts.next;
	return l == &mounts ? NULL : list_entry(l, struct mount, link);
}

void path_get(const struct path *p)
{
	if (p->mnt)
		mount_get(p->mnt);
	if (p->name)
		name_get(p->name);
}

void path_put(struct path *p)
{
	/* The name first: the mount keeps its file system. */
	if (p->name)
		name_put(p->name);
	if (p->mnt)
		mount_put(p->mnt);
	p->name = NULL;
	p->mnt = NULL;
}

bool path_is_same(const struct path *a, const struct path *b)
{
	return a->mnt == b->mnt && a->name == b->name;
}

void path_cross_mounts(struct path *p)
{
	struct mount *m;

	while ((m = mount_covering(p->mnt, p->name))) {
		struct name *root = name_get(m->root);

		mount_get(m);
		path_put(p);
		p->mnt = m;
		p->name = root;
	}
}

int path_want_write(const struct path *p)
{
	return (p->mnt->flags & MNT_RDONLY) || p->mnt->fs->readonly ? -EROFS : 0;
}

static bool time_is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

void path_accessed(const struct path *p)
{
	struct inode *ino = p->name ? p->name->inode : NULL;

	if (!ino || !p->mnt || path_want_write(p) < 0 || (p->mnt->flags & MNT_NOATIME) ||
	    ((p->mnt->flags & MNT_NODIRATIME) && inode_is_dir(ino)))
		return;
	struct timespec now = inode_now();
	if (!(p->mnt->flags & MNT_STRICTATIME) && time_is_later(&ino->atime, &ino->mtime) &&
	    time_is_later(&ino->atime, &ino->ctime) &&
	    now.tv_sec - ino->atime.tv_sec < ATIME_RELATIVE_SEC)
		return;
	ino->atime = now;
	inode_touch(ino);
}
