/* See spawn.h; the other side of it is keeper/main.c. A keeper says once on a socket whether its cell runs. What it prints meanwhile on
 * standard error goes into a pipe, whose last line tells why it failed when the socket does not. */
#include "daemon/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/memfd.h"

struct spawn {
	uv_process_t process;
	uv_poll_t poll;
	uv_timer_t timer; /* fires at once when there is nothing to wait for */
	int ready, said; /* -1: none */
	unsigned nhandles;
	bool exited, failed;
	int status; /* of a failure, */
	char failure[400]; /* and why */
	spawn_fn fn;
	void *arg;
};

static void on_closed(uv_handle_t *h)
{
	struct spawn *s = h->data;

	if (--s->nhandles == 0)
		free(s);
}

/* The last whole line, without viv's name. */
static void said_read(struct spawn *s, char *text, size_t size)
{
	char all[4096];
	ssize_t n = s->said >= 0 ? read(s->said, all, sizeof(all) - 1) : -1;
	char *line;

	text[0] = '\0';
	if (n <= 0)
		return;
	all[n] = '\0';
	while (n && all[n - 1] == '\n')
		all[--n] = '\0';
	line = strrchr(all, '\n');
	line = line ? line + 1 : all;
	snprintf(text, size, "%.390s", strncmp(line, "viv: ", 5) ? line : line + 5);
}

static void spawn_done(struct spawn *s, const struct keep_hello *hello, int status,
		       const char *text)
{
	spawn_fn fn = s->fn;
	void *arg = s->arg;

	fn(arg, hello, s->ready, status, text);
	uv_close((uv_handle_t *)&s->timer, on_closed);
	if (s->poll.data)
		uv_close((uv_handle_t *)&s->poll, on_closed);
	/* Now, and not when its process has ended: a keeper in a pool waits for the end of this. */
	if (s->ready >= 0)
		close(s->ready);
	if (s->said >= 0)
		close(s->said);
	s->ready = s->said = -1;
}

/* A failure is told when the keeper is gone: it may have something to leave, and has locks. */
static void on_exit_of(uv_process_t *p, int64_t status, int sig)
{
	struct spawn *s = p->data;

	(void)status;
	(void)sig;
	s->exited = true;
	if (s->failed)
		spawn_done(s, NULL, s->status, s->failure);
	uv_close((uv_handle_t *)p, on_closed);
}

static void spawn_failed(struct spawn *s, int status, const char *text)
{
	s->failed = true;
	s->status = status;
	snprintf(s->failure, sizeof(s->failure), "%.390s", text);
	if (s->exited)
		spawn_done(s, NULL, s->status, s->failure);
}

static void on_ready(uv_poll_t *p, int status, int events)
{
	struct spawn *s = p->data;
	struct keep_msg m;
	ssize_t n = recv(s->ready, &m, sizeof(m), MSG_DONTWAIT);
	char text[400];

	(void)status;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	uv_poll_stop(p);
	if (n == sizeof(m) && m.type == KEEP_HELLO) {
		spawn_done(s, &m.hello, 0, "");
		return;
	}
	said_read(s, text, sizeof(text));
	if (n == sizeof(m)) {
		m.text[sizeof(m.text) - 1] = '\0';
		spawn_failed(s, m.a, m.text[0] ? m.text : text);
	} else {
		spawn_failed(s, 125, text[0] ? text : "the cell's keeper ended at its start");
	}
}

static void on_failure(uv_timer_t *t)
{
	struct spawn *s = t->data;

	spawn_done(s, NULL, 125, s->failure);
}

/* viv-keeper is beside vivd, or where 'make install' puts both. */
static void keeper_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 32);

	path[MAX(n, 0)] = '\0';
	strcpy(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, "viv-keeper");
}

static int process_start(struct daemon *d, struct spawn *s, int words, int ready, int said)
{
	static char name[] = "viv-keeper";
	char *argv[] = { name, NULL }, path[4096];
	uv_stdio_container_t stdio[] = {
		{ .flags = UV_IGNORE },
		{ .flags = UV_IGNORE },
		{ .flags = UV_INHERIT_FD, .data.fd = said },
		[KEEPER_FD_WORDS] = { .flags = UV_INHERIT_FD, .data.fd = words },
		[KEEPER_FD_READY] = { .flags = UV_INHERIT_FD, .data.fd = ready },
	};
	uv_process_options_t o = { .file = path,
				   .args = argv,
				   .stdio = stdio,
				   .stdio_count = ARRAY_LEN(stdio),
				   .flags = UV_PROCESS_DETACHED,
				   .exit_cb = on_exit_of };
	int err;

	keeper_path(path, sizeof(path));
	s->process.data = s;
	err = uv_spawn(&d->loop, &s->process, &o);
	s->nhandles++; /* to be closed in any case */
	if (!err)
		return 0;
	uv_close((uv_handle_t *)&s->process, on_closed);
	snprintf(s->failure, sizeof(s->failure), "cannot start %.150s: %.80s", path,
		 uv_strerror(err));
	return -1;
}

void keeper_spawn(struct daemon *d, const struct buf *words, spawn_fn fn, void *arg)
{
	struct spawn *s = xalloc(sizeof(*s));
	int pair[2] = { -1, -1 }, said[2] = { -1, -1 }, fd;

	s->fn = fn;
	s->arg = arg;
	s->ready = s->said = -1;
	uv_timer_init(&d->loop, &s->timer);
	s->timer.data = s;
	s->nhandles = 1;
	fd = memfd_sealed("viv-words", words->p, words->len);
	if (fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    pipe2(said, O_CLOEXEC | O_NONBLOCK) < 0) {
		snprintf(s->failure, sizeof(s->failure), "cannot start a keeper: %s",
			 strerror(fd < 0 ? -fd : errno));
		uv_timer_start(&s->timer, on_failure, 0, 0);
	} else {
		/* It may wait for its messages to be read; we do not. */
		fcntl(said[1], F_SETFL, 0);
		s->ready = pair[0];
		s->said = said[0];
		if (process_start(d, s, fd, pair[1], said[1]) < 0) {
			uv_timer_start(&s->timer, on_failure, 0, 0);
		} else {
			uv_poll_init(&d->loop, &s->poll, s->ready);
			s->poll.data = s;
			s->nhandles++;
			uv_poll_start(&s->poll, UV_READABLE, on_ready);
		}
		pair[0] = said[0] = -1;
	}
	for (int i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		if (said[i] >= 0)
			close(said[i]);
	}
	if (fd >= 0)
		close(fd);
}
