/* Walking trees without a cell: the difference of two layers, and a layer as a tar stream. For
 * kernels that only read a disk. */
#ifndef VIV_KERNEL_FS_LAYER_DIFF_H
#define VIV_KERNEL_FS_LAYER_DIFF_H

#include "base/base.h"

struct fs;
struct inode;

#define TREE_PATH_MAX 65536
#define TREE_DEPTH_MAX 4096

struct tree_visit {
	char kind; /* 'A' added, 'C' changed, 'D' deleted */
	const char *path; /* without a leading slash; "": the root */
	size_t path_len;
	struct inode *inode; /* borrowed; of what was deleted, too */
	struct inode *from; /* borrowed: what it was; NULL: it was not there */
	bool nested; /* deleted with its directory, which was told before */
};

/* Calls fn for each path of to that differs from the same path of from (NULL: from nothing, so for
 * all of it), names in each directory in the order of their bytes, a directory before what is in
 * it. fn returns 0, or -errno to end. -ENAMETOOLONG: deeper than TREE_DEPTH_MAX. Else how many
 * directories of to could not be read: the host image has such. */
int must_check tree_diff(struct fs *from_or_NULL, struct fs *to,
			 int (*fn)(void *arg, const struct tree_visit *v), void *arg);

/* What a line of a list says of the content of a regular file. */
struct content_id {
	int32_t layer; /* index in the chain; -1: the image's; -2: there is none, it is empty */
	/* of a layer: the file; of an image of the store: the object, else UINT64_MAX */
	uint64_t number;
};
struct content_id layer_content_id(struct inode *ino);
/* Whether two regular files of two trees above one image have one content, as far as that is known
 * without reading it. */
bool layer_content_is_same(struct inode *a, struct inode *b);

/* Whether every content that a layer refers to is there and complete. fn is told of each that is
 * not. The number of those, or -errno. */
int64_t layer_check(struct fs *fs, void (*fn)(void *arg, uint32_t layer, uint64_t number),
		    void *arg);

/* ---- tar.c ---- */

struct tar;

struct tar_options {
	int fd; /* where it goes */
	/* a content that is an object of the image is named by its number, not given (tar.c) */
	bool objects;
	/* what was deleted is an empty file .wh.NAME, as in a layer of an OCI image */
	bool whiteouts;
};

/* One stream: begin, entries, end. 0 or -errno. */
int must_check tar_begin(const struct tar_options *o, struct tar **ret_);
int must_check
tar_entry(struct tar *t,
	  const struct tree_visit *v); /* -EACCES: the image's content of it is closed; left out */
int must_check tar_end(struct tar *t); /* and frees it */

#endif
