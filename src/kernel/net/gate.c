/* See gate.h. What the gate does not take at once is kept; the gate's messages are read a few at a
 * time. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/fdmsg.h"
#include "host/host.h"
#include "kernel/net/denials.h"
#include "kernel/net/gate.h"
#include "kernel/net/sock.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define SLOTS 1024
#define BATCH 16
#define KEPT_MAX 4096 /* messages that wait; more is asked for only below it */
/* ... and room for the end of every call, which the gate must hear of. */
#define KEPT_ALL (KEPT_MAX + 28672)

/* A message that waits for the gate. */
struct kept {
	struct list link;
	uint32_t n; /* bytes */
	char *m; /* a blob */
};
OBJ_TYPE(gate_kept_type, struct kept, KEPT_ALL);

static struct list calls[SLOTS];
static struct list kept = LIST_INIT(kept);
static struct hostwatch watch;
static uint32_t last_id, nkept;
static struct gate_msg in;

static void gate_ready(struct hostwatch *w, uint32_t events);

void gate_init(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		list_init(&calls[i]);
	if (!gate_is_granted())
		return;
	hostwatch_init(&watch, FD_GATE, gate_ready);
	(void)hostwatch_arm(&watch, POLLIN);
}

void gate_grant(void)
{
	if (gate_is_granted())
		return;
	cell.spec.network = true;
	gate_init();
}

bool gate_is_granted(void)
{
	return cell.spec.network;
}

static struct gate_call *call_find(uint32_t id)
{
	struct gate_call *c;

	list_for_each(c, &calls[id % SLOTS], link)
		if (c->id == id)
			return c;
	return NULL;
}

static void call_end(struct gate_call *c)
{
	list_remove(&c->link);
	c->id = 0;
}

/* ---- sending ---- */

static void kept_drop(struct kept *k)
{
	list_remove(&k->link);
	nkept--;
	blob_free(k->m, k->n);
	obj_free(&gate_kept_type, k);
}

static void gate_lost(void)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		while (!list_is_empty(&calls[i])) {
			struct gate_call *c = list_first(&calls[i], struct gate_call, link);

			call_end(c);
			CHECKED(c->ops)->lost(c);
		}
	}
}

static void watch_arm(void)
{
	(void)hostwatch_arm(&watch, POLLIN | (list_is_empty(&kept) ? 0 : POLLOUT));
}

static int64_t send_now(const void *m, size_t n)
{
	return host_send(FD_GATE, m, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void kept_send(void)
{
	while (!list_is_empty(&kept)) {
		struct kept *k = list_first(&kept, struct kept, link);

		if (send_now(k->m, k->n) == -EAGAIN)
			return;
		kept_drop(k);
	}
}

static int message_send(const struct gate_msg *m)
{
	uint32_t n = (uint32_t)GATE_HEAD + m->nbytes;
	struct kept *k;

	if (list_is_empty(&kept) && send_now(m, n) != -EAGAIN)
		return 0; /* what cannot be sent is lost with its gate */
	if (nkept >= KEPT_MAX && m->type != GATE_CANCEL)
		return -ENOBUFS;
	k = obj_new(&gate_kept_type);
	if (!k)
		return -ENOBUFS;
	k->m = blob_new(n);
	if (!k->m) {
		obj_free(&gate_kept_type, k);
		return -ENOBUFS;
	}
	k->n = n;
	memcpy(k->m, m, n);
	list_init(&k->link);
	list_append(&kept, &k->link);
	nkept++;
	watch_arm();
	return 0;
}

void gate_connect_fill(struct gate_msg *m, struct task *t, const struct ipaddr *dst, uint16_t port,
		       uint16_t protocol)
{
	struct file *exe = t ? t->proc->exe : NULL;
	int n = exe ? file_label(exe, NULL, m->bytes, GATE_PROGRAM_MAX) : 0;

	memset(m, 0, GATE_HEAD);
	m->type = GATE_CONNECT;
	memcpy(m->addr, dst->b, sizeof(m->addr));
	m->port = port;
	m->protocol = protocol;
	m->pid = t ? t->proc->pid : 0;
	/* Half a path could be taken for another one's. */
	m->nbytes = n > 0 && n < GATE_PROGRAM_MAX ? (uint32_t)n : 0;
}

int gate_ask(struct gate_call *c, const struct gate_ops *ops, struct gate_msg *m)
{
	int r;

	do
		last_id++;
	while (!last_id || call_find(last_id));
	m->id = last_id;
	r = message_send(m);
	if (r < 0)
		return r;
	c->id = m->id;
	c->ops = ops;
	list_init(&c->link);
	list_append(&calls[c->id % SLOTS], &c->link);
	return 0;
}

int gate_more(struct gate_call *c, struct gate_msg *m)
{
	m->id = c->id;
	return c->id ? message_send(m) : -ENOBUFS;
}

/* A request that the gate has not got yet: true, it never will. */
static bool kept_forget(uint32_t id)
{
	struct kept *k;

	for (struct list *l = kept.prev; l != &kept; l = l->prev) {
		const struct gate_msg *m;

		k = list_entry(l, struct kept, link);
		m = (const void *)k->m;
		if (m->id != id || (m->type != GATE_CONNECT && m->type != GATE_DNS))
			continue;
		kept_drop(k);
		return true;
	}
	return false;
}

void gate_forget(struct gate_call *c)
{
	struct gate_msg m = { .type = GATE_CANCEL, .id = c->id };

	if (!c->id)
		return;
	call_end(c);
	if (!kept_forget(m.id))
		(void)!message_send(&m); /* else it goes on for nobody */
}

/* ---- receiving ---- */

/* fd is taken. What makes no sense is dropped: nobody waits for it for ever, since its gate ends.
 */
static void message_in(int64_t n, int fd)
{
	bool good = n >= (int64_t)GATE_HEAD && in.nbytes <= GATE_BYTES &&
		    (uint64_t)n == GATE_HEAD + in.nbytes;
	struct gate_call *c = good && in.id ? call_find(in.id) : NULL;

	if (good && (in.type == GATE_NOTE || (in.type == GATE_FAIL && in.err == EACCES)))
		denials_add(in.bytes, in.nbytes);
	if (c) {
		if (in.type != GATE_HELD && !(in.type == GATE_OPEN && CHECKED(c->ops)->stays))
			call_end(c);
		CHECKED(c->ops)->answer(c, &in, fd);
		return;
	}
	if (fd >= 0)
		host_close(fd);
	if (good && in.type == GATE_LOST)
		gate_lost();
}

static void gate_ready(struct hostwatch *w, uint32_t events)
{
	if (events & POLLOUT)
		kept_send();
	for (int i = 0; i < BATCH; i++) {
		unsigned nfds = 0;
		int fd = -1;
		int64_t n;

		memset(&in, 0, GATE_HEAD);
		n = fdmsg_recv(w->fd, &in, sizeof(in), &fd, 1, &nfds, MSG_DONTWAIT);
		if (n == -EAGAIN)
			break;
		/* The keeper is gone, and so will be the cell. */
		if (n <= 0 && n != -EMSGSIZE && n != -EMFILE)
			return;
		/* The message is here and its descriptor is not: the kernel has too many. */
		if (n == -EMSGSIZE || n == -EMFILE) {
			in.type = GATE_FAIL;
			in.err = ENOBUFS;
			in.nbytes = 0;
			n = GATE_HEAD;
		}
		message_in(n, nfds ? fd : -1);
	}
	watch_arm();
}
