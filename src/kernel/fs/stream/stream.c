/* Standard streams that the caller gave: files over the host's descriptors 0, 1 and 2, and those
 * that came with processes that are started later.
 *
 * A stream is a file, a pipe, a socket, a terminal or something else of the host. The kernel's
 * loop must never block on one, so a descriptor that is not O_NONBLOCK is asked with a zero-time
 * poll first and then moved at most PIPE_BUF bytes. What is not ready gives -EAGAIN, and a one-
 * shot watch in the main loop wakes the stream's queue when that may have changed. The watch is
 * armed for exactly what was found missing: a stream that stays ready must not wake the loop
 * over and over.
 *
 * A regular file keeps its position on the host, where the caller's other processes share it;
 * the guest's lseek, read and write move it there. When the last open file of a stream goes, the
 * host's descriptor is closed, so that the reader of a pipeline sees its end. The line
 * discipline of a terminal is the host's; see console.c. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/stream/stream_priv.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

OBJ_TYPE(stream_type, struct stream, 0);

#define CHUNK 65536
#define SAFE_WRITE 4096 /* PIPE_BUF: what a writable pipe or terminal takes without blocking */

static struct fs stream_fs;
/* the first process's, by host descriptor; borrowed: the inode's references keep them */
static struct stream *streams[3];
static const struct file_ops stream_fops;
static const struct inode_ops stream_iops;
static char chunk[CHUNK];

struct stream *stream_of(struct file *f)
{
	return f->ops == &stream_fops ? f->priv : NULL;
}

struct stream *stream_tty(void)
{
	for (size_t i = 0; i < ARRAY_LEN(streams); i++)
		if (streams[i] && streams[i]->kind == STREAM_TTY && streams[i]->fd >= 0)
			return streams[i];
	return NULL;
}

/* ---- readiness ---- */

static uint32_t host_ready(struct stream *s, uint32_t want)
{
	struct pollfd p = { .fd = s->fd, .events = (short)want };

	if (s->kind == STREAM_FILE)
		return want;
	if (s->fd < 0 || host_poll(&p, 1, 0) < 0)
		return POLLERR;
	return (uint32_t)p.revents & 0xffff;
}

static void stream_arm(struct stream *s, uint32_t events)
{
	if (s->kind == STREAM_FILE || s->fd < 0 || (s->armed & events) == events)
		return;
	s->armed |= events;
	/* What the host cannot watch is always ready, and nobody comes to wait for it. */
	if (hostwatch_arm(&s->watch, s->armed) < 0)
		s->armed = 0;
}

static void stream_fired(struct hostwatch *w, uint32_t revents)
{
	struct stream *s = container_of(w, struct stream, watch);
	struct waiter *waiter;
	uint32_t left = 0;

	s->armed = 0;
	waitq_wake(&s->q, revents);
	if (revents & (POLLHUP | POLLERR | POLLNVAL))
		return;
	/* Who waits for something else still has to be told; who was told comes again when it
	 * finds nothing. */
	list_for_each(waiter, &s->q.waiters, link)
		left |= waiter->events;
	left &= (POLLIN | POLLOUT | POLLPRI) & ~revents;
	if (left)
		stream_arm(s, left);
}

static uint32_t stream_poll(struct file *f)
{
	struct stream *s = f->priv;
	uint32_t want = (f->mode & FMODE_READ ? POLLIN : 0) | (f->mode & FMODE_WRITE ? POLLOUT : 0);
	uint32_t ready = host_ready(s, want);

	if ((want & ~ready) && !(ready & (POLLHUP | POLLERR | POLLNVAL)))
		stream_arm(s, want & ~ready);
	if (ready & POLLIN)
		ready |= POLLRDNORM;
	if (ready & POLLOUT)
		ready |= POLLWRNORM;
	return ready;
}

/* The watch was armed by the read, write or poll that found nothing. */
static struct waitq *stream_poll_q(struct file *f)
{
	struct stream *s = f->priv;

	return s->kind == STREAM_FILE ? NULL : &s->q;
}

/* ---- moving bytes ---- */

/* A read or write names a position of its own when its call does (pread and friends); a file's
 * other reads and writes go on where the host's shared position is, whatever f->pos says. */
static bool has_own_position(struct file *f, struct uio *u, int64_t pos)
{
	struct task *t = u->tid ? task_find(u->tid) : NULL;

	if (!t)
		return pos != f->pos;
	switch (t->call.nr) {
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_preadv:
	case SYS_pwritev:
		return true;
	case SYS_preadv2:
	case SYS_pwritev2:
		return t->call.args.a[3] != UINT64_MAX;
	default:
		return pos != f->pos && !(f->flags & O_APPEND);
	}
}

static int64_t host_take(struct stream *s, size_t n)
{
	if (s->kind == STREAM_SOCKET)
		return host_recv(s->fd, chunk, n, MSG_DONTWAIT);
	if (!s->nonblock && !host_ready(s, POLLIN))
		return -EAGAIN;
	return host_read(s->fd, chunk, n);
}

static int64_t host_give(struct stream *s, size_t n)
{
	uint32_t ready;

	if (s->kind == STREAM_SOCKET)
		return host_send(s->fd, chunk, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!s->nonblock) {
		ready = host_ready(s, POLLOUT);
		if (!(ready & (POLLOUT | POLLERR | POLLHUP | POLLNVAL)))
			return -EAGAIN;
	}
	return host_write(s->fd, chunk, n);
}

static int64_t file_stream_read(struct file *f, struct stream *s, struct uio *u, int64_t pos)
{
	bool own = has_own_position(f, u, pos);
	int64_t done = 0, n, put;

	while (u->left > 0) {
		size_t want = MIN(u->left, CHUNK);

		n = own ? host_pread(s->fd, chunk, want, pos + done)
			: host_read(s->fd, chunk, want);
		if (n <= 0)
			return done ? done : n;
		put = uio_put(u, chunk, (size_t)n);
		if (put < n && !own)
			host_lseek(s->fd, (put < 0 ? 0 : put) - n, SEEK_CUR);
		if (put < 0)
			return done ? done : put;
		done += put;
		if (put < n || (size_t)n < want)
			break;
	}
	return done;
}

static int64_t file_stream_write(struct file *f, struct stream *s, struct uio *u, int64_t pos)
{
	bool own = has_own_position(f, u, pos);
	int64_t done = 0, n, took;

	while (u->left > 0) {
		took = uio_take(u, chunk, MIN(u->left, CHUNK));
		if (took < 0)
			return done ? done : took;
		if (!own && (f->flags & O_APPEND))
			host_lseek(s->fd, 0, SEEK_END);
		n = own ? host_pwrite(s->fd, chunk, (size_t)took, pos + done)
			: host_write(s->fd, chunk, (size_t)took);
		if (n < took)
			uio_back(u, (size_t)(n < 0 ? took : took - n));
		if (n < 0)
			return done ? done : n;
		done += n;
		if (n < took)
			break;
	}
	return done;
}

static int64_t stream_read(struct file *f, struct uio *u, int64_t pos)
{
	struct stream *s = f->priv;
	struct task *t = u->tid ? task_find(u->tid) : NULL;
	int64_t done = 0, n, put;

	if (s->kind == STREAM_FILE)
		return file_stream_read(f, s, u, pos);
	if (s->kind == STREAM_TTY) {
		n = console_may_read(t);
		if (n)
			return n;
	}
	while (u->left > 0) {
		size_t want = MIN(u->left, CHUNK);

		n = host_take(s, want);
		if (n == -EAGAIN) {
			if (done)
				break;
			if (s->kind == STREAM_TTY && console_read_is_over(s, t))
				return 0;
			stream_arm(s, POLLIN);
			return -EAGAIN;
		}
		if (n <= 0)
			return done ? done : n;
		put = uio_put(u, chunk, (size_t)n);
		if (put < 0)
			return done ? done : put;
		done += put;
		/* A terminal gives one line for each read; more of it is another read's. */
		if (put < n || (size_t)n < want || s->kind != STREAM_PIPE)
			break;
	}
	return done;
}

static int64_t stream_write(struct file *f, struct uio *u, int64_t pos)
{
	struct stream *s = f->priv;
	size_t most = s->nonblock || s->kind == STREAM_SOCKET ? CHUNK : SAFE_WRITE;
	int64_t done = 0, n, took;

	if (s->kind == STREAM_FILE)
		return file_stream_write(f, s, u, pos);
	if (s->kind == STREAM_TTY) {
		n = console_may_write(s, u->tid ? task_find(u->tid) : NULL);
		if (n)
			return n;
	}
	while (u->left > 0) {
		took = uio_take(u, chunk, MIN(u->left, most));
		if (took < 0)
			return done ? done : took;
		n = host_give(s, (size_t)took);
		if (n < took)
			uio_back(u, (size_t)(n < 0 ? took : took - n));
		if (n == -EAGAIN) {
			stream_arm(s, POLLOUT);
			return done ? done : -EAGAIN;
		}
		if (n < 0)
			return done ? done : n;
		done += n;
		if (n < took) {
			stream_arm(s, POLLOUT);
			break;
		}
	}
	return done;
}

static int64_t stream_seek(struct file *f, int64_t off, int whence)
{
	struct stream *s = f->priv;
	int64_t pos;

	if (s->kind == STREAM_PIPE || s->kind == STREAM_SOCKET || s->kind == STREAM_TTY)
		return -ESPIPE;
	pos = host_lseek(s->fd, off, whence);
	if (pos >= 0)
		f->pos = pos;
	return pos;
}

static int64_t stream_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct stream *s = f->priv;
	struct stat st;
	int n = 0, err = 0;

	if (s->kind == STREAM_TTY)
		return console_ioctl(s, f, t, cmd, arg);
	if (cmd != FIONREAD)
		return -ENOTTY;
	if (s->kind == STREAM_FILE) {
		err = host_fstat(s->fd, &st);
		if (!err)
			n = (int)(st.st_size - MAX(host_lseek(s->fd, 0, SEEK_CUR), 0));
	} else {
		err = host_ioctl(s->fd, FIONREAD, &n);
	}
	if (err < 0)
		return err;
	return guest_put(t->tid, arg, &n);
}

static int stream_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	struct stream *s = f->priv;

	(void)req, (void)off;
	return s->kind == STREAM_FILE ? s->fd : -ENODEV;
}

static int stream_fsync(struct file *f, bool data_only)
{
	struct stream *s = f->priv;

	return s->kind == STREAM_FILE ? host_fsync(s->fd, data_only) : -EINVAL;
}

static int stream_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	struct stream *s = f->priv;

	if (s->kind != STREAM_FILE)
		return -ESPIPE;
	return host_fallocate(s->fd, mode, (int64_t)off, (int64_t)len);
}

static void stream_close(struct stream *s)
{
	for (int i = 0; i < 3; i++) {
		if (s->fds[i] >= 0)
			host_close(s->fds[i]);
		s->fds[i] = -1;
		if (streams[i] == s)
			streams[i] = NULL;
	}
	s->fd = -1;
}

static void stream_release(struct file *f)
{
	struct stream *s = f->priv;

	if (--s->opens > 0 || s->fd < 0)
		return;
	if (s->kind == STREAM_TTY)
		return; /* /dev/tty may be opened again */
	hostwatch_fini(&s->watch);
	waitq_wake(&s->q, POLLHUP | POLLERR);
	stream_close(s);
}

static const struct file_ops stream_fops = {
	.read = stream_read,
	.write = stream_write,
	.seek = stream_seek,
	.poll = stream_poll,
	.poll_q = stream_poll_q,
	.ioctl = stream_ioctl,
	.mmap = stream_mmap,
	.fsync = stream_fsync,
	.fallocate = stream_fallocate,
	.release = stream_release,
};

/* ---- inodes ---- */

/* Opening /dev/stdout or /proc/self/fd/1: another open file of the same stream, in the direction
 * that the caller gave. */
int stream_inode_open(struct inode *ino, struct task *t, struct file *f)
{
	struct stream *s = container_of(ino, struct stream, inode);
	int flags;

	(void)t;
	if (s->fd < 0)
		return -ENXIO;
	flags = host_fcntl(s->fd, F_GETFL, 0);
	if (flags < 0)
		return flags;
	if (((f->mode & FMODE_READ) && (flags & O_ACCMODE) == O_WRONLY) ||
	    ((f->mode & FMODE_WRITE) && (flags & O_ACCMODE) == O_RDONLY))
		return -EACCES;
	f->ops = &stream_fops;
	f->priv = s;
	if (s->kind != STREAM_FILE && s->kind != STREAM_OTHER)
		f->mode |= FMODE_STREAM;
	s->opens++;
	return 0;
}

static int stream_getattr(struct inode *ino)
{
	struct stream *s = container_of(ino, struct stream, inode);
	struct stat st;
	uint32_t uid = ino->uid, gid = ino->gid, mode = ino->mode;
	uint64_t number = ino->ino, rdev = ino->rdev;

	if (s->fd < 0 || host_fstat(s->fd, &st) < 0)
		return 0;
	inode_from_stat(ino, &st);
	/* Numbers, owners and modes are the cell's, not the host's. */
	ino->mode = mode;
	ino->ino = number;
	ino->rdev = rdev;
	ino->uid = uid;
	ino->gid = gid;
	return 0;
}

static int stream_setattr(struct inode *ino, const struct attr *a)
{
	struct stream *s = container_of(ino, struct stream, inode);

	if (a->valid & ATTR_SIZE) {
		if (s->kind != STREAM_FILE || s->fd < 0)
			return -EINVAL;
		return host_ftruncate(s->fd, (int64_t)a->size);
	}
	if (a->valid & ATTR_UID)
		ino->uid = a->uid;
	if (a->valid & ATTR_GID)
		ino->gid = a->gid;
	if (a->valid & ATTR_MODE)
		ino->mode = (ino->mode & S_IFMT) | a->mode;
	return 0;
}

static void stream_evict(struct inode *ino)
{
	struct stream *s = container_of(ino, struct stream, inode);

	stream_close(s);
	waitq_fini(&s->q);
	obj_free(&stream_type, s);
}

/* What /proc/PID/fd shows: not a link, but files without a place are asked for their label this
 * way. */
static int stream_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	static const char *const kinds[] = {
		[STREAM_FILE] = "file",
		[STREAM_PIPE] = "pipe",
		[STREAM_SOCKET] = "socket",
		[STREAM_OTHER] = "device",
	};
	struct stream *s = container_of(ino, struct stream, inode);
	char text[64];
	int n;

	(void)t;
	if (s->kind == STREAM_TTY)
		n = snprintf(text, sizeof(text), "/dev/console");
	else if (s->kind == STREAM_OTHER && ino->rdev == makedev(1, 3))
		n = snprintf(text, sizeof(text), "/dev/null");
	else
		n = snprintf(text, sizeof(text), "%s:[%llu]", kinds[s->kind],
			     (unsigned long long)ino->ino);
	n = MIN(n, (int)MIN(size, sizeof(text) - 1));
	memcpy(buf, text, (size_t)n);
	return n;
}

static const struct inode_ops stream_iops = {
	.readlink = stream_readlink,
	.getattr = stream_getattr,
	.setattr = stream_setattr,
	.open = stream_inode_open,
	.evict = stream_evict,
};

static const struct fs_ops stream_fs_ops = { 0 };

/* consoles: a terminal among them is one. */
static enum stream_kind kind_of(int fd, const struct stat *st, bool consoles)
{
	char termios[64];

	if (S_ISREG(st->st_mode))
		return STREAM_FILE;
	if (S_ISFIFO(st->st_mode))
		return STREAM_PIPE;
	if (S_ISSOCK(st->st_mode))
		return STREAM_SOCKET;
	if (consoles && S_ISCHR(st->st_mode) && host_ioctl(fd, TCGETS, termios) == 0)
		return STREAM_TTY;
	return STREAM_OTHER;
}

static struct stream *stream_new(int fd, const struct stat *st, int flags, enum stream_kind kind)
{
	struct stream *s = obj_new(&stream_type);

	if (!s)
		return NULL;
	s->kind = kind;
	s->fd = fd;
	s->fds[0] = fd;
	s->fds[1] = s->fds[2] = -1;
	s->nonblock = flags & O_NONBLOCK;
	hostwatch_init(&s->watch, fd, stream_fired);
	waitq_init(&s->q);
	inode_init(&s->inode, &stream_fs, &stream_iops, st->st_mode);
	inode_from_stat(&s->inode, st);
	s->inode.ino = ino_next();
	if (s->kind == STREAM_TTY) {
		s->inode.mode = S_IFCHR | 0620;
		s->inode.rdev = makedev(5, 1);
	}
	return s;
}

/* The caller gave one terminal, pipe or socket twice: both are one open file, as they are for a
 * child of a shell. */
static int same_as_before(int n, const struct stat st[3], const int flags[3])
{
	for (int i = 0; i < n; i++)
		if (!S_ISREG(st[i].st_mode) && st[i].st_dev == st[n].st_dev &&
		    st[i].st_ino == st[n].st_ino && st[i].st_rdev == st[n].st_rdev &&
		    st[i].st_mode == st[n].st_mode &&
		    (flags[i] & O_ACCMODE) == (flags[n] & O_ACCMODE))
			return i;
	return -1;
}

/* One stream for each of fds, or the one of another; owned by uid and gid, as a shell's child owns
 * what it was given. Takes the descriptors. */
static int files_make(const int fds[3], bool consoles, uint32_t uid, uint32_t gid,
		      struct file *out[3], struct stream *made[3])
{
	struct stat st[3];
	int flags[3], err, same, i;
	struct stream *s;

	if (!stream_fs.ops) {
		fs_init(&stream_fs, &stream_fs_ops, "devtmpfs");
		console_init();
	}
	for (i = 0; i < 3; i++)
		out[i] = NULL;
	for (i = 0; i < 3; i++) {
		flags[i] = host_fcntl(fds[i], F_GETFL, 0);
		err = flags[i] < 0 ? flags[i] : host_fstat(fds[i], &st[i]);
		if (err < 0)
			goto out_put;
		same = same_as_before(i, st, flags);
		if (same >= 0) {
			made[i] = made[same];
			made[i]->fds[i] = fds[i];
			out[i] = file_get(out[same]);
			continue;
		}
		err = -ENOMEM;
		s = stream_new(fds[i], &st[i], flags[i], kind_of(fds[i], &st[i], consoles));
		if (!s)
			goto out_put;
		made[i] = s;
		s->inode.uid = uid;
		s->inode.gid = s->kind == STREAM_TTY ? 5 : gid;
		/* Whether the host's descriptor blocks is ours to know; the guest's flag begins
		 * clear. */
		err = file_new(&s->inode, NULL, (uint32_t)flags[i] & (O_ACCMODE | O_APPEND),
			       &out[i]);
		if (!err)
			err = stream_inode_open(&s->inode, NULL, out[i]);
		/* The file holds the inode now. A terminal stays: /dev/tty may be opened when no
		 * file is left. */
		if (s->kind != STREAM_TTY || err)
			inode_put(&s->inode);
		if (err) {
			i++; /* its descriptor went with it */
			goto out_put;
		}
		if (s->kind == STREAM_FILE)
			out[i]->pos = MAX(host_lseek(fds[i], 0, SEEK_CUR), 0);
	}
	return 0;

out_put:
	for (int j = 0; j < 3; j++) {
		if (out[j])
			file_put(out[j]);
		if (j >= i)
			host_close(fds[j]);
	}
	return err;
}

int stream_files(struct file *out[3])
{
	static const int fds[3] = { 0, 1, 2 };

	return files_make(fds, true, cell.spec.uid, cell.spec.gid, out, streams);
}

int stream_files_of(const int fds[3], uint32_t uid, uint32_t gid, struct file *out[3])
{
	struct stream *made[3];

	return files_make(fds, false, uid, gid, out, made);
}

void stream_files_mark(struct file *const files[3])
{
	for (int i = 2; i >= 0; i--) {
		struct stream *s = stream_of(files[i]);

		if (s)
			s->number = (uint8_t)(i + 1);
	}
}

int stream_file_number(struct file *f)
{
	const struct stream *s = stream_of(f);

	return s ? s->number - 1 : -1;
}
