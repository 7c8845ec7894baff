/* What viv-files says, as the answer to a request; see fileop.h.
 *
 * What comes out of a cell is a stranger's word: a frame that is too large, or that does not belong
 * where it is, ends the operation. The first frame decides about the status of the answer; what
 * goes wrong after that breaks the connection, so that no client takes a part for the whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/files/private.h"

/* ---- frames ---- */

static bool frame_is_sane(const struct files_frame *f)
{
	switch (f->type) {
	case FILES_DATA:
		return f->size > 0 && f->size <= FILES_DATA_MAX;
	case FILES_END:
		return f->size == 0;
	case FILES_RECORD:
		return f->size >= sizeof(struct files_record) && f->size <= FILES_RECORD_MAX;
	case FILES_ERROR:
		return f->size >= sizeof(struct files_error) &&
		       f->size <= sizeof(struct files_error) + FILES_TEXT;
	default:
		return false;
	}
}

/* 1: there is a frame, with all of its bytes if it is no data; 0: not yet; -1: there is none, or it
 * is not one. */
static int frame_get(struct fileop *x)
{
	ssize_t n;

	while (x->nhead < sizeof(x->head)) {
		n = pipe_end_read(&x->out, x->head + x->nhead, sizeof(x->head) - x->nhead);
		if (n <= 0)
			return (int)n;
		x->nhead += (size_t)n;
		if (x->nhead < sizeof(x->head))
			continue;
		if (!frame_is_sane(&x->frame))
			return -1;
		x->left = x->frame.size;
		x->nbody = 0;
	}
	while (x->frame.type != FILES_DATA && x->left) {
		n = pipe_end_read(&x->out, x->body + x->nbody, x->left);
		if (n <= 0)
			return (int)n;
		x->nbody += (size_t)n;
		x->left -= (size_t)n;
	}
	x->body[x->nbody] = '\0';
	return 1;
}

static void frame_done(struct fileop *x)
{
	x->nhead = 0;
}

/* The record that was read, with its two texts (in place, for the caller to free()). False: it is
 * none. */
static bool record_get(struct fileop *x, struct files_record *rec, char **path, char **second)
{
	const char *text = x->body + sizeof(*rec);

	memcpy(rec, x->body, sizeof(*rec));
	if (rec->npath > FILES_PATH || rec->nlink_text > FILES_PATH ||
	    x->nbody != sizeof(*rec) + rec->npath + rec->nlink_text)
		return false;
	*path = xstrndup(text, rec->npath);
	*second = xstrndup(text + rec->npath, rec->nlink_text);
	return true;
}

static json_t *record_json(struct fileop *x, struct files_record *rec)
{
	char *path, *second;
	json_t *o;

	if (!record_get(x, rec, &path, &second))
		return NULL;
	o = x->answer == FILEOP_EVENTS ? file_event_json(rec, path, second)
				       : file_json(rec, path, second);
	free(path);
	free(second);
	return o;
}

/* ---- the end of a visit ---- */

static void answer_deliver(struct fileop *x);

static void visit_left(struct visitor *w)
{
	struct fileop *x = container_of(w, struct fileop, visitor);

	x->leaving = false;
	if (x->r)
		request_wake(x->r);
	else
		answer_deliver(x);
}

/* Who sees the end of an answer may use the cell's disk: a visit is over before it. False:
 * visit_left() tells later. */
static bool disk_is_free(struct fileop *x)
{
	if (x->visits && !x->leaving) {
		x->visits = false;
		x->leaving = !visit_end(&x->visitor, visit_left);
	}
	return !x->leaving;
}

/* ---- the answer as a stream ---- */

/* The record as a line. False: it is none. */
static bool line_make(struct fileop *x)
{
	struct files_record rec;
	json_t *o = record_json(x, &rec);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	if (!text)
		return false;
	if (asprintf(&x->line, x->sse ? "data: %s\n\n" : "%s%s", text, x->sse ? "" : "\n") < 0)
		x->line = NULL;
	free(text);
	x->line_at = 0;
	return x->line;
}

/* Some of a frame of data. */
static ssize_t data_give(struct fileop *x, char *buf, size_t size)
{
	ssize_t n;

	if (x->answer != FILEOP_FILE && x->answer != FILEOP_BYTES)
		return STREAM_BROKEN;
	/* More than was promised is nobody's. */
	if (x->answer == FILEOP_FILE && x->left > x->owed)
		return STREAM_BROKEN;
	n = pipe_end_read(&x->out, buf, MIN(size, x->left));
	if (n <= 0)
		return n < 0 ? STREAM_BROKEN : 0;
	x->left -= (size_t)n;
	if (x->answer == FILEOP_FILE && x->owed != UINT64_MAX)
		x->owed -= (uint64_t)n;
	if (!x->left)
		frame_done(x);
	return n;
}

static ssize_t line_give(struct fileop *x, char *buf, size_t size)
{
	size_t n = MIN(size, strlen(x->line) - x->line_at);

	memcpy(buf, x->line + x->line_at, n);
	x->line_at += n;
	if (!x->line[x->line_at]) {
		free(x->line);
		x->line = NULL;
	}
	return (ssize_t)n;
}

/* The next bytes; 0: none now. */
static ssize_t bytes_give(struct fileop *x, char *buf, size_t size)
{
	int got;

	if (x->line)
		return line_give(x, buf, size);
	if (x->ended)
		return disk_is_free(x) ? -1 : 0;
	got = frame_get(x);
	if (got <= 0)
		return got < 0 ? STREAM_BROKEN : 0;
	switch (x->frame.type) {
	case FILES_DATA:
		return data_give(x, buf, size);
	case FILES_RECORD:
		if ((x->answer != FILEOP_LINES && x->answer != FILEOP_EVENTS) || !line_make(x))
			return STREAM_BROKEN;
		frame_done(x);
		return line_give(x, buf, size);
	case FILES_END:
		x->ended = true;
		if (x->answer == FILEOP_FILE && x->owed && x->owed != UINT64_MAX)
			return STREAM_BROKEN;
		return disk_is_free(x) ? -1 : 0;
	default:
		return STREAM_BROKEN;
	}
}

static ssize_t fileop_read(struct request *r, char *buf, size_t size)
{
	struct fileop *x = r->arg;
	size_t n = 0;
	ssize_t some = 0;

	while (!x->broken && n < size && (some = bytes_give(x, buf + n, size - n)) > 0)
		n += (size_t)some;
	/* What comes behind it is not looked at any more, also when there is something to give
	 * before. */
	x->broken |= some == STREAM_BROKEN;
	if (n)
		return (ssize_t)n;
	if (x->broken)
		return STREAM_BROKEN;
	if (some == 0 && !x->ended && !pipe_end_wait(&x->out))
		return STREAM_BROKEN;
	return some;
}

static void fileop_over(struct request *r)
{
	fileop_free(r->arg);
}

static const struct stream fileop_stream = { .read = fileop_read, .end = fileop_over };

/* ---- the answer ---- */

/* It is answered: what is left of a body is thrown away by the server. */
static struct request *answer_begin(struct fileop *x)
{
	struct request *r = op_end(&x->op);

	if (r)
		r->upload = NULL;
	return r;
}

/* The error, the object, or nothing. */
static void answer_deliver(struct fileop *x)
{
	struct request *r = answer_begin(x);
	char range[48];

	if (r && x->err.kind)
		reply_err(r, &x->err);
	else if (r && x->object)
		reply_json(r, x->status, json_incref(x->object));
	else if (r)
		reply_nothing(r);
	if (r && x->err.kind == ERR_RANGE) {
		snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)x->size);
		reply_header(r, "Content-Range", range);
	}
	fileop_free(x);
}

void fileop_fail(struct fileop *x)
{
	pipe_end_close(&x->in);
	pipe_end_close(&x->out);
	x->ended = true;
	if (disk_is_free(x))
		answer_deliver(x);
}

void fileop_broken(struct fileop *x, const struct err *why)
{
	const struct cell *c = cell_by_id(x->d, x->cell);
	bool runs = c && (c->state == CELL_RUNNING || c->state == CELL_PAUSED);

	if (x->visits && c && cell_state_is_live(c->state))
		err_note(&x->err, ERR_BUSY, "the cell is being started" REMEDY "try again");
	else if (x->lost || (!x->visits && !runs))
		err_note(&x->err, ERR_ENDED, "the cell ended meanwhile");
	else if (why)
		x->err = *why;
	else
		err_note(&x->err, ERR_FAILED,
			 "the operation broke off in the cell; its limits may not allow it, or "
			 "something in it ended it");
	fileop_fail(x);
}

static void fail_told(struct fileop *x)
{
	struct files_error e;

	memcpy(&e, x->body, sizeof(e));
	if (e.code == ERANGE && x->answer == FILEOP_FILE) {
		x->size = e.size;
		err_note(&x->err, ERR_RANGE, "the file has %llu bytes, and none in this range",
			 (unsigned long long)e.size);
	} else {
		file_err(&x->err, e.code, x->body + sizeof(e));
	}
	fileop_fail(x);
}

static void stream_begin(struct fileop *x)
{
	static const char *const types[] = {
		[FILEOP_LINES] = "application/x-ndjson", [FILEOP_EVENTS] = "application/x-ndjson"
	};
	struct request *r = answer_begin(x);

	x->r = r;
	reply_stream(r,
		     x->sse			 ? "text/event-stream"
		     : x->answer == FILEOP_BYTES ? x->type
						 : types[x->answer],
		     &fileop_stream, x);
}

/* The record that tells of the bytes that follow. */
static void file_begin(struct fileop *x)
{
	struct files_record rec;
	char range[80], *path, *second;
	struct request *r;

	if (!record_get(x, &rec, &path, &second)) {
		fileop_broken(x, NULL);
		return;
	}
	free(path);
	free(second);
	if (rec.length != UINT64_MAX &&
	    (rec.size > INT64_MAX || rec.from > rec.size || rec.length > rec.size - rec.from)) {
		fileop_broken(x, NULL);
		return;
	}
	frame_done(x);
	x->owed = rec.length;
	r = answer_begin(x);
	x->r = r;
	x->ranged &= rec.length != UINT64_MAX;
	reply_stream_sized(r, x->ranged ? 206 : 200, "application/octet-stream",
			   rec.length == UINT64_MAX ? MHD_SIZE_UNKNOWN : rec.length, &fileop_stream,
			   x);
	reply_header(r, "Accept-Ranges", "bytes");
	if (!x->ranged)
		return;
	snprintf(range, sizeof(range), "bytes %llu-%llu/%llu", (unsigned long long)rec.from,
		 (unsigned long long)(rec.from + rec.length - 1), (unsigned long long)rec.size);
	reply_header(r, "Content-Range", range);
}

/* A record that is the whole answer. False: it is none, or there was one. */
static bool object_take(struct fileop *x)
{
	struct files_record rec;

	if (x->answer != FILEOP_RECORD || x->object)
		return false;
	x->object = record_json(x, &rec);
	x->status = rec.created == 1 ? 201 : 200;
	frame_done(x);
	return x->object;
}

static void answer_end(struct fileop *x)
{
	x->ended = true;
	if ((x->answer == FILEOP_RECORD) != (x->object != NULL))
		fileop_broken(x, NULL);
	else if (disk_is_free(x))
		answer_deliver(x);
}

void fileop_answer_step(struct fileop *x)
{
	int got;

	if (!x->op.r) { /* nobody waits any more */
		fileop_free(x);
		return;
	}
	while ((got = frame_get(x)) > 0) {
		bool streams = x->answer == FILEOP_LINES || x->answer == FILEOP_EVENTS ||
			       x->answer == FILEOP_BYTES;

		if (x->frame.type == FILES_ERROR) {
			fail_told(x);
		} else if (streams) {
			stream_begin(x);
		} else if (x->frame.type == FILES_RECORD && x->answer == FILEOP_FILE) {
			file_begin(x);
		} else if (x->frame.type == FILES_RECORD && object_take(x)) {
			continue;
		} else if (x->frame.type == FILES_END && x->answer != FILEOP_FILE) {
			answer_end(x);
		} else {
			fileop_broken(x, NULL);
		}
		return;
	}
	if (got == 0 && pipe_end_wait(&x->out))
		return;
	/* It has ended; its keeper knows whether the cell has, too. */
	if (x->out.fd < 0 && x->link)
		return;
	fileop_broken(x, NULL);
}
