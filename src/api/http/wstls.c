/* WebSockets over TLS. libmicrohttpd serves an upgraded connection's TLS itself, but has no memory
 * left for it by then (the answer's head took what the connection had), and passes four bytes at a
 * time. So its session is taken over: this end of a pair of sockets is served with a buffer for
 * each direction, and the other end is used as a socket without TLS would be.
 *
 * libmicrohttpd still watches the connection and asks the session for bytes. The functions through
 * which the session gets and sends them are ours, and have none for anybody but us (turn) until the
 * end. There is one thread, so that is sure. */
#include "api/http/wstls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER 16384 /* what a record holds */
#define FLUSH_MS 5000
#define ROUNDS 32

struct way {
	char data[BUFFER];
	size_t at, n; /* what is there begins at at */
	bool ended;
};

struct tls_relay {
	struct list link;
	struct request *r;
	struct MHD_UpgradeResponseHandle *urh;
	gnutls_session_t session;
	int fd, near, far; /* the connection; ours of the pair, and the other's (-1: closed) */
	struct way in, out; /* from the client, to it */
	bool again; /* a record is half sent */
	bool told; /* the other end knows that the client sends no more */
	bool bye; /* and the client, that the other end does not */
	uv_poll_t fd_poll, near_poll;
	uv_timer_t timer;
	unsigned nhandles;
};

static struct list all = LIST_INIT(all);
static const struct tls_relay *turn; /* who calls the session now; NULL: libmicrohttpd */

/* ---- the session's own input and output ---- */

static ssize_t pull(gnutls_transport_ptr_t p, void *buf, size_t n)
{
	const struct tls_relay *t = p;

	if (turn == t)
		return recv(t->fd, buf, n, 0);
	errno = EAGAIN;
	return -1;
}

static ssize_t push(gnutls_transport_ptr_t p, const void *buf, size_t n)
{
	const struct tls_relay *t = p;

	if (turn == t)
		return send(t->fd, buf, n, MSG_NOSIGNAL);
	errno = EAGAIN;
	return -1;
}

/* After the end, when there is no relay any more: nothing. */
static ssize_t pull_nothing(gnutls_transport_ptr_t p, void *buf, size_t n)
{
	(void)p;
	(void)buf;
	(void)n;
	return 0;
}

static ssize_t push_nothing(gnutls_transport_ptr_t p, const void *buf, size_t n)
{
	(void)p;
	(void)buf;
	return (ssize_t)n;
}

static int pull_ready(gnutls_transport_ptr_t p, unsigned ms)
{
	(void)p;
	(void)ms;
	return 1;
}

/* ---- the end ---- */

static void on_closed(uv_handle_t *h)
{
	struct tls_relay *t = h->data;

	if (--t->nhandles == 0)
		free(t);
}

static void bye_say(struct tls_relay *t)
{
	if (t->bye)
		return;
	t->bye = true;
	turn = t;
	gnutls_bye(t->session, GNUTLS_SHUT_WR);
	turn = NULL;
	shutdown(t->fd, SHUT_WR);
}

static void relay_finish(struct tls_relay *t)
{
	list_remove(&t->link);
	bye_say(t);
	gnutls_transport_set_pull_function(t->session, pull_nothing);
	gnutls_transport_set_push_function(t->session, push_nothing);
	shutdown(t->fd, SHUT_RDWR);
	uv_close((uv_handle_t *)&t->fd_poll, on_closed);
	uv_close((uv_handle_t *)&t->near_poll, on_closed);
	uv_close((uv_handle_t *)&t->timer, on_closed);
	close(t->near);
	request_upgrade_over(t->r, t->urh);
}

/* ---- both ways ---- */

/* Whether something was done. */
static bool in_move(struct tls_relay *t)
{
	struct way *w = &t->in;
	ssize_t n;

	if (!w->n && !w->ended) {
		turn = t;
		n = gnutls_record_recv(t->session, w->data, sizeof(w->data));
		turn = NULL;
		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			return false;
		w->at = 0;
		w->n = n > 0 ? (size_t)n : 0;
		w->ended = n <= 0; /* a new handshake in the middle is refused as well */
	}
	if (w->n) {
		n = send(t->near, w->data + w->at, w->n, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) { /* nobody reads it any more */
			w->n = 0;
			return true;
		}
		w->at += (size_t)n;
		w->n -= (size_t)n;
		return true;
	}
	if (w->ended && !t->told) {
		t->told = true;
		shutdown(t->near, SHUT_WR);
	}
	return false;
}

static bool out_move(struct tls_relay *t)
{
	struct way *w = &t->out;
	ssize_t n;

	if (!w->n && !w->ended) {
		n = recv(t->near, w->data, sizeof(w->data), 0);
		if (n < 0 && errno == EAGAIN)
			return false;
		w->at = 0;
		w->n = n > 0 ? (size_t)n : 0;
		w->ended = n <= 0;
	}
	if (!w->n)
		return false;
	turn = t;
	n = t->again ? gnutls_record_send(t->session, NULL, 0)
		     : gnutls_record_send(t->session, w->data + w->at, w->n);
	turn = NULL;
	t->again = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	if (t->again)
		return false;
	if (n < 0) { /* the client is gone */
		w->n = 0;
		t->in.ended = true;
		return true;
	}
	w->at += (size_t)n;
	w->n -= (size_t)n;
	return true;
}

static void on_ready(uv_poll_t *p, int status, int events);

static void relay_step(struct tls_relay *t)
{
	int fd_events = 0, near_events = 0, i = 0;

	while (i < ROUNDS && (in_move(t) | out_move(t)))
		i++;
	if (t->out.ended && !t->out.n) {
		bye_say(t);
		if (t->far < 0) {
			relay_finish(t);
			return;
		}
	}
	if (!t->in.n && !t->in.ended)
		fd_events |= UV_READABLE;
	if (t->again)
		fd_events |= UV_WRITABLE;
	if (!t->out.n && !t->out.ended)
		near_events |= UV_READABLE;
	if (t->in.n || i == ROUNDS)
		near_events |= UV_WRITABLE;
	if (fd_events)
		uv_poll_start(&t->fd_poll, fd_events, on_ready);
	else
		uv_poll_stop(&t->fd_poll);
	if (near_events)
		uv_poll_start(&t->near_poll, near_events, on_ready);
	else
		uv_poll_stop(&t->near_poll);
}

static void on_ready(uv_poll_t *p, int status, int events)
{
	struct tls_relay *t = p->data;

	(void)events;
	if (status < 0)
		t->in.ended = true;
	relay_step(t);
}

static void on_timer(uv_timer_t *timer)
{
	relay_finish(timer->data);
}

/* ---- for others ---- */

struct tls_relay *tls_relay_new(struct request *r, struct MHD_UpgradeResponseHandle *urh,
				int *ret_fd)
{
	const union MHD_ConnectionInfo *session =
		MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct tls_relay *t;
	int pair[2];

	if (!session || !fd ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return NULL;
	t = xalloc(sizeof(*t));
	t->r = r;
	t->urh = urh;
	t->session = session->tls_session;
	t->fd = fd->connect_fd;
	t->near = pair[0];
	t->far = *ret_fd = pair[1];
	if (uv_poll_init(&r->d->loop, &t->fd_poll, t->fd)) {
		close(pair[0]);
		close(pair[1]);
		free(t);
		return NULL;
	}
	uv_poll_init(&r->d->loop, &t->near_poll, t->near);
	uv_timer_init(&r->d->loop, &t->timer);
	t->fd_poll.data = t->near_poll.data = t->timer.data = t;
	t->nhandles = 3;
	gnutls_transport_set_ptr(t->session, t);
	gnutls_transport_set_pull_function(t->session, pull);
	gnutls_transport_set_push_function(t->session, push);
	gnutls_transport_set_pull_timeout_function(t->session, pull_ready);
	list_append(&all, &t->link);
	uv_poll_start(&t->near_poll, UV_READABLE | UV_WRITABLE, on_ready);
	return t;
}

void tls_relay_end(struct tls_relay *t, bool now)
{
	close(t->far);
	t->far = -1;
	if (now) {
		while (out_move(t))
			;
		relay_finish(t);
		return;
	}
	uv_timer_start(&t->timer, on_timer, FLUSH_MS, 0);
	uv_poll_start(&t->near_poll, UV_READABLE, on_ready);
}

void tls_relay_end_all(struct server *s)
{
	struct tls_relay *t, *tmp;

	list_for_each_safe(t, tmp, &all, link)
		if (t->r->server == s)
			relay_finish(t);
}
