/* The handshake of a WebSocket: an ordinary request that asks for an upgrade, checked as RFC 6455
 * says, and answered with 101.
 *
 * Browsers let any page open a WebSocket to any address, with no question asked before it, so who
 * it is for must be sure: a request that comes from a page (it has an Origin) needs a token, also
 * where others need none. Pages cannot send Authorization; they give the token as a subprotocol,
 * "bearer.TOKEN", which is never given back. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/text.h"
#include "api/http/wspriv.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define BEARER "bearer."
#define PING_SECONDS 20

/* ---- lists in headers ---- */

struct search {
	const char *name, *word; /* word that ends with '.': its begin is enough */
	char *found;
};

static enum MHD_Result value_search(void *arg, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct search *q = arg;

	(void)kind;
	if (!strcasecmp(key, q->name) && value)
		q->found = text_list_find(value, q->word);
	return q->found ? MHD_NO : MHD_YES;
}

/* The item of a header that is a list, perhaps in several lines; free() it. */
static char *header_find(struct request *r, const char *name, const char *word)
{
	struct search q = { .name = name, .word = word };

	MHD_get_connection_values(r->conn, MHD_HEADER_KIND, value_search, &q);
	return q.found;
}

static bool header_has(struct request *r, const char *name, const char *word)
{
	char *s = header_find(r, name, word);

	free(s);
	return s;
}

char *ws_token(struct request *r)
{
	char *item = header_find(r, "Sec-WebSocket-Protocol", BEARER);

	if (item)
		memmove(item, item + sizeof(BEARER) - 1, strlen(item) - sizeof(BEARER) + 2);
	return item;
}

/* ---- the answer ---- */

struct hand {
	const struct ws_user *user;
	void *arg;
	unsigned ping_seconds;
};

static void on_upgrade(void *arg, struct MHD_Connection *m, void *context, const char *early,
		       size_t early_size, MHD_socket fd, struct MHD_UpgradeResponseHandle *urh)
{
	struct request *r = context;
	struct hand *h = r->arg;
	struct ws_start start = { .user = h->user,
				  .arg = h->arg,
				  .urh = urh,
				  .fd = fd,
				  .early = early,
				  .early_size = early_size,
				  .ping_seconds = h->ping_seconds };

	(void)arg;
	free(h);
	r->arg = NULL;
	if (MHD_get_connection_info(m, MHD_CONNECTION_INFO_GNUTLS_SESSION)) {
		start.tls = tls_relay_new(r, urh, &start.fd);
		if (!start.tls) {
			free(start.arg);
			request_upgrade_over(r, urh);
			return;
		}
	}
	ws_open(r, &start);
}

static void accept_text(const char *key, char text[BASE64_SIZE(20) + 1])
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char both[24 + sizeof(GUID)];

	snprintf(both, sizeof(both), "%.24s%s", key, GUID);
	EVP_Digest(both, strlen(both), hash, &n, EVP_sha1(), NULL);
	base64_encode(text, hash, 20);
	text[BASE64_SIZE(20)] = '\0';
}

/* Sixteen bytes in base64. */
static bool key_is_valid(const char *key)
{
	unsigned char bytes[18];

	return key && strlen(key) == 24 && base64_decode(bytes, key, 24) == 16;
}

static bool hand_is_valid(struct request *r, const struct ws_user *u)
{
	const char *version = request_header(r, "Sec-WebSocket-Version");

	if (!r->can_upgrade || !header_has(r, "Upgrade", "websocket") ||
	    !header_has(r, "Connection", "upgrade")) {
		reply_error(r, ERR_UPGRADE_REQUIRED,
			    "this is a WebSocket" REMEDY "POST answers without one");
		reply_header(r, "Upgrade", "websocket");
		return false;
	}
	if (!version || strcmp(version, "13")) {
		reply_error(r, ERR_UPGRADE_REQUIRED, "the version of WebSockets here is 13");
		reply_header(r, "Upgrade", "websocket");
		reply_header(r, "Sec-WebSocket-Version", "13");
		return false;
	}
	if (!key_is_valid(request_header(r, "Sec-WebSocket-Key"))) {
		reply_error(r, ERR_INVALID, "Sec-WebSocket-Key is not 16 bytes in base64");
		return false;
	}
	if (request_header(r, "Origin") && !r->rights.token[0]) {
		reply_error(r, ERR_FORBIDDEN,
			    "a page of the web needs a token here" REMEDY
			    "give it as the subprotocol "
			    "'bearer.TOKEN'");
		return false;
	}
	if (request_header(r, "Sec-WebSocket-Protocol") &&
	    !header_has(r, "Sec-WebSocket-Protocol", u->protocol)) {
		reply_error(r, ERR_INVALID, "the subprotocol here is '%s'", u->protocol);
		return false;
	}
	return true;
}

/* The client went before the answer. */
static void hand_end(struct request *r)
{
	struct hand *h = r->arg;

	if (h)
		free(h->arg);
	free(h);
}

void ws_accept(struct request *r, const struct ws_user *u, void *arg)
{
	static const struct stream never = { .end = hand_end };
	const char *const names[] = { "ping", u->query, NULL };
	char accept[BASE64_SIZE(20) + 1];
	struct MHD_Response *m;
	uint64_t ping = PING_SECONDS;
	struct hand *h;

	if (!hand_is_valid(r, u) || !request_query_only(r, names) ||
	    !request_query_number(r, "ping", 3600, &ping)) {
		free(arg);
		return;
	}
	m = MHD_create_response_for_upgrade(on_upgrade, NULL);
	if (!m) {
		free(arg);
		reply_error(r, ERR_OVERLOADED, "vivd has no memory left");
		return;
	}
	accept_text(request_header(r, "Sec-WebSocket-Key"), accept);
	MHD_add_response_header(m, "Upgrade", "websocket");
	MHD_add_response_header(m, "Sec-WebSocket-Accept", accept);
	if (request_header(r, "Sec-WebSocket-Protocol"))
		MHD_add_response_header(m, "Sec-WebSocket-Protocol", u->protocol);
	h = xalloc(sizeof(*h));
	h->user = u;
	h->arg = arg;
	h->ping_seconds = (unsigned)MAX(ping, 1u);
	r->arg = h;
	r->stream = &never;
	reply_upgrade(r, m);
}
