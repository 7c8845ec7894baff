/* See jq.h. The context goes to the process in a sealed memory file, its answer comes by a pipe.
 * What it answers is bounded and read as JSON; a process that ends without an answer used too much
 * time or memory, which is all that vivd says about it.
 *
 * One that cannot be started (the host has no process or memory to spare, which is likeliest when
 * all runs go on after a restart of vivd; or the program is being replaced) is tried again
 * WF_EXPR_STARTS times, and waits in between without taking a place of those that run. */
#include "daemon/workflows/jq.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "daemon/keepers/program.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/limits.h"
#include "wire/memfd.h"

#define ANSWER_MAX (WF_RESULT_MAX * 4u)
#define AGAIN_FIRST_MS 100u
#define AGAIN_MOST_MS 2000u

struct evaluation {
	struct list link; /* among those that wait */
	struct daemon *d;
	evaluated_fn fn; /* NULL: nobody wants it any more */
	void *arg;
	json_t *request;
	uv_process_t process;
	uv_pipe_t out;
	uv_timer_t timer;
	unsigned nhandles, tries;
	bool again; /* it could not be started, and is to be tried once more */
	bool started, exited, ended, late; /* ended: all of its output is there */
	struct buf answer;
	char chunk[16384];
};

static struct list waiting = LIST_INIT(waiting);
static unsigned nrunning;

static void evaluation_run(struct evaluation *x);

static void evaluation_free(struct evaluation *x)
{
	json_decref(x->request);
	buf_free(&x->answer);
	free(x);
}

static void next_run(void)
{
	struct evaluation *x;

	if (list_is_empty(&waiting) || nrunning >= WF_EXPRS_AT_ONCE)
		return;
	x = list_first(&waiting, struct evaluation, link);
	list_remove(&x->link);
	evaluation_run(x);
}

static void again_closed(uv_handle_t *h)
{
	struct evaluation *x = h->data;

	if (x->fn)
		list_append(&waiting, &x->link);
	else
		evaluation_free(x);
	next_run();
}

static void on_again(uv_timer_t *t)
{
	uv_close((uv_handle_t *)t, again_closed);
}

/* Its handles are closed, and can be made anew. */
static void evaluation_delay(struct evaluation *x)
{
	unsigned ms = MIN(AGAIN_FIRST_MS << MIN(x->tries, 8u), AGAIN_MOST_MS);

	x->tries++;
	x->again = x->exited = x->ended = false;
	memset(&x->process, 0, sizeof(x->process));
	uv_timer_init(&x->d->loop, &x->timer);
	x->timer.data = x;
	uv_timer_start(&x->timer, on_again, ms, 0);
}

static void on_closed(uv_handle_t *h)
{
	struct evaluation *x = h->data;

	if (--x->nhandles)
		return;
	nrunning--;
	if (x->again && x->fn)
		evaluation_delay(x);
	else
		evaluation_free(x);
	next_run();
}

static void answer_give(struct evaluation *x)
{
	const json_t *exprs = json_object_get(x->request, "exprs");
	json_t *o = NULL, *values, *at;
	const char *why;
	struct err e = { 0 };

	if (x->answer.len && x->answer.len <= ANSWER_MAX)
		o = json_loadb((char *)x->answer.p, x->answer.len, JSON_ALLOW_NUL, NULL);
	values = json_object_get(o, "values");
	why = json_text(o, "error");
	at = json_object_get(o, "at");
	if (json_array_size(values) == json_array_size(exprs) && json_is_array(values)) {
		x->fn(x->arg, json_incref(values), NULL);
	} else {
		const char *expr =
			json_string_value(json_array_get(exprs, (size_t)json_integer_value(at)));

		if (!x->started)
			err_note(&e, ERR_FAILED, "viv-expr cannot be started");
		else if (why)
			err_note(&e, ERR_INVALID, "the expression '%.200s' failed: %s",
				 expr ? expr : "", why);
		else
			err_note(&e, ERR_TOO_LARGE,
				 "the expressions took more than %d s, %u MiB, or gave too much",
				 WF_EXPR_CPU, WF_EXPR_MEMORY >> 20);
		x->fn(x->arg, NULL, &e);
	}
	json_decref(o);
}

static void part_over(struct evaluation *x)
{
	if (!x->exited || !x->ended)
		return;
	x->again = !x->started && x->tries < WF_EXPR_STARTS;
	if (x->fn && !x->again)
		answer_give(x);
	if (!x->again)
		x->fn = NULL;
	uv_close((uv_handle_t *)&x->timer, on_closed);
	uv_close((uv_handle_t *)&x->out, on_closed);
	if (x->process.loop)
		uv_close((uv_handle_t *)&x->process, on_closed);
}

static void on_exit_(uv_process_t *p, int64_t status, int sig)
{
	struct evaluation *x = p->data;

	(void)status;
	(void)sig;
	x->exited = true;
	part_over(x);
}

static void on_room(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	struct evaluation *x = h->data;

	(void)size;
	*ret = uv_buf_init(x->chunk, sizeof(x->chunk));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct evaluation *x = s->data;

	if (n > 0 && x->answer.len <= ANSWER_MAX)
		buf_add(&x->answer, b->base, (size_t)n);
	if (n > 0 && x->answer.len > ANSWER_MAX && !x->exited)
		uv_process_kill(&x->process, SIGKILL);
	if (n < 0 && !x->ended) {
		x->ended = true;
		uv_read_stop(s);
		part_over(x);
	}
}

static void on_time(uv_timer_t *t)
{
	struct evaluation *x = t->data;

	if (x->started && !x->exited)
		uv_process_kill(&x->process, SIGKILL);
	if (!x->started)
		part_over(x);
}

/* 0, or -1: it cannot be started. */
static int process_start(struct evaluation *x)
{
	char path[4096], *none[] = { NULL }, *argv[] = { path, NULL };
	char *text = json_dumps(x->request, JSON_COMPACT);
	int fd = text ? memfd_sealed("expr", text, strlen(text)) : -1;
	uv_stdio_container_t io[3] = { { .flags = UV_INHERIT_FD, .data.fd = fd },
				       { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
					 .data.stream = (uv_stream_t *)&x->out },
				       { .flags = UV_IGNORE } };
	uv_process_options_t o = { .exit_cb = on_exit_,
				   .file = path,
				   .args = argv,
				   .env = none,
				   .cwd = "/",
				   .stdio = io,
				   .stdio_count = 3 };
	int err;

	free(text);
	if (fd < 0)
		return -1;
	program_path("viv-expr", path, sizeof(path));
	lseek(fd, 0, SEEK_SET);
	err = uv_spawn(&x->d->loop, &x->process, &o);
	close(fd);
	return err ? -1 : 0;
}

static void evaluation_run(struct evaluation *x)
{
	nrunning++;
	x->nhandles = 2;
	uv_timer_init(&x->d->loop, &x->timer);
	uv_pipe_init(&x->d->loop, &x->out, 0);
	x->timer.data = x->out.data = x->process.data = x;
	x->started = process_start(x) == 0;
	/* Otherwise nothing was made that has to be closed. */
	x->nhandles += x->process.loop != NULL;
	if (!x->started) {
		if (!x->tries)
			log_warn("viv-expr cannot be started, and is tried again");
		x->exited = x->ended = true;
		uv_timer_start(&x->timer, on_time, 0, 0);
		return;
	}
	uv_read_start((uv_stream_t *)&x->out, on_room, on_read);
	uv_timer_start(&x->timer, on_time, WF_EXPR_MS, 0);
}

struct evaluation *evaluation_new(struct daemon *d, json_t *context, json_t *exprs, evaluated_fn fn,
				  void *arg)
{
	struct evaluation *x = xalloc(sizeof(*x));

	x->d = d;
	x->fn = fn;
	x->arg = arg;
	x->request = json_pack("{s:o,s:o}", "context", context, "exprs", exprs);
	list_init(&x->link);
	list_append(&waiting, &x->link);
	next_run();
	return x;
}

void evaluation_cancel(struct evaluation *x)
{
	x->fn = NULL;
	if (!list_is_empty(&x->link)) {
		list_remove(&x->link);
		evaluation_free(x);
	} else if (x->started && !x->exited) {
		uv_process_kill(&x->process, SIGKILL);
	}
}
