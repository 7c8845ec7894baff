/* The tree of an S3 file system when it is larger than is kept: what a listing no longer names
 * goes, and making room for that drops other nodes meanwhile. The server is made up here; so is the
 * clock. */
/* objects: src/base/arena.c src/base/log.c src/base/program.c src/base/utf8.c src/kernel/fs/s3/content.c src/kernel/fs/s3/dir.c src/kernel/fs/s3/node.c src/kernel/fs/s3/wire.c src/kernel/platform/cell.c src/kernel/vfs/inode.c src/kernel/task/waitq.c src/kernel/task/cred.c src/kernel/platform/fastmem.c */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/s3/s3node.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "tap.h"

#define FILES 70000u /* more than are kept without a reason */

/* ---- what other layers give ---- */
static int64_t clock_now = 1000 * NSEC_PER_SEC;
static struct task caller;
struct task *task_current = &caller;
static struct fs *fs;
const struct file_ops hostfile_fops;

int64_t now_mono(void)
{
	return clock_now;
}

int64_t now_real(void)
{
	return clock_now;
}

void now_update(void)
{
}

struct task *task_find(pid_t tid)
{
	(void)tid;
	return NULL;
}

/* Here the answer is there at once. */
int call_wait_outside(struct task *t, struct waitq *q)
{
	(void)t, (void)q;
	s3_pump((struct s3fs *)fs);
	return 0;
}

void hostwatch_init_with(struct hostwatch *w, int fd,
			 void (*const *fn)(struct hostwatch *, uint32_t))
{
	*w = (struct hostwatch){ .fd = fd, .fn = fn };
}

int hostwatch_arm(struct hostwatch *w, uint32_t events)
{
	(void)w, (void)events;
	return 0;
}

void hostwatch_fini(struct hostwatch *w)
{
	(void)w;
}

int file_fsync_nothing(struct file *f, bool data_only)
{
	(void)f, (void)data_only;
	return 0;
}

uint64_t file_dotdot_ino(struct file *f)
{
	return f->inode->ino;
}

/* Contents are none of this. */
int host_close(int fd)
{
	return fd < 0 ? -EBADF : 0;
}

int host_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	(void)dirfd, (void)path, (void)flags, (void)mode;
	return -EIO;
}

int host_unlinkat(int dirfd, const char *path, int flags)
{
	(void)dirfd, (void)path, (void)flags;
	return -EIO;
}

int host_ftruncate(int fd, int64_t size)
{
	(void)fd, (void)size;
	return -EIO;
}

int64_t host_pread(int fd, void *buf, size_t n, int64_t off)
{
	(void)fd, (void)buf, (void)n, (void)off;
	return -EIO;
}

int64_t host_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	(void)fd, (void)buf, (void)n, (void)off;
	return -EIO;
}

int64_t uio_put(struct uio *u, const void *src, size_t n)
{
	(void)u, (void)src, (void)n;
	return -EIO;
}

int64_t uio_take(struct uio *u, void *dst, size_t n)
{
	(void)u, (void)dst, (void)n;
	return -EIO;
}

void uio_back(struct uio *u, size_t n)
{
	(void)u, (void)n;
}

/* ---- a server with one directory ---- */
static struct s3_request asked;
static uint32_t there, told; /* files that it has; of them, that the listing has told */

int64_t host_send_fd(int sock, const void *buf, size_t n, int fd)
{
	(void)sock, (void)fd;
	memcpy(&asked, buf, n);
	told = 0;
	return (int64_t)n;
}

int host_poll(struct pollfd *p, unsigned n, int64_t timeout_ns)
{
	(void)p, (void)n, (void)timeout_ns;
	return 1;
}

int64_t host_recv(int sock, void *buf, size_t n, int flags)
{
	struct s3_reply *r = buf;
	size_t at = 0;

	(void)sock, (void)n, (void)flags;
	if (asked.op != S3_LIST)
		return -EAGAIN;
	memset(r, 0, S3_REPLY_HEAD);
	r->id = asked.id;
	r->type = S3_DIR;
	for (; told < there && at + sizeof(struct s3_entry) < S3_LIST_BYTES; told++) {
		struct s3_entry e = { .size = told, .etag = told + 1, .type = S3_FILE };

		e.len = (uint16_t)snprintf(e.name, sizeof(e.name), "file%u", told);
		memcpy(r->entries + at, &e, S3_ENTRY_HEAD + e.len);
		at += S3_ENTRY_SIZE(e.len);
	}
	r->nbytes = (uint32_t)at;
	if (told < there)
		r->flags = S3_MORE;
	else
		asked.op = 0;
	return (int64_t)(S3_REPLY_HEAD + at);
}

/* ---- */
static uint32_t seen;

static bool count(struct dirsink *s, const char *name, size_t len, uint64_t ino, unsigned dtype,
		  int64_t next_off)
{
	(void)s, (void)name, (void)len, (void)ino, (void)dtype, (void)next_off;
	seen++;
	return true;
}

static uint32_t list(void)
{
	struct dirsink sink = { .emit = count };
	struct file f = { .inode = fs->root, .ops = &s3_dir_fops };

	seen = 0;
	eq(f.ops->iterate(&f, &sink), 0, "a listing");
	return seen - 2; /* "." and ".." */
}

int main(void)
{
	struct inode *ino;

	eq(arena_init(), 0, "the arena");
	fs = s3fs_new(3, false, 0, 0);
	ok(fs != NULL, "a file system");
	there = FILES;
	eq(list(), FILES, "all files are listed");
	eq(s3_iops.lookup(fs->root, "file7", 5, &ino), 0, "one of them is held");
	clock_now += 10 * NSEC_PER_SEC;
	there = 0;
	eq(list(), 0, "and are gone when the server has them no more");
	eq(ino->nlink, 0, "so is the one that is held");
	inode_put(ino);
	clock_now += 10 * NSEC_PER_SEC;
	there = 3;
	eq(list(), 3, "what comes back is listed");
	return tap_end();
}
