/* See question.h. */
#include "cli/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/report.h"
#include "cli/approvals.h"
#include "cli/color.h"
#include "base/safetext.h"
#include "cli/vivd.h"

/* Of one question; the rest is counted. */
#define SHOWN_LINES 150
#define SHOWN_BYTES 20000

/* ---- the list ---- */

const struct question *questions_first(const struct questions *q)
{
	return q->open.len ? BUF_ITEM(&q->open, struct question, 0) : NULL;
}

bool questions_add(struct questions *q, int64_t id, struct json_doc *doc, const struct json *data)
{
	struct question n = { .id = id, .doc = *doc, .data = data };

	for (size_t i = 0; i < BUF_COUNT(&q->seen, int64_t); i++)
		if (*BUF_ITEM(&q->seen, int64_t, i) == id) {
			json_free(doc);
			return false;
		}
	n.agent = json_get(data, "tool_call", JSON_OBJECT) != NULL;
	buf_add(&q->seen, &id, sizeof(id));
	buf_add(&q->open, &n, sizeof(n));
	return true;
}

bool questions_drop(struct questions *q, int64_t id)
{
	size_t n = BUF_COUNT(&q->open, struct question);
	bool shown;

	for (size_t i = 0; i < n; i++) {
		struct question *x = BUF_ITEM(&q->open, struct question, i);

		if (x->id != id)
			continue;
		json_free(&x->doc);
		memmove(x, x + 1, (n - i - 1) * sizeof(*x));
		q->open.len -= sizeof(*x);
		shown = q->shown && !i;
		q->shown &= i != 0;
		return shown;
	}
	/* One that was answered before it was asked is not asked. */
	buf_add(&q->seen, &id, sizeof(id));
	return false;
}

void questions_free(struct questions *q)
{
	for (size_t i = 0; i < BUF_COUNT(&q->open, struct question); i++)
		json_free(&BUF_ITEM(&q->open, struct question, i)->doc);
	buf_free(&q->open);
	buf_free(&q->seen);
}

/* ---- what is shown ---- */

/* Each line behind a bar, so that no text can look like a line of viv's own. */
static void barred(FILE *to, char mark, const char *text, size_t n)
{
	while (n) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;

		fprintf(to, "  | %c", mark);
		safe_print(to, text, len, SAFE_SEEN, 0);
		putc('\n', to);
		text += len + (nl ? 1 : 0);
		n -= len + (nl ? 1 : 0);
	}
}

static void line_put(void *arg, char mark, const char *line, size_t size)
{
	FILE *to = arg;

	if (mark == '@')
		fputs("  | ...\n", to);
	else if (size)
		barred(to, mark, line, size);
	else
		fprintf(to, "  | %c\n", mark);
}

static void diff_put(FILE *to, const struct diff_texts *d)
{
	fprintf(to, "  %s ", d->is_new ? "new file" : "change of");
	safe_print(to, d->path, strlen(d->path), SAFE_LINE | SAFE_SEEN, 0);
	putc('\n', to);
	if (!diff_lines(d, line_put, to))
		fprintf(to, "  (too long to compare)\n");
}

static void value_put(FILE *to, const char *name, const struct json *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n);

	if (!mem)
		return;
	json_value_print(mem, v, true);
	fclose(mem);
	fprintf(to, "  %s\n", name);
	barred(to, ' ', text, n);
	free(text);
}

/* An agent's: its title, what it would change, and what it gives to its tool. */
static void call_put(FILE *to, const struct json *data)
{
	const struct json *call = json_get(data, "tool_call", JSON_OBJECT);
	const struct json *content = json_get(call, "content", JSON_LIST);
	const struct json *input = json_member(call, "rawInput");
	const char *title = member_text(call, "title"), *kind = member_text(call, "kind");
	struct diff_texts d;

	fputs("The agent asks: ", to);
	safe_print(to, title, strlen(title), SAFE_LINE | SAFE_SEEN, 0);
	if (*kind) {
		fputs(" (", to);
		safe_print(to, kind, strlen(kind), SAFE_LINE | SAFE_SEEN, 0);
		fputs(")", to);
	}
	putc('\n', to);
	for (const struct json *c = content ? content->first : NULL; c; c = c->next) {
		struct buf b = { 0 };

		buf_add_text(&b, "");
		if (diff_get(c, &d))
			diff_put(to, &d);
		else
			block_text(&b, json_get(c, "content", JSON_OBJECT));
		barred(to, ' ', (char *)b.p, b.len);
		buf_free(&b);
	}
	if (input)
		value_put(to, "with", input);
}

/* Prints so much of it as a person can be expected to read, and says what is left out. */
static void bounded_print(const char *text, size_t n, int64_t id)
{
	size_t at = 0, lines = 0, rest = 0;

	while (at < n && lines < SHOWN_LINES) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) + 1 - at : n - at;

		if (at + len > SHOWN_BYTES)
			break;
		fwrite(text + at, 1, len, stdout);
		at += len;
		lines++;
	}
	if (at == n)
		return;
	for (size_t i = at; i < n; i++)
		rest += text[i] == '\n';
	printf("%sThis is not all of it: %zu more lines (%zu bytes) are not shown."
	       "%s\n"
	       "'viv approvals show %lld' prints all of it.\n",
	       color_on(stdout, COLOR_BAD), rest, n - at, color_off(stdout, COLOR_BAD),
	       (long long)id);
}

/* ---- asking ---- */

static const struct {
	const char *kind, *key, *text;
	const char *words[3];
	bool allow, always;
} answers[] = {
	{ "allow_once", "y", "once", { "y", "yes", NULL }, true, false },
	{ "allow_always", "a", "always", { "a", "always", NULL }, true, true },
	{ "reject_once", "n", "no", { "n", "no", NULL }, false, false },
	{ "reject_always", "never", "never", { "never", NULL }, false, true },
};

/* Whether the agent has an option of this kind. Other questions have all answers. */
static bool is_offered(const struct question *x, unsigned i)
{
	const struct json *options = json_get(x->data, "options", JSON_LIST);

	if (!x->agent || !options)
		return true;
	for (const struct json *o = options->first; o; o = o->next)
		if (!strcmp(member_text(o, "kind"), answers[i].kind))
			return true;
	return false;
}

static void keys_print(const struct question *x)
{
	const char *before = "";

	printf("%s", color_on(stdout, COLOR_WARN));
	for (unsigned i = 0; i < ARRAY_LEN(answers); i++) {
		if (!is_offered(x, i))
			continue;
		if (strcmp(answers[i].key, answers[i].text))
			printf("%s%s (%s)", before, answers[i].key, answers[i].text);
		else
			printf("%s%s", before, answers[i].key);
		before = ", ";
	}
	printf("?%s ", color_off(stdout, COLOR_WARN));
	fflush(stdout);
	/* What was typed before it could be read is no answer. */
	tcdrain(STDOUT_FILENO);
	tcflush(STDIN_FILENO, TCIFLUSH);
}

void question_ask(struct questions *q)
{
	const struct question *x = questions_first(q);
	char *text = NULL;
	size_t n = 0;
	FILE *mem;

	printf("\n%sQuestion %lld%s\n", color_on(stdout, COLOR_WARN), (long long)x->id,
	       color_off(stdout, COLOR_WARN));
	if (x->agent) {
		mem = open_memstream(&text, &n);
		if (mem) {
			call_put(mem, x->data);
			fclose(mem);
			bounded_print(text, n, x->id);
		}
		free(text);
	} else {
		printf("%s asks to ", *member_text(x->data, "program") ? "A program" : "The cell");
		approval_what_print(x->data);
		printf("\n");
	}
	q->shown = true;
	keys_print(x);
}

static int answer_send(const struct question *x, unsigned i)
{
	char path[64], body[64];
	struct err e;

	snprintf(path, sizeof(path), "/v1/approvals/%lld", (long long)x->id);
	snprintf(body, sizeof(body), "{\"answer\":\"%s\"%s}", answers[i].allow ? "allow" : "deny",
		 answers[i].always ? ",\"always\":true" : "");
	if (vivd_ask("POST", path, body, NULL, &e) == 0)
		return 1;
	report(&e);
	/* Somebody else was first, or it was withdrawn. */
	if (e.kind == ERR_CONFLICT || e.kind == ERR_NOT_FOUND)
		return 1;
	keys_print(x);
	return 0;
}

int question_answer(struct questions *q)
{
	const struct question *x = questions_first(q);
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (n <= 0) {
		printf("\nnot answered; 'viv approvals allow %lld' and 'viv approvals deny %lld' "
		       "do\n",
		       (long long)x->id, (long long)x->id);
		q->left = true;
		q->shown = false;
		return 0;
	}
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	for (unsigned i = 0; i < ARRAY_LEN(answers); i++)
		for (unsigned k = 0; k < 3 && answers[i].words[k]; k++)
			if (is_offered(x, i) && !strcmp(line, answers[i].words[k])) {
				if (!answer_send(x, i))
					return 0;
				questions_drop(q, x->id);
				return 1;
			}
	keys_print(x);
	return 0;
}
