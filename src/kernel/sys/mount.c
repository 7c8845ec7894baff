/* mount, umount2, pivot_root: what root of the cell can do to its tree of mounts.
 *
 * A guest can mount tmpfs (and ramfs, which is one), show proc, sysfs, devtmpfs and devpts once
 * more, bind, move and remount. Nothing of it reaches the host: a mount here is a row in the
 * kernel's own tree. What the operator mounted stays: its flags cannot be cleared, it cannot be
 * unmounted or moved (EINVAL, as for a locked mount on Linux). Propagation is accepted and does
 * nothing, as every tree is private.
 *
 * A file system that a guest made cannot become read-only while a file of it is open for writing; a
 * mapping that outlives its file is not counted.
 *
 * Left out: file systems on devices and images (ENODEV), the calls of the new mount interface. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kernel/fs/layer/layer.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/mount.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/path.h"

#define FLAGS_OF_MOUNT (MNT_RDONLY | MNT_NOSUID | MNT_NODEV | MNT_NOEXEC)
#define PROPAGATION (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE)
#define OPTIONS_MAX 4096
_Static_assert(FLAGS_OF_MOUNT == (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC),
	       "the numbers of mount(2)");
#define ATIMES (MS_NOATIME | MS_NODIRATIME | MS_RELATIME | MS_STRICTATIME)
#ifndef MS_NOSYMFOLLOW
#define MS_NOSYMFOLLOW 256
#endif

/* The flags of a mount that those of mount(2) ask for. */
static uint32_t flags_of(uint64_t flags)
{
	uint32_t m = (uint32_t)flags & FLAGS_OF_MOUNT;

	if (flags & MS_STRICTATIME)
		m |= MNT_STRICTATIME;
	else if (flags & MS_NOATIME)
		m |= MNT_NOATIME;
	if (flags & MS_NODIRATIME)
		m |= MNT_NODIRATIME;
	if (flags & MS_NOSYMFOLLOW)
		m |= MNT_NOSYMFOLLOW;
	return m;
}

/* What mount(2) knows by name besides tmpfs. */
static struct kind {
	struct fs *fs; /* counted; NULL: none */
	uint32_t flags; /* that each mount of it has */
} kinds[8];

static const struct kind *kind_find(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds) && kinds[i].fs; i++)
		if (!strcmp(kinds[i].fs->type_name, type))
			return &kinds[i];
	return NULL;
}

void mount_kind_add(struct fs *fs, uint32_t flags)
{
	size_t i = 0;

	if (!fs->single || kind_find(fs->type_name))
		return;
	while (i < ARRAY_LEN(kinds) && kinds[i].fs)
		i++;
	if (i < ARRAY_LEN(kinds))
		kinds[i] = (struct kind){ fs_get(fs), flags & MNT_RDONLY };
}

static bool may_mount(const struct task *t)
{
	return cred_has_cap(&t->cred, CAP_SYS_ADMIN);
}

/* Not detached, nor in the tree of others. */
static bool is_in_tree(const struct task *t, const struct path *p)
{
	return p->mnt->ns == t->fs->ns && !list_is_empty(&p->mnt->link);
}

static bool is_root_of_mount(const struct task *t, const struct path *p)
{
	return p->name == p->mnt->root && is_in_tree(t, p);
}

/* A string of mount(2): NULL is "", too long is EINVAL. */
static int str_get(const struct task *t, uaddr_t addr, char *buf, size_t size)
{
	int n = addr ? guest_read_str(t->tid, buf, addr, size) : 0;

	if (!addr)
		buf[0] = 0;
	return n == -ENAMETOOLONG ? -EINVAL : n;
}

/* ---- tmpfs ---- */

struct tmpfs_options {
	uint64_t size, inodes;
	uint32_t mode, uid, gid;
	bool has_size;
};

static int number(const char *s, unsigned base, uint64_t *ret_, const char **end)
{
	uint64_t n = 0;

	if (*s < '0' || *s >= (char)('0' + base))
		return -EINVAL;
	for (; *s >= '0' && *s < (char)('0' + base); s++) {
		if (n > (UINT64_MAX - 9) / base)
			return -EINVAL;
		n = n * base + (uint64_t)(*s - '0');
	}
	*ret_ = n;
	*end = s;
	return 0;
}

/* 64m, 1g, 50% */
static int size_parse(const char *s, uint64_t *ret_)
{
	const char *end;
	unsigned shift = 0;

	if (number(s, 10, ret_, &end) < 0)
		return -EINVAL;
	if (*end == '%') {
		if (*ret_ > 100 || end[1])
			return -EINVAL;
		*ret_ = cell.spec.disk_bytes / 100 * *ret_;
		return 0;
	}
	switch (*end | 0x20) {
	case 'g':
		shift = 30;
		break;
	case 'm':
		shift = 20;
		break;
	case 'k':
		shift = 10;
		break;
	default:
		return *end ? -EINVAL : 0;
	}
	if (end[1] || *ret_ > UINT64_MAX >> shift)
		return -EINVAL;
	*ret_ <<= shift;
	return 0;
}

static int option_apply(struct tmpfs_options *o, const char *key, const char *value)
{
	static const char *const ignored[] = { "huge",	  "mpol",   "inode32",
					       "inode64", "noswap", "relatime" };
	uint64_t n;
	const char *end;

	if (!strcmp(key, "size")) {
		o->has_size = true;
		return size_parse(value, &o->size);
	}
	if (!strcmp(key, "nr_blocks")) {
		o->has_size = true;
		if (size_parse(value, &n) < 0 || n > UINT64_MAX / 4096)
			return -EINVAL;
		o->size = n * 4096;
		return 0;
	}
	if (!strcmp(key, "nr_inodes"))
		return size_parse(value, &o->inodes);
	if (!strcmp(key, "mode")) {
		if (number(value, 8, &n, &end) < 0 || *end)
			return -EINVAL;
		o->mode = (uint32_t)n & 07777;
		return 0;
	}
	if (!strcmp(key, "uid") || !strcmp(key, "gid")) {
		if (number(value, 10, &n, &end) < 0 || *end || n >= UINT32_MAX)
			return -EINVAL;
		*(key[0] == 'u' ? &o->uid : &o->gid) = (uint32_t)n;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		if (!strcmp(key, ignored[i]))
			return 0;
	return -EINVAL;
}

/* Cuts data up. */
static int options_parse(char *data, struct tmpfs_options *o)
{
	for (char *s = data, *next; s && *s; s = next) {
		char *value;
		int ret;

		next = strchr(s, ',');
		if (next)
			*next++ = 0;
		if (!*s)
			continue;
		value = strchr(s, '=');
		if (value)
			*value++ = 0;
		ret = option_apply(o, s, value ? value : "");
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* No limit of its own still means the cell's. */
static void limits_of(const struct tmpfs_options *o, uint64_t *size, uint64_t *inodes)
{
	uint64_t pages = o->size > UINT64_MAX - PAGE_SIZE ? o->size : ALIGN_UP(o->size, PAGE_SIZE);

	if (pages && (!*size || pages < *size))
		*size = pages;
	if (o->inodes && (!*inodes || o->inodes < *inodes))
		*inodes = o->inodes;
}

static void options_text(const struct tmpfs_options *o, uint64_t size, uint32_t mode, char *text,
			 size_t text_size)
{
	size_t n = 0;

	text[0] = 0;
	if (o->has_size && o->size)
		n = (size_t)snprintf(text, text_size, ",size=%luk", (unsigned long)(size >> 10));
	if (mode != 01777)
		snprintf(text + n, text_size - n, ",mode=%o", mode);
}

/* Other limits for one that a guest made. What is there already must fit; the root is one of its
 * inodes for Linux. */
static int tmpfs_change(struct mount *m, char *data)
{
	struct tmpfs_options o = { .mode = 01777 };
	uint64_t size = cell.spec.disk_bytes, inodes = cell.spec.disk_inodes;
	struct layer_usage now;

	if (!data[0])
		return 0;
	if (options_parse(data, &o) < 0)
		return -EINVAL;
	layer_usage_get(m->fs, &now);
	limits_of(&o, &size, &inodes);
	if (!o.has_size)
		size = now.max_bytes;
	if (!o.inodes)
		inodes = now.max_inodes;
	if ((o.has_size && size && now.bytes > size) || (o.inodes && now.inodes >= inodes))
		return -EINVAL;
	layer_limits_set(m->fs, size, inodes);
	if (o.has_size)
		options_text(&o, size, m->fs->root->mode & 07777, m->options, sizeof(m->options));
	return 0;
}

static int tmpfs_make(struct task *t, const char *type, char *data, struct fs **ret_, char *text,
		      size_t text_size)
{
	struct tmpfs_options o = { .mode = 01777, .uid = t->cred.fsuid, .gid = t->cred.fsgid };
	uint64_t size = cell.spec.disk_bytes, inodes = cell.spec.disk_inodes;
	bool plain = !strcmp(type, "ramfs");
	struct fs *fs;

	if (!plain && options_parse(data, &o) < 0)
		return -EINVAL;
	limits_of(&o, &size, &inodes);
	fs = layer_new(NULL, size, inodes, plain ? "ramfs" : "tmpfs");
	if (!fs)
		return -ENOMEM;
	fs->root->mode = S_IFDIR | (plain ? 0755 : o.mode);
	fs->root->uid = o.uid;
	fs->root->gid = o.gid;
	options_text(&o, size, plain ? 01777 : o.mode, text, text_size);
	fs->guests = true;
	*ret_ = fs;
	return 0;
}

/* ---- the forms of mount ---- */

static int mount_new_fs(struct task *t, const struct path *at, const char *type, const char *source,
			uint32_t flags, char *data)
{
	char text[sizeof(at->mnt->options)] = "";
	struct fs *fs = NULL;
	struct mount *m;
	int ret;

	if (!*type)
		return -EINVAL;
	if (!strcmp(type, "tmpfs") || !strcmp(type, "ramfs")) {
		ret = tmpfs_make(t, type, data, &fs, text, sizeof(text));
		if (ret < 0)
			return ret;
	} else {
		const struct kind *kind = kind_find(type);

		if (!kind)
			return -ENODEV;
		/* The same thing at the same place. */
		if (at->mnt->fs == kind->fs && at->name == at->mnt->root)
			return -EBUSY;
		flags |= kind->flags;
		fs = fs_get(kind->fs);
	}
	ret = is_in_tree(t, at) ? mount_add(fs, at, flags, source, &m) : -EINVAL;
	if (ret < 0) {
		fs_put(fs);
		return ret;
	}
	m->ns = t->fs->ns;
	memcpy(m->options, text, sizeof(m->options));
	mount_put(m);
	return 0;
}

static int mount_source(struct task *t, const char *source, struct path *ret_)
{
	return *source ? path_lookup(t, AT_FDCWD, source, LOOKUP_FOLLOW, ret_) : -EINVAL;
}

static int mount_bind_at(struct task *t, const struct path *at, const char *source, bool rec)
{
	struct path from;
	int ret = mount_source(t, source, &from);

	if (ret < 0)
		return ret;
	ret = is_in_tree(t, &from) && is_in_tree(t, at) ? mount_bind(&from, at, rec) : -EINVAL;
	path_put(&from);
	return ret;
}

static int mount_move_to(struct task *t, const struct path *at, const char *source)
{
	struct path from;
	int ret = mount_source(t, source, &from);

	if (ret < 0)
		return ret;
	ret = is_root_of_mount(t, &from) && is_in_tree(t, at) ? mount_move(from.mnt, at) : -EINVAL;
	path_put(&from);
	return ret;
}

static bool fs_has_writers(const struct fs *fs)
{
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		if (m->fs == fs && m->writers)
			return true;
	return false;
}

/* MS_REMOUNT: of this mount (MS_BIND), or of the file system as well. What the operator made stays
 * as it is, and only this mount of it changes. */
static int mount_change(struct task *t, const struct path *at, uint64_t flags, char *data)
{
	struct mount *m = at->mnt;
	uint32_t to = flags_of(flags);
	bool readonly = to & MNT_RDONLY, whole = !(flags & MS_BIND) && m->fs->guests;

	if (!is_root_of_mount(t, at))
		return -EINVAL;
	if (m->locked & ~to)
		return -EPERM;
	if (!(flags & ATIMES))
		to |= m->flags & MNT_ATIMES;
	if (readonly && (whole ? !m->fs->readonly && fs_has_writers(m->fs)
			       : !(m->flags & MNT_RDONLY) && m->writers))
		return -EBUSY;
	if (whole && tmpfs_change(m, data) < 0)
		return -EINVAL;
	if (whole)
		m->fs->readonly = readonly;
	m->flags = to;
	mounts_changed();
	return 0;
}

static int mount_do(struct task *t, const struct path *at, const char *source, const char *type,
		    uint64_t flags, char *data)
{
	if (!may_mount(t))
		return -EPERM;
	if (flags & MS_REMOUNT)
		return mount_change(t, at, flags, data);
	if ((flags & MS_BIND) || !(flags & PROPAGATION)) {
		int ret = ask_mount(t, at);

		if (ret)
			return ret;
	}
	if (flags & MS_BIND)
		return mount_bind_at(t, at, source, flags & MS_REC);
	if (flags & PROPAGATION) {
		uint64_t kind = flags & ~(uint64_t)(MS_REC | MS_SILENT);

		if ((kind & ~(uint64_t)PROPAGATION) || (kind & (kind - 1)) ||
		    !is_root_of_mount(t, at))
			return -EINVAL;
		return 0;
	}
	if (flags & MS_MOVE)
		return mount_move_to(t, at, source);
	return mount_new_fs(t, at, type, source, flags_of(flags), data);
}

int64_t sys_mount(struct task *t, const struct sysargs *a)
{
	static char source[PATH_MAX_LEN], type[PATH_MAX_LEN], data[OPTIONS_MAX];
	uint64_t flags = a->a[3];
	struct path at;
	size_t n;
	int ret = str_get(t, a->a[2], type, sizeof(type));

	if (ret >= 0)
		ret = str_get(t, a->a[0], source, sizeof(source));
	if (ret < 0)
		return ret;
	data[0] = 0;
	if (a->a[4]) {
		n = guest_read_some(t->tid, data, a->a[4], sizeof(data) - 1);
		if (!n)
			return -EFAULT;
		data[n] = 0;
	}
	ret = path_at(t, AT_FDCWD, a->a[1], LOOKUP_FOLLOW, &at);
	if (ret < 0)
		return ret;
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(uint64_t)MS_MGC_MSK;
	ret = mount_do(t, &at, source, type, flags, data);
	if (ret == 0 && !(flags & (MS_REMOUNT | PROPAGATION)))
		observe(mounted, t, &at);
	path_put(&at);
	return ret;
}

static int umount_do(struct task *t, struct path *at, unsigned flags)
{
	struct mount *m = at->mnt;
	int ret;

	if (!may_mount(t))
		return -EPERM;
	if (!is_root_of_mount(t, at) || m->fixed)
		return -EINVAL;
	if (!m->parent)
		return flags & MNT_EXPIRE ? -EINVAL : -EBUSY; /* the root stays */
	observe(unmounting, m);
	/* Its user now is this call alone. */
	mount_get(m);
	path_put(at);
	if (flags & MNT_DETACH) {
		mount_detach(m);
		ret = 0;
	} else if ((flags & MNT_EXPIRE) && m->refs <= 2 && !m->expiring) {
		m->expiring = true;
		ret = -EAGAIN;
	} else {
		ret = mount_remove(m);
	}
	mount_put(m);
	return ret;
}

int64_t sys_umount2(struct task *t, const struct sysargs *a)
{
	unsigned flags = (unsigned)a->a[1];
	struct path at;
	int ret;

	if (flags & ~(unsigned)(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	ret = path_at(t, AT_FDCWD, a->a[0], flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &at);
	if (ret < 0)
		return ret;
	path_cross_mounts(
		&at); /* "." with something mounted on it, as pivot_root(".", ".") leaves it */
	if ((flags & MNT_EXPIRE) && (flags & (MNT_FORCE | MNT_DETACH)))
		ret = may_mount(t) ? -EINVAL : -EPERM;
	else
		ret = umount_do(t, &at, flags);
	path_put(&at);
	return ret;
}

/* ---- pivot_root ---- */

static void place_swap(struct path *p, const struct path *from, const struct path *to)
{
	struct path old = *p;

	if (!path_is_same(p, from))
		return;
	*p = *to;
	path_get(p);
	path_put(&old);
}

/* Whoever stood at the old root stands at the new one. */
static void places_swap(const struct mntns *ns, const struct path *from, const struct path *to)
{
	struct task *o;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(o, &p->threads, thread_link)
			if (o->fs && o->fs->ns == ns) {
				place_swap(&o->fs->root, from, to);
				place_swap(&o->fs->cwd, from, to);
			}
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(o, &p->threads, thread_link)
			fast_changed(o);
}

static int pivot(struct task *t, const struct path *new_root, const struct path *put_old)
{
	struct path old = t->fs->root;
	int ret;

	if (new_root->mnt == old.mnt || put_old->mnt == old.mnt)
		return -EBUSY; /* also: nothing may be put onto the root itself */
	if (!is_root_of_mount(t, &old) || !is_root_of_mount(t, new_root) ||
	    !is_in_tree(t, put_old) || new_root->mnt->fixed || !new_root->mnt->parent ||
	    !mount_is_below(put_old->mnt, new_root->mnt) || !mount_is_below(new_root->mnt, old.mnt))
		return -EINVAL;
	path_get(&old);
	ret = mount_pivot(new_root->mnt, put_old, old.mnt);
	places_swap(t->fs->ns, &old, new_root);
	path_put(&old);
	return ret;
}

int64_t sys_pivot_root(struct task *t, const struct sysargs *a)
{
	struct path new_root, put_old;
	int ret;

	if (!may_mount(t))
		return -EPERM;
	ret = path_at(t, AT_FDCWD, a->a[0], LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &new_root);
	if (ret < 0)
		return ret;
	ret = path_at(t, AT_FDCWD, a->a[1], LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &put_old);
	if (ret == 0) {
		ret = pivot(t, &new_root, &put_old);
		path_put(&put_old);
	}
	path_put(&new_root);
	return ret;
}
