/* An image: an immutable tree that a layer stands on.
 *
 * The layer asks for nodes by name, keeps those it needs and drops them; it copies their
 * attributes. An image has no opinion about who may read what inside the cell: modes and owners are
 * shown and the VFS checks them. It does refuse (-EACCES) what must not leave the host whoever
 * asks. "returns ref": given back with image_drop. */
#ifndef VIV_KERNEL_FS_IMAGE_IMAGE_H
#define VIV_KERNEL_FS_IMAGE_IMAGE_H

#include <time.h>

#include "base/base.h"

struct image;

/* The head of whatever an image keeps for a file. Read-only for others. */
struct image_node {
	uint64_t ino; /* unique in the image, below IMAGE_INO_END or with the highest bits set */
	uint32_t mode, uid, gid, nlink;
	uint64_t size, blocks; /* blocks of 512 bytes */
	uint64_t rdev; /* of a device, as st_rdev */
	struct timespec atime, mtime, ctime;
};

/* Numbers in [IMAGE_INO_END, 2 * IMAGE_INO_END) are never an image's: a layer's own inodes have
 * them. */
#define IMAGE_INO_END (1ULL << 40)

struct image_sink {
	/* One entry; returns false to stop. */
	bool (*emit)(struct image_sink *s, const char *name, size_t len, uint64_t ino,
		     unsigned dtype);
};

/* An extended attribute, where the image has it; not terminated. Start with a zeroed one. */
struct image_xattr {
	const char *name;
	uint32_t name_len;
	const void *value;
	uint32_t value_len;
	uint64_t next, end; /* the image's own: how to go on */
};

struct image_ops {
	/* The entry called name of a directory; returns ref. -ENOENT, -EACCES. */
	int (*lookup)(struct image *img, struct image_node *dir, const char *name, size_t len,
		      struct image_node **ret_);
	/* All entries of a directory, without "." and "..". -EACCES. */
	int (*iterate)(struct image *img, struct image_node *dir, struct image_sink *sink);
	/* The text of a link; its length. */
	int (*readlink)(struct image *img, struct image_node *node, char *buf, size_t size);
	/* A host descriptor of a regular file's content, for reading only; the caller closes it.
	 * Brings the node's attributes up to date. -EACCES for a file that not everybody may read.
	 */
	int (*open)(struct image *img, struct image_node *node);
	/* Moves to the node's next attribute: 0, or -ENOENT behind the last. NULL: there are
	 * none. */
	int (*xattr)(struct image *img, struct image_node *node, struct image_xattr *x);
	/* The number of a regular file's content among the objects of an image of the store; -1: it
	 * has none. NULL: there are none. */
	int64_t (*object)(struct image *img, struct image_node *node);
	/* SHA-256 of a regular file's content, if that is known. -ENODATA. NULL: it never is. */
	int (*hash)(struct image *img, struct image_node *node, uint8_t out[32]);
	void (*drop)(struct image *img, struct image_node *node);
	/* Everything was dropped but the root. */
	void (*free)(struct image *img);
};

struct image {
	const struct image_ops *ops;
	const char *name; /* "host" */
	struct image_node *root; /* the image's own */
	/* What is not for everybody on the host is for nobody in the cell. Otherwise modes are
	 * checked inside only. */
	bool guarded;
};

/* The host image below root_fd (FD_IMAGE). Borrows the descriptor. NULL: no memory. */
struct image *must_check hostimage_new(int root_fd);
/* The image of the store in the directory dir_fd, which is borrowed. 0 or -errno; -EBADMSG: its
 * index is broken. */
int must_check indeximage_new(int dir_fd, struct image **ret_);

#endif
