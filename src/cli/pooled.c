/* See pooled.h. The command gets viv's own streams, signals reach it as they would in a cell of viv's own (keeper/watch.c), and the cell ends
 * with viv: the connection to its keeper is its leash.
 *
 * What a booted cell cannot be given any more (room on its disk, mounts, a name, a terminal as console, a trace, another host name) makes
 * viv start a cell of its own, as does a vivd that does not run, has none to give, or lives in other surroundings. VIV_POOL=0 forbids the
 * pool; VIV_POOL=1 allows it when the cell would be counted in another cgroup than viv. */
#include "cli/pooled.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/bootspec.h"
#include "host/stream.h"
#include "keeper/channel.h"
#include "keeper/client.h"
#include "keeper/pool.h"

#define GRACE (2 * NSEC_PER_SEC)
/* How long what is said of a cell that was killed may take. */
#define LAST_WORDS NSEC_PER_SEC

struct pooled {
	const struct run_options *o;
	int fd; /* of the keeper */
	int signals;
	uint32_t exec_id;
	int64_t deadline; /* by the monotonic clock; 0: none */
	bool timed_out, asked_to_stop;
	uint64_t unsent; /* signals that the keeper has no room for yet */
	int status; /* -1: it runs */
	bool was_killed; /* and the keeper tells why */
	bool said_end;
};

static const char *setting(void)
{
	const char *s = getenv("VIV_POOL");

	return s ? s : "";
}

/* Can a cell of the pool become the one that is asked for? It has no terminal of ours. */
static bool fits(const struct run_options *o)
{
	if (!run_fits_warm(o) || o->tty || o->tell.mode != MODE_RUN)
		return false;
	for (int i = 0; i < 3; i++)
		if (isatty(i))
			return false;
	return true;
}

/* ---- while it runs ---- */

#define SIGNAL_BIT(sig) (1ULL << ((sig)-1))

/* That the keeper is gone is noticed elsewhere. */
static void signals_send(struct pooled *r)
{
	for (int sig = 1; sig < 32; sig++) {
		struct keep_msg m = { .type = KEEP_SIGNAL, .flags = KEEP_AS_TYPED, .a = sig };

		if (!(r->unsent & SIGNAL_BIT(sig)))
			continue;
		if (keep_send(r->fd, &m, NULL, 0, KEEP_NOWAIT) == -EAGAIN)
			return;
		r->unsent &= ~SIGNAL_BIT(sig);
	}
}

static void signal_pass(struct pooled *r, int sig)
{
	if (sig == SIGPIPE || sig == SIGTTIN || sig == SIGTTOU)
		return;
	if (sig == SIGTSTP || sig == SIGCONT) { /* each takes the other back */
		r->asked_to_stop = sig == SIGTSTP;
		r->unsent &= ~(SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGCONT));
	}
	r->unsent |= SIGNAL_BIT(sig);
	signals_send(r);
}

static void deadline_passed(struct pooled *r)
{
	if (r->timed_out) {
		r->status = EXIT_TIMEOUT; /* and the cell goes with us */
		return;
	}
	r->timed_out = true;
	r->deadline = clock_mono() + GRACE;
	signal_pass(r, SIGTERM);
	signal_pass(r, SIGCONT);
}

static void ended(struct pooled *r, int wait_status)
{
	r->was_killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
	r->status =
		WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void event(struct pooled *r, const struct keep_msg *m)
{
	struct err e;

	switch (m->kind) {
	case KEEP_EV_LIMIT:
	case KEEP_EV_LOG:
	case KEEP_EV_OOM:
		/* How near a limit is, and what the host killed, is for who asks for events. */
		if (!r->o->quiet && !(m->kind == KEEP_EV_LIMIT && m->a) &&
		    !(m->kind == KEEP_EV_OOM && m->b))
			warn("%s", m->text);
		break;
	case KEEP_EV_END:
		r->said_end = true;
		if (m->b == KEEP_FAILED) {
			keep_text_get(m->text, ERR_FAILED, &e);
			report(&e);
			r->status = m->a;
		} else if (m->b == KEEP_OUT_OF_MEMORY) {
			warn("the cell was killed: it used more than --memory allows");
			r->status = m->a;
		}
		break;
	default:
		break;
	}
}

/* False: there is no message. */
static bool message_take(struct pooled *r, struct keep_msg *m)
{
	int err = keep_recv(r->fd, m, NULL, NULL, KEEP_NOWAIT);

	if (err == -EAGAIN)
		return false;
	if (err) {
		r->said_end = true;
		if (r->status < 0)
			r->status = fail(ERR_FAILED,
					 "the cell's keeper was killed, and the cell with it");
		return false;
	}
	if (m->type == KEEP_EVENT) {
		m->text[sizeof(m->text) - 1] = '\0';
		event(r, m);
	} else if (m->type == KEEP_EXITED && m->id == r->exec_id) {
		ended(r, m->a);
	} else if (m->type == KEEP_SUSPEND && r->asked_to_stop && !keep_signal_waits(SIGCONT)) {
		r->asked_to_stop = false;
		kill(getpid(), SIGSTOP);
	}
	return true;
}

static void wait_for(struct pooled *r, int64_t deadline)
{
	struct pollfd p[2] = { { .fd = r->fd, .events = POLLIN },
			       { .fd = r->signals, .events = POLLIN } };
	int64_t left = deadline ? MAX(deadline - clock_mono(), 0) : 0;
	struct signalfd_siginfo si;
	struct keep_msg m;

	if (r->unsent)
		p[0].events |= POLLOUT;
	poll(p, 2, deadline ? (int)MIN((left + 999999) / 1000000, 3600000) : -1);
	if (p[0].revents & POLLOUT)
		signals_send(r);
	while (p[1].revents && read(r->signals, &si, sizeof(si)) == sizeof(si))
		signal_pass(r, (int)si.ssi_signo);
	while (p[0].revents && message_take(r, &m))
		;
}

static int stay(struct pooled *r)
{
	int64_t until;

	while (r->status < 0) {
		wait_for(r, r->deadline);
		if (r->status < 0 && r->deadline && clock_mono() >= r->deadline)
			deadline_passed(r);
	}
	/* Of a process that was killed from outside of the cell there is more to say. */
	until = clock_mono() + LAST_WORDS;
	while (r->was_killed && !r->said_end && clock_mono() < until)
		wait_for(r, until);
	if (r->timed_out) {
		if (!r->o->quiet)
			warn("the time is up");
		return EXIT_TIMEOUT;
	}
	return r->status;
}

/* ---- the start ---- */

/* The answer to request id, or an error. Where a signal ended the wait, the status is set. */
static int answer_wait(struct pooled *r, uint32_t id, struct keep_msg *m)
{
	int err, sig;

	do {
		sig = keep_await(r->fd, r->signals);
		if (sig) {
			fail(ERR_FAILED, "the cell does not answer");
			r->status = 128 + sig;
			return -EINTR;
		}
		err = keep_recv(r->fd, m, NULL, NULL, 0);
		if (!err && m->type == KEEP_EVENT) {
			m->text[sizeof(m->text) - 1] = '\0';
			event(r, m);
		}
	} while (err == -EINTR || (!err && m->id != id));
	return err;
}

/* Before anything that there is something to say about. */
static bool events_ask(struct pooled *r)
{
	const struct keep_msg m = { .type = KEEP_SUBSCRIBE, .id = 1, .flags = KEEP_SAID };

	return keep_send(r->fd, &m, NULL, 0, 0) == 0;
}

/* False: they are not to be had. */
static bool limits_send(struct pooled *r)
{
	const struct run_options *o = r->o;
	struct keep_msg m = { .type = KEEP_LIMITS,
			      .id = 3,
			      .limits = { .set = KEEP_L_CPUS | KEEP_L_MEMORY | KEEP_L_PIDS,
					  .cpu_milli = o->cpu_milli,
					  .memory = o->memory,
					  .pids = o->pids } };

	if (!o->cpu_milli && !o->memory && !o->pids)
		return true;
	if (keep_send(r->fd, &m, NULL, 0, 0) < 0 || answer_wait(r, 3, &m) || m.type != KEEP_OK)
		return false;
	if (m.n && !o->quiet)
		warn("--cpus: no cgroup can be had here; the cell gets %u whole processor%s",
		     (unsigned)m.n, m.n == 1 ? "" : "s");
	return true;
}

/* Sends what is to be run. False: the cell is not to be had. */
static bool start_send(struct pooled *r, const struct place *p)
{
	const struct run_options *o = r->o;
	struct keep_msg m = { .type = KEEP_EXEC, .id = 2, .exec = { .flags = KEEP_X_FIRST } };
	struct execspec spec = { .flags = EXECSPEC_FILL,
				 .argv = o->argv,
				 .envp = o->env,
				 .cwd = o->workdir,
				 .user = o->user_text };
	int fds[4] = { -1, -1, -1, -1 };
	char user[32];
	bool tty, ok;

	/* The host image's root is who the cell runs as anyway. */
	if (!p->stored && (o->uid || o->gid)) {
		snprintf(user, sizeof(user), "%u:%u", o->uid, o->gid);
		spec.user = user;
	}
	r->exec_id = m.id;
	fds[0] = execspec_write(&spec);
	ok = fds[0] >= 0;
	for (int i = 0; i < 3 && ok; i++)
		ok = (fds[i + 1] = stream_open(i, &tty)) >= 0;
	ok = ok && keep_send(r->fd, &m, fds, 4, 0) == 0;
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ok;
}

/* The answer to it. 1: it runs; 0: the cell is not to be had, and nothing ran; -1: it cannot run, and the status is set. */
static int start_answer(struct pooled *r)
{
	struct keep_msg m;
	struct err e;

	if (answer_wait(r, r->exec_id, &m))
		return 0;
	if (m.type == KEEP_STARTED)
		return 1;
	if (m.type != KEEP_FAIL || !m.a)
		return 0;
	keep_fail_get(&m, &e);
	report(&e);
	r->status = m.a;
	return -1;
}

bool run_pooled(const struct run_options *o, const struct place *p, int *ret_status)
{
	struct pooled r = { .o = o, .fd = -1, .signals = -1, .status = -1 };
	sigset_t before;
	int runs = 0;

	if (!strcmp(setting(), "0") || !fits(o))
		return false;
	streams_fill();
	r.fd = pool_take(p->stored ? p->image.hash : "host",
			 !strcmp(setting(), "1") ? POOL_ANY_CGROUP : 0);
	if (r.fd < 0)
		return false;
	sigprocmask(SIG_BLOCK, NULL, &before);
	r.signals = watch_signals();
	if (o->timeout_ns)
		r.deadline = clock_mono() + o->timeout_ns;
	if (r.signals >= 0 && events_ask(&r) && limits_send(&r) && start_send(&r, p))
		runs = start_answer(&r);
	if (!runs && r.status >= 0)
		runs = -1;
	if (runs > 0)
		*ret_status = stay(&r);
	else if (runs < 0)
		*ret_status = r.status;
	close(r.fd);
	if (r.signals >= 0)
		close(r.signals);
	if (!runs)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return runs != 0;
}
