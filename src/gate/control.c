/* The keeper's messages (wire/gatectl.h), and what it is told.
 *
 * Notes are dropped when they come too fast or the keeper does not read, and counted; asks are
 * kept until it does. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "base/seen.h"
#include "gate/control.h"
#include "host/fdmsg.h"

#define NOTES_BURST 256
#define NOTES_MS 20 /* then one note in so many milliseconds */

/* A message that waits for the keeper to read. */
struct kept {
	struct list link;
	size_t n;
	struct gatectl_msg m; /* the first n bytes of it */
};

static struct watch control = { .fd = -1 };
static struct list kept = LIST_INIT(kept);
static struct list asks = LIST_INIT(asks);
static struct gatectl_msg in;
static uint32_t last_ask;
static unsigned nasks;
static int64_t notes_from; /* when the bucket was full, or would have been */
static uint64_t lost;

/* ---- sending ---- */

static bool send_now(const struct gatectl_msg *m, size_t n)
{
	return fdmsg_send(control.fd, m, n, NULL, 0, MSG_DONTWAIT) == 0;
}

/* May wait in a queue, which is as long as there are asks. */
static void message_send(const struct gatectl_msg *m)
{
	size_t n = GATECTL_HEAD + m->nbytes;
	struct kept *k;

	if (control.fd < 0 || (list_is_empty(&kept) && send_now(m, n)))
		return;
	k = xalloc(offsetof(struct kept, m) + n);
	k->n = n;
	memcpy(&k->m, m, n);
	list_append(&kept, &k->link);
	watch_set(&control, EPOLLIN | EPOLLOUT);
}

static void kept_send(void)
{
	while (!list_is_empty(&kept)) {
		struct kept *k = list_first(&kept, struct kept, link);

		if (!send_now(&k->m, k->n))
			return;
		list_remove(&k->link);
		free(k);
	}
	watch_set(&control, EPOLLIN);
}

static void message_fill(struct gatectl_msg *m, const char *bytes, size_t n)
{
	m->nbytes = (uint32_t)MIN(n, sizeof(m->bytes));
	memcpy(m->bytes, bytes, m->nbytes);
}

/* ---- notes ---- */

/* A bucket that fills with time. */
static bool note_may_go(void)
{
	int64_t now = now_ms();

	notes_from = MAX(notes_from, now - NOTES_BURST * NOTES_MS);
	if (notes_from + NOTES_MS > now)
		return false;
	notes_from += NOTES_MS;
	return true;
}

static bool note_send(const struct buf *text)
{
	struct gatectl_msg m = { .type = GATECTL_NOTE };

	if (control.fd < 0 || text->len > sizeof(m.bytes) || !list_is_empty(&kept))
		return false;
	message_fill(&m, (const char *)text->p, text->len);
	return send_now(&m, GATECTL_HEAD + m.nbytes);
}

const char *net_protocol_name(unsigned protocol)
{
	return protocol == NET_UDP ? "udp" : protocol == NET_TCP ? "tcp" : "web";
}

static void question_add(struct buf *b, const struct net_question *q)
{
	json_member_text(b, "name", q->name);
	if (q->addr)
		json_member_text(b, "address", ip_text(q->addr).str);
	if (q->port)
		json_member_number(b, "port", q->port);
	if (q->protocol)
		json_member_text(b, "protocol", net_protocol_name(q->protocol));
	json_member_text(b, "program", q->program && q->program[0] ? q->program : NULL);
	json_member_text(b, "method", q->method);
	json_member_text(b, "path", q->path);
}

void note_begin(struct buf *b, const char *kind, const struct net_question *q)
{
	buf_add_text(b, "{");
	json_member_text(b, "kind", kind);
	if (q)
		question_add(b, q);
}

static void lost_send(void)
{
	struct buf b = { 0 };

	note_begin(&b, "lost", NULL);
	json_member_number(&b, "count", lost);
	buf_add_text(&b, "}");
	if (note_send(&b))
		lost = 0;
	buf_free(&b);
}

void note_end(struct buf *b)
{
	buf_add_text(b, "}");
	if (lost && note_may_go())
		lost_send();
	if (lost || !note_may_go() || !note_send(b))
		lost++;
	buf_free(b);
}

void gate_deny(uint32_t id, int err, const struct net_question *q, const struct rule *rule,
	       const char *fmt, ...)
{
	struct buf b = { 0 }, line = { 0 };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (id)
		channel_fail(id, err, "%s", text);
	else
		channel_note("%s", text);
	note_begin(&b, "denial", q);
	if (rule) {
		rule_print(rule, &line);
		json_member_text(&b, "rule", (const char *)line.p);
		buf_free(&line);
	}
	json_member_text(&b, "reason", text);
	note_end(&b);
}

/* ---- uses ---- */

static struct seen uses; /* that were told in the life of the gate */

void gate_used(const struct net_question *q, const struct rule *rule, bool tls_any)
{
	struct net_question place = *q;
	struct buf b = { 0 };

	place.program = NULL;
	note_begin(&b, rule ? "use" : "name", &place);
	if (rule && rule->audit)
		json_member_add(&b, "audit", "true");
	if (tls_any)
		json_member_text(&b, "tls", "any");
	if (!seen_add(&uses, b.p, b.len)) {
		buf_free(&b);
		return;
	}
	buf_add_text(&b, "}");
	/* Each comes once: it may wait, but is not lost. */
	if (b.len <= GATECTL_BYTES) {
		struct gatectl_msg m = { .type = GATECTL_NOTE };

		message_fill(&m, (const char *)b.p, b.len);
		message_send(&m);
	}
	buf_free(&b);
}

/* ---- asks ---- */

bool answer_allows(const char *json, size_t n)
{
	struct json_doc d = { 0 };
	struct err e;
	const char *verdict =
		json_parse(&d, json, n, &e) == 0 ? json_get_text(d.root, "verdict") : NULL;
	bool allows = verdict && !strcmp(verdict, "allow");

	json_free(&d);
	return allows;
}

bool control_ask(struct ask *a, const struct net_question *q, const struct rule *rule)
{
	struct gatectl_msg m = { .type = GATECTL_ASK };
	struct buf b = { 0 }, text = { 0 };
	bool can;

	rule_print(rule, &text);
	buf_add_text(&b, "{");
	question_add(&b, q);
	json_member_text(&b, "rule", (const char *)text.p);
	buf_add_text(&b, "}");
	can = control.fd >= 0 && nasks < GATECTL_ASKS_MAX && b.len <= sizeof(m.bytes);
	if (can) {
		nasks++;
		a->id = m.id = ++last_ask;
		list_init(&a->link);
		list_append(&asks, &a->link);
		message_fill(&m, (const char *)b.p, b.len);
		message_send(&m);
	}
	buf_free(&b);
	buf_free(&text);
	return can;
}

static void ask_end(struct ask *a)
{
	list_remove(&a->link);
	a->id = 0;
	nasks--;
}

static void ask_withdraw(struct ask *a, enum gatectl_type type)
{
	struct gatectl_msg m = { .type = type, .id = a->id };
	struct kept *k;

	if (!a->id)
		return;
	ask_end(a);
	/* One that was not sent yet is nobody's business. That bounds the queue, too. */
	list_for_each(k, &kept, link) {
		if (k->m.type != GATECTL_ASK || k->m.id != m.id)
			continue;
		list_remove(&k->link);
		free(k);
		return;
	}
	message_send(&m);
}

void control_withdraw(struct ask *a)
{
	ask_withdraw(a, GATECTL_WITHDRAW);
}

void control_decided(struct ask *a)
{
	ask_withdraw(a, GATECTL_DECIDED);
}

static void answer_take(void)
{
	struct ask *a;

	list_for_each(a, &asks, link) {
		if (a->id != in.id)
			continue;
		ask_end(a);
		a->answered(a, in.bytes, in.nbytes);
		return;
	}
}

/* ---- receiving ---- */

static void settings_take(int fd)
{
	struct gatectl_msg m = { .type = GATECTL_OK, .id = in.id };
	struct err e = { 0 };

	if (fd < 0 || settings_change(fd, &e) < 0) {
		struct err_line line = err_line(&e);

		m.type = GATECTL_FAIL;
		message_fill(&m, line.str, strlen(line.str));
	}
	message_send(&m);
}

static void control_ready(struct watch *w, uint32_t events)
{
	unsigned nfds = 0;
	int fd = -1;
	int64_t n;

	if (events & EPOLLOUT)
		kept_send();
	n = fdmsg_recv(w->fd, &in, sizeof(in), &fd, 1, &nfds, MSG_DONTWAIT);
	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n < (int64_t)GATECTL_HEAD || in.nbytes > GATECTL_BYTES ||
	    (uint64_t)n != GATECTL_HEAD + in.nbytes) {
		/* Without a keeper there is no cell. */
		watch_close(w);
		loop_end();
	} else if (in.type == GATECTL_SETTINGS) {
		settings_take(nfds ? fd : -1);
	} else if (in.type == GATECTL_ANSWER) {
		answer_take();
	}
	if (nfds)
		close(fd);
}

void control_open(int fd)
{
	if (fcntl(fd, F_GETFD) < 0)
		return; /* nobody to tell */
	control = (struct watch){ .fd = fd, .ready = control_ready };
	watch_set(&control, EPOLLIN);
}
