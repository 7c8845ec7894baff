/* What a cell is to be, as JSON: checked when it is made, kept as it is, and turned into words for
 * its keeper at each start. */
#ifndef VIV_DAEMON_CELLS_CELLSPEC_H
#define VIV_DAEMON_CELLS_CELLSPEC_H

#include <jansson.h>

#include "base/buf.h"
#include "daemon/cells/cellstate.h"
#include "daemon/state/fields.h"
#include "spec/options.h"

/* Checks all of it by the table of settings. */
int cellspec_check(const json_t *spec, struct err *f);
/* What a child asks for becomes what it gets of what its parent has (spec/options.h); *child is
 * replaced. */
int must_check cellspec_attenuate(const json_t *parent, json_t **child, struct err *f);
struct restart cellspec_restart(const json_t *spec);
struct cell;
/* Words after 'viv run': strings, each with its NUL, for the keeper of the cell. */
void cellspec_words(const struct cell *c, struct buf *ret);
/* Can a cell that has booted with nothing but its image become this one? */
bool cellspec_fits_warm(const json_t *spec);
/* The same for a look at the files of a named cell that does not run: nothing of it is started. */
void cellspec_visit_words(const json_t *spec, const char *name, struct buf *words);
/* And for removing what its disk keeps and nobody needs. */
void cellspec_merge_words(const char *name, struct buf *words);

#endif
