/* POST /v1/cells/{cell}/exec: a process in a running cell. Attached (the default), its output comes as lines of JSON while it runs:
 *
 *	{"type":"started","proc":5,"pid":17}
 *	{"type":"stdout","text":"hello\n"}        or "base64" for what is no UTF-8; "stderr" likewise
 *	{"type":"exit","exit_code":0}             with "signal" when one ended it; the last line
 *
 * With Accept: application/vnd.vivarium.frames the same comes in frames, without an encoding: one byte of type ('s' started, 'o' output, 'e' errors,
 * 'x' exit), three zeros, the length in four bytes (most significant first), and so many bytes; those of 's' and 'x' are the lines above.
 *
 * Its streams are pipes whose other ends the cell has, and vivd reads one when the client takes more: nothing is kept in between, and
 * a client that does not read stops the process at its next write. When the client goes, the process gets SIGHUP. With "detach" the output
 * goes to a log (GET .../logs?proc=N) and the answer comes at once. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/chunk.h"
#include "api/exec.h"
#include "api/routes.h"
#include "api/text.h"
#include "host/execspec.h"

#define READ_MAX 49152
#define PIPE_SIZE (256 * 1024)
#define FRAMES "application/vnd.vivarium.frames"
#define FRAME_HEAD 8
#define SMALLEST 512 /* room that there is always */

static struct list execs = LIST_INIT(execs);

static void poll_closed(uv_handle_t *h)
{
	free(h);
}

static void end_close(struct exec_end *e)
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

static void exec_free(struct exec *x)
{
	if (x->link)
		link_forget(x->link, x);
	for (int i = 0; i < 3; i++)
		end_close(&x->end[i]);
	list_remove(&x->entry);
	buf_free(&x->input);
	free(x);
}

struct exec *exec_find(const struct cell *c, uint32_t proc)
{
	struct exec *x;

	list_for_each (x, &execs, entry)
		if (x->proc == proc && !strcmp(x->cell, c->id))
			return x;
	return NULL;
}

/* ---- input ---- */

void exec_input_step(struct exec *x)
{
	struct exec_end *e = &x->end[0];

	while (e->fd >= 0 && x->input_at < x->input.len) {
		ssize_t n = write(e->fd, x->input.p + x->input_at, x->input.len - x->input_at);

		if (n < 0 && errno == EAGAIN) {
			exec_poll(x, 0, UV_WRITABLE);
			return;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) { /* it reads no more */
			end_close(e);
			break;
		}
		x->input_at += (size_t)n;
	}
	x->input.len = x->input_at = 0;
	if (x->input_ends)
		end_close(e);
	if (x->input_done) {
		void (*done)(struct exec * x) = x->input_done;

		x->input_done = NULL;
		done(x);
	}
}

/* ---- the loop ---- */

static void on_end_ready(uv_poll_t *p, int status, int events)
{
	struct exec_end *e = p->data;

	(void)status;
	(void)events;
	uv_poll_stop(p);
	if (!e)
		return;
	if (e == &e->x->end[0])
		exec_input_step(e->x);
	else
		request_wake(e->x->r);
}

void exec_poll(struct exec *x, int i, int events)
{
	struct exec_end *e = &x->end[i];

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
	uv_poll_start(e->poll, events, on_end_ready);
}

/* ---- output ---- */

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
	struct exec_end *e = &x->end[i];
	ssize_t n;

	if (e->fd < 0)
		return 0;
	do
		n = read(e->fd, buf + FRAME_HEAD, size - FRAME_HEAD);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		end_close(e);
		return 0;
	}
	frame_head(buf, i == 1 ? 'o' : 'e', (size_t)n);
	return n + FRAME_HEAD;
}

/* A line with some output; 0: there is none now. */
static ssize_t output_read(struct exec *x, int i, char *buf, size_t size)
{
	static const char *const heads[] = { NULL, "{\"type\":\"stdout\"", "{\"type\":\"stderr\"" };
	struct exec_end *e = &x->end[i];
	char data[READ_MAX + 4];
	size_t room = MIN(chunk_room(size), (size_t)READ_MAX), kept, n = e->nkept;
	ssize_t got;

	if (x->framed)
		return output_frame(x, i, buf, size);
	if (e->fd < 0 || room <= n)
		return 0;
	memcpy(data, e->kept, n);
	do
		got = read(e->fd, data + n, room - n);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got <= 0)
		end_close(e);
	n += (size_t)MAX(got, 0);
	e->nkept = 0;
	if (!n)
		return 0;
	got = (ssize_t)chunk_line(buf, size, heads[i], data, n, got <= 0, &kept);
	memcpy(e->kept, data + n - kept, kept);
	e->nkept = kept;
	return got;
}

static ssize_t exit_line(const struct exec *x, char *buf, size_t size)
{
	if (x->lost)
		return snprintf(
			buf, size,
			"{\"type\":\"exit\",\"exit_code\":137,\"reason\":\"the cell ended\"}\n");
	if (WIFSIGNALED(x->status))
		return snprintf(buf, size, "{\"type\":\"exit\",\"exit_code\":%d,\"signal\":%d}\n",
				128 + WTERMSIG(x->status), WTERMSIG(x->status));
	return snprintf(buf, size, "{\"type\":\"exit\",\"exit_code\":%d}\n",
			WEXITSTATUS(x->status));
}

static ssize_t start_line(const struct exec *x, char *buf, size_t size)
{
	return snprintf(buf, size, "{\"type\":\"started\",\"proc\":%u,\"pid\":%d}\n", x->proc,
			x->pid);
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

static ssize_t exec_read(struct request *r, char *buf, size_t size)
{
	struct exec *x = r->arg;
	ssize_t n;

	if (x->told_exit || size < SMALLEST)
		return -1;
	if (!x->told_start) {
		x->told_start = true;
		return line_give(x, 's', start_line, buf, size);
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
		return line_give(x, 'x', exit_line, buf, size);
	}
	for (int i = 1; i < 3; i++)
		if (x->end[i].fd >= 0)
			exec_poll(x, i, UV_READABLE);
	return 0;
}

static void hangup_send(struct exec *x, int sig)
{
	struct keep_msg m = {
		.type = KEEP_SIGNAL, .proc = x->proc, .a = sig, .flags = KEEP_TO_GROUP
	};

	if (link_ask(x->link, &m, NULL, 0, exec_ignore, NULL) < 0)
		return;
}

void exec_ignore(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	(void)arg;
	(void)m;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
}

static void exec_over(struct request *r)
{
	struct exec *x = r->arg;

	if (!x->exited && x->link) {
		hangup_send(x, SIGHUP);
		hangup_send(x, SIGCONT);
	}
	if (x->input_done)
		x->input_done(x);
	exec_free(x);
}

static const struct stream exec_stream = { .read = exec_read, .end = exec_over };

/* ---- the start ---- */

static void exec_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct exec *x = arg;
	struct request *r = x->op.r;

	(void)fds;
	(void)nfds;
	if (!m)
		x->link = NULL;
	if (x->r) { /* it runs already */
		x->exited = true;
		x->lost = !m || m->type != KEEP_EXITED;
		x->status = x->lost ? 0 : m->a;
		request_wake(x->r);
		return;
	}
	op_end(&x->op);
	if (!r && m && m->type == KEEP_STARTED &&
	    !x->detached) { /* who wanted it went away meanwhile */
		x->proc = m->proc;
		hangup_send(x, SIGHUP);
		hangup_send(x, SIGCONT);
	}
	if (!r || !m || m->type != KEEP_STARTED) {
		if (r && m && m->type == KEEP_FAIL && m->a) {
			struct fault f = { 0 };

			fault_note(&f, 422, m->a == 127 ? "command_not_found" : "not_executable",
				   "%s", m->text);
			reply_fault(r, &f);
		} else if (r) {
			reply_keeper(r, m);
		}
		exec_free(x);
		return;
	}
	x->proc = m->proc;
	x->pid = m->pid;
	if (x->detached) {
		reply_json(r, 201,
			   json_pack("{s:I,s:i}", "proc", (json_int_t)x->proc, "pid", (int)x->pid));
		exec_free(x);
		return;
	}
	x->r = r;
	exec_input_step(x);
	reply_stream(r, x->framed ? FRAMES : "application/x-ndjson", &exec_stream, x);
}

static const struct field fields[] = {
	{ "command", FIELD_TEXTS, true },      { "env", FIELD_MAP, false },
	{ "workdir", FIELD_TEXT, false },      { "user", FIELD_TEXT, false },
	{ "timeout", FIELD_NUMBER, false },    { "stdin", FIELD_TEXT, false },
	{ "stdin_base64", FIELD_TEXT, false }, { "stdin_open", FIELD_BOOL, false },
	{ "detach", FIELD_BOOL, false },       { "tty", FIELD_BOOL, false },
	{ "rows", FIELD_INT, false },	       { "cols", FIELD_INT, false },
};

/* The command as the kernel wants it: a descriptor, or -1. */
static int spec_make(const json_t *o, struct fault *f)
{
	const json_t *command = json_object_get(o, "command");
	json_t *env = json_object_get(o, "env"), *v;
	size_t n = json_array_size(command), i;
	char **argv = xalloc((n + 1) * sizeof(*argv));
	char **envp = xalloc((json_object_size(env) + 1) * sizeof(*envp));
	struct execspec s = { .flags = EXECSPEC_CELL_ENV,
			      .argv = argv,
			      .envp = envp,
			      .cwd = json_text(o, "workdir"),
			      .user = json_text(o, "user") };
	const char *key;
	size_t nenv = 0;
	int fd = -EINVAL;

	json_array_foreach(command, i, v) argv[i] = (char *)(uintptr_t)json_string_value(v);
	json_object_foreach(env, key, v) if (*key && !strchr(key, '=') &&
					     asprintf(&envp[nenv], "%s=%s", key,
						      json_string_value(v)) >= 0) nenv++;
	if (n && argv[0][0] && nenv == json_object_size(env))
		fd = execspec_write(&s);
	for (i = 0; i < nenv; i++)
		free(envp[i]);
	free(envp);
	free(argv);
	if (fd >= 0)
		return fd;
	if (fd == -E2BIG)
		return fault_set(f, 413, "too_large",
				 "the command and its environment are too long");
	return fault_set(f, 400, "invalid",
			 "'command' is a list that begins with a program, and names of variables "
			 "have no '='");
}

static int input_make(struct exec *x, const json_t *o, struct fault *f)
{
	const char *text = json_text(o, "stdin"), *coded = json_text(o, "stdin_base64");

	x->input_ends = !json_is_true(json_object_get(o, "stdin_open"));
	if (text && coded)
		return fault_set(f, 400, "invalid", "give 'stdin' or 'stdin_base64'");
	if (text)
		buf_add(&x->input, text, strlen(text));
	if (coded && exec_input_decode(x, coded) < 0)
		return fault_set(f, 400, "invalid", "'stdin_base64' is not base64");
	return 0;
}

int exec_input_decode(struct exec *x, const char *coded)
{
	size_t n = strlen(coded);
	ssize_t len = base64_decode(buf_more(&x->input, n / 4 * 3 + 3), coded, n);

	x->input.len -= n / 4 * 3 + 3;
	if (len < 0)
		return -1;
	x->input.len += (size_t)len;
	return 0;
}

/* The pipes; fds get the cell's ends. */
static int streams_make(struct exec *x, bool tty, int fds[3], struct fault *f)
{
	for (int i = 0; i < 3; i++) {
		int p[2];

		if (i == 2 && tty) {
			fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
			if (fds[i] < 0)
				return fault_set(f, 500, "failed", "cannot open /dev/null");
			continue;
		}
		if (pipe2(p, O_CLOEXEC) < 0)
			return fault_set(f, 503, "busy",
					 "vivd has too many open files; try again later");
		fds[i] = p[i ? 1 : 0];
		x->end[i].fd = p[i ? 0 : 1];
		fcntl(x->end[i].fd, F_SETFL, O_NONBLOCK | (i ? O_RDONLY : O_WRONLY));
		if (i)
			fcntl(x->end[i].fd, F_SETPIPE_SZ, PIPE_SIZE);
	}
	return 0;
}

static int exec_begin(struct request *r, struct cell *c, const json_t *o, struct exec *x,
		      struct fault *f)
{
	bool tty = json_is_true(json_object_get(o, "tty"));
	struct keep_msg m = { .type = KEEP_EXEC };
	int fds[4] = { -1, -1, -1, -1 }, err;
	double seconds = json_number_value(json_object_get(o, "timeout"));

	x->detached = json_is_true(json_object_get(o, "detach"));
	m.exec.flags = (tty ? KEEP_X_TTY : 0) | (x->detached ? KEEP_X_DETACH | KEEP_X_LOG : 0);
	m.exec.rows = (uint16_t)MIN(json_integer_value(json_object_get(o, "rows")), 10000);
	m.exec.cols = (uint16_t)MIN(json_integer_value(json_object_get(o, "cols")), 10000);
	m.exec.timeout_ns = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * NSEC_PER_SEC) : 0;
	if (x->detached && (json_object_get(o, "stdin") || json_object_get(o, "stdin_base64")))
		return fault_set(f, 400, "invalid", "a detached process has no input");
	err = input_make(x, o, f);
	if (!err && (fds[0] = spec_make(o, f)) < 0)
		err = -1;
	if (!err && !x->detached)
		err = streams_make(x, tty, fds + 1, f);
	if (!err) {
		int sent = link_ask(c->keeper, &m, fds, x->detached ? 1 : 4, exec_answer, x);

		if (sent == -EAGAIN)
			err = fault_set(f, 503, "busy", "the cell has too much to do; try again");
		else if (sent)
			err = fault_set(f, 409, "ended", "the cell has just ended");
	}
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!err)
		op_begin(r, &x->op);
	return err;
}

void exec_post(struct request *r)
{
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct fault f = { 0 };
	const char *accept = request_header(r, "Accept");
	struct exec *x;

	if (!o)
		return;
	if (c->state == CELL_PAUSED) {
		json_decref(o);
		reply_error(r, 409, "wrong_state", "the cell is paused; resume it first");
		return;
	}
	x = xalloc(sizeof(*x));
	x->d = r->d;
	x->link = c->keeper;
	x->framed = accept && strstr(accept, FRAMES);
	strcpy(x->cell, c->id);
	list_append(&execs, &x->entry);
	for (int i = 0; i < 3; i++)
		x->end[i].fd = -1;
	r->d->count.execs++;
	if (exec_begin(r, c, o, x, &f) < 0) {
		exec_free(x);
		reply_fault(r, &f);
	}
	json_decref(o);
}
