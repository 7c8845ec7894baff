/* GET /v1/cells/{cell}/logs: what a process wrote whose output is kept: the cell's first one, or
 * proc=N. Lines of JSON, or the bytes as they were for Accept: text/plain. The keeper's files are
 * read where they lie (keeper/log.h), whether the cell runs or not, one record when the client
 * takes more. follow=1 goes on until the process ends; tail=N begins with the last N lines;
 * since=TIME leaves out what was written before; cursor=N, which each line has, goes on after that
 * line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/exec/logline.h"
#include "api/routes.h"

struct reader {
	struct request *r;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	struct follow *log;
	int64_t since; /* nanoseconds since 1970 */
	uint64_t skip; /* lines that are not wanted */
	bool follow, raw;
	bool ended; /* the process */
	struct keeper_link *link; /* that is asked for that; NULL: none */
};

/* Takes the lines that are not wanted out of the record. False: all of them. */
static bool record_cut(struct reader *x)
{
	struct log_reader *l = &x->log->reader;

	if (l->head.time < x->since)
		log_reader_take(l, l->len - l->given);
	while (x->skip && l->given < l->len) {
		const char *from = l->data + l->given;
		const char *nl = memchr(from, '\n', l->len - l->given);

		log_reader_take(l, nl ? (size_t)(nl - from) + 1 : l->len - l->given);
		x->skip -= nl != NULL;
	}
	return l->given < l->len;
}

static bool is_over(const struct reader *x)
{
	const struct cell *c = cell_by_id(x->d, x->cell);

	return !x->follow || x->ended || !c || !cell_state_is_live(c->state);
}

static ssize_t record_give(struct reader *x, char *buf, size_t size)
{
	struct log_reader *l = &x->log->reader;
	size_t n = MIN(l->len - l->given, size);
	char head[96];

	if (x->raw) {
		memcpy(buf, l->data + l->given, n);
		log_reader_take(l, n);
		return (ssize_t)n;
	}
	snprintf(head, sizeof(head), "{\"time\":\"%s\",\"stream\":\"%s\"",
		 time_text(l->head.time).str, l->head.stream == 2 ? "stderr" : "stdout");
	return follow_line(x->log, head, true, buf, size);
}

static ssize_t reader_read(struct request *r, char *buf, size_t size)
{
	struct reader *x = r->arg;
	bool over = is_over(x); /* before it is looked for more */
	int some;

	do
		some = follow_next(x->log);
	while (some == 1 && !record_cut(x));
	if (some <= 0)
		return some < 0 && over ? -1 : 0;
	return record_give(x, buf, size);
}

static void reader_ready(void *arg)
{
	struct reader *x = arg;

	request_wake(x->r);
}

static void reader_end(struct request *r)
{
	struct reader *x = r->arg;

	if (x->link)
		link_forget(x->link, x);
	follow_free(x->log);
	free(x);
}

static const struct stream reader_stream = { .read = reader_read, .end = reader_end };

/* All lines but the last n are to be skipped. One that has no end yet is one. */
static void tail_set(struct reader *x, uint64_t n)
{
	const struct log_reader *l = &x->log->reader;
	char data[LOG_CHUNK_MAX];
	struct log_head h;
	uint64_t lines = 0;
	bool open = false;

	for (int i = 0; i < 2; i++)
		for (uint64_t at = 0;
		     l->files[i] >= 0 && log_next(l->files[i], &at, &h, data) == 1;) {
			if (h.time < x->since || h.at + h.len <= l->position)
				continue;
			for (uint32_t k = 0; k < h.len; k++)
				lines += data[k] == '\n';
			open = h.len && data[h.len - 1] != '\n';
		}
	lines += open;
	x->skip = lines > n ? lines - n : 0;
}

static void process_ended(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct reader *x = arg;

	(void)m;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	x->ended = true;
	x->link = NULL;
	request_wake(x->r);
}

static void end_ask(struct reader *x, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = x->log->reader.proc };

	if (c->keeper && link_ask(c->keeper, &m, NULL, 0, process_ended, x) == 0)
		x->link = c->keeper;
}

/* False: answered. */
static bool since_read(struct request *r, int64_t *ret)
{
	bool bad = false;
	char *text = request_query(r, "since", &bad);

	if (!text)
		return !bad;
	if (!value_instant(text, time_now(), ret)) {
		reply_error(
			r, ERR_INVALID,
			"'since' is a time such as 2026-01-31T12:00:00Z, seconds since 1970, or "
			"a duration such as 10m");
		bad = true;
	}
	free(text);
	return !bad;
}

void logs_get(struct request *r)
{
	static const char *const names[] = { "proc", "follow", "tail", "since", "cursor", NULL };
	uint64_t proc = KEEP_FIRST, follow = 0, tail = UINT64_MAX, cursor = LOG_OLDEST;
	const char *accept = request_header(r, "Accept");
	int64_t since = 0;
	struct cell *c;
	struct reader *x;

	if (!request_query_only(r, names) || !request_query_number(r, "proc", UINT32_MAX, &proc) ||
	    !request_query_number(r, "follow", 1, &follow) ||
	    !request_query_number(r, "tail", UINT32_MAX, &tail) ||
	    !request_query_number(r, "cursor", INT64_MAX, &cursor) || !since_read(r, &since))
		return;
	c = request_cell(r);
	if (!c)
		return;
	x = xalloc(sizeof(*x));
	x->r = r;
	x->d = r->d;
	strcpy(x->cell, c->id);
	x->follow = follow;
	x->since = since;
	x->raw = accept && strstr(accept, "text/plain");
	x->log = follow_new(&r->d->loop, c->id, (uint32_t)proc, cursor, follow, reader_ready, x);
	if (!x->log) {
		free(x);
		reply_error(r, ERR_NO_LOG,
			    "no output of process %u is kept; only that of detached cells and "
			    "processes is",
			    (unsigned)proc);
		return;
	}
	if (tail != UINT64_MAX)
		tail_set(x, tail);
	if (follow)
		end_ask(x, c);
	reply_stream(r, x->raw ? "text/plain" : "application/x-ndjson", &reader_stream, x);
}
