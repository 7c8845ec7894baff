/* See job.h. The process is started by a thread. Its end is seen by its descriptor; what is left in
 * its pipes then is still read. */
#include "api/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/http/pipeend.h"
#include "daemon/cells/cells.h"
#include "daemon/keepers/program.h"
#include "store/disk.h"
#include "store/store.h"

#define JOBS_MAX 32
#define STAYING_MAX 128
#define LINE_MAX_BYTES 65536
#define NOTES_MAX 1000

struct job {
	struct op op; /* first: until it is answered */
	struct job_options o;
	struct daemon *d;
	struct request *r; /* that reads the answer bit by bit; NULL: none */
	uv_work_t work;
	uv_poll_t *end;
	pid_t pid; /* 0: not started yet; or -errno */
	int pidfd;
	int fds[PROGRAM_FDS]; /* for the process */
	struct pipe_end in, out, said;
	struct buf words; /* each with its NUL */
	struct buf out_line, said_line; /* what came since the last newline */
	struct buf body; /* for the client, before what is in the pipe */
	size_t body_at;
	json_t *result; /* the last object; NULL: none yet */
	json_t *instead; /* of that, to be answered; NULL: that itself */
	json_t *problems, *repairs; /* of a verdict: texts */
	json_t *warnings;
	struct err f; /* kind 0: none */
	bool cancelled, exited, ended;
	int status; /* of the process, as waitpid gives it */
	char cell[CELL_ID_LEN + 1], text[DISK_NAME_MAX + TAG_MAX + 2];
};

static unsigned njobs, nstaying;

static unsigned *counted(const struct job_options *o)
{
	return o->stays ? &nstaying : &njobs;
}

unsigned job_count(void)
{
	return njobs;
}

struct daemon *job_daemon(const struct job *j)
{
	return j->d;
}

const char *job_cell(const struct job *j)
{
	return j->cell;
}

const char *job_text(const struct job *j)
{
	return j->text;
}

void job_note(struct job *j, const char *cell, const char *text)
{
	snprintf(j->cell, sizeof(j->cell), "%s", cell);
	snprintf(j->text, sizeof(j->text), "%s", text);
}

void job_result_set(struct job *j, json_t *answer)
{
	j->instead = json_incref(answer);
}

/* ---- the end ---- */

static void end_closed(uv_handle_t *h)
{
	free(h);
}

/* Nobody asks for it any more, and its process is gone. */
static void job_free(struct job *j)
{
	for (int i = 0; i < PROGRAM_FDS; i++)
		if (j->fds[i] >= 0)
			close(j->fds[i]);
	if (j->end)
		uv_close((uv_handle_t *)j->end, end_closed);
	if (j->pidfd >= 0)
		close(j->pidfd);
	pipe_end_close(&j->in);
	pipe_end_close(&j->out);
	pipe_end_close(&j->said);
	buf_free(&j->words);
	buf_free(&j->out_line);
	buf_free(&j->said_line);
	buf_free(&j->body);
	json_decref(j->result);
	json_decref(j->instead);
	json_decref(j->problems);
	json_decref(j->repairs);
	json_decref(j->warnings);
	*counted(&j->o) -= 1;
	free(j);
}

/* The client went away. The process's input stays open: what it got must not look whole. Its output
 * is closed where nobody reads it any more, or a write that waits for room would never see the
 * signal. */
static void job_leave(struct job *j)
{
	bool exited = j->exited;

	j->op.r = NULL;
	j->r = NULL;
	j->cancelled = true;
	if (j->exited)
		job_free(j);
	else if (j->pid > 0)
		kill(-j->pid, SIGTERM);
	if (!exited && j->o.answer >= JOB_LINES)
		pipe_end_close(&j->out);
}

static void op_gone(struct op *op)
{
	job_leave(container_of(op, struct job, op));
}

/* ---- what it says ---- */

static void body_line(struct job *j, const char *type, json_t *o)
{
	json_t *all = json_pack("{s:s}", "type", type);
	char *text;

	json_object_update(all, o);
	text = json_dumps(all, JSON_COMPACT);
	if (text) {
		buf_add(&j->body, text, strlen(text));
		buf_add(&j->body, "\n", 1);
	}
	free(text);
	json_decref(all);
}

static void text_append(json_t **list, const char *text)
{
	if (!*list)
		*list = json_array();
	if (text && json_array_size(*list) < NOTES_MAX)
		json_array_append_new(*list, json_clean(text));
}

static const struct stream job_stream;

static void progress_take(struct job *j, json_t *progress)
{
	struct request *r;

	/* One that does not read gets the next that it reads. */
	if (j->o.answer != JOB_PROGRESS || j->body.len > j->body_at)
		return;
	body_line(j, "progress", progress);
	if (j->r) {
		request_wake(j->r);
		return;
	}
	r = op_end(&j->op);
	if (!r)
		return;
	j->r = r;
	reply_stream(r, "application/x-ndjson", &job_stream, j);
}

/* The first failure is the cause of the last, and knows best of what kind it is and what to do. */
static void failure_take(struct job *j, const json_t *o)
{
	struct err before = j->f;

	json_err_get(o, &j->f);
	if (j->f.kind == ERR_FAILED && j->o.failed)
		j->f.kind = j->o.failed;
	if (!before.kind)
		return;
	err_cause(&j->f, before.message);
	err_cause(&j->f, before.cause);
	j->f.kind = before.kind;
	if (before.remedy[0])
		strcpy(j->f.remedy, before.remedy);
}

static void problem_take(struct job *j, const char *message, const char *cause)
{
	char line[2048];

	snprintf(line, sizeof(line), "%s%s%s", message, cause ? ": " : "", cause ? cause : "");
	text_append(&j->problems, line);
}

static void said_line(struct job *j, const char *line, size_t n)
{
	json_t *o = json_loadb(line, n, 0, NULL);
	const char *code = json_string_value(json_object_get(o, "code"));
	const char *message = json_string_value(json_object_get(o, "message"));

	/* What a kernel says comes as the line that a terminal would get. */
	if (!o && n > 5 && !strncmp(line, "viv: ", 5)) {
		char *text = xstrndup(line + 5, n - 5);

		text_append(&j->warnings, text);
		free(text);
	}
	if (json_is_object(json_object_get(o, "progress")))
		progress_take(j, json_object_get(o, "progress"));
	else if (code && message && !strcmp(code, "warning"))
		text_append(&j->warnings, message);
	else if (j->o.verdict && code && message)
		problem_take(j, message, json_string_value(json_object_get(o, "cause")));
	if (code && message && strcmp(code, "warning") != 0)
		failure_take(j, o);
	json_decref(o);
}

/* What comes before the last line is a problem that was found, or repaired. */
static void out_line(struct job *j, const char *line, size_t n)
{
	json_t *o = json_loadb(line, n, 0, NULL);

	if (json_is_object(o)) {
		const char *repaired = json_string_value(json_object_get(j->result, "repair"));

		if (repaired)
			text_append(&j->repairs, repaired);
		else if (j->result)
			text_append(&j->problems, json_string_value(json_object_iter_value(
							  json_object_iter(j->result))));
		json_decref(j->result);
		j->result = json_incref(o);
	}
	json_decref(o);
}

/* Gives whole lines to fn. Of one that is too long, nothing. */
static void lines_read(struct job *j, struct pipe_end *e, struct buf *b,
		       void (*fn)(struct job *j, const char *line, size_t n))
{
	char data[16384], *p, *nl;
	ssize_t n;

	while ((n = pipe_end_read(e, data, sizeof(data))) > 0)
		for (p = data; p < data + n; p = nl + 1) {
			nl = memchr(p, '\n', (size_t)(data + n - p));
			if (b->len < LINE_MAX_BYTES)
				buf_add(b, p, (size_t)((nl ? nl : data + n) - p));
			if (!nl)
				break;
			if (b->len < LINE_MAX_BYTES)
				fn(j, (char *)b->p, b->len);
			b->len = 0;
		}
	if (n == 0 && !j->exited)
		pipe_end_wait(e);
}

/* ---- the answer ---- */

static bool job_is_done(const struct job *j)
{
	return WIFEXITED(j->status) &&
	       (!WEXITSTATUS(j->status) || (j->o.verdict && j->result != NULL));
}

static void failure_complete(struct job *j)
{
	if (!j->f.kind && WIFSIGNALED(j->status))
		err_note(&j->f, ERR_FAILED, "%s was ended by signal %d", j->o.program,
			 WTERMSIG(j->status));
	else if (!j->f.kind)
		err_note(&j->f, ERR_FAILED, "%s failed without a reason", j->o.program);
}

/* What it came to, as a line. */
static void end_line(struct job *j, bool done)
{
	json_t *o = done ? json_incref(j->result) : json_err(&j->f);

	if (!done || j->o.answer == JOB_PROGRESS)
		body_line(j, done ? "end" : "error", o);
	json_decref(o);
}

static ssize_t body_give(struct job *j, char *buf, size_t size)
{
	size_t n = MIN(size, j->body.len - j->body_at);

	memcpy(buf, j->body.p + j->body_at, n);
	j->body_at += n;
	if (j->body_at == j->body.len)
		j->body.len = j->body_at = 0;
	return (ssize_t)n;
}

static ssize_t stream_read(struct request *r, char *buf, size_t size)
{
	struct job *j = r->arg;
	ssize_t n;

	if (j->body.len > j->body_at)
		return body_give(j, buf, size);
	if (j->o.answer >= JOB_LINES) {
		n = pipe_end_read(&j->out, buf, size);
		if (n > 0)
			return n;
		if (n == 0 && !j->exited && !pipe_end_wait(&j->out))
			return STREAM_BROKEN;
	}
	if (!j->exited)
		return 0;
	if (!j->ended && j->o.answer != JOB_BYTES) {
		j->ended = true;
		end_line(j, job_is_done(j));
		if (j->body.len)
			return body_give(j, buf, size);
	}
	return j->o.answer == JOB_BYTES && !job_is_done(j) ? STREAM_BROKEN : -1;
}

static void stream_end(struct request *r)
{
	job_leave(r->arg);
}

static const struct stream job_stream = { .read = stream_read, .end = stream_end };

/* Its first bytes decide that it is answered with what it writes. */
static void bytes_answer(struct job *j)
{
	char data[16384];
	ssize_t n = j->r ? 0 : pipe_end_read(&j->out, data, sizeof(data));
	struct request *r;

	if (n == 0 && !j->r && !j->exited)
		pipe_end_wait(&j->out);
	if (n <= 0)
		return;
	buf_add(&j->body, data, (size_t)n);
	r = op_end(&j->op);
	if (!r)
		return;
	j->r = r;
	reply_stream(r, j->o.answer == JOB_LINES ? "application/x-ndjson" : j->o.type, &job_stream,
		     j);
}

static void object_reply(struct job *j, struct request *r)
{
	json_t *answer = j->instead ? j->instead : j->result;

	if (j->o.status == 204 || !answer)
		reply_nothing(r);
	else
		reply_json(r, j->o.status, json_incref(answer));
}

/* Nothing was sent yet. */
static void job_answer(struct job *j)
{
	bool done = job_is_done(j);
	struct request *r = op_end(&j->op);

	if (!r) {
		job_free(j);
		return;
	}
	r->upload = NULL;
	if (done && j->o.answer >= JOB_PROGRESS) {
		j->r = r;
		reply_stream(r, j->o.answer == JOB_BYTES ? j->o.type : "application/x-ndjson",
			     &job_stream, j);
		return;
	}
	if (done)
		object_reply(j, r);
	else
		reply_err(r, &j->f);
	job_free(j);
}

static void result_complete(struct job *j)
{
	if (j->result && j->o.verdict)
		json_object_set_new(j->result, "problems",
				    j->problems ? json_incref(j->problems) : json_array());
	if (j->result && j->repairs)
		json_object_set(j->result, "repairs", j->repairs);
	if (j->result && j->warnings)
		json_object_set(j->result, "warnings", j->warnings);
}

/* The process is gone. */
static void job_end(struct job *j)
{
	j->exited = true;
	lines_read(j, &j->said, &j->said_line, said_line);
	if (j->o.answer < JOB_LINES)
		lines_read(j, &j->out, &j->out_line, out_line);
	else if (!j->r && j->op.r)
		bytes_answer(j);
	pipe_end_close(&j->in);
	result_complete(j);
	if (job_is_done(j) && j->o.done)
		j->o.done(j, j->result);
	if (!job_is_done(j))
		failure_complete(j);
	if (j->r)
		request_wake(j->r);
	else
		job_answer(j);
}

/* ---- the process ---- */

static void on_end(uv_poll_t *p, int status, int events)
{
	struct job *j = p->data;

	(void)status;
	(void)events;
	uv_poll_stop(p);
	if (waitpid(j->pid, &j->status, WNOHANG) != j->pid)
		j->status = SIGKILL;
	job_end(j);
}

static void out_ready(struct pipe_end *e)
{
	struct job *j = e->owner;

	if (j->o.answer < JOB_LINES)
		lines_read(j, &j->out, &j->out_line, out_line);
	else if (j->r)
		request_wake(j->r);
	else
		bytes_answer(j);
}

static void said_ready(struct pipe_end *e)
{
	struct job *j = e->owner;

	lines_read(j, &j->said, &j->said_line, said_line);
}

/* In a thread. */
static void spawn_work(uv_work_t *w)
{
	struct job *j = w->data;
	char *argv[64], *p = (char *)j->words.p;
	unsigned n = 0;

	for (; p < (char *)j->words.p + j->words.len && n < ARRAY_LEN(argv) - 1; p += strlen(p) + 1)
		argv[n++] = p;
	argv[n] = NULL;
	j->pid = program_spawn(j->o.program, argv, j->fds);
}

static void spawn_failed(struct job *j, int err)
{
	if (j->pid > 0) {
		kill(-j->pid, SIGKILL);
		waitpid(j->pid, NULL, 0);
	}
	j->status = SIGKILL;
	err_note(&j->f, ERR_FAILED, "cannot start %s: %s", j->o.program, strerror(err));
	job_end(j);
}

static void spawned(uv_work_t *w, int status)
{
	struct job *j = w->data;

	(void)status;
	for (int i = 0; i < PROGRAM_FDS; i++) {
		if (j->fds[i] >= 0)
			close(j->fds[i]);
		j->fds[i] = -1;
	}
	j->pidfd = j->pid > 0 ? (int)syscall(SYS_pidfd_open, j->pid, 0) : -1;
	j->end = xalloc(sizeof(*j->end));
	if (j->pidfd < 0 || uv_poll_init(&j->d->loop, j->end, j->pidfd)) {
		free(j->end);
		j->end = NULL;
		spawn_failed(j, j->pid < 0 ? -j->pid : EMFILE);
		return;
	}
	j->end->data = j;
	uv_poll_start(j->end, UV_READABLE, on_end);
	if (j->cancelled)
		kill(-j->pid, SIGTERM);
	pipe_end_wait(&j->said);
	if (j->out.fd >= 0)
		pipe_end_wait(&j->out);
}

/* ---- the body of the request ---- */

static void in_ready(struct pipe_end *e)
{
	struct job *j = e->owner;

	if (j->op.r)
		request_wake(j->op.r);
}

static size_t upload_take(struct request *r, const char *data, size_t size)
{
	struct job *j = container_of(r->op, struct job, op);
	ssize_t n = pipe_end_write(&j->in, data, size);

	/* It reads no more, and says why. */
	if (n < 0 || ((size_t)n < size && !pipe_end_wait(&j->in)))
		return size;
	if ((size_t)n < size)
		request_wait(r);
	return (size_t)n;
}

static void upload_end(struct request *r)
{
	struct job *j = container_of(r->op, struct job, op);

	request_wait(r);
	pipe_end_close(&j->in);
}

static void upload_over(struct request *r)
{
	struct job *j = container_of(r->op, struct job, op);

	r->op = NULL;
	job_leave(j);
}

static const struct upload job_upload = { .take = upload_take,
					  .end = upload_end,
					  .over = upload_over };

/* ---- the start ---- */

struct job *job_new(struct request *r, const struct job_options *o)
{
	struct job *j;

	if (*counted(o) >= (o->stays ? STAYING_MAX : JOBS_MAX)) {
		reply_error(r, ERR_OVERLOADED,
			    "too much is being done for others" REMEDY "try again later");
		return NULL;
	}
	*counted(o) += 1;
	j = xalloc(sizeof(*j));
	j->o = *o;
	j->d = r->d;
	j->pidfd = -1;
	j->work.data = j;
	for (int i = 0; i < PROGRAM_FDS; i++)
		j->fds[i] = -1;
	pipe_end_init(&j->in, &j->d->loop, in_ready, j);
	pipe_end_init(&j->out, &j->d->loop, out_ready, j);
	pipe_end_init(&j->said, &j->d->loop, said_ready, j);
	job_word(j, o->program);
	return j;
}

void job_word(struct job *j, const char *word)
{
	buf_add(&j->words, word, strlen(word) + 1);
}

void job_option(struct job *j, const char *name, const char *value)
{
	if (!value)
		return;
	job_word(j, name);
	job_word(j, value);
}

void job_drop(struct job *j)
{
	job_free(j);
}

void job_start(struct job *j, struct request *r)
{
	if (j->o.upload)
		j->fds[0] = program_fd(pipe_end_open(&j->in, false));
	j->fds[1] = program_fd(pipe_end_open(&j->out, true));
	j->fds[2] = program_fd(pipe_end_open(&j->said, true));
	if (j->fds[1] < 0 || j->fds[2] < 0 || (j->o.upload && j->fds[0] < 0)) {
		job_free(j);
		reply_error(r, ERR_OVERLOADED,
			    "vivd has too many open files" REMEDY "try again later");
		return;
	}
	j->op.r = r;
	j->op.gone = op_gone;
	r->op = &j->op;
	if (j->o.upload)
		r->upload = &job_upload;
	else
		request_wait(r);
	if (j->o.upload || j->o.answer >= JOB_LINES)
		pipe_end_widen(j->o.upload ? &j->in : &j->out);
	uv_queue_work(&j->d->loop, &j->work, spawn_work, spawned);
}
