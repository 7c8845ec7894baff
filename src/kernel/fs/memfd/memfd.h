/* memfd_create: files without a name, with seals. */
#ifndef VIV_KERNEL_FS_MEMFD_MEMFD_H
#define VIV_KERNEL_FS_MEMFD_MEMFD_H

#include "base/base.h"

struct file;

/* A new file, open for reading and writing. flags are Linux's MFD_*; -EINVAL for others and for a
 * name over 249 bytes. The caller sets the inode's owner. returns ref. */
int must_check memfd_new(const char *name, unsigned flags, struct file **ret_);

/* A file of the host's that nobody can change (a memfd with every seal but that of its mode),
 * read-only, with the mode of a program; it counts for nobody's memory. Takes fd, also when it
 * fails. -EINVAL: it is none. returns ref. */
int must_check memfd_given(int fd, const char *name, struct file **ret_);

/* What all of them hold. Mappings grow them unseen: each question looks at some of them anew. */
uint64_t memfds_size(void);

/* F_ADD_SEALS and F_GET_SEALS. -EINVAL when f is no memfd, -EPERM when it is not open for writing
 * or is sealed against seals, -EBUSY when F_SEAL_WRITE meets a writable mapping. */
int memfd_add_seals(struct file *f, unsigned seals);
int memfd_get_seals(struct file *f);

/* Whether f is one, and n more bytes may be in all of them. */
bool memfd_may_grow(const struct file *f, uint64_t n);

#endif
