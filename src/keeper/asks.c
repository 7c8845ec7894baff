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
#include <unistd.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "keeper/keeper.h"
#include "policy/compiled.h"
#include "wire/memfd.h"

#define TEXT_BYTES 8192 /* of each text of a question */
#define ASKS_MAX (2 * CTL_ASK_MAX)
#define SHORT 110 /* bytes of a text in an event */
#define SEEN 16 /* refusals that are not told again at once */

struct ask {
	struct list link;
	uint64_t num;
	bool gate; /* viv-gate asked, else the kernel */
	uint32_t id; /* what it calls it */
	char *json; /* members of an object, without the braces */
};

static struct list asks = LIST_INIT(asks);
static unsigned nasks;
static uint64_t num_last;

/* What the kernel is telling us: one question at a time. */
static struct buf texts[CTL_ASK_TEXTS];

/* ---- the list ---- */

static void ask_free(struct ask *a)
{
	list_remove(&a->link);
	nasks--;
	free(a->json);
	free(a);
}

static void ask_answer(const struct ask *a, bool allowed)
{
	struct ctl_msg m = { .type = CTL_ANSWER, .id = a->id, .a = allowed };

	control_put(&m, NULL, 0);
}

/* Takes json. line: for who sits at the terminal. */
static void ask_add(bool gate, uint32_t id, char *json, const char *line)
{
	struct ask *a = calloc(1, sizeof(*a));

	if (!a) {
		free(json);
		return;
	}
	*a = (struct ask){ .num = ++num_last, .gate = gate, .id = id, .json = json };
	list_init(&a->link);
	list_append(&asks, &a->link);
	nasks++;
	/* Nobody could answer. */
	if (nasks > ASKS_MAX || keeper.listening.fd < 0) {
		ask_answer(a, false);
		ask_free(a);
		return;
	}
	if (!keeper.o->quiet)
		text_tell(false, line, strlen(line) + 1);
	event_add(KEEP_EV_ASK, NULL, 1, 0, NULL);
}

static void ask_withdraw(bool gate, uint32_t id)
{
	struct ask *a;

	list_for_each(a, &asks, link)
		if (a->gate == gate && a->id == id) {
			ask_free(a);
			event_add(KEEP_EV_ASK, NULL, 0, 0, NULL);
			return;
		}
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
	if (m->type == CTL_ASK)
		kernel_asks(m);
	else
		ask_withdraw(false, m->id);
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

void answer_request(struct client *c, const struct keep_msg *in)
{
	struct ask *a;

	list_for_each(a, &asks, link)
		if (a->num == in->n) {
			ask_answer(a, in->a == 1);
			ask_free(a);
			client_ok(c, in->id, 0);
			return;
		}
	client_fail(c, in->id, ERR_NOT_FOUND, 0, "nobody in the cell waits for this answer");
}
