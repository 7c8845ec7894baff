/* The kernel's part of the journal: what it records (docs/decisions/0049-journal.md). */
#ifndef VIV_KERNEL_CELL_JOURNAL_H
#define VIV_KERNEL_CELL_JOURNAL_H

#include "base/base.h"
#include "wire/journal.h"

struct asking;
struct inode;
struct mount;
struct name;
struct path;

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
/* The file has another name: it is recorded under that one. */
void content_moved(const struct path *p);
/* The name goes: what is recorded under it is not hashed. */
void content_forget(const struct name *n);
/* Those of this mount, at once. */
void contents_release(const struct mount *m);
/* All that wait, as far as that is cheap. */
void contents_end(void);

#endif
