/* Where vivd has its socket and its state. They follow the environment, so that instances live side
 * by side. */
#ifndef VIV_CLIENT_PATHS_H
#define VIV_CLIENT_PATHS_H

#include "base/err.h"

#define VIVD_SOCKET "vivd.sock"

/* RUN: $XDG_RUNTIME_DIR/vivarium, /run/vivarium for root, else "run" in the store. Made (0700) if
 * make is set. */
int path_run(char *path, size_t size, bool make, struct err *e);
/* $XDG_STATE_HOME/vivarium, $HOME/.local/state/vivarium, else for root /var/lib/vivarium/state.
 * Made, with all above it. */
int path_state(char *path, size_t size, struct err *e);

#endif
