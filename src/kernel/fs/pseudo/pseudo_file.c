/* Open text files of the tables: a snapshot for each open file.
 *
 * The snapshot is taken at the first read, again at a read from offset 0, and dropped when the
 * reader reaches the end, so that many open but finished files hold no memory. The reader is
 * found by the uio's thread: what a file shows may depend on it. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/fs/pseudo/pseudo_file.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"

OBJ_TYPE(textbuf_type, struct textbuf, 0);

static size_t snapshot_bytes; /* in all snapshots */

static void snapshot_free(struct file *f)
{
	struct textbuf *b = f->priv;

	if (!b)
		return;
	snapshot_bytes -= b->cap;
	text_free(b);
	obj_free(&textbuf_type, b);
	f->priv = NULL;
}

/* The text. A watch stays as long as its file. */
static void snapshot_drop(struct file *f)
{
	struct textbuf *b = f->priv;
	uint32_t seen;

	if (!b || !container_of(f->inode, struct pinode, inode)->node->watch) {
		snapshot_free(f);
		return;
	}
	seen = b->seen;
	snapshot_bytes -= b->cap;
	text_free(b);
	b->seen = seen;
}

static int snapshot_take(struct file *f, struct task *t)
{
	struct pinode *pi = container_of(f->inode, struct pinode, inode);
	struct textbuf *b = f->priv;
	int err;

	if (!b || !b->more) {
		snapshot_drop(f);
		if (snapshot_bytes > TEXT_TOTAL_MAX)
			return -ENOMEM;
		if (!f->priv)
			f->priv = obj_new(&textbuf_type);
		b = f->priv;
		if (!b)
			return -ENOMEM;
	}
	snapshot_bytes -= b->cap;
	do {
		b->more = false;
		err = CHECKED(pi->node)->show(pi, t, b);
	} while (!err && b->more && !task_current);
	snapshot_bytes += b->cap;
	if (!err && b->failed && b->len == 0)
		err = -ENOMEM;
	if (!err && b->more)
		return call_wait_turn(task_current);
	if (err)
		snapshot_drop(f);
	return err;
}

static int64_t text_read(struct file *f, struct uio *u, int64_t pos)
{
	struct pinode *pi = container_of(f->inode, struct pinode, inode);
	struct textbuf *b = f->priv;
	const char *data = pi->node->text;
	size_t len = data ? strlen(data) : 0;
	int err;

	if (pos < 0)
		return -EINVAL;
	if (pi->node->show) {
		if (!b || !b->cap || b->more || pos == 0) {
			err = snapshot_take(f, u->tid ? task_find(u->tid) : NULL);
			if (err)
				return err;
			b = f->priv;
		}
		data = b->data;
		len = b->len;
	} else if (!data && !pi->node->store) {
		return -EINVAL;
	}
	if ((uint64_t)pos >= len) {
		snapshot_drop(f);
		return 0;
	}
	return uio_put(u, data + pos, len - (size_t)pos);
}

static int64_t text_write(struct file *f, struct uio *u, int64_t pos)
{
	struct pinode *pi = container_of(f->inode, struct pinode, inode);
	struct task *t = u->tid ? task_find(u->tid) : NULL;
	char buf[4096];
	int64_t n, taken;

	(void)pos;
	if (!pi->node->store || !t)
		return -EINVAL;
	if (u->left == 0)
		return 0;
	n = uio_take(u, buf, MIN(u->left, sizeof(buf) - 1));
	if (n < 0)
		return n;
	buf[n] = 0;
	taken = CHECKED(pi->node)->store(pi, t, buf, (size_t)n);
	if (taken < n)
		uio_back(u, (size_t)(taken < 0 ? n : n - taken));
	return taken;
}

static int64_t text_seek(struct file *f, int64_t off, int whence)
{
	const struct pinode *pi = container_of(f->inode, struct pinode, inode);
	const struct pseudo_fs *pfs = container_of(pi->inode.fs, struct pseudo_fs, fs);
	int64_t base = whence == SEEK_CUR ? f->pos : 0, size = (int64_t)pfs->file_size;

	if (whence != SEEK_SET && whence != SEEK_CUR) {
		if (!pi->node->sized && !pi->node->strict && !size)
			return -EINVAL;
		if ((whence == SEEK_DATA || whence == SEEK_HOLE) && (off < 0 || off >= size))
			return -ENXIO;
		if (whence == SEEK_END || whence == SEEK_HOLE)
			base = size;
		else if (whence != SEEK_DATA)
			return -EINVAL;
		if (whence == SEEK_HOLE)
			off = 0;
	}
	if (__builtin_add_overflow(base, off, &off) || off < 0)
		return -EINVAL;
	f->pos = off;
	return off;
}

/* Nothing of a table can be mapped. */
static int text_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	(void)f, (void)req, (void)off;
	return -ENODEV;
}

const struct file_ops pseudo_fops = {
	.read = text_read,
	.write = text_write,
	.seek = text_seek,
	.mmap = text_mmap,
	.release = snapshot_free,
};

/* ---- waiting for changes ---- */

int pseudo_watch_begin(struct file *f, const struct pwatch *w)
{
	struct textbuf *b = obj_new(&textbuf_type);

	if (!b)
		return -ENOMEM;
	b->seen = *w->changes;
	f->priv = b;
	return 0;
}

/* Each change is told once to each open file. */
static uint32_t text_poll(struct file *f)
{
	const struct pwatch *w = container_of(f->inode, struct pinode, inode)->node->watch;
	struct textbuf *b = f->priv;
	uint32_t ready = POLLIN | POLLRDNORM;

	if (!w)
		return ready | POLLOUT | POLLWRNORM;
	if (b->seen != *w->changes)
		ready |= POLLPRI | POLLERR;
	b->seen = *w->changes;
	return ready;
}

static struct waitq *text_poll_q(struct file *f)
{
	const struct pwatch *w = container_of(f->inode, struct pinode, inode)->node->watch;

	return w ? w->q : NULL;
}

const struct file_ops pseudo_watch_fops = {
	.read = text_read,
	.write = text_write,
	.seek = text_seek,
	.mmap = text_mmap,
	.poll = text_poll,
	.poll_q = text_poll_q,
	.release = snapshot_free,
};
