/* See pooled.h. The command gets viv's own streams, signals reach it as they would in a cell of
 * viv's own (keeper/stay.h), and the cell ends with viv: the connection to its keeper is its leash.
 *
 * What a booted cell cannot be given any more (room on its disk, mounts, a name, a terminal as
 * console, a trace, another host name) makes viv start a cell of its own, as does a vivd that does
 * not run, has none to give, or lives in other surroundings. VIV_POOL=0 forbids the pool;
 * VIV_POOL=1 allows it when the cell would be counted in another cgroup than viv. */
#include "cli/pooled.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/client.h"
#include "keeper/pool.h"
#include "keeper/stay.h"

#define BACKLOG 4096 /* messages that wait for the keeper */
/* How long the keeper of a cell that was killed may take to say why. */
#define LAST_WORDS NSEC_PER_SEC

struct pooled {
	struct stay stay; /* first */
	struct channel keeper;
	const struct run_options *o;
	struct err *e; /* of viv run */
	uint32_t exec_id;
	bool said_end; /* the keeper has, or it is gone */
};

static const char *setting(void)
{
	const char *s = getenv("VIV_POOL");

	return s ? s : "";
}

/* Can a cell of the pool become the one that is asked for? It has no terminal of ours. */
static bool fits(const struct run_options *o)
{
	if (!run_fits_warm(o) || o->tty || (o->ports && o->ports[0]) || o->tell.mode != MODE_RUN)
		return false;
	for (int i = 0; i < 3; i++)
		if (isatty(i))
			return false;
	return true;
}

/* ---- while it runs ---- */

static void signal_send(struct stay *s, int sig)
{
	struct pooled *r = (struct pooled *)s;
	const struct keep_msg m = { .type = KEEP_SIGNAL, .flags = KEEP_AS_TYPED, .a = sig };

	channel_send(&r->keeper, &m, NULL, 0);
}

static void time_up(struct stay *s)
{
	const struct run_options *o = ((struct pooled *)s)->o;

	signal_send(s, o->stop_signal ? o->stop_signal : SIGTERM);
	signal_send(s, SIGCONT);
}

/* The cell ends with us. */
static void overdue(struct stay *s)
{
	s->ended = true;
}

static const struct stay_ops keeper_ops = { .signal = signal_send,
					    .time_up = time_up,
					    .overdue = overdue };

static void event(void *arg, struct keep_msg *m)
{
	struct pooled *r = arg;
	struct err e = { 0 };

	if (m->type != KEEP_EVENT)
		return;
	if (m->kind == KEEP_EV_END) {
		r->said_end = true;
		if (m->b == KEEP_FAILED)
			keep_text_get(m->text, ERR_FAILED, &e);
		if (m->b == KEEP_FAILED || m->b == KEEP_OUT_OF_MEMORY)
			r->stay.status = stay_print_end((enum keep_reason)m->b, m->a, &e);
	} else if (!r->o->quiet && stay_prints((enum keep_event_kind)m->kind, m->a, m->b)) {
		warn("%s", m->text);
	}
}

static void message(struct channel *c, void *msg, int *fds, unsigned nfds)
{
	struct pooled *r = container_of(c, struct pooled, keeper);
	struct stay *s = &r->stay;
	struct keep_msg *m = msg;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]); /* it has none to give */
	m->text[sizeof(m->text) - 1] = '\0';
	event(r, m);
	if (m->type == KEEP_SUSPEND)
		stay_suspend(s);
	if (m->type == KEEP_EXITED && m->id == r->exec_id) {
		s->status = stay_status(m->a);
		/* Of a process that was killed from outside of the cell there is more to say. */
		if (WIFSIGNALED(m->a) && WTERMSIG(m->a) == SIGKILL)
			s->deadline = clock_mono() + LAST_WORDS;
		else
			s->ended = true;
	}
	s->ended |= r->said_end && s->status >= 0;
}

static void gone(struct channel *c)
{
	struct pooled *r = container_of(c, struct pooled, keeper);

	if (r->stay.status < 0)
		err_set(r->e, ERR_FAILED, "the cell's keeper was killed, and the cell with it");
	r->stay.ended = true;
	channel_close(c);
}

/* Takes both descriptors. */
static int stay_with(struct pooled *r, int keeper, int signals)
{
	int err = sources_init();

	r->keeper.in = message;
	r->keeper.gone = gone;
	if (!err)
		err = channel_init(&r->keeper, keeper, BACKLOG);
	if (!err)
		err = stay_begin(&r->stay, signals);
	if (err)
		return err_set(r->e, ERR_FAILED, "cannot watch the cell: %s", strerror(-err));
	while (!r->stay.ended)
		stay_round(&r->stay, 0);
	channel_close(&r->keeper);
	source_close(&r->stay.signals);
	return stay_end(&r->stay, r->o->quiet);
}

/* ---- the start ---- */

/* Before anything that there is something to say about. */
static bool events_ask(int fd)
{
	const struct keep_msg m = { .type = KEEP_SUBSCRIBE, .id = UINT32_MAX, .flags = KEEP_SAID };

	return keep_send(fd, &m, NULL, 0, 0) == 0;
}

/* False: they are not to be had. */
static bool limits_send(const struct run_options *o, int fd, struct keep_wait *w)
{
	struct keep_msg m = { .type = KEEP_LIMITS,
			      .limits = { .set = KEEP_L_CPUS | KEEP_L_MEMORY | KEEP_L_PIDS,
					  .cpu_milli = o->cpu_milli,
					  .memory = o->memory,
					  .pids = o->pids } },
			answer;
	struct err e;

	if (!o->cpu_milli && !o->memory && !o->pids)
		return true;
	if (keep_ask_by(fd, &m, NULL, 0, KEEP_OK, w, &answer, &e) < 0)
		return false;
	if (answer.n && !o->quiet)
		warn("--cpus: no cgroup can be had here; the cell gets %u whole processor%s",
		     (unsigned)answer.n, answer.n == 1 ? "" : "s");
	return true;
}

/* 1: it runs; 0: the cell is not to be had, and nothing ran; -1: it cannot run. */
static int start(struct pooled *r, const struct rootfs *p, int fd, struct keep_wait *w)
{
	struct keep_start s = { .exec = { .flags = KEEP_X_FIRST }, .fds = { -1, -1, -1 } };
	struct keep_msg m = { 0 };
	struct run_user user;
	bool tty, ok = true;
	int ret = 0;

	run_execspec(r->o, p->stored, &s.spec, &user);
	s.spec.flags = EXECSPEC_FILL;
	for (int i = 0; i < 3 && ok; i++)
		ok = (s.fds[i] = stream_open(i, &tty)) >= 0;
	if (ok && keep_exec(fd, &s, w, &m, r->e) == 0) {
		r->exec_id = m.id;
		ret = 1;
	} else if (ok && m.type == KEEP_FAIL && m.a) {
		ret = -1;
	}
	for (int i = 0; i < 3; i++)
		if (s.fds[i] >= 0)
			close(s.fds[i]);
	return ret;
}

bool run_pooled(const struct run_options *o, const struct rootfs *p, int *ret_status, struct err *e)
{
	struct pooled r = { .stay = { .ops = &keeper_ops, .terminal.fd = -1, .status = -1 },
			    .o = o,
			    .e = e };
	struct keep_wait w = { .other = event, .arg = &r };
	sigset_t before;
	int fd, runs = 0;

	if (!strcmp(setting(), "0") || !fits(o))
		return false;
	streams_fill();
	fd = pool_take(p->stored ? p->image.hash : "host",
		       !strcmp(setting(), "1") ? POOL_ANY_CGROUP : 0);
	if (fd < 0)
		return false;
	sigprocmask(SIG_BLOCK, NULL, &before);
	w.signals = stay_signals();
	if (o->timeout_ns)
		r.stay.deadline = clock_mono() + o->timeout_ns;
	if (w.signals >= 0 && events_ask(fd) && limits_send(o, fd, &w))
		runs = start(&r, p, fd, &w);
	if (runs > 0) {
		*ret_status = stay_with(&r, fd, w.signals);
		return true;
	}
	close(fd);
	if (w.signals >= 0)
		close(w.signals);
	/* Its keeper may have said how it ended before it was asked. */
	*ret_status = runs < 0 ? -1 : r.stay.status;
	if (w.signal)
		*ret_status = (fail(ERR_FAILED, "the cell does not answer"), 128 + w.signal);
	if (runs == 0 && *ret_status < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return false;
	}
	return true;
}
