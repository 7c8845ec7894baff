/* Processes that clients started in the cell, and the first one.
 *
 * A number belongs to one process for good. An attached process is forgotten when its end was told
 * to its client; a detached one is kept with its end and its log until the cell ends, or
 * KEEP_MAX_PROCS younger ones need the room. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/execspec.h"
#include "keeper/gate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define GRACE (2 * NSEC_PER_SEC)
#define WHOLE_NEEDS (KEEP_X_LOG | KEEP_X_INPUT | KEEP_X_DETACH)

struct wait {
	struct list link;
	struct client *client;
	uint32_t id;
};

struct kproc *proc_by_num(uint32_t num)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link)
		if (p->num == num)
			return p;
	return NULL;
}

void proc_close_input(struct kproc *p)
{
	put_end(p);
	if (p->input >= 0)
		close(p->input);
	p->input = -1;
}

/* For a client that writes the input itself; -1: it is closed. */
static int input_dup(const struct kproc *p)
{
	return p->input >= 0 ? fcntl(p->input, F_DUPFD_CLOEXEC, 3) : -1;
}

static void proc_free(struct kproc *p)
{
	struct wait *w, *tmp;

	list_for_each_safe(w, tmp, &p->waiters, link)
		free(w);
	if (p->log)
		log_free(p->log, p->forgotten);
	proc_close_input(p);
	list_remove(&p->link);
	keeper.nprocs--;
	free(p);
}

static bool is_kept(const struct kproc *p)
{
	return (p->flags & KEEP_X_DETACH) || p->num == KEEP_FIRST;
}

static struct kproc *proc_new(uint32_t num, uint32_t flags)
{
	struct kproc *p, *tmp;

	if (keeper.nprocs >= KEEP_MAX_PROCS)
		list_for_each_safe(p, tmp, &keeper.procs, link)
			if (p->ended && p->num != KEEP_FIRST) {
				proc_free(p);
				break;
			}
	p = keeper.nprocs < KEEP_MAX_PROCS ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	p->num = num;
	p->flags = flags;
	p->input = -1;
	p->started = clock_real();
	list_init(&p->link);
	list_init(&p->waiters);
	list_append(&keeper.procs, &p->link);
	keeper.nprocs++;
	return p;
}

static void command_note(struct kproc *p, const char *const *words, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n && at < sizeof(p->command) - 1; i++)
		at += (size_t)snprintf(p->command + at, sizeof(p->command) - at, "%s%s",
				       i ? " " : "", words[i]);
}

/* The command of our own options. */
static void first_journal(char *const *argv)
{
	char words[JOURNAL_TEXT_MAX];
	size_t n = 0;

	for (; *argv && n + 1 < sizeof(words); argv++)
		n += (size_t)MIN(snprintf(words + n, sizeof(words) - n, "%s", *argv),
				 (int)(sizeof(words) - n - 1)) +
		     1;
	journal_command(KEEP_FIRST, words, n);
}

void proc_first(void)
{
	struct kproc *p = proc_new(KEEP_FIRST, KEEP_X_FIRST);
	size_t n = 0;

	keeper.last_proc = KEEP_FIRST;
	if (!p)
		return;
	while (keeper.o->argv[n])
		n++;
	command_note(p, (const char *const *)keeper.o->argv, n);
	p->pid = 2;
	first_journal(keeper.o->argv);
}

/* ---- starting ---- */

/* What the command is, for people. The kernel checks the spec again. */
static bool spec_peek(struct kproc *p, int fd)
{
	const char *words[8], *s;
	struct execspec_view v;
	size_t size, n;
	void *map;

	if (execspec_map(fd, &v, &map, &size) < 0)
		return false;
	s = v.words;
	for (n = 0; n < v.argc && n < ARRAY_LEN(words); n++, s += strlen(s) + 1)
		words[n] = s;
	command_note(p, words, n);
	for (; n < v.argc; n++)
		s += strlen(s) + 1;
	if (!(p->flags & KEEP_X_QUIET))
		journal_command(p->num, v.words, (size_t)(s - v.words));
	execspec_unmap(map, size);
	return true;
}

/* Input that is empty or held open, and pipes for what it writes. fds[1..3] are for the cell. */
static bool log_make(struct kproc *p, int *fds)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	bool tty = p->flags & KEEP_X_TTY;

	if (p->flags & KEEP_X_INPUT ? pipe2(in, O_CLOEXEC) < 0
				    : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	p->input = in[1];
	/* Whoever writes to it; the process's end is as the process expects it. */
	if (in[1] >= 0)
		fcntl(in[1], F_SETFL, O_NONBLOCK);
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    (!tty && pipe2(err, O_CLOEXEC | O_NONBLOCK) < 0)) {
		close(in[0]);
		if (out[0] >= 0) {
			close(out[0]);
			close(out[1]);
		}
		return false;
	}
	p->log = log_new(p->num, out[0], err[0], p->flags & KEEP_X_WHOLE);
	fds[1] = in[0];
	fds[2] = out[1];
	fds[3] = tty ? fcntl(out[1], F_DUPFD_CLOEXEC, 3) : err[1];
	if (p->log && fds[3] >= 0)
		return true;
	for (int i = 1; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return false;
}

static void fds_close(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

static void start_failed(struct kproc *p, int status, const struct err *e)
{
	if (p->num == KEEP_FIRST)
		leash_over();
	if (p->owner)
		client_err(p->owner, p->owner_id, status, e);
	/* A cell that was started for this command is not without it; an idle one waits for
	 * another. */
	if (p->num == KEEP_FIRST && !keeper.idle && keeper.stay.status < 0) {
		keeper.stay.status = status;
		keeper.reason = KEEP_FAILED;
		keeper.failure = *e;
		cell_stop(0);
	}
	proc_free(p);
}

static void start_failed_text(struct kproc *p, const char *text)
{
	struct err e;

	err_set(&e, ERR_FAILED, "%s", text);
	start_failed(p, EXIT_OWN, &e);
}

/* The client asked for it before, or another one did for the same reason. */
static bool start_is_known(struct client *c, uint32_t id, uint64_t tag)
{
	struct keep_msg m = { .type = KEEP_STARTED };
	struct kproc *p;

	list_for_each(p, &keeper.procs, link) {
		if (!tag || p->tag != tag)
			continue;
		m.proc = p->num;
		m.pid = p->pid;
		if (p->pid || p->ended) {
			client_send(c, id, &m, NULL, 0);
		} else {
			p->owner = c;
			p->owner_id = id;
		}
		return true;
	}
	return false;
}

void proc_start(struct client *c, uint32_t id, const struct keep_exec *x, const int *fds,
		unsigned nfds)
{
	int all[CTL_MAX_FDS] = { -1, -1, -1, -1, -1 };
	struct ctl_msg m = { .type = CTL_EXEC };
	uint32_t flags = x->flags;
	unsigned program = flags & KEEP_X_PROGRAM ? 1 : 0;
	struct kproc *p;

	if (nfds != (flags & KEEP_X_LOG ? 1u : 4u + program) || (flags & ~(uint32_t)KEEP_X_ALL) ||
	    (program && (flags & KEEP_X_LOG)) ||
	    ((flags & KEEP_X_INPUT) && !(flags & KEEP_X_LOG)) ||
	    ((flags & KEEP_X_WHOLE) &&
	     ((flags & WHOLE_NEEDS) != WHOLE_NEEDS || (flags & (KEEP_X_TTY | KEEP_X_FIRST)))) ||
	    (x->tag && !(flags & KEEP_X_DETACH))) {
		fds_close(fds, nfds);
		client_fail(c, id, ERR_USAGE, EXIT_OWN, "the request for a process is damaged");
		return;
	}
	if (start_is_known(c, id, x->tag)) {
		fds_close(fds, nfds);
		return;
	}
	if (((flags & KEEP_X_FIRST) && keeper.state != KEEP_IDLE &&
	     keeper.state != KEEP_STARTING) ||
	    keeper.state >= KEEP_PAUSED) {
		fds_close(fds, nfds);
		client_fail(c, id, ERR_CONFLICT, EXIT_OWN,
			    keeper.state == KEEP_PAUSED ? "the cell is paused" REMEDY
							  "'viv resume' lets it go on"
			    : keeper.state > KEEP_PAUSED ? "the cell is stopping"
							 : "the cell has a first process already");
		return;
	}
	p = proc_new(flags & KEEP_X_FIRST ? KEEP_FIRST : MAX(keeper.last_proc, KEEP_FIRST) + 1,
		     flags);
	if (!p) {
		fds_close(fds, nfds);
		client_fail(c, id, ERR_FAILED, EXIT_OWN, "the cell has too many processes");
		return;
	}
	keeper.last_proc = MAX(keeper.last_proc, p->num);
	p->owner = c;
	p->owner_id = id;
	p->tag = x->tag;
	if (x->timeout_ns > 0)
		p->deadline = clock_mono() + x->timeout_ns;
	memcpy(all, fds, nfds * sizeof(int));
	all[0] = rules_exec(gate_rules(), all[0]);
	if (all[0] < 0) {
		fds_close(fds + 1, nfds - 1);
		start_failed_text(p, "cannot prepare the process");
		return;
	}
	if (!spec_peek(p, all[0]) || ((flags & KEEP_X_LOG) && !log_make(p, all))) {
		close(all[0]);
		fds_close(fds + 1, nfds - 1);
		start_failed_text(p, "cannot prepare the process");
		return;
	}
	m.id = p->num;
	m.flags = (flags & KEEP_X_FIRST ? CTL_X_FIRST : 0) | (flags & KEEP_X_TTY ? CTL_X_TTY : 0) |
		  (program ? CTL_X_PROGRAM : 0) |
		  (flags & (KEEP_X_LOG | KEEP_X_DETACH) ? 0 : CTL_X_HANG_UP);
	m.a = x->rows;
	m.b = x->cols;
	if (!control_put(&m, all, 4 + program))
		start_failed_text(p, "the cell does not answer");
}

/* ---- waiting ---- */

static void exited_send(struct client *c, uint32_t id, const struct kproc *p)
{
	struct keep_msg m = {
		.type = KEEP_EXITED, .proc = p->num, .pid = p->pid, .a = p->status, .b = p->termed
	};

	client_send(c, id, &m, NULL, 0);
}

void proc_wait(struct client *c, uint32_t id, struct kproc *p)
{
	struct wait *w;

	if (p->ended) {
		exited_send(c, id, p);
		return;
	}
	w = malloc(sizeof(*w));
	if (!w) {
		client_fail(c, id, ERR_FAILED, 0, "out of memory");
		return;
	}
	w->client = c;
	w->id = id;
	list_init(&w->link);
	list_append(&p->waiters, &w->link);
}

void proc_attach(struct client *c, uint32_t id, struct kproc *p)
{
	struct keep_msg m = {
		.type = KEEP_ATTACH, .proc = p->num, .pid = p->pid, .flags = p->flags
	};
	int fd = input_dup(p);

	if (!p->log) {
		client_fail(c, id, ERR_CONFLICT, 0,
			    "the streams of this process belong to the client that started it");
		return;
	}
	m.n = log_position(p->log);
	client_send(c, id, &m, &fd, fd >= 0);
}

static void proc_ended(struct kproc *p, int status)
{
	struct wait *w;

	p->ended = true;
	p->status = status;
	p->deadline = 0;
	/* Who hears of its end finds in the journal what it did. */
	journal_flush();
	if (p->log)
		log_end(p->log);
	proc_close_input(p);
	if (!(p->flags & KEEP_X_QUIET))
		event_add(KEEP_EV_EXIT, p, status, p->termed, NULL);
	if (p->num == KEEP_FIRST)
		leash_over();
	if (p->owner && !(p->flags & KEEP_X_DETACH))
		exited_send(p->owner, p->owner_id, p);
	p->owner = NULL;
	/* One after the other: a client that is sent away takes its others with it. */
	while (!list_is_empty(&p->waiters)) {
		w = list_first(&p->waiters, struct wait, link);
		list_remove(&w->link);
		exited_send(w->client, w->id, p);
		free(w);
	}
	if (!is_kept(p) || p->forgotten)
		proc_free(p);
}

/* Its end is told when its output is written. */
static void proc_leave(struct kproc *p, int status)
{
	if (p->log)
		log_end(p->log);
	p->leaving = p->log && log_is_stuck(p->log);
	p->status = status;
	if (!p->leaving)
		proc_ended(p, status);
}

void proc_taken(struct kproc *p, uint64_t position)
{
	if (!p->log || !(p->flags & KEEP_X_DETACH) || p->num == KEEP_FIRST)
		return;
	log_taken(p->log, position); /* of a whole one only */
	p->forgotten |= position == KEEP_ALL;
	if (p->forgotten && p->ended && list_is_empty(&p->waiters))
		proc_free(p);
}

static void proc_started(struct kproc *p, int pid)
{
	struct keep_msg m = { .type = KEEP_STARTED, .proc = p->num, .pid = pid };

	p->pid = pid;
	if (!(p->flags & KEEP_X_QUIET))
		event_add(KEEP_EV_START, p, 0, 0, p->command);
	if (p->num == KEEP_FIRST)
		state_set(KEEP_RUNNING);
	if (p->owner) {
		int fd = input_dup(p);

		client_send(p->owner, p->owner_id, &m, &fd, fd >= 0);
		if (p->flags & KEEP_X_DETACH)
			p->owner = NULL;
	} else if (!(p->flags & KEEP_X_DETACH)) {
		/* Who wanted it went away meanwhile. */
		struct ctl_msg hang_up = { .type = CTL_HANG_UP, .id = p->num };

		control_put(&hang_up, NULL, 0);
	}
}

void procs_message(const struct ctl_msg *m)
{
	struct kproc *p = proc_by_num(m->id);
	int status = m->a > 0 && m->a < 256 ? m->a : EXIT_OWN;
	struct err e;

	if (!p || p->ended)
		return;
	if (m->type == CTL_STARTED) {
		proc_started(p, m->a);
	} else if (m->type == CTL_PROC_EXIT) {
		proc_leave(p, m->a);
	} else if (m->type == CTL_EXEC_FAIL) {
		text_err(m,
			 status != EXIT_OWN		       ? err_kind_of_status(status)
			 : m->b == -ENOENT || m->b == -ENOTDIR ? ERR_NOT_FOUND
			 : m->b == -EBUSY		       ? ERR_CONFLICT
							       : ERR_FAILED,
			 &e);
		start_failed(p, status, &e);
	}
}

void procs_client_gone(struct client *c)
{
	struct kproc *p, *ptmp;
	struct wait *w, *tmp;

	list_for_each_safe(p, ptmp, &keeper.procs, link) {
		list_for_each_safe(w, tmp, &p->waiters, link)
			if (w->client == c) {
				list_remove(&w->link);
				free(w);
			}
		if (p->owner != c)
			continue;
		p->owner = NULL;
		if (p->pid && !(p->flags & KEEP_X_DETACH)) {
			struct ctl_msg m = { .type = CTL_HANG_UP, .id = p->num };

			control_put(&m, NULL, 0);
		}
	}
}

static void signal_put(const struct kproc *p, int sig, bool group)
{
	struct ctl_msg m = { .type = CTL_PROC_SIGNAL, .id = p->num, .a = sig, .b = group };

	control_put(&m, NULL, 0);
}

void procs_signal_all(int sig)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link)
		if (p->pid && !p->ended)
			signal_put(p, sig, false);
}

bool procs_are_running(void)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link)
		if (!p->ended)
			return true;
	return false;
}

bool procs_are_used(void)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link)
		if (!p->ended && p->num != KEEP_FIRST &&
		    !(p->flags & (KEEP_X_QUIET | KEEP_X_WHOLE)))
			return true;
	return false;
}

int64_t procs_deadline(void)
{
	int64_t next = 0;
	struct kproc *p;

	list_for_each(p, &keeper.procs, link) {
		int64_t retry = p->log ? log_deadline(p->log) : 0;

		if (p->pid && p->deadline && (!next || p->deadline < next))
			next = p->deadline;
		if (retry && (!next || retry < next))
			next = retry;
	}
	return next;
}

void procs_time(void)
{
	int64_t now = clock_mono();
	struct kproc *p, *tmp;

	list_for_each_safe(p, tmp, &keeper.procs, link) {
		if (p->log)
			log_time(p->log);
		if (p->leaving && !p->ended) {
			proc_leave(p, p->status);
			continue;
		}
		/* One that is still on its way has its time to end when it is there. */
		if (!p->pid || !p->deadline || p->deadline > now || p->ended)
			continue;
		/* With what it started: a shell's command would go on, and keep the streams open.
		 * The group at a terminal is that of the command in front. */
		signal_put(p, p->termed ? SIGKILL : SIGTERM, true);
		if (p->flags & KEEP_X_TTY)
			signal_put(p, p->termed ? SIGKILL : SIGTERM, false);
		if (!p->termed)
			signal_put(p, SIGCONT, true);
		p->deadline = now + GRACE;
		p->termed = true;
	}
}

void procs_first_ended(int wait_status)
{
	struct kproc *p = proc_by_num(KEEP_FIRST);

	if (p && !p->ended)
		proc_ended(p, wait_status);
}

void procs_end(void)
{
	struct kproc *p, *tmp;

	list_for_each_safe(p, tmp, &keeper.procs, link) {
		if (p->ended)
			continue;
		if (p->pid)
			proc_ended(p, SIGKILL);
		else
			start_failed_text(p, "the cell ended");
	}
}

void procs_free(void)
{
	struct kproc *p, *tmp;

	list_for_each_safe(p, tmp, &keeper.procs, link)
		proc_free(p);
}
