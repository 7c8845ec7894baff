/* The step 'run': a command in a cell.
 *
 * It is a detached process whose output goes to a log of the cell's keeper, so it goes on when vivd
 * ends. Its cell, the cell's start and the process's number are kept with the step; a vivd that
 * comes later asks the keeper how it ended, and starts nothing. If its cell ended, nobody knows how
 * far it came: it is started again, with the same idempotency key, up to WF_INTERRUPTED_MAX times.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"
#include "daemon/state/output.h"
#include "daemon/workflows/private.h"
#include "keeper/log.h"

#define RECORDS_MAX 4096 /* of a log that are read */
#define KILL_MS 2000 /* after SIGTERM */

struct command {
	struct leaf_work work; /* first */
	struct daemon *d;
	struct wf_node *n; /* NULL: nobody wants it any more */
	struct cell_need *need;
	struct keeper_link *link; /* it waits for an answer */
	bool starting; /* the answer tells of a process, and comes in any case */
	char cell[CELL_ID_LEN + 1];
	int64_t run;
	uint32_t proc;
	int status; /* of a process that a signal ended */
};

void step_key(const struct wf_node *n, char ret[65])
{
	uint8_t hash[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, n->run->id, strlen(n->run->id));
	sha256_add(&s, "/", 1);
	sha256_add(&s, n->path, strlen(n->path));
	sha256_end(&s, hash);
	for (unsigned i = 0; i < 16; i++)
		snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

static void fds_close(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

static void cell_ready(void *arg, struct cell *c, const struct err *e);

/* ---- its end ---- */

/* A process that is to end. */
struct killing {
	uv_timer_t timer;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	int64_t run; /* of the cell: numbers of processes begin anew with each */
	uint32_t proc;
};

static void proc_signal(struct daemon *d, const char *cell, int64_t run, uint32_t proc, int sig)
{
	struct cell *c = cell_by_id(d, cell);
	struct keep_msg m = { .type = KEEP_SIGNAL, .proc = proc, .a = sig, .flags = KEEP_TO_GROUP };

	if (c && c->keeper && c->started == run)
		(void)!link_ask(c->keeper, &m, NULL, 0, link_ignore, NULL);
}

/* Its output is not needed any more. */
static void proc_forget(struct daemon *d, const char *cell, int64_t run, uint32_t proc)
{
	struct cell *c = cell_by_id(d, cell);
	struct keep_msg m = { .type = KEEP_TAKEN, .proc = proc, .n = KEEP_ALL };

	if (c && c->keeper && c->started == run)
		(void)!link_tell(c->keeper, &m);
}

static void on_killed(uv_handle_t *h)
{
	free(h->data);
}

static void on_kill(uv_timer_t *t)
{
	struct killing *k = t->data;

	proc_signal(k->d, k->cell, k->run, k->proc, SIGKILL);
	uv_close((uv_handle_t *)t, on_killed);
}

static void proc_end(struct daemon *d, const char *cell, int64_t run, uint32_t proc)
{
	struct killing *k = xalloc(sizeof(*k));

	proc_signal(d, cell, run, proc, SIGTERM);
	proc_signal(d, cell, run, proc, SIGCONT);
	proc_forget(d, cell, run, proc);
	k->d = d;
	k->run = run;
	k->proc = proc;
	snprintf(k->cell, sizeof(k->cell), "%s", cell);
	k->timer.data = k;
	uv_timer_init(&d->loop, &k->timer);
	uv_unref((uv_handle_t *)&k->timer);
	uv_timer_start(&k->timer, on_kill, KILL_MS, 0);
}

/* The node does not know it any more. */
static void command_free(struct command *x)
{
	if (x->n)
		x->n->work_of = NULL;
	if (x->need)
		cell_need_drop(x->need);
	if (x->link)
		link_forget(x->link, x);
	free(x);
}

static void command_stop(struct leaf_work *w)
{
	struct command *x = (struct command *)(void *)w;

	bool leave = run_is_left(x->n->run);

	x->n->work_of = NULL;
	x->n = NULL;
	if (x->starting)
		return; /* it ends with the answer */
	if (x->proc && !leave)
		proc_end(x->d, x->cell, x->run, x->proc);
	command_free(x);
}

/* ---- its output ---- */

/* All that is kept of what it wrote, within bounds. */
static json_t *result_read(const char *cell, uint32_t proc, int status)
{
	static struct log_reader r;
	struct buf out = { 0 }, err = { 0 };
	bool cut = false;
	json_t *o;

	if (log_reader_open(&r, cell, proc, LOG_OLDEST) == 0) {
		for (unsigned i = 0; i < RECORDS_MAX && log_reader_next(&r) > 0; i++) {
			struct buf *b = r.head.stream == 2 ? &err : &out;
			size_t n = r.len - r.given;

			/* Of errors the end counts, of output the beginning. */
			if (b == &out && b->len + n > WF_OUTPUT_MAX) {
				n = WF_OUTPUT_MAX - b->len;
				cut = true;
			}
			buf_add(b, r.data + r.given, n);
			log_reader_take(&r, r.len - r.given);
			if (err.len > 16 * WF_STDERR_MAX) {
				memmove(err.p, err.p + err.len - WF_STDERR_MAX, WF_STDERR_MAX);
				err.len = WF_STDERR_MAX;
			}
		}
		cut |= r.dropped > 0;
		log_reader_close(&r);
	}
	o = json_pack("{s:o,s:i}", "output", output_value((char *)out.p, out.len), "exit_code",
		      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	if (cut)
		json_object_set_new(o, "truncated", json_true());
	if (err.len) {
		size_t n = MIN(err.len, (size_t)WF_STDERR_MAX);

		for (size_t i = 0; i < err.len; i++)
			if (!err.p[i])
				err.p[i] = '?';
		json_object_set_new(o, "stderr", output_text((char *)err.p + err.len - n, n, n));
	}
	buf_free(&out);
	buf_free(&err);
	return o;
}

static void command_over(struct command *x, int status, bool timed_out)
{
	struct wf_node *n = x->n;
	json_t *result = result_read(x->cell, x->proc, status);
	struct err e = { 0 };

	proc_forget(x->d, x->cell, x->run, x->proc);
	command_free(x);
	if (timed_out)
		err_note(&e, ERR_FAILED, "the command took longer than its 'timeout'");
	else if (WIFSIGNALED(status))
		err_note(&e, ERR_FAILED, "the command was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		err_note(&e, ERR_FAILED, "the command ended with status %d", WEXITSTATUS(status));
	if (e.kind)
		wf_failed(n, result, &e, false);
	else
		wf_finished(n, result);
}

static void command_failed(struct command *x, const struct err *e)
{
	struct wf_node *n = x->n;

	command_free(x);
	wf_failed(n, NULL, e, false);
}

/* How far it came is not known. dying: its cell has ended, or is about to. */
static void command_interrupted(struct command *x, bool dying)
{
	struct wf_node *n = x->n;
	json_int_t times = json_integer_value(json_object_get(n->live, "interrupted")) + 1;
	struct err e;

	x->proc = 0;
	if (times > WF_INTERRUPTED_MAX) {
		err_note(&e, ERR_ENDED, "its cell ended %d times while it ran",
			 WF_INTERRUPTED_MAX + 1);
		command_failed(x, &e);
		return;
	}
	if (wf_live(n, json_pack("{s:I}", "interrupted", times)) < 0)
		return;
	x->need = cell_need(n->run, json_text(n->args, "in"), dying ? x->run : 0, cell_ready, x);
}

static void alive_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct command *x = arg;

	fds_close(fds, nfds);
	if (m)
		link_forget(x->link, x);
	x->link = NULL;
	if (m && m->type == KEEP_HELLO && m->hello.state >= KEEP_IDLE &&
	    m->hello.state <= KEEP_PAUSED)
		command_over(x, x->status, false);
	else
		command_interrupted(x, true);
}

static void exit_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct command *x = arg;
	struct keep_msg hello = { .type = KEEP_HELLO };

	fds_close(fds, nfds);
	if (!m || m->type != KEEP_EXITED) {
		if (m)
			link_forget(x->link, x);
		x->link = NULL;
		command_interrupted(x, !m);
		return;
	}
	link_forget(x->link, x);
	/* Was it killed, or did its cell end? */
	x->status = m->a;
	if (WIFSIGNALED(m->a) && !m->b) {
		if (link_ask(x->link, &hello, NULL, 0, alive_answer, x) == 0)
			return;
		x->link = NULL;
		command_interrupted(x, true);
		return;
	}
	x->link = NULL;
	command_over(x, m->a, m->b);
}

static void command_wait(struct command *x, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = x->proc };
	int err;

	x->link = c->keeper;
	err = link_ask(x->link, &m, NULL, 0, exit_answer, x);
	if (!err)
		return;
	x->link = NULL;
	command_interrupted(x, err != -EAGAIN);
}

/* ---- its start ---- */

static void start_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct command *x = arg;
	struct cell *c = cell_by_id(x->d, x->cell);
	struct err e = { 0 };
	json_t *live;

	fds_close(fds, nfds);
	x->starting = false;
	x->proc = m && m->type == KEEP_STARTED ? m->proc : 0;
	if (!x->n) {
		if (x->proc)
			proc_end(x->d, x->cell, x->run, x->proc);
		free(x);
		return;
	}
	if (!m) {
		command_interrupted(x, true);
		return;
	}
	if (!x->proc) {
		keep_fail_get(m, &e);
		command_failed(x, &e);
		return;
	}
	live = json_pack("{s:s,s:I,s:I}", "cell", x->cell, "run", (json_int_t)x->run, "proc",
			 (json_int_t)x->proc);
	if (json_object_get(x->n->live, "interrupted"))
		json_object_set(live, "interrupted", json_object_get(x->n->live, "interrupted"));
	/* Nobody would know of it: the run is read again, and starts another. */
	if (wf_live(x->n, live) < 0) {
		proc_end(x->d, x->cell, x->run, x->proc);
		return;
	}
	if (c && c->keeper)
		command_wait(x, c);
	else
		command_interrupted(x, false);
}

static char **env_make(const struct wf_node *n)
{
	const json_t *env = json_object_get(n->args, "env");
	char **words = xalloc((json_object_size(env) + 5) * sizeof(*words)), key[65];
	const char *name;
	json_t *v;
	size_t i = 0;

	json_object_foreach((json_t *)(uintptr_t)env, name, v) {
		char *dump =
			json_is_string(v) ? NULL : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

		if (asprintf(&words[i], "%s=%s", name, dump ? dump : json_string_value(v)) >= 0)
			i++;
		free(dump);
	}
	step_key(n, key);
	if (asprintf(&words[i], "VIV_IDEMPOTENCY_KEY=%s", key) >= 0)
		i++;
	if (asprintf(&words[i], "VIV_WORKFLOW_RUN=%s", n->run->id) >= 0)
		i++;
	if (asprintf(&words[i], "VIV_WORKFLOW_STEP=%s", n->path) >= 0)
		i++;
	if (asprintf(&words[i], "VIV_WORKFLOW_ATTEMPT=%u", n->attempt) >= 0)
		i++;
	words[i] = NULL;
	return words;
}

/* Words: what an expression gave that is no text is one of JSON. */
static char **argv_make(const struct wf_node *n)
{
	const json_t *list = json_object_get(n->args, "run"), *v;
	char **argv = xalloc((json_array_size(list) + 1) * sizeof(*argv));
	size_t i;

	json_array_foreach(list, i, v)
		argv[i] = json_is_string(v) ? xstrndup(json_string_value(v), json_string_length(v))
					    : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	return argv;
}

static void words_free(char **words)
{
	for (char **p = words; *p; p++)
		free(*p);
	free(words);
}

static int exec_send(struct command *x, struct cell *c)
{
	struct keep_start s = { .exec.flags = KEEP_X_LOG | KEEP_X_DETACH };
	double seconds = json_number_value(json_object_get(x->n->def, "timeout"));
	char **argv = argv_make(x->n), **envp = env_make(x->n);
	int err = -EINVAL;

	if (seconds > 0)
		s.exec.timeout_ns = (int64_t)(seconds * NSEC_PER_SEC);
	s.spec = (struct execspec){ .flags = EXECSPEC_CELL_ENV,
				    .argv = argv,
				    .envp = envp,
				    .cwd = json_text(x->n->args, "workdir"),
				    .user = json_text(x->n->args, "user") };
	if (argv[0] && argv[0][0])
		err = link_exec(c->keeper, &s, start_answer, x);
	words_free(argv);
	words_free(envp);
	return err;
}

static void cell_ready(void *arg, struct cell *c, const struct err *e)
{
	struct command *x = arg;
	struct err f;
	int err;

	x->need = NULL;
	if (!c && x->proc) {
		command_interrupted(x, false); /* the cell that it ran in is gone */
		return;
	}
	if (!c) {
		command_failed(x, e);
		return;
	}
	snprintf(x->cell, sizeof(x->cell), "%s", c->id);
	/* It is known already, by its number. */
	if (x->proc && x->run == c->started) {
		command_wait(x, c);
		return;
	}
	if (x->proc) {
		command_interrupted(x, false);
		return;
	}
	x->run = c->started;
	err = exec_send(x, c);
	x->starting = !err;
	if (!err)
		return;
	if (err != -E2BIG && err != -EINVAL) {
		command_interrupted(x, err != -EAGAIN); /* the cell is about to end */
		return;
	}
	err_note(&f, err == -E2BIG ? ERR_TOO_LARGE : ERR_INVALID,
		 err == -E2BIG ? "the command and its environment are too long"
			       : "the command is empty, or a variable's name is wrong");
	command_failed(x, &f);
}

void command_start(struct wf_node *n)
{
	struct command *x = xalloc(sizeof(*x));
	const char *cell = json_text(n->live, "cell"), *in = json_text(n->args, "in");
	const json_t *where = json_object_get(n->args, "in");
	struct err e;

	x->work.stop = command_stop;
	x->d = run_daemon(n->run);
	x->n = n;
	n->work_of = x;
	if (where && (!in || !*in)) {
		err_note(&e, ERR_INVALID, "'in' names no cell");
		n->work_of = NULL;
		free(x);
		leaf_fail(n, &e, false);
		return;
	}
	if (cell && cell_by_id(x->d, cell)) {
		x->proc = (uint32_t)json_integer_value(json_object_get(n->live, "proc"));
		x->run = json_integer_value(json_object_get(n->live, "run"));
		x->need = cell_need(n->run, cell, 0, cell_ready, x);
		return;
	}
	x->need = cell_need(n->run, in, 0, cell_ready, x);
}
