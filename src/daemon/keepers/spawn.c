/* See spawn.h; the other side of it is keeper/main.c. A keeper says once on a socket whether its
 * cell runs, or why it does not. */
#include "daemon/keepers/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/keepers/program.h"
#include "wire/memfd.h"

struct spawn {
	uv_work_t work;
	uv_poll_t poll, end; /* of ready, and of the process */
	int words, ready_out; /* for the process; -1: none */
	int ready; /* our end; -1: none */
	pid_t pid; /* or -errno */
	int pidfd;
	unsigned nhandles;
	bool exited, failed;
	int status; /* of a failure, */
	struct err failure; /* and why; kind 0: none yet */
	spawn_fn fn;
	void *arg;
};

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void on_closed(uv_handle_t *h)
{
	struct spawn *s = h->data;

	if (--s->nhandles == 0)
		free(s);
}

static void spawn_done(struct spawn *s, const struct keep_hello *hello, int status,
		       const struct err *e)
{
	s->fn(s->arg, hello, s->ready, status, e);
	/* Now, and not when its process has ended: a keeper in a pool waits for the end of this. */
	fd_close(&s->ready);
}

/* A failure is told when the keeper is gone: it may have something to leave, and has locks. */
static void on_end(uv_poll_t *p, int status, int events)
{
	struct spawn *s = p->data;

	(void)status;
	(void)events;
	waitpid(s->pid, NULL, WNOHANG);
	s->exited = true;
	if (s->failed)
		spawn_done(s, NULL, s->status, &s->failure);
	uv_close((uv_handle_t *)p, on_closed);
	fd_close(&s->pidfd);
}

static void on_ready(uv_poll_t *p, int status, int events)
{
	struct spawn *s = p->data;
	struct keep_msg m;
	ssize_t n = recv(s->ready, &m, sizeof(m), MSG_DONTWAIT);

	(void)status;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	uv_close((uv_handle_t *)p, on_closed);
	if (n == sizeof(m) && m.type == KEEP_HELLO) {
		spawn_done(s, &m.hello, 0, NULL);
		return;
	}
	s->failed = true;
	s->status = 125;
	if (n == sizeof(m)) {
		s->status = m.a;
		keep_fail_get(&m, &s->failure);
	} else {
		err_note(&s->failure, ERR_FAILED, "the cell's keeper ended at its start");
	}
	if (s->exited)
		spawn_done(s, NULL, s->status, &s->failure);
}

/* In a thread. Nothing of vivd is copied for it. */
static void spawn_work(uv_work_t *w)
{
	static char name[] = "viv-keeper";
	struct spawn *s = w->data;
	char *argv[] = { name, NULL };
	int fds[PROGRAM_FDS] = { -1, -1, -1 };

	if (s->failure.kind)
		return;
	fds[KEEPER_FD_WORDS] = s->words;
	fds[KEEPER_FD_READY] = s->ready_out;
	s->pid = program_spawn(name, argv, fds);
}

static void spawn_worked(uv_work_t *w, int status)
{
	struct spawn *s = w->data;
	uv_loop_t *loop = w->loop;

	(void)status;
	fd_close(&s->words);
	fd_close(&s->ready_out);
	if (s->pid < 0)
		err_note(&s->failure, ERR_FAILED, "cannot start viv-keeper: %s", strerror(-s->pid));
	if (s->failure.kind) {
		spawn_done(s, NULL, 125, &s->failure);
		free(s);
		return;
	}
	s->poll.data = s->end.data = s;
	uv_poll_init(loop, &s->poll, s->ready);
	uv_poll_start(&s->poll, UV_READABLE, on_ready);
	s->nhandles = 1;
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0 && uv_poll_init(loop, &s->end, s->pidfd) == 0) {
		uv_poll_start(&s->end, UV_READABLE, on_end);
		s->nhandles = 2;
	} else {
		s->exited = true; /* as far as we will ever know */
	}
}

/* All of them are in the socket before the keeper is there to read. One that does not get them
 * opens its own. */
static void sockets_send(int to, int *fds, unsigned nfds)
{
	for (unsigned at = 0; at < nfds; at += KEEP_MAX_FDS) {
		unsigned n = MIN(nfds - at, (unsigned)KEEP_MAX_FDS);
		struct keep_msg m = { .type = KEEP_PORTS, .a = at + n < nfds };

		if (to < 0 || keep_send(to, &m, fds + at, n, KEEP_NOWAIT) < 0)
			break;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
}

void keeper_spawn(struct daemon *d, const struct buf *words, spawn_fn fn, void *arg)
{
	keeper_spawn_given(d, words, NULL, 0, fn, arg);
}

void keeper_spawn_given(struct daemon *d, const struct buf *words, int *given, unsigned ngiven,
			spawn_fn fn, void *arg)
{
	struct spawn *s = xalloc(sizeof(*s));
	int pair[2] = { -1, -1 }, fd;

	s->fn = fn;
	s->arg = arg;
	s->pidfd = -1;
	s->work.data = s;
	fd = memfd_sealed("viv-words", words->p, words->len);
	if (fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		err_note(&s->failure, ERR_FAILED, "cannot start a keeper: %s",
			 strerror(fd < 0 ? -fd : errno));
	sockets_send(pair[0], given, ngiven);
	s->words = program_fd(fd);
	s->ready = pair[0];
	s->ready_out = program_fd(pair[1]);
	if (!s->failure.kind && (s->words < 0 || s->ready_out < 0))
		err_note(&s->failure, ERR_FAILED, "cannot start a keeper: %s", strerror(errno));
	uv_queue_work(&d->loop, &s->work, spawn_work, spawn_worked);
}
