/* Named cells and their disks, as the verbs use them. */
#ifndef VIV_CLI_CELLS_H
#define VIV_CLI_CELLS_H

#include "base/err.h"
#include "store/named.h"
#include "store/store.h"

struct cell_ref {
	char name[DISK_NAME_MAX + 1];
	char snapshot[DISK_NAME_MAX + 1]; /* "": none given */
};

/* Prints the error as viv's; the exit status that belongs to it. */
int verb_failed(const struct err *e);

/* CELL or CELL@SNAPSHOT. */
int cell_ref_parse(const char *text, struct cell_ref *ret, struct err *e);
/* A cell that must exist, and its disk. ERR_CONFLICT: somebody uses it. */
int cell_open(const struct store *s, const char *name, enum disk_lock lock, struct named *ret,
	      struct disk *d, struct err *e);
/* The same, made if it does not exist. image: hash or "host"; NULL: whatever it has, "host" for a new one. */
int cell_open_or_make(const struct store *s, const char *name, const char *image, struct named *ret,
		      struct disk *d, struct err *e);
int volume_open_or_make(const struct store *s, const char *name, bool readonly, struct disk *d,
			struct err *e);

/* Seals the cell's active layer, whether it runs or not, under a name or "". The sealed layer. */
int cell_seal(const struct store *s, const char *cell, const char *name, struct layer_ref *ret,
	      struct err *e);

#endif
