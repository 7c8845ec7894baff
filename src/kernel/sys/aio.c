/* io_setup, io_submit, io_getevents, io_cancel, io_destroy: Linux's native asynchronous I/O.
 *
 * A request is carried out when it is submitted, as Linux itself does for files whose pages are at
 * hand; its result waits in the context until it is asked for. So nothing is ever in flight:
 * io_cancel finds nothing, io_getevents waits only for requests that another thread submits. A
 * request on a pipe, socket or terminal that would wait ends with EAGAIN.
 *
 * The name of a context is an address, at which libaio looks for a ring that it can read itself.
 * The stub maps a page of zeros there: no ring, so libaio asks us.
 *
 * Left out: IOCB_CMD_POLL (EINVAL, as before Linux 4.18), io_pgetevents. */
#include "kernel/sys/aio.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/abi/time.h"
#include "kernel/fs/eventfd/eventfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/guestrange.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

#define EVENTS_MAX 65536 /* of all contexts of the cell, as /proc/sys/fs/aio-max-nr says */
#define EVENTS_ABSURD (0x10000000U / sizeof(struct io_event))
#define PIECE (2UL << 20) /* after so many bytes others have their turn */
#define BYTES_MAX (64UL << 20) /* of one request: what is longer is short */
#define RWF_AIO (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND)

_Static_assert(sizeof(struct iocb) == 64 && sizeof(struct io_event) == 32, "aio_abi.h");

struct aio_ctx {
	struct aio_ctx *next; /* of the same process */
	uint64_t id;
	uint32_t size; /* events that it holds */
	uint32_t first, count; /* of those that wait */
	struct io_event *events; /* blob of size, a ring */
	struct waitq q;
};
OBJ_TYPE(aio_ctx_type, struct aio_ctx, 4096);

static uint32_t events_total;

static struct aio_ctx *ctx_find(const struct task *t, uint64_t id)
{
	struct aio_ctx *c = t->proc->aio;

	while (c && c->id != id)
		c = c->next;
	return c;
}

static void ctx_free(struct aio_ctx *c)
{
	events_total -= c->size;
	waitq_wake(&c->q, ~0u);
	waitq_fini(&c->q);
	blob_free(c->events, c->size * sizeof(*c->events));
	obj_free(&aio_ctx_type, c);
}

void aio_free(struct proc *p)
{
	while (p->aio) {
		struct aio_ctx *c = p->aio;

		p->aio = c->next;
		ctx_free(c);
	}
}

/* (events, where the name goes, the page) */
int64_t hc_io_setup(struct task *t, const struct sysargs *a)
{
	uint32_t size = (uint32_t)a->a[0];
	uint64_t id;
	struct aio_ctx *c;

	if (guest_get(t->tid, &id, a->a[1]) < 0)
		return -EFAULT;
	if (id || !size || size > EVENTS_ABSURD || !a->a[2] || ctx_find(t, a->a[2]))
		return -EINVAL;
	if (size > EVENTS_MAX - events_total)
		return -EAGAIN;
	c = obj_new(&aio_ctx_type);
	if (!c)
		return -EAGAIN;
	c->events = blob_new(size * sizeof(*c->events));
	if (!c->events) {
		obj_free(&aio_ctx_type, c);
		return -ENOMEM;
	}
	id = a->a[2];
	if (guest_put(t->tid, a->a[1], &id) < 0) {
		blob_free(c->events, size * sizeof(*c->events));
		obj_free(&aio_ctx_type, c);
		return -EFAULT;
	}
	waitq_init(&c->q);
	c->id = id;
	c->size = size;
	events_total += size;
	c->next = t->proc->aio;
	t->proc->aio = c;
	return 0;
}

int64_t hc_io_destroy(struct task *t, const struct sysargs *a)
{
	for (struct aio_ctx **at = &t->proc->aio; *at; at = &(*at)->next)
		if ((*at)->id == a->a[0]) {
			struct aio_ctx *c = *at;

			*at = c->next;
			ctx_free(c);
			return 0;
		}
	return -EINVAL;
}

/* A large request is made in pieces; AGAIN: the rest in the next turn. */
#define AGAIN INT64_MIN

static int64_t piece_rw(struct file *f, const struct iocb *io, struct uio *u, int64_t pos,
			bool write)
{
	uint32_t flags = f->flags;
	int64_t r;

	if (!write)
		return file_read(f, u, pos);
	if (io->aio_rw_flags & RWF_APPEND)
		f->flags |= O_APPEND;
	r = file_write(f, u, f->mode & FMODE_STREAM ? 0 : file_write_pos(f, pos));
	f->flags = flags;
	if (r > 0) {
		int err = file_written(f, (unsigned)io->aio_rw_flags);

		return err < 0 ? err : r;
	}
	return r;
}

static int64_t request_rw(struct task *t, struct file *f, const struct iocb *io, struct uio *u,
			  bool write)
{
	bool stream = f->mode & FMODE_STREAM;
	struct call_kept *kept = &t->call.kept; /* how much was moved in turns before */
	int64_t pos = stream ? 0 : io->aio_offset, moved, r;
	uint64_t want = MIN(u->left, BYTES_MAX), piece;

	if (pos < 0)
		return -EINVAL;
	moved = kept->kind == KEPT_MOVED ? kept->moved : 0;
	/* The guest may have changed the request meanwhile; what was moved, was. */
	if ((uint64_t)moved >= want)
		return (int64_t)want;
	uio_skip(u, (uint64_t)moved);
	piece = MIN(want - (uint64_t)moved, PIECE);
	u->left = piece;
	r = piece_rw(f, io, u, stream ? 0 : pos + moved, write);
	if (r <= 0 || (uint64_t)r < piece || (uint64_t)(moved + r) == want)
		return moved ? moved + MAX(r, 0) : r;
	*kept = (struct call_kept){ .kind = KEPT_MOVED, .moved = moved + r };
	return AGAIN;
}

/* What is wrong with a request before it is made is told by io_submit: *ret_ok false. Else the
 * result is for its event. */
static int64_t request_do(struct task *t, struct file *f, const struct iocb *io, bool *ret_ok)
{
	bool write =
		io->aio_lio_opcode == IOCB_CMD_PWRITE || io->aio_lio_opcode == IOCB_CMD_PWRITEV;
	struct uio u;
	int64_t r;

	*ret_ok = false;
	switch (io->aio_lio_opcode) {
	case IOCB_CMD_FSYNC:
	case IOCB_CMD_FDSYNC:
		if (io->aio_buf || io->aio_offset || io->aio_nbytes || io->aio_rw_flags ||
		    !f->ops->fsync)
			return -EINVAL;
		*ret_ok = true;
		return CHECKED(f->ops)->fsync(f, io->aio_lio_opcode == IOCB_CMD_FDSYNC);
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PREADV:
	case IOCB_CMD_PWRITEV:
		break;
	default:
		return -EINVAL;
	}
	if (io->aio_rw_flags & ~(unsigned)RWF_AIO)
		return -EOPNOTSUPP;
	if (!(f->mode & (write ? FMODE_WRITE : FMODE_READ)))
		return -EBADF;
	if (!(write ? (void *)f->ops->write : (void *)f->ops->read) || inode_is_dir(f->inode))
		return -EINVAL;
	if (io->aio_lio_opcode == IOCB_CMD_PREADV || io->aio_lio_opcode == IOCB_CMD_PWRITEV) {
		r = uio_init_iov(&u, t->tid, io->aio_buf, io->aio_nbytes);
		if (r < 0)
			return r;
	} else {
		if (!guest_range_ok(io->aio_buf, io->aio_nbytes))
			return -EFAULT;
		uio_init_guest(&u, t->tid, io->aio_buf, io->aio_nbytes);
	}
	*ret_ok = true;
	r = request_rw(t, f, io, &u, write);
	uio_fini(&u);
	return r;
}

static void eventfd_tell(struct file *f)
{
	uint64_t one = 1;
	struct uio u;

	uio_init_kernel(&u, &one, sizeof(one));
	(void)!CHECKED(f->ops)->write(f, &u, 0);
}

/* One request. *ret_bytes is what it cost. */
static int64_t submit_one(struct task *t, struct aio_ctx *c, uaddr_t addr, uint64_t *ret_bytes)
{
	struct file *f, *tell = NULL;
	const uint32_t key = 0;
	struct iocb io;
	int64_t r;
	bool ok;

	if (guest_get(t->tid, &io, addr) < 0)
		return -EFAULT;
	if (io.aio_reserved2 || (int64_t)io.aio_nbytes < 0)
		return -EINVAL;
	if (c->count == c->size)
		return -EAGAIN;
	f = fd_file(t, (int)io.aio_fildes);
	if (!f)
		return -EBADF;
	if (io.aio_flags & IOCB_FLAG_RESFD) {
		tell = fd_file(t, (int)io.aio_resfd);
		if (!tell)
			return -EBADF;
		if (!file_is_eventfd(tell))
			return -EINVAL;
	}
	if (guest_write(t->tid, addr + offsetof(struct iocb, aio_key), &key, sizeof(key)) < 0)
		return -EFAULT;
	r = request_do(t, f, &io, &ok);
	if (!ok || r == AGAIN || r == WAITING)
		return r;
	t->call.kept.kind = KEPT_NOTHING;
	*ret_bytes += r > 0 ? (uint64_t)r : 0;
	c->events[(c->first + c->count++) % c->size] =
		(struct io_event){ .data = io.aio_data, .obj = addr, .res = r };
	waitq_wake(&c->q, POLLIN);
	if (tell)
		eventfd_tell(tell);
	return 0;
}

int64_t sys_io_submit(struct task *t, const struct sysargs *a)
{
	struct aio_ctx *c = ctx_find(t, a->a[0]);
	int64_t n = (int64_t)a->a[1], r = 0;
	uint64_t bytes = 0, addr;

	if (n < 0 || !c)
		return -EINVAL;
	n = MIN(n, (int64_t)c->size);
	while (t->call.done < n) {
		if (bytes >= PIECE)
			return call_wait_turn(t);
		if (guest_get(t->tid, &addr, a->a[2] + (uint64_t)t->call.done * sizeof(addr)) < 0)
			r = -EFAULT;
		else
			r = submit_one(t, c, addr, &bytes);
		if (r < 0 && t->call.parked)
			return WAITING;
		if (r == AGAIN || (r == 0 && turn_is_long())) {
			t->call.done += r == 0;
			return t->call.done < n ? call_wait_turn(t) : t->call.done;
		}
		if (r < 0)
			break;
		t->call.done++;
	}
	return t->call.done ? t->call.done : r;
}

int64_t sys_io_getevents(struct task *t, const struct sysargs *a)
{
	struct aio_ctx *c = ctx_find(t, a->a[0]);
	int64_t min = (int64_t)a->a[1], max = (int64_t)a->a[2];
	struct linux_timespec ts;

	if (a->a[4] && guest_get(t->tid, &ts, a->a[4]) < 0)
		return -EFAULT;
	if (!c && t->call.done)
		return t->call.done; /* destroyed while it waited */
	if (!c || min < 0 || min > max)
		return -EINVAL;
	if (a->a[4])
		call_set_timeout(t,
				 ts.sec < 0 ? 0
				 : ts.sec > TIME_NEVER / NSEC_PER_SEC - 1
					 ? TIME_NEVER
					 : ts.sec * NSEC_PER_SEC + MAX(ts.nsec, 0) % NSEC_PER_SEC);
	/* call.done says how many were given out already. */
	while (t->call.done < max && c->count) {
		const struct io_event *e = &c->events[c->first];

		if (guest_put(t->tid, a->a[3] + (uint64_t)t->call.done * sizeof(*e), e) < 0)
			return t->call.done ? t->call.done : -EFAULT;
		c->first = (c->first + 1) % c->size;
		c->count--;
		t->call.done++;
	}
	if (t->call.done >= min || (a->a[4] && (call_is_expired(t) || (!ts.sec && !ts.nsec))))
		return t->call.done;
	return call_wait(t, &c->q, POLLIN, PARK_EINTR);
}

int64_t sys_io_cancel(struct task *t, const struct sysargs *a)
{
	uint32_t key;

	if (guest_read(t->tid, &key, a->a[1] + offsetof(struct iocb, aio_key), sizeof(key)) < 0)
		return -EFAULT;
	return -EINVAL; /* it is done already */
}
