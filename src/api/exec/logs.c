/* GET /v1/cells/{cell}/logs: what a process wrote whose output is kept: the cell's first one, or proc=N. Lines of JSON, or the bytes as they
 * were for Accept: text/plain. The keeper's files are read where they lie (keeper/log.h), whether the cell runs or not, one record when the
 * client takes more. follow=1 goes on until the process ends; tail=N begins with the last N lines;
 * since=TIME leaves out what was written before. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/http/chunk.h"
#include "api/routes.h"
#include "keeper/log.h"
#include "keeper/run.h"

#define FOLLOW_MS 100

struct reader {
	struct request *r;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	uint32_t proc;
	int files[2]; /* the one before and the current one; -1: none */
	uint64_t at[2];
	int64_t since; /* nanoseconds since 1970 */
	uint64_t skip; /* lines that are not wanted */
	bool follow, raw;
	bool ended; /* the process */
	struct keeper_link *link; /* that is asked for that; NULL: none */
	uv_timer_t timer;
	char data[LOG_CHUNK_MAX]; /* a record that is not given yet, from given to len */
	struct log_head head;
	size_t given, len;
};

static int file_open(const struct reader *x, bool old)
{
	char name[CELL_ID_LEN + 32];
	struct err e;
	int dir = keep_cells_dir(&e), fd;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.%u.log%s", x->cell, x->proc, old ? ".old" : "");
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	close(dir);
	return fd;
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return a >= 0 && b >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
}

/* Both files, the current one first: if it becomes the old one meanwhile, that is seen, and no file is missed in between. seen: the one that
 * was read last, and needs not be read again; -1: none. False: there is no current one but seen. */
static bool files_open(struct reader *x, int seen)
{
	int now = file_open(x, false), old;

	if (now < 0 || is_same(now, seen)) {
		if (now >= 0)
			close(now);
		return false;
	}
	old = file_open(x, true);
	if (is_same(old, now) || is_same(old, seen)) {
		close(old);
		old = -1;
	}
	x->files[0] = old;
	x->files[1] = now;
	x->at[0] = x->at[1] = 0;
	return true;
}

/* The file was made the old one: what came after it follows. False: it is still the same. */
static bool file_rotate(struct reader *x)
{
	int seen = x->files[1];

	if (!files_open(x, seen))
		return false;
	close(seen);
	return true;
}

/* The lines of the record in data that are not wanted are given already. False: all of them. */
static bool record_cut(struct reader *x)
{
	x->given = 0;
	x->len = x->head.len;
	if (x->head.time < x->since)
		return false;
	while (x->skip && x->given < x->len) {
		const char *nl = memchr(x->data + x->given, '\n', x->len - x->given);

		x->given = nl ? (size_t)(nl - x->data) + 1 : x->len;
		x->skip -= nl != NULL;
	}
	return x->given < x->len;
}

/* The next record into data. */
static bool record_next(struct reader *x)
{
	for (int i = 0; i < 2; i++) {
		while (x->files[i] >= 0 && log_next(x->files[i], &x->at[i], &x->head, x->data) == 1)
			if (record_cut(x))
				return true;
		x->given = x->len = 0;
		if (i == 0 && x->files[0] >= 0) {
			close(x->files[0]);
			x->files[0] = -1;
		}
	}
	return false;
}

static bool is_over(const struct reader *x)
{
	const struct cell *c = cell_by_id(x->d, x->cell);

	return !x->follow || x->ended || !c || !cell_state_is_live(c->state);
}

static ssize_t record_give(struct reader *x, char *buf, size_t size)
{
	size_t n = x->len - x->given, kept;
	char head[96];

	if (x->raw) {
		n = MIN(n, size);
		memcpy(buf, x->data + x->given, n);
		x->given += n;
		return (ssize_t)n;
	}
	n = MIN(n, chunk_room(size));
	snprintf(head, sizeof(head), "{\"time\":\"%s\",\"stream\":\"%s\"",
		 time_text(x->head.time).str, x->head.stream == 2 ? "stderr" : "stdout");
	size = chunk_line(buf, size, head, x->data + x->given, n, true, &kept);
	x->given += n;
	return (ssize_t)size;
}

static ssize_t reader_read(struct request *r, char *buf, size_t size)
{
	struct reader *x = r->arg;
	bool over = is_over(x); /* before it is looked for more */

	if (x->given == x->len && !record_next(x) && !(file_rotate(x) && record_next(x)))
		return over ? -1 : 0;
	return record_give(x, buf, size);
}

static void reader_timer(uv_timer_t *t)
{
	struct reader *x = t->data;

	request_wake(x->r);
}

static void reader_closed(uv_handle_t *h)
{
	free(h->data);
}

static void reader_end(struct request *r)
{
	struct reader *x = r->arg;

	for (int i = 0; i < 2; i++)
		if (x->files[i] >= 0)
			close(x->files[i]);
	if (x->link)
		link_forget(x->link, x);
	uv_close((uv_handle_t *)&x->timer, reader_closed);
}

static const struct stream reader_stream = { .read = reader_read, .end = reader_end };

/* All lines but the last n are to be skipped. One that has no end yet is one. */
static void tail_set(struct reader *x, uint64_t n)
{
	uint64_t lines = 0;
	bool open = false;

	for (int i = 0; i < 2; i++)
		for (uint64_t at = 0;
		     x->files[i] >= 0 && log_next(x->files[i], &at, &x->head, x->data) == 1;) {
			if (x->head.time < x->since)
				continue;
			for (uint32_t k = 0; k < x->head.len; k++)
				lines += x->data[k] == '\n';
			open = x->head.len && x->data[x->head.len - 1] != '\n';
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
	struct keep_msg m = { .type = KEEP_WAIT, .proc = x->proc };

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
	static const char *const names[] = { "proc", "follow", "tail", "since", NULL };
	uint64_t proc = KEEP_FIRST, follow = 0, tail = UINT64_MAX;
	const char *accept = request_header(r, "Accept");
	int64_t since = 0;
	struct cell *c;
	struct reader *x;

	if (!request_query_only(r, names) || !request_query_number(r, "proc", UINT32_MAX, &proc) ||
	    !request_query_number(r, "follow", 1, &follow) ||
	    !request_query_number(r, "tail", UINT32_MAX, &tail) || !since_read(r, &since))
		return;
	c = request_cell(r);
	if (!c)
		return;
	x = xalloc(sizeof(*x));
	x->r = r;
	x->d = r->d;
	strcpy(x->cell, c->id);
	x->proc = (uint32_t)proc;
	x->follow = follow;
	x->since = since;
	x->raw = accept && strstr(accept, "text/plain");
	x->files[0] = x->files[1] = -1;
	if (!files_open(x, -1)) {
		free(x);
		reply_error(r, ERR_NO_LOG,
			    "no output of process %u is kept; a detached process's is, and a "
			    "cell's command's",
			    (unsigned)proc);
		return;
	}
	if (tail != UINT64_MAX)
		tail_set(x, tail);
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	if (follow) {
		uv_timer_start(&x->timer, reader_timer, FOLLOW_MS, FOLLOW_MS);
		end_ask(x, c);
	}
	reply_stream(r, x->raw ? "text/plain" : "application/x-ndjson", &reader_stream, x);
}
