/* Helpers of the file-side handlers: path arguments, new descriptors, parking on a file. */
#include "kernel/sys/file_util.h"

#include <errno.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/abi/signal.h"
#include "kernel/fs/inotify/inotify.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/ops.h"

char path_buf[PATH_MAX_LEN], path_buf2[PATH_MAX_LEN];

int path_arg(struct task *t, uaddr_t addr, char *buf, bool empty_ok)
{
	int r = guest_read_str(t->tid, buf, addr, PATH_MAX_LEN);

	if (r < 0)
		return r;
	return r == 0 && !empty_ok ? -ENOENT : 0;
}

int path_of_fd(struct task *t, int fd, bool path_ok, struct path *ret_)
{
	struct file *f = path_ok ? fd_file_or_path(t, fd) : fd_file(t, fd);

	return f ? file_place(f, ret_) : -EBADF;
}

int path_missing(struct task *t, int err)
{
	bool missed = err == -ENOENT && t->call.missed;

	t->call.missed = false;
	if (missed)
		return births_wait(t) == WAITING ? WAITING : err;
	t->call.has_deadline =
		false; /* that of births_wait: the call waits for another thing now */
	return err;
}

int path_at(struct task *t, int dfd, uaddr_t addr, unsigned flags, struct path *ret_)
{
	int r;

	/* A null pointer is as good as "" where that is allowed. */
	path_buf[0] = 0;
	if (addr || !(flags & LOOKUP_EMPTY)) {
		r = path_arg(t, addr, path_buf, flags & LOOKUP_EMPTY);
		if (r < 0)
			return r;
	}
	if (!path_buf[0] && dfd != AT_FDCWD)
		return path_of_fd(t, dfd, true, ret_);
	return path_missing(t, path_lookup(t, dfd, path_buf, flags, ret_));
}

void newnode_init(struct newnode *n, struct task *t, const struct inode *dir, uint32_t mode)
{
	memset(n, 0, sizeof(*n));
	n->mode = mode & ~t->fs->umask;
	if (S_ISLNK(mode))
		n->mode = S_IFLNK | 0777;
	n->uid = t->cred.fsuid;
	n->gid = t->cred.fsgid;
	if (dir->mode & S_ISGID) {
		n->gid = dir->gid;
		if (S_ISDIR(mode))
			n->mode |= S_ISGID;
		else if (inode_strips_setgid(dir, mode, &t->cred)) /* before the umask */
			n->mode &= ~(uint32_t)S_ISGID;
	}
}

int64_t fd_give(struct task *t, struct file *f, bool cloexec)
{
	int fd = fd_install(t, f, 0, cloexec);

	if (fd < 0)
		file_put(f);
	return fd;
}

int fd_room(struct task *t, uint32_t count)
{
	const struct fdtable *ft = t->files;
	uint64_t limit = t->proc->limits[RLIMIT_NOFILE].cur;
	uint32_t used = 0;

	if (ft->open + (uint64_t)count <= limit)
		return 0;
	/* Descriptors above a limit that was lowered later do not count against it. */
	for (uint32_t i = 0; i < MIN((uint64_t)ft->size, limit); i++)
		used += ft->slots[i].file != NULL;
	return used + (uint64_t)count <= limit ? 0 : -EMFILE;
}

void uio_skip(struct uio *u, uint64_t n)
{
	n = MIN(n, u->left);
	u->left -= n;
	while (n && u->cur < u->nvec) {
		uint64_t room = u->vec[u->cur].len - u->cur_off;
		if (n < room) {
			u->cur_off += n;
			return;
		}
		n -= room;
		u->cur++;
		u->cur_off = 0;
	}
}

void sigpipe_send(struct task *t)
{
	struct linux_siginfo info = { .signo = SIGPIPE, .code = SI_USER };

	info.u.rt.pid = t->proc->pid;
	info.u.rt.uid = t->cred.uid;
	(void)!signal_send_task(t, SIGPIPE, &info);
}

int file_written(struct file *f, unsigned rwf)
{
	bool whole = (f->flags & O_SYNC) == O_SYNC || rwf & RWF_SYNC;

	if ((!whole && !(f->flags & O_DSYNC) && !(rwf & RWF_DSYNC)) || !f->ops->fsync)
		return 0;
	return CHECKED(f->ops)->fsync(f, !whole);
}

int64_t call_written(struct task *t, struct file *f, unsigned rwf, int64_t n)
{
	int r;

	t->call.done = n;
	t->call.may_wait = t->call.way != WAY_POST; /* which has no second run */
	r = file_written(f, rwf);
	return r < 0 ? r : n;
}

bool call_written_again(struct task *t, int64_t *ret_)
{
	int r;

	if (!layer_sync_waits())
		return false;
	r = layer_sync_again();
	*ret_ = r < 0 ? r : t->call.done;
	return true;
}

void file_keep(struct task *t, struct file *f)
{
	if (t->call.kept.kind == KEPT_NOTHING)
		t->call.kept = (struct call_kept){ .kind = KEPT_FILE, .file = file_get(f) };
}

struct file *file_of_call(struct task *t, int fd)
{
	if (t->call.resumed && t->call.kept.kind == KEPT_FILE)
		return t->call.kept.file;
	return fd_file(t, fd);
}

int64_t file_park(struct task *t, struct file *f, uint32_t events)
{
	struct waitq *q = file_poll_q(f);

	if (events & POLLIN)
		events |= POLLRDNORM;
	if (events & POLLOUT)
		events |= POLLWRNORM;
	if (!q)
		return -EAGAIN;
	file_keep(t, f);
	return call_wait(t, q, events, PARK_RESTART);
}
