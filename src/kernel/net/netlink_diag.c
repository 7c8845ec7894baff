/* NETLINK_SOCK_DIAG: the lists of sockets that ss(8) shows.
 *
 * A question names a family, a protocol and a set of states, and gets every such socket of the
 * cell: TCP and UDP of both families, and unix sockets. The answers go into the asker's queue in
 * packets; a queue that is full ends the list with ENOBUFS, as a lost answer does on Linux. Left
 * out: single sockets by their address, filters in bytecode, SOCK_DESTROY, extensions such as
 * TCP_INFO and memory. */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>

#include "kernel/net/inet.h"
#include "kernel/net/netlink_priv.h"
#include "kernel/net/route.h"
#include "kernel/net/unix.h"

#define RECORD_ROOM 512u /* more than one record takes */
#define LOOKS_MAX 200000u /* at sockets, for all questions of one message */
#define STATE_BIT(state) (1u << (state))

/* Addresses as the protocol has them: IPv4 in the first word. */
static void addr_out(uint16_t family, const struct ipaddr *a, uint32_t out[4])
{
	if (family == AF_INET)
		memcpy(out, a->b + 12, 4);
	else
		memcpy(out, a->b, 16);
}

static void cookie_out(const struct sock *s, uint32_t out[2])
{
	memcpy(out, &s->ino, sizeof(s->ino));
}

static void inet_put(struct answer *a, const struct inet_sock *i)
{
	const struct sock *s = &i->s;
	struct inet_diag_msg *m = answer_begin(a, SOCK_DIAG_BY_FAMILY, sizeof(*m));

	m->idiag_family = (uint8_t)s->family;
	m->idiag_state = (uint8_t)i->state;
	m->id.idiag_sport = htons(i->lport);
	m->id.idiag_dport = htons(i->rport);
	addr_out(s->family, &i->laddr, m->id.idiag_src);
	addr_out(s->family, &i->raddr, m->id.idiag_dst);
	cookie_out(s, m->id.idiag_cookie);
	m->idiag_rqueue = s->listening ? s->acceptq_len : s->queued;
	m->idiag_wqueue = s->listening ? s->backlog : 0;
	m->idiag_uid = s->uid;
	m->idiag_inode = (uint32_t)s->ino;
	answer_attr(a, INET_DIAG_SHUTDOWN,
		    &(uint8_t){ (uint8_t)((s->rcv_shut ? 1 : 0) | (s->snd_shut ? 2 : 0)) }, 1);
	if (s->family == AF_INET6)
		answer_attr(a, INET_DIAG_SKV6ONLY, &(uint8_t){ i->v6only }, 1);
	answer_end(a);
}

/* 0, or -ENOBUFS. */
static int inet_list(struct sock *asker, struct answer *a, const struct inet_diag_req_v2 *q)
{
	struct sock *s;

	list_for_each(s, &sock_all_inet, all_link) {
		const struct inet_sock *i = inet_sk(s);

		a->looks++;
		if (s->family != q->sdiag_family || s->protocol != q->sdiag_protocol ||
		    !(q->idiag_states & STATE_BIT(i->state)))
			continue;
		/* One that was never used is in none of Linux's tables. */
		if (!i->lport && i->state == TCPS_CLOSE)
			continue;
		if (a->len + RECORD_ROOM > sizeof(a->buf) && answer_queue(asker, a) < 0)
			return -ENOBUFS;
		inet_put(a, i);
	}
	return 0;
}

static uint8_t unix_state(const struct unix_sock *u)
{
	if (u->s.listening)
		return TCPS_LISTEN;
	return u->connected || u->s.peer ? TCPS_ESTABLISHED : TCPS_CLOSE;
}

static void unix_put(struct answer *a, const struct unix_sock *u, uint32_t show)
{
	const struct sock *s = &u->s;
	struct unix_diag_msg *m = answer_begin(a, SOCK_DIAG_BY_FAMILY, sizeof(*m));
	struct unix_diag_rqlen len = { s->listening ? s->acceptq_len : s->queued,
				       s->listening ? s->backlog : s->sent_true };

	m->udiag_family = AF_UNIX;
	m->udiag_type = s->type;
	m->udiag_state = unix_state(u);
	m->udiag_ino = (uint32_t)s->ino;
	cookie_out(s, m->udiag_cookie);
	if (show & UDIAG_SHOW_NAME && u->name && u->name->n.len > sizeof(sa_family_t))
		answer_attr(a, UNIX_DIAG_NAME, u->name->n.u.un.sun_path,
			    u->name->n.len - sizeof(sa_family_t));
	if (show & UDIAG_SHOW_PEER && s->peer)
		answer_attr(a, UNIX_DIAG_PEER, &(uint32_t){ (uint32_t)s->peer->ino }, 4);
	if (show & UDIAG_SHOW_RQLEN)
		answer_attr(a, UNIX_DIAG_RQLEN, &len, sizeof(len));
	answer_attr(a, UNIX_DIAG_SHUTDOWN,
		    &(uint8_t){ (uint8_t)((s->rcv_shut ? 1 : 0) | (s->snd_shut ? 2 : 0)) }, 1);
	answer_end(a);
}

static int unix_list(struct sock *asker, struct answer *a, const struct unix_diag_req *q)
{
	struct sock *s;

	list_for_each(s, &sock_all_unix, all_link) {
		a->looks++;
		if (!(q->udiag_states & STATE_BIT(unix_state(unix_sk(s)))))
			continue;
		if (a->len + RECORD_ROOM > sizeof(a->buf) && answer_queue(asker, a) < 0)
			return -ENOBUFS;
		unix_put(a, unix_sk(s), q->udiag_show);
	}
	return 0;
}

void diag_answer(struct sock *s, struct answer *a, const struct nlmsghdr *h, const char *body)
{
	size_t len = h->nlmsg_len - NLMSG_HDRLEN;
	uint8_t family = len ? (uint8_t)body[0] : AF_UNSPEC;
	struct inet_diag_req_v2 inet = { 0 };
	struct unix_diag_req un = { 0 };

	if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || !(h->nlmsg_flags & NLM_F_REQUEST) ||
	    (h->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) {
		answer_error(a, h, h->nlmsg_type < NLMSG_MIN_TYPE ? 0 : -EOPNOTSUPP);
		return;
	}
	if (len < (family == AF_UNIX ? sizeof(un) : sizeof(inet))) {
		answer_error(a, h, -EINVAL);
		return;
	}
	/* Linux makes one list at a time, and refuses a second one until the first was read. */
	if (a->looks > LOOKS_MAX) {
		answer_error(a, h, -EBUSY);
		return;
	}
	a->flags = NLM_F_MULTI;
	if (family == AF_UNIX) {
		memcpy(&un, body, sizeof(un));
		if (unix_list(s, a, &un) < 0)
			return;
	} else if (family == AF_INET || family == AF_INET6) {
		memcpy(&inet, body, sizeof(inet));
		if (inet_list(s, a, &inet) < 0)
			return;
	} else {
		answer_error(a, h, -ENOENT); /* as of a family that is not built in */
		return;
	}
	if (a->len + RECORD_ROOM > sizeof(a->buf) && answer_queue(s, a) < 0)
		return;
	answer_done(a);
}
