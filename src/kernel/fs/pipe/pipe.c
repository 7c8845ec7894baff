/* Pipes: a ring of bytes between writers and readers.
 *
 * The ring is a blob that exists only while there is something in it and grows in powers of two up
 * to the pipe's capacity, so an idle pipe costs nothing but its object. Positions count all bytes
 * ever moved; the ring index is the position modulo the ring's size. Messages of writers in
 * O_DIRECT mode are remembered as ranges of positions: a read stops at the end of a message and
 * drops what it did not take of it.
 *
 * The sum of all capacities is bounded as Linux bounds a user's pipes: over PIPE_TOTAL_MAX a new
 * pipe gets PIPE_SIZE_LOW, and growing one is refused. The number of pipes is bounded by the
 * object's limit (ENFILE). */
#include "kernel/fs/pipe/pipe.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/fs/pipe/pipe_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

OBJ_TYPE(pipe_type, struct pipe, 8192);

static uint64_t capacity_total;

struct pipe *pipe_new(void)
{
	struct pipe *p = obj_new(&pipe_type);

	if (!p)
		return NULL;
	p->refs = 1;
	p->capacity = PIPE_SIZE_DEFAULT;
	if (capacity_total + PIPE_SIZE_DEFAULT > PIPE_TOTAL_MAX)
		p->capacity = PIPE_SIZE_LOW;
	capacity_total += p->capacity;
	waitq_init(&p->q);
	return p;
}

void pipe_put(struct pipe *p)
{
	if (!ref_put(&p->refs))
		return;
	if (p->ino)
		p->ino->fifo = NULL;
	waitq_fini(&p->q);
	if (p->ring)
		blob_free(p->ring, p->ring_size);
	if (p->packets)
		blob_free(p->packets, p->packets_max * sizeof(*p->packets));
	capacity_total -= p->capacity;
	obj_free(&pipe_type, p);
}

uint32_t pipe_used(const struct pipe *p)
{
	return (uint32_t)(p->wpos - p->rpos);
}

uint32_t pipe_capacity(const struct pipe *p)
{
	return p->capacity;
}

bool pipe_has_readers(const struct pipe *p)
{
	return p->readers != 0;
}

bool pipe_has_writers(const struct pipe *p)
{
	return p->writers != 0;
}

uint32_t pipe_space(const struct pipe *p)
{
	/* Each message takes a page of Linux's, however short it is. */
	if (p->npackets >= p->capacity / PIPE_ATOMIC)
		return 0;
	return p->capacity - pipe_used(p);
}

/* As poll sees it: room for any atomic write. */
static bool pipe_is_writable(const struct pipe *p)
{
	return pipe_space(p) >= PIPE_ATOMIC;
}

/* The ring becomes size bytes (a power of two that holds the content). */
static int ring_resize(struct pipe *p, uint32_t size)
{
	uint32_t used = pipe_used(p);
	char *ring = blob_new(size);

	if (!ring)
		return -ENOMEM;
	uint32_t at = (uint32_t)p->rpos & (size - 1);
	uint32_t first = MIN(used, size - at);
	pipe_peek(p, 0, ring + at, first);
	pipe_peek(p, first, ring, used - first);
	if (p->ring)
		blob_free(p->ring, p->ring_size);
	p->ring = ring;
	p->ring_size = size;
	return 0;
}

static int ring_want(struct pipe *p, uint32_t bytes)
{
	uint32_t size = p->ring_size ? p->ring_size : (uint32_t)PAGE_SIZE;

	while (size < bytes)
		size *= 2;
	return size == p->ring_size ? 0 : ring_resize(p, size);
}

uint32_t pipe_peek(const struct pipe *p, uint32_t off, void *dst, uint32_t n)
{
	uint32_t used = pipe_used(p);

	if (off >= used)
		return 0;
	n = MIN(n, used - off);
	uint32_t at = (uint32_t)(p->rpos + off) & (p->ring_size - 1);
	uint32_t first = MIN(n, p->ring_size - at);
	memcpy(dst, p->ring + at, first);
	memcpy((char *)dst + first, p->ring, n - first);
	return n;
}

void pipe_consume(struct pipe *p, uint32_t n)
{
	bool was_writable = pipe_is_writable(p);
	uint32_t gone = 0;

	p->rpos += MIN(n, pipe_used(p));
	while (gone < p->npackets && p->packets[gone].end <= p->rpos)
		gone++;
	if (gone) {
		p->npackets -= gone;
		memmove(p->packets, p->packets + gone, p->npackets * sizeof(*p->packets));
	}
	if (p->rpos == p->wpos && p->ring) {
		blob_free(p->ring, p->ring_size);
		p->ring = NULL;
		p->ring_size = 0;
	}
	if (!was_writable && pipe_is_writable(p))
		waitq_wake(&p->q, POLLOUT | POLLWRNORM);
}

static int packets_want(struct pipe *p)
{
	uint32_t max = p->capacity / PIPE_ATOMIC;

	if (p->packets_max >= max)
		return 0;
	struct pipe_packet *packets = blob_new(max * sizeof(*packets));
	if (!packets)
		return -ENOMEM;
	if (p->packets) {
		memcpy(packets, p->packets, p->npackets * sizeof(*packets));
		blob_free(p->packets, p->packets_max * sizeof(*packets));
	}
	p->packets = packets;
	p->packets_max = max;
	return 0;
}

/* Gives back a ring that was made for bytes that did not come. */
static int64_t push_failed(struct pipe *p, int64_t err)
{
	if (p->rpos == p->wpos && p->ring) {
		blob_free(p->ring, p->ring_size);
		p->ring = NULL;
		p->ring_size = 0;
	}
	return err;
}

/* n bytes between the ring at pos and the caller; how many went. */
static uint32_t ring_move(struct pipe *p, struct uio *u, uint64_t pos, uint32_t n, bool in)
{
	uint32_t moved = 0;

	while (moved < n) {
		uint32_t at = (uint32_t)(pos + moved) & (p->ring_size - 1);
		uint32_t piece = MIN(n - moved, p->ring_size - at);
		int64_t r = in ? uio_take(u, p->ring + at, piece) : uio_put(u, p->ring + at, piece);
		if (r <= 0)
			break;
		moved += (uint32_t)r;
		if ((uint32_t)r < piece)
			break;
	}
	return moved;
}

int64_t pipe_push(struct pipe *p, struct uio *u, bool packet)
{
	uint32_t space = pipe_space(p);
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)space);
	uint32_t moved;

	if (!p->readers)
		return -EPIPE;
	if (!space)
		return -EAGAIN;
	if (packet)
		n = MIN(n, PIPE_ATOMIC);
	if (packet && packets_want(p) < 0)
		return -ENOMEM;
	if (ring_want(p, pipe_used(p) + n) < 0)
		return push_failed(p, -ENOMEM);
	moved = ring_move(p, u, p->wpos, n, true);
	if (!moved)
		return push_failed(p, -EFAULT);
	if (packet)
		p->packets[p->npackets++] =
			(struct pipe_packet){ .start = p->wpos, .end = p->wpos + moved };
	p->wpos += moved;
	waitq_wake(&p->q, POLLIN | POLLRDNORM);
	return moved;
}

int64_t pipe_resize(struct pipe *p, uint64_t size)
{
	uint32_t want = PAGE_SIZE;

	if (size > (1u << 31))
		return -EINVAL;
	if (size > PIPE_SIZE_MAX)
		return -EPERM;
	while (want < size)
		want *= 2;
	if (want > p->capacity && capacity_total - p->capacity + want > PIPE_TOTAL_MAX)
		return -EPERM;
	if (pipe_used(p) > want || p->npackets > want / PIPE_ATOMIC)
		return -EBUSY;
	if (p->ring_size > want) {
		int r = ring_resize(p, want);
		if (r < 0)
			return r;
	}
	bool was_writable = pipe_is_writable(p);
	capacity_total = capacity_total - p->capacity + want;
	p->capacity = want;
	if (!was_writable && pipe_is_writable(p))
		waitq_wake(&p->q, POLLOUT | POLLWRNORM);
	return want;
}

/* ---- the open file ---- */

struct pipe *pipe_of(const struct file *f)
{
	return f->ops == &pipe_fops ? f->priv : NULL;
}

static int64_t pipe_read(struct file *f, struct uio *u, int64_t pos)
{
	struct pipe *p = f->priv;
	uint32_t used = pipe_used(p), moved;
	uint64_t end = p->wpos;

	(void)pos;
	if (!u->left)
		return 0;
	if (!used)
		return p->writers ? -EAGAIN : 0;
	if (p->npackets)
		end = p->packets[0].end;
	uint32_t n = (uint32_t)MIN(u->left, end - p->rpos);
	moved = ring_move(p, u, p->rpos, n, false);
	if (!moved)
		return -EFAULT;
	uint32_t taken = moved;
	if (p->npackets && p->rpos + moved > p->packets[0].start)
		taken = (uint32_t)(end - p->rpos); /* the rest of a message is lost */
	pipe_consume(p, taken);
	return moved;
}

static int64_t pipe_write(struct file *f, struct uio *u, int64_t pos)
{
	struct pipe *p = f->priv;

	(void)pos;
	if (!u->left)
		return 0;
	if (!p->readers)
		return -EPIPE;
	if (u->left <= PIPE_ATOMIC && pipe_space(p) < u->left)
		return -EAGAIN;
	if (!(f->flags & O_DIRECT))
		return pipe_push(p, u, false);
	/* A long write in packet mode becomes several messages. */
	int64_t moved = 0;
	while (u->left) {
		if (pipe_space(p) < MIN(u->left, PIPE_ATOMIC))
			return moved ? moved : -EAGAIN;
		int64_t r = pipe_push(p, u, true);
		if (r < 0)
			return moved ? moved : r;
		moved += r;
	}
	return moved;
}

static uint32_t pipe_poll(struct file *f)
{
	struct pipe *p = f->priv;
	uint32_t ready = 0;

	if (f->mode & FMODE_READ) {
		if (pipe_used(p))
			ready |= POLLIN | POLLRDNORM;
		/* f->pos is how many writers had come when a FIFO was opened without waiting: only
		 * a later one that went away is a hang-up. */
		if (!p->writers && (uint32_t)f->pos != p->w_counter)
			ready |= POLLHUP;
	}
	if (f->mode & FMODE_WRITE) {
		if (pipe_is_writable(p))
			ready |= POLLOUT | POLLWRNORM;
		if (!p->readers)
			ready |= POLLERR;
	}
	return ready;
}

static struct waitq *pipe_poll_q(struct file *f)
{
	return &((struct pipe *)f->priv)->q;
}

static int64_t pipe_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct pipe *p = f->priv;
	int32_t n = (int32_t)pipe_used(p);

	if (cmd != FIONREAD)
		return -ENOTTY;
	return guest_put(t->tid, arg, &n);
}

void pipe_drop_end(struct pipe *p, bool reader, bool writer)
{
	p->readers -= reader;
	p->writers -= writer;
	if (!p->readers != !p->writers)
		waitq_wake(&p->q, POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR | POLLHUP);
	pipe_put(p);
}

static void pipe_release(struct file *f)
{
	pipe_drop_end(f->priv, f->mode & FMODE_READ, f->mode & FMODE_WRITE);
}

const struct file_ops pipe_fops = {
	.async = ASYNC_ALWAYS,
	.read = pipe_read,
	.write = pipe_write,
	.poll = pipe_poll,
	.poll_q = pipe_poll_q,
	.ioctl = pipe_ioctl,
	.release = pipe_release,
};

int pipe_make(uint32_t flags, struct file **ret_r, struct file **ret_w)
{
	struct pipe *p = pipe_new();
	struct file *r, *w;
	int err;

	if (!p)
		return -ENFILE;
	flags &= O_NONBLOCK | O_DIRECT;
	err = file_new_anon("pipe:", S_IFIFO | 0600, &pipe_fops, p, O_RDONLY | (flags & O_NONBLOCK),
			    &r);
	if (err < 0) {
		pipe_put(p);
		return err;
	}
	r->mode = FMODE_READ | FMODE_STREAM;
	p->readers = p->r_counter = 1;
	p->anonymous = true;
	p->ino = r->inode;
	p->ino->fifo = (struct fifo *)p;
	err = file_new(r->inode, r->path.name ? &r->path : NULL, O_WRONLY | flags, &w);
	if (err < 0) {
		file_put(r); /* and with it the pipe */
		return err;
	}
	w->ops = &pipe_fops;
	w->priv = p;
	w->mode = FMODE_WRITE | FMODE_STREAM;
	ref_get(&p->refs);
	p->writers = p->w_counter = 1;
	*ret_r = r;
	*ret_w = w;
	return 0;
}
