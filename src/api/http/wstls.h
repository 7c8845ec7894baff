/* A WebSocket's bytes over TLS: a pair of sockets, one end of which is served here; see wstls.c. */
#ifndef VIV_API_HTTP_WSTLS_H
#define VIV_API_HTTP_WSTLS_H

#include "api/http/request.h"

struct tls_relay;

/* Takes over the TLS session of an upgraded connection; *ret_fd is what to read and write instead.
 * NULL: it failed. */
struct tls_relay *tls_relay_new(struct request *r, struct MHD_UpgradeResponseHandle *urh,
				int *ret_fd);
/* Nobody uses the descriptor any more. What was written is still sent, for a moment, and then the
 * connection is over; with now, at once. */
void tls_relay_end(struct tls_relay *t, bool now);
/* All of a server, at once. */
void tls_relay_end_all(struct server *s);

#endif
