/* Descriptor tables: numbers to open files. Counted (threads share one). */
#ifndef VIV_KERNEL_VFS_FDTABLE_H
#define VIV_KERNEL_VFS_FDTABLE_H

#include "base/list.h"

struct file;
struct task;

struct fdslot {
	struct file *file;
	bool cloexec;
};

struct fdtable {
	uint32_t refs;
	uint32_t size; /* slots */
	uint32_t open;
	uint32_t hint; /* lowest that may be free */
	uint64_t lock_id; /* the owner of POSIX locks, as on Linux; no two tables have the same */
	/* once: open of what is not there may give EMFILE. sys/fast.c was told */
	bool was_full;
	struct fdslot *slots;
	struct list closing_link; /* in the list of those without a user that have files still */
};

void fdtable_note_full(struct fdtable *ft);
struct fdtable *fdtable_new(void); /* refs = 1, or NULL */
struct fdtable *fdtable_copy(const struct fdtable *); /* for fork; or NULL */
struct fdtable *fdtable_get(struct fdtable *);
void fdtable_put(struct fdtable *, struct task *t); /* t may be NULL */
/* Lowest free number >= from, below t's RLIMIT_NOFILE. Takes the file reference only on success.
 * -EMFILE. */
int fd_install(struct task *t, struct file *f, int from, bool cloexec);
int fd_install_at(struct task *t, struct file *f, int fd, bool cloexec); /* closes what was there */
int fd_close(struct task *t, int fd); /* -EBADF */
/* Closes what is marked so; false: that takes long, and there is more. */
bool fd_close_on_exec(struct task *t);
/* What fdtable_put() would close, for a table of a process that has ended: likewise. */
bool fdtable_close(struct fdtable *, struct task *t);
/* Borrowed: valid during the call (file_get it to keep it). NULL: no such descriptor (or O_PATH,
 * for fd_file). */
struct file *fd_file(struct task *t, int fd);
struct file *fd_file_or_path(struct task *t, int fd);

#endif
