/* Taking rights away from a process that is about to read what others made. */
#ifndef VIV_IMPORT_CONFINE_H
#define VIV_IMPORT_CONFINE_H

#include "store/store.h"

/* From now on this process and its children write below the store's directory only, and open no
 * connections. Descriptors that are open stay as they are. Where the host cannot do it (no
 * Landlock), nothing happens: it is a second line, the first is that no name of an archive is ever
 * a path. */
void confine_to_store(const struct store *s);

#endif
