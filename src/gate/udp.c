/* Datagrams of the cell.
 *
 * A UDP socket in the hands of the kernel could be sent anywhere. So the gate keeps it, connected
 * to the one address that the policy has agreed to, and the kernel gets one end of a pair: each
 * message on it is a struct gate_datagram. The kernel asks once for each destination of a socket; a
 * flow that nothing went through for IDLE_MS ends, and the kernel asks again. What the kernel does
 * not take in time is dropped, as datagrams are; what the network does not take waits, and so does
 * the kernel. If a rule says that the operator is asked, the kernel keeps the first datagrams as it
 * does while any flow is being made (WAITING_MAX in kernel/net/udp_out.c). */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "gate/control.h"
#include "gate/dns.h"
#include "gate/gate.h"
#include "gate/record.h"

#define FLOWS_MAX 4096
#define SLOTS 1024
#define BATCH 32 /* datagrams, before others get their turn */
#define IDLE_MS 300000
#define SWEEP_MS 30000

struct flow {
	struct list link; /* by its id */
	struct list age; /* the one that was used longest ago comes first */
	uint32_t id;
	char name[DNS_NAME_MAX]; /* "": a plain address */
	char program[GATE_PROGRAM_MAX];
	uint16_t port;
	struct ip asked, addr; /* what the cell calls it, what it is */
	struct lookup *lookup;
	struct ask ask;
	bool approved; /* the operator has allowed it */
	bool made; /* and recorded */
	int32_t pid; /* of the process that asked */
	struct watch udp, pair;
	uint8_t *late; /* a datagram that the network did not take yet */
	size_t nlate;
	int64_t used;
};

static struct list slots[SLOTS];
static struct list ages = LIST_INIT(ages);
static struct alarm sweep;
static unsigned count;
static struct gate_datagram buf;

static struct flow *flow_find(uint32_t id)
{
	struct list *head = &slots[id % SLOTS];
	struct flow *f;

	if (!head->next)
		list_init(head);
	list_for_each(f, head, link)
		if (f->id == id)
			return f;
	return NULL;
}

static void flow_free(struct flow *f)
{
	list_remove(&f->link);
	list_remove(&f->age);
	count--;
	control_withdraw(&f->ask);
	if (f->lookup)
		lookup_cancel(f->lookup);
	watch_close(&f->udp);
	watch_close(&f->pair);
	free(f->late);
	free(f);
}

static void flow_record(const struct flow *f, const char *decision, const struct rule *rule,
			const char *why)
{
	record_connect(&(struct record_connection){ .number = f->id,
						    .pid = f->pid,
						    .program = f->program,
						    .udp = true,
						    .name = f->name,
						    .addr = f->name[0] && !f->made ? NULL
										   : &f->addr,
						    .port = f->port },
		       decision, rule, why);
}

bool udp_cancel(uint32_t id)
{
	struct flow *f = flow_find(id);

	if (f && !f->made)
		flow_record(f, "failed", NULL, "nobody waits for it any more");
	if (f)
		flow_free(f);
	return f != NULL;
}

static void flow_use(struct flow *f)
{
	f->used = now_ms();
	list_remove(&f->age);
	list_append(&ages, &f->age);
}

static void sweep_run(struct alarm *a)
{
	while (!list_is_empty(&ages)) {
		struct flow *f = list_first(&ages, struct flow, age);

		if (now_ms() - f->used < IDLE_MS)
			break;
		if (f->ask.id)
			flow_use(f); /* it waits for as long as it takes */
		else
			flow_free(f);
	}
	if (count)
		alarm_set(a, SWEEP_MS);
}

/* ---- datagrams ---- */

/* To the kernel: n bytes of buf, or an error. #syscalls: sendto */
static void kernel_send(struct flow *f, int err, size_t n)
{
	buf.err = (uint32_t)err;
	(void)!send(f->pair.fd, &buf, GATE_DATAGRAM_HEAD + n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* To the network. False: it takes no more now. #syscalls: sendto */
static bool network_send(struct flow *f, const void *p, size_t n)
{
	if (send(f->udp.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS)
		return false;
	kernel_send(f, errno, 0);
	return true;
}

/* #syscalls: recvfrom */
static void pair_ready(struct watch *w, uint32_t events)
{
	struct flow *f = container_of(w, struct flow, pair);

	(void)events;
	flow_use(f);
	for (int i = 0; i < BATCH; i++) {
		ssize_t n = recv(w->fd, &buf, sizeof(buf), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < (ssize_t)GATE_DATAGRAM_HEAD) {
			flow_free(f);
			return;
		}
		n -= (ssize_t)GATE_DATAGRAM_HEAD;
		if (network_send(f, buf.bytes, (size_t)n))
			continue;
		f->late = xalloc((size_t)n + 1);
		f->nlate = (size_t)n;
		memcpy(f->late, buf.bytes, (size_t)n);
		watch_set(w, 0);
		watch_set(&f->udp, EPOLLIN | EPOLLOUT);
		return;
	}
}

/* #syscalls: recvfrom */
static void udp_ready(struct watch *w, uint32_t events)
{
	struct flow *f = container_of(w, struct flow, udp);

	flow_use(f);
	if (events & EPOLLOUT && f->late && network_send(f, f->late, f->nlate)) {
		free(f->late);
		f->late = NULL;
		watch_set(w, EPOLLIN);
		watch_set(&f->pair, EPOLLIN);
	}
	for (int i = 0; i < BATCH; i++) {
		ssize_t n = recv(w->fd, buf.bytes, sizeof(buf.bytes), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		kernel_send(f, n < 0 ? errno : 0, n < 0 ? 0 : (size_t)n);
	}
}

/* ---- deciding ---- */

static struct net_question flow_question(const struct flow *f)
{
	return (struct net_question){ .name = f->name[0] ? f->name : NULL,
				      .addr = f->name[0] ? NULL : &f->asked,
				      .port = f->port,
				      .program = f->program,
				      .protocol = NET_UDP };
}

static bool flow_decide(const struct flow *f, const struct rule **ret_rule)
{
	struct net_question q = flow_question(f);
	struct decision d = policy_net(&settings.policy, &q);

	*ret_rule = d.rule;
	return !d.opened &&
	       (d.verdict == VERDICT_ALLOW || (d.verdict == VERDICT_ASK && f->approved));
}

static bool address_stands(const struct flow *f, const struct ip *a)
{
	return policy_address(&settings.policy, a, f->port, NET_UDP).verdict == VERDICT_ALLOW;
}

static void flow_fail(struct flow *f, int err, const char *fmt, ...) printf_like(3, 4);
static void flow_fail(struct flow *f, int err, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	flow_record(f, "failed", NULL, text);
	channel_fail(f->id, err, "%s", text);
	flow_free(f);
}

/* id: of the kernel's request, if it waits for an answer; else 0. */
static void flow_deny(struct flow *f, uint32_t id, const struct rule *rule, const char *fmt, ...)
	printf_like(4, 5);
static void flow_deny(struct flow *f, uint32_t id, const struct rule *rule, const char *fmt, ...)
{
	struct net_question q = flow_question(f);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (f->made)
		record_denial(f->pid, &q, rule, text);
	else
		flow_record(f, "deny", rule, text);
	gate_deny(id, id ? EACCES : 0, &q, rule, "%s", text);
	flow_free(f);
}

/* #syscalls: socket socketpair close */
static void flow_open(struct flow *f)
{
	struct gate_msg m = { .type = GATE_OPEN, .id = f->id };
	struct net_question q = flow_question(f);
	const struct rule *rule = policy_net(&settings.policy, &q).rule;
	int pair[2] = { -1, -1 }, err;
	int fd = socket(ip_is_v4(&f->addr) ? AF_INET : AF_INET6,
			SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	err = fd < 0 ? -errno : address_connect(fd, &f->addr, f->port);
	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		err = -errno;
	if (err) {
		if (fd >= 0)
			close(fd);
		flow_fail(f, -err, "%s: %s", ip_text(&f->addr).str, strerror(-err));
		return;
	}
	f->udp = (struct watch){ .fd = fd, .ready = udp_ready };
	f->pair = (struct watch){ .fd = pair[0], .ready = pair_ready };
	watch_set(&f->udp, EPOLLIN);
	watch_set(&f->pair, EPOLLIN);
	f->made = true;
	flow_record(f, record_verdict(VERDICT_ALLOW, rule), rule, NULL);
	(void)channel_send(&m, pair[1]);
	close(pair[1]);
	if (ip_special(&f->addr, NULL))
		q.addr = &f->addr;
	if (rule)
		gate_used(&q, rule, false);
}

/* The first address of the family that the program chose, else of the other. */
static void flow_found(void *arg, const struct ip *addrs, unsigned n, uint32_t ttl, bool exists,
		       const char *why)
{
	struct flow *f = arg;
	const struct ip *best = NULL;

	(void)ttl;
	f->lookup = NULL;
	for (unsigned i = 0; i < n; i++)
		if (address_stands(f, &addrs[i]) &&
		    (!best || (ip_is_v4(best) != ip_is_v4(&f->asked) &&
			       ip_is_v4(&addrs[i]) == ip_is_v4(&f->asked))))
			best = &addrs[i];
	if (best) {
		f->addr = *best;
		flow_open(f);
	} else if (n) {
		flow_deny(f, f->id, NULL, "%s is at %s, which a rule must list", f->name,
			  ip_text(&addrs[0]).str);
	} else {
		flow_fail(f, EHOSTUNREACH, "%s: %s", f->name,
			  why	   ? why
			  : exists ? "it has no address any more"
				   : "it does not exist any more");
	}
}

/* It may be made. */
static void flow_begin(struct flow *f)
{
	if (!f->name[0]) {
		flow_open(f);
		return;
	}
	f->lookup = lookup_new(f->name, true, true, flow_found, f);
	if (!f->lookup)
		flow_fail(f, ENOBUFS, "too many questions at once");
}

/* ---- asking the operator ---- */

static void flow_answered(struct ask *a, const char *json, size_t n)
{
	struct flow *f = container_of(a, struct flow, ask);
	const struct rule *rule;

	f->approved = answer_allows(json, n);
	if (f->approved && flow_decide(f, &rule)) {
		flow_begin(f);
		return;
	}
	(void)flow_decide(f, &rule);
	flow_deny(f, f->id, rule, "the operator denies datagrams to %s:%u",
		  f->name[0] ? f->name : ip_text(&f->asked).str, f->port);
}

static void flow_ask(struct flow *f, const struct rule *rule)
{
	struct net_question q = flow_question(f);

	f->ask.answered = flow_answered;
	if (control_ask(&f->ask, &q, rule))
		flow_record(f, "ask", rule, NULL);
	else
		flow_deny(f, f->id, rule,
			  "datagrams to %s:%u need an approval, and too many wait for one already",
			  f->name[0] ? f->name : ip_text(&f->asked).str, f->port);
}

void udp_begin(const struct gate_msg *m)
{
	const struct rule *rule;
	const char *name;
	struct flow *f;

	if (flow_find(m->id) || count == FLOWS_MAX || !(f = calloc(1, sizeof(*f)))) {
		channel_fail(m->id, ENOBUFS, "too many destinations of datagrams at once");
		return;
	}
	if (!count++)
		sweep.run = sweep_run, alarm_set(&sweep, SWEEP_MS);
	f->id = m->id;
	f->pid = record_pid(m);
	f->udp.fd = f->pair.fd = -1;
	f->port = m->port;
	memcpy(f->asked.b, m->addr, sizeof(f->asked.b));
	f->addr = f->asked;
	list_append(&slots[m->id % SLOTS], &f->link);
	list_init(&f->age);
	flow_use(f);
	memcpy(f->program, m->bytes, MIN(m->nbytes, (uint32_t)sizeof(f->program) - 1));
	name = names_find(&f->asked);
	if (name)
		snprintf(f->name, sizeof(f->name), "%s", name);
	if (!flow_decide(f, &rule)) {
		struct ip_text plain = ip_text(&f->asked);
		const char *host = name ? name : plain.str;

		if (rule && rule->verdict == VERDICT_ASK)
			flow_ask(f, rule);
		else
			flow_deny(f, f->id, rule,
				  "no rule allows datagrams to %s:%u; such a rule is 'allow net "
				  "%s:%u udp'",
				  host, m->port, host, m->port);
	} else {
		flow_begin(f);
	}
}

void udp_review(void)
{
	struct flow *f, *tmp;
	const struct rule *rule;

	list_for_each_safe(f, tmp, &ages, age) {
		bool asked = f->ask.id, good = flow_decide(f, &rule);

		if (asked && !good && rule && rule->verdict == VERDICT_ASK)
			continue;
		control_decided(&f->ask);
		if (asked && good)
			flow_begin(f);
		else if (!good || (f->name[0] && !f->lookup && !address_stands(f, &f->addr)))
			flow_deny(f, asked || f->lookup ? f->id : 0, rule,
				  "the policy has changed: no more datagrams");
	}
}
