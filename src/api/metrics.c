/* GET /metrics: figures of vivd and of every running cell, as Prometheus reads them. Those of cells
 * are at most a second old, or as old as the cell's last answer when it does not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job.h"
#include "api/routes.h"
#include "daemon/keepers/pool.h"
#include "daemon/cells/usage.h"
#include "daemon/journal/heads.h"
#include "daemon/state/events.h"

static void head(struct buf *b, const char *name, const char *type, const char *help)
{
	char text[400];

	snprintf(text, sizeof(text), "# HELP vivarium_%s %s\n# TYPE vivarium_%s %s\n", name, help,
		 name, type);
	buf_add_text(b, text);
}

static void metric(struct buf *b, const char *name, const char *type, const char *help, double v)
{
	char line[160];

	head(b, name, type, help);
	snprintf(line, sizeof(line), "vivarium_%s %.17g\n", name, v);
	buf_add_text(b, line);
}

static void states_put(struct daemon *d, struct buf *b)
{
	unsigned count[CELL_STATES] = { 0 };
	struct cell *c;
	char line[128];

	list_for_each(c, &d->cells, link)
		count[c->state]++;
	head(b, "cells", "gauge", "Cells by state.");
	for (unsigned i = CELL_CREATED; i < CELL_STATES; i++) {
		if (i == CELL_REMOVED)
			continue;
		snprintf(line, sizeof(line), "vivarium_cells{state=\"%s\"} %u\n",
			 cell_state_name(i), count[i]);
		buf_add_text(b, line);
	}
}

static void pool_put(struct daemon *d, struct buf *b)
{
	struct pool_figures p = pool_figures(d);

	metric(b, "pool_cells", "gauge", "Idle cells that wait in the pool.", p.ready);
	metric(b, "pool_booting", "gauge", "Cells that boot for the pool.", p.booting);
	metric(b, "pool_ending", "gauge", "Unused cells of the pool that are being removed.",
	       p.ending);
	metric(b, "pool_given_total", "counter", "Cells that the pool gave away.", (double)p.given);
	metric(b, "pool_missed_total", "counter", "Times that the pool had none.",
	       (double)p.missed);
}

/* ---- cells ---- */

static double cpu_of(const struct usage *u)
{
	return (double)u->now.cpu_ns / NSEC_PER_SEC;
}
#define FIGURE(name)                                   \
	static double name##_of(const struct usage *u) \
	{                                              \
		return (double)u->now.name;            \
	}
FIGURE(memory)
FIGURE(memory_limit)
FIGURE(disk)
FIGURE(disk_limit)
FIGURE(inodes)
FIGURE(procs)
FIGURE(tasks)
FIGURE(calls)
FIGURE(files)

static const struct {
	const char *name, *type, *help;
	double (*of)(const struct usage *u);
} figures[] = {
	{ "cell_cpu_seconds_total", "counter", "Processor time, of ended processes too.", cpu_of },
	{ "cell_memory_bytes", "gauge", "Memory in use.", memory_of },
	{ "cell_memory_limit_bytes", "gauge", "Memory that may be used; 0: no limit.",
	  memory_limit_of },
	{ "cell_disk_bytes", "gauge", "Content of the cell's own files.", disk_of },
	{ "cell_disk_limit_bytes", "gauge", "Bytes that its files may have; 0: no limit.",
	  disk_limit_of },
	{ "cell_inodes", "gauge", "Files and names of the cell's own.", inodes_of },
	{ "cell_processes", "gauge", "Processes.", procs_of },
	{ "cell_tasks", "gauge", "Processes and threads.", tasks_of },
	{ "cell_open_files", "gauge", "Open files.", files_of },
	{ "cell_system_calls_total", "counter", "System calls that its kernel answered.",
	  calls_of },
};

/* A value of a label: what Prometheus asks to be escaped. */
static void value_put(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			buf_add(b, "\\", 1);
		if (*s == '\n')
			buf_add_text(b, "\\n");
		else
			buf_add(b, s, 1);
	}
}

static void cells_put(struct daemon *d, struct buf *b)
{
	struct cell *c;
	char number[40];

	for (unsigned i = 0; i < ARRAY_LEN(figures); i++) {
		head(b, figures[i].name, figures[i].type, figures[i].help);
		list_for_each(c, &d->cells, link) {
			const struct usage *u = c->keeper ? usage_get(c) : NULL;

			if (!u)
				continue;
			buf_add_text(b, "vivarium_");
			buf_add_text(b, figures[i].name);
			buf_add_text(b, "{cell=\"");
			value_put(b, c->id);
			buf_add_text(b, "\",name=\"");
			value_put(b, c->name);
			snprintf(number, sizeof(number), "\"} %.17g\n", figures[i].of(u));
			buf_add_text(b, number);
		}
	}
}

static double journal_records(const struct journal_info *j)
{
	return (double)j->records;
}

static double journal_bytes(const struct journal_info *j)
{
	return (double)j->bytes;
}

static double journal_unsealed(const struct journal_info *j)
{
	return (double)j->unsealed;
}

/* As they were found last, at most a minute ago. */
static void journals_put(struct daemon *d, struct buf *b)
{
	static const struct {
		const char *name, *help;
		double (*of)(const struct journal_info *j);
	} rows[] = {
		{ "journal_records", "Sealed records of the journals of running cells.",
		  journal_records },
		{ "journal_bytes", "Bytes of the journals of running cells.", journal_bytes },
		{ "journal_unsealed_bytes", "Bytes of their records that are not sealed yet.",
		  journal_unsealed },
	};
	struct cell *c;
	char number[40];

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		head(b, rows[i].name, "gauge", rows[i].help);
		list_for_each(c, &d->cells, link) {
			const struct journal_info *j = c->keeper ? journal_known(c->id) : NULL;

			if (!j)
				continue;
			buf_add_text(b, "vivarium_");
			buf_add_text(b, rows[i].name);
			buf_add_text(b, "{cell=\"");
			value_put(b, c->id);
			buf_add_text(b, "\",name=\"");
			value_put(b, c->name);
			snprintf(number, sizeof(number), "\"} %.17g\n", rows[i].of(j));
			buf_add_text(b, number);
		}
	}
}

/* ---- the gate ---- */

/* "vivarium_NAME{cell="ID",name="NAME",LABEL="VALUE"} N" */
static void gate_line(struct buf *b, const struct cell *c, const char *name, const char *label,
		      const char *value, uint64_t n)
{
	char end[80];

	buf_add_text(b, "vivarium_");
	buf_add_text(b, name);
	buf_add_text(b, "{cell=\"");
	value_put(b, c->id);
	buf_add_text(b, "\",name=\"");
	value_put(b, c->name);
	snprintf(end, sizeof(end), "\",%s=\"%s\"} %llu\n", label, value, (unsigned long long)n);
	buf_add_text(b, end);
}

static void gates_put(struct daemon *d, struct buf *b)
{
	static const char *const decisions[GATE_DECISIONS] = { GATE_DECISION_NAMES };
	static const struct {
		const char *name, *help;
		size_t offset; /* of its counts */
	} rows[] = {
		{ "gate_connections_total", "Connections that cells asked for, by decision.",
		  offsetof(struct keep_gate, connections) },
		{ "gate_requests_total", "HTTP requests that gates read, by decision.",
		  offsetof(struct keep_gate, requests) },
		{ "gate_names_total", "Names that cells asked for, by decision.",
		  offsetof(struct keep_gate, names) },
	};
	struct cell *c;

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		head(b, rows[i].name, "counter", rows[i].help);
		list_for_each(c, &d->cells, link) {
			const struct usage *u = c->keeper ? usage_get(c) : NULL;
			uint64_t counts[GATE_DECISIONS];

			if (!u || !u->now.gate.counted)
				continue;
			memcpy(counts, (const char *)&u->now.gate + rows[i].offset, sizeof(counts));
			for (unsigned k = 0; k < GATE_DECISIONS; k++)
				gate_line(b, c, rows[i].name, "decision", decisions[k], counts[k]);
		}
	}
	head(b, "gate_bytes_total", "counter",
	     "Bytes of connections to the outside that have ended.");
	list_for_each(c, &d->cells, link) {
		const struct usage *u = c->keeper ? usage_get(c) : NULL;

		if (!u || !u->now.gate.counted)
			continue;
		gate_line(b, c, "gate_bytes_total", "direction", "in", u->now.gate.in);
		gate_line(b, c, "gate_bytes_total", "direction", "out", u->now.gate.out);
	}
}

struct scrape {
	struct op op;
	struct daemon *d;
};

static void scraped(void *arg)
{
	struct scrape *x = arg;
	struct request *r = op_end(&x->op);
	struct daemon *d = x->d;
	struct buf b = { 0 };

	free(x);
	if (!r)
		return;
	metric(&b, "uptime_seconds", "gauge", "Since vivd started.",
	       (double)(uv_hrtime() - d->began) / NSEC_PER_SEC);
	metric(&b, "requests_total", "counter", "HTTP requests.", (double)d->count.requests);
	metric(&b, "requests_refused_total", "counter",
	       "HTTP requests that were answered with an error.", (double)d->count.refused);
	metric(&b, "events_total", "counter", "Events since vivd started.",
	       (double)d->count.events);
	metric(&b, "last_event", "gauge", "Number of the newest event.", (double)events_last(d));
	metric(&b, "cell_starts_total", "counter", "Cells that were started.",
	       (double)d->count.starts);
	metric(&b, "execs_total", "counter", "Processes that were asked for.",
	       (double)d->count.execs);
	states_put(d, &b);
	pool_put(d, &b);
	metric(&b, "jobs", "gauge", "Imports, exports and other work on images and disks under way.",
	       job_count());
	cells_put(d, &b);
	journals_put(d, &b);
	gates_put(d, &b);
	reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", b.p, b.len);
	buf_free(&b);
}

void metrics_get(struct request *r)
{
	struct scrape *x = xalloc(sizeof(*x));

	x->d = r->d;
	op_begin(r, &x->op);
	usage_refresh(r->d, scraped, x);
}
