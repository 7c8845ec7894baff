/* Connections of browsers to previews (proxy.c), as the listener sees them. */
#ifndef VIV_DAEMON_PREVIEWS_PROXY_H
#define VIV_DAEMON_PREVIEWS_PROXY_H

#include "daemon/previews/previews.h"

struct conn;

/* Takes the next connection of the listener. */
void conn_accept(struct daemon *d, uv_stream_t *listener);
/* Those that there are, and what becomes of them. id NULL: all; past: also those whose preview has
 * ended by then. */
void conns_close(const char *id, int64_t past);
unsigned conns_count(void);

#endif
