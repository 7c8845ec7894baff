/* POST /v1/cells/{cell}/exec: a process in a running cell. Attached (the default), its output comes
 * as lines of JSON while it runs:
 *
 *	{"type":"started","proc":5,"pid":17}
 *	{"type":"stdout","text":"hello\n"}        or "base64" for what is not UTF-8; "stderr"
 *	                                          likewise
 *	{"type":"exit","exit_code":0}             with "signal" when one ended it, "timed_out"
 *	                                          when its time was up; the last line
 *
 * With Accept: application/vnd.vivarium.frames the same comes in frames, without an encoding: one
 * byte of type ('s' started, 'o' output, 'e' errors, 'x' exit), three zeros, the length in four
 * bytes (most significant first), and so many bytes; those of 's' and 'x' are the lines above.
 *
 * Its streams are pipes whose other ends the cell has, and vivd reads one when the client takes
 * more: nothing is kept in between, and a client that does not read stops the process at its next
 * write. When the client goes, the process gets SIGHUP.
 *
 * With "detach" the output goes to a log (GET .../logs?proc=N) and the answer comes at once. With
 * "detachable" it goes to a log as well, from which the client gets it: the process outlives the
 * client and vivd, and GET .../processes/N/attach gives what was missed and what follows. A log
 * keeps the last output only; who reads too slowly for it gets
 *
 *	{"type":"dropped","bytes":1048576,"cursor":9437184}      in a frame 'd'; the output goes
 *	                                                         on at the position cursor */
#include <stdio.h>
#include <string.h>

#include "api/cells.h"
#include "api/http/chunk.h"
#include "api/exec/exec.h"
#include "api/exec/logline.h"
#include "api/routes.h"

#define READ_MAX 49152
#define FRAMES "application/vnd.vivarium.frames"
#define FRAME_HEAD 8
#define SMALLEST 512 /* room that there is always */

/* ---- output ---- */

static const char *const heads[] = { NULL, "{\"type\":\"stdout\"", "{\"type\":\"stderr\"" };

static void frame_head(char *buf, char type, size_t n)
{
	const unsigned char head[FRAME_HEAD] = { (unsigned char)type,
						 0,
						 0,
						 0,
						 (unsigned char)(n >> 24),
						 (unsigned char)(n >> 16),
						 (unsigned char)(n >> 8),
						 (unsigned char)n };

	memcpy(buf, head, sizeof(head));
}

/* A frame with some output; 0: there is none now. */
static ssize_t output_frame(struct exec *x, int i, char *buf, size_t size)
{
	ssize_t n = pipe_end_read(&x->end[i], buf + FRAME_HEAD, size - FRAME_HEAD);

	if (n <= 0)
		return 0;
	frame_head(buf, i == 1 ? 'o' : 'e', (size_t)n);
	return n + FRAME_HEAD;
}

/* A line with some output; 0: there is none now. */
static ssize_t output_read(struct exec *x, int i, char *buf, size_t size)
{
	struct pipe_end *e = &x->end[i];
	char data[READ_MAX + 4];
	size_t room = MIN(chunk_room(size), (size_t)READ_MAX), kept, n = x->kept[i].n;
	ssize_t got;

	if (x->framed)
		return output_frame(x, i, buf, size);
	if (e->fd < 0 || room <= n)
		return 0;
	memcpy(data, x->kept[i].bytes, n);
	got = pipe_end_read(e, data + n, room - n);
	if (got == 0)
		return 0;
	n += (size_t)MAX(got, 0);
	x->kept[i].n = 0;
	if (!n)
		return 0;
	got = (ssize_t)chunk_line(buf, size, heads[i], data, n, got < 0, &kept);
	memcpy(x->kept[i].bytes, data + n - kept, kept);
	x->kept[i].n = kept;
	return got;
}

/* A line of its own as it is, or in a frame. */
static ssize_t line_give(const struct exec *x, char type,
			 ssize_t (*fn)(const struct exec *x, char *buf, size_t size), char *buf,
			 size_t size)
{
	ssize_t n;

	if (!x->framed)
		return fn(x, buf, size);
	n = fn(x, buf + FRAME_HEAD, size - FRAME_HEAD);
	frame_head(buf, type, (size_t)n);
	return n + FRAME_HEAD;
}

static ssize_t record_give(struct exec *x, char *buf, size_t size)
{
	struct log_reader *l = &x->log->reader;
	size_t n = MIN(l->len - l->given, size - FRAME_HEAD), head = x->framed ? FRAME_HEAD : 0;
	ssize_t dropped = exec_dropped_line(x, buf + head, size - head);
	bool err = l->head.stream == 2;

	if (dropped) {
		if (x->framed)
			frame_head(buf, 'd', (size_t)dropped);
		return dropped + (ssize_t)head;
	}
	if (!x->framed)
		return follow_line(x->log, heads[err ? 2 : 1], false, buf, size);
	frame_head(buf, err ? 'e' : 'o', n);
	memcpy(buf + FRAME_HEAD, l->data + l->given, n);
	log_reader_take(l, n);
	return (ssize_t)(n + FRAME_HEAD);
}

static ssize_t exec_read(struct request *r, char *buf, size_t size)
{
	struct exec *x = r->arg;
	ssize_t n;
	int some;

	if (x->told_exit || size < SMALLEST)
		return -1;
	if (!x->told_start) {
		x->told_start = true;
		return line_give(x, 's', exec_start_line, buf, size);
	}
	if (x->log) {
		some = follow_next(x->log);
		if (some >= 0)
			return some ? record_give(x, buf, size) : 0;
	}
	/* In turns, so that one does not starve the other. */
	x->turn ^= 1;
	for (int i = 0; i < 2; i++) {
		n = output_read(x, 1 + (x->turn ^ i), buf, size);
		if (n)
			return n;
	}
	/* What it wrote is there; who else has its streams is not waited for. */
	if (x->exited) {
		x->told_exit = true;
		return line_give(x, 'x', exec_exit_line, buf, size);
	}
	for (int i = 1; i < 3; i++)
		if (x->end[i].fd >= 0)
			pipe_end_wait(&x->end[i]);
	return 0;
}

static void exec_over(struct request *r)
{
	struct exec *x = r->arg;

	exec_hangup(x);
	if (x->input_done)
		x->input_done(x);
	exec_free(x);
}

static const struct stream exec_stream = { .read = exec_read, .end = exec_over };

/* ---- the start ---- */

static void request_started(struct exec *x)
{
	struct request *r = op_end(&x->op);

	if (x->detached && r)
		reply_json(r, 201,
			   json_pack("{s:I,s:i}", "proc", (json_int_t)x->proc, "pid", (int)x->pid));
	if (x->detached && x->input_at < x->input.len) {
		x->told_start = true; /* it stays until that is written */
		return;
	}
	if (x->detached || !r) {
		exec_hangup(x); /* nobody is there any more */
		exec_free(x);
		return;
	}
	x->r = r;
	reply_stream(r, x->framed ? FRAMES : "application/x-ndjson", &exec_stream, x);
}

static void request_failed(struct exec *x, const struct err *f)
{
	struct request *r = op_end(&x->op);

	if (r)
		reply_err(r, f);
}

static void request_ready(struct exec *x)
{
	request_wake(x->r);
}

static void request_drained(struct exec *x)
{
	if (x->detached && x->told_start)
		exec_free(x);
}

static const struct exec_ops request_ops = { .started = request_started,
					     .failed = request_failed,
					     .ready = request_ready,
					     .drained = request_drained };

static bool wants_frames(struct request *r)
{
	const char *accept = request_header(r, "Accept");

	return accept && strstr(accept, FRAMES);
}

void exec_post(struct request *r)
{
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, exec_fields, nexec_fields) : NULL;
	struct err f = { 0 };
	struct exec *x;

	if (!o)
		return;
	x = exec_new(r->d, c, &request_ops);
	x->framed = wants_frames(r);
	if (exec_start(x, c, o, &f) < 0) {
		exec_free(x);
		reply_err(r, &f);
	} else {
		op_begin(r, &x->op);
	}
	json_decref(o);
}

void exec_attach_stream(struct request *r, struct cell *c, uint32_t proc, uint64_t cursor)
{
	struct exec *x = exec_new(r->d, c, &request_ops);
	struct err f = { 0 };

	x->framed = wants_frames(r);
	if (exec_attach(x, c, proc, cursor, &f) < 0) {
		exec_free(x);
		reply_err(r, &f);
	} else {
		op_begin(r, &x->op);
	}
}
