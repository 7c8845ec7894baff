/* Open questions of the cell: calls and connections that wait for an answer of the operator,
 * because a rule says "ask".
 *
 * The kernel asks about files and programs (CTL_ASK), viv-gate about the network. The keeper keeps
 * what is open, gives each question a number, and shows the list to whoever asks for it
 * (KEEP_ASKS): a vivd that was away misses nothing. Answers come by KEEP_ANSWER, and go to who
 * asked. Neither the kernel nor the gate is believed: what they say is bounded, and only shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "keeper/gate.h"
#include "keeper/journal.h"
#include "policy/compiled.h"
#include "wire/memfd.h"

#define TEXT_BYTES 8192 /* of each text of a question */
#define ASKS_MAX (2 * CTL_ASK_MAX)
#define WITHDRAWN_MAX 64 /* questions of the gate in a minute: then no more in it */
#define LINGER_NS (30 * NSEC_PER_SEC)
#define SHORT 110 /* bytes of a text in an event */
#define SEEN 16 /* refusals that are not told again at once */

struct ask {
	struct list link;
	uint64_t num;
	bool gate; /* viv-gate asked, else the kernel */
	/* what it calls it; several connections can ask the same; none: see the linger above */
	struct buf ids; /* uint32_t */
	int64_t gone; /* since when nobody waits */
	enum { OPEN, ALLOWED, DENIED } state;
	char *json; /* members of an object, without the braces */
};

static struct list asks = LIST_INIT(asks);
static unsigned nasks;
static uint64_t num_last;
static struct source linger = { .fd = -1 }; /* a timer, while some question lingers */
static int64_t minute; /* in which so many were withdrawn */
static unsigned withdrawn;

/* What the kernel is telling us: one question at a time. */
static struct buf texts[CTL_ASK_TEXTS];

/* ---- the list ---- */

static void ask_free(struct ask *a)
{
	list_remove(&a->link);
	nasks--;
	buf_free(&a->ids);
	free(a->json);
	free(a);
}

static void answer_one(bool gate, uint32_t id, bool allowed)
{
	static const char yes[] = "{\"verdict\":\"allow\"}", no[] = "{\"verdict\":\"deny\"}";
	struct ctl_msg m = { .type = CTL_ANSWER, .id = id, .a = allowed };

	if (gate)
		(void)gatectl_answer(id, allowed ? yes : no, strlen(allowed ? yes : no));
	else
		control_put(&m, NULL, 0);
}

/* Takes json. line: for who sits at the terminal. */
static void ask_add(bool gate, uint32_t id, char *json, const char *line)
{
	struct ask *a;

	/* Nobody could answer, or too much is asked. */
	if (nasks == ASKS_MAX || keeper.listening.fd < 0) {
		answer_one(gate, id, false);
		free(json);
		return;
	}
	a = xalloc(sizeof(*a));
	*a = (struct ask){ .num = ++num_last, .gate = gate, .json = json };
	buf_add(&a->ids, &id, sizeof(id));
	list_init(&a->link);
	list_append(&asks, &a->link);
	nasks++;
	if (!keeper.o->quiet)
		text_tell(false, line, strlen(line) + 1);
	event_add(KEEP_EV_ASK, NULL, 1, 0, NULL);
}

static void ask_end(struct ask *a)
{
	bool open = a->state == OPEN;

	ask_free(a);
	if (open)
		event_add(KEEP_EV_ASK, NULL, 0, 0, NULL);
}

static struct ask *ask_find(bool gate, uint32_t id, size_t *ret_at)
{
	struct ask *a;

	list_for_each(a, &asks, link)
		for (*ret_at = 0; a->gate == gate && *ret_at < BUF_COUNT(&a->ids, uint32_t);
		     ++*ret_at)
			if (*BUF_ITEM(&a->ids, uint32_t, *ret_at) == id)
				return a;
	return NULL;
}

/* ---- questions that nobody waits for ---- */

static void lingering_end(struct source *s, uint32_t events)
{
	int64_t now = clock_mono();
	struct ask *a, *tmp;
	uint64_t n;
	bool more = false;

	(void)events;
	(void)!read(s->fd, &n, sizeof(n));
	list_for_each_safe(a, tmp, &asks, link) {
		if (a->ids.len)
			continue;
		if (now - a->gone < LINGER_NS) {
			more = true;
			continue;
		}
		withdrawn += a->state == OPEN;
		ask_end(a);
	}
	if (!more)
		source_close(s);
}

static void linger_start(struct ask *a)
{
	struct itimerspec t = { .it_value.tv_sec = 5, .it_interval.tv_sec = 5 };
	int fd;

	a->gone = clock_mono();
	if (linger.fd >= 0)
		return;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0 && timerfd_settime(fd, 0, &t, NULL) == 0 &&
	    source_add(&linger, fd, EPOLLIN, lingering_end) == 0)
		return;
	if (fd >= 0)
		close(fd);
	linger.fd = -1;
	ask_end(a);
}

/* ---- from the kernel ---- */

static const char *text_of(unsigned which)
{
	return texts[which].len ? (const char *)texts[which].p : "";
}

static void access_add(struct buf *b, unsigned access)
{
	static const char *const names[] = { "read", "write", "create", "delete" };

	json_member_add(b, "access", NULL);
	buf_add_text(b, "[");
	for (unsigned i = 0, n = 0; i < ARRAY_LEN(names); i++) {
		if (!(access & 1u << i))
			continue;
		buf_add_text(b, n++ ? "," : "");
		json_text_add(b, names[i]);
	}
	buf_add_text(b, "]");
}

static char *kernel_json(const struct ctl_msg *m)
{
	struct buf b = { 0 };

	json_member_text(&b, "scope", m->a == SCOPE_EXEC ? "exec" : "files");
	json_member_text(&b, "action", text_of(CTL_ASK_ACTION));
	if (m->a != SCOPE_EXEC)
		access_add(&b, m->flags >> CTL_ASK_ACCESS);
	json_member_text(&b, "path", text_of(CTL_ASK_PATH));
	json_member_text(&b, "to", texts[CTL_ASK_TO].len ? text_of(CTL_ASK_TO) : NULL);
	json_member_text(&b, "program", text_of(CTL_ASK_PROGRAM));
	json_member_number(&b, "pid", (uint64_t)MAX(m->b, 0));
	json_member_text(&b, "rule", text_of(CTL_ASK_RULE));
	buf_add(&b, "", 1);
	return (char *)b.p;
}

static void line_make(struct buf *to)
{
	buf_add_text(to, "the cell waits for an approval ('viv approvals'): ");
	buf_add_text(to, text_of(CTL_ASK_ACTION));
	buf_add_text(to, " ");
	buf_add_text(to, text_of(CTL_ASK_PATH));
	if (texts[CTL_ASK_TO].len) {
		buf_add_text(to, " to ");
		buf_add_text(to, text_of(CTL_ASK_TO));
	}
	buf_add_text(to, ", by ");
	buf_add_text(to, text_of(CTL_ASK_PROGRAM));
	if (texts[CTL_ASK_RULE].len) {
		buf_add_text(to, " (");
		buf_add_text(to, text_of(CTL_ASK_RULE));
		buf_add_text(to, ")");
	}
}

/* A program that tries the same again and again is told of once. */
static void refusal_tell(const struct ctl_msg *m)
{
	static char seen[SEEN][KEEP_TEXT];
	static unsigned at;
	struct buf b = { 0 };
	char text[KEEP_TEXT];
	bool fits;

	for (unsigned i = 0; i < CTL_ASK_TEXTS; i++)
		if (texts[i].len > SHORT) {
			texts[i].p[SHORT] = '\0';
			texts[i].p[text_utf8_head((const char *)texts[i].p, SHORT)] = '\0';
		}
	buf_add_text(&b, "{");
	json_member_text(&b, "scope", m->a == SCOPE_EXEC ? "exec" : "files");
	json_member_text(&b, "action", text_of(CTL_ASK_ACTION));
	json_member_text(&b, "path", text_of(CTL_ASK_PATH));
	json_member_text(&b, "program", text_of(CTL_ASK_PROGRAM));
	json_member_text(&b, "rule", texts[CTL_ASK_RULE].len ? text_of(CTL_ASK_RULE) : NULL);
	buf_add_text(&b, "}");
	snprintf(text, sizeof(text), "%s", (const char *)b.p);
	fits = b.len < sizeof(text); /* quotes in them make it longer */
	buf_free(&b);
	if (!fits)
		return;
	for (unsigned i = 0; i < SEEN; i++)
		if (!strcmp(seen[i], text))
			return;
	memcpy(seen[at++ % SEEN], text, sizeof(text));
	event_add(KEEP_EV_DENIED, NULL, 0, 0, text);
}

static void kernel_asks(const struct ctl_msg *m)
{
	unsigned which = CTL_ASK_TEXT(m->flags);
	struct buf line = { 0 };

	if (which >= CTL_ASK_TEXTS)
		return;
	if (texts[which].len < TEXT_BYTES)
		buf_add_text(&texts[which], m->text);
	if (!(m->flags & CTL_ASK_LAST))
		return;
	for (unsigned i = 0; i < CTL_ASK_TEXTS; i++)
		if (texts[i].len)
			text_hide_controls((char *)texts[i].p);
	if (m->id) {
		line_make(&line);
		ask_add(false, m->id, kernel_json(m), (const char *)line.p);
	} else {
		refusal_tell(m);
	}
	buf_free(&line);
	for (unsigned i = 0; i < CTL_ASK_TEXTS; i++)
		texts[i].len = 0;
}

void asks_message(const struct ctl_msg *m)
{
	struct ask *a;
	size_t at;

	if (m->type == CTL_ASK)
		kernel_asks(m);
	else if ((a = ask_find(false, m->id, &at)))
		ask_end(a);
}

/* ---- from the gate ---- */

/* Nothing of it is cut: what people are shown is what they allow. */
static char *gate_json(const struct json *q)
{
	static const char *const members[] = { "name",	  "address", "port", "protocol",
					       "program", "method",  "path", "rule" };
	struct buf b = { 0 };
	char text[GATECTL_BYTES];

	json_member_text(&b, "scope", "net");
	json_member_text(&b, "action", json_get_text(q, "method") ? "request" : "connect");
	for (unsigned i = 0; i < ARRAY_LEN(members); i++) {
		const char *value = json_get_text(q, members[i]);
		uint64_t n;

		if (value) {
			text_clean(value, strlen(value) + 1, text, sizeof(text));
			json_member_text(&b, members[i], text);
		} else if (json_get_u64(q, members[i], &n)) {
			json_member_number(&b, members[i], n);
		}
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

static void gate_line(const struct json *q, char *line, size_t size)
{
	const char *name = json_get_text(q, "name"), *address = json_get_text(q, "address");
	const char *method = json_get_text(q, "method"), *path = json_get_text(q, "path");

	snprintf(line, size, "the cell waits for an approval ('viv approvals'): %.32s %.253s%.160s",
		 method ? method : "connect to",
		 name	   ? name
		 : address ? address
			   : "?",
		 method && path ? path : "");
}

static void gate_asks(uint32_t id, const struct json *q)
{
	char *json = gate_json(q), line[512];
	int64_t now = clock_mono() / (60 * NSEC_PER_SEC);
	struct ask *a;

	if (now != minute)
		withdrawn = 0;
	minute = now;
	list_for_each(a, &asks, link) {
		if (!a->gate || strcmp(a->json, json) || (a->state != OPEN && a->ids.len))
			continue;
		free(json);
		if (a->state == OPEN && BUF_COUNT(&a->ids, uint32_t) < GATECTL_ASKS_MAX) {
			buf_add(&a->ids, &id, sizeof(id));
			return;
		}
		if (a->state == OPEN) { /* a gate that asks so much is not ours any more */
			answer_one(true, id, false);
			return;
		}
		answer_one(true, id, a->state == ALLOWED);
		ask_free(a);
		return;
	}
	if (withdrawn >= WITHDRAWN_MAX) {
		free(json);
		answer_one(true, id, false);
		return;
	}
	gate_line(q, line, sizeof(line));
	ask_add(true, id, json, line);
}

void ask_gate(uint32_t id, const char *json, size_t n)
{
	struct json_doc d = { 0 };
	struct err e;

	if (id && json_parse(&d, json, n, &e) == 0)
		gate_asks(id, d.root);
	else
		answer_one(true, id, false);
	json_free(&d);
}

void ask_gate_withdraw(uint32_t id, bool decided)
{
	size_t at, last;
	struct ask *a = ask_find(true, id, &at);

	if (!a)
		return;
	last = BUF_COUNT(&a->ids, uint32_t) - 1;
	*BUF_ITEM(&a->ids, uint32_t, at) = *BUF_ITEM(&a->ids, uint32_t, last);
	a->ids.len -= sizeof(uint32_t);
	if (!a->ids.len && decided)
		ask_end(a);
	else if (!a->ids.len)
		linger_start(a);
}

/* Its connections have failed; who tries again asks the next gate. */
void asks_gate_lost(void)
{
	struct ask *a, *tmp;

	list_for_each_safe(a, tmp, &asks, link)
		if (a->gate && a->ids.len) {
			a->ids.len = 0;
			linger_start(a);
		}
}

/* ---- from clients ---- */

bool asks_are_open(void)
{
	return nasks > 0;
}

void asks_request(struct client *c, const struct keep_msg *in)
{
	struct keep_msg m = { .type = KEEP_ASKS };
	struct buf text = { 0 };
	struct ask *a;
	int fd;

	buf_add_text(&text, "[");
	list_for_each(a, &asks, link) {
		if (a->state != OPEN)
			continue;
		buf_add_text(&text, text.len > 1 ? ",{" : "{");
		json_member_number(&text, "ask", a->num);
		json_member_number(&text, "run", (uint64_t)keeper.started);
		buf_add_text(&text, ",");
		buf_add_text(&text, a->json);
		buf_add_text(&text, "}");
	}
	buf_add_text(&text, "]");
	fd = memfd_sealed("asks", text.p, text.len);
	buf_free(&text);
	if (fd < 0)
		client_fail(c, in->id, ERR_FAILED, 0, "out of memory");
	else
		client_send(c, in->id, &m, &fd, 1);
}

static const char *number_text(uint64_t n)
{
	static char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return text;
}

void answer_request(struct client *c, const struct keep_msg *in)
{
	struct ask *a;

	list_for_each(a, &asks, link)
		if (a->num == in->n && a->state == OPEN) {
			bool waited = a->ids.len;
			const struct journal_APPROVAL r = {
				.id = jtext_of(number_text(a->num)),
				.scope = jtext_of(a->gate ? "net" : "files"),
				.what = jtext_of(a->json),
				.answer = jtext_of(in->a == 1 ? "allow" : "deny"),
			};

			journal_record(J_APPROVAL, &r, 0);

			for (size_t i = 0; i < BUF_COUNT(&a->ids, uint32_t); i++)
				answer_one(a->gate, *BUF_ITEM(&a->ids, uint32_t, i), in->a == 1);
			a->state = in->a == 1 ? ALLOWED : DENIED;
			if (waited)
				ask_free(a);
			client_ok(c, in->id, 0);
			return;
		}
	client_fail(c, in->id, ERR_NOT_FOUND, 0, "nobody in the cell waits for this answer");
}
