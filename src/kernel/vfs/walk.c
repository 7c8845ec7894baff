/* The path walk: from a string to a place in the tree, component by component, as Linux's namei
 * does.
 *
 * One loop, no recursion. A symbolic link that is met replaces the string; what was left of the
 * string waits on a stack (the texts of links are kept in one static buffer for each level, which
 * is enough because the kernel runs one walk at a time). At most SYMLINK_DEPTH links are followed
 * in one walk, nested or not. A component is "last" when nothing is left of its string and the
 * stack is empty: so a link at the end of the path hands "last" on to its own last component.
 *
 * Order of the errors at each step: not a directory, no search permission, name too long, then what
 * the look-up says. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/vfs_priv.h"

struct walk {
	struct task *t;
	unsigned flags;
	struct path root; /* borrowed: where ".." stops and "/" leads */
	struct path cur; /* counted */
	unsigned links; /* followed so far */
	unsigned depth; /* strings that wait */
	const char *rest[SYMLINK_DEPTH];
};

static char link_texts[SYMLINK_DEPTH + 1][PATH_MAX_LEN];

/* The walk is here: what is remembered of it hangs on this name. */
static void walk_note(const struct walk *w)
{
	fast_note_stamp(&w->cur.name->stamp, w->cur.name->inode->fs->stable);
}

static void walk_move(struct walk *w, struct mount *mnt, struct name *name)
{
	struct path to = { mnt, name };
	path_get(&to);
	path_put(&w->cur);
	w->cur = to;
	walk_note(w);
}

/* Onto what is mounted where the walk is. */
static int walk_cross(struct walk *w)
{
	struct mount *before = w->cur.mnt;

	if (!w->cur.name->mounted)
		return 0;
	path_cross_mounts(&w->cur);
	walk_note(w);
	return w->cur.mnt != before && (w->flags & LOOKUP_NO_XDEV) ? -EXDEV : 0;
}

static int walk_to_root(struct walk *w)
{
	if (w->flags & LOOKUP_BENEATH)
		return -EXDEV;
	if ((w->flags & LOOKUP_NO_XDEV) && w->cur.mnt && w->cur.mnt != w->root.mnt)
		return -EXDEV;
	walk_move(w, w->root.mnt, w->root.name);
	return 0;
}

/* A directory that was moved out of what its mount shows has no way up there. */
static bool walk_is_inside(const struct path *p)
{
	const struct name *n = p->name;

	if (!p->mnt->root->parent)
		return true;
	while (n && n != p->mnt->root)
		n = n->parent;
	return n != NULL;
}

static int walk_up(struct walk *w)
{
	for (;;) {
		if (path_is_same(&w->cur, &w->root)) {
			if (w->flags & LOOKUP_BENEATH)
				return -EXDEV;
			break;
		}
		if (w->cur.name != w->cur.mnt->root) {
			if (!walk_is_inside(&w->cur))
				return -ENOENT;
			if (w->cur.name->parent)
				walk_move(w, w->cur.mnt, w->cur.name->parent);
			break;
		}
		if (!w->cur.mnt->parent)
			break;
		if (w->flags & LOOKUP_NO_XDEV)
			return -EXDEV;
		walk_move(w, w->cur.mnt->parent, w->cur.mnt->point);
	}
	return walk_cross(w);
}

/* A link that is a place: the walk goes on there. */
static int walk_jump(struct walk *w, struct inode *link)
{
	struct path to = { NULL, NULL };

	fast_notes.bad = true;
	if (w->flags & LOOKUP_NO_MAGIC)
		return -ELOOP;
	int err = CHECKED(link->ops)->follow(link, w->t, &to);
	if (err < 0)
		return err;
	if ((w->flags & LOOKUP_NO_XDEV) && to.mnt != w->cur.mnt)
		err = -EXDEV;
	else if (w->flags & (LOOKUP_BENEATH | LOOKUP_IN_ROOT))
		err = -EXDEV;
	if (err < 0) {
		path_put(&to);
		return err;
	}
	path_put(&w->cur);
	w->cur = to;
	return 0;
}

/* A link at the end of a path in a sticky directory that all may write is followed only for its
 * owner, or if it belongs to the directory's: somebody else may have put it there as a trap
 * (protected_symlinks is 1 in /proc/sys/fs). */
static bool walk_may_follow(const struct walk *w, const struct inode *link)
{
	const struct inode *dir = w->cur.name->inode;

	return link->uid == w->t->cred.fsuid || link->uid == dir->uid ||
	       (dir->mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH);
}

/* Follows link, which lies in the current directory; *s is what comes after it and becomes what is
 * to be walked. */
static int walk_link(struct walk *w, struct name *link, bool is_last, const char **s)
{
	struct inode *ino = link->inode;
	struct path place = { w->cur.mnt, link };

	if (w->links++ >= SYMLINK_DEPTH)
		return -ELOOP;
	if ((w->flags & LOOKUP_NO_SYMLINKS) || (w->cur.mnt->flags & MNT_NOSYMFOLLOW))
		return -ELOOP;
	if (is_last && !walk_may_follow(w, ino))
		return -EACCES;
	path_accessed(&place);
	/* Whether it has to be marked as accessed; there, each time. */
	fast_note_stamp(&ino->stamp, true);
	if (w->cur.mnt->flags & MNT_STRICTATIME)
		fast_notes.bad = true;
	if (ino->ops->follow)
		return walk_jump(w, ino);
	if (!ino->ops->readlink)
		return -EINVAL;
	if (**s)
		w->rest[w->depth++] = *s;
	char *text = link_texts[w->depth];
	int n = CHECKED(ino->ops)->readlink(ino, w->t, text, PATH_MAX_LEN - 1);
	if (n < 0)
		return n;
	if (n == 0)
		return -ENOENT;
	text[MIN(n, (int)PATH_MAX_LEN - 1)] = '\0';
	*s = text;
	return text[0] == '/' ? walk_to_root(w) : 0;
}

/* One component that is neither "." nor "..". Returns 1 when the walk is over. */
static int walk_step(struct walk *w, const char *str, size_t len, bool is_last, const char **s)
{
	struct name *n;
	int err = name_lookup(w->cur.name, str, len, &n);

	if (err < 0)
		return err;
	fast_note_stamp(&n->stamp, w->cur.name->inode->fs->stable);
	if (!n->inode) {
		if (!is_last || !(w->flags & LOOKUP_CREATE)) {
			name_put(n);
			return -ENOENT;
		}
		name_put(w->cur.name);
		w->cur.name = n;
		return 1;
	}
	if (inode_is_lnk(n->inode) && (!is_last || (w->flags & LOOKUP_FOLLOW))) {
		err = walk_link(w, n, is_last, s);
		name_put(n);
		return err;
	}
	name_put(w->cur.name);
	w->cur.name = n;
	return walk_cross(w);
}

/* The loop. With last, stops before the last component and copies it there. */
static int walk_run(struct walk *w, const char *s, char *last, bool *ret_slash)
{
	for (;;) {
		while (*s == '/')
			s++;
		if (!*s) {
			if (w->depth) {
				s = w->rest[--w->depth];
				continue;
			}
			if (last)
				strcpy(last, "/");
			return 0;
		}
		struct inode *dir = w->cur.name->inode;
		if (!inode_is_dir(dir))
			return -ENOTDIR;
		int err = inode_permission(dir, &w->t->cred, X_OK);
		if (err < 0)
			return err;
		fast_note_dir(dir->mode);
		const char *str = s;
		while (*s && *s != '/')
			s++;
		size_t len = (size_t)(s - str);
		bool slash = *s == '/';
		while (*s == '/')
			s++;
		bool is_last = !*s && !w->depth;
		if (len > NAME_MAX_LEN)
			return -ENAMETOOLONG;
		if (is_last && last) {
			memcpy(last, str, len);
			last[len] = '\0';
			*ret_slash = slash;
			return 0;
		}
		if (len == 1 && str[0] == '.')
			continue;
		if (len == 2 && str[0] == '.' && str[1] == '.') {
			err = walk_up(w);
		} else {
			if (is_last && slash) {
				if (w->flags & LOOKUP_CREATE)
					return -EISDIR;
				w->flags |= LOOKUP_FOLLOW | LOOKUP_DIRECTORY;
			}
			err = walk_step(w, str, len, is_last, &s);
		}
		if (err)
			return err < 0 ? err : 0;
	}
}

/* Where the walk starts: the root, the working directory, or what dfd stands for. */
static int walk_start(struct walk *w, int dfd, const char *path)
{
	struct fsctx *fs = w->t->fs;

	w->root = fs->root;
	if (path[0] == '/' && !(w->flags & LOOKUP_IN_ROOT))
		return walk_to_root(w);
	if (dfd == AT_FDCWD) {
		walk_move(w, fs->cwd.mnt, fs->cwd.name);
	} else {
		struct file *f = fd_file_or_path(w->t, dfd);
		if (!f)
			return -EBADF;
		if (path[0] && !inode_is_dir(f->inode))
			return -ENOTDIR;
		int err = file_place(f, &w->cur);
		if (err < 0)
			return err;
	}
	/* The descriptor or the working directory holds it for as long as the walk borrows it. */
	if (w->flags & (LOOKUP_BENEATH | LOOKUP_IN_ROOT))
		w->root = w->cur;
	return 0;
}

static int walk_init(struct walk *w, struct task *t, int dfd, const char *path, unsigned flags)
{
	w->t = t;
	w->flags = flags;
	w->cur = (struct path){ NULL, NULL };
	w->links = 0;
	w->depth = 0;
	if (!path[0] && !(flags & LOOKUP_EMPTY))
		return -ENOENT;
	if (strnlen(path, PATH_MAX_LEN) >= PATH_MAX_LEN)
		return -ENAMETOOLONG;
	return walk_start(w, dfd, path);
}

int path_lookup(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_)
{
	struct walk w;
	int err = walk_init(&w, t, dfd, path, flags);

	if (!err && path[0])
		err = walk_run(&w, path, NULL, NULL);
	if (!err && (w.flags & LOOKUP_DIRECTORY) &&
	    !(w.cur.name->inode && inode_is_dir(w.cur.name->inode)))
		err = -ENOTDIR;
	if (err < 0) {
		path_put(&w.cur);
		return err;
	}
	*ret_ = w.cur;
	return 0;
}

int path_lookup_parent(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_,
		       char *last, bool *ret_dirslash)
{
	struct walk w;
	bool slash = false;
	int err = walk_init(&w, t, dfd, path, flags & ~LOOKUP_EMPTY);

	if (!err)
		err = walk_run(&w, path, last, &slash);
	if (err < 0) {
		path_put(&w.cur);
		return err;
	}
	*ret_ = w.cur;
	*ret_dirslash = slash;
	return 0;
}

int path_text(const struct path *p, const struct path *root, bool mark_deleted, char *buf,
	      size_t size, char **ret_text, size_t *ret_len)
{
	static const char mark[] = " (deleted)";
	struct path cur = *p; /* borrowed: the place keeps all above it */
	size_t at = size;

	if (size < 2)
		return -ENAMETOOLONG;
	buf[--at] = '\0';
	if (mark_deleted && p->name->deleted) {
		if (at < sizeof(mark) - 1)
			return -ENAMETOOLONG;
		at -= sizeof(mark) - 1;
		memcpy(buf + at, mark, sizeof(mark) - 1);
	}
	size_t end = at;
	while (!(root && path_is_same(&cur, root))) {
		if (cur.name == cur.mnt->root) {
			if (!cur.mnt->parent) {
				/* At the top of a tree: the real root, or outside of what root
				 * shows. */
				if (root || list_is_empty(&cur.mnt->link))
					return -ENOENT;
				break;
			}
			cur = (struct path){ cur.mnt->parent, cur.mnt->point };
			continue;
		}
		if (!cur.name->parent)
			return -ENOENT;
		if (at < (size_t)cur.name->len + 1)
			return -ENAMETOOLONG;
		at -= cur.name->len;
		memcpy(buf + at, cur.name->str, cur.name->len);
		buf[--at] = '/';
		cur.name = cur.name->parent;
	}
	if (at == end) {
		if (!at)
			return -ENAMETOOLONG;
		buf[--at] = '/';
	}
	*ret_text = buf + at;
	*ret_len = size - at;
	return 0;
}
