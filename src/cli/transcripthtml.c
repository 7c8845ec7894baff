/* A transcript as one page of HTML that needs nothing else. Every text of the agent is escaped; the
 * page has no scripts, and its policy (CSP) lets none run and nothing be loaded. Images are shown
 * if they are one of four known types, from data that is base64 and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/safetext.h"
#include "cli/transcript.h"
#include "cli/vivd.h"

#define OPEN_LINES 60 /* differences up to here are not folded */

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n";

static const char style[] =
	"<style>\n"
	":root{color-scheme:light dark;--fg:#1c1e21;--bg:#fff;--soft:#5f6670;--line:#d9dde3;"
	"--box:#f5f6f8;--accent:#2457c5;--good:#1a7f37;--bad:#b42318;--add:#dafbe1;--del:#ffebe9}\n"
	"@media(prefers-color-scheme:dark){:root{--fg:#e4e6ea;--bg:#16181c;--soft:#9aa1ab;"
	"--line:#33383f;--box:#1f2227;--accent:#84a9ff;--good:#56d364;--bad:#ff7b72;"
	"--add:#12361f;--del:#4a1a1d}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:56rem;padding:2rem 1.25rem 4rem;background:var(--bg);"
	"color:var(--fg);font:16px/1.55 system-ui,sans-serif}\n"
	"h1{font-size:1.4rem;margin:0 0 .25rem;overflow-wrap:anywhere}\n"
	"dl{display:flex;flex-wrap:wrap;gap:.1rem 1.25rem;margin:0 0 1.5rem;color:var(--soft);"
	"font-size:.85rem}\ndl div{display:flex;gap:.35rem}\ndd{margin:0;color:var(--fg);"
	"overflow-wrap:anywhere}\n"
	"section{border-top:1px solid var(--line);padding-top:1rem;margin-top:1.75rem}\n"
	".prompt{border-left:3px solid var(--accent);padding:.1rem 0 .1rem .9rem;font-weight:500}\n"
	".prompt small,.turn,.note{color:var(--soft);font-size:.8rem;font-weight:400}\n"
	".text{white-space:pre-wrap;overflow-wrap:anywhere;margin:.8rem 0}\n"
	".text h3{font-size:1.02rem;margin:.6rem 0 .2rem}\n"
	"code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}\n"
	".text code{background:var(--box);padding:.1em .3em;border-radius:4px}\n"
	"pre{background:var(--box);border:1px solid var(--line);border-radius:6px;margin:.5rem 0;"
	"padding:.6rem .75rem;overflow:auto;max-height:36rem;white-space:pre-wrap;"
	"overflow-wrap:anywhere}\n"
	"details{margin:.55rem 0}\nsummary{cursor:pointer;overflow-wrap:anywhere}\n"
	".tool{border:1px solid var(--line);border-radius:8px;padding:.45rem .75rem}\n"
	".tool>summary{font-size:.93rem}\n.tool "
	"details>summary{font-size:.82rem;color:var(--soft)}\n"
	".kind{color:var(--soft);font-size:.8rem}\n.ok{color:var(--good)}\n.bad{color:var(--bad)}\n"
	".path{font-size:.82rem;color:var(--soft);margin:.6rem 0 -.2rem;overflow-wrap:anywhere}\n"
	".diff{padding:.4rem 0}\n.diff span{display:block;padding:0 .75rem;min-height:1.5em}\n"
	".a{background:var(--add)}\n.d{background:var(--del)}\n.s{color:var(--soft)}\n"
	".thought{color:var(--soft);font-size:.9rem}\n.plan{list-style:none;padding-left:.25rem}\n"
	".error{border-left:3px solid var(--bad);padding-left:.9rem}\n"
	"img{max-width:100%;border:1px solid var(--line);border-radius:6px}\n"
	"</style>\n";

static void put(FILE *to, const char *text)
{
	safe_html(to, text, strlen(text), 0);
}

static void put_line(FILE *to, const char *text)
{
	safe_html(to, text, strlen(text), SAFE_LINE);
}

/* ---- what agents write: a little of Markdown ---- */

/* Code and bold within a line. */
static void prose_put(FILE *to, const char *line, size_t n)
{
	bool code = false, bold = false;

	for (size_t i = 0; i < n;) {
		size_t k = 0;

		while (i + k < n && line[i + k] != '`' &&
		       (code || i + k + 1 >= n || memcmp(line + i + k, "**", 2)))
			k++;
		safe_html(to, line + i, k, 0);
		i += k;
		if (i >= n)
			break;
		if (line[i] == '`') {
			/* One that is alone is no code. */
			if (!code && !memchr(line + i + 1, '`', n - i - 1))
				fputs("`", to);
			else
				fputs((code = !code) ? "<code>" : "</code>", to);
			i++;
		} else {
			fputs((bold = !bold) ? "<b>" : "</b>", to);
			i += 2;
		}
	}
	fputs(code ? "</code>" : "", to);
	fputs(bold ? "</b>" : "", to);
}

static void line_put(FILE *to, const char *line, size_t n)
{
	size_t level = strspn(line, "#");

	if (level && level <= 6 && level < n && line[level] == ' ') {
		fputs("<h3>", to);
		prose_put(to, line + level + 1, n - level - 1);
		fputs("</h3>", to);
	} else {
		prose_put(to, line, n);
		putc('\n', to);
	}
}

static void message_put(FILE *to, const char *text)
{
	bool fenced = false;

	fputs("<div class=\"text\">", to);
	while (*text) {
		size_t n = strcspn(text, "\n"), blank = strspn(text, " ");

		if (blank < n && !strncmp(text + blank, "```", 3))
			fputs((fenced = !fenced) ? "<pre>" : "</pre>", to);
		else if (fenced)
			safe_html(to, text, MIN(n + 1, strlen(text)), 0);
		else
			line_put(to, text, n);
		text += n + (text[n] ? 1 : 0);
	}
	fputs(fenced ? "</pre></div>\n" : "</div>\n", to);
}

static void images_put(FILE *to, const struct item *it)
{
	static const char *const types[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

	for (size_t i = 0; i < BUF_COUNT(&it->images, const struct json *); i++) {
		const struct json *block = *BUF_ITEM(&it->images, const struct json *, i);
		const char *data = member_text(block, "data"),
			   *type = member_text(block, "mimeType");
		const char *known = NULL;

		for (unsigned k = 0; k < ARRAY_LEN(types); k++)
			if (!strcmp(types[k], type))
				known = types[k];
		if (!known || !*data ||
		    data[strspn(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789+/=")]) {
			fputs("<p class=\"note\">[image ", to);
			put_line(to, type);
			fputs("]</p>\n", to);
		} else {
			fprintf(to, "<p><img alt=\"image\" src=\"data:%s;base64,%s\"></p>\n", known,
				data);
		}
	}
}

/* ---- tool calls ---- */

static void diff_line(void *arg, char mark, const char *line, size_t size)
{
	FILE *to = arg;

	if (mark == '@') {
		fputs("<span class=\"s\">⋯</span>", to);
		return;
	}
	fprintf(to, "<span%s>%c",
		mark == '+'   ? " class=\"a\""
		: mark == '-' ? " class=\"d\""
			      : "",
		mark);
	safe_html(to, line, size, SAFE_LINE);
	fputs("</span>", to);
}

static void diff_put(FILE *to, const struct diff_texts *d)
{
	fputs("<div class=\"path\">", to);
	put_line(to, d->path);
	fputs(d->is_new ? " (new)</div>\n<pre class=\"diff\">" : "</div>\n<pre class=\"diff\">",
	      to);
	if (!diff_lines(d, diff_line, to))
		fputs("<span>(too long to compare)</span>", to);
	fputs("</pre>\n", to);
}

static void value_put(FILE *to, const char *what, const struct json *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem;

	if (!v)
		return;
	fprintf(to, "<details><summary>%s</summary><pre>", what);
	if (v->type == JSON_TEXT) {
		put(to, v->text);
	} else if ((mem = open_memstream(&text, &n))) {
		json_value_print(mem, v, true);
		fclose(mem);
		safe_html(to, text, n, 0);
		free(text);
	}
	fputs("</pre></details>\n", to);
}

static void output_put(FILE *to, const struct json *content)
{
	struct diff_texts d;

	for (const struct json *c = content ? content->first : NULL; c; c = c->next) {
		struct buf b = { 0 };

		if (diff_get(c, &d))
			continue;
		buf_add_text(&b, "");
		block_text(&b, json_get(c, "content", JSON_OBJECT));
		if (b.len) {
			fputs("<details><summary>output</summary><pre>", to);
			put(to, (char *)b.p);
			fputs("</pre></details>\n", to);
		}
		buf_free(&b);
	}
}

struct changes {
	unsigned n, added, removed;
};

static struct changes changes_of(const struct json *content)
{
	struct changes x = { 0 };
	struct diff_texts d;
	unsigned added, removed;

	for (const struct json *c = content ? content->first : NULL; c; c = c->next)
		if (diff_get(c, &d)) {
			diff_count(&d, &added, &removed);
			x.n++;
			x.added += added;
			x.removed += removed;
		}
	return x;
}

static void permission_put(FILE *to, const struct item *it)
{
	if (!it->options && !it->approval)
		return;
	fputs("<p class=\"note\">permission was asked", to);
	if (it->answer) {
		fputs(", answer: ", to);
		put_line(to, answer_text(it->answer, it->options));
		if (*member_text(it->answer, "by")) {
			fputs(" by ", to);
			put_line(to, member_text(it->answer, "by"));
		}
	}
	fputs("</p>\n", to);
}

static void tool_put(FILE *to, const struct item *it)
{
	struct changes x = changes_of(it->content);
	bool ok = !strcmp(it->status, "completed"), bad = !strcmp(it->status, "failed");
	struct diff_texts d;

	fprintf(to, "<details class=\"tool\"%s><summary><span class=\"%s\">%s</span> ",
		x.n && x.added + x.removed <= OPEN_LINES ? " open" : "",
		ok    ? "ok"
		: bad ? "bad"
		      : "kind",
		ok    ? "✓"
		: bad ? "✗"
		      : "•");
	put_line(to, *it->title ? it->title : it->id);
	if (*it->tool) {
		fputs(" <span class=\"kind\">", to);
		put_line(to, it->tool);
		fputs("</span>", to);
	}
	if (x.n)
		fprintf(to, " <span class=\"ok\">+%u</span> <span class=\"bad\">−%u</span>",
			x.added, x.removed);
	fputs("</summary>\n", to);
	permission_put(to, it);
	for (const struct json *c = it->content ? it->content->first : NULL; c; c = c->next)
		if (diff_get(c, &d))
			diff_put(to, &d);
	value_put(to, "input", it->input);
	output_put(to, it->content);
	if (!it->content || !it->content->first)
		value_put(to, "output", it->output);
	fputs("</details>\n", to);
}

/* ---- the page ---- */

static void plan_put(FILE *to, const struct item *it)
{
	const struct json *entries = json_get(it->data, "entries", JSON_LIST);

	fputs("<ul class=\"plan\">\n", to);
	for (const struct json *p = entries ? entries->first : NULL; p; p = p->next) {
		const char *status = member_text(p, "status");

		fprintf(to, "<li>%s ",
			!strcmp(status, "completed")	 ? "☑"
			: !strcmp(status, "in_progress") ? "▶"
							 : "☐");
		put_line(to, member_text(p, "content"));
		fputs("</li>\n", to);
	}
	fputs("</ul>\n", to);
}

static void prompt_put(FILE *to, const struct item *it, unsigned n)
{
	fprintf(to, "<section id=\"prompt-%u\">\n<div class=\"prompt\"><small>", n);
	put_line(to, it->time);
	if (*member_text(it->data, "by")) {
		fputs(" · ", to);
		put_line(to, member_text(it->data, "by"));
	}
	fputs("</small><div class=\"text\">", to);
	put(to, (char *)it->text.p);
	fputs("</div></div>\n</section>\n", to);
	images_put(to, it);
}

static void turn_put(FILE *to, const struct item *it)
{
	const struct json *usage = json_get(it->data, "usage", JSON_OBJECT);

	fputs("<p class=\"turn\">", to);
	put_line(to, member_text(it->data, "stop_reason"));
	if (*member_text(usage, "output_tokens")) {
		fputs(" · ", to);
		put_line(to, member_text(usage, "input_tokens"));
		fputs(" tokens in, ", to);
		put_line(to, member_text(usage, "output_tokens"));
		fputs(" out", to);
	}
	fputs("</p>\n", to);
}

static void folded_put(FILE *to, const char *class, const char *what, const char *text)
{
	fprintf(to, "<details class=\"%s\"><summary>%s</summary><div class=\"text\">", class, what);
	put(to, text);
	fputs("</div></details>\n", to);
}

static void item_put(FILE *to, const struct item *it, unsigned *prompts)
{
	const char *text = (char *)it->text.p;

	switch (it->kind) {
	case ITEM_PROMPT:
		prompt_put(to, it, ++*prompts);
		break;
	case ITEM_USER:
		folded_put(to, "thought", "the prompt, as the agent repeats it", text);
		break;
	case ITEM_MESSAGE:
		message_put(to, text);
		images_put(to, it);
		break;
	case ITEM_THOUGHT:
		folded_put(to, "thought", "thought", text);
		break;
	case ITEM_TOOL:
		tool_put(to, it);
		break;
	case ITEM_PLAN:
		plan_put(to, it);
		break;
	case ITEM_TURN:
		turn_put(to, it);
		break;
	case ITEM_ERROR:
		fputs("<p class=\"error\">", to);
		put(to, text);
		fputs("</p>\n", to);
		break;
	case ITEM_STDERR:
		folded_put(to, "thought", "standard error", text);
		break;
	case ITEM_NOTE:
		fputs("<p class=\"note\">", to);
		put_line(to, text);
		fputs("</p>\n", to);
		break;
	}
}

static void fact_put(FILE *to, const char *what, const char *text)
{
	if (!text)
		return;
	fprintf(to, "<div><dt>%s</dt><dd>", what);
	put_line(to, text);
	fputs("</dd></div>\n", to);
}

void transcript_html(const struct transcript *t, FILE *to)
{
	const char *title = t->head.title ? t->head.title : t->head.id ? t->head.id : "Session";
	char counts[160];
	unsigned prompts = 0;

	fputs(head, to);
	fputs("<title>", to);
	put_line(to, title);
	fputs("</title>\n", to);
	fputs(style, to);
	fputs("</head>\n<body>\n<h1>", to);
	put_line(to, title);
	fputs("</h1>\n<dl>\n", to);
	fact_put(to, "session", t->head.id);
	fact_put(to, "cell", t->head.cell);
	fact_put(to, "agent", t->head.agent);
	fact_put(to, "created", t->head.created);
	snprintf(counts, sizeof(counts), "%u prompts, %u tool calls, %zu events", t->nprompts,
		 t->ntools, BUF_COUNT(&t->events, struct event *));
	fact_put(to, "", counts);
	if (t->tokens_out) {
		snprintf(counts, sizeof(counts), "%llu in, %llu out",
			 (unsigned long long)t->tokens_in, (unsigned long long)t->tokens_out);
		fact_put(to, "tokens", counts);
	}
	fputs("</dl>\n<main>\n", to);
	for (size_t i = 0; i < ITEM_COUNT(t); i++)
		item_put(to, ITEM_AT(t, i), &prompts);
	fputs("</main>\n</body>\n</html>\n", to);
}
