/* See fileop.h. The input and the output of viv-files are pipes. vivd reads a frame when the client takes more, and takes more of a
 * body when there is room in the pipe: nothing is kept in between, and who does not read stops the other side.
 *
 * What comes out of a cell is a stranger's word: a frame that is too large, or that does not belong where it is, ends the operation. The
 * first frame decides about the status of the answer; what goes wrong after that breaks the connection, so that no client takes a part for the
 * whole. A client that goes away closes the pipes, and viv-files undoes what it began. */
#include "api/fileop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/execspec.h"
#include "host/memfd.h"

#define PIPE_SIZE (256 * 1024)

extern const char files_blob[], files_blob_end[];

struct end {
	int fd; /* ours of the pipe; -1: closed */
	uv_poll_t *poll;
	struct fileop *x;
};

struct fileop {
	struct op op; /* first: until it is answered */
	struct daemon *d;
	struct request *r; /* whose stream it is; NULL: not answered yet */
	struct keeper_link *link; /* NULL: the cell has ended, or it was not asked yet */
	enum fileop_answer answer;
	bool ranged, upload, sse;
	const char *type;
	uint32_t proc; /* 0: not started */
	bool exited;
	struct end in, out;
	/* the frame that is being read */
	union {
		struct files_frame frame;
		char head[sizeof(struct files_frame)];
	};
	size_t nhead; /* of head; all of it: frame is what it says */
	size_t left; /* of its bytes */
	size_t nbody;
	char *body; /* of frames that are no data; room for FILES_RECORD_MAX and a NUL */
	json_t *object; /* of FILEOP_RECORD */
	unsigned status;
	bool ended; /* FILES_END was there */
	uint64_t owed; /* of FILEOP_FILE: how many bytes are still to come */
	char *line; /* that is being given to the client; NULL: none */
	size_t line_at;
	/* the frame of the body that is being written */
	size_t frame_left;
	bool end_due; /* FILES_END is to be written */
};

/* ---- its ends ---- */

static void poll_closed(uv_handle_t *h)
{
	free(h);
}

static void end_close(struct end *e)
{
	if (e->poll) {
		e->poll->data = NULL;
		uv_close((uv_handle_t *)e->poll, poll_closed);
		e->poll = NULL;
	}
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

static void signalled(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	(void)arg;
	(void)m;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
}

static void fileop_free(struct fileop *x)
{
	struct keep_msg m = { .type = KEEP_SIGNAL, .proc = x->proc, .a = SIGHUP };

	end_close(&x->in);
	end_close(&x->out);
	if (x->link) {
		link_forget(x->link, x);
		/* It may wait for something else than its pipes. */
		if (x->proc && !x->exited && !x->ended)
			(void)!link_ask(x->link, &m, NULL, 0, signalled, NULL);
	}
	json_decref(x->object);
	free(x->line);
	free(x->body);
	free(x);
}

static void on_ready(uv_poll_t *p, int status, int events);

static void end_poll(struct fileop *x, struct end *e, int events)
{
	if (!e->poll) {
		e->poll = xalloc(sizeof(*e->poll));
		if (uv_poll_init(&x->d->loop, e->poll, e->fd)) {
			free(e->poll);
			e->poll = NULL;
			end_close(e);
			return;
		}
		e->x = x;
		e->poll->data = e;
	}
	uv_poll_start(e->poll, events, on_ready);
}

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

/* How much was read; 0: nothing now, -1: there is no more. */
static ssize_t out_read(struct fileop *x, void *buf, size_t n)
{
	ssize_t got;

	if (x->out.fd < 0)
		return -1;
	do
		got = read(x->out.fd, buf, n);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return 0;
	return got > 0 ? got : -1;
}

/* 1: there is a frame, with all of its bytes if it is no data; 0: not yet; -1: there is none, or it is not one. */
static int frame_get(struct fileop *x)
{
	ssize_t n;

	while (x->nhead < sizeof(x->head)) {
		n = out_read(x, x->head + x->nhead, sizeof(x->head) - x->nhead);
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
		n = out_read(x, x->body + x->nbody, x->left);
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

/* The record that was read, with its two texts (in place, for the caller to free()). False: it is none. */
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
	n = out_read(x, buf, MIN(size, x->left));
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
		return -1;
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
		return x->answer == FILEOP_FILE && x->owed && x->owed != UINT64_MAX ? STREAM_BROKEN
										    : -1;
	default:
		return STREAM_BROKEN;
	}
}

static ssize_t fileop_read(struct request *r, char *buf, size_t size)
{
	struct fileop *x = r->arg;
	size_t n = 0;
	ssize_t some = 0;

	while (n < size && (some = bytes_give(x, buf + n, size - n)) > 0)
		n += (size_t)some;
	if (n)
		return (ssize_t)n;
	if (some == 0)
		end_poll(x, &x->out, UV_READABLE);
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

static void fail(struct fileop *x, const struct fault *f)
{
	struct request *r = answer_begin(x);

	if (r)
		reply_fault(r, f);
	fileop_free(x);
}

static void fail_broken(struct fileop *x)
{
	struct fault f = { 0 };

	if (!x->link)
		fault_note(&f, 409, "ended", "the cell ended meanwhile");
	else
		fault_note(&f, 500, "failed",
			   "the operation broke off in the cell; its limits may not allow it, or "
			   "something in it ended it");
	fail(x, &f);
}

static void fail_told(struct fileop *x)
{
	struct files_error e;
	struct fault f = { 0 };
	char range[48];
	struct request *r = x->op.r;

	memcpy(&e, x->body, sizeof(e));
	if (e.code != ERANGE || x->answer != FILEOP_FILE) {
		file_fault(&f, e.code, x->body + sizeof(e));
		fail(x, &f);
		return;
	}
	fault_note(&f, 416, "range", "the file has %llu bytes, and none in this range",
		   (unsigned long long)e.size);
	fail(x, &f);
	snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)e.size);
	if (r)
		reply_header(r, "Content-Range", range);
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
		fail_broken(x);
		return;
	}
	free(path);
	free(second);
	if (rec.length != UINT64_MAX &&
	    (rec.size > INT64_MAX || rec.from > rec.size || rec.length > rec.size - rec.from)) {
		fail_broken(x);
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
	struct request *r;

	x->ended = true;
	if ((x->answer == FILEOP_RECORD) != (x->object != NULL)) {
		fail_broken(x);
		return;
	}
	r = answer_begin(x);
	if (x->object)
		reply_json(r, x->status, json_incref(x->object));
	else
		reply_nothing(r);
	fileop_free(x);
}

/* Before the request is answered: looks at the frames that are there. */
static void answer_step(struct fileop *x)
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
			fail_broken(x);
		}
		return;
	}
	if (got < 0)
		fail_broken(x);
	else
		end_poll(x, &x->out, UV_READABLE);
}

/* ---- the body of the request ---- */

/* Writes one frame's head; false: there is no room. */
static bool head_write(struct fileop *x, uint8_t type, size_t size)
{
	struct files_frame f = { .type = type, .size = (uint32_t)size };
	ssize_t n = write(x->in.fd, &f, sizeof(f)); /* all of it or nothing, it is short */

	if (n == sizeof(f))
		return true;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		end_close(&x->in); /* it reads no more, and says why */
	return false;
}

static size_t upload_take(struct request *r, const char *data, size_t size)
{
	struct fileop *x = container_of(r->op, struct fileop, op);
	size_t done = 0;

	while (x->in.fd >= 0 && done < size) {
		ssize_t n;

		if (!x->frame_left) {
			size_t next = MIN(size - done, (size_t)FILES_DATA_MAX);

			if (!head_write(x, FILES_DATA, next))
				break;
			x->frame_left = next;
		}
		n = write(x->in.fd, data + done, MIN(x->frame_left, size - done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			end_close(&x->in);
			break;
		}
		done += (size_t)n;
		x->frame_left -= (size_t)n;
	}
	if (x->in.fd < 0)
		return size;
	if (done < size) {
		end_poll(x, &x->in, UV_WRITABLE);
		request_wait(r);
	}
	return done;
}

static void upload_finish(struct fileop *x)
{
	if (x->in.fd >= 0 && !head_write(x, FILES_END, 0) && x->in.fd >= 0) {
		end_poll(x, &x->in, UV_WRITABLE);
		return;
	}
	x->end_due = false;
	end_close(&x->in);
}

static void upload_end(struct request *r)
{
	struct fileop *x = container_of(r->op, struct fileop, op);

	x->end_due = true;
	request_wait(r);
	upload_finish(x);
}

/* The client went away before the answer. */
static void upload_over(struct request *r)
{
	struct fileop *x = container_of(r->op, struct fileop, op);

	r->op = NULL;
	fileop_free(x);
}

static const struct upload fileop_upload = { .take = upload_take,
					     .end = upload_end,
					     .over = upload_over };

static void on_ready(uv_poll_t *p, int status, int events)
{
	struct end *e = p->data;
	struct fileop *x = e ? e->x : NULL;

	(void)status;
	(void)events;
	uv_poll_stop(p);
	if (!x)
		return;
	if (e == &x->in && x->end_due)
		upload_finish(x);
	else if (e == &x->in && x->op.r)
		request_wake(x->op.r);
	else if (e == &x->out && x->r)
		request_wake(x->r);
	else if (e == &x->out)
		answer_step(x);
}

/* ---- the start ---- */

/* viv-files as a memory file that nobody can write, made once. */
static int program_fd(void)
{
	static int fd = -1;
	char path[40];
	int made;

	if (fd >= 0)
		return fd;
	made = memfd_sealed("viv-files", files_blob, (size_t)(files_blob_end - files_blob));
	if (made < 0)
		return made;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	close(made);
	return fd < 0 ? -errno : fd;
}

static void keeper_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct fileop *x = arg;

	signalled(NULL, m, fds, nfds);
	if (m && m->type == KEEP_STARTED) {
		x->proc = m->proc;
		return;
	}
	x->exited = true;
	if (!m)
		x->link = NULL;
	/* Its streams tell the rest, also that they ended. */
	if (!m || m->type == KEEP_EXITED || x->r)
		return;
	if (x->op.r) {
		struct request *r = answer_begin(x);

		reply_keeper(r, m);
	}
	fileop_free(x);
}

static int pipes_make(struct fileop *x, int fds[3])
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	fds[0] = in[0];
	x->in.fd = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	fds[1] = out[1];
	x->out.fd = out[0];
	fds[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fcntl(x->in.fd, F_SETFL, O_NONBLOCK | O_WRONLY);
	fcntl(x->out.fd, F_SETFL, O_NONBLOCK | O_RDONLY);
	fcntl(x->in.fd, F_SETPIPE_SZ, PIPE_SIZE);
	fcntl(x->out.fd, F_SETPIPE_SZ, PIPE_SIZE);
	return fds[2] < 0 ? -errno : 0;
}

static int spec_make(const struct fileop_spec *s)
{
	char *argv[FILEOP_WORDS + 2] = { (char *)(uintptr_t) "viv-files" };
	struct execspec e = { .argv = argv, .cwd = "/", .user = s->user ? s->user : "0:0" };

	for (unsigned i = 0; i < FILEOP_WORDS && s->words[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)s->words[i];
	return execspec_write(&e);
}

/* Asks the keeper for it: 0 or -errno. */
static int fileop_launch(struct fileop *x, struct keeper_link *l, const struct fileop_spec *s)
{
	struct keep_msg m = { .type = KEEP_EXEC, .exec.flags = KEEP_X_PROGRAM | KEEP_X_QUIET };
	int fds[5] = { -1, -1, -1, -1, program_fd() };
	int err = fds[4] < 0 ? fds[4] : pipes_make(x, fds + 1);

	if (!err && (fds[0] = spec_make(s)) < 0)
		err = fds[0];
	if (!err)
		err = link_ask(l, &m, fds, 5, keeper_answer, x);
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (err)
		return err;
	x->link = l;
	if (!x->upload)
		end_close(&x->in);
	end_poll(x, &x->out, UV_READABLE);
	return 0;
}

void fileop_begin(struct request *r, struct cell *c, const struct fileop_spec *s)
{
	const char *accept = request_header(r, "Accept");
	struct fileop *x = xalloc(sizeof(*x));
	int err;

	x->d = r->d;
	x->answer = s->answer;
	x->ranged = s->ranged;
	x->upload = s->upload;
	x->type = s->type;
	x->sse = s->answer == FILEOP_EVENTS && accept && strstr(accept, "text/event-stream");
	x->in.fd = x->out.fd = -1;
	x->body = xalloc(FILES_RECORD_MAX + 1);
	err = fileop_launch(x, c->keeper, s);
	if (err) {
		fileop_free(x);
		if (err == -EPIPE)
			reply_error(r, 409, "ended", "the cell has just ended");
		else
			reply_error(r, 503, "busy",
				    "vivd or the cell has too much to do; try again later");
		return;
	}
	if (!s->upload) {
		op_begin(r, &x->op);
		return;
	}
	x->op.r = r;
	r->op = &x->op;
	r->upload = &fileop_upload;
}
