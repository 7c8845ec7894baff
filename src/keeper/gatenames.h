/* Names that a cell's operator gives it (gatenames.c). */
#ifndef VIV_KEEPER_GATENAMES_H
#define VIV_KEEPER_GATENAMES_H

#include "base/buf.h"
#include "spec/options.h"

/* Adds the lines "server", "host" and "search" of the gate's settings. */
void gate_names_add(const struct run_options *o, struct buf *to);
/* The lines of --add-host for the cell's /etc/hosts, and the domains of --dns-search with spaces
 * between them: allocated, or NULL if there are none. */
char *cell_hosts(const struct run_options *o, bool network);
char *cell_search(const struct run_options *o);

#endif
