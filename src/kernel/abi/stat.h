/* What stat, statx, statfs and getdents lay down in guest memory (x86-64). */
#ifndef VIV_KERNEL_ABI_STAT_H
#define VIV_KERNEL_ABI_STAT_H

#include <stddef.h>
#include <stdint.h>

struct linux_stat {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad0;
	uint64_t rdev;
	int64_t size, blksize, blocks;
	uint64_t atime, atime_nsec;
	uint64_t mtime, mtime_nsec;
	uint64_t ctime, ctime_nsec;
	int64_t unused[3];
};
_Static_assert(sizeof(struct linux_stat) == 144, "stat");

struct linux_statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t reserved;
};

struct linux_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	struct linux_statx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint32_t dio_mem_align, dio_offset_align;
	uint64_t spare[12];
};
_Static_assert(sizeof(struct linux_statx) == 256, "statx");

struct linux_statfs {
	int64_t type, bsize;
	uint64_t blocks, bfree, bavail, files, ffree;
	int32_t fsid[2];
	int64_t namelen, frsize, flags, spare[4];
};
_Static_assert(sizeof(struct linux_statfs) == 120, "statfs");

/* A record of getdents64; the name and its NUL follow, padded to 8 bytes. */
struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};
_Static_assert(offsetof(struct linux_dirent64, name) == 19, "dirent64");

/* A record of the old getdents: the type is the last byte of the record. */
struct linux_dirent {
	uint64_t ino;
	uint64_t off;
	uint16_t reclen;
	char name[];
};
_Static_assert(offsetof(struct linux_dirent, name) == 18, "dirent");

#endif
