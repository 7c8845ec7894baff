/* See server.h. */
#include "api/http/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/caller.h"
#include "api/http/cors.h"
#include "api/http/request.h"
#include "api/http/text.h"
#include "api/http/ws.h"
#include "base/log.h"
#include "daemon/cells/sleep.h"

#define HEAD_SECONDS 10
#define BODY_SECONDS 30
#define IDLE_SECONDS 60
#define MAX_CONNECTIONS 4096
#define CONNECTION_MEMORY (72 * 1024)
/* MHD does at most this much in a row before the loop sees to others. */
#define RUNS 16
#define THROTTLE_MS 20

struct server {
	struct daemon *d;
	struct MHD_Daemon *mhd;
	bool trusted;
	bool cells; /* its clients are cells */
	const struct cell *adding; /* whose connection is being added */
	const struct cors *cors;
	uv_poll_t poll;
	uv_prepare_t prepare;
	uv_timer_t timer, sweep, settle, throttle;
	struct list conns; /* struct conn */
	unsigned nconns;
	struct list waiting; /* struct request */
	unsigned nhandles; /* that are not closed yet */
	bool woken; /* some request goes on, of which MHD does not tell */
	unsigned closing; /* so many rounds may be needed until what was upgraded is closed */
};

struct conn {
	struct list link;
	struct server *s;
	int fd;
	uint64_t deadline; /* by the loop's clock, in ms; 0: none */
	struct caller *caller; /* whose it is; NULL: no cell's */
	char cell[CELL_ID_LEN + 1];
	int64_t run; /* when that was started */
	const char *uri_end; /* of the current request: where its URI ends as a C string */
};

/* ---- inside the loop ---- */

static void on_timer(uv_timer_t *t)
{
	(void)t;
}

/* Before the loop sleeps: what is ready is done, and the timer wakes it for what will be due. */
static void on_prepare(uv_prepare_t *p)
{
	struct server *s = p->data;
	MHD_UNSIGNED_LONG_LONG ms = 0;
	int runs = 0;

	if (s->woken) {
		s->woken = false;
		MHD_run(s->mhd);
	}
	for (; s->closing; s->closing--)
		MHD_run(s->mhd);
	while (MHD_get_timeout(s->mhd, &ms) == MHD_YES && ms == 0 && runs++ < (s->cells ? 1 : RUNS))
		MHD_run(s->mhd);
	if (s->woken)
		uv_timer_start(&s->timer, on_timer, 0, 0);
	else if (MHD_get_timeout(s->mhd, &ms) == MHD_YES)
		uv_timer_start(&s->timer, on_timer, ms, 0);
	else
		uv_timer_stop(&s->timer);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct server *s = p->data;

	(void)status;
	(void)events;
	MHD_run(s->mhd);
}

static void on_sweep(uv_timer_t *t)
{
	struct server *s = t->data;
	uint64_t now = uv_now(&s->d->loop);
	struct conn *c;

	if (!s->nconns)
		uv_timer_stop(t);
	list_for_each(c, &s->conns, link)
		if (c->deadline && now >= c->deadline) {
			c->deadline = 0;
			shutdown(c->fd, SHUT_RDWR);
		}
}

/* ---- connections ---- */

static struct conn *conn_of(struct MHD_Connection *m)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(m, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return i ? i->socket_context : NULL;
}

static void deadline_set(struct MHD_Connection *m, unsigned seconds)
{
	struct conn *c = conn_of(m);

	if (c)
		c->deadline = seconds ? uv_now(&c->s->d->loop) + seconds * 1000 : 0;
}

static bool peer_is_ours(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* Whose connection it is that begins. */
static void conn_name(struct server *s, struct conn *c)
{
	if (s->adding) {
		strcpy(c->cell, s->adding->id);
		c->run = s->adding->started;
		c->caller = caller_get(s->adding);
	}
	if (!c->caller)
		shutdown(c->fd, SHUT_RDWR);
}

static void on_connection(void *arg, struct MHD_Connection *m, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *s = arg;
	struct conn *c = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		c = xalloc(sizeof(*c));
		c->s = s;
		c->fd = MHD_get_connection_info(m, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
		c->deadline = uv_now(&s->d->loop) + HEAD_SECONDS * 1000;
		list_append(&s->conns, &c->link);
		if (s->nconns++ == 0)
			uv_timer_start(&s->sweep, on_sweep, 1000, 1000);
		*context = c;
		if (s->cells)
			conn_name(s, c);
		if (s->trusted && !peer_is_ours(c->fd))
			shutdown(c->fd, SHUT_RDWR);
	} else if (c) {
		if (c->caller)
			caller_put(c->caller);
		list_remove(&c->link);
		s->nconns--;
		free(c);
		*context = NULL;
	}
}

static void on_hangup(uv_poll_t *p, int status, int events)
{
	struct request *r = p->data;

	(void)status;
	(void)events;
	uv_poll_stop(p);
	if (r) {
		r->gone = true;
		request_wake(r);
	}
}

/* Nobody else looks at a connection that waits. */
static void hangup_watch(struct request *r)
{
	if (!r->hangup) {
		int fd = MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;

		r->hangup = xalloc(sizeof(*r->hangup));
		if (uv_poll_init(&r->d->loop, r->hangup, fd)) {
			free(r->hangup);
			r->hangup = NULL;
			return;
		}
		r->hangup->data = r;
	}
	uv_poll_start(r->hangup, UV_DISCONNECT, on_hangup);
}

void request_wait(struct request *r)
{
	if (r->waiting)
		return;
	r->waiting = true;
	list_append(&r->server->waiting, &r->link);
	MHD_suspend_connection(r->conn);
	hangup_watch(r);
}

void request_wake(struct request *r)
{
	if (!r->waiting)
		return;
	r->waiting = false;
	list_remove(&r->link);
	if (r->hangup)
		uv_poll_stop(r->hangup);
	MHD_resume_connection(r->conn);
	r->server->woken = true;
	uv_timer_start(&r->server->timer, on_timer, 0, 0);
}

void request_upgrade_over(struct request *r, struct MHD_UpgradeResponseHandle *urh)
{
	struct server *s = r->server;

	MHD_upgrade_action(urh, MHD_UPGRADE_ACTION_CLOSE);
	/* With TLS it takes some rounds, of which MHD does not tell. */
	s->closing = RUNS;
	s->woken = true;
	uv_timer_start(&s->timer, on_timer, 0, 0);
}

/* ---- requests ---- */

/* A cell: the connection says which. Nothing that is said on it does, tokens neither. */
static bool caller_find(struct request *r, bool given)
{
	const struct conn *c = conn_of(r->conn);

	if (!c || !c->caller || given) {
		reply_error(r, ERR_UNAUTHORIZED,
			    "a cell speaks for itself, and tokens are not taken "
			    "from it");
		return false;
	}
	r->caller = c->caller;
	r->caller_run = c->run;
	r->rights = (struct rights){ .scope = SCOPE_CELL, .family = true };
	strcpy(r->rights.cell, c->cell);
	snprintf(r->rights.token, sizeof(r->rights.token), "cell:%s", c->cell);
	return true;
}

/* Who asks. False: answered. */
static bool rights_find(struct request *r)
{
	const char *header = request_header(r, "Authorization"), *token;
	char *other = header ? NULL : ws_token(r);
	bool given = header || other, valid;

	if (r->server->cells) {
		free(other);
		return caller_find(r, given);
	}
	if (!given && r->server->trusted) {
		r->rights.scope = SCOPE_ADMIN;
		return true;
	}
	token = header ? text_bearer(header) : other;
	valid = token && token_check(r->d, token, &r->rights);
	free(other);
	if (valid)
		return true;
	reply_error(r, ERR_UNAUTHORIZED,
		    given ? "this token is not valid" REMEDY "'viv token create' makes one"
			  : "a token is needed" REMEDY
			    "send 'Authorization: Bearer TOKEN', which 'viv token "
			    "create' makes");
	return false;
}

bool request_is_owner(const struct request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return r->server->trusted && r->rights.scope == SCOPE_ADMIN && !r->rights.cell[0] && info &&
	       getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       peer.uid == geteuid();
}

static bool rights_suffice(struct request *r)
{
	const struct route *route = r->route;
	enum scope needed = route->need == NEED_READ   ? SCOPE_READ
			    : route->need == NEED_CELL ? SCOPE_CELL
						       : SCOPE_ADMIN;

	if (r->rights.family) {
		if (route->flags & ROUTE_FAMILY)
			return true;
		reply_error(r, ERR_NO_ROUTE, "there is no such path in the API");
		return false;
	}
	if (r->rights.scope < needed) {
		reply_error(r, ERR_FORBIDDEN, "a token of scope '%s' may not do this",
			    scope_name(r->rights.scope));
		return false;
	}
	if (r->rights.cell[0] && !strstr(route->path, "{cell}") && !(route->flags & ROUTE_NARROW)) {
		reply_error(r, ERR_FORBIDDEN, "a token for one cell may not do this");
		return false;
	}
	return true;
}

struct framing {
	unsigned lengths, codings;
	bool chunked;
};

static enum MHD_Result framing_add(void *arg, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct framing *f = arg;

	(void)kind;
	if (!strcasecmp(name, "Content-Length"))
		f->lengths++;
	if (!strcasecmp(name, "Transfer-Encoding")) {
		f->codings++;
		f->chunked = value && !strcasecmp(value, "chunked");
	}
	return MHD_YES;
}

/* MHD keeps URI and version in one buffer, with blanks between them. A NUL in the URI ends it
 * early, and what follows would be ignored. */
static bool uri_is_whole(const struct conn *c, const char *version)
{
	const char *p = c ? c->uri_end : NULL;

	if (!p || version <= p || version - p > CONNECTION_MEMORY)
		return false;
	while (++p < version)
		if (*p != ' ' && *p != '\t')
			return false;
	return true;
}

/* Whether it is clear what was asked and where the body ends: a proxy before us must not see
 * another request than we do. False: answered, and nothing more is read from the connection. */
static bool framing_is_clear(struct request *r, const char *version)
{
	struct framing f = { 0 };
	const char *problem = NULL;

	MHD_get_connection_values(r->conn, MHD_HEADER_KIND, framing_add, &f);
	if (!uri_is_whole(conn_of(r->conn), version))
		problem = "the request line has a NUL byte in it";
	else if (f.lengths + f.codings > 1)
		problem = "a request has one Content-Length or one Transfer-Encoding, not both";
	else if (f.codings && !f.chunked)
		problem = "the only Transfer-Encoding that is understood is 'chunked'";
	else if (f.codings && strcmp(version, "HTTP/1.1") != 0)
		problem = "only a request of HTTP/1.1 has a Transfer-Encoding";
	if (!problem)
		return true;
	reply_error(r, ERR_INVALID, "%s", problem);
	reply_header(r, "Connection", "close");
	return false;
}

/* ---- cells that are not known yet as they are ---- */

void server_settled(struct server *s)
{
	struct request *r, *tmp;

	list_for_each_safe(r, tmp, &s->waiting, link)
		if (r->settling)
			request_wake(r);
}

/* Cells that were too fast may go on. */
static void on_throttle(uv_timer_t *t)
{
	struct server *s = t->data;
	struct request *r, *tmp;
	bool any = false;

	list_for_each_safe(r, tmp, &s->waiting, link)
		if (r->throttled) {
			any = true;
			request_wake(r);
		}
	if (!any)
		uv_timer_stop(t);
}

void request_retry(struct request *r)
{
	r->throttled = true;
	if (!uv_is_active((uv_handle_t *)&r->server->throttle))
		uv_timer_start(&r->server->throttle, on_throttle, THROTTLE_MS, THROTTLE_MS);
}

static void on_settle(uv_timer_t *t)
{
	server_settled(t->data);
}

/* Whether it has to wait until the keeper of its cell has answered vivd: whoever saw the cell run
 * is not told that it does not. */
static bool request_settles(struct request *r)
{
	bool one = strstr(r->route->path, "{cell}");
	struct server *s = r->server;
	uint64_t ms;

	r->settling = false;
	if (r->caller && !caller_admits(r))
		return true;
	if (!one && !(r->route->flags & ROUTE_CELLS))
		return false;
	ms = cells_unsettled(r->d, one ? r->param[0] : NULL);
	if (!ms)
		return false;
	r->settling = true;
	request_wait(r);
	if (!uv_is_active((uv_handle_t *)&s->settle) || uv_timer_get_due_in(&s->settle) > ms)
		uv_timer_start(&s->settle, on_settle, ms, 0);
	return true;
}

/* ---- cells that sleep ---- */

struct request_waker {
	struct cell_waker w;
	struct request *r;
};

void request_wake_cancel(struct request *r)
{
	if (!r->waker)
		return;
	cell_wake_cancel(&r->waker->w);
	free(r->waker);
	r->waker = NULL;
}

static void request_woken(struct cell_waker *w, struct cell *c, const struct err *e)
{
	struct request *r = container_of(w, struct request_waker, w)->r;

	(void)c;
	free(r->waker);
	r->waker = NULL;
	if (r->response) /* vivd ends */
		return;
	if (e)
		reply_err(r, e);
	else
		request_wake(r);
}

/* What it is woken for; who uses it directly says so. */
static const char *wake_reason(struct request *r)
{
	static const char *const words[] = { "exec", "files", "fetch" };
	const char *use = MHD_lookup_connection_value(r->conn, MHD_GET_ARGUMENT_KIND, "for");

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(r->route->path, words[i]) || (use && !strcmp(use, words[i])))
			return words[i];
	return "asked";
}

/* Whether it waits for its cell to wake, or is answered because it cannot. A token that may only
 * read starts nothing: it sees the files of a sleeping cell as those of a stopped one. */
static bool request_wakes(struct request *r)
{
	struct err f = { 0 };
	struct cell *c;

	if (!(r->route->flags & ROUTE_WAKES))
		return false;
	c = cell_find(r->d, r->param[0], &f);
	if (!c || !cell_is_asleep(c) ||
	    (r->rights.cell[0] && !r->rights.family && strcmp(r->rights.cell, c->id)) ||
	    (r->rights.scope == SCOPE_READ && c->sleep != SLEEP_WAKING))
		return false;
	r->waker = xalloc(sizeof(*r->waker));
	r->waker->r = r;
	cell_wake(c, &r->waker->w, wake_reason(r), request_woken);
	if (r->waker) {
		deadline_set(r->conn, 0);
		request_wait(r);
	}
	return true;
}

/* ---- from the head to the answer ---- */

static void upload_begin(struct request *r)
{
	if (request_settles(r) || request_wakes(r))
		return;
	deadline_set(r->conn, BODY_SECONDS);
	r->begun = true;
	r->route->handle(r);
}

static unsigned body_max(const struct request *r)
{
	return r->route && (r->route->flags & ROUTE_LARGE) && !r->caller ? MAX_LARGE_BODY
									 : MAX_BODY;
}

/* The head is complete. */
static enum MHD_Result request_begin(struct server *s, struct MHD_Connection *m, const char *url,
				     const char *method, const char *version, void **context)
{
	struct request *r = request_new(s, s->d, m);
	const char *length;
	uint64_t n = 0;

	*context = r;
	r->can_upgrade = !strcmp(method, "GET") && !strcmp(version, "HTTP/1.1");
	s->d->count.requests++;
	deadline_set(m, BODY_SECONDS);
	cors_begin(r, s->cors);
	if (!framing_is_clear(r, version))
		return request_send(r);
	length = request_header(r, "Content-Length");
	if (length && !text_number(length, UINT64_MAX, &n))
		n = UINT64_MAX;
	if (s->d->ending)
		reply_error(r, ERR_ENDING, "vivd is about to end");
	else if (!s->trusted && cors_is_preview(r))
		reply_error(r, ERR_FORBIDDEN, "pages of previews cannot use the API");
	else if (cors_preflight(r, method, url) || !rights_find(r) ||
		 !request_route(r, method, url) || !rights_suffice(r))
		;
	else if (r->route->flags & ROUTE_UPLOAD)
		upload_begin(r);
	else if (n > body_max(r))
		reply_error(r, ERR_TOO_LARGE, "a body has at most %u bytes", body_max(r));
	/* A short body is read, and dropped, before the answer: who still writes when the
	 * connection is closed may never see it. */
	if (r->response && n && n <= MAX_BODY && !request_header(r, "Expect"))
		return MHD_YES;
	return r->response ? request_send(r) : MHD_YES;
}

/* Some of a body that is taken bit by bit, or its end. Its time runs anew with each bit, and not
 * while we wait for room. */
static enum MHD_Result upload_step(struct request *r, struct MHD_Connection *m, const char *data,
				   size_t *size)
{
	size_t taken = *size;

	if (*size && !r->response && r->upload) {
		taken = r->upload->take(r, data, *size);
		if (!r->response)
			deadline_set(m, taken == *size ? BODY_SECONDS : 0);
	}
	if (*size) {
		*size -= taken;
		return MHD_YES;
	}
	deadline_set(m, 0);
	if (!r->response && r->upload && !r->uploaded) {
		r->uploaded = true;
		r->upload->end(r);
	}
	return r->waiting ? MHD_YES : request_send(r);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *m, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **context)
{
	struct request *r = *context;

	if (!r)
		return request_begin(arg, m, url, method, version, context);
	if (r->route && (r->route->flags & ROUTE_UPLOAD)) {
		if (r->begun || r->response)
			return upload_step(r, m, data, size);
		if (r->gone)
			return MHD_NO;
		upload_begin(r);
		return r->response ? request_send(r) : MHD_YES;
	}
	if (*size) {
		if (r->response)
			;
		else if (r->body.len + *size > body_max(r) ||
			 (r->caller && r->caller->bytes + *size > CALLER_BYTES))
			r->too_big = true;
		else {
			buf_add(&r->body, data, *size);
			if (r->caller)
				r->caller->bytes += *size;
		}
		*size = 0;
		return MHD_YES;
	}
	deadline_set(m, 0);
	if (r->gone && !r->response)
		return MHD_NO;
	if (r->response || !r->route)
		return request_send(r);
	if (r->too_big)
		reply_error(r, ERR_TOO_LARGE, "a body has at most %u bytes", body_max(r));
	else if (r->body.len && !(r->route->flags & ROUTE_BODY))
		reply_error(r, ERR_INVALID, "this request takes no body");
	else if (!request_settles(r) && !request_wakes(r)) {
		if (r->route->flags & ROUTE_FREES)
			db_room_give(&r->d->db);
		r->route->handle(r);
	}
	/* A handler that waits has suspended the connection. */
	return r->waiting ? MHD_YES : request_send(r);
}

static void on_completed(void *arg, struct MHD_Connection *m, void **context,
			 enum MHD_RequestTerminationCode why)
{
	struct request *r = *context;

	(void)arg;
	(void)why;
	if (r)
		caller_over(r);
	if (r && r->route && (r->route->flags & ROUTE_FREES))
		db_room_keep(&r->d->db);
	if (r)
		request_free(r);
	*context = NULL;
	deadline_set(m, IDLE_SECONDS);
}

/* The URI, before MHD takes it apart. What this returns becomes the request's context. */
static void *on_uri(void *arg, const char *uri, struct MHD_Connection *m)
{
	struct conn *c = conn_of(m);

	(void)arg;
	if (c)
		c->uri_end = uri + strlen(uri);
	return NULL;
}

/* Escapes are decoded when the path is in its parts: %2F is no slash. */
static size_t on_unescape(void *arg, struct MHD_Connection *m, char *s)
{
	(void)arg;
	(void)m;
	return strlen(s);
}

static __attribute__((format(printf, 2, 0))) void on_log(void *arg, const char *fmt, va_list ap)
{
	(void)arg;
	(void)fmt;
	(void)ap;
}

/* ---- life ---- */

static unsigned connection_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 256;
	return (unsigned)MIN((rlim_t)MAX_CONNECTIONS, r.rlim_cur / 2);
}

struct server *server_new(struct daemon *d, const struct listen_options *o, struct err *e)
{
	struct server *s = xalloc(sizeof(*s));
	struct MHD_OptionItem more[] = {
		{ o->cells ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET, o->fd, NULL },
		{ o->cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0,
		  (void *)(uintptr_t)o->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key },
		{ MHD_OPTION_END, 0, NULL },
	};
	const union MHD_DaemonInfo *info;

	s->d = d;
	s->trusted = o->trusted;
	s->cells = o->cells;
	s->cors = o->cors;
	list_init(&s->conns);
	list_init(&s->waiting);
	s->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG |
			(o->cert ? MHD_USE_TLS : 0) | (o->cells ? MHD_USE_NO_LISTEN_SOCKET : 0),
		0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_CONNECTION_LIMIT, connection_limit(), MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_UNESCAPE_CALLBACK,
		on_unescape, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_ARRAY, more, MHD_OPTION_END);
	info = s->mhd ? MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		if (!o->cells)
			close(o->fd);
		free(s);
		err_set(e, ERR_FAILED,
			o->cert ? "cannot serve HTTPS" REMEDY
				  "check that the certificate and the key are "
				  "PEM "
				  "and belong together"
				: "cannot serve HTTP");
		return NULL;
	}
	uv_poll_init(&d->loop, &s->poll, info->epoll_fd);
	uv_prepare_init(&d->loop, &s->prepare);
	uv_timer_init(&d->loop, &s->timer);
	uv_timer_init(&d->loop, &s->sweep);
	uv_timer_init(&d->loop, &s->settle);
	uv_timer_init(&d->loop, &s->throttle);
	s->poll.data = s->prepare.data = s->timer.data = s->sweep.data = s->settle.data = s;
	s->throttle.data = s;
	uv_poll_start(&s->poll, UV_READABLE, on_poll);
	uv_prepare_start(&s->prepare, on_prepare);
	s->nhandles = 6;
	return s;
}

void server_add(struct server *s, const struct cell *c, int fd)
{
	static const struct sockaddr nowhere = { .sa_family = AF_UNIX };

	s->adding = c;
	/* Closes it if there is no room. */
	(void)!MHD_add_connection(s->mhd, fd, &nowhere, sizeof(nowhere.sa_family));
	s->adding = NULL;
	s->woken = true;
	uv_timer_start(&s->timer, on_timer, 0, 0);
}

void server_end(struct server *s)
{
	struct request *r, *tmp;

	ws_end_all(s);
	list_for_each_safe(r, tmp, &s->waiting, link) {
		if (r->stream)
			request_wake(r);
		else
			reply_error(r, ERR_ENDING, "vivd ends" REMEDY "ask again when it is back");
	}
	for (int i = 0; i < RUNS; i++)
		MHD_run(s->mhd);
}

static void on_closed(uv_handle_t *h)
{
	struct server *s = h->data;

	if (--s->nhandles == 0)
		free(s);
}

void server_free(struct server *s)
{
	uv_close((uv_handle_t *)&s->poll, on_closed);
	uv_close((uv_handle_t *)&s->prepare, on_closed);
	uv_close((uv_handle_t *)&s->timer, on_closed);
	uv_close((uv_handle_t *)&s->sweep, on_closed);
	uv_close((uv_handle_t *)&s->settle, on_closed);
	uv_close((uv_handle_t *)&s->throttle, on_closed);
	MHD_stop_daemon(s->mhd);
}
