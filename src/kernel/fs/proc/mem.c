/* /proc/PID/mem: the memory of a process, by address.
 *
 * Whoever may look into the process (proc_may_look, asked at each use) moves bytes there with the
 * rights of the process's own pages: what it cannot write, nobody can. The stub's range is not
 * there. What is not mapped is EIO, and a process that is gone reads as empty, as on Linux. Left
 * out: writing to read-only pages (Linux forces that for debuggers). */
#include <errno.h>
#include <unistd.h>

#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/guestrange.h"
#include "kernel/platform/uio.h"
#include "stub/stub.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define CHUNK 16384U
#define RUN_MAX (16UL << 20) /* of one call, so that it cannot hold up the loop */

/* How many of n bytes at addr are the guest's own. */
static size_t mem_range(uaddr_t addr, size_t n)
{
	if (addr >= STUB_BASE && addr < STUB_BASE + STUB_SPAN)
		return 0;
	if (addr < STUB_BASE)
		n = MIN(n, (size_t)(STUB_BASE - addr));
	return addr < GUEST_END ? MIN(n, (size_t)(GUEST_END - addr)) : 0;
}

/* Whose memory; 0: gone, or -errno. */
static pid_t mem_tid(struct file *f, const struct uio *u)
{
	struct pinode *pi = container_of(f->inode, struct pinode, inode);
	struct task *reader = u->tid ? task_find(u->tid) : NULL, *t = pi_task(pi);

	if (!reader)
		return -EINVAL;
	if (!t)
		return 0;
	return proc_may_look(reader, t->proc) ? t->tid : -EACCES;
}

static int64_t mem_read(struct file *f, struct uio *u, int64_t pos)
{
	static char buf[CHUNK];
	pid_t tid = mem_tid(f, u);
	int64_t done = 0, put;

	if (tid <= 0)
		return tid;
	while (u->left && (uint64_t)done < RUN_MAX) {
		uaddr_t addr = (uaddr_t)(pos + done);
		size_t n = mem_range(addr, MIN(u->left, (uint64_t)CHUNK));

		n = n ? guest_read_some(tid, buf, addr, n) : 0;
		if (!n)
			return done ? done : -EIO;
		put = uio_put(u, buf, n);
		if (put < 0)
			return done ? done : put;
		done += put;
		if ((size_t)put < n)
			break;
	}
	return done;
}

static int64_t mem_write(struct file *f, struct uio *u, int64_t pos)
{
	static char buf[CHUNK];
	pid_t tid = mem_tid(f, u);
	int64_t done = 0, took;

	if (tid <= 0)
		return tid;
	while (u->left && (uint64_t)done < RUN_MAX) {
		uaddr_t addr = (uaddr_t)(pos + done);
		size_t n = mem_range(addr, MIN(u->left, (uint64_t)CHUNK)), put;

		if (!n)
			return done ? done : -EIO;
		took = uio_take(u, buf, n);
		if (took <= 0)
			return done ? done : took;
		put = guest_write_some(tid, addr, buf, (size_t)took);
		done += (int64_t)put;
		if (put < (size_t)took) {
			uio_back(u, (size_t)took - put);
			return done ? done : -EIO;
		}
	}
	return done;
}

static int64_t mem_seek(struct file *f, int64_t off, int whence)
{
	if (whence != SEEK_SET && whence != SEEK_CUR)
		return -EINVAL;
	if (__builtin_add_overflow(whence == SEEK_CUR ? f->pos : 0, off, &off) || off < 0)
		return -EINVAL;
	return f->pos = off;
}

static int mem_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	(void)f, (void)req, (void)off;
	return -ENODEV;
}

const struct file_ops mem_fops = {
	.read = mem_read,
	.write = mem_write,
	.seek = mem_seek,
	.mmap = mem_mmap,
};
