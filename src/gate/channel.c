/* The kernel's messages. They are read one at a time and checked here; answers that the kernel does
 * not take at once are kept, and no more is read meanwhile. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/gate.h"
#include "host/fdmsg.h"

#define BATCH 32 /* messages, before others get their turn */
#define NOTES_BURST 256
#define NOTES_EACH_MS 20

/* An answer that waits for the kernel to read. */
struct kept {
	struct list link;
	int fd; /* -1: none */
	size_t n;
	struct gate_msg m; /* the first n bytes of it */
};

static struct watch channel;
static struct list kept = LIST_INIT(kept);
static struct gate_msg in;

static void end(void)
{
	watch_close(&channel);
	loop_end();
}

static bool send_now(const void *m, size_t n, int fd, bool *ret_full)
{
	int err = fdmsg_send(channel.fd, m, n, &fd, fd >= 0, MSG_DONTWAIT);

	*ret_full = err == -EAGAIN || err == -ENOBUFS;
	return err == 0;
}

/* #syscalls: dup */
bool channel_send(struct gate_msg *m, int fd)
{
	size_t n = GATE_HEAD + m->nbytes;
	bool full = true;
	struct kept *k;

	if (channel.fd < 0)
		return false;
	if (list_is_empty(&kept) && send_now(m, n, fd, &full))
		return true;
	if (!full) {
		end();
		return false;
	}
	k = xalloc(offsetof(struct kept, m) + n);
	k->n = n;
	memcpy(&k->m, m, n);
	k->fd = fd >= 0 ? dup(fd) : -1;
	if (fd >= 0 && k->fd < 0)
		k->m.type = GATE_FAIL, k->m.err = EMFILE, k->n = GATE_HEAD, k->m.nbytes = 0;
	list_append(&kept, &k->link);
	watch_set(&channel, EPOLLOUT);
	return true;
}

void channel_fail(uint32_t id, int err, const char *fmt, ...)
{
	struct gate_msg m = { .type = GATE_FAIL, .id = id, .err = err };
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(m.bytes, GATE_TEXT_MAX, fmt, ap);
	va_end(ap);
	m.nbytes = n < 0 ? 0 : MIN((uint32_t)n, GATE_TEXT_MAX - 1u);
	(void)channel_send(&m, -1);
}

void channel_note(const char *fmt, ...)
{
	static int64_t tokens = NOTES_BURST, last;
	struct gate_msg m = { .type = GATE_NOTE };
	int64_t now = now_ms();
	va_list ap;
	int n;

	if (now - last >= NOTES_EACH_MS) {
		tokens = MIN(tokens + (now - last) / NOTES_EACH_MS, (int64_t)NOTES_BURST);
		last = now;
	}
	if (!tokens)
		return;
	tokens--;
	va_start(ap, fmt);
	n = vsnprintf(m.bytes, GATE_TEXT_MAX, fmt, ap);
	va_end(ap);
	m.nbytes = n < 0 ? 0 : MIN((uint32_t)n, GATE_TEXT_MAX - 1u);
	(void)channel_send(&m, -1);
}

static void kept_send(void)
{
	while (!list_is_empty(&kept)) {
		struct kept *k = list_first(&kept, struct kept, link);
		bool full;

		if (!send_now(&k->m, k->n, k->fd, &full)) {
			if (!full)
				end();
			return;
		}
		list_remove(&k->link);
		if (k->fd >= 0)
			close(k->fd);
		free(k);
	}
	watch_set(&channel, EPOLLIN);
}

static void message_take(void)
{
	switch (in.type) {
	case GATE_CONNECT:
		connect_begin(&in);
		break;
	case GATE_FIRST:
		connect_first(&in);
		break;
	case GATE_DNS:
		resolve_question(&in);
		break;
	case GATE_CANCEL:
		connect_cancel(in.id);
		break;
	default:
		log_warn("an unknown message of the kernel");
		end();
	}
}

static void channel_ready(struct watch *w, uint32_t events)
{
	if (events & EPOLLOUT)
		kept_send();
	for (int i = 0; i < BATCH && w->fd >= 0 && list_is_empty(&kept); i++) {
		unsigned nfds;
		int64_t n = fdmsg_recv(w->fd, &in, sizeof(in), NULL, 0, &nfds, MSG_DONTWAIT);

		if (n == -EAGAIN || n == -EINTR)
			return;
		/* Descriptors were closed; a message that lies about its length is the last. */
		if (n < (int64_t)GATE_HEAD || in.nbytes > GATE_BYTES ||
		    (uint64_t)n != GATE_HEAD + in.nbytes) {
			end();
			return;
		}
		message_take();
	}
}

void channel_open(int fd)
{
	channel = (struct watch){ .fd = fd, .ready = channel_ready };
	watch_set(&channel, EPOLLIN);
}
