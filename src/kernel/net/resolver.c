/* Questions to the cell's resolver: datagrams to its address go to the gate as they are, and the
 * answers come back as datagrams from it. One that is not answered is lost, as datagrams are. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/net/gate.h"
#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define ASKS_MAX 64u /* of one socket */

struct dns_ask {
	struct gate_call call;
	struct list link; /* in its socket's asks */
	struct inet_sock *i;
	struct ipaddr to; /* which of its addresses was asked */
};
OBJ_TYPE(dns_ask_type, struct dns_ask, 4096);

static struct gate_msg msg; /* too large for the stack */

static void ask_free(struct dns_ask *a)
{
	gate_forget(&a->call);
	list_remove(&a->link);
	a->i->nasks--;
	obj_free(&dns_ask_type, a);
}

static void answered(struct gate_call *c, const struct gate_msg *m, int fd)
{
	struct dns_ask *a = container_of(c, struct dns_ask, call);
	struct packet *pk = m->type == GATE_ANSWER && m->nbytes ? packet_new(m->nbytes) : NULL;

	if (fd >= 0)
		host_close(fd);
	if (pk) {
		memcpy(pk->data, m->bytes, m->nbytes);
		pk->len = m->nbytes;
		pk->from = a->to;
		pk->from_port = RESOLVER_PORT;
		pk->to = ipaddr_is_v4(&a->to) ? ip_cell4 : ip_cell6;
		pk->stamp = now_real();
		udp_enqueue(a->i, pk);
	}
	ask_free(a);
}

static void lost(struct gate_call *c)
{
	ask_free(container_of(c, struct dns_ask, call));
}

static const struct gate_ops dns_gate_ops = { .answer = answered, .lost = lost };

void resolver_ask(struct inet_sock *i, struct task *t, struct packet *pk, const struct ipaddr *to)
{
	struct dns_ask *a = NULL;

	/* The oldest makes room, as in a queue that is full of what nobody answered. */
	if (i->nasks == ASKS_MAX)
		ask_free(list_first(&i->asks, struct dns_ask, link));
	if (pk->len && pk->len <= GATE_BYTES)
		a = obj_new(&dns_ask_type);
	if (a) {
		a->i = i;
		a->to = *to;
		list_init(&a->link);
		memset(&msg, 0, GATE_HEAD);
		msg.type = GATE_DNS;
		msg.pid = t ? t->proc->pid : 0;
		msg.nbytes = pk->len;
		memcpy(msg.bytes, pk->data, pk->len);
		if (gate_ask(&a->call, &dns_gate_ops, &msg) < 0) {
			obj_free(&dns_ask_type, a);
		} else {
			list_append(&i->asks, &a->link);
			i->nasks++;
		}
	}
	packet_free(pk);
}

void resolver_forget(struct inet_sock *i)
{
	while (!list_is_empty(&i->asks))
		ask_free(list_first(&i->asks, struct dns_ask, link));
}
