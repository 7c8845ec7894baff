/* Operations that change the tree: create, unlink, link, rename, with all of Linux's checks in
 * Linux's order.
 *
 * Each looks its names up itself, checks, calls the inode's op and then lets the name cache follow.
 * The op is the first visible effect; after it nothing can fail. What concerns attributes is in
 * attr.c. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernel/task/cred.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/vfs_priv.h"

/* A last component as the caller gives it. */
struct last {
	const char *str;
	size_t len;
	bool slash; /* a '/' followed */
	enum { LAST_NORM, LAST_DOT, LAST_DOTDOT, LAST_ROOT } type;
};

static struct last last_parse(const char *str)
{
	struct last l = { .str = str, .len = strlen(str) };

	if (l.len > 1 && str[l.len - 1] == '/') {
		l.slash = true;
		l.len--;
	}
	if (l.len == 1 && str[0] == '/')
		l.type = LAST_ROOT;
	else if (l.len == 1 && str[0] == '.')
		l.type = LAST_DOT;
	else if (l.len == 2 && str[0] == '.' && str[1] == '.')
		l.type = LAST_DOTDOT;
	else
		l.type = LAST_NORM;
	return l;
}

static int last_lookup(const struct path *dir, const struct last *l, struct name **ret_)
{
	if (l->len > NAME_MAX_LEN)
		return -ENAMETOOLONG;
	if (l->len == 0)
		return -ENOENT;
	if (!inode_is_dir(dir->name->inode))
		return -ENOTDIR;
	int err = name_lookup(dir->name, l->str, l->len, ret_);
	/* On Linux the look-up itself fails in /proc. */
	if (!err && !(*ret_)->inode && dir->name->inode->fs->fixed_names) {
		name_put(*ret_);
		err = -ENOENT;
	}
	return err;
}

/* An event of the entry l of dir, seen by those who watch dir. */
static void entry_notify(struct inode *dir, const struct last *l, bool is_dir, uint32_t mask,
			 uint32_t cookie)
{
	char name[NAME_MAX_LEN + 1];

	if (!vfs_watched || !dir->watches)
		return;
	memcpy(name, l->str, l->len);
	name[l->len] = 0;
	vfs_notify(dir, name, NULL, mask | (is_dir ? IN_ISDIR : 0), cookie);
}

static void inode_notify(struct inode *ino, uint32_t mask)
{
	if (vfs_watched && ino)
		vfs_notify(NULL, NULL, ino, mask | (inode_is_dir(ino) ? IN_ISDIR : 0), 0);
}

/* A name of an inode goes. Who waits to read it must not keep them. */
static void name_unlinked(const struct name *n)
{
	if (n->inode->content || (n->inode->unsteady && !n->inode->nlink))
		observe(removed, n);
}

static bool is_sticky_foreign(const struct inode *dir, const struct inode *ino,
			      const struct cred *c)
{
	return (dir->mode & S_ISVTX) && ino->uid != c->fsuid && dir->uid != c->fsuid &&
	       !cred_has_cap(c, CAP_FOWNER);
}

static int may_create(const struct cred *c, const struct path *dir)
{
	if (dir->name->deleted)
		return -ENOENT;
	return inode_permission(dir->name->inode, c, W_OK | X_OK);
}

/* May the entry n of dir be removed (or be replaced by a directory or by something else)? */
static int may_delete(const struct cred *c, const struct path *dir, const struct name *n,
		      bool as_dir)
{
	int err = inode_permission(dir->name->inode, c, W_OK | X_OK);

	if (err < 0)
		return err;
	if (is_sticky_foreign(dir->name->inode, n->inode, c))
		return -EPERM;
	if (as_dir && !inode_is_dir(n->inode))
		return -ENOTDIR;
	if (!as_dir && inode_is_dir(n->inode))
		return -EISDIR;
	return dir->name->deleted ? -ENOENT : 0;
}

bool inode_strips_setgid(const struct inode *dir, uint32_t mode, const struct cred *c)
{
	return (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && !cred_in_group(c, dir->gid) &&
	       !cred_has_cap(c, CAP_FSETID);
}

/* What a new inode in dir is, seen with dir's set-group-id bit. */
static struct newnode newnode_in(const struct cred *c, const struct inode *dir,
				 const struct newnode *n)
{
	struct newnode out = *n;

	if (dir->mode & S_ISGID) {
		out.gid = dir->gid;
		if (S_ISDIR(out.mode))
			out.mode |= S_ISGID;
		else if (inode_strips_setgid(dir, out.mode, c))
			out.mode &= ~(uint32_t)S_ISGID;
	}
	return out;
}

/* For create and link: the negative name of a new entry, all errors seen to. returns ref. */
static int new_entry(struct task *t, const struct path *dir, const char *last, bool is_dir,
		     struct last *l, struct name **ret_)
{
	*l = last_parse(last);
	if (l->type != LAST_NORM)
		return -EEXIST;
	int err = last_lookup(dir, l, ret_);
	if (err < 0)
		return err;
	if ((*ret_)->inode)
		err = -EEXIST;
	else if (l->slash && !is_dir)
		err = -ENOENT;
	else
		err = path_want_write(dir);
	if (!err)
		err = may_create(&t->cred, dir);
	if (err < 0)
		name_put(*ret_);
	return err;
}

int vfs_create(struct task *t, const struct path *dir, const char *last, const struct newnode *n,
	       struct path *ret_)
{
	struct inode *d = dir->name->inode, *ino;
	struct last l;
	struct name *name;
	int err = new_entry(t, dir, last, S_ISDIR(n->mode), &l, &name);

	if (err < 0)
		return err;
	bool is_device =
		S_ISBLK(n->mode) || (S_ISCHR(n->mode) && n->rdev != 0); /* 0:0 is a whiteout */
	if (is_device && !cred_has_cap(&t->cred, CAP_MKNOD))
		err = -EPERM;
	else if (!d->ops->create)
		err = d->fs->readonly ? -EROFS : -EPERM;
	if (!err)
		err = ask_create(t, dir, name, n);
	if (!err) {
		struct newnode node = newnode_in(&t->cred, d, n);
		err = CHECKED(d->ops)->create(d, l.str, l.len, &node, &ino);
	}
	if (err) {
		name_put(name);
		return err;
	}
	name_instantiate(name, ino);
	entry_notify(d, &l, inode_is_dir(ino), IN_CREATE, 0);
	observe(named, t,
		&(struct name_done){ .op = NAME_CREATE,
				     .dir = dir,
				     .name = l.str,
				     .len = l.len,
				     .ino = ino,
				     .target = n->target });
	if (ret_) {
		ret_->mnt = mount_get(dir->mnt);
		ret_->name = name;
	} else {
		name_put(name);
	}
	return 0;
}

int vfs_tmpfile(struct task *t, const struct path *dir, const struct newnode *n, struct path *ret_)
{
	struct inode *d = dir->name->inode, *ino;
	char label[24];

	if (!inode_is_dir(d))
		return -ENOTDIR;
	int err = path_want_write(dir);
	if (!err)
		err = inode_permission(d, &t->cred, W_OK | X_OK);
	if (!err && !d->ops->tmpfile)
		err = -EOPNOTSUPP;
	if (!err && n->open)
		err = ask_open(t, dir, n->open);
	if (err < 0)
		return err;
	struct newnode node = newnode_in(&t->cred, d, n);
	err = CHECKED(d->ops)->tmpfile(d, &node, &ino);
	if (err < 0)
		return err;
	snprintf(label, sizeof(label), "#%llu", (unsigned long long)ino->ino);
	ino->linkable = true;
	ret_->name = name_new_deleted(dir->name, label, ino);
	if (!ret_->name) {
		inode_put(ino);
		return -ENOMEM;
	}
	ret_->mnt = mount_get(dir->mnt);
	return 0;
}

int vfs_unlink(struct task *t, const struct path *dir, const char *last, bool rmdir)
{
	struct inode *d = dir->name->inode;
	struct last l = last_parse(last);
	struct name *n;

	if (l.type != LAST_NORM && !rmdir)
		return -EISDIR;
	if (l.type != LAST_NORM)
		return l.type == LAST_DOTDOT ? -ENOTEMPTY : l.type == LAST_DOT ? -EINVAL : -EBUSY;
	int err = path_want_write(dir);
	if (!err)
		err = last_lookup(dir, &l, &n);
	if (err)
		return err;
	if (!n->inode)
		err = -ENOENT;
	else if (l.slash && !rmdir)
		err = inode_is_dir(n->inode) ? -EISDIR : -ENOTDIR;
	else
		err = may_delete(&t->cred, dir, n, rmdir);
	if (!err && !d->ops->unlink)
		err = -EPERM;
	if (!err && n->mounted)
		err = -EBUSY;
	if (!err)
		err = ask_name(t, NAME_REMOVE, dir, n);
	if (!err)
		err = CHECKED(d->ops)->unlink(d, l.str, l.len, n->inode);
	if (!err && !rmdir)
		inode_notify(n->inode, IN_ATTRIB); /* its link count */
	if (!err)
		name_unlinked(n);
	if (!err)
		name_delete(n);
	name_put(n);
	if (err)
		return err;
	entry_notify(d, &l, rmdir, IN_DELETE, 0);
	observe(named, t,
		&(struct name_done){ .op = NAME_REMOVE, .dir = dir, .name = l.str, .len = l.len });
	return 0;
}

/* fs.protected_hardlinks: a user may not pin files that are not his and that he could not write
 * anyway. */
static int may_link_source(const struct cred *c, struct inode *ino)
{
	if (inode_owner_or_capable(ino, c))
		return 0;
	if (!inode_is_reg(ino) || (ino->mode & S_ISUID) ||
	    (ino->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return -EPERM;
	return inode_permission(ino, c, R_OK | W_OK) < 0 ? -EPERM : 0;
}

int vfs_link(struct task *t, const struct path *old, const struct path *dir, const char *last)
{
	struct inode *d = dir->name->inode, *ino = old->name->inode;
	struct last l = last_parse(last);
	struct name *n;

	if (!ino)
		return -ENOENT;
	if (l.type != LAST_NORM)
		return -EEXIST;
	int err = last_lookup(dir, &l, &n);
	if (err < 0)
		return err;
	if (n->inode)
		err = -EEXIST;
	else if (l.slash)
		err = -ENOENT;
	else
		err = path_want_write(dir);
	if (!err && old->mnt != dir->mnt)
		err = -EXDEV;
	if (!err)
		err = may_link_source(&t->cred, ino);
	if (!err)
		err = may_create(&t->cred, dir);
	if (!err && (!d->ops->link || inode_is_dir(ino)))
		err = -EPERM;
	if (!err && ino->nlink == 0 && !ino->linkable)
		err = -ENOENT;
	if (!err)
		err = ask_names(t, NAME_LINK, old, dir, n);
	if (!err)
		err = CHECKED(d->ops)->link(d, l.str, l.len, ino);
	if (!err) {
		ino->linkable = false;
		name_instantiate(n, inode_get(ino));
		inode_notify(ino, IN_ATTRIB);
		entry_notify(d, &l, false, IN_CREATE, 0);
		observe(named, t,
			&(struct name_done){ .op = NAME_LINK,
					     .dir = dir,
					     .name = l.str,
					     .len = l.len,
					     .old = old,
					     .made = &(struct path){ dir->mnt, n } });
	}
	name_put(n);
	return err;
}

/* Is ino dir itself or above it? */
static bool is_above(const struct inode *ino, const struct name *dir)
{
	for (; dir; dir = dir->parent)
		if (dir->inode == ino)
			return true;
	return false;
}

/* The checks of vfs_rename once both names are known. */
static int rename_check(struct task *t, const struct path *odir, const struct name *o,
			const struct path *ndir, const struct name *n, unsigned flags)
{
	bool exchange = flags & RENAME_EXCHANGE_;
	bool o_is_dir = inode_is_dir(o->inode), n_is_dir = n->inode && inode_is_dir(n->inode);
	bool moves = odir->name->inode != ndir->name->inode;
	int err = may_delete(&t->cred, odir, o, o_is_dir);

	if (err < 0)
		return err;
	if (!n->inode)
		err = may_create(&t->cred, ndir);
	else
		err = may_delete(&t->cred, ndir, n, exchange ? n_is_dir : o_is_dir);
	if (err < 0)
		return err;
	if (!odir->name->inode->ops->rename)
		return -EPERM;
	/* A directory that gets a new parent has its ".." rewritten. */
	if (moves && o_is_dir)
		err = inode_permission(o->inode, &t->cred, W_OK);
	if (!err && moves && exchange && n_is_dir)
		err = inode_permission(n->inode, &t->cred, W_OK);
	if (err < 0)
		return err;
	if (o->mounted || n->mounted)
		return -EBUSY;
	/* Another mount may show the new place and not the old one: there nothing would cover what
	 * the operator hid. */
	if (moves && ((o_is_dir && mount_covers_below(o)) ||
		      (exchange && n_is_dir && mount_covers_below(n))))
		return -EBUSY;
	return 0;
}

static void rename_notify(struct inode *od, const struct last *ol, struct inode *nd,
			  const struct last *nl, struct inode *moved, struct inode *victim)
{
	static uint32_t cookie;

	if (!vfs_watched)
		return;
	cookie++;
	entry_notify(od, ol, inode_is_dir(moved), IN_MOVED_FROM, cookie);
	entry_notify(nd, nl, inode_is_dir(moved), IN_MOVED_TO, cookie);
	inode_notify(victim, IN_ATTRIB);
	inode_notify(moved, IN_MOVE_SELF);
}

static int rename_names(struct task *t, const struct path *odir, const struct last *ol,
			struct name *o, const struct path *ndir, const struct last *nl,
			struct name *n, unsigned flags)
{
	bool exchange = flags & RENAME_EXCHANGE_;

	if (!o->inode)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE_) && n->inode)
		return -EEXIST;
	if (exchange) {
		if (!n->inode)
			return -ENOENT;
		if (!inode_is_dir(n->inode) && nl->slash)
			return -ENOTDIR;
	}
	if (!inode_is_dir(o->inode)) {
		if (ol->slash || (!exchange && nl->slash))
			return -ENOTDIR;
	}
	if (is_above(o->inode, ndir->name))
		return -EINVAL;
	if (n->inode && is_above(n->inode, odir->name))
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (o->inode == n->inode)
		return 0; /* two names of one file: both stay */
	int err = rename_check(t, odir, o, ndir, n, flags);
	if (!err)
		err = ask_names(t, exchange ? NAME_EXCHANGE : NAME_RENAME,
				&(struct path){ odir->mnt, o }, ndir, n);
	if (err < 0)
		return err;
	struct inode *od = odir->name->inode, *nd = ndir->name->inode;
	err = CHECKED(od->ops)->rename(od, ol->str, ol->len, o->inode, nd, nl->str, nl->len,
				       n->inode, flags & RENAME_EXCHANGE_);
	if (err < 0)
		return err;
	observe(named, t,
		&(struct name_done){ .op = exchange ? NAME_EXCHANGE : NAME_RENAME,
				     .dir = odir,
				     .name = ol->str,
				     .len = ol->len,
				     .dir2 = ndir,
				     .name2 = nl->str,
				     .len2 = nl->len,
				     .ino = exchange ? NULL : n->inode });
	if (exchange) {
		name_exchange(o, n);
		rename_notify(od, ol, nd, nl, o->inode, NULL);
		rename_notify(nd, nl, od, ol, n->inode, NULL);
		return 0;
	}
	if (n->inode) {
		name_unlinked(n);
		name_delete(n);
	}
	name_move(o, ndir->name, nl->str, nl->len);
	rename_notify(od, ol, nd, nl, o->inode, n->inode);
	return 0;
}

int vfs_rename(struct task *t, const struct path *odir, const char *olast, const struct path *ndir,
	       const char *nlast, unsigned flags)
{
	struct last ol = last_parse(olast), nl = last_parse(nlast);
	struct name *o, *n;

	if ((flags & ~RENAME_FLAGS) || flags == RENAME_FLAGS)
		return -EINVAL;
	if (odir->mnt != ndir->mnt)
		return -EXDEV;
	if (ol.type != LAST_NORM)
		return -EBUSY;
	if (nl.type != LAST_NORM)
		return flags & RENAME_NOREPLACE_ ? -EEXIST : -EBUSY;
	int err = path_want_write(odir);
	if (!err)
		err = last_lookup(odir, &ol, &o);
	if (err)
		return err;
	err = last_lookup(ndir, &nl, &n);
	if (!err) {
		err = rename_names(t, odir, &ol, o, ndir, &nl, n, flags);
		name_put(n);
	}
	name_put(o);
	return err;
}
