/* Clients of a keeper: the socket they come by, and what is sent to them. A client is of the same
 * user or root; it is believed, but what it sends is checked (requests.c), and a client that does
 * not read is sent away. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper/frozen.h"
#include "keeper/keeper.h"
#include "store/store.h"

#define LAST_WORDS NSEC_PER_SEC

struct client {
	struct channel ch; /* first */
	struct list link;
	bool gone; /* to be freed when nobody is in it any more */
	uint32_t events_id; /* of KEEP_SUBSCRIBE; 0: none */
	uint64_t next_event;
	bool said_only; /* KEEP_SAID */
	bool lease; /* KEEP_LEASE */
};

/* ---- answers ---- */

static void client_free(struct client *c)
{
	list_remove(&c->link);
	keeper.nclients--;
	channel_close(&c->ch);
	free(c);
}

static void client_leave(struct client *c)
{
	if (c->gone)
		return;
	c->gone = true;
	procs_client_gone(c);
	put_client_gone(c);
	policy_client_gone(c);
	door_client_gone(c);
	frozen_client_gone(c);
	pending_client_gone(c);
	if (keeper.sealing == c)
		keeper.sealing = NULL;
	if (keeper.rolling == c)
		keeper.rolling = NULL;
	channel_close(&c->ch);
	if (keeper.leash == c) {
		keeper.leash = NULL;
		if (!keeper.reason)
			keeper.reason = KEEP_ASKED;
		if (!keeper.stay.ended)
			kernel_kill();
	}
	if (keeper.o->visit)
		cell_stop(0);
}

/* Between two rounds: nobody has a pointer to them on the stack. */
static void clients_sweep(void)
{
	struct client *c, *tmp;

	list_for_each_safe(c, tmp, &keeper.clients, link)
		if (c->gone)
			client_free(c);
}

void client_send(struct client *c, uint32_t id, struct keep_msg *m, const int *fds, unsigned nfds)
{
	m->id = id;
	if (!c || c->gone) {
		for (unsigned i = 0; i < nfds; i++)
			close(fds[i]);
		return;
	}
	if (!channel_send(&c->ch, m, fds, nfds))
		client_leave(c);
}

void client_err(struct client *c, uint32_t id, int status, const struct err *e)
{
	struct keep_msg m = { .a = status };

	keep_fail_set(&m, e);
	client_send(c, id, &m, NULL, 0);
}

void client_fail(struct client *c, uint32_t id, enum err_kind kind, int status, const char *fmt,
		 ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, kind, fmt, ap);
	va_end(ap);
	client_err(c, id, status, &e);
}

void client_ok(struct client *c, uint32_t id, uint64_t n)
{
	struct keep_msg m = { .type = KEEP_OK, .n = n };

	client_send(c, id, &m, NULL, 0);
}

/* Events are sent from the ring as fast as the client takes them. */
static void events_pump(struct channel *ch)
{
	struct client *c = (struct client *)ch;

	while (!c->gone && c->events_id && c->next_event < events_next() && c->ch.nout < 64) {
		struct keep_msg m;

		if (c->next_event < events_first()) { /* it slept too long */
			client_leave(c);
			return;
		}
		m = *event_get(c->next_event++);
		if (!c->said_only || m.kind == KEEP_EV_LIMIT || m.kind == KEEP_EV_OOM ||
		    m.kind == KEEP_EV_LOG || m.kind == KEEP_EV_END)
			client_send(c, c->events_id, &m, NULL, 0);
	}
}

void clients_events(void)
{
	struct client *c;

	list_for_each(c, &keeper.clients, link)
		events_pump(&c->ch);
}

void client_subscribe(struct client *c, const struct keep_msg *in)
{
	uint64_t from = in->n ? MAX(in->n, events_first()) : events_next();

	c->events_id = in->id;
	c->said_only = in->flags & KEEP_SAID;
	c->next_event = MIN(from, events_next());
	client_ok(c, in->id, c->next_event);
	events_pump(&c->ch);
}

void client_lease(struct client *c)
{
	c->lease = true;
}

void leash_suspend(void)
{
	struct keep_msg m = { .type = KEEP_SUSPEND };

	client_send(keeper.leash, 0, &m, NULL, 0);
}

/* ---- the socket ---- */

static int cells_dir = -1; /* RUN/cells, of a cell that is listed only */

static void client_gone(struct channel *ch)
{
	client_leave((struct client *)ch);
}

static void on_request(struct channel *ch, void *msg, int *fds, unsigned nfds)
{
	client_request((struct client *)ch, msg, fds, nfds);
}

/* Takes fd. NULL: there is no room, and it is closed. */
static struct client *client_new(int fd)
{
	struct client *c = keeper.nclients < KEEP_MAX_CLIENTS ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		close(fd);
		return NULL;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	list_init(&c->link);
	list_append(&keeper.clients, &c->link);
	keeper.nclients++;
	c->ch.in = on_request;
	c->ch.idle = events_pump;
	c->ch.gone = client_gone;
	if (channel_init(&c->ch, fd, KEEP_BACKLOG) == 0)
		return c;
	close(fd);
	c->ch.src.fd = -1;
	client_free(c);
	return NULL;
}

void serve_leases_end(void)
{
	struct client *c;

	list_for_each(c, &keeper.clients, link)
		if (c->lease)
			client_leave(c);
}

int serve_leash(int fd)
{
	if (keeper.rootfs->stored)
		flock(keeper.rootfs->image.dir, LOCK_UN);
	keeper.leash = client_new(fd);
	return keeper.leash ? 0 : -1;
}

void serve_visitor(int fd)
{
	(void)client_new(fd);
}

void leash_over(void)
{
	if (keeper.leash && keeper.rootfs->stored)
		flock(keeper.rootfs->image.dir, LOCK_UN);
}

static void client_accept(struct source *s, uint32_t events)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	socklen_t len = sizeof(struct ucred);
	struct ucred who;

	(void)events;
	clients_sweep();
	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	    (who.uid == geteuid() || !who.uid))
		(void)client_new(fd);
	else
		close(fd);
}

/* A socket under its name has somebody who listens: it gets the name last. Who finds one that has
 * not may remove it (client.c), with the directory locked as here, so that it is not a new one's by
 * then. */
int serve_open(struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int dir = keep_cells_dir(e), fd;
	char name[KEEP_ID_LEN + 8], new[KEEP_ID_LEN + 8];
	bool ok, taken;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.sock", keeper.id);
	snprintf(new, sizeof(new), "%s.new", keeper.id);
	/* By way of the directory's descriptor: the path itself may be longer than a socket's
	 * address. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir, new);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	taken = flock(dir, LOCK_EX) == 0 && keep_is_heard(dir, keeper.id);
	unlinkat(dir, new, 0);
	ok = !taken && fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	     fchmodat(dir, new, 0600, 0) == 0 && listen(fd, 128) == 0 &&
	     renameat(dir, new, dir, name) == 0;
	if (taken)
		err_note(e, ERR_CONFLICT, "the cell runs already");
	else if (!ok)
		err_note(e, ERR_FAILED, "cannot listen for requests to the cell: %s",
			 strerror(errno));
	close(dir);
	if (ok && source_add(&keeper.listening, fd, EPOLLIN, client_accept) == 0)
		return 0;
	if (ok)
		err_note(e, ERR_FAILED, "cannot listen for requests to the cell");
	if (fd >= 0)
		close(fd);
	keeper.listening.fd = -1;
	return -1;
}

/* Is RUN there, or to be made in a directory of our own? After 'su' the environment names another
 * user's, who could not use what we make there. */
static bool run_is_ours(const char *run)
{
	char parent[4096];
	struct stat st;

	if (access(run, F_OK) == 0)
		return true;
	snprintf(parent, sizeof(parent), "%.*s/", (int)(strrchr(run, '/') - run), run);
	return stat(parent, &st) == 0 && st.st_uid == geteuid();
}

/* Most cells start like this, so little is done. The id is new: nobody else takes the name, and
 * whoever has the directory locked is not waited for. vivd watches for names that are given by a
 * rename; this one it finds when it is asked for cells. */
void serve_listed(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char path[4096];
	struct err e;
	int fd, n, dir = -1;
	mode_t mask;
	bool ok;

	if (store_run_path(path, sizeof(path), &e) < 0 || !run_is_ours(path) ||
	    (dir = keep_cells_dir(&e)) < 0)
		return;
	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/cells/%s.sock", path, keeper.id);
	if ((size_t)n >= sizeof(sa.sun_path))
		snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s.sock", dir,
			 keeper.id);
	(void)flock(dir, LOCK_SH | LOCK_NB);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	ok = fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
	umask(mask);
	ok = ok && listen(fd, 128) == 0 &&
	     source_add(&keeper.listening, fd, EPOLLIN, client_accept) == 0;
	flock(dir, LOCK_UN);
	if (ok) {
		cells_dir = dir;
		return;
	}
	keeper.listening.fd = -1;
	if (fd >= 0)
		close(fd);
	close(dir);
}

static bool clients_wait(void)
{
	struct client *c;

	list_for_each(c, &keeper.clients, link)
		if (!c->gone && c->ch.nout)
			return true;
	return false;
}

void serve_close(void)
{
	int64_t until = clock_mono() + LAST_WORDS;
	char name[KEEP_ID_LEN + 8];
	struct client *c, *tmp;
	struct err e;
	int dir;

	pending_end();
	if (keeper.listening.fd >= 0) {
		source_close(&keeper.listening);
		dir = cells_dir >= 0 ? cells_dir : keep_cells_dir(&e);
		snprintf(name, sizeof(name), "%s.sock", keeper.id);
		if (dir >= 0) {
			unlinkat(dir, name, 0);
			close(dir);
		}
	}
	while (clients_wait() && clock_mono() < until)
		sources_wait(until);
	list_for_each_safe(c, tmp, &keeper.clients, link)
		client_free(c);
}
