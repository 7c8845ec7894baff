/* Processes that something outside is attached to: their pipes, their input, their start and end.
 * Who is attached (a request, exec.c; a WebSocket, execws.c) reads the output when it has room for
 * it. See exec.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/exec/exec.h"
#include "api/http/text.h"
#include "daemon/state/fields.h"

static struct list execs = LIST_INIT(execs);

static void input_ready(struct pipe_end *e)
{
	exec_input_step(e->owner);
}

static void output_ready(struct pipe_end *e)
{
	struct exec *x = e->owner;

	x->ops->ready(x);
}

struct exec *exec_new(struct daemon *d, struct cell *c, const struct exec_ops *ops)
{
	struct exec *x = xalloc(sizeof(*x));

	x->d = d;
	x->ops = ops;
	x->link = c->keeper;
	strcpy(x->cell, c->id);
	list_append(&execs, &x->entry);
	cell_hold(c, 1);
	for (int i = 0; i < 3; i++)
		pipe_end_init(&x->end[i], &d->loop, i ? output_ready : input_ready, x);
	return x;
}

void exec_free(struct exec *x)
{
	struct cell *c = cell_by_id(x->d, x->cell);

	if (c)
		cell_hold(c, -1);
	if (x->link)
		link_forget(x->link, x);
	if (x->log)
		follow_free(x->log);
	for (int i = 0; i < 3; i++)
		pipe_end_close(&x->end[i]);
	list_remove(&x->entry);
	buf_free(&x->input);
	free(x);
}

struct exec *exec_find(const struct cell *c, uint32_t proc)
{
	struct exec *x;

	list_for_each(x, &execs, entry)
		if (x->proc == proc && (x->running || x->input_done) && !strcmp(x->cell, c->id))
			return x;
	return NULL;
}

/* ---- input ---- */

/* Ends an input that others may write to: their descriptors of it go as well, and the keeper's. */
static void input_end(struct exec *x)
{
	struct exec *other, *tmp;

	if (x->end[0].fd < 0)
		return;
	exec_tell(x, (struct keep_msg){ .type = KEEP_CLOSE_INPUT });
	pipe_end_close(&x->end[0]);
	list_for_each_safe(other, tmp, &execs, entry) {
		if (other == x || !other->outlives || other->proc != x->proc ||
		    strcmp(other->cell, x->cell) != 0)
			continue;
		other->input_over = true; /* also for a descriptor that is on its way */
		if (other->end[0].fd >= 0) {
			pipe_end_close(&other->end[0]);
			exec_input_step(other);
		}
	}
}

void exec_input_step(struct exec *x)
{
	struct pipe_end *e = &x->end[0];

	if (x->resizing && x->input_at < x->input.len)
		return;
	while (x->input_at < x->input.len) {
		ssize_t n = pipe_end_write(e, x->input.p + x->input_at, x->input.len - x->input_at);

		if (n < 0) /* it reads no more */
			break;
		if (n == 0 && pipe_end_wait(e))
			return;
		x->input_at += (size_t)n;
	}
	x->input.len = x->input_at = 0;
	if (x->input_ends && x->outlives)
		input_end(x);
	else if (x->input_ends)
		pipe_end_close(e);
	if (x->input_done) {
		void (*done)(struct exec * x) = x->input_done;

		x->input_done = NULL;
		done(x);
	}
	if (x->ops->drained)
		x->ops->drained(x);
}

/* ---- what is told of it ---- */

ssize_t exec_dropped_line(struct exec *x, char *buf, size_t size)
{
	struct log_reader *l = x->log ? &x->log->reader : NULL;
	uint64_t n = l ? l->dropped : 0;

	if (!n)
		return 0;
	l->dropped = 0;
	return snprintf(buf, size, "{\"type\":\"dropped\",\"bytes\":%llu,\"cursor\":%llu}\n",
			(unsigned long long)n, (unsigned long long)l->position);
}

ssize_t exec_exit_line(const struct exec *x, char *buf, size_t size)
{
	json_t *o;
	size_t n;

	if (x->lost)
		return snprintf(
			buf, size,
			"{\"type\":\"exit\",\"exit_code\":137,\"reason\":\"the cell ended\"}\n");
	o = json_pack("{s:s}", "type", "exit");
	json_set_exit(o, x->status, x->timed_out);
	n = json_dumpb(o, buf, size - 1, JSON_COMPACT);
	json_decref(o);
	buf[n++] = '\n';
	return (ssize_t)n;
}

ssize_t exec_start_line(const struct exec *x, char *buf, size_t size)
{
	if (x->attached)
		return snprintf(buf, size,
				"{\"type\":\"attached\",\"proc\":%u,\"pid\":%d,\"tty\":%s,"
				"\"stdin_open\":%s,\"cursor\":%llu}\n",
				x->proc, x->pid, x->tty ? "true" : "false",
				x->end[0].fd >= 0 ? "true" : "false",
				(unsigned long long)x->cursor);
	return snprintf(buf, size, "{\"type\":\"started\",\"proc\":%u,\"pid\":%d}\n", x->proc,
			x->pid);
}

/* ---- signals and sizes ---- */

void exec_tell(struct exec *x, struct keep_msg m)
{
	m.proc = x->proc;
	/* When it cannot be told, it has ended or is about to. */
	if (x->exited || !x->link || link_ask(x->link, &m, NULL, 0, link_ignore, NULL) < 0)
		return;
}

static void resize_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct exec *x = arg;

	(void)m;
	(void)fds;
	(void)nfds;
	x->resizing--;
	exec_input_step(x);
}

void exec_resize(struct exec *x, int rows, int cols)
{
	struct keep_msg m = { .type = KEEP_RESIZE, .proc = x->proc, .a = rows, .b = cols };

	if (!x->exited && x->link && link_ask(x->link, &m, NULL, 0, resize_answer, x) == 0)
		x->resizing++;
}

void exec_hangup(struct exec *x)
{
	if (x->outlives)
		return;
	exec_tell(x, (struct keep_msg){ .type = KEEP_SIGNAL, .a = SIGHUP, .flags = KEEP_TO_GROUP });
	exec_tell(x,
		  (struct keep_msg){ .type = KEEP_SIGNAL, .a = SIGCONT, .flags = KEEP_TO_GROUP });
}

/* ---- the start ---- */

static void output_more(void *arg)
{
	struct exec *x = arg;

	x->ops->ready(x);
}

static void exec_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);

/* Its output and its end, from the keeper. */
static int log_follow(struct exec *x, uint64_t cursor, struct err *f)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = x->proc };

	x->log = follow_new(&x->d->loop, x->cell, x->proc, cursor, true, output_more, x);
	if (!x->log)
		return err_set(f, ERR_NO_LOG, "the output of process %u is not kept any more",
			       x->proc);
	x->cursor = x->log->reader.position;
	if (!x->link || link_ask(x->link, &m, NULL, 0, exec_answer, x) < 0)
		return err_set(f, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
	return 0;
}

static void exec_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct exec *x = arg;
	struct err f = { 0 };

	for (unsigned i = 1; i < nfds; i++)
		close(fds[i]);
	if (x->running) {
		x->exited = true;
		if (x->link) /* nobody tells us of its end any more */
			link_forget(x->link, x);
		x->link = NULL;
		x->resizing = 0;
		x->lost = !m || m->type != KEEP_EXITED;
		x->status = x->lost ? 0 : m->a;
		x->timed_out = !x->lost && m->b;
		x->ops->ready(x);
		return;
	}
	if (!m)
		x->link = NULL;
	if (m && m->type == KEEP_STARTED) {
		x->running = true;
		x->proc = m->proc;
		x->pid = m->pid;
		if (nfds)
			pipe_end_adopt(&x->end[0], fds[0], false);
		if (x->outlives && !x->detached && log_follow(x, 0, &f) < 0) {
			x->ops->failed(x, &f);
			exec_free(x);
			return;
		}
		exec_input_step(x);
		x->ops->started(x);
		return;
	}
	keeper_err(m, &f);
	/* Whatever was wrong with the command, but that it is not there. */
	if (m && m->type == KEEP_FAIL && m->a && f.kind != ERR_COMMAND_NOT_FOUND)
		f.kind = ERR_NOT_EXECUTABLE;
	x->ops->failed(x, &f);
	exec_free(x);
}

const struct field exec_fields[] = {
	{ "command", FIELD_TEXTS, true },      { "env", FIELD_MAP, false },
	{ "workdir", FIELD_TEXT, false },      { "user", FIELD_TEXT, false },
	{ "timeout", FIELD_NUMBER, false },    { "stdin", FIELD_TEXT, false },
	{ "stdin_base64", FIELD_TEXT, false }, { "stdin_open", FIELD_BOOL, false },
	{ "detach", FIELD_BOOL, false },       { "tty", FIELD_BOOL, false },
	{ "rows", FIELD_INT, false },	       { "cols", FIELD_INT, false },
	{ "detachable", FIELD_BOOL, false },
};
const unsigned nexec_fields = ARRAY_LEN(exec_fields);

static int input_make(struct exec *x, const json_t *o, struct err *f)
{
	const char *text = json_text(o, "stdin"), *coded = json_text(o, "stdin_base64");

	x->input_ends = !json_is_true(json_object_get(o, "stdin_open"));
	if (text && coded)
		return err_set(f, ERR_INVALID, "give 'stdin' or 'stdin_base64'");
	if (text)
		buf_add(&x->input, text, strlen(text));
	if (coded && exec_input_decode(x, coded) < 0)
		return err_set(f, ERR_INVALID, "'stdin_base64' is not base64");
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
static int streams_make(struct exec *x, bool tty, int fds[3], struct err *f)
{
	for (int i = 0; i < 3; i++) {
		if (i == 2 && tty) {
			fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
			if (fds[i] < 0)
				return err_set(f, ERR_FAILED, "cannot open /dev/null");
			continue;
		}
		fds[i] = pipe_end_open(&x->end[i], i > 0);
		if (fds[i] < 0)
			return err_set(f, ERR_OVERLOADED,
				       "vivd has too many open files" REMEDY "try again later");
		if (i == 1)
			pipe_end_widen(&x->end[i]);
	}
	return 0;
}

/* {"NAME": VALUE} as words, of which each is to be freed; NULL: a name is wrong. */
static char **env_make(const json_t *env)
{
	char **envp = xalloc((json_object_size(env) + 1) * sizeof(*envp));
	size_t n = 0;

	for (void *i = json_object_iter((json_t *)(uintptr_t)env); i;
	     i = json_object_iter_next((json_t *)(uintptr_t)env, i)) {
		const char *key = json_object_iter_key(i);

		if (*key && !strchr(key, '=') &&
		    asprintf(&envp[n], "%s=%s", key,
			     json_string_value(json_object_iter_value(i))) >= 0)
			n++;
	}
	if (n == json_object_size(env))
		return envp;
	while (n)
		free(envp[--n]);
	free(envp);
	return NULL;
}

static int start_failed(int err, struct err *f)
{
	if (err == -EAGAIN)
		return err_set(f, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
	if (err == -E2BIG)
		return err_set(f, ERR_TOO_LARGE, "the command and its environment are too long");
	if (err == -EINVAL)
		return err_set(
			f, ERR_INVALID,
			"'command' is a list that begins with a program, and names of variables "
			"have no '='");
	return err_set(f, ERR_ENDED, "the cell has just ended");
}

static int start_send(struct exec *x, struct cell *c, const json_t *o, struct keep_start *s)
{
	char **argv = json_words(json_object_get(o, "command"));
	char **envp = env_make(json_object_get(o, "env"));
	int err = -EINVAL;

	s->spec = (struct execspec){ .flags = EXECSPEC_CELL_ENV,
				     .argv = argv,
				     .envp = envp,
				     .cwd = json_text(o, "workdir"),
				     .user = json_text(o, "user") };
	if (envp && argv[0] && argv[0][0])
		err = link_exec(c->keeper, s, exec_answer, x);
	for (size_t i = 0; envp && envp[i]; i++)
		free(envp[i]);
	free(envp);
	free(argv);
	return err;
}

int exec_start(struct exec *x, struct cell *c, const json_t *o, struct err *f)
{
	bool tty = json_is_true(json_object_get(o, "tty"));
	struct keep_start s = { .fds = { -1, -1, -1 } };
	double seconds = json_number_value(json_object_get(o, "timeout"));
	int err;

	x->detached = json_is_true(json_object_get(o, "detach"));
	x->outlives = x->detached || json_is_true(json_object_get(o, "detachable"));
	s.exec.flags = (tty ? KEEP_X_TTY : 0) | (x->outlives ? KEEP_X_DETACH | KEEP_X_LOG : 0);
	s.exec.rows = (uint16_t)MIN(json_integer_value(json_object_get(o, "rows")), 10000);
	s.exec.cols = (uint16_t)MIN(json_integer_value(json_object_get(o, "cols")), 10000);
	s.exec.timeout_ns = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * NSEC_PER_SEC) : 0;
	if (c->state == CELL_PAUSED)
		return err_set(f, ERR_WRONG_STATE, "the cell is paused" REMEDY "resume it first");
	err = input_make(x, o, f);
	if (x->outlives && (x->input.len || !x->input_ends))
		s.exec.flags |= KEEP_X_INPUT;
	x->d->count.execs++;
	if (!err && !x->outlives)
		err = streams_make(x, tty, s.fds, f);
	if (!err) {
		int sent = start_send(x, c, o, &s);

		err = sent ? start_failed(sent, f) : 0;
	}
	for (int i = 0; i < 3; i++)
		if (s.fds[i] >= 0)
			close(s.fds[i]);
	return err;
}

/* ---- attaching ---- */

/* Clients of one process, so that a log is not read any number of times. */
#define ATTACHED_MAX 64

static bool is_crowded(const struct exec *x, uint32_t proc)
{
	const struct exec *other;
	unsigned n = 0;

	list_for_each(other, &execs, entry)
		n += other->outlives && other->proc == proc && !strcmp(other->cell, x->cell);
	return n >= ATTACHED_MAX;
}

static void attach_fail(struct exec *x, const struct keep_msg *m, struct err *f)
{
	if (!f->kind)
		keeper_err(m, f);
	x->ops->failed(x, f);
	exec_free(x);
}

static void input_adopt(struct exec *x, int *fds, unsigned nfds)
{
	for (unsigned i = 0; i < nfds; i++)
		if (i || x->input_over)
			close(fds[i]);
	if (nfds && !x->input_over)
		pipe_end_adopt(&x->end[0], fds[0], false);
}

static void attach_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct exec *x = arg;
	struct err f = { 0 };

	input_adopt(x, fds, nfds);
	if (!m)
		x->link = NULL;
	if (!m || m->type != KEEP_ATTACH) {
		attach_fail(x, m, &f);
		return;
	}
	x->pid = m->pid;
	x->tty = m->flags & KEEP_X_TTY;
	if (x->cursor == EXEC_NOW)
		x->cursor = m->n;
	if (x->cursor != LOG_OLDEST && x->cursor > m->n)
		err_note(&f, ERR_INVALID, "'cursor' is %llu, but the process wrote %llu bytes",
			 (unsigned long long)x->cursor, (unsigned long long)m->n);
	if (f.kind || log_follow(x, x->cursor, &f) < 0) {
		attach_fail(x, m, &f);
		return;
	}
	x->running = true;
	x->ops->started(x);
}

static void attach_input_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct exec *x = arg;
	struct err f = { 0 };

	input_adopt(x, fds, nfds);
	if (!m)
		x->link = NULL;
	if (!m || m->type != KEEP_ATTACH || x->end[0].fd < 0) {
		if (m && m->type == KEEP_ATTACH)
			err_note(&f, ERR_CLOSED, "the input of the process is closed");
		attach_fail(x, m, &f);
		return;
	}
	x->running = true;
	exec_input_step(x);
}

static int attach_ask(struct exec *x, struct cell *c, uint32_t proc, ask_fn fn, struct err *f)
{
	struct keep_msg m = { .type = KEEP_ATTACH, .proc = proc };
	int sent;

	if (is_crowded(x, proc))
		return err_set(f, ERR_OVERLOADED,
			       "process %u has %d clients" REMEDY "detach from it elsewhere first",
			       proc, ATTACHED_MAX);
	x->proc = proc;
	x->attached = x->outlives = true;
	sent = link_ask(c->keeper, &m, NULL, 0, fn, x);
	if (sent == -EAGAIN)
		return err_set(f, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
	return sent ? err_set(f, ERR_ENDED, "the cell has just ended") : 0;
}

int exec_attach(struct exec *x, struct cell *c, uint32_t proc, uint64_t cursor, struct err *f)
{
	x->cursor = cursor;
	return attach_ask(x, c, proc, attach_answer, f);
}

int exec_attach_input(struct exec *x, struct cell *c, uint32_t proc, struct err *f)
{
	return attach_ask(x, c, proc, attach_input_answer, f);
}
