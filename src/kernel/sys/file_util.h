/* Small helpers that the file-side handlers share. Handlers take the low 32 bits of descriptor and
 * flag arguments, as Linux's own prototypes do. */
#ifndef VIV_KERNEL_SYS_FILE_UTIL_H
#define VIV_KERNEL_SYS_FILE_UTIL_H

#include <fcntl.h>

#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/path.h"

struct newnode;

#define ARG_INT(a, i) ((int)(a)->a[i])
#define ARG_UINT(a, i) ((unsigned)(a)->a[i])

/* Path arguments of the current call. The kernel is single-threaded and no handler calls another
 * with them. */
extern char path_buf[PATH_MAX_LEN], path_buf2[PATH_MAX_LEN];

/* A path argument into buf (one of the above): 0, -EFAULT, -ENAMETOOLONG; -ENOENT when it is "" and
 * may not be. */
int must_check path_arg(struct task *t, uaddr_t addr, char *buf, bool empty_ok);
/* Reads the path at addr and walks it. LOOKUP_EMPTY lets "" stand for dfd, whatever kind of file
 * that is. returns path ref. */
int must_check path_at(struct task *t, int dfd, uaddr_t addr, unsigned flags, struct path *ret_);
/* The place of descriptor fd, O_PATH ones too if path_ok. -EBADF. returns path ref. */
int must_check path_of_fd(struct task *t, int fd, bool path_ok, struct path *ret_);

/* err, the result of a walk; but when that is -ENOENT and the walk missed the number of a process
 * while one is on its way (birth.h), WAITING: the caller returns it and the call is made again. */
int must_check path_missing(struct task *t, int err);

/* New node attributes for a file that t makes in dir; the umask is applied to the permissions of
 * mode. */
void newnode_init(struct newnode *n, struct task *t, const struct inode *dir, uint32_t mode);

/* Gives a file a number and takes its reference either way. */
int64_t must_check fd_give(struct task *t, struct file *f, bool cloexec);
/* 0 when t can have count more descriptors, else -EMFILE. */
int must_check fd_room(struct task *t, uint32_t count);

/* Steps over n bytes that were moved in an earlier run of the call. */
void uio_skip(struct uio *u, uint64_t n);

/* What a write that nobody can read gets besides EPIPE: as if from the caller itself. */
void sigpipe_send(struct task *t);

/* Bytes were written to f, with these RWF_ flags: brings them to the disk as fsync does, if the
 * file or the flags say so. */
int must_check file_written(struct file *f, unsigned rwf);
/* The same at the end of a call that has written n bytes in all, and may wait for the disk: n or
 * -errno. Its next run does nothing but ask call_written_again() first, which is false when there
 * was no such end. */
int64_t call_written(struct task *t, struct file *f, unsigned rwf, int64_t n);
bool call_written_again(struct task *t, int64_t *ret_);

/* Would an operation that finds nothing wait? */
static inline bool file_may_block(const struct file *f)
{
	return !(f->flags & O_NONBLOCK);
}
/* Parks the call until f may be ready for events and keeps f for the next run; -EAGAIN when its
 * state never changes. */
int64_t file_park(struct task *t, struct file *f, uint32_t events);
/* The file stays the call's while it waits, whatever becomes of the descriptor. */
void file_keep(struct task *t, struct file *f);
/* The file that an earlier run kept, else fd's (no O_PATH). Borrowed; NULL: no such descriptor. */
struct file *file_of_call(struct task *t, int fd);

#endif
