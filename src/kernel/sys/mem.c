/* mmap of files: the stub asks which descriptor to map; everything else about memory is the
 * host's. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "host/host.h"
#include "kernel/fs/proc/procmap.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/slots.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/mem.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"

#define MAP_FIXED_NOREPLACE_ 0x100000 /* not every libc has it */
#define MAP_LEN_MAX (1ull << 47)

int mem_give(struct task *t, struct file *f, const struct mapping_req *req, bool *ret_keep)
{
	struct inode *ino = f->inode;
	uint64_t off = req->off;
	bool write = (req->flags & MAP_SHARED) && (f->mode & FMODE_WRITE), immutable;
	int fd;

	if (f->ops && f->ops->mmap)
		fd = CHECKED(f->ops)->mmap(f, req, &off);
	else if (ino->ops->hostfd)
		fd = CHECKED(ino->ops)->hostfd(ino, write);
	else
		fd = -ENODEV;
	if (fd < 0)
		return fd;
	if (off != req->off)
		return -ENODEV;
	immutable = ino->immutable && !write;
	if (!ino->noted) {
		procmap_note(fd, f);
		ino->noted = immutable; /* others can be renamed */
	}
	/* A mapping that does not write the file gets a descriptor that cannot: a shared one must
	 * not become writable by mprotect, and the number in the runner is the guest's to try,
	 * whatever the mapping was to be. */
	if (!immutable && !write && (host_fcntl(fd, F_GETFL, 0) & O_ACCMODE) != O_RDONLY) {
		int ro = host_reopen_readonly(cell.proc_fd, fd), ret;

		/* A host that shows cells no /proc of their own: who opened the file for writing
		 * may change it in any case, and then counts as having done so. */
		if (ro < 0 && !(f->mode & FMODE_WRITE))
			return -EACCES;
		if (ro < 0) {
			observe(wrote, f);
			return slot_give_fd(t->proc->slots, t->call.id, fd, 0, ret_keep);
		}
		ret = slot_give_fd(t->proc->slots, t->call.id, ro, 0, ret_keep);
		host_close(ro);
		return ret;
	}
	return slot_give_fd(t->proc->slots, t->call.id, fd, immutable ? ino->ino : 0, ret_keep);
}

/* A library that is not unloaded again, and that others make their calls through. By its name
 * alone: the stub looks at each instruction before it rewrites it. */
static bool is_libc(const struct file *f)
{
	const struct name *n = f->path.name;

	return n && fastmem && (!strncmp(n->str, "libc.so", 7) || !strncmp(n->str, "libc-2.", 7));
}

/* Of a mount that says so, or of none: what is no file cannot be run. */
static bool file_is_noexec(const struct file *f)
{
	if (f->path.mnt)
		return f->path.mnt->flags & MNT_NOEXEC;
	return !(f->ops && f->ops->mmap) && !f->inode->ops->hostfd;
}

int64_t hc_mmap(struct task *t, const struct sysargs *a)
{
	const struct mapping_req req = {
		.prot = (int)a->a[2], .flags = (int)a->a[3], .off = a->a[5], .len = a->a[1]
	};
	struct file *f;
	bool keep = false, written;
	int type = req.flags & 15, fd;

	if (req.off & (PAGE_SIZE - 1))
		return -EINVAL;
	f = fd_file(t, (int)a->a[4]);
	if (!f)
		return -EBADF;
	if (!req.len)
		return -EINVAL;
	/* What is wrong with the place is told before what is wrong with the file; the rest of it
	 * is the host's to say. */
	if (req.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE_) && a->a[0] & (PAGE_SIZE - 1))
		return -EINVAL;
	if (req.len > MAP_LEN_MAX)
		return -ENOMEM;
	if (req.off > INT64_MAX - ALIGN_UP(req.len, (uint64_t)PAGE_SIZE))
		return -EOVERFLOW;
	if (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (!(f->mode & FMODE_READ))
		return -EACCES;
	if (type != MAP_PRIVATE && (req.prot & PROT_WRITE) && !(f->mode & FMODE_WRITE))
		return -EACCES;
	if (req.prot & PROT_EXEC && file_is_noexec(f))
		return -EPERM;
	if (inode_is_dir(f->inode))
		return -ENODEV;
	t->call.may_wait = true;
	/* It can be made writable without a call that we see. */
	written = observer && type != MAP_PRIVATE && f->mode & FMODE_WRITE;
	if (written) {
		int err = CHECKED(observer)->mapped(t, f);

		if (err < 0)
			return err;
	}
	fd = mem_give(t, f, &req, &keep);
	if (fd < 0)
		return fd;
	if (written)
		observe(wrote, f);
	return fd | (keep ? STUB_FD_KEEP : 0) |
	       (type == MAP_PRIVATE && (req.prot & PROT_EXEC) && is_libc(f) ? STUB_FD_CODE : 0);
}
