/* GET /v1/cells/{cell}/logs: what a process wrote whose output is kept: the cell's first one, or proc=N. Lines of JSON, or the bytes as they
 * were for Accept: text/plain. The keeper's files are read where they lie (keeper/log.h), whether the cell runs or not, one record when the
 * client takes more. follow=1 goes on until the process or the cell ends; tail=N begins with the last N lines, since=MS with what was
 * written at that time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/chunk.h"
#include "api/routes.h"
#include "keeper/log.h"

#define FOLLOW_MS 100

struct reader {
	struct request *r;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	uint32_t proc;
	int files[2]; /* the one before and the current one; -1: none */
	uint64_t at[2];
	bool follow, raw;
	bool ended; /* the process */
	uint64_t skip; /* lines that are not wanted */
	int64_t since;
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

/* The file was made the old one: the new one follows. False: it is still the same. */
static bool file_rotate(struct reader *x)
{
	struct stat now, was;
	int fd = file_open(x, false);

	if (fd < 0)
		return false;
	if (x->files[1] >= 0 &&
	    (fstat(fd, &now) < 0 || fstat(x->files[1], &was) < 0 || now.st_ino == was.st_ino)) {
		close(fd);
		return false;
	}
	if (x->files[1] >= 0)
		close(x->files[1]);
	x->files[1] = fd;
	x->at[1] = 0;
	return true;
}

/* Passes over lines that are not wanted; false: nothing of the record is left. */
static bool record_skip(struct reader *x)
{
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
		while (x->files[i] >= 0 &&
		       log_next(x->files[i], &x->at[i], &x->head, x->data) == 1) {
			x->given = 0;
			x->len = x->head.len;
			if (x->head.time >= x->since && record_skip(x))
				return true;
			x->given = x->len;
		}
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
	struct cell *c = cell_by_id(x->d, x->cell);

	if (c && c->keeper)
		link_forget(c->keeper, x);

	for (int i = 0; i < 2; i++)
		if (x->files[i] >= 0)
			close(x->files[i]);
	uv_close((uv_handle_t *)&x->timer, reader_closed);
}

static const struct stream reader_stream = { .read = reader_read, .end = reader_end };

static uint64_t lines_count(struct reader *x)
{
	uint64_t lines = 0;
	struct log_head h;
	bool open = false;

	for (int i = 0; i < 2; i++) {
		uint64_t at = 0;

		while (x->files[i] >= 0 && log_next(x->files[i], &at, &h, x->data) == 1) {
			if (h.time < x->since)
				continue;
			for (uint32_t k = 0; k < h.len; k++)
				lines += x->data[k] == '\n';
			open = h.len && x->data[h.len - 1] != '\n';
		}
	}
	return lines + open;
}

static void process_ended(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct reader *x = arg;

	(void)m;
	(void)fds;
	(void)nfds;
	x->ended = true;
	request_wake(x->r);
}

/* Its end is waited for; what it wrote before that is in the file by then. */
static void follow_begin(struct reader *x, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = x->proc };

	x->ended = c->keeper && link_ask(c->keeper, &m, NULL, 0, process_ended, x) < 0;
	uv_timer_start(&x->timer, reader_timer, FOLLOW_MS, FOLLOW_MS);
}

void logs_get(struct request *r)
{
	static const char *const names[] = { "proc", "follow", "tail", "since", NULL };
	uint64_t proc = KEEP_FIRST, follow = 0, tail = UINT64_MAX, since = 0, lines;
	const char *accept = request_header(r, "Accept");
	struct cell *c;
	struct reader *x;

	if (!request_query_only(r, names) || !request_query_number(r, "proc", UINT32_MAX, &proc) ||
	    !request_query_number(r, "follow", 1, &follow) ||
	    !request_query_number(r, "tail", UINT32_MAX, &tail) ||
	    !request_query_number(r, "since", (uint64_t)(INT64_MAX / 1000000), &since))
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
	x->raw = accept && strstr(accept, "text/plain");
	x->since = (int64_t)since * 1000000;
	x->files[0] = file_open(x, true);
	x->files[1] = file_open(x, false);
	if (x->files[1] < 0) {
		if (x->files[0] >= 0)
			close(x->files[0]);
		free(x);
		reply_error(r, 404, "no_log",
			    "no output of process %u is kept; a detached process's is, and a "
			    "cell's command's",
			    (unsigned)proc);
		return;
	}
	lines = tail != UINT64_MAX ? lines_count(x) : 0;
	x->skip = lines > tail ? lines - tail : 0;
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	if (follow)
		follow_begin(x, c);
	reply_stream(r, x->raw ? "text/plain" : "application/x-ndjson", &reader_stream, x);
}
