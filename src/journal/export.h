/* A journal for other programs: as lines of JSON, as events of OCSF, as traces and logs of
 * OpenTelemetry. */
#ifndef VIV_JOURNAL_EXPORT_H
#define VIV_JOURNAL_EXPORT_H

#include <stdio.h>

#include "base/err.h"
#include "journal/origin.h"

/* Where an export goes: a stream, or a server by HTTP. */
struct sink {
	FILE *to; /* NULL: the server */
	const char *url;
	void *curl; /* made at the first use */
	uint64_t sent; /* requests */
};
/* One document. path: behind the URL, for servers; type: of its content. The reply must be of
 * success; what may pass is tried again with growing pauses. Headers for the server are taken from
 * OTEL_EXPORTER_OTLP_HEADERS (name=value,...), so that secrets are not arguments. */
int must_check sink_put(struct sink *s, const char *path, const char *type, const char *data,
			size_t n, struct err *e);
void sink_fini(struct sink *s);

struct exporter {
	struct sink sink;
	struct processes processes;
	char cell[48], name[80]; /* as START has them */
	int64_t first, last; /* wall */
	uint64_t records; /* that were exported */
	/* what is collected for the next document */
	struct buf batch, other; /* lines, or spans; logs */
	unsigned nbatch, nother;
	char *line; /* of mem */
	size_t nline;
	FILE *mem;
	uint8_t trace[16];
	bool failed;
	struct err *e; /* of what failed while records were forgotten */
};

struct export_format {
	const char *name;
	bool seeks; /* it needs no other records than those that are wanted, but a table */
	int (*put)(struct exporter *x, const struct journal_entry *j, struct process *p,
		   struct err *e);
	int (*end)(struct exporter *x, struct err *e); /* NULL: nothing is to be done */
	/* before a process is forgotten; NULL: nothing */
	void (*gone)(void *exporter, struct process *p);
};
extern const struct export_format export_formats[];

/* NULL: there is none of that name. */
const struct export_format *export_find(const char *name);
void exporter_init(struct exporter *x, const struct export_format *f, FILE *to, const char *url);
/* wanted: the record itself; others only tell what came before. */
int must_check exporter_follow(struct exporter *x, const struct export_format *f,
			       const struct journal_entry *j, bool wanted, struct err *e);
/* What a table of processes says, instead of all records before it: of a journal_seek. */
bool exporter_table(void *exporter, const void *data, size_t n);
int must_check exporter_end(struct exporter *x, const struct export_format *f, struct err *e);
void exporter_fini(struct exporter *x);

/* ---- of the formats ---- */

/* Adds what is in mem to the batch as a line, and sends the batch if it is large. */
int must_check export_line(struct exporter *x, struct err *e);
int must_check export_flush(struct exporter *x, struct err *e);
int must_check ocsf_put(struct exporter *x, const struct journal_entry *j, struct process *p,
			struct err *e);
int must_check otlp_put(struct exporter *x, const struct journal_entry *j, struct process *p,
			struct err *e);
int must_check otlp_end(struct exporter *x, struct err *e);
void otlp_gone(void *exporter, struct process *p);

#endif
