/* The time with a running cell (stay.h): takes what the kernel says, serves clients, and turns the
 * end into an exit status. What comes from the kernel is not trusted: messages have one size, and
 * text is cleaned before it is shown.
 *
 * In a 'viv run' the kernel is in a session of its own, so a terminal's Ctrl-C and Ctrl-Z reach viv
 * alone. Ctrl-Z is passed on; when it meant the first process and not a job of a shell in the cell,
 * the kernel says so, and viv stops itself with the terminal as it found it; 'fg' undoes both. A
 * viv-keeper has no terminal, and what is said becomes events. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "host/cgroup.h"
#include "host/isolate.h"
#include "keeper/frozen.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define CONTROL_MAX 4096 /* messages that wait for the kernel */
#define LAST_ROUNDS 1024

struct keeper keeper = { .ready = -1 };

/* ---- saying ---- */

void text_err(const struct ctl_msg *m, enum err_kind kind, struct err *e)
{
	size_t n = strnlen(m->text, sizeof(m->text));
	const char *mark = memchr(m->text, REMEDY[0], n);
	char line[4 * sizeof(m->text) + 16];

	text_clean(m->text, mark ? (size_t)(mark - m->text) : n, line, sizeof(line));
	err_set(e, kind, "%s", line);
	if (mark) {
		text_clean(mark + 1, (size_t)(m->text + n - mark) - 1, line, sizeof(line));
		err_remedy(e, line);
	}
}

void text_tell(bool is_result, const char *text, size_t size)
{
	char line[4 * sizeof(((struct ctl_msg *)0)->text) + 16];

	text_clean(text, size, line, sizeof(line));
	if (keeper.detached && keeper.ready < 0)
		return;
	if (is_result)
		fprintf(stderr, "%s\n", line);
	else
		warn("%s", line);
}

void state_set(enum keep_state state)
{
	if (keeper.state == state || keeper.state >= KEEP_STOPPED ||
	    (keeper.state == KEEP_STOPPING && state < KEEP_STOPPING))
		return;
	keeper.state = state;
	event_add(KEEP_EV_STATE, NULL, (int)state, 0, NULL);
}

/* Who started us can go on. */
static void ready_tell(void)
{
	struct keep_msg m = { .type = KEEP_HELLO };

	if (keeper.ready < 0)
		return;
	if (keeper.stay.status >= 0) {
		m.a = keeper.stay.status;
		if (!keeper.failure.kind)
			err_set(&keeper.failure, ERR_FAILED, "the cell ended while it was started");
		keep_fail_set(&m, &keeper.failure);
	} else {
		m.hello.keeper_pid = getpid();
		m.hello.kernel_pid = keeper.kernel->pid;
		m.hello.state = keeper.state;
		m.hello.started = keeper.started;
		snprintf(m.hello.id, sizeof(m.hello.id), "%s", keeper.id);
		snprintf(m.hello.name, sizeof(m.hello.name), "%s",
			 keeper.rootfs->kept ? keeper.rootfs->cell.name : "");
		m.hello.flags = (ports_are_open() ? KEEP_H_PORTS : 0) |
				(door_is_open() ? KEEP_H_DOOR : 0) |
				(door_has_cells() ? KEEP_H_CELLS : 0);
	}
	(void)!send(keeper.ready, &m, sizeof(m), MSG_NOSIGNAL);
	if (keeper.o->visit && m.type == KEEP_HELLO)
		serve_visitor(keeper.ready);
	else if (!keeper.pooled || m.type == KEEP_FAIL)
		close(keeper.ready);
	else if (serve_leash(keeper.ready) < 0)
		kernel_kill();
	keeper.ready = -1;
	if (keeper.detached) {
		streams_drop();
		(void)!chdir("/");
	}
}

/* ---- the kernel ---- */

/* A viv-keeper's own command, in a cell that was started without one. */
void first_start(void)
{
	const struct run_options *o = keeper.o;
	struct execspec spec;
	struct run_user unused;
	struct keep_exec x = { .flags = KEEP_X_FIRST | KEEP_X_LOG | KEEP_X_DETACH |
					(o->tty ? KEEP_X_TTY : 0) |
					(o->interactive ? KEEP_X_INPUT : 0),
			       .rows = 24,
			       .cols = 80 };
	int fd;

	run_execspec(o, keeper.rootfs->stored, &spec, &unused);
	spec.user = NULL; /* the cell's: it was started with it */
	fd = execspec_write(&spec);
	if (fd >= 0) {
		proc_start(NULL, 0, &x, &fd, 1);
	} else {
		keeper.stay.status = fd == -E2BIG ? 126 : EXIT_OWN;
		keeper.reason = KEEP_FAILED;
		err_set(&keeper.failure, ERR_FAILED, "cannot prepare the command: %s",
			strerror(-fd));
		cell_stop(0);
	}
}

bool control_put(const struct ctl_msg *m, const int *fds, unsigned nfds)
{
	return channel_send(&keeper.control, m, fds, nfds);
}

void kernel_kill(void)
{
	keeper.killed = true;
	keeper.stay.deadline = 0;
	if (keeper.stay.status < 0 && keeper.reason == KEEP_ASKED)
		keeper.stay.status = 128 + SIGKILL;
	syscall(SYS_pidfd_send_signal, keeper.kernel->pidfd, SIGKILL, NULL, 0);
}

/* The end was announced. Said twice, it comes no later. */
static void grace_start(void)
{
	int64_t end = clock_mono() + STAY_GRACE;

	keeper.stay.deadline = keeper.stay.deadline ? MIN(keeper.stay.deadline, end) : end;
}

/* No process is left, or the time for that is over: the kernel brings the disk in order and
 * ends. */
static void cell_finish(void)
{
	struct ctl_msg m = { .type = CTL_END };

	if (keeper.finishing)
		return;
	keeper.finishing = true;
	if (keeper.stay.status < 0)
		keeper.stay.status = procs_are_running() ? 128 + SIGKILL : 0;
	keeper.stay.deadline = clock_mono() + STAY_GRACE;
	control_put(&m, NULL, 0);
}

static void end_want(int sig)
{
	keeper.end_wanted = sig;
	keeper.end_until = clock_mono() + 10 * NSEC_PER_SEC;
}

void cell_stop(int64_t grace)
{
	struct ctl_msg resume = { .type = CTL_RESUME },
		       term = { .type = CTL_PROC_SIGNAL, .id = KEEP_FIRST };
	bool was_stopping = keeper.state == KEEP_STOPPING;

	if (keeper.stay.ended || keeper.finishing)
		return;
	if (keeper.state == KEEP_PAUSED)
		control_put(&resume, NULL, 0);
	if (!keeper.reason)
		keeper.reason = KEEP_ASKED;
	state_set(KEEP_STOPPING);
	keeper.stay.stopping = true;
	end_want(SIGKILL);
	if (!procs_are_running() || grace <= 0) {
		cell_finish();
		return;
	}
	if (!was_stopping && proc_by_num(KEEP_FIRST)) {
		term.a = keeper.o->stop_signal ? keeper.o->stop_signal : SIGTERM;
		control_put(&term, NULL, 0);
		term.a = SIGCONT;
		control_put(&term, NULL, 0);
	} else if (!was_stopping) {
		procs_signal_all(SIGTERM);
		procs_signal_all(SIGCONT);
	}
	keeper.stay.deadline = keeper.stay.deadline
				       ? MIN(keeper.stay.deadline, clock_mono() + grace)
				       : clock_mono() + grace;
}

static void cell_failed(const struct ctl_msg *m)
{
	if (keeper.stay.status < 0) {
		keeper.stay.status = m->a > 0 && m->a < 256 ? m->a : EXIT_OWN;
		keeper.reason = KEEP_FAILED;
		text_err(m, err_kind_of_status(keeper.stay.status), &keeper.failure);
	}
	grace_start();
}

static void said(const struct ctl_msg *m)
{
	enum keep_event_kind kind = m->type == CTL_LOG ? KEEP_EV_LOG
				    : m->a == 1	       ? KEEP_EV_OOM
						       : KEEP_EV_LIMIT;
	char line[400];

	if (m->type == CTL_LOG && m->a == 1) {
		text_tell(true, m->text, sizeof(m->text));
		return;
	}
	if (!keeper.o->quiet && stay_prints(kind, m->b, (int)m->flags))
		text_tell(false, m->text, sizeof(m->text));
	text_clean(m->text, sizeof(m->text), line, sizeof(line));
	if (m->type == CTL_EVENT)
		journal_limit(line);
	event_add(kind, NULL, m->b, (int)m->flags, line);
}

/* The host killed something in it, which need not be the end of the cell. */
static void memory_look(bool soon)
{
	unsigned long kills = cgroup_oom_kills(keeper.cgroup);

	if (kills <= keeper.oom_kills && soon)
		kills = keeper.oom_kills + 1;
	if (kills <= keeper.oom_kills)
		return;
	keeper.oom_kills = kills;
	journal_limit("out of memory: the host killed a process of the cell");
	event_add(KEEP_EV_OOM, NULL, 0, 1, "out of memory: the host killed a process of the cell");
}

static void memory_ready(struct source *s, uint32_t events)
{
	char bytes[4096];

	(void)events;
	while (read(s->fd, bytes, sizeof(bytes)) > 0)
		;
	/* v1 tells before it kills and counts; v2 tells of more than that, and afterwards. */
	memory_look(!keeper.cgroup->v2[0]);
}

void memory_follow(void)
{
	int fd = cgroup_oom_watch(keeper.cgroup);

	if (fd >= 0 && source_add(&keeper.memory, fd, EPOLLIN, memory_ready) < 0)
		close(fd);
}

static void kernel_message(struct channel *c, void *msg, int *fds, unsigned nfds)
{
	struct ctl_msg *m = msg;

	(void)c;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]); /* it has none to give */
	if (m->type != CTL_STATS && m->type != CTL_RESULT)
		m->text[sizeof(m->text) - 1] = 0;
	switch (m->type) {
	case CTL_READY:
		state_set(keeper.idle || keeper.detached ? KEEP_IDLE : KEEP_RUNNING);
		if (keeper.idle)
			frozen_used();
		if (!keeper.detached || keeper.idle)
			ready_tell();
		else
			first_start();
		break;
	case CTL_EXIT:
		if (keeper.stay.status < 0)
			keeper.stay.status = stay_status(m->a);
		if (!keeper.reason)
			keeper.reason = KEEP_ENDED;
		if (!keeper.finishing)
			procs_first_ended(m->a);
		/* What is left is the kernel's own end. */
		grace_start();
		break;
	case CTL_FAIL:
		cell_failed(m);
		break;
	case CTL_LOG:
	case CTL_EVENT:
		said(m);
		break;
	case CTL_STOP:
		if (keeper.leash)
			leash_suspend();
		else
			stay_suspend(&keeper.stay);
		break;
	case CTL_FROZEN:
		frozen_message(m);
		break;
	case CTL_SEALED:
		seal_end(m->a < 0 ? m->a : 0);
		break;
	case CTL_STARTED:
	case CTL_EXEC_FAIL:
	case CTL_PROC_EXIT:
		if (m->type == CTL_PROC_EXIT && WIFSIGNALED(m->a) && WTERMSIG(m->a) == SIGKILL)
			memory_look(false);
		procs_message(m);
		if (m->type == CTL_STARTED && m->id == KEEP_FIRST)
			frozen_used();
		if (m->id == KEEP_FIRST && keeper.detached)
			ready_tell();
		if (keeper.state == KEEP_STOPPING && !procs_are_running())
			cell_finish();
		break;
	case CTL_ASK:
	case CTL_WITHDRAW:
		asks_message(m);
		break;
	case CTL_DOOR:
		door_message(m);
		break;
	case CTL_RESULT:
		result_message(m);
		break;
	case CTL_STATS:
	case CTL_DONE:
		pending_answer(m);
		break;
	default:
		break;
	}
}

static void kernel_gone(struct channel *c)
{
	channel_close(c); /* its end itself is told by the pidfd */
}

static void pidfd_ready(struct source *s, uint32_t events)
{
	(void)s, (void)events;
	keeper.stay.ended = true;
}

/* ---- signals and the clock ---- */

/* A cell whose journal has no room stands still, and cannot hear that it is to end: it is killed.
 * What it did is in the ring, which stays. */
static void end_look(void)
{
	/* One that has heard of it and goes on is not meant by that for ever. */
	if (keeper.end_wanted && clock_mono() > keeper.end_until)
		keeper.end_wanted = 0;
	if (!keeper.end_wanted || !journal_waits() || keeper.killed)
		return;
	if (keeper.stay.status < 0 && !keeper.stay.timed_out) {
		keeper.stay.status = 128 + keeper.end_wanted;
		keeper.reason = KEEP_ASKED;
	}
	warn("the cell stands still, as its journal has no room: it is killed");
	kernel_kill();
}

static void signal_send(struct stay *s, int sig)
{
	struct ctl_msg m = { .type = CTL_SIGNAL, .a = sig };

	if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT)
		end_want(sig);

	if (!keeper.detached) {
		control_put(&m, NULL, 0);
		return;
	}
	/* Nobody types at a keeper: whoever ends it means the cell, and nobody could continue
	 * it. */
	s->asked_to_stop = false;
	if (sig == SIGTERM || sig == SIGINT)
		cell_stop(10 * NSEC_PER_SEC);
}

static void time_up(struct stay *s)
{
	struct ctl_msg m = { .type = CTL_SIGNAL };

	(void)s;
	keeper.reason = KEEP_TIME_UP;
	end_want(SIGTERM);
	if (!proc_by_num(KEEP_FIRST)) {
		procs_signal_all(SIGTERM);
		return;
	}
	m.a = keeper.o->stop_signal ? keeper.o->stop_signal : SIGTERM;
	control_put(&m, NULL, 0);
	m.a = SIGCONT;
	control_put(&m, NULL, 0);
}

static void overdue(struct stay *s)
{
	(void)s;
	if (keeper.state == KEEP_STOPPING && !keeper.finishing)
		cell_finish();
	else
		kernel_kill();
}

static const struct stay_ops kernel_ops = { .signal = signal_send,
					    .time_up = time_up,
					    .overdue = overdue };

/* ---- the end ---- */

/* The kernel ended without a status: why. */
static int status_missing(const siginfo_t *si)
{
	struct err *e = &keeper.failure;

	keeper.reason = KEEP_FAILED;
	memory_look(false);
	if (keeper.oom_kills) {
		keeper.reason = KEEP_OUT_OF_MEMORY;
		return 128 + SIGKILL;
	}
	if (si->si_code == CLD_EXITED) {
		err_set(e, ERR_FAILED, "the cell's kernel ended without a result (status %d)",
			si->si_status);
		return EXIT_OWN;
	}
	if (si->si_status == SIGKILL) {
		err_set(e, ERR_FAILED, "the cell's kernel was killed");
		return 128 + SIGKILL;
	}
	if (si->si_status == SIGSYS)
		err_set(e, ERR_FAILED,
			"the cell's kernel was killed for a forbidden system call" REMEDY
			"please report this");
	else
		err_set(e, ERR_FAILED, "the cell's kernel crashed (%s)" REMEDY "please report this",
			strsignal(si->si_status));
	return EXIT_OWN;
}

static int status_final(void)
{
	struct stay *s = &keeper.stay;
	siginfo_t si = { 0 };

	while (waitid(P_PIDFD, (id_t)keeper.kernel->pidfd, &si, WEXITED | __WALL) < 0 &&
	       errno == EINTR)
		;
	if (s->status < 0 && !s->timed_out)
		s->status = status_missing(&si);
	return stay_end(s, keeper.o->quiet);
}

static int end(void)
{
	int status;

	serve_leases_end();
	/* What was said last; it ends with the end of the channel. */
	for (int i = 0; i < LAST_ROUNDS && keeper.control.src.fd >= 0; i++)
		keeper.control.src.fn(&keeper.control.src, EPOLLIN);
	channel_close(&keeper.control);
	ports_close();
	door_close();
	gate_end();
	/* Sealed or not, the kernel writes no more: the layer is as it is. */
	seal_end(0);
	status = status_final();
	journal_stop(status, keeper.reason);
	rollback_end();
	keeper.stay.status = status;
	ready_tell();
	procs_end();
	event_end(status, keeper.reason, &keeper.failure);
	/* Before nobody can reach us any more. */
	result_leave();
	event_leave();
	state_set(KEEP_STOPPED);
	serve_close();
	procs_free();
	/* Others are told by those who asked for the cell. */
	if (!keeper.detached && keeper.o->tell.mode == MODE_RUN)
		stay_print_end(keeper.reason, status, &keeper.failure);
	return status;
}

int watch_prepare(const struct run_options *o, struct rootfs *rootfs, struct err *e)
{
	int err = sources_init();

	list_init(&keeper.clients);
	list_init(&keeper.procs);
	list_init(&keeper.pending);
	keeper.listening.fd = -1;
	keeper.o = o;
	keeper.rootfs = rootfs;
	keeper.stay.status = -1;
	keeper.state = KEEP_STARTING;
	keeper.started = clock_real();
	keeper.began = clock_mono();
	keeper.idle = o->idle;
	keeper.pooled = o->pool;
	keeper.leave = o->leave;
	/* Before there is a command that could change it. */
	keeper.stay.ops = &kernel_ops;
	keeper.stay.terminal.fd = -1;
	if (!keeper.detached)
		terminal_save(&keeper.stay.terminal);
	return err ? err_set(e, ERR_FAILED, "cannot watch the cell: %s", strerror(-err)) : 0;
}

static int64_t next_deadline(void)
{
	int64_t a = procs_deadline(), b = journal_deadline();

	return a && b ? MIN(a, b) : a ? a : b;
}

int watch(const struct isolated *kernel, int control, int signals, struct cgroup *cg, struct err *e)
{
	int err;

	keeper.kernel = kernel;
	keeper.cgroup = cg;
	keeper.control.in = kernel_message;
	keeper.control.gone = kernel_gone;
	journal_follow();
	if (!keeper.detached)
		proc_first();
	err = channel_init(&keeper.control, control, CONTROL_MAX);
	if (!err)
		err = stay_begin(&keeper.stay, signals);
	if (!err)
		err = source_add(&keeper.pidfd, kernel->pidfd, EPOLLIN, pidfd_ready);
	if (err) {
		syscall(SYS_pidfd_send_signal, kernel->pidfd, SIGKILL, NULL, 0);
		serve_close();
		return err_set(e, ERR_FAILED, "cannot watch the cell: %s", strerror(-err));
	}
	memory_follow();
	if (gate_follow(e) < 0 || ports_follow(e) < 0)
		return -1;
	keeper.began = clock_mono();
	if (keeper.o->timeout_ns)
		keeper.stay.deadline = keeper.began + keeper.o->timeout_ns;
	while (!keeper.stay.ended) {
		stay_round(&keeper.stay, next_deadline());
		procs_time();
		journal_time();
		end_look();
	}
	return end();
}
