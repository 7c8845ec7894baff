/* Making cells. A named cell has a disk from the beginning, whose id is its own; a thread makes
 * it. */
#ifndef VIV_DAEMON_CELLS_MAKE_H
#define VIV_DAEMON_CELLS_MAKE_H

#include "daemon/cells/cells.h"
#include "store/store.h"

/* c NULL: an error. existed: there was one of that name already. Called once, later. */
typedef void (*made_fn)(void *arg, struct cell *c, bool existed, const struct err *f);

#define MAKE_GET 1 /* one that is there already is no error */
#define MAKE_UPDATE 2 /* it gets the spec, unless it runs */

/* A thread is at work with it: its name may be there, its disk is not free yet. */
bool cell_is_being_made(const char *name);
/* How many cells below this one are being made. */
unsigned cells_being_made(const struct cell *ancestor);
/* The hash of the image that a spec names, or "host". -1: there is none. */
int cell_image(const json_t *spec, char hash[HASH_TEXT], struct err *f);
/* Takes spec. */
void cell_make(struct daemon *d, const char *name, json_t *spec, unsigned flags, made_fn fn,
	       void *arg);
/* The same for a child of a cell, by its id (family.h); "": none. flags: MAKE_GET only. */
void cell_make_child(struct daemon *d, const char *parent, const char *name, json_t *spec,
		     unsigned flags, made_fn fn, void *arg);
/* The same with the files of another child, which is told what it has (family_layers_end). */
void cell_fork_child(struct daemon *d, const char *parent, const char *name, json_t *spec,
		     const struct cell *from, const char *snapshot, made_fn fn, void *arg);

#endif
