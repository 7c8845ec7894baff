/* Named cells and volumes and their disks: finding, making, sealing. */
#ifndef VIV_KEEPER_NAMED_H
#define VIV_KEEPER_NAMED_H

#include "base/err.h"
#include "store/named.h"
#include "store/store.h"

/* Errors of names and disks in words; what: "cell", "volume", "snapshot". Always -1. */
int named_failed(const char *what, const char *name, int err, struct err *e);
int disk_failed(const char *what, const char *name, int err, struct err *e);
/* Removes what no name leads to any more; what and name are for the error. */
int must_check disks_collect(const struct store *s, const char *what, const char *name,
			     struct err *e);
int name_check(const char *what, const char *name, struct err *e);
/* A new disk with a name. Somebody else may take the name first: ERR_CONFLICT. */
int named_make(const struct store *s, enum named_kind kind, const char *name, const char *image,
	       const struct layer_ref *parent, struct named *n, struct disk *d, struct err *e);
/* A cell that must exist, and its disk. ERR_CONFLICT: somebody uses it. */
int cell_open(const struct store *s, const char *name, enum disk_lock lock, struct named *ret,
	      struct disk *d, struct err *e);
/* The same, made if it does not exist. image: hash or "host"; NULL: whatever it has, "host" for a
 * new one. */
int cell_open_or_make(const struct store *s, const char *name, const char *image, struct named *ret,
		      struct disk *d, struct err *e);
int volume_open_or_make(const struct store *s, const char *name, bool readonly, struct disk *d,
			struct err *e);
/* ERR_CONFLICT: there is one. */
int volume_make(const struct store *s, const char *name, struct err *e);
/* ERR_CONFLICT: somebody uses it. ERR_NOT_FOUND: there is none. Waits for locks and disks, as
 * making one does. */
int volume_drop(const struct store *s, const char *name, struct err *e);

/* Seals the cell's active layer, whether it runs or not, under a name or "". The sealed layer. */
int cell_seal(const struct store *s, const char *cell, const char *name, struct layer_ref *ret,
	      struct err *e);
/* Forgets a snapshot of the cell, likewise. What nothing leads to any more goes, unless it runs:
 * later then. ERR_NOT_FOUND: there is none of that name. */
int cell_snapshot_remove(const struct store *s, const char *cell, const char *name, struct err *e);
/* Sets the files of a cell that does not run back. *ret_runs: somebody runs it, and nothing was
 * done (-1 with ERR_CONFLICT). */
int cell_rollback(const struct store *s, const char *cell, const char *snapshot, bool *ret_runs,
		  struct err *e);
/* The first of s1, s2, ... that no snapshot of the cell has. */
int cell_snapshot_name(const struct store *s, const char *cell, char name[DISK_NAME_MAX + 1],
		       struct err *e);
/* A new cell with the files of another one, as they are now or, unless it is "", at a snapshot.
 * ERR_CONFLICT: the name is taken. */
int cell_fork(const struct store *s, const char *cell, const char *snapshot, const char *to,
	      struct err *e);
/* Always -1. */
int snapshot_missing(const char *cell, const char *name, struct err *e);

#endif
