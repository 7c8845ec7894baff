/* The parts of hostdir, shared by its files. */
#ifndef VIV_KERNEL_FS_HOSTDIR_HNODE_H
#define VIV_KERNEL_FS_HOSTDIR_HNODE_H

#include "base/list.h"
#include "kernel/fs/hostdir/hostdir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"

#define HOSTDIR_BUCKETS 512
#define HOSTDIR_OTHER_ID 65534

struct hostdir {
	struct fs fs; /* first */
	uint32_t host_uid, show_uid, show_gid;
	dev_t dev;
	bool owners; /* files in it may have owners of their own */
	int64_t owners_asked; /* when that was last looked at */
	struct list kept; /* FIFOs and sockets that have one, by kept_link, oldest first; counted */
	uint32_t nkept;
	struct list buckets[HOSTDIR_BUCKETS]; /* held nodes by inode number */
};

struct hdnode {
	struct inode inode; /* first */
	struct list hash_link;
	dev_t dev;
	ino_t host_ino;
	int fd; /* O_PATH, of the file itself: it can be nothing else while it is open */
	int rd, wr; /* content, -1 when not open; wr reads too */
	struct hdnode *parent; /* counted; where it was last seen. NULL: the root, or unlinked */
	int wd; /* the host's watch; 0: nobody watches it */
	struct list wd_link;
	bool foreign; /* it belongs to another user of the host */
	bool owned; /* it has another owner in the cell than the mount's (owner.c) */
	uint32_t own_uid, own_gid;
	struct list kept_link;
	uint8_t len;
	char name[NAME_MAX_LEN + 1];
};

/* A change of our own: the entries and the files that it is about. */
#define CHANGE_PLACES 2
struct change {
	const struct hdnode *dir[CHANGE_PLACES];
	const char *name[CHANGE_PLACES]; /* of the entry in dir, which may be NULL */
	const struct hdnode *self[CHANGE_PLACES];
};

extern const struct inode_ops hostdir_iops;
extern const struct file_ops hostdir_dir_fops, hostdir_reg_fops;

static inline struct hdnode *hdnode_of(struct inode *ino)
{
	return (struct hdnode *)ino;
}
static inline struct hostdir *hostdir_of(struct hdnode *n)
{
	return (struct hostdir *)n->inode.fs;
}

/* The fields of the inode from the host's. */
void hdnode_fill(struct hdnode *n, const struct stat *st);
int hdnode_refresh(struct hdnode *n);
/* The node of an O_PATH descriptor (taken), seen in dir under name: the one that is held, or a new
 * one. returns ref. */
int must_check hdnode_from_fd(struct hostdir *hd, struct hdnode *dir, const char *name, size_t len,
			      int fd, struct hdnode **ret_);
/* It is seen in dir under name from now on (dir NULL: nowhere). */
void hdnode_place(struct hdnode *n, struct hdnode *dir, const char *name, size_t len);
/* Opens the content; borrowed. */
int hdnode_content(struct hdnode *n, bool write);
/* A descriptor that is good for fchmod and xattrs: content of a file, a directory opened for
 * reading. *ret_close: the caller closes it. */
int hdnode_handle(struct hdnode *n, bool *ret_close);

/* ---- rights.c ---- */
struct rights {
	struct hdnode *n; /* NULL: nothing is lent. Borrowed */
	uint32_t mode;
};
/* After a host call failed with err: true if it was for bits that n's mode denies its owner, which
 * are lent now; the call is to be made again, and then rights_return. n NULL: false. */
bool rights_lend(struct rights *r, struct hdnode *n, uint32_t bits, int64_t err);
void rights_return(struct rights *r);

/* ---- owner.c ---- */
/* For a new node that has its place and its fields: what the host remembers of its owner.
 * hdnode_refresh follows. */
void owner_load(struct hdnode *n);
/* It belongs to these from now on. 0, also where the host cannot remember it; -errno. */
int must_check owner_set(struct hdnode *n, uint32_t uid, uint32_t gid);
/* It may have lost its last name: what has none needs no owner to be remembered. */
void owner_unlinked(struct hdnode *n);
void owners_free(struct hostdir *hd);
/* An attribute that it is remembered in, which is not the guest's. */
bool owner_is_attr(const char *name);

/* Around each change that we make, so that it is not told as somebody else's (watch.c). */
void change_begin(void);
void change_end(const struct change *c);
void change_end_of(const struct hdnode *n); /* to n, where it was last seen */
int hostdir_watch(struct inode *ino, bool on);

int hostdir_getxattr(struct inode *ino, const char *name, void *buf, size_t size);
int hostdir_setxattr(struct inode *ino, const char *name, const void *value, size_t size,
		     int flags);
int hostdir_listxattr(struct inode *ino, char *buf, size_t size);
int hostdir_setattr(struct inode *ino, const struct attr *a);

#endif
