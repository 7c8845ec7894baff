/* Directory listings: where file_ops.iterate puts the entries. */
#ifndef VIV_KERNEL_VFS_DIR_H
#define VIV_KERNEL_VFS_DIR_H

#include <sys/stat.h>

#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

/* Linux's getdents64 records or whatever the caller collects. */
struct dirsink {
	/* returns false when there is no room: the entry was not taken. next_off: f->pos to go on
	 * after it. */
	bool (*emit)(struct dirsink *s, const char *name, size_t len, uint64_t ino, unsigned dtype,
		     int64_t next_off);
};
static inline bool dirsink_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino,
				unsigned dtype, int64_t next_off)
{
	return s->emit(s, name, len, ino, dtype, next_off);
}
/* The inode number of "..": for iterate ops. */
uint64_t file_dotdot_ino(struct file *f);
/* "." and "..", the first two positions of every directory. False: the sink is full. */
static inline bool dirsink_dots(struct dirsink *s, struct file *f)
{
	if (f->pos == 0 && dirsink_emit(s, ".", 1, f->inode->ino, S_IFDIR >> 12, 1))
		f->pos = 1;
	if (f->pos == 1 && dirsink_emit(s, "..", 2, file_dotdot_ino(f), S_IFDIR >> 12, 2))
		f->pos = 2;
	return f->pos >= 2;
}

#endif
