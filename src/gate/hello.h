/* The first bytes of a connection, as a client sends them: is it TLS, and for which server name?
 *
 * Only a ClientHello is read, over as many records as it was cut into, and nothing of it is
 * changed. What is ambiguous is refused, never guessed: another server could read it in another
 * way. */
#ifndef VIV_GATE_HELLO_H
#define VIV_GATE_HELLO_H

#include "base/base.h"

#define HELLO_MAX 65536 /* bytes of a ClientHello, with its records */
#define HELLO_NAME_MAX 254

enum hello_kind {
	HELLO_MORE, /* not all of it is there yet */
	HELLO_TLS, /* a whole ClientHello */
	HELLO_HTTP, /* begins as a request of HTTP/1 or HTTP/2 does */
	HELLO_OTHER, /* neither */
};

struct hello {
	enum hello_kind kind;
	const char *wrong; /* TLS: why it cannot be accepted; NULL: it can */
	char name[HELLO_NAME_MAX]; /* in lower case, without a final dot; "": none was given */
	bool encrypted; /* with an encrypted ClientHello, whose name nobody sees */
	bool http2; /* offers "h2" */
};

void hello_read(const uint8_t *p, size_t n, struct hello *ret);

#endif
