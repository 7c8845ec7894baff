/* File systems made of tables: directories, links and text files that exist because a table says
 * so.
 *
 * A pnode is one row: a name, a mode and what stands behind it. Rows are static and const; a
 * directory's rows end with one without a name. Entries that come and go (processes,
 * descriptors, CPUs) are given by a pdir, after the fixed rows. The same rows serve many objects
 * (each process has the rows of /proc/PID), so an inode is a row plus three numbers:
 *     id, sub   whose row it is: a process and a thread, a CPU and a cache; children inherit them
 *     gen       tells an object from a later one with the same number
 * One live inode exists for each such tuple, so that two look-ups give the same inode.
 *
 * A text file's show() prints the whole content; the reader sees a snapshot that is taken at the
 * first read of an open file and again at each read from offset 0. What all snapshots together
 * may hold is bounded. */
#ifndef VIV_KERNEL_FS_PSEUDO_PSEUDO_H
#define VIV_KERNEL_FS_PSEUDO_PSEUDO_H

#include "base/list.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* ---- text that grows ---- */

#define TEXT_MAX (8UL << 20) /* of one file */
#define TEXT_TOTAL_MAX (64UL << 20) /* of all snapshots of the cell */

struct textbuf {
	char *data;
	size_t len, cap;
	bool failed; /* something did not fit: the content is cut there */
	bool more; /* show() has stopped, as the turn is long, and is called again in another */
	uint32_t seen; /* of a watch: what its last reader was told */
	uint64_t at; /* what it remembers until then: how far it is, */
	void *state; /* and what else; state_free is called with it when the text goes */
	void (*const *state_free)(void *state); /* a CALLBACK() */
};

void text_put(struct textbuf *b, const void *data, size_t n);
void text_puts(struct textbuf *b, const char *s);
void text_printf(struct textbuf *b, const char *fmt, ...) printf_like(2, 3);
/* Spaces up to column (counted from the byte at start). */
void text_pad(struct textbuf *b, size_t start, size_t column);
void text_free(struct textbuf *b);
/* For a show() that is somewhere in between: true: enough for this turn. Asked now and then, as n
 * counts up. */
bool text_pause(struct textbuf *b, uint64_t n);

/* ---- rows ---- */

struct pinode;
struct pnode;

/* One entry of a pdir. */
struct pentry {
	const struct pnode *node;
	uint64_t id, sub, gen;
	char name[32];
};

/* A walk over a pdir's entries, in order of cursor. */
struct pwalk {
	uint64_t cursor; /* the next entry has this or a larger number */
	uint64_t batch[128];
	uint32_t have, used;
	bool filled;
};

struct pdir {
	/* The entry called name (NUL-terminated, shorter than 32 bytes). -ENOENT. */
	int (*find)(struct pinode *dir, const char *name, struct pentry *out);
	/* The next entry at w->cursor or after it; leaves its number in w->cursor. -ENOENT at
	 * the end. */
	int (*next)(struct pinode *dir, struct pwalk *w, struct pentry *out);
};

/* What counts up and wakes at each change of a file's content. */
struct pwatch {
	const uint32_t *changes;
	struct waitq *q;
};

/* One row. What depends on its type shares its memory: tables with pointers are private memory of
 * each kernel. */
struct pnode {
	const char *name;
	uint32_t mode; /* type and permissions */
	bool fixed, strict; /* inode.fixed, inode.strict */
	/* A file: SEEK_END works and leads to its size, which is mostly 0 (as Linux's files that
	 * are not lists of lines). Those that are strict, and all of a file system with sizes, are
	 * so anyway. */
	bool sized;
	union {
		struct { /* a directory */
			const struct pnode *children; /* its rows; may be NULL */
			const struct pdir *dir; /* entries that come and go; may be NULL */
		};
		struct { /* a file */
			/* Prints its content; a long one in parts, as textbuf.more says. t is the
			 * reader (may be NULL). 0 or -errno. */
			int (*show)(struct pinode *pi, struct task *t, struct textbuf *b);
			/* One write of n bytes (NUL-terminated). The count taken, or -errno.
			 * Optional: -EINVAL. */
			int64_t (*store)(struct pinode *pi, struct task *t, char *buf, size_t n);
			/* Operations of its own instead of show and store. Optional. */
			const struct file_ops *fops;
			/* A reader can wait until this changes (POLLPRI). Optional. */
			const struct pwatch *watch;
		};
		struct { /* a link */
			/* Its text, returns the length. Optional: text. */
			int (*readlink)(struct pinode *pi, struct task *t, char *buf, size_t size);
			/* The place it leads to; returns path ref. Optional: its text is
			 * followed. */
			int (*follow)(struct pinode *pi, struct task *t, struct path *ret_);
		};
		struct { /* a device */
			uint64_t rdev;
			/* An inode of another file system that stands here instead; returns ref, or
			 * NULL: the row itself. Optional. */
			struct inode *(*inode)(void);
		};
	};
	const char *text; /* constant content of a file, or target of a link */
	/* File, directory: may t open it? 0 or -errno. Optional: yes. */
	int (*may_open)(struct pinode *pi, struct task *t, uint32_t flags);
};

static inline bool pnode_is_device(const struct pnode *n)
{
	return S_ISCHR(n->mode) || S_ISBLK(n->mode);
}

struct pinode {
	struct inode inode; /* first */
	const struct pnode *node;
	uint64_t id, sub, gen;
	struct list link; /* in the table of live ones */
};

struct pseudo_fs {
	struct fs fs; /* first */
	bool attr_kept; /* chmod and chown work (as long as the inode lives) */
	uint64_t type; /* f_type */
	uint64_t file_size; /* that stat shows for each file; 0: SEEK_END mostly fails */
	/* The files of objects (id is not 0) cannot be watched with epoll, unless they have a
	 * watch. */
	bool objects_unwatched;
	/* Owner and permissions of an inode that depend on its object. -errno when the object is
	 * gone. Optional. */
	int (*const *refresh)(struct pinode *pi);
};

/* A file system whose root is the row root. returns ref, or NULL. */
struct pseudo_fs *pseudo_new(const char *type_name, uint64_t type, const struct pnode *root);
/* The inode of a row; returns ref, or NULL when there is no memory. */
struct inode *pseudo_inode(struct fs *fs, const struct pnode *node, uint64_t id, uint64_t sub,
			   uint64_t gen);
/* NULL when ino is not of a table. */
struct pinode *pinode_of(struct inode *ino);

/* For pdirs whose numbers are in no order: offers n to the walk's batch, which keeps the
 * smallest not yet seen. */
void pwalk_offer(struct pwalk *w, uint64_t n);
/* The next number of the batch into w->cursor; false: the batch is used up. */
bool pwalk_take(struct pwalk *w);

/* A decimal number without leading zeros, as names of processes and descriptors are; false
 * otherwise. */
bool text_to_number(const char *s, uint64_t *ret_);

#endif
