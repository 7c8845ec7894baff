/* /proc/PID/pagemap: eight bytes for each page of a process, by address.
 *
 * The host tells whether a page is present, swapped, of a file or shared; which page of the
 * machine it is stays unknown, as for every reader without privilege on Linux. The stub's range
 * reads as not present. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/guestrange.h"
#include "kernel/platform/uio.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define ENTRY sizeof(uint64_t)
#define CHUNK 2048u /* entries at a time */
#define CHUNKS 16 /* of one call: more are for the next */
#define ENTRY_FLAGS (~0ULL << 55)

static void chunk_fill(int fd, uint64_t page, uint64_t *out, size_t n)
{
	int64_t got = fd < 0 ? 0 : host_pread(fd, out, n * ENTRY, (int64_t)(page * ENTRY));
	size_t have = got < 0 ? 0 : (size_t)got / ENTRY;

	for (size_t i = 0; i < n; i++) {
		uaddr_t addr = (page + i) * PAGE_SIZE;
		bool stub = addr >= STUB_BASE && addr < STUB_BASE + STUB_SPAN;

		out[i] = i < have && !stub ? out[i] & ENTRY_FLAGS : 0;
	}
}

static int64_t pagemap_read(struct file *f, struct uio *u, int64_t pos)
{
	static uint64_t buf[CHUNK];
	struct proc *p = pi_proc(container_of(f->inode, struct pinode, inode));
	const uint64_t pages = GUEST_END / PAGE_SIZE;
	uint64_t page = (uint64_t)pos / ENTRY;
	int64_t done = 0, put;
	int fd;

	if (pos < 0 || (uint64_t)pos % ENTRY || u->left % ENTRY)
		return -EINVAL;
	if (!p || p->state == PROC_ZOMBIE)
		return 0;
	fd = hostview_open(p->pid, 0, "pagemap");
	for (int i = 0; i < CHUNKS && u->left && page < pages; i++) {
		size_t n = MIN(MIN(u->left / ENTRY, (uint64_t)CHUNK), pages - page);

		chunk_fill(fd, page, buf, n);
		put = uio_put(u, buf, n * ENTRY);
		if (put <= 0) {
			done = done ? done : put;
			break;
		}
		done += put;
		page += n;
		if ((uint64_t)put < n * ENTRY)
			break;
	}
	if (fd >= 0)
		host_close(fd);
	return done;
}

static int64_t pagemap_seek(struct file *f, int64_t off, int whence)
{
	if (whence != SEEK_SET && whence != SEEK_CUR)
		return -EINVAL;
	if (__builtin_add_overflow(whence == SEEK_CUR ? f->pos : 0, off, &off) || off < 0)
		return -EINVAL;
	return f->pos = off;
}

static int pagemap_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	(void)f, (void)req, (void)off;
	return -ENODEV;
}

const struct file_ops pagemap_fops = {
	.read = pagemap_read,
	.seek = pagemap_seek,
	.mmap = pagemap_mmap,
};
