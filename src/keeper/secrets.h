/* The secrets of a cell inside its keeper, which holds their values for the cell's gates and for
 * nobody else. They come from "vivd --secrets" (daemon/secrets/secrets.h), run when the cell starts
 * and again when the directory of secrets changes. */
#ifndef VIV_KEEPER_SECRETS_H
#define VIV_KEEPER_SECRETS_H

#include "base/buf.h"
#include "spec/options.h"

/* Reads the secrets that o names, and sets the variables of the cell that hold placeholders. */
int must_check secrets_read(struct run_options *o, struct err *e);
/* Has the cell any? */
bool secrets_are_there(void);
/* Adds the lines of the gate's settings. */
void secrets_write(struct buf *to);
/* From now on changes reach the gate. */
void secrets_follow(void);

#endif
