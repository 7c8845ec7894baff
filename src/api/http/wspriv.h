/* Between the handshake (wshand.c) and the connection (ws.c). */
#ifndef VIV_API_HTTP_WSPRIV_H
#define VIV_API_HTTP_WSPRIV_H

#include "api/http/ws.h"
#include "api/http/wstls.h"

struct ws_start {
	const struct ws_user *user;
	void *arg; /* taken */
	struct MHD_UpgradeResponseHandle *urh;
	int fd;
	struct tls_relay *tls; /* NULL: none is needed */
	const char *early; /* what came behind the request's head */
	size_t early_size;
	unsigned ping_seconds;
};

void ws_open(struct request *r, const struct ws_start *start);

#endif
