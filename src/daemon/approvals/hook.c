/* The hook of approvals: a program of the operator's that is asked about each new one.
 *
 * It gets the approval as one line of JSON on its standard input, and may answer with
 * {"answer": "allow"} or {"answer": "deny"} on its standard output. Whatever else it does (no
 * answer, another one, an exit status other than 0, too much output, too much time) is no answer:
 * the approval stays pending. At most HOOKS_MAX run at once; the others wait for their turn. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/approvals/approvals.h"
#include "daemon/state/fields.h"

#define HOOKS_MAX 8
#define HOOKS_WAIT 1024 /* for their turn; others are not asked about */
#define HOOK_MS 60000
#define ANSWER_MAX 4096

struct hook {
	struct list link; /* among those that wait */
	struct daemon *d;
	const char *program;
	int64_t id;
	char *question;
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	unsigned nhandles;
	char answer[ANSWER_MAX];
	size_t size;
	bool failed, exited, ended; /* ended: all of its output is there */
};

static struct list waiting = LIST_INIT(waiting);
static unsigned nrunning, nwaiting;

static void hook_run(struct hook *h);

static void on_closed(uv_handle_t *handle)
{
	struct hook *h = handle->data;

	if (--h->nhandles)
		return;
	free(h->question);
	free(h);
	nrunning--;
	if (list_is_empty(&waiting))
		return;
	h = list_first(&waiting, struct hook, link);
	list_remove(&h->link);
	nwaiting--;
	hook_run(h);
}

/* Its number may have been given again, if it was never written. */
static bool is_same(const struct hook *h)
{
	json_t *o = approval_get(h->d, h->id);
	char *now = o ? json_dumps(o, JSON_COMPACT) : NULL;
	size_t n = now ? strlen(now) : 0;
	bool same = now && !strncmp(now, h->question, n) && !strcmp(h->question + n, "\n");

	free(now);
	json_decref(o);
	return same;
}

static void hook_answer(struct hook *h)
{
	json_t *o = json_loadb(h->answer, h->size, 0, NULL);
	const char *answer = o ? json_text(o, "answer") : NULL;
	bool allow = answer && !strcmp(answer, "allow");
	struct err e = { 0 };

	if (!answer || (!allow && strcmp(answer, "deny"))) {
		if (h->size)
			log_warn("the approval hook gives no answer that can be read");
	} else if (!is_same(h)) {
		log_warn("the approval hook is late: nobody waits for this answer");
	} else if (approval_answer(h->d, h->id, allow, "hook", &e) < 0) {
		log_warn("the approval hook is late: %s", err_line(&e).str);
	}
	json_decref(o);
}

/* Its process has ended and its output too, or it failed. */
static void hook_end(struct hook *h)
{
	uv_handle_t *handles[] = { (uv_handle_t *)&h->process, (uv_handle_t *)&h->in,
				   (uv_handle_t *)&h->out, (uv_handle_t *)&h->timer };

	if (!h->exited || !h->ended)
		return;
	h->exited = false; /* once */
	if (!h->failed)
		hook_answer(h);
	for (unsigned i = 0; i < ARRAY_LEN(handles); i++)
		uv_close(handles[i], on_closed);
}

static void on_exit_(uv_process_t *p, int64_t status, int sig)
{
	struct hook *h = p->data;

	h->exited = true;
	h->failed |= status || sig;
	uv_timer_stop(&h->timer);
	hook_end(h);
}

static void on_time(uv_timer_t *t)
{
	struct hook *h = t->data;

	log_warn("the approval hook takes longer than %d s", HOOK_MS / 1000);
	h->failed = h->ended = true;
	uv_process_kill(&h->process, SIGKILL);
	/* A child of it may hold the pipe for ever. */
	uv_read_stop((uv_stream_t *)&h->out);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
	struct hook *h = handle->data;

	(void)size;
	*ret = uv_buf_init(h->answer + h->size, (unsigned)(sizeof(h->answer) - h->size));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct hook *h = s->data;

	(void)buf;
	if (n > 0)
		h->size += (size_t)n;
	if (n >= 0 && h->size < sizeof(h->answer))
		return;
	h->failed |= n >= 0; /* more than an answer can be */
	h->ended = true;
	uv_read_stop(s);
	hook_end(h);
}

static void on_shut(uv_shutdown_t *s, int status)
{
	(void)status;
	free(s);
}

static void on_written(uv_write_t *w, int status)
{
	struct hook *h = w->data;

	(void)status;
	if (!uv_is_closing((uv_handle_t *)&h->in))
		uv_shutdown(xalloc(sizeof(uv_shutdown_t)), (uv_stream_t *)&h->in, on_shut);
}

static void hook_run(struct hook *h)
{
	char *argv[] = { (char *)(uintptr_t)h->program, NULL };
	uv_stdio_container_t io[] = {
		{ .flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
		  .data.stream = (uv_stream_t *)&h->in },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
		  .data.stream = (uv_stream_t *)&h->out },
		{ .flags = UV_INHERIT_FD, .data.fd = 2 },
	};
	uv_process_options_t o = { .file = h->program,
				   .args = argv,
				   .stdio = io,
				   .stdio_count = ARRAY_LEN(io),
				   .exit_cb = on_exit_ };
	uv_buf_t text = uv_buf_init(h->question, (unsigned)strlen(h->question));
	int err;

	nrunning++;
	h->nhandles = 4;
	h->process.data = h->in.data = h->out.data = h->timer.data = h->write.data = h;
	uv_pipe_init(&h->d->loop, &h->in, 0);
	uv_pipe_init(&h->d->loop, &h->out, 0);
	uv_timer_init(&h->d->loop, &h->timer);
	err = uv_spawn(&h->d->loop, &h->process, &o);
	if (err) {
		log_warn("the approval hook %s cannot be started: %s", h->program,
			 uv_strerror(err));
		h->failed = h->exited = h->ended = true;
		hook_end(h);
		return;
	}
	uv_timer_start(&h->timer, on_time, HOOK_MS, 0);
	uv_read_start((uv_stream_t *)&h->out, on_room, on_read);
	uv_write(&h->write, (uv_stream_t *)&h->in, &text, 1, on_written);
}

void hook_ask(struct daemon *d, const char *program, const json_t *approval)
{
	char *line = json_dumps(approval, JSON_COMPACT);
	struct hook *h;
	struct buf b = { 0 };

	if (!line || nwaiting >= HOOKS_WAIT) {
		free(line);
		return;
	}
	h = xalloc(sizeof(*h));
	buf_add_text(&b, line);
	buf_add_text(&b, "\n");
	free(line);
	list_init(&h->link);
	h->d = d;
	h->program = program;
	h->id = json_integer_value(json_object_get(approval, "id"));
	h->question = (char *)b.p;
	if (nrunning < HOOKS_MAX) {
		hook_run(h);
		return;
	}
	list_append(&waiting, &h->link);
	nwaiting++;
}
