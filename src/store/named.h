/* Cells and volumes by name: which disk each has. A name is a small file, cells/NAME or
 * volumes/NAME of the store, made once and never changed. All return 0 or -errno. */
#ifndef VIV_STORE_NAMED_H
#define VIV_STORE_NAMED_H

#include "store/disk.h"

enum named_kind { NAMED_CELL, NAMED_VOLUME };

struct named {
	char name[DISK_NAME_MAX + 1];
	char disk[DISK_ID_LEN + 1];
	char image[80];
	int64_t created; /* seconds */
	struct {
		uint64_t inode;
		int64_t changed;
	} file; /* set by named_list_again only */
};

/* -ENOENT, -EBADMSG. */
int must_check named_find(int store, enum named_kind kind, const char *name, struct named *ret);
/* -EEXIST: the name is taken. */
int must_check named_add(int store, enum named_kind kind, const struct named *n);
/* A new disk for n->image, standing on parent, and the name for it, all or nothing; n->disk is
 * set. */
int must_check named_create(int store, enum named_kind kind, struct named *n,
			    const struct layer_ref *parent, struct disk *ret);
int must_check named_rename(int store, enum named_kind kind, const char *from, const char *to);
int must_check named_remove(int store, enum named_kind kind, const char *name);
/* All of a kind, sorted by name, as a new array. */
int must_check named_list(int store, enum named_kind kind, struct named **ret_list,
			  unsigned *ret_n);
/* The same where a list is known already, sorted by name (NULL: none): it is replaced, and only the
 * files that are new are read. */
int must_check named_list_again(int store, enum named_kind kind, struct named **list, unsigned *n);
/* That of a sorted list which has this name; NULL. */
const struct named *named_in(const struct named *list, unsigned n, const char *name);
/* Removes the disks and layers that no name leads to any more, and names that were never finished.
 * With the store locked for this process alone. */
int named_collect(int store);

#endif
