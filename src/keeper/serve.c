/* Clients of a keeper: the socket, and what they ask for (wire.h). A client is of the same user or
 * root; it is believed, but what it sends is checked, and a client that does not read is sent
 * away. */
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

#include "host/isolate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"
#include "store/store.h"

#define LAST_WORDS NSEC_PER_SEC
#define PENDING_MAX 4096 /* requests that a kernel which reads and does not answer can keep */

struct client {
	struct channel ch; /* first */
	struct list link;
	bool gone; /* to be freed when nobody is in it any more */
	uint32_t events_id; /* of KEEP_SUBSCRIBE; 0: none */
	uint64_t next_event;
	bool said_only; /* KEEP_SAID */
};

/* A request that was passed on to the kernel. */
struct pending {
	struct list link;
	uint32_t request, id;
	uint32_t type; /* enum keep_type */
	struct client *client; /* NULL: went away */
	int fd; /* that is kept until the answer; -1: none */
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
	struct pending *p;

	if (c->gone)
		return;
	c->gone = true;
	procs_client_gone(c);
	put_client_gone(c);
	policy_client_gone(c);
	door_client_gone(c);
	list_for_each(p, &keeper.pending, link)
		if (p->client == c)
			p->client = NULL;
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

/* ---- requests that the kernel answers ---- */

bool pass_on_kept(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
		  unsigned nfds, int kept)
{
	struct pending *p = keeper.npending < PENDING_MAX ? malloc(sizeof(*p)) : NULL;

	m->request = ++keeper.last_request;
	if (!p) {
		for (unsigned i = 0; i < nfds; i++)
			close(fds[i]);
	}
	if (!p || !control_put(m, fds, nfds)) {
		free(p);
		client_fail(c, in->id, ERR_FAILED, 0, "the cell does not answer");
		return false;
	}
	*p = (struct pending){
		.request = m->request, .id = in->id, .type = in->type, .client = c, .fd = kept
	};
	list_init(&p->link);
	list_append(&keeper.pending, &p->link);
	keeper.npending++;
	return true;
}

bool pass_on(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
	     unsigned nfds)
{
	return pass_on_kept(c, in, m, fds, nfds, -1);
}

static void done_answer(const struct pending *p, int err)
{
	if (p->fd >= 0) {
		inbound_done(p->fd, err);
		return;
	}
	if (p->type == KEEP_LIMITS || p->type == KEEP_TAKE) {
		(p->type == KEEP_LIMITS ? limits_answer : take_answer)(p->client, p->id, err);
		return;
	}
	if (p->type == KEEP_POLICY) {
		policy_taken(err);
		return;
	}
	switch (-err) {
	case 0:
		if (p->type == KEEP_PAUSE || p->type == KEEP_RESUME)
			state_set(p->type == KEEP_PAUSE	    ? KEEP_PAUSED
				  : proc_by_num(KEEP_FIRST) ? KEEP_RUNNING
							    : KEEP_IDLE);
		if (p->type == KEEP_PAUSE || p->type == KEEP_RESUME)
			journal_operator(p->type == KEEP_PAUSE ? "pause" : "resume", "");
		client_ok(p->client, p->id, 0);
		break;
	case ESRCH:
		client_fail(p->client, p->id, ERR_NOT_FOUND, 0, "the process has ended");
		break;
	case ECONNREFUSED:
		client_fail(p->client, p->id, ERR_NOT_FOUND, 0,
			    "no program in the cell listens at this port");
		break;
	case ENOTTY:
		client_fail(p->client, p->id, ERR_CONFLICT, 0, "the process has no terminal");
		break;
	case EBUSY:
		client_fail(p->client, p->id, ERR_CONFLICT, 0,
			    "the cell is paused" REMEDY "'viv resume' lets it go on");
		break;
	default:
		client_fail(p->client, p->id, ERR_FAILED, 0, "%s", strerror(-err));
	}
}

void pending_answer(const struct ctl_msg *m)
{
	struct pending *p, *found = NULL;

	list_for_each(p, &keeper.pending, link)
		if (p->request == m->request)
			found = p;
	if (!found)
		return;
	if (m->type == CTL_STATS) {
		struct keep_msg out = { .type = KEEP_STATS, .stats = m->stats };

		client_send(found->client, found->id, &out, NULL, 0);
	} else {
		done_answer(found, m->a);
	}
	list_remove(&found->link);
	keeper.npending--;
	free(found);
}

/* ---- sealing ---- */

/* e NULL: it is made. */
static void seal_answer(const struct err *e)
{
	keeper.seal_runs = false;
	if (e)
		client_err(keeper.sealing, keeper.seal_id, 0, e);
	else
		client_ok(keeper.sealing, keeper.seal_id, keeper.seal_layer);
	keeper.sealing = NULL;
}

/* What the tree file says comes first: a layer that it names and nobody made yet is an empty one,
 * but one that it does not name is lost. */
static void seal_start(struct client *c, const struct keep_msg *in)
{
	struct rootfs *p = keeper.rootfs;
	struct ctl_msg m = { .type = CTL_SEAL, .text = "sync" };
	struct err e;
	int err;

	if (!p->kept) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell keeps no files" REMEDY "a snapshot needs a cell with --name");
		return;
	}
	if (keeper.seal_runs) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "a snapshot is being made" REMEDY "try again");
		return;
	}
	if (in->text[0] && !disk_name_is_valid(in->text)) {
		client_fail(c, in->id, ERR_USAGE, 0, "'%.64s' is not a valid name for a snapshot",
			    in->text);
		return;
	}
	keeper.sealing = c;
	keeper.seal_runs = true;
	keeper.seal_id = in->id;
	keeper.seal_layer = p->disk.active;
	snprintf(keeper.seal_name, sizeof(keeper.seal_name), "%.*s", DISK_NAME_MAX, in->text);
	err = disk_seal_start(p->store.fd, &p->disk, in->text);
	if (err) {
		if (err == -EEXIST)
			err_set(&e, ERR_CONFLICT, "cell '%s' has a snapshot '%.64s' already",
				p->cell.name, in->text);
		else if (err == -ELOOP)
			err_set(&e, ERR_FAILED,
				"the cell has as many layers of snapshots on top of each other as "
				"there can be" REMEDY "stop and start it, which makes one of them");
		else
			err_set(&e, ERR_FAILED, "cannot make a snapshot of cell '%s': %s",
				p->cell.name, strerror(-err));
		seal_answer(&e);
		return;
	}
	m.a = (int32_t)p->disk.active;
	if (!control_put(&m, NULL, 0)) {
		disk_unseal(&p->disk);
		err_set(&e, ERR_FAILED, "the cell does not answer");
		seal_answer(&e);
	}
}

void seal_end(int err)
{
	struct err e;

	if (!keeper.seal_runs)
		return;
	if (err)
		disk_unseal(&keeper.rootfs->disk);
	else
		err = disk_seal_end(&keeper.rootfs->disk);
	if (err)
		err_set(&e, ERR_FAILED, "cannot make a snapshot of cell '%s': %s",
			keeper.rootfs->cell.name, strerror(-err));
	else
		journal_operator("snapshot", keeper.seal_name);
	seal_answer(err ? &e : NULL);
}

/* ---- requests ---- */

static void hello(struct client *c, const struct keep_msg *in)
{
	struct keep_msg m = { .type = KEEP_HELLO };
	const struct kproc *first = proc_by_num(KEEP_FIRST);
	/* 'viv run --rm --name' has vivd remove the cell, which is over by then. */
	bool stays = !keeper.detached && keeper.o->rm;

	keeper.word |= in->flags & KEEP_WORD;
	m.hello = (struct keep_hello){
		.version = KEEP_VERSION,
		.state = keeper.state,
		.keeper_pid = stays ? 0 : getpid(),
		.kernel_pid = keeper.kernel->pid,
		.started = keeper.started,
		.next_event = events_next(),
		.first_event = events_first(),
		.flags = (keeper.detached && !keeper.leash ? 0 : KEEP_H_FOREGROUND) |
			 (ports_are_open() ? KEEP_H_PORTS : 0) |
			 (asks_are_open() ? KEEP_H_ASKS : 0) | (door_is_open() ? KEEP_H_DOOR : 0) |
			 KEEP_H_WHOLE
	};
	snprintf(m.hello.id, sizeof(m.hello.id), "%s", keeper.id);
	snprintf(m.hello.name, sizeof(m.hello.name), "%s",
		 keeper.rootfs->kept ? keeper.rootfs->cell.name : "");
	snprintf(m.hello.image, sizeof(m.hello.image), "%s",
		 keeper.rootfs->kept ? keeper.rootfs->cell.image
		 : keeper.o->image   ? keeper.o->image
				     : "host");
	snprintf(m.hello.command, sizeof(m.hello.command), "%s", first ? first->command : "");
	client_send(c, in->id, &m, NULL, 0);
}

static void procs_list(struct client *c, const struct keep_msg *in)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link) {
		if (p->flags & KEEP_X_QUIET)
			continue;
		struct keep_msg m = { .type = KEEP_PROC, .proc = p->num, .pid = p->pid };

		m.proc_is = (struct keep_proc){ .flags = p->flags,
						.ended = p->ended,
						.status = p->status,
						.timed_out = p->termed,
						.started = p->started };
		snprintf(m.proc_is.command, sizeof(m.proc_is.command), "%s", p->command);
		client_send(c, in->id, &m, NULL, 0);
	}
	client_ok(c, in->id, 0);
}

static void logs(struct client *c, const struct keep_msg *in, const struct kproc *p)
{
	struct keep_msg m = { .type = KEEP_LOGS, .proc = p->num };
	int fds[2];
	unsigned n = p->log ? log_open(p->num, fds) : 0;

	if (!n)
		client_fail(c, in->id, ERR_NOT_FOUND, 0,
			    "the output of this process is not kept; it went to the client that "
			    "started it");
	else
		client_send(c, in->id, &m, fds, n);
}

static void subscribe(struct client *c, const struct keep_msg *in)
{
	uint64_t from = in->n ? MAX(in->n, events_first()) : events_next();

	c->events_id = in->id;
	c->said_only = in->flags & KEEP_SAID;
	c->next_event = MIN(from, events_next());
	client_ok(c, in->id, c->next_event);
	events_pump(&c->ch);
}

void leash_suspend(void)
{
	struct keep_msg m = { .type = KEEP_SUSPEND };

	client_send(keeper.leash, 0, &m, NULL, 0);
}

/* Those that name a process. */
static void proc_request(struct client *c, const struct keep_msg *in)
{
	struct kproc *p = proc_by_num(in->proc);
	struct ctl_msg m = { .id = in->proc, .a = in->a, .b = in->b };

	if (in->type == KEEP_SIGNAL && (in->flags & KEEP_AS_TYPED)) {
		m.type = CTL_SIGNAL;
		control_put(&m, NULL, 0);
		return;
	}
	if (!p) {
		client_fail(c, in->id, ERR_NOT_FOUND, 0, "the cell has no process %u", in->proc);
		return;
	}
	switch (in->type) {
	case KEEP_WAIT:
		proc_wait(c, in->id, p);
		return;
	case KEEP_LOGS:
		logs(c, in, p);
		return;
	case KEEP_ATTACH:
		proc_attach(c, in->id, p);
		return;
	case KEEP_CLOSE_INPUT:
		proc_close_input(p);
		client_ok(c, in->id, 0);
		return;
	case KEEP_SIGNAL:
		m.type = CTL_PROC_SIGNAL;
		m.b = in->flags & KEEP_TO_GROUP ? 1 : 0;
		break;
	default:
		m.type = CTL_RESIZE;
	}
	pass_on(c, in, &m, NULL, 0);
}

static void request(struct channel *ch, void *msg, int *fds, unsigned nfds)
{
	struct client *c = (struct client *)ch;
	struct keep_msg *in = msg;
	struct ctl_msg m = { 0 };
	struct err e;

	in->text[sizeof(in->text) - 1] = 0;
	if (in->type == KEEP_TAKE) {
		take_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_DIAL) {
		dial_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_POLICY) {
		policy_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_PUT) {
		put_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_JOURNAL) {
		journal_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_EXEC && !keeper.alone && pool_leave(c, in)) {
		bool listed = c == keeper.leash && !keeper.id[0] && id_random(&e) == 0;

		if (listed && journal_begin(&e) < 0) {
			for (unsigned i = 0; i < nfds; i++)
				close(fds[i]);
			client_err(c, in->id, EXIT_OWN, &e);
			return;
		}
		proc_start(c, in->id, &in->exec, fds, nfds);
		/* The command of a 'viv run' is on its way. */
		if (listed)
			serve_listed();
		return;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	switch (in->type) {
	case KEEP_EXEC: /* else answered */
		if (keeper.alone)
			client_fail(c, in->id, ERR_CONFLICT, 0,
				    "the cell was started by 'viv run' in the foreground without a "
				    "name, and runs nothing but its command" REMEDY
				    "start it with --name or --detach");
		break;
	case KEEP_HELLO:
		hello(c, in);
		break;
	case KEEP_WAIT:
	case KEEP_SIGNAL:
	case KEEP_RESIZE:
	case KEEP_LOGS:
	case KEEP_ATTACH:
	case KEEP_CLOSE_INPUT:
		proc_request(c, in);
		break;
	case KEEP_TAKEN:
		if (proc_by_num(in->proc))
			proc_taken(proc_by_num(in->proc), in->n);
		break;
	case KEEP_STOP:
		journal_operator("stop", "");
		client_ok(c, in->id, 0);
		cell_stop(keep_grace(in));
		break;
	case KEEP_KILL:
		journal_operator("kill", "");
		client_ok(c, in->id, 0);
		keeper.reason = KEEP_ASKED;
		kernel_kill();
		break;
	case KEEP_PAUSE:
	case KEEP_RESUME:
		m.type = in->type == KEEP_PAUSE ? CTL_PAUSE : CTL_RESUME;
		if (keeper.state != (in->type == KEEP_RESUME ? KEEP_PAUSED : KEEP_RUNNING) &&
		    !(in->type == KEEP_PAUSE && keeper.state == KEEP_IDLE))
			client_fail(c, in->id, ERR_CONFLICT, 0, "the cell is %s paused",
				    in->type == KEEP_RESUME ? "not" : "stopping, or already");
		else
			pass_on(c, in, &m, NULL, 0);
		break;
	case KEEP_SEAL:
		seal_start(c, in);
		break;
	case KEEP_FORGET:
		forget_request(c, in);
		break;
	case KEEP_ROLLBACK:
		rollback_request(c, in);
		break;
	case KEEP_STATS:
		m.type = CTL_STATS;
		pass_on(c, in, &m, NULL, 0);
		break;
	case KEEP_PROCS:
		procs_list(c, in);
		break;
	case KEEP_ASKS:
		asks_request(c, in);
		break;
	case KEEP_ANSWER:
		answer_request(c, in);
		break;
	case KEEP_PORTS:
		ports_request(c, in);
		break;
	case KEEP_DOOR:
		door_request(c, in);
		break;
	case KEEP_TOOLS:
		tools_request(c, in);
		break;
	case KEEP_LIMITS:
		if (pool_leave(c, in))
			limits_request(c, in);
		break;
	case KEEP_SUBSCRIBE:
		subscribe(c, in);
		break;
	default:
		client_fail(c, in->id, ERR_USAGE, 0,
			    "the cell was started by another version of viv");
	}
}

/* ---- the socket ---- */

static int cells_dir = -1; /* RUN/cells, of a cell that is listed only */

static void client_gone(struct channel *ch)
{
	client_leave((struct client *)ch);
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
	c->ch.in = request;
	c->ch.idle = events_pump;
	c->ch.gone = client_gone;
	if (channel_init(&c->ch, fd, KEEP_BACKLOG) == 0)
		return c;
	close(fd);
	c->ch.src.fd = -1;
	client_free(c);
	return NULL;
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
	struct pending *p, *ptmp;
	struct err e;
	int dir;

	list_for_each_safe(p, ptmp, &keeper.pending, link) {
		client_fail(p->client, p->id, ERR_FAILED, 0, "the cell ended while it was asked");
		if (p->fd >= 0)
			inbound_done(p->fd, -ECONNREFUSED);
		list_remove(&p->link);
		free(p);
	}
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
