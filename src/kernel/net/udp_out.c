/* Datagrams to the outside of the cell.
 *
 * A socket has a flow for each destination that it sends to: one end of a pair, at the other end of
 * which the gate has a UDP socket that is connected there (gate/udp.c). A flow is asked for with
 * the first datagram, which waits for it; it ends with its socket, when the gate ends it, or when
 * others make it the oldest of too many. What comes back has the address that the guest sent to. A
 * refusal is told as a pending error, also to a socket that is not connected: the reason to look
 * into. Left out: the error queue for what the network says. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/net/budget.h"
#include "kernel/net/gate.h"
#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/platform/loop.h"
#include "kernel/task/clock.h"
#include "kernel/task/observe.h"

#define FLOWS_MAX 64u /* of one socket */
#define WAITING_MAX 16u /* datagrams that wait for their flow */
#define BATCH 32 /* datagrams that are taken in one turn */
#define REFUSED_NS NSEC_PER_SEC /* a refusal is not asked about again for so long */

struct flow {
	struct gate_call call;
	struct list link; /* in its socket's flows; what was used last is at the end */
	struct inet_sock *i;
	uint32_t number; /* of the call, also when that is over */
	struct ipaddr dst;
	uint16_t port;
	int fd; /* -1: not yet, or refused */
	int refused; /* an errno */
	int64_t until; /* ... until then */
	bool full; /* somebody waits for room */
	struct list waiting; /* packets */
	uint32_t nwaiting;
	uint64_t in, out; /* bytes */
	struct hostwatch watch;
};
OBJ_TYPE(udp_flow_type, struct flow, 4096);

static struct gate_datagram datagram;
static struct gate_msg msg; /* too large for the stack */

static void waiting_drop(struct flow *f)
{
	while (!list_is_empty(&f->waiting)) {
		struct packet *pk = list_first(&f->waiting, struct packet, link);

		list_remove(&pk->link);
		packet_free(pk);
	}
	f->nwaiting = 0;
}

static void flow_close(struct flow *f)
{
	waiting_drop(f);
	if (f->fd < 0)
		return;
	hostwatch_fini(&f->watch);
	host_close(f->fd);
	f->fd = -1;
}

static void flow_free(struct flow *f)
{
	bool full = f->full;
	struct inet_sock *i = f->i;

	gate_forget(&f->call);
	if (f->in || f->out)
		observe(disconnected, false, &f->dst, f->port, f->in, f->out, f->number);
	flow_close(f);
	list_remove(&f->link);
	i->nflows--;
	budget_give();
	obj_free(&udp_flow_type, f);
	if (full)
		waitq_wake(&i->s.q, SOCK_POLL_OUT);
}

void udp_flows_drop(struct inet_sock *i)
{
	while (!list_is_empty(&i->flows))
		flow_free(list_first(&i->flows, struct flow, link));
}

static bool is_peer(const struct flow *f)
{
	return f->i->state == TCPS_ESTABLISHED && f->i->rport == f->port &&
	       ipaddr_is_same(&f->i->raddr, &f->dst);
}

bool udp_flow_is_full(const struct inet_sock *i)
{
	const struct flow *f;

	list_for_each(f, &i->flows, link)
		if (f->full && is_peer(f))
			return true;
	return false;
}

/* ---- from the outside ---- */

static void error_in(struct flow *f, uint32_t err)
{
	struct inet_sock *i = f->i;
	bool wanted = inet_opt_on(i, IPPROTO_IP, IP_RECVERR) ||
		      inet_opt_on(i, IPPROTO_IPV6, IPV6_RECVERR);

	if (err < 4096 && (wanted || is_peer(f)))
		sock_set_err(&i->s, (int)err);
}

static void datagram_in(struct flow *f, uint32_t n)
{
	struct inet_sock *i = f->i;
	struct packet *pk;

	/* A connected socket hears its peer only. */
	if (i->state == TCPS_ESTABLISHED && !is_peer(f))
		return;
	pk = budget_in(n) == n && budget_datagram_in() ? packet_new(n) : NULL;
	if (!pk)
		return;
	if (n)
		memcpy(pk->data, datagram.bytes, n);
	pk->len = n;
	pk->from = f->dst;
	pk->from_port = f->port;
	pk->to = ipaddr_is_v4(&f->dst) ? ip_cell4 : ip_cell6;
	pk->stamp = now_real();
	i->bytes_in += n;
	f->in += n;
	budget_moved(n, 0);
	udp_enqueue(i, pk);
}

static void flow_arm(struct flow *f)
{
	(void)hostwatch_arm(&f->watch, POLLIN | (f->full ? POLLOUT : 0));
}

static void fired(struct hostwatch *w, uint32_t events)
{
	struct flow *f = container_of(w, struct flow, watch);

	if (events & POLLOUT && f->full) {
		f->full = false;
		waitq_wake(&f->i->s.q, SOCK_POLL_OUT);
	}
	for (int k = 0; k < BATCH; k++) {
		int64_t n = host_recv(f->fd, &datagram, sizeof(datagram), MSG_DONTWAIT);

		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n < (int64_t)GATE_DATAGRAM_HEAD) {
			flow_free(f); /* the gate has ended it */
			return;
		}
		if (datagram.err)
			error_in(f, datagram.err);
		else
			datagram_in(f, (uint32_t)n - GATE_DATAGRAM_HEAD);
	}
	flow_arm(f);
}

/* ---- to the outside ---- */

static int datagram_out(struct flow *f, const struct packet *pk)
{
	int64_t n;

	datagram.err = 0;
	if (pk->len)
		memcpy(datagram.bytes, pk->data, pk->len);
	n = host_send(f->fd, &datagram, GATE_DATAGRAM_HEAD + pk->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return (int)n;
	f->out += pk->len;
	return 0;
}

static void answered(struct gate_call *c, const struct gate_msg *m, int fd)
{
	struct flow *f = container_of(c, struct flow, call);

	if (m->type == GATE_OPEN && fd >= 0 && f->fd < 0 && !f->refused) {
		f->fd = fd;
		hostwatch_init(&f->watch, fd, fired);
		while (!list_is_empty(&f->waiting)) {
			struct packet *pk = list_first(&f->waiting, struct packet, link);

			list_remove(&pk->link);
			(void)datagram_out(f, pk);
			packet_free(pk);
		}
		f->nwaiting = 0;
		flow_arm(f);
		return;
	}
	if (fd >= 0)
		host_close(fd);
	gate_forget(c);
	flow_close(f);
	f->refused = m->type == GATE_FAIL && m->err > 0 && m->err < 4096 ? m->err : EACCES;
	f->until = now_mono() + REFUSED_NS;
	sock_set_err(&f->i->s, f->refused);
}

static void lost(struct gate_call *c)
{
	flow_free(container_of(c, struct flow, call));
}

static const struct gate_ops flow_gate_ops = { .answer = answered, .lost = lost, .stays = true };

/* -errno, or 0: it is the last of i's flows. */
static int flow_find(struct inet_sock *i, struct task *t, const struct ipaddr *dst, uint16_t port)
{
	struct flow *f;
	int r;

	list_for_each(f, &i->flows, link)
		if (f->port == port && ipaddr_is_same(&f->dst, dst))
			break;
	if (&f->link != &i->flows) {
		if (f->refused && now_mono() < f->until)
			return -f->refused;
		if (!f->refused) {
			list_remove(&f->link);
			list_append(&i->flows, &f->link);
			return 0;
		}
		flow_free(f);
	}
	if (i->nflows == FLOWS_MAX)
		flow_free(list_first(&i->flows, struct flow, link));
	r = budget_take();
	if (r < 0)
		return r;
	f = obj_new(&udp_flow_type);
	if (!f) {
		budget_give();
		return -ENOBUFS;
	}
	f->i = i;
	f->dst = *dst;
	f->port = port;
	f->fd = f->watch.fd = -1;
	list_init(&f->waiting);
	gate_connect_fill(&msg, t, dst, port, IPPROTO_UDP);
	r = gate_ask(&f->call, &flow_gate_ops, &msg);
	if (r < 0) {
		budget_give();
		obj_free(&udp_flow_type, f);
		return r;
	}
	f->number = f->call.id;
	list_init(&f->link);
	list_append(&i->flows, &f->link);
	i->nflows++;
	return 0;
}

int udp_send_out(struct inet_sock *i, struct task *t, struct packet *pk, const struct ipaddr *dst,
		 uint16_t port)
{
	int r = budget_out(pk->len) == pk->len ? flow_find(i, t, dst, port) : -EDQUOT;
	struct flow *f;

	if (r < 0) {
		packet_free(pk);
		/* It is told now; not once more. */
		if (i->s.err == -r)
			i->s.err = 0;
		return r;
	}
	f = list_last(&i->flows, struct flow, link);
	/* What is too fast is lost, as datagrams are. */
	if (!budget_datagram_out()) {
		packet_free(pk);
		return 0;
	}
	budget_moved(0, pk->len);
	if (f->fd < 0 && f->nwaiting < WAITING_MAX) {
		list_append(&f->waiting, &pk->link);
		f->nwaiting++;
		return 0;
	}
	if (f->fd >= 0)
		r = datagram_out(f, pk);
	if (r == 0)
		i->bytes_out += pk->len;
	packet_free(pk);
	if (r != -EAGAIN)
		return r == -EMSGSIZE ? r : 0; /* lost, as datagrams are */
	f->full = true;
	flow_arm(f);
	return r;
}
