/* Connections that are WebSockets; see ws.h. The handshake is in wshand.c.
 *
 * libmicrohttpd gives the socket away (with TLS it is one end of a pair, whose other end wstls.c
 * serves), and the loop watches it from then on. wslay reads and checks frames and writes all but
 * one kind: of a frame with output of a process only the head is made here, and its bytes are
 * spliced from the pipe. While such a frame is on its way, what wslay has to say waits.
 *
 * wslay sends control frames first, so a close frame is not given to it until everything else has
 * left. Nothing is freed inside of its callbacks: what happens there leaves marks, and ws_step()
 * draws the conclusions. */
#include "api/http/ws.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wslay/wslay.h>

#include "api/http/server.h"
#include "api/http/wspriv.h"

#define FIRST_MS 10000 /* for the first message */
#define CLOSE_MS 5000 /* for the other side to close as well */
#define PINGS 3 /* that are not answered */
#define QUEUED 64 /* answers to pings and the like; who does not take them is not read */
#define SMALL 16384 /* is copied: one frame, one call */
#define FRAME_MAX (1u << 20)
#define ROUNDS 16 /* of what is sent in a row before others have their turn */

struct ws {
	struct list link;
	struct request *r;
	struct MHD_UpgradeResponseHandle *urh;
	const struct ws_user *user;
	void *arg;
	int fd;
	struct tls_relay *tls; /* whose end fd is; NULL: it is the connection's own */
	wslay_event_context_ptr wslay;
	uv_poll_t poll;
	uv_timer_t timer;
	unsigned nhandles; /* that are not closed yet */
	/* in */
	struct buf early; /* what came with the handshake, from early_at on */
	size_t early_at;
	struct buf message;
	int opcode; /* of the frame that is being read */
	bool text, spoke, hold, got_end, heard;
	unsigned pings; /* without an answer */
	uint64_t ping_ms;
	/* out */
	int pipe; /* what is left of a frame comes from it; -1: none is on its way */
	size_t left;
	uint8_t head[14]; /* of a frame of wslay's, until its bytes come */
	size_t nhead;
	bool more; /* its user was not asked for all that it has */
	bool stuck; /* there is no room for a head */
	/* the end */
	unsigned code; /* to close with; 0: not yet */
	char reason[124];
	bool closing; /* the close frame is wslay's */
	bool broken; /* the other side did not follow the protocol */
	bool released; /* its user knows */
	bool farewell; /* its time runs */
	bool failed; /* the socket is of no use any more */
};

static struct list all = LIST_INIT(all);

/* ---- in ---- */

static ssize_t on_recv(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, int flags, void *arg)
{
	struct ws *w = arg;
	ssize_t n;

	(void)flags;
	if (w->hold || w->code || wslay_event_get_queued_msg_count(ctx) > QUEUED) {
		wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	if (w->early_at < w->early.len) {
		n = (ssize_t)MIN(len, w->early.len - w->early_at);
		memcpy(buf, w->early.p + w->early_at, (size_t)n);
		w->early_at += (size_t)n;
		return n;
	}
	do
		n = recv(w->fd, buf, len, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		w->heard = true;
		return n;
	}
	if (n < 0 && errno == EAGAIN) {
		wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	w->got_end = true;
	wslay_event_set_error(ctx, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static void on_frame_start(wslay_event_context_ptr ctx,
			   const struct wslay_event_on_frame_recv_start_arg *f, void *arg)
{
	struct ws *w = arg;

	(void)ctx;
	w->opcode = f->opcode;
	if (f->opcode == WSLAY_TEXT_FRAME || f->opcode == WSLAY_BINARY_FRAME) {
		w->text = f->opcode == WSLAY_TEXT_FRAME;
		w->message.len = 0;
	}
}

static void on_frame_chunk(wslay_event_context_ptr ctx,
			   const struct wslay_event_on_frame_recv_chunk_arg *f, void *arg)
{
	struct ws *w = arg;

	(void)ctx;
	if (wslay_is_ctrl_frame(w->opcode) || w->code)
		return;
	/* wslay's own limit is for one frame. */
	if (w->message.len + f->data_length > WS_MESSAGE_MAX)
		ws_close(w, WS_TOO_BIG, "a message has at most 1 MiB");
	else
		buf_add(&w->message, f->data, f->data_length);
}

static void on_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *m,
		       void *arg)
{
	struct ws *w = arg;

	(void)ctx;
	if (wslay_is_ctrl_frame(m->opcode) || w->code)
		return;
	if (!w->spoke) {
		w->spoke = true;
		uv_timer_start(&w->timer, w->timer.timer_cb, w->ping_ms, w->ping_ms);
	}
	buf_add(&w->message, "", 1);
	w->user->message(w->arg, w->text, (char *)w->message.p, w->message.len - 1);
	w->message.len = 0;
	if (w->message.cap > 65536)
		buf_free(&w->message);
}

/* After a close frame was sent: until the other side closes. */
static void in_drain(struct ws *w)
{
	char buf[16384];
	ssize_t n;

	do
		n = recv(w->fd, buf, sizeof(buf), 0);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0 || errno != EAGAIN)
		w->failed = true;
}

static void in_step(struct ws *w)
{
	if (w->closing || w->code) {
		in_drain(w);
		return;
	}
	if (wslay_event_recv(w->wslay) != 0) {
		w->failed = w->got_end;
		w->broken = !w->got_end;
	}
	if (w->heard)
		w->pings = 0;
	w->heard = false;
	/* It answers a close frame, and what is against the protocol, with one of its own. */
	if (!wslay_event_want_read(w->wslay))
		w->closing = true;
}

void ws_hold(struct ws *w, bool hold)
{
	if (w->hold == hold)
		return;
	w->hold = hold;
	ws_kick(w);
}

/* ---- out ---- */

/* Sends the head that was kept, if any, and this; how many bytes of this. -1: none now, or
 * failed. */
static ssize_t both_send(struct ws *w, const uint8_t *data, size_t len)
{
	struct iovec parts[] = { { w->head, w->nhead }, { (void *)(uintptr_t)data, len } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n;

	do
		n = sendmsg(w->fd, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 || (size_t)n < w->nhead) { /* of so few bytes a part is sent by nobody */
		w->failed = w->failed || n >= 0 || errno != EAGAIN;
		return -1;
	}
	n -= (ssize_t)w->nhead;
	w->nhead = 0;
	return n;
}

static ssize_t on_send(wslay_event_context_ptr ctx, const uint8_t *data, size_t len, int flags,
		       void *arg)
{
	static const uint8_t violation[] = { 0x88, 2, WS_PROTOCOL >> 8, WS_PROTOCOL & 255 };
	struct ws *w = arg;
	ssize_t n;

	/* One call for a head and what follows it. */
	if ((flags & WSLAY_MSG_MORE) && !w->nhead && len <= sizeof(w->head)) {
		memcpy(w->head, data, len);
		w->nhead = len;
		return (ssize_t)len;
	}
	/* For some violations wslay says that it closes and not why. */
	if (w->broken && len == 2 && data[0] == 0x88 && !data[1])
		n = both_send(w, violation, sizeof(violation)) == sizeof(violation) ? 2 : -1;
	else
		n = both_send(w, data, len);
	if (n < 0)
		wslay_event_set_error(ctx, w->failed ? WSLAY_ERR_CALLBACK_FAILURE
						     : WSLAY_ERR_WOULDBLOCK);
	return n;
}

static void queue(struct ws *w, uint8_t opcode, const void *p, size_t n)
{
	struct wslay_event_msg m = { .opcode = opcode, .msg = p, .msg_length = n };

	if (!w->code && wslay_event_queue_msg(w->wslay, &m) == WSLAY_ERR_NOMEM)
		w->failed = true;
}

void ws_text(struct ws *w, const char *text, size_t n)
{
	queue(w, WSLAY_TEXT_FRAME, text, n);
}

/* The rest of a frame whose bytes are in a pipe. */
void ws_bytes(struct ws *w, char channel, const char *p, size_t n)
{
	char buf[WS_BYTES_MAX + 1];

	buf[0] = channel;
	n = MIN(n, (size_t)WS_BYTES_MAX);
	memcpy(buf + 1, p, n);
	queue(w, WSLAY_BINARY_FRAME, buf, n + 1);
}

static void pipe_send(struct ws *w)
{
	while (w->left) {
		ssize_t n = splice(w->pipe, NULL, w->fd, NULL, w->left, SPLICE_F_NONBLOCK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			w->failed = true;
			return;
		}
		w->left -= (size_t)n;
	}
	w->pipe = -1;
}

/* A frame of n bytes that are in the pipe already. */
static void pipe_begin(struct ws *w, char channel, int fd, size_t n)
{
	uint64_t len = n + 1;
	uint8_t head[11] = { 0x82, 127 };
	size_t size = 2;
	ssize_t sent;

	if (len > UINT16_MAX) {
		for (int i = 0; i < 8; i++)
			head[size++] = (uint8_t)(len >> (56 - 8 * i));
	} else {
		head[1] = 126;
		head[size++] = (uint8_t)(len >> 8);
		head[size++] = (uint8_t)len;
	}
	head[size++] = (uint8_t)channel;
	sent = send(w->fd, head, size, MSG_NOSIGNAL | MSG_MORE);
	if (sent < 0 && errno == EAGAIN) {
		w->more = w->stuck = true;
	} else if (sent != (ssize_t)size) { /* of so few bytes a part is sent by nobody */
		w->failed = true;
	} else {
		w->pipe = fd;
		w->left = n;
		pipe_send(w);
	}
}

int ws_forward(struct ws *w, char channel, int fd)
{
	char buf[SMALL + 1];
	int there = 0;
	ssize_t n;

	if (ioctl(fd, FIONREAD, &there) == 0 && there > SMALL) {
		pipe_begin(w, channel, fd, MIN((size_t)there, (size_t)FRAME_MAX));
		return 1;
	}
	do
		n = read(fd, buf + 1, SMALL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return -1;
	buf[0] = channel;
	queue(w, WSLAY_BINARY_FRAME, buf, (size_t)n + 1);
	return 1;
}

/* Sends what is there; false: some is left. */
static bool out_flush(struct ws *w)
{
	if (w->left)
		pipe_send(w);
	if (w->left || w->failed || w->stuck)
		return false;
	if (wslay_event_send(w->wslay) != 0)
		w->failed = true;
	return !w->failed && !wslay_event_want_write(w->wslay);
}

static void out_step(struct ws *w)
{
	w->more = w->stuck = false;
	for (int i = 0; out_flush(w); i++) {
		if (w->code && !w->closing) {
			w->closing = true;
			if (wslay_event_queue_close(w->wslay, (uint16_t)w->code,
						    (uint8_t *)w->reason, strlen(w->reason)))
				w->failed = true;
			continue;
		}
		if (w->closing) {
			if (!wslay_event_get_close_sent(w->wslay))
				w->failed = true;
			break;
		}
		if (i == ROUNDS) {
			w->more = true;
			break;
		}
		if (!w->user->room(w->arg) && !wslay_event_want_write(w->wslay))
			break;
	}
}

/* ---- the loop ---- */

static void on_closed(uv_handle_t *h)
{
	struct ws *w = h->data;

	if (--w->nhandles == 0)
		free(w);
}

/* Nothing of its user's is wanted any more, though the other side may still have to be told. */
static void user_release(struct ws *w)
{
	if (w->released)
		return;
	w->released = true;
	w->user->gone(w->arg);
	if (w->left) /* the frame that is on its way has no end */
		w->failed = true;
}

static void ws_end(struct ws *w, bool now)
{
	list_remove(&w->link);
	uv_close((uv_handle_t *)&w->poll, on_closed);
	uv_close((uv_handle_t *)&w->timer, on_closed);
	user_release(w);
	wslay_event_context_free(w->wslay);
	buf_free(&w->early);
	buf_free(&w->message);
	if (w->tls)
		tls_relay_end(w->tls, now);
	else
		request_upgrade_over(w->r, w->urh);
}

static void on_poll(uv_poll_t *p, int status, int events);

/* The time for a farewell begins when it is said, or at once when the other side is not to be
 * trusted with more. */
static void farewell_set(struct ws *w)
{
	bool said = w->closing && wslay_event_get_close_sent(w->wslay);

	if (w->farewell || !(said || (w->closing && !w->code) || (w->code && w->code != WS_DONE)))
		return;
	w->farewell = true;
	uv_timer_start(&w->timer, w->timer.timer_cb, CLOSE_MS, CLOSE_MS);
}

static void ws_step(struct ws *w)
{
	int events = UV_DISCONNECT;

	if (w->closing)
		user_release(w);
	out_step(w);
	if (w->closing)
		user_release(w);
	if (w->failed) {
		ws_end(w, false);
		return;
	}
	if (w->closing && wslay_event_get_close_sent(w->wslay))
		shutdown(w->fd, SHUT_WR);
	farewell_set(w);
	if (w->closing || w->code ||
	    (!w->hold && wslay_event_get_queued_msg_count(w->wslay) <= QUEUED))
		events |= UV_READABLE;
	if (w->left || w->more || wslay_event_want_write(w->wslay) ||
	    (w->early_at < w->early.len && !w->hold && !w->closing && !w->code))
		events |= UV_WRITABLE;
	uv_poll_start(&w->poll, events, on_poll);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct ws *w = p->data;

	/* What it sent before it went is of no use when nobody takes it. */
	if (status < 0 || ((events & UV_DISCONNECT) && !(events & UV_READABLE)))
		w->failed = true;
	else if ((events & UV_READABLE) || w->early_at < w->early.len)
		in_step(w);
	ws_step(w);
}

void ws_kick(struct ws *w)
{
	/* In the next round: the caller may be inside of what is done for it. */
	w->more = true;
	uv_poll_start(&w->poll, UV_WRITABLE | UV_DISCONNECT | (w->hold ? 0 : UV_READABLE), on_poll);
}

static void on_timer(uv_timer_t *t)
{
	struct ws *w = t->data;

	if (w->pings == PINGS || w->farewell) {
		w->failed = true;
	} else if (!w->spoke) {
		ws_close(w, WS_STATUS(408), "no message came");
	} else if (w->hold || w->code || w->left || wslay_event_want_write(w->wslay)) {
		/* It does not read, or is not read from: no answer could come. */
		w->pings = 0;
	} else {
		w->pings++;
		queue(w, WSLAY_PING, "", 0);
	}
	ws_step(w);
}

void ws_close(struct ws *w, unsigned code, const char *reason)
{
	if (w->code || w->closing)
		return;
	w->code = code;
	strncpy(w->reason, reason, sizeof(w->reason) - 1);
	ws_kick(w);
}

/* ---- the begin and the end ---- */

void ws_open(struct request *r, const struct ws_start *start)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.on_frame_recv_start_callback = on_frame_start,
		.on_frame_recv_chunk_callback = on_frame_chunk,
		.on_msg_recv_callback = on_message,
	};
	struct ws *w = xalloc(sizeof(*w));

	w->r = r;
	w->user = start->user;
	w->arg = start->arg;
	w->urh = start->urh;
	w->fd = start->fd;
	w->tls = start->tls;
	w->pipe = -1;
	w->ping_ms = start->ping_seconds * 1000;
	fcntl(w->fd, F_SETFL, fcntl(w->fd, F_GETFL) | O_NONBLOCK);
	if (start->early_size)
		buf_add(&w->early, start->early, start->early_size);
	if (wslay_event_context_server_init(&w->wslay, &callbacks, w) ||
	    uv_poll_init(&r->d->loop, &w->poll, w->fd)) {
		wslay_event_context_free(w->wslay);
		buf_free(&w->early);
		free(w->arg);
		free(w);
		if (start->tls)
			tls_relay_end(start->tls, true);
		else
			request_upgrade_over(r, start->urh);
		return;
	}
	wslay_event_config_set_no_buffering(w->wslay, 1);
	wslay_event_config_set_max_recv_msg_length(w->wslay, WS_MESSAGE_MAX);
	uv_timer_init(&r->d->loop, &w->timer);
	w->poll.data = w->timer.data = w;
	w->nhandles = 2;
	list_append(&all, &w->link);
	uv_timer_start(&w->timer, on_timer, FIRST_MS, 0);
	w->user->open(w->arg, w);
	ws_kick(w);
}

void ws_end_all(struct server *s)
{
	struct ws *w, *tmp;

	list_for_each_safe(w, tmp, &all, link) {
		if (w->r->server != s)
			continue;
		ws_close(w, WS_GOING, "vivd ends");
		out_step(w);
		ws_end(w, true);
	}
	tls_relay_end_all(s);
}
