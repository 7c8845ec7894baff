/* /proc/PID/fd and fdinfo. A link in fd leads to the open file's place itself, not to a name:
 * opening it opens the same inode anew, also when the file has no name any more or never had
 * one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"

/* The descriptor that a link is about; NULL: closed meanwhile. Borrowed. */
static const struct fdslot *pi_slot(const struct pinode *pi)
{
	struct task *t = pi_task(pi);

	if (!t || !t->files || pi->sub >= t->files->size || !t->files->slots[pi->sub].file)
		return NULL;
	return &t->files->slots[pi->sub];
}

static int fd_look(struct pinode *pi, struct task *t, struct file **ret_)
{
	struct proc *p = pi_proc(pi);
	const struct fdslot *slot = pi_slot(pi);

	if (!p || !slot)
		return -ENOENT;
	*ret_ = slot->file;
	return proc_may_look(t, p) ? 0 : -EACCES;
}

static int fd_readlink(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	struct file *f;
	int err = fd_look(pi, t, &f);

	return err ? err : file_label(f, reader_root(t), buf, size);
}

static int fd_follow(struct pinode *pi, struct task *t, struct path *ret_)
{
	struct file *f;
	int err = fd_look(pi, t, &f);

	return err ? err : file_place(f, ret_);
}

static int show_fdinfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	static char more[16384];
	const struct fdslot *slot = pi_slot(pi);
	struct proc *p = pi_proc(pi);
	struct file *f;
	struct uio u;

	if (!slot || !p)
		return -ENOENT;
	if (!proc_may_look(t, p))
		return -EACCES;
	f = slot->file;
	text_printf(b, "pos:\t%ld\nflags:\t0%o\nmnt_id:\t%d\nino:\t%lu\n", f->pos,
		    (f->flags & ~(uint32_t)O_CLOEXEC) | (slot->cloexec ? O_CLOEXEC : 0),
		    f->path.mnt ? f->path.mnt->id : 0, f->inode->ino);
	if (f->ops && f->ops->fdinfo) {
		uio_init_kernel(&u, more, sizeof(more));
		CHECKED(f->ops)->fdinfo(f, &u);
		text_put(b, more, sizeof(more) - MIN(u.left, sizeof(more)));
		uio_fini(&u);
	}
	return 0;
}

static const struct pnode fd_link = {
	.mode = S_IFLNK | 0700,
	.readlink = fd_readlink,
	.follow = fd_follow,
};

static const struct pnode fdinfo_file = {
	.mode = S_IFREG | 0400,
	.show = show_fdinfo,
	.may_open = may_open_look,
};

static int entry_find(struct pinode *dir, const char *name, const struct pnode *node,
		      struct pentry *out)
{
	struct task *t = pi_task(dir);
	uint64_t n;

	if (!t || !t->files || !text_to_number(name, &n) || n >= t->files->size ||
	    !t->files->slots[n].file)
		return -ENOENT;
	out->node = node;
	out->id = dir->id;
	out->sub = n;
	out->gen = dir->gen;
	return 0;
}

static int entry_next(struct pinode *dir, struct pwalk *w, const struct pnode *node,
		      struct pentry *out)
{
	struct task *t = pi_task(dir);

	if (!t || !t->files)
		return -ENOENT;
	while (w->cursor < t->files->size && !t->files->slots[w->cursor].file)
		w->cursor++;
	if (w->cursor >= t->files->size)
		return -ENOENT;
	out->node = node;
	out->id = dir->id;
	out->sub = w->cursor;
	out->gen = dir->gen;
	snprintf(out->name, sizeof(out->name), "%lu", w->cursor);
	return 0;
}

static int fd_find(struct pinode *dir, const char *name, struct pentry *out)
{
	return entry_find(dir, name, &fd_link, out);
}

static int fd_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	return entry_next(dir, w, &fd_link, out);
}

static int fdinfo_find(struct pinode *dir, const char *name, struct pentry *out)
{
	return entry_find(dir, name, &fdinfo_file, out);
}

static int fdinfo_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	return entry_next(dir, w, &fdinfo_file, out);
}

const struct pdir fd_dir = { .find = fd_find, .next = fd_next };
const struct pdir fdinfo_dir = { .find = fdinfo_find, .next = fdinfo_next };

/* For the mode of a link: what the descriptor may do. */
uint32_t fd_link_mode(const struct pinode *pi)
{
	const struct fdslot *slot = pi_slot(pi);
	uint32_t mode = S_IFLNK;

	if (pi->node != &fd_link)
		return 0;
	if (slot && slot->file->mode & FMODE_READ)
		mode |= 0500;
	if (slot && slot->file->mode & FMODE_WRITE)
		mode |= 0300;
	return mode;
}
