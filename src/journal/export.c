/* See export.h. */
#include "journal/export.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "journal/line.h"
#include "journal/show.h"
#include "journal/table.h"

#define BATCH (1u << 20) /* bytes of a document for a server */

static int ndjson_put(struct exporter *x, const struct journal_entry *j, struct process *p,
		      struct err *e)
{
	struct origin o = { .process = p };
	struct jtext program = { 0 };

	if (p) {
		o.program = p->program;
		o.session = process_session(&x->processes, p);
		o.prompt = process_prompt(&x->processes, p);
		if (p->program)
			program = p->program->path;
	}
	line_json(x->mem, j, program);
	fflush(x->mem);
	/* Its end is left out for what line_json does not know. */
	buf_add(&x->batch, x->line, x->nline - 2);
	rewind(x->mem);
	o.program = NULL;
	json_put_member(x->mem, "cell", text_of(x->cell));
	if (strcmp(journal_kinds[j->kind].group, "agent") != 0) /* they have these themselves */
		origin_json_short(&o, x->mem);
	fputc('}', x->mem);
	return export_line(x, e);
}

const struct export_format export_formats[] = {
	{ "ndjson", true, ndjson_put, NULL, NULL },
	{ "ocsf", true, ocsf_put, NULL, NULL },
	{ "otlp", false, otlp_put, otlp_end, otlp_gone },
	{ 0 },
};

const struct export_format *export_find(const char *name)
{
	const struct export_format *f = export_formats;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

void exporter_init(struct exporter *x, const struct export_format *f, FILE *to, const char *url)
{
	memset(x, 0, sizeof(*x));
	x->sink = (struct sink){ .to = url ? NULL : to, .url = url };
	processes_init(&x->processes, f->gone, x);
	x->mem = open_memstream(&x->line, &x->nline);
	if (!x->mem)
		abort();
	__fsetlocking(x->mem, FSETLOCKING_BYCALLER); /* one thread */
}

void exporter_fini(struct exporter *x)
{
	x->processes.gone = NULL;
	processes_fini(&x->processes);
	sink_fini(&x->sink);
	fclose(x->mem);
	free(x->line);
	buf_free(&x->batch);
	buf_free(&x->other);
}

int export_flush(struct exporter *x, struct err *e)
{
	int rc = 0;

	if (x->batch.len)
		rc = sink_put(&x->sink, "", "application/x-ndjson", (char *)x->batch.p,
			      x->batch.len, e);
	x->batch.len = 0;
	return rc;
}

int export_line(struct exporter *x, struct err *e)
{
	fputc('\n', x->mem);
	fflush(x->mem);
	buf_add(&x->batch, x->line, x->nline);
	rewind(x->mem);
	x->records++;
	return x->batch.len < BATCH ? 0 : export_flush(x, e);
}

static void start_take(void *arg, const struct journal_entry *j)
{
	const struct journal_START *start = &j->record->START;
	struct exporter *x = arg;

	snprintf(x->cell, sizeof(x->cell), "%.*s", (int)MIN(start->id.n, 47u),
		 start->id.n ? start->id.p : "");
	snprintf(x->name, sizeof(x->name), "%.*s", (int)MIN(start->name.n, 79u),
		 start->name.n ? start->name.p : "");
}

bool exporter_table(void *exporter, const void *data, size_t n)
{
	struct exporter *x = exporter;

	return table_read(&x->processes, data, n, start_take, x);
}

int exporter_follow(struct exporter *x, const struct export_format *f,
		    const struct journal_entry *j, bool wanted, struct err *e)
{
	struct process *p;
	int rc = 0;

	x->e = e;
	if (j->kind == J_START)
		start_take(x, j);
	p = process_get(processes_follow(&x->processes, j));
	if (!x->first)
		x->first = j->wall;
	x->last = MAX(x->last, j->wall);
	if (wanted)
		rc = f->put(x, j, p, e);
	process_put(&x->processes, p);
	return x->failed ? -1 : rc;
}

int exporter_end(struct exporter *x, const struct export_format *f, struct err *e)
{
	x->e = e;
	if (f->end)
		return f->end(x, e);
	return export_flush(x, e);
}
