/* See hosted.h. */
#include "daemon/tools/hosted.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define INPUT_MAX (16u << 20) /* that waits for the program to read it */
#define ENV_MAX 12

struct hosted {
	struct daemon *d;
	const struct hosted_ops *ops; /* NULL: nobody listens */
	void *arg;
	uv_process_t process;
	uv_pipe_t in, out, err, life;
	unsigned nhandles;
	unsigned nopen; /* of process, out and err: not ended yet */
	size_t waiting; /* bytes of input */
	int status;
	bool in_closed, life_closed, reading;
	char chunk[65536];
};

struct input {
	uv_write_t w;
	struct hosted *h;
	size_t n;
	char data[];
};

static void on_closed(uv_handle_t *handle)
{
	struct hosted *h = handle->data;

	if (--h->nhandles == 0)
		free(h);
}

static void close_once(uv_pipe_t *p, bool *closed)
{
	if (!*closed)
		uv_close((uv_handle_t *)p, on_closed);
	*closed = true;
}

/* One of process, out and err has ended. */
static void part_ended(struct hosted *h, uv_handle_t *handle)
{
	uv_close(handle, on_closed);
	if (--h->nopen)
		return;
	if (h->ops)
		h->ops->end(h->arg, h->status);
	h->ops = NULL;
	close_once(&h->in, &h->in_closed);
	close_once(&h->life, &h->life_closed);
}

static void on_exit_(uv_process_t *p, int64_t status, int sig)
{
	struct hosted *h = p->data;

	h->status = sig ? 128 + sig : (int)status;
	/* What was left to it was killed by viv-hold; its output ends as well, and is read. */
	hosted_read(h, true);
	part_ended(h, (uv_handle_t *)p);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
	struct hosted *h = handle->data;

	(void)size;
	*ret = uv_buf_init(h->chunk, sizeof(h->chunk));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct hosted *h = s->data;

	if (n < 0) {
		part_ended(h, (uv_handle_t *)s);
		return;
	}
	if (n > 0 && h->ops)
		(s == (uv_stream_t *)&h->out ? h->ops->out : h->ops->err)(h->arg, buf->base,
									  (size_t)n);
}

void hosted_read(struct hosted *h, bool on)
{
	uv_stream_t *streams[] = { (uv_stream_t *)&h->out, (uv_stream_t *)&h->err };

	if (on == h->reading)
		return;
	h->reading = on;
	for (unsigned i = 0; i < ARRAY_LEN(streams); i++) {
		if (uv_is_closing((uv_handle_t *)streams[i]))
			continue;
		if (on)
			uv_read_start(streams[i], on_room, on_read);
		else
			uv_read_stop(streams[i]);
	}
}

static void on_written(uv_write_t *w, int status)
{
	struct input *x = w->data;

	(void)status;
	x->h->waiting -= x->n;
	free(x);
}

bool hosted_write(struct hosted *h, const char *data, size_t n)
{
	struct input *x;
	uv_buf_t b;

	if (h->in_closed)
		return true;
	if (n > INPUT_MAX - h->waiting)
		return false;
	x = xalloc(sizeof(*x) + n);
	x->w.data = x;
	x->h = h;
	x->n = n;
	memcpy(x->data, data, n);
	b = uv_buf_init(x->data, (unsigned)n);
	if (uv_write(&x->w, (uv_stream_t *)&h->in, &b, 1, on_written)) {
		free(x);
		return true; /* it does not read any more, which is its own affair */
	}
	h->waiting += n;
	return true;
}

static void on_shut(uv_shutdown_t *s, int status)
{
	struct hosted *h = s->data;

	(void)status;
	free(s);
	close_once(&h->in, &h->in_closed);
}

void hosted_close_input(struct hosted *h)
{
	uv_shutdown_t *s;

	if (h->in_closed)
		return;
	s = xalloc(sizeof(*s));
	s->data = h;
	if (uv_shutdown(s, (uv_stream_t *)&h->in, on_shut)) {
		free(s);
		close_once(&h->in, &h->in_closed);
	}
}

void hosted_kill(struct hosted *h)
{
	close_once(&h->life, &h->life_closed);
	hosted_read(h, true);
}

void hosted_drop(struct hosted *h)
{
	h->ops = NULL;
	hosted_kill(h);
}

/* ---- the start ---- */

struct environment {
	char text[ENV_MAX][512];
	char *list[ENV_MAX + 1];
	unsigned n;
};

static void env_add(struct environment *v, const char *name, const char *value)
{
	if (!value || strlen(value) > 400 || v->n == ENV_MAX)
		return;
	snprintf(v->text[v->n], sizeof(v->text[0]), "%s=%s", name, value);
	v->list[v->n] = v->text[v->n];
	v->list[++v->n] = NULL;
}

/* Little, and always the same: what vivd was started with is of no concern to tools. */
static void env_make(struct environment *v, const char *cell, const char *name, const char *tool)
{
	const struct passwd *who = getpwuid(geteuid());

	env_add(v, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	env_add(v, "HOME", who ? who->pw_dir : "/");
	env_add(v, "USER", who ? who->pw_name : NULL);
	env_add(v, "LOGNAME", who ? who->pw_name : NULL);
	env_add(v, "LANG", "C.UTF-8");
	env_add(v, "VIV_TOOL", tool);
	env_add(v, "VIV_CELL", cell);
	env_add(v, "VIV_CELL_NAME", name && *name ? name : NULL);
}

static void hold_path(char path[4096])
{
	ssize_t n = readlink("/proc/self/exe", path, 4096 - 64);

	path[MAX(n, 0)] = '\0';
	snprintf(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, 64, "viv-hold");
}

struct hosted *hosted_start(struct daemon *d, char *const *argv, const char *cell, const char *name,
			    const char *tool, const struct hosted_ops *ops, void *arg,
			    struct err *e)
{
	struct hosted *h = xalloc(sizeof(*h));
	struct environment env = { 0 };
	char path[4096];
	struct buf words = { 0 };
	const char *first = "viv-hold";
	uv_pipe_t *pipes[] = { &h->in, &h->out, &h->err, &h->life };
	uv_stdio_container_t io[ARRAY_LEN(pipes)];
	uv_process_options_t o = { .file = path,
				   .stdio = io,
				   .stdio_count = ARRAY_LEN(io),
				   .cwd = "/",
				   .flags = UV_PROCESS_DETACHED,
				   .exit_cb = on_exit_ };
	int err;

	env_make(&env, cell, name, tool);
	o.env = env.list;
	buf_add(&words, &first, sizeof(first));
	for (; *argv; argv++)
		buf_add(&words, argv, sizeof(*argv));
	buf_more(&words, sizeof(char *));
	o.args = (char **)(void *)words.p;
	h->d = d;
	h->ops = ops;
	h->arg = arg;
	h->process.data = h;
	for (unsigned i = 0; i < ARRAY_LEN(pipes); i++) {
		uv_pipe_init(&d->loop, pipes[i], 0);
		pipes[i]->data = h;
		io[i].flags =
			UV_CREATE_PIPE | (i == 1 || i == 2 ? UV_WRITABLE_PIPE : UV_READABLE_PIPE);
		io[i].data.stream = (uv_stream_t *)pipes[i];
	}
	h->nhandles = 5;
	hold_path(path);
	err = uv_spawn(&d->loop, &h->process, &o);
	buf_free(&words);
	if (err) {
		err_note(e, ERR_FAILED, "cannot start viv-hold: %s", uv_strerror(err));
		for (unsigned i = 0; i < ARRAY_LEN(pipes); i++)
			uv_close((uv_handle_t *)pipes[i], on_closed);
		uv_close((uv_handle_t *)&h->process, on_closed);
		return NULL;
	}
	h->nopen = 3;
	hosted_read(h, true);
	return h;
}
