/* Path look-ups that runners answer for themselves: who may use what is remembered, and what is
 * worth it. See docs/decisions/0014-*.
 *
 * All of it works, and does nothing, while fastmem is NULL. */
#ifndef VIV_KERNEL_SYS_FAST_H
#define VIV_KERNEL_SYS_FAST_H

#include "base/base.h"

struct fast_own;
struct fastmm;
struct fdtable;
struct fsctx;
struct name;
struct post;
struct proc;
struct task;

/* ---- address spaces ---- */

/* t has a new address space, whose struct fast_own is at own; *ret_own is what to put there. */
void fast_exec(struct task *t, uaddr_t own, struct fast_own *ret_own);
/* Before a clone: what the child is born with (counted; may be NULL), and a mark that tells later
 * whether it changed since. */
struct fastmm *fast_mm_get(struct task *t, uint32_t *ret_mark);
void fast_mm_put(struct fastmm *mm);
/* t is born, its cred and fs are set. mm and mark are as fast_mm_get() gave them; it shares the
 * memory or has a copy. */
void fast_born(struct task *t, struct fastmm *mm, uint32_t mark, bool shares);
void fast_gone(struct task *t); /* t ends, its fs is still there */
void fast_leave(struct proc *p); /* all of its threads have left its memory */
/* Credentials of t, or which fs it has, changed; the root or working directory of all who share fs
 * did. Before the call is answered. */
void fast_changed(struct task *t);
void fast_fs_changed(struct fsctx *fs);
/* RLIMIT_NOFILE of p changed. */
void fast_limit_changed(struct proc *p);
/* Upcalls of the VFS: a root or working directory goes; a table is full for those who have it. */
void fast_name_gone(struct name *n);
void fast_files_full(struct fdtable *ft);
/* Every call of this thread and its children has to be seen from now on (a filter of the guest's
 * own). */
void fast_disable(struct task *t);

/* ---- answers ---- */

/* A path call was answered: dfd and path_buf are what was asked, since fast_note_begin(). said: as
 * in fast_note_put(). */
void fast_answered(struct task *t, int dfd, const char *path, uint32_t kind, int64_t result,
		   const void *said);
/* An id was told. */
void fast_id_told(struct task *t);

/* Which call the place before ip makes, if it was chosen to be rewritten; else -1. While that
 * happens, threads that run there ask for a number from SITE_ODD on that means nothing. */
#define SITE_ODD 0x10000
int fast_site_nr(const struct task *t, uint64_t ip);

/* ---- posted calls (sys/post.h) ---- */

/* A call was made that could have been posted; weight: it is worth so many. */
void fast_postable(struct task *t, uint32_t weight);
/* The box through which t may post now (borrowed), or NULL. */
struct post *fast_post(const struct task *t);
/* t's address space has a box from now on (taken, unless it fails). */
int must_check fast_post_set(struct task *t, struct post *post);

#endif
