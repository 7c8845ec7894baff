/* Descriptor tables, and the root/working directory/umask of threads: the two things that clone()
 * shares or copies.
 *
 * The slots are one blob that doubles. hint is a lower bound of the lowest free number, so the
 * usual open-close-open costs no search. Closing a descriptor drops the table's POSIX locks on the
 * file, as Linux has it, whichever descriptor took them: also where the last to hold the table is
 * the birth of a thread whose process was killed. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/lock.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/upcalls.h"
#include "kernel/vfs/vfs_priv.h"

#define SLOTS_FIRST 16
#define SLOTS_MAX (1u << 20) /* Linux's fs.nr_open */

OBJ_TYPE(fdtable_type, struct fdtable, 0);
OBJ_TYPE(fsctx_type, struct fsctx, 0);

static uint64_t lock_id_last;

static struct fdtable *fdtable_of_size(uint32_t size)
{
	struct fdtable *ft = obj_new(&fdtable_type);

	if (!ft)
		return NULL;
	ft->slots = blob_new(size * sizeof(*ft->slots));
	if (!ft->slots) {
		obj_free(&fdtable_type, ft);
		return NULL;
	}
	memset(ft->slots, 0, size * sizeof(*ft->slots));
	ft->refs = 1;
	ft->size = size;
	ft->lock_id = ++lock_id_last;
	list_init(&ft->closing_link);
	return ft;
}

struct fdtable *fdtable_new(void)
{
	return fdtable_of_size(SLOTS_FIRST);
}

struct fdtable *fdtable_copy(const struct fdtable *from)
{
	uint32_t used = from->size, size = SLOTS_FIRST;

	while (used && !from->slots[used - 1].file)
		used--;
	while (size < used)
		size *= 2;
	struct fdtable *ft = fdtable_of_size(size);
	if (!ft)
		return NULL;
	for (uint32_t i = 0; i < used; i++) {
		if (!from->slots[i].file)
			continue;
		ft->slots[i] = from->slots[i];
		file_get(ft->slots[i].file);
	}
	ft->open = from->open;
	ft->was_full = from->was_full;
	ft->hint = MIN(from->hint, size);
	return ft;
}

struct fdtable *fdtable_get(struct fdtable *ft)
{
	ref_get(&ft->refs);
	return ft;
}

/* One descriptor of f in ft goes away. */
static void file_close(struct fdtable *ft, struct file *f, struct task *t)
{
	if (f->ops && f->ops->flush)
		CHECKED(f->ops)->flush(f, t);
	if (f->inode->locks && !(f->mode & FMODE_PATH))
		locks_release_posix(f->inode, ft);
	file_put(f);
}

static struct file *slot_clear(struct fdtable *ft, uint32_t fd)
{
	struct file *f = ft->slots[fd].file;

	ft->slots[fd] = (struct fdslot){ NULL, false };
	if (f) {
		ft->open--;
		ft->hint = MIN(ft->hint, fd);
	}
	return f;
}

static void fdtable_free(struct fdtable *ft)
{
	blob_free(ft->slots, ft->size * sizeof(*ft->slots));
	obj_free(&fdtable_type, ft);
}

bool fdtable_close(struct fdtable *ft, struct task *t)
{
	for (uint32_t i = 0; i < ft->size && ft->open; i++) {
		struct file *f = slot_clear(ft, i);

		if (!f)
			continue;
		file_close(ft, f, t);
		if (i % 8 == 7 && turn_is_long())
			return !ft->open;
	}
	return true;
}

/* Tables without a user that have more files than fit into one turn: of a thread that had its own,
 * or of a child that never came. Those of a process are closed before its end is known
 * (cell/leave.c). */
static struct list closing = LIST_INIT(closing);

static void closing_go_on(struct ktimer *timer)
{
	while (!list_is_empty(&closing)) {
		struct fdtable *ft = list_first(&closing, struct fdtable, closing_link);

		if (!fdtable_close(ft, NULL)) { /* there is room for the timer: it has just run */
			(void)ktimer_start(timer, now_mono() + 1);
			return;
		}
		list_remove(&ft->closing_link);
		fdtable_free(ft);
	}
}
KTIMER(closing_timer, closing_go_on);

void fdtable_put(struct fdtable *ft, struct task *t)
{
	if (!ft || !ref_put(&ft->refs))
		return;
	while (!fdtable_close(ft, t))
		if (ktimer_is_started(&closing_timer) ||
		    ktimer_start(&closing_timer, now_mono() + 1) == 0) {
			list_append(&closing, &ft->closing_link);
			return;
		}
	fdtable_free(ft);
}

void fdtable_note_full(struct fdtable *ft)
{
	if (ft->was_full)
		return;
	ft->was_full = true;
	if (vfs_upcalls.files_full)
		vfs_upcalls.files_full(ft);
}

static uint32_t fd_limit(const struct task *t)
{
	uint64_t limit = t->proc->limits[RLIMIT_NOFILE].cur;
	return limit < SLOTS_MAX ? (uint32_t)limit : SLOTS_MAX;
}

/* Room for descriptor fd. */
static int fdtable_reserve(struct fdtable *ft, uint32_t fd)
{
	uint32_t size = ft->size;

	if (fd < size)
		return 0;
	while (size <= fd)
		size *= 2;
	struct fdslot *slots =
		blob_resize(ft->slots, ft->size * sizeof(*slots), size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots + ft->size, 0, (size - ft->size) * sizeof(*slots));
	ft->slots = slots;
	ft->size = size;
	return 0;
}

int fd_install(struct task *t, struct file *f, int from, bool cloexec)
{
	struct fdtable *ft = t->files;
	uint32_t limit = fd_limit(t);

	if (from < 0)
		return -EINVAL;
	bool from_lowest = (uint32_t)from <= ft->hint;
	uint32_t fd = MAX((uint32_t)from, ft->hint);
	while (fd < ft->size && ft->slots[fd].file)
		fd++;
	if (from_lowest)
		ft->hint = fd;
	if (fd >= limit)
		return -EMFILE;
	int err = fdtable_reserve(ft, fd);
	if (err < 0)
		return err;
	ft->slots[fd] = (struct fdslot){ f, cloexec };
	if (++ft->open >= limit)
		fdtable_note_full(ft);
	if (from_lowest)
		ft->hint = fd + 1;
	return (int)fd;
}

int fd_install_at(struct task *t, struct file *f, int fd, bool cloexec)
{
	struct fdtable *ft = t->files;

	if (fd < 0 || (uint32_t)fd >= fd_limit(t))
		return -EBADF;
	int err = fdtable_reserve(ft, (uint32_t)fd);
	if (err < 0)
		return err;
	struct file *old = slot_clear(ft, (uint32_t)fd);
	ft->slots[fd] = (struct fdslot){ f, cloexec };
	if (++ft->open >= fd_limit(t))
		fdtable_note_full(ft);
	if (old)
		file_close(ft, old, t);
	return fd;
}

int fd_close(struct task *t, int fd)
{
	struct fdtable *ft = t->files;

	if (fd < 0 || (uint32_t)fd >= ft->size)
		return -EBADF;
	struct file *f = slot_clear(ft, (uint32_t)fd);
	if (!f)
		return -EBADF;
	file_close(ft, f, t);
	return 0;
}

bool fd_close_on_exec(struct task *t)
{
	struct fdtable *ft = t->files;
	uint32_t left = ft->open;

	for (uint32_t i = 0; i < ft->size && left; i++) {
		if (!ft->slots[i].file)
			continue;
		left--;
		if (!ft->slots[i].cloexec)
			continue;
		file_close(ft, slot_clear(ft, i), t);
		if (i % 8 == 7 && turn_is_long())
			return false;
	}
	return true;
}

struct file *fd_file_or_path(struct task *t, int fd)
{
	struct fdtable *ft = t->files;
	return ft && fd >= 0 && (uint32_t)fd < ft->size ? ft->slots[fd].file : NULL;
}

struct file *fd_file(struct task *t, int fd)
{
	struct file *f = fd_file_or_path(t, fd);
	return f && !(f->mode & FMODE_PATH) ? f : NULL;
}

struct fsctx *fsctx_new(const struct path *root, const struct path *cwd, uint32_t umask)
{
	struct fsctx *fs = obj_new(&fsctx_type);

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->root = *root;
	fs->cwd = *cwd;
	fs->umask = umask;
	path_get(&fs->root);
	path_get(&fs->cwd);
	return fs;
}

struct fsctx *fsctx_copy(const struct fsctx *from)
{
	struct fsctx *fs = fsctx_new(&from->root, &from->cwd, from->umask);

	if (fs)
		fs->ns = mntns_get(from->ns);
	return fs;
}

struct fsctx *fsctx_get(struct fsctx *fs)
{
	ref_get(&fs->refs);
	return fs;
}

void fsctx_put(struct fsctx *fs)
{
	if (!fs || !ref_put(&fs->refs))
		return;
	path_put(&fs->root);
	path_put(&fs->cwd);
	mntns_put(fs->ns);
	obj_free(&fsctx_type, fs);
}
