/* A journal as traces and logs of OpenTelemetry (OTLP/HTTP with JSON). The cell is one trace, whose
 * number comes from the cell's id: the cell is its root, below it sessions, their prompts, and
 * processes below the prompt they were started under, or their parent, or the cell. Every record is
 * a log of its process's span. Without a server, documents are printed one a line, as a collector's
 * file exporter does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "journal/export.h"
#include "journal/hash.h"
#include "journal/line.h"
#include "journal/show.h"

#define DOCUMENT 1000 /* spans or logs of a document */

enum span_type { SPAN_CELL = 1, SPAN_SESSION, SPAN_PROMPT, SPAN_PROCESS };

static void trace_make(struct exporter *x)
{
	uint8_t hash[JOURNAL_HASH];

	hash_bytes(x->cell, strlen(x->cell), hash);
	memcpy(x->trace, hash, sizeof(x->trace));
	x->trace[0] |= 1; /* never zero */
}

static void trace_put(struct exporter *x, FILE *to)
{
	if (!x->trace[0])
		trace_make(x);
	for (unsigned i = 0; i < sizeof(x->trace); i++)
		fprintf(to, "%02x", x->trace[i]);
}

static uint64_t span_id(struct exporter *x, enum span_type type, uint64_t number)
{
	uint64_t key[2], what[2] = { type, number };

	if (!x->trace[0])
		trace_make(x);
	memcpy(key, x->trace, sizeof(key));
	return siphash(key, what, sizeof(what)) | 1;
}

static void attribute_text(FILE *to, const char *name, struct jtext text)
{
	if (!text.n)
		return;
	fprintf(to, ",{\"key\":\"%s\",\"value\":{\"stringValue\":", name);
	json_put(to, text);
	fputs("}}", to);
}

static void attribute_number(FILE *to, const char *name, int64_t n)
{
	fprintf(to, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", name, n);
}

/* ---- documents ---- */

static int document_send(struct exporter *x, bool spans, struct err *e)
{
	struct buf *items = spans ? &x->batch : &x->other;
	unsigned *n = spans ? &x->nbatch : &x->nother;
	char *text = NULL;
	size_t size = 0;
	FILE *to;
	int rc;

	if (!*n)
		return 0;
	to = open_memstream(&text, &size);
	if (!to)
		return err_set(e, ERR_FAILED, "out of memory");
	fprintf(to, "{\"%s\":[{\"resource\":{\"attributes\":[",
		spans ? "resourceSpans" : "resourceLogs");
	fputs("{\"key\":\"service.name\",\"value\":{\"stringValue\":\"vivarium\"}}", to);
	attribute_text(to, "service.version", text_of(VIV_VERSION));
	attribute_text(to, "service.instance.id", text_of(x->cell));
	attribute_text(to, "vivarium.cell.id", text_of(x->cell));
	attribute_text(to, "vivarium.cell.name", text_of(x->name));
	fprintf(to,
		"]},\"%s\":[{\"scope\":{\"name\":\"vivarium.journal\",\"version\":\"" VIV_VERSION
		"\"},\"%s\":[",
		spans ? "scopeSpans" : "scopeLogs", spans ? "spans" : "logRecords");
	fwrite(items->p, 1, items->len, to);
	fputs("]}]}]}\n", to);
	fclose(to);
	rc = sink_put(&x->sink, spans ? "/v1/traces" : "/v1/logs", "application/json", text, size,
		      e);
	free(text);
	items->len = 0;
	*n = 0;
	return rc;
}

/* What is in mem is a span or a log. */
static int item_add(struct exporter *x, bool span, struct err *e)
{
	struct buf *items = span ? &x->batch : &x->other;
	unsigned *n = span ? &x->nbatch : &x->nother;

	fflush(x->mem);
	if (*n)
		buf_add(items, ",\n", 2);
	buf_add(items, x->line, x->nline);
	rewind(x->mem);
	return ++*n < DOCUMENT ? 0 : document_send(x, span, e);
}

/* ---- spans ---- */

static void span_begin(struct exporter *x, uint64_t id, uint64_t parent, int64_t start, int64_t end)
{
	start = MAX(start, 0);
	fputs("{\"traceId\":\"", x->mem);
	trace_put(x, x->mem);
	fprintf(x->mem, "\",\"spanId\":\"%016" PRIx64 "\"", id);
	if (parent)
		fprintf(x->mem, ",\"parentSpanId\":\"%016" PRIx64 "\"", parent);
	fprintf(x->mem,
		",\"kind\":1,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64
		"\",\"name\":",
		start, MAX(end, start));
}

static uint64_t process_parent(struct exporter *x, const struct process *p)
{
	if (p->session)
		return span_id(x, SPAN_SESSION, p->session->seq);
	if (p->prompt && (!p->parent || p->parent->session || p->parent->prompt != p->prompt))
		return span_id(x, SPAN_PROMPT, p->prompt->seq);
	if (p->parent)
		return span_id(x, SPAN_PROCESS, p->parent->id);
	return span_id(x, SPAN_CELL, 0);
}

static int process_span(struct exporter *x, struct process *p, struct err *e)
{
	const struct program *g = p->program;
	struct jtext name = g ? g->path : text_of("process");
	FILE *to = x->mem;

	if (p->user)
		return 0;
	p->user = x; /* it has its span */
	span_begin(x, span_id(x, SPAN_PROCESS, p->id), process_parent(x, p), p->start,
		   p->ended ? p->end : x->last);
	json_put(to, name);
	fprintf(to, ",\"attributes\":[{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%d\"}}",
		p->pid);
	if (g) {
		struct jtext words = g->args, word;
		bool first = true;

		attribute_text(to, "process.executable.path", g->path);
		attribute_text(to, "process.working_directory", g->cwd);
		fputs(",{\"key\":\"process.command_args\",\"value\":{\"arrayValue\":{\"values\":[",
		      to);
		for (; words_next(&words, &word); first = false) {
			fputs(first ? "{\"stringValue\":" : ",{\"stringValue\":", to);
			json_put(to, word);
			fputc('}', to);
		}
		fputs("]}}}", to);
		attribute_number(to, "process.user.id", (int64_t)(g->uid & INT64_MAX));
	}
	if (p->ended)
		attribute_number(to, "process.exit.code", (int64_t)(p->code & INT64_MAX));
	if (p->signal)
		attribute_number(to, "process.exit.signal", (int64_t)(p->signal & INT64_MAX));
	if (p->command)
		attribute_number(to, "vivarium.command", (int64_t)(p->command->number & INT64_MAX));
	fprintf(to, "],\"status\":{\"code\":%d}}", p->code || p->signal ? 2 : 0);
	return item_add(x, true, e);
}

void otlp_gone(void *exporter, struct process *p)
{
	struct exporter *x = exporter;

	if (x->e && process_span(x, p, x->e) < 0)
		x->failed = true;
}

static int session_spans(struct exporter *x, struct err *e)
{
	for (struct session *s = x->processes.sessions; s; s = s->next) {
		for (struct prompt *q = s->last; q; q = q->next) {
			char name[40];

			snprintf(name, sizeof(name), "prompt %" PRIu64, q->number);
			span_begin(x, span_id(x, SPAN_PROMPT, q->seq),
				   span_id(x, SPAN_SESSION, s->seq), q->wall,
				   q->ended ? q->ended : x->last);
			json_put(x->mem, text_of(name));
			fprintf(x->mem,
				",\"attributes\":[{\"key\":\"vivarium.prompt\",\"value\":{"
				"\"intValue\":\"%" PRIu64 "\"}}",
				q->number & INT64_MAX);
			attribute_text(x->mem, "vivarium.prompt.text", q->text);
			fputs("]}", x->mem);
			if (item_add(x, true, e) < 0)
				return -1;
		}
		span_begin(x, span_id(x, SPAN_SESSION, s->seq), span_id(x, SPAN_CELL, 0), s->wall,
			   x->last);
		json_put(x->mem, text_of("session"));
		fputs(",\"attributes\":[{\"key\":\"vivarium.session\",\"value\":{\"stringValue\":",
		      x->mem);
		json_put(x->mem, text_of(s->id));
		fputs("}}", x->mem);
		attribute_text(x->mem, "vivarium.agent", text_of(s->agent));
		fputs("]}", x->mem);
		if (item_add(x, true, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- logs ---- */

static void fields_put(struct exporter *x, const struct journal_entry *j)
{
	const struct journal_desc *d = &journal_kinds[j->kind];

	for (unsigned i = 0; i < d->nfields; i++) {
		const char *at = (const char *)j->record + d->fields[i].offset;
		char name[64];
		struct jtext text;
		int64_t n;

		snprintf(name, sizeof(name), "vivarium.%s.%s", d->name, d->fields[i].name);
		switch ((enum journal_type)d->fields[i].type) {
		case JT_NUMBER:
		case JT_SIGNED:
			memcpy(&n, at, sizeof(n));
			attribute_number(x->mem, name, n);
			break;
		case JT_TEXT:
		case JT_WORDS:
			memcpy(&text, at, sizeof(text));
			attribute_text(x->mem, name, text);
			break;
		case JT_HASH:
			break;
		}
	}
}

int otlp_put(struct exporter *x, const struct journal_entry *j, struct process *p, struct err *e)
{
	const union journal_record *r = j->record;
	bool bad = j->kind == J_DENIAL || j->kind == J_HOLE || j->kind == J_LIMIT ||
		   (j->kind == J_NAME && text_equals(r->NAME.decision, "deny")) ||
		   (j->kind == J_CONNECT && text_equals(r->CONNECT.decision, "deny")) ||
		   (j->kind == J_REQUEST && text_equals(r->REQUEST.decision, "deny"));
	char *what = NULL;
	size_t n = 0;
	FILE *mem;

	if (!x->records++)
		x->first = j->wall;
	mem = open_memstream(&what, &n);
	if (!mem)
		return err_set(e, ERR_FAILED, "out of memory");
	line_what(mem, j);
	fclose(mem);
	fprintf(x->mem,
		"{\"timeUnixNano\":\"%" PRId64 "\",\"severityNumber\":%d,\"severityText\":\"%s\","
		"\"body\":{\"stringValue\":",
		MAX(j->wall, 0), bad ? 13 : 9, bad ? "WARN" : "INFO");
	json_put(x->mem, (struct jtext){ what, (uint32_t)n });
	free(what);
	fprintf(x->mem,
		"},\"attributes\":[{\"key\":\"vivarium.seq\",\"value\":{\"intValue\":\"%" PRIu64
		"\"}}",
		j->seq);
	attribute_text(x->mem, "vivarium.kind", text_of(journal_kinds[j->kind].name));
	fields_put(x, j);
	fputs("],\"traceId\":\"", x->mem);
	trace_put(x, x->mem);
	fprintf(x->mem, "\",\"spanId\":\"%016" PRIx64 "\"}",
		p ? span_id(x, SPAN_PROCESS, p->id) : span_id(x, SPAN_CELL, 0));
	if (item_add(x, false, e) < 0)
		return -1;
	return j->kind == J_EXIT && p ? process_span(x, p, e) : 0;
}

int otlp_end(struct exporter *x, struct err *e)
{
	for (struct process *p = x->processes.ended_first; p; p = p->list_next)
		if (process_span(x, p, e) < 0)
			return -1;
	for (struct process *p = x->processes.running_first; p; p = p->list_next)
		if (process_span(x, p, e) < 0)
			return -1;
	if (session_spans(x, e) < 0)
		return -1;
	if (x->records) {
		span_begin(x, span_id(x, SPAN_CELL, 0), 0, x->first, x->last);
		json_put(x->mem, text_of("cell"));
		fputs(",\"attributes\":[{\"key\":\"vivarium.cell.id\",\"value\":{\"stringValue\":",
		      x->mem);
		json_put(x->mem, text_of(x->cell));
		fputs("}}]}", x->mem);
		if (item_add(x, true, e) < 0)
			return -1;
	}
	if (document_send(x, true, e) < 0 || document_send(x, false, e) < 0)
		return -1;
	return 0;
}
