/* Calls: requests that need vivd, each in a process of its own; see mcp.h. The process tells the
 * server by lines: 'p' and a text of JSON, what it is at; 'r' and the result; 'e' and an error. The
 * server adds what makes messages of them.
 *
 * Cancelling sends SIGTERM, and so does the end of the server, however it comes. A call that waits
 * for nothing but vivd just ends; one that runs a process in a cell kills that first (task_hold).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "base/log.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define CALLS_MAX 64
#define RESULT_MAX (16u << 20) /* of what a process sends */
#define TELL_EVERY (100 * 1000 * 1000LL) /* ns between two lines about what happens */
#define QUIET_TELL (5 * NSEC_PER_SEC) /* a client hears at least so often that a call goes on */
#define END_WAIT_MS 3000 /* for calls that are cancelled when the server ends */

struct call {
	bool used;
	struct session *session;
	struct sink *sink; /* NULL: nobody listens */
	char id[MCP_ID_MAX];
	char token[MCP_ID_MAX]; /* of progress, as JSON; "": not wanted */
	pid_t pid;
	int fd;
	struct buf in;
	int64_t began, told; /* told: the last progress, in ms since it began */
	int64_t told_at;
	bool answered, cancelled;
};

static struct call calls[CALLS_MAX];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* ---- in the call's own process ---- */

static volatile int *held;

static void on_cancel(int sig)
{
	(void)sig;
	if (!held)
		_exit(0);
	*held |= TASK_CANCELLED;
	if (*held & TASK_STARTED)
		vivd_interrupt();
}

void task_hold(volatile int *flags)
{
	held = flags;
}

static void line_send(int fd, char kind, const char *text, size_t n)
{
	struct buf b = { 0 };
	size_t at = 0;

	buf_add(&b, &kind, 1);
	buf_add(&b, text, n);
	buf_add(&b, "\n", 1);
	while (at < b.len) {
		ssize_t some = write(fd, b.p + at, b.len - at);

		if (some < 0 && errno != EINTR)
			_exit(0); /* the server is gone */
		at += (size_t)MAX(some, 0);
	}
	buf_free(&b);
}

void task_tell(struct task *t, const char *text, size_t n, bool force)
{
	static int64_t last;
	int64_t now = now_ns();
	char *line = NULL;
	size_t size;
	FILE *f;

	if (!t->progress || (!force && now - last < TELL_EVERY))
		return;
	last = now;
	f = open_memstream(&line, &size);
	if (!f)
		return;
	json_bytes(f, text, n);
	fclose(f);
	line_send(t->fd, 'p', line, size);
	free(line);
}

static void error_send(const struct task *t, int fd)
{
	struct rpc_error e = t->rpc;
	struct buf b = { 0 };
	char code[16];

	if (!e.text[0])
		rpc_fail(&e, RPC_INTERNAL, "%.200s", err_line(&t->e).str);
	snprintf(code, sizeof(code), "%d", e.code);
	buf_add_text(&b, "{\"code\":");
	buf_add_text(&b, code);
	json_member_text(&b, "message", e.text);
	buf_add_text(&b, "}");
	line_send(fd, 'e', (char *)b.p, b.len);
	buf_free(&b);
}

static _Noreturn void task_main(struct task *t, task_fn fn, pid_t server)
{
	struct sigaction sa = { .sa_handler = on_cancel };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *result = NULL;
	size_t size = 0;
	FILE *out;

	/* The server's own streams are the client's. */
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		_exit(1);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != server)
		_exit(0);
	out = open_memstream(&result, &size);
	if (!out)
		_exit(1);
	if (fn(t, out) < 0 || fclose(out))
		error_send(t, t->fd);
	else
		line_send(t->fd, 'r', result, size);
	_exit(0);
}

/* ---- in the server ---- */

static void call_send(struct call *c, struct buf *b)
{
	if (c->sink && !c->cancelled)
		c->sink->send(c->sink, (char *)b->p, b->len);
	buf_free(b);
}

/* text: as JSON. The number grows with every message, as the protocol wants it. */
static void progress_send(struct call *c, const char *text)
{
	struct buf b = { 0 };
	int64_t now = now_ns(), ms = (now - c->began) / 1000000;
	char number[32];

	if (!c->token[0] || c->answered)
		return;
	c->told = MAX(ms, c->told + 1);
	c->told_at = now;
	snprintf(number, sizeof(number), "%lld.%03lld", (long long)(c->told / 1000),
		 (long long)(c->told % 1000));
	buf_add_text(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
			 "\"progressToken\":");
	buf_add_text(&b, c->token);
	json_member_add(&b, "progress", number);
	json_member_add(&b, "message", text);
	buf_add_text(&b, "}}");
	call_send(c, &b);
}

static void answer_send(struct call *c, char kind, const char *text, size_t n)
{
	struct buf b = { 0 };

	if (c->answered)
		return;
	c->answered = true;
	if (kind == 'r') {
		rpc_result(&b, c->id, text, n);
	} else {
		buf_add_text(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
		buf_add_text(&b, c->id);
		buf_add_text(&b, ",\"error\":");
		buf_add(&b, text, n);
		buf_add_text(&b, "}");
	}
	call_send(c, &b);
}

static void call_line(struct call *c, char *line, size_t n)
{
	line[n] = '\0';
	if (line[0] == 'p')
		progress_send(c, line + 1);
	else
		answer_send(c, line[0], line + 1, n - 1);
}

static void call_end(struct call *c)
{
	struct sink *k = c->sink;
	struct rpc_error e;
	struct buf b = { 0 };

	watch_drop(c->fd);
	close(c->fd);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!c->answered) {
		rpc_fail(&e, RPC_INTERNAL, "the call ended without an answer");
		rpc_failure(&b, c->id, &e);
		call_send(c, &b);
	}
	buf_free(&c->in);
	*c = (struct call){ 0 };
	if (k)
		k->done(k);
}

static void call_readable(void *arg, short revents)
{
	struct call *c = arg;
	size_t before = c->in.len, at = 0;
	char *p = buf_more(&c->in, 65536), *nl;
	ssize_t n = read(c->fd, p, 65536);

	(void)revents;
	c->in.len = before + (size_t)MAX(n, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	while ((nl = memchr(c->in.p + at, '\n', c->in.len - at))) {
		size_t len = (size_t)((uint8_t *)nl - c->in.p) - at;

		if (len)
			call_line(c, (char *)c->in.p + at, len);
		at += len + 1;
	}
	memmove(c->in.p, c->in.p + at, c->in.len - at);
	c->in.len -= at;
	if (n <= 0 || c->in.len > RESULT_MAX)
		call_end(c);
}

static struct call *call_free_find(void)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (!calls[i].used)
			return &calls[i];
	return NULL;
}

static void refuse(struct sink *k, const char *id, const char *why)
{
	struct rpc_error e;
	struct buf b = { 0 };

	rpc_fail(&e, RPC_INTERNAL, "%s", why);
	rpc_failure(&b, id, &e);
	k->send(k, (char *)b.p, b.len);
	buf_free(&b);
	k->done(k);
}

static void token_read(const struct json *params, char *to, size_t size)
{
	const struct json *m = json_get(params, "_meta", JSON_OBJECT);

	for (m = m ? m->first : NULL; m; m = m->next)
		if (!strcmp(m->key, "progressToken") && id_write(m, to, size))
			return;
	to[0] = '\0';
}

void call_start(struct session *s, struct sink *k, const char *id, const struct json *params,
		task_fn fn, const void *what)
{
	struct call *c = call_free_find();
	pid_t server = getpid();
	struct task t = { .what = what, .params = params };
	int fds[2];

	if (!c) {
		refuse(k, id, "too many calls at the same time; wait for one of them");
		return;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		refuse(k, id, "no more descriptors");
		return;
	}
	*c = (struct call){ .used = true, .session = s, .sink = k, .fd = fds[0] };
	strcpy(c->id, id);
	token_read(params, c->token, sizeof(c->token));
	t.progress = c->token[0];
	t.fd = fds[1];
	c->began = c->told_at = now_ns();
	c->pid = fork();
	if (c->pid == 0)
		task_main(&t, fn, server);
	close(fds[1]);
	if (c->pid < 0) {
		close(fds[0]);
		*c = (struct call){ 0 };
		refuse(k, id, "no more processes");
		return;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	watch_set(fds[0], POLLIN, call_readable, c);
}

static void cancel(struct call *c)
{
	c->cancelled = true;
	kill(c->pid, SIGTERM);
}

void call_cancel(struct session *s, const char *id)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (calls[i].used && calls[i].session == s && !strcmp(calls[i].id, id))
			cancel(&calls[i]);
}

void calls_forget(struct sink *k)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (calls[i].sink == k)
			calls[i].sink = NULL;
}

bool calls_any(void)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (calls[i].used)
			return true;
	return false;
}

void calls_cancel(struct session *s)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (calls[i].used && (!s || calls[i].session == s)) {
			cancel(&calls[i]);
			calls[i].session = NULL;
		}
	/* At the end of all: what runs in cells is killed before the server is gone. */
	for (int i = 0; !s && i < END_WAIT_MS / 10 && calls_any(); i++) {
		poll(NULL, 0, 10);
		for (unsigned k = 0; k < CALLS_MAX; k++)
			if (calls[k].used)
				call_readable(&calls[k], POLLIN);
	}
}

void calls_tick(void)
{
	int64_t now = now_ns();
	char text[64];

	for (unsigned i = 0; i < CALLS_MAX; i++) {
		struct call *c = &calls[i];

		if (!c->used || !c->token[0] || c->cancelled || now - c->told_at < QUIET_TELL)
			continue;
		snprintf(text, sizeof(text), "\"still running after %lld s\"",
			 (long long)((now - c->began) / NSEC_PER_SEC));
		progress_send(c, text);
	}
}
