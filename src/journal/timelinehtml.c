/* A run as one page of HTML that needs nothing else: bars of processes on a line of time, marks for
 * files and connections (timeline.html, timeline.js).
 *
 * What comes from the guest is only in a block of JSON, as it would be shown on a terminal
 * (controls, bytes that are no UTF-8 and marks of direction are escaped) and with <, > and &
 * escaped on top of that; the script puts it into the page as text, never as HTML. The policy (CSP)
 * lets only the one script run that has this page's random number, and lets nothing be loaded or
 * sent. */
#include "journal/story.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/safetext.h"
#include "journal/show.h"

extern const char timeline_page[], timeline_page_end[], timeline_script[], timeline_script_end[];

static void shown(FILE *to, struct jtext text)
{
	safe_json_text(to, text.p, text.n, SAFE_LINE | SAFE_SEEN);
}

/* Milliseconds with three digits behind the point. */
static void ms(FILE *to, int64_t ns)
{
	if (ns < 0)
		fputs("-1", to);
	else
		fprintf(to, "%" PRId64 ".%03d", ns / 1000000, (int)(ns % 1000000 / 1000));
}

static void node_put(FILE *to, const struct story *s, const struct story_process *n)
{
	struct jtext words = story_text(s, n->args, n->nargs), word;
	uint64_t counted = 0;
	bool first = true;

	fprintf(to, "[%" PRIu32 ",%d,", n->parent, n->pid);
	ms(to, n->start);
	fputc(',', to);
	ms(to, n->end);
	fputc(',', to);
	shown(to, story_text(s, n->program, n->nprogram));
	fputs(",[", to);
	for (; words_next(&words, &word); first = false) {
		fputs(first ? "" : ",", to);
		shown(to, word);
	}
	for (unsigned k = 0; k < MARK_KINDS; k++)
		counted += n->counts[k];
	fprintf(to, "],%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, n->code,
		n->signal, n->reads, n->in, n->out);
	first = true;
	for (uint32_t m = n->mark_first; m; m = mark_at(s, m)->next)
		counted--;
	fprintf(to, ",%" PRIu64 ",[", counted + n->processes);
	for (uint32_t m = n->mark_first; m; m = mark_at(s, m)->next, first = false) {
		const struct story_mark *mark = mark_at(s, m);

		fputs(first ? "[" : ",[", to);
		ms(to, mark->at);
		fprintf(to, ",%u,", mark->kind);
		shown(to, story_text(s, mark->text, mark->n));
		fputc(']', to);
	}
	fputs("]]", to);
}

static void fact_put(FILE *to, const char *name, const char *text)
{
	fprintf(to, "[\"%s\",", name);
	shown(to, text_of(text));
	fputs("],", to);
}

void timeline_json(const struct story *s, FILE *to)
{
	char text[40], number[32];

	fputs("{\"title\":", to);
	shown(to, text_of(s->name[0] ? s->name : s->id[0] ? s->id : "A cell"));
	fputs(",\"begin\":", to);
	ms(to, s->begin);
	fputs(",\"span\":", to);
	ms(to, s->now);
	fputs(",\"facts\":[", to);
	fact_put(to, "cell", s->id);
	if (s->image[0])
		fact_put(to, "image", s->image);
	fact_put(to, "began", show_time_iso(s->begin, text));
	fact_put(to, "took", show_duration(s->now, text));
	fact_put(to, "processes", show_number(story_at(s, 0)->all_processes, number));
	fprintf(to, "[\"records\",\"%s\"]],\"kinds\":[", show_number(s->records, number));
	for (unsigned k = 0; k < MARK_KINDS; k++)
		fprintf(to, "%s\"%s\"", k ? "," : "", mark_names[k]);
	fputs("],\n\"p\":[", to);
	for (uint32_t i = 0; i < story_count(s); i++) {
		fputs(i ? ",\n" : "", to);
		node_put(to, s, story_at(s, i));
	}
	fputs("]}\n", to);
}

void timeline_html(const struct story *s, FILE *to)
{
	const char *title = s->name[0] ? s->name : s->id[0] ? s->id : "A cell";
	uint64_t random[2] = { 0 };
	char nonce[40];

	/* Whoever made the records cannot have known it. */
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return;
	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", to);
	fprintf(to,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'nonce-%s'; base-uri 'none'; "
		"form-action 'none'\">\n",
		nonce);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      to);
	safe_html(to, title, strlen(title), SAFE_LINE | SAFE_SEEN);
	fputs(" - timeline</title>\n", to);
	fwrite(timeline_page, 1, (size_t)(timeline_page_end - timeline_page), to);
	fputs("<script type=\"application/json\" id=\"data\">", to);
	timeline_json(s, to);
	fprintf(to, "</script>\n<script nonce=\"%s\">\n", nonce);
	fwrite(timeline_script, 1, (size_t)(timeline_script_end - timeline_script), to);
	fputs("</script>\n</body>\n</html>\n", to);
}
