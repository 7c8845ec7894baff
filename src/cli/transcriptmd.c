/* A transcript in Markdown. What an agent says is Markdown already and stays so, but a '<' outside
 * of code is escaped, so that it is no HTML, and code that is not closed is closed at the end of
 * the message. */
#include <stdlib.h>
#include <string.h>

#include "base/safetext.h"
#include "cli/transcript.h"
#include "cli/vivd.h"

/* The longest run of c in it. */
static unsigned run_longest(const char *s, char c)
{
	unsigned n = 0, most = 0;

	for (; *s; s++) {
		n = *s == c ? n + 1 : 0;
		most = MAX(most, n);
	}
	return most;
}

static void fence_put(FILE *to, const char *text, const char *language)
{
	unsigned n = MAX(run_longest(text, '`') + 1, 3u);

	for (unsigned i = 0; i < n; i++)
		putc('`', to);
	fprintf(to, "%s\n", language);
	safe_print(to, text, strlen(text), 0, 0);
	if (*text && text[strlen(text) - 1] != '\n')
		putc('\n', to);
	for (unsigned i = 0; i < n; i++)
		putc('`', to);
	fputs("\n\n", to);
}

/* Length of the fence that a line begins with; 0: none. alone: only spaces follow. */
static unsigned fence_at(const char *line, size_t size, char *c, bool *alone)
{
	size_t at = strspn(line, " ");
	unsigned n = 0;

	*c = line[at] == '~' ? '~' : '`';
	while (line[at + n] == *c)
		n++;
	*alone = at + n + strspn(line + at + n, " \t") >= size;
	/* Code within a line begins so, too. */
	return n >= 3 && (*c == '~' || !memchr(line + at + n, '`', size - at - n)) ? n : 0;
}

/* A '<' is never left as it is, not even in what looks like code: which backquotes belong together
 * depends on the lines around and on backslashes. */
static void prose_line(FILE *to, const char *line, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = 0;

		while (i + k < n && line[i + k] != '<')
			k++;
		safe_print(to, line + i, k, 0, 0);
		i += k;
		if (i < n) {
			fputs("&lt;", to);
			i++;
		}
	}
	putc('\n', to);
}

/* Fences begin at the margin: there they end lists and paragraphs, so that code is code for every
 * reader. */
static void message_put(FILE *to, const char *text)
{
	unsigned open = 0, n;
	char kind = 0, c;
	bool alone;

	while (*text) {
		size_t all = strcspn(text, "\n"), len = all - (all && text[all - 1] == '\r');
		bool opens, closes;
		size_t blank;

		n = fence_at(text, len, &c, &alone);
		opens = n && !open;
		closes = open && n >= open && c == kind && alone;
		blank = opens || closes ? strspn(text, " ") : 0;
		if (open || n) {
			safe_print(to, text + blank, len - blank, 0, 0);
			putc('\n', to);
		} else {
			prose_line(to, text, len);
		}
		if (opens) {
			open = n;
			kind = c;
		} else if (closes) {
			open = 0;
		}
		text += all + (text[all] ? 1 : 0);
	}
	for (unsigned i = 0; i < open; i++)
		putc(kind, to);
	fputs(open ? "\n\n" : "\n", to);
}

static void quote_put(FILE *to, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		fputs("> ", to);
		prose_line(to, text, n);
		text += n + (text[n] ? 1 : 0);
	}
	putc('\n', to);
}

/* Text within a line. */
static void word_put(FILE *to, const char *text)
{
	for (; *text; text++) {
		size_t n = strcspn(text, "<*_`[]\\&");

		safe_print(to, text, n, SAFE_LINE, 0);
		text += n;
		if (!*text)
			break;
		fprintf(to, "\\%c", *text);
	}
}

static void value_put(FILE *to, const char *what, const struct json *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem;

	if (!v)
		return;
	fprintf(to, "%s:\n\n", what);
	if (v->type == JSON_TEXT) {
		fence_put(to, v->text, "");
		return;
	}
	mem = open_memstream(&text, &n);
	if (!mem)
		return;
	json_value_print(mem, v, true);
	fclose(mem);
	fence_put(to, text, "json");
	free(text);
}

static void diff_line(void *arg, char mark, const char *line, size_t size)
{
	FILE *to = arg;

	if (mark == '@') {
		fputs("@@\n", to);
		return;
	}
	putc(mark, to);
	fwrite(line, 1, size, to);
	putc('\n', to);
}

static void diff_put(FILE *to, const struct diff_texts *d)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n);
	bool good = mem && diff_lines(d, diff_line, mem);

	if (mem)
		fclose(mem);
	fputs(d->is_new ? "New file " : "Change of ", to);
	word_put(to, d->path);
	fputs(":\n\n", to);
	if (good)
		fence_put(to, text, "diff");
	else
		fputs("(too long to compare)\n\n", to);
	free(text);
}

static void content_put(FILE *to, const struct json *content)
{
	struct diff_texts d;

	for (const struct json *c = content ? content->first : NULL; c; c = c->next) {
		struct buf b = { 0 };

		if (diff_get(c, &d)) {
			diff_put(to, &d);
			continue;
		}
		buf_add_text(&b, "");
		block_text(&b, json_get(c, "content", JSON_OBJECT));
		if (b.len)
			fence_put(to, (char *)b.p, "");
		buf_free(&b);
	}
}

static void tool_put(FILE *to, const struct item *it)
{
	fputs("**", to);
	word_put(to, *it->title ? it->title : it->id);
	fputs("**", to);
	if (*it->tool) {
		fputs(" (", to);
		word_put(to, it->tool);
		fputs(")", to);
	}
	fputs(*it->status ? ": " : "", to);
	word_put(to, it->status);
	fputs("\n\n", to);
	if (it->options || it->approval) {
		fputs("Permission was asked", to);
		if (it->answer) {
			fputs("; answer: ", to);
			word_put(to, answer_text(it->answer, it->options));
		}
		fputs(".\n\n", to);
	}
	value_put(to, "Input", it->input);
	content_put(to, it->content);
	if (!it->content || !it->content->first)
		value_put(to, "Output", it->output);
}

static void plan_put(FILE *to, const struct item *it)
{
	const struct json *entries = json_get(it->data, "entries", JSON_LIST);

	fputs("Plan:\n\n", to);
	for (const struct json *p = entries ? entries->first : NULL; p; p = p->next) {
		fputs(!strcmp(member_text(p, "status"), "completed") ? "- [x] " : "- [ ] ", to);
		word_put(to, member_text(p, "content"));
		putc('\n', to);
	}
	putc('\n', to);
}

static void images_put(FILE *to, const struct item *it)
{
	for (size_t i = 0; i < BUF_COUNT(&it->images, const struct json *); i++) {
		struct buf b = { 0 };

		block_text(&b, *BUF_ITEM(&it->images, const struct json *, i));
		word_put(to, (char *)b.p);
		fputs("\n\n", to);
		buf_free(&b);
	}
}

static void item_put(FILE *to, const struct item *it, unsigned *prompts)
{
	const char *text = (char *)it->text.p;

	switch (it->kind) {
	case ITEM_PROMPT:
		fprintf(to, "## Prompt %u\n\n", ++*prompts);
		quote_put(to, text);
		images_put(to, it);
		break;
	case ITEM_USER:
		quote_put(to, text);
		break;
	case ITEM_MESSAGE:
		message_put(to, text);
		images_put(to, it);
		break;
	case ITEM_THOUGHT:
		fputs("Thought:\n\n", to);
		quote_put(to, text);
		break;
	case ITEM_TOOL:
		tool_put(to, it);
		break;
	case ITEM_PLAN:
		plan_put(to, it);
		break;
	case ITEM_TURN:
		if (strcmp(member_text(it->data, "stop_reason"), "end_turn")) {
			fputs("*The turn ended: ", to);
			word_put(to, member_text(it->data, "stop_reason"));
			fputs("*\n\n", to);
		}
		break;
	case ITEM_ERROR:
		fputs("**Error:** ", to);
		word_put(to, text);
		fputs("\n\n", to);
		break;
	case ITEM_STDERR:
		fputs("Standard error:\n\n", to);
		fence_put(to, text, "");
		break;
	case ITEM_NOTE:
		fputs("*", to);
		word_put(to, text);
		fputs("*\n\n", to);
		break;
	}
}

static void head_put(FILE *to, const char *what, const char *text)
{
	if (!text)
		return;
	fprintf(to, "- %s: ", what);
	word_put(to, text);
	putc('\n', to);
}

void transcript_markdown(const struct transcript *t, FILE *to)
{
	unsigned prompts = 0;

	fputs("# ", to);
	word_put(to, t->head.title ? t->head.title : t->head.id ? t->head.id : "Session");
	fputs("\n\n", to);
	head_put(to, "session", t->head.id);
	head_put(to, "cell", t->head.cell);
	head_put(to, "agent", t->head.agent);
	head_put(to, "created", t->head.created);
	if (t->tokens_out)
		fprintf(to, "- tokens: %llu in, %llu out\n", (unsigned long long)t->tokens_in,
			(unsigned long long)t->tokens_out);
	putc('\n', to);
	for (size_t i = 0; i < ITEM_COUNT(t); i++)
		item_put(to, ITEM_AT(t, i), &prompts);
}
