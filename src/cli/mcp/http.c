/* MCP over HTTP ("streamable HTTP"): POST /mcp with one message, answered by JSON or, when it takes
 * a moment, by a stream of server-sent events; see mcp.h.
 *
 * Whoever can connect could use the cells of this user, so every request has the token, the server
 * listens at loopback addresses only, and a request with an Origin, which web pages send, is
 * refused unless the origin was named. The Host has to be a name of this machine, so that no page's
 * own name leads here (DNS rebinding). A connection carries one request. A client that goes away
 * does not cancel its calls; notifications/cancelled and the end of its session do. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/mcp/http.h"
#include "gate/http.h"

#define CONNS_MAX 128
#define SESSIONS_MAX 64
#define READ_SECONDS 30 /* for a request to arrive */
#define IDLE_SECONDS 3600 /* after which a session may be forgotten */
#define OUT_MAX (32u << 20) /* that a client does not read */
#define ID_BYTES 16

struct http_session {
	bool used;
	struct session s;
	char id[2 * ID_BYTES + 1];
	time_t last;
};

enum conn_state { CONN_HEAD, CONN_BODY, CONN_WAIT, CONN_STREAM, CONN_CLOSE };

struct conn {
	struct sink sink; /* first */
	int fd; /* -1: free */
	enum conn_state state;
	struct buf in, out;
	size_t scanned, out_at;
	struct head head;
	struct body body;
	struct buf message;
	struct http_session *session;
	bool fresh; /* the session began with this request */
	unsigned waits; /* answers that are to come */
	struct buf answers; /* that came before a stream had begun */
	time_t began;
};

static struct conn conns[CONNS_MAX];
static struct http_session sessions[SESSIONS_MAX];
static const struct http_options *options;
static int listener = -1;

static void conn_watch(struct conn *c);

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* ---- sessions ---- */

static struct http_session *session_find(const char *id)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (sessions[i].used && !strcmp(sessions[i].id, id))
			return &sessions[i];
	return NULL;
}

static void http_session_end(struct http_session *h)
{
	session_end(&h->s);
	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (conns[i].session == h)
			conns[i].session = NULL;
	*h = (struct http_session){ 0 };
}

void token_make(char *to, unsigned bytes)
{
	uint8_t random[64];

	if (bytes > sizeof(random) || getrandom(random, bytes, 0) != (ssize_t)bytes)
		abort();
	for (unsigned i = 0; i < bytes; i++)
		sprintf(to + 2 * i, "%02x", random[i]);
}

/* A new one; in place of the one that has been idle for longest if need be. NULL: all are busy. */
static struct http_session *session_new(void)
{
	struct http_session *oldest = NULL;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		struct http_session *h = &sessions[i];

		if (!h->used) {
			oldest = h;
			break;
		}
		if (seconds() - h->last > IDLE_SECONDS && (!oldest || h->last < oldest->last))
			oldest = h;
	}
	if (!oldest)
		return NULL;
	if (oldest->used)
		http_session_end(oldest);
	oldest->used = true;
	oldest->last = seconds();
	token_make(oldest->id, ID_BYTES);
	return oldest;
}

/* ---- answers ---- */

static void conn_close(struct conn *c)
{
	calls_forget(&c->sink);
	watch_drop(c->fd);
	close(c->fd);
	head_fini(&c->head);
	body_fini(&c->body);
	buf_free(&c->in);
	buf_free(&c->out);
	buf_free(&c->message);
	buf_free(&c->answers);
	*c = (struct conn){ .fd = -1 };
}

static void reply(struct conn *c, const char *status, const char *type, const void *body, size_t n)
{
	char head[512];

	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s%s%s", status, n,
		 type ? "Content-Type: " : "", type ? type : "", type ? "\r\n" : "");
	buf_add_text(&c->out, head);
	if (c->session && c->fresh) {
		snprintf(head, sizeof(head), "Mcp-Session-Id: %s\r\n", c->session->id);
		buf_add_text(&c->out, head);
	}
	if (!strncmp(status, "401", 3))
		buf_add_text(&c->out, "WWW-Authenticate: Bearer\r\n");
	if (!strncmp(status, "405", 3))
		buf_add_text(&c->out, "Allow: POST, DELETE\r\n");
	buf_add_text(&c->out, "\r\n");
	buf_add(&c->out, body, n);
	c->state = CONN_CLOSE;
	conn_watch(c);
}

/* An error of HTTP, with the reason as one of JSON-RPC. */
static void refuse(struct conn *c, const char *status, const char *why)
{
	struct rpc_error e;
	struct buf b = { 0 };

	rpc_fail(&e, RPC_INVALID, "%s", why);
	rpc_failure(&b, "null", &e);
	reply(c, status, "application/json", b.p, b.len);
	buf_free(&b);
}

static void event_add(struct conn *c, const char *message, size_t n)
{
	buf_add_text(&c->out, "event: message\ndata: ");
	buf_add(&c->out, message, n);
	buf_add_text(&c->out, "\n\n");
}

static void conn_send(struct sink *k, const char *message, size_t n)
{
	struct conn *c = (struct conn *)k;

	/* Several answers of a list stand side by side. */
	if (c->state != CONN_STREAM) {
		buf_add_text(&c->answers, c->answers.len ? "," : "");
		buf_add(&c->answers, message, n);
		return;
	}
	if (c->out.len - c->out_at <= OUT_MAX)
		event_add(c, message, n);
	conn_watch(c);
}

static void conn_done(struct sink *k)
{
	struct conn *c = (struct conn *)k;

	if (c->waits && --c->waits)
		return;
	if (c->state == CONN_STREAM) {
		c->state = CONN_CLOSE;
		conn_watch(c);
	}
}

/* What was asked takes longer: from here on, a stream. */
static void stream_begin(struct conn *c, bool batch)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: "
				   "text/event-stream\r\nCache-Control: no-cache\r\n";
	char id[80];

	buf_add_text(&c->out, head);
	if (c->session && c->fresh) {
		snprintf(id, sizeof(id), "Mcp-Session-Id: %s\r\n", c->session->id);
		buf_add_text(&c->out, id);
	}
	buf_add_text(&c->out, "\r\n");
	c->state = CONN_STREAM;
	if (c->answers.len && batch) {
		struct buf list = { 0 };

		buf_add_text(&list, "[");
		buf_add(&list, c->answers.p, c->answers.len);
		buf_add_text(&list, "]");
		event_add(c, (char *)list.p, list.len);
		buf_free(&list);
	} else if (c->answers.len) {
		event_add(c, (char *)c->answers.p, c->answers.len);
	}
	conn_watch(c);
}

/* ---- requests ---- */

/* In a time that does not tell where they differ. */
static bool is_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char differs = 0;

	if (n != strlen(b))
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return !differs;
}

static bool has_token(const struct head *h)
{
	unsigned n;
	const char *value = head_find(h, "authorization", &n);

	return value && n == 1 && !strncasecmp(value, "Bearer ", 7) &&
	       is_equal(value + 7, options->token);
}

static bool origin_is_good(const struct head *h)
{
	unsigned n;
	const char *origin = head_find(h, "origin", &n);

	if (!n)
		return true;
	for (unsigned i = 0; origin && i < options->norigins; i++)
		if (!strcmp(origin, options->origins[i]))
			return true;
	return false;
}

static bool host_is_good(const struct head *h)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	unsigned count;
	const char *host = head_find(h, "host", &count);
	size_t n;

	if (!host || count != 1 || h->authority)
		return false;
	n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && !strncasecmp(names[i], host, n))
			return true;
	return false;
}

static bool version_is_known(const struct head *h)
{
	static const char *const known[] = { "2025-06-18", "2025-03-26", "2024-11-05" };
	unsigned n;
	const char *version = head_find(h, "mcp-protocol-version", &n);

	if (!n)
		return true;
	for (unsigned i = 0; version && i < ARRAY_LEN(known); i++)
		if (!strcmp(version, known[i]))
			return true;
	return false;
}

/* What has to be known of a body before its session is: the first request of all, and how many
 * messages are in it (0: it is no list). */
static void body_look(const struct buf *message, bool *initialize, unsigned *count)
{
	struct json_doc d;
	struct err unused;
	const char *method;

	*initialize = false;
	*count = 0;
	if (json_parse(&d, (char *)message->p, message->len, &unused) < 0)
		return;
	method = json_get_text(d.root, "method");
	*initialize = method && !strcmp(method, "initialize");
	for (const struct json *v = d.root->type == JSON_LIST ? d.root->first : NULL; v;
	     v = v->next)
		++*count;
	json_free(&d);
}

/* Finds the session of a request; false: it was refused. */
static bool session_take_up(struct conn *c, bool initialize)
{
	unsigned n;
	const char *id = head_find(&c->head, "mcp-session-id", &n);

	if (n > 1 || (n && !id)) {
		refuse(c, "400 Bad Request", "there are several session ids");
	} else if (id) {
		c->session = session_find(id);
		if (c->session)
			return true;
		refuse(c, "404 Not Found", "there is no such session; begin with 'initialize'");
	} else if (!initialize) {
		refuse(c, "400 Bad Request", "the header Mcp-Session-Id is missing");
	} else {
		c->session = session_new();
		c->fresh = true;
		if (c->session)
			return true;
		refuse(c, "503 Service Unavailable", "there are too many sessions");
	}
	return false;
}

static void post_take(struct conn *c)
{
	struct buf list = { 0 };
	bool initialize, batch;
	unsigned count;

	body_look(&c->message, &initialize, &count);
	if (!session_take_up(c, initialize))
		return;
	/* A list that is refused has one answer. */
	batch = c->session->s.batches && count && count <= MCP_BATCH_MAX;
	c->session->last = seconds();
	c->state = CONN_WAIT;
	c->waits = batch ? count : 1;
	session_take(&c->session->s, &c->sink, (char *)c->message.p, c->message.len);
	if (c->waits) {
		stream_begin(c, batch);
	} else if (!c->answers.len) {
		reply(c, "202 Accepted", NULL, "", 0);
	} else {
		buf_add_text(&list, batch ? "[" : "");
		buf_add(&list, c->answers.p, c->answers.len);
		buf_add_text(&list, batch ? "]" : "");
		reply(c, "200 OK", "application/json", list.p, list.len);
	}
	buf_free(&list);
}

static void delete_take(struct conn *c)
{
	unsigned n;
	const char *id = head_find(&c->head, "mcp-session-id", &n);
	struct http_session *h = id ? session_find(id) : NULL;

	if (!h) {
		refuse(c, id ? "404 Not Found" : "400 Bad Request", "there is no such session");
		return;
	}
	http_session_end(h);
	reply(c, "200 OK", NULL, "", 0);
}

/* The head is there: what can be refused without the body is. False: it was. */
static bool head_take(struct conn *c)
{
	const struct head *h = &c->head;
	unsigned n;
	const char *type = head_find(h, "content-type", &n);

	if (!host_is_good(h))
		refuse(c, "403 Forbidden", "the Host must be a loopback address or 'localhost'");
	else if (!origin_is_good(h))
		refuse(c, "403 Forbidden", "web pages of this Origin may not use the server");
	else if (!has_token(h))
		refuse(c, "401 Unauthorized", "the request needs 'Authorization: Bearer TOKEN'");
	else if (!h->target || strcmp(h->target, "/mcp"))
		refuse(c, "404 Not Found", "the server is at /mcp");
	else if (!version_is_known(h))
		refuse(c, "400 Bad Request", "the protocol version is not known");
	else if (!strcmp(h->method, "DELETE"))
		delete_take(c);
	else if (strcmp(h->method, "POST"))
		refuse(c, "405 Method Not Allowed", "use POST; the server sends nothing by itself");
	else if (!type || strncasecmp(type, "application/json", 16))
		refuse(c, "415 Unsupported Media Type", "the body must be application/json");
	else
		return true;
	return false;
}

static void head_read(struct conn *c)
{
	const char *wrong;
	size_t n = h1_head_end(c->in.p, c->in.len, &c->scanned, &wrong);

	if (!n && !wrong)
		return;
	if (!wrong)
		wrong = h1_request_read(&c->head, c->in.p, n);
	if (!wrong && !head_take(c))
		return;
	if (!wrong)
		wrong = body_of_request(&c->body, &c->head);
	if (wrong) {
		refuse(c, "400 Bad Request", wrong);
		return;
	}
	memmove(c->in.p, c->in.p + n, c->in.len - n);
	c->in.len -= n;
	c->state = CONN_BODY;
}

static void body_read(struct conn *c)
{
	size_t at = 0, used, n;
	const uint8_t *data;

	do {
		used = body_step(&c->body, c->in.p + at, c->in.len - at, &data, &n);
		at += used;
		if (n > MCP_MESSAGE_MAX - c->message.len) {
			refuse(c, "413 Content Too Large", "the message is too long");
			return;
		}
		buf_add(&c->message, data, n);
	} while (used && !c->body.done && !c->body.wrong);
	memmove(c->in.p, c->in.p + at, c->in.len - at);
	c->in.len -= at;
	if (c->body.wrong)
		refuse(c, "400 Bad Request", c->body.wrong);
	else if (c->body.done)
		post_take(c);
}

/* ---- connections ---- */

static void conn_write(struct conn *c)
{
	while (c->out_at < c->out.len) {
		ssize_t n = send(c->fd, c->out.p + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			conn_close(c);
			return;
		}
		c->out_at += (size_t)n;
	}
	if (c->out_at == c->out.len)
		c->out.len = c->out_at = 0;
	if (c->state == CONN_CLOSE && !c->out.len) {
		shutdown(c->fd, SHUT_WR);
		conn_close(c);
		return;
	}
	conn_watch(c);
}

static void conn_read(struct conn *c)
{
	size_t before = c->in.len;
	char *p = buf_more(&c->in, 65536);
	ssize_t n = recv(c->fd, p, 65536, 0);

	c->in.len = before + (size_t)MAX(n, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_close(c);
		return;
	}
	if (c->state == CONN_HEAD)
		head_read(c);
	if (c->fd >= 0 && c->state == CONN_BODY)
		body_read(c);
	/* Behind the request there is nothing to read. */
	if (c->fd >= 0 && c->state > CONN_BODY)
		c->in.len = 0;
}

static void conn_ready(void *arg, short revents)
{
	struct conn *c = arg;

	if (revents & (POLLIN | POLLHUP | POLLERR))
		conn_read(c);
	if (c->fd >= 0 && (revents & POLLOUT))
		conn_write(c);
}

static void conn_watch(struct conn *c)
{
	short events = POLLIN;

	if (c->fd < 0)
		return;
	if (c->out.len > c->out_at || c->state == CONN_CLOSE)
		events |= POLLOUT;
	watch_set(c->fd, events, conn_ready, c);
}

static void accept_ready(void *arg, short revents)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)arg;
	(void)revents;
	if (fd < 0)
		return;
	for (unsigned i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &conns[i];

		if (c->fd >= 0)
			continue;
		*c = (struct conn){ .sink = { .send = conn_send, .done = conn_done },
				    .fd = fd,
				    .began = seconds() };
		conn_watch(c);
		return;
	}
	close(fd);
}

void http_tick(void)
{
	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (conns[i].fd >= 0 && conns[i].state <= CONN_BODY &&
		    seconds() - conns[i].began > READ_SECONDS)
			conn_close(&conns[i]);
}

/* ---- the address ---- */

/* ADDRESS:PORT of loopback. */
static int address_read(const char *text, struct sockaddr_storage *ret, socklen_t *len,
			struct err *e)
{
	struct sockaddr_in *v4 = (void *)ret;
	struct sockaddr_in6 *v6 = (void *)ret;
	const char *colon = strrchr(text, ':');
	uint32_t port;
	char host[64];

	*ret = (struct sockaddr_storage){ 0 };
	if (!colon || !value_u32(colon + 1, &port) || port > 65535 ||
	    (size_t)(colon - text) >= sizeof(host))
		return err_set(e, ERR_USAGE,
			       "--http '%s': give it as ADDRESS:PORT, such as 127.0.0.1:7412",
			       text);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (!strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1 &&
	    (ntohl(v4->sin_addr.s_addr) >> 24) == 127) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*len = sizeof(*v4);
		return 0;
	}
	if (!strcmp(host, "[::1]")) {
		v6->sin6_family = AF_INET6;
		v6->sin6_addr = in6addr_loopback;
		v6->sin6_port = htons((uint16_t)port);
		*len = sizeof(*v6);
		return 0;
	}
	return err_set(
		e, ERR_USAGE,
		"--http '%s': only loopback addresses are possible, because the connection is "
		"not encrypted" REMEDY "for other machines: 'ssh -L', or a server with TLS "
		"before it",
		text);
}

static int port_of(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)(void *)&a)->sin_port
					    : ((struct sockaddr_in6 *)(void *)&a)->sin6_port);
}

int http_begin(const struct http_options *o, int *ret_port, struct err *e)
{
	struct sockaddr_storage a;
	socklen_t len;
	int on = 1;

	if (address_read(o->address, &a, &len, e) < 0)
		return -1;
	listener = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener >= 0)
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (listener < 0 || bind(listener, (struct sockaddr *)&a, len) < 0 ||
	    listen(listener, 64) < 0)
		return err_set(e, ERR_FAILED, "cannot listen at %s: %s", o->address,
			       strerror(errno));
	for (unsigned i = 0; i < CONNS_MAX; i++)
		conns[i].fd = -1;
	options = o;
	*ret_port = port_of(listener);
	watch_set(listener, POLLIN, accept_ready, NULL);
	return 0;
}
