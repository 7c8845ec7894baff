/* The kernel's part of the journal: what it records (docs/decisions/0049-journal.md). */
#ifndef VIV_KERNEL_CELL_JOURNAL_H
#define VIV_KERNEL_CELL_JOURNAL_H

#include "base/base.h"
#include "wire/journal.h"

struct asking;
struct file;
struct inode;
struct maps;
struct mount;
struct name;
struct path;
struct proc;

/* At boot, if the spec has a journal. Takes its descriptors. 0 or -errno. */
int must_check journal_init(void);
/* The rules refused it. */
void journal_denied(const struct asking *a);
/* The cell ends: what is still open, and what waits to be hashed. */
void journal_end(void);

/* ---- journal.c for contents.c ---- */
void journal_put(enum journal_kind kind, const void *record, int pid);
/* The path in the cell, for as long as no other one is asked for; empty: it has none. */
struct jtext journal_path(const struct path *p);

/* ---- contents.c ---- */
/* The content of the file at p was changed by pid: it is hashed after a while. */
void content_changed(const struct path *p, struct inode *ino, int pid);
/* The same of a file whose mount is gone, and here and now. */
void content_lost(struct inode *ino, struct jtext path, int pid);
/* The file has another name, made by pid: it is recorded under that one. */
void content_moved(const struct path *p, int pid);
/* Where a file is whose own name is gone; NULL: not known. Borrows. */
const struct path *content_place_of(const struct inode *ino);
/* The name goes: what is recorded under it is not hashed. */
void content_forget(const struct name *n);
/* Those of this mount, at once. */
void contents_release(const struct mount *m);
/* All that wait, as far as that is cheap. */
void contents_end(void);

/* ---- mapped.c ---- */
/* p can write f through its memory from now on. 0 or -ENOMEM. */
int must_check maps_add(struct proc *p, struct file *f);
/* For a process that p makes, and that shares its memory or has a copy. *ret: counted; NULL:
 * nothing is mapped. 0 or -ENOMEM. */
int must_check maps_give(struct proc *p, bool shared, struct maps **ret);
/* pid: who had it. */
void maps_put(struct maps *m, int pid);
/* The process ends, or has another program: its memory is gone. */
void maps_leave(struct proc *p);
/* The file has no name any more: it is not held. removed: who can have written it is recorded. */
void maps_forget(const struct inode *ino, bool removed);
/* Nothing of this mount is held any more. */
void maps_release(const struct mount *mnt);

#endif
