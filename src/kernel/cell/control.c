/* The channel to viv: signals, processes and questions in; log lines, events, answers and the
 * result out. The kernel never waits for viv to read: of log lines and events, what does not fit
 * into the socket is lost; answers are kept and sent later. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/program.h"
#include "wire/bootspec.h"
#include "host/child.h"
#include "host/fdmsg.h"
#include "host/host.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/change.h"
#include "kernel/cell/control.h"
#include "kernel/cell/end.h"
#include "kernel/cell/freeze.h"
#include "kernel/cell/launch.h"
#include "kernel/cell/memory.h"
#include "kernel/cell/policy.h"
#include "kernel/cell/question.h"
#include "kernel/abi/signal.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/net/denials.h"
#include "kernel/net/door.h"
#include "kernel/net/gate.h"
#include "kernel/net/inbound.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/strays.h"
#include "kernel/task/clock.h"
#include "kernel/task/cputime.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

#define BATCH 16

static struct hostwatch watch;

/* What viv has not read yet and must not miss. Bounded by what it asked for. */
struct outgoing {
	struct list link;
	struct ctl_msg msg;
};
OBJ_TYPE(outgoing_type, struct outgoing, 8192);
static struct list outbox = LIST_INIT(outbox);

static bool paused;
/* What came while the cell was paused. */
struct hang_up {
	struct list link;
	uint32_t id;
};
OBJ_TYPE(hang_up_type, struct hang_up, 1024);
static struct list hang_ups = LIST_INIT(hang_ups);
static uint64_t paused_signals;

void control_say(uint32_t type, int32_t a, const char *fmt, ...)
{
	struct ctl_msg m = { .type = type, .a = a };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m.text, sizeof(m.text), fmt, ap);
	va_end(ap);
	(void)host_send(FD_CONTROL, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void outbox_send(int flags)
{
	while (!list_is_empty(&outbox)) {
		struct outgoing *o = list_first(&outbox, struct outgoing, link);
		int64_t n = host_send(FD_CONTROL, &o->msg, sizeof(o->msg), MSG_NOSIGNAL | flags);

		if (n == -EAGAIN)
			return;
		list_remove(&o->link);
		obj_free(&outgoing_type, o);
	}
}

void control_tell(const struct ctl_msg *m)
{
	struct outgoing *o;

	outbox_send(MSG_DONTWAIT);
	if (list_is_empty(&outbox) &&
	    host_send(FD_CONTROL, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT) != -EAGAIN)
		return;
	o = obj_new(&outgoing_type);
	if (!o)
		return;
	list_init(&o->link);
	o->msg = *m;
	list_append(&outbox, &o->link);
	(void)hostwatch_arm(&watch, POLLIN | POLLOUT);
}

void control_flush(void)
{
	outbox_send(0);
}

static struct proc *first_proc(void)
{
	struct proc *p = proc_next(NULL);

	while (p && !p->is_first)
		p = proc_next(p);
	return p;
}

void control_stopped(void)
{
	const struct ctl_msg m = { .type = CTL_STOP };

	control_tell(&m);
}

/* Ctrl-Z for the group of the first process (group 0: for it alone). In the cell that group is
 * orphaned, and nothing would stop it; but viv has a shell that can continue it. So each does with
 * the signal what it would do were it run by hand, now or when it unblocks it, and when the first
 * process stops, viv stops with it (docs/decisions/0035). */
static void stop_in(struct proc *first, pid_t group)
{
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (p->state != PROC_ZOMBIE && (group ? p->pgid == group : p == first)) {
			p->stop_asked = true;
			(void)signal_send_proc(p, SIGTSTP, NULL);
		}
	if (group)
		births_stop(group);
	/* It stopped before without viv. */
	if (first->state == PROC_STOPPED && first->stop_asked)
		control_stopped();
}

/* Terminal signals go to the foreground group, the others to the first process, as they would to a
 * program run by hand. */
static void signal_in(int sig)
{
	const struct tty *tty = console_tty();
	pid_t group = tty ? tty->foreground : 0;
	struct proc *p = first_proc();

	if (sig < 1 || sig > 31)
		return;
	if (!p) {
		launch_signal_first(sig);
		return;
	}
	if (sig == SIGTSTP && (!group || p->pgid == group)) {
		stop_in(p, group);
		return;
	}
	if (group > 0 && (sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP || sig == SIGWINCH ||
			  sig == SIGCONT)) {
		(void)signal_send_pgrp(group, sig, NULL);
		return;
	}
	(void)signal_send_proc(p, sig, NULL);
}

/* The new layer goes to the host's disk a little later, when who asked for the seal has done what
 * it needed it for. */
#define SEAL_END_NS (100 * 1000000LL)

static struct ktimer seal_timer;

static void seal_later(struct ktimer *timer)
{
	(void)timer;
	layer_seal_end(boot_layer());
}

/* Before a seal that syncs, everything is brought to the host's disk while the cell goes on. What
 * it wrote meanwhile is to be synced, too: that is done again if there can be much of it, but not
 * for ever. The rest is for the seal, which the cell waits for. In a paused cell nothing goes on,
 * and nobody hears of the end of such a sync: the seal does it all. */
#define SEAL_SYNCS 3
#define SEAL_SHORT_NS (10 * 1000000LL)

static struct {
	struct ktimer timer;
	uint32_t number;
	bool sync;
	int syncs; /* so many were begun */
	int64_t start, last; /* when it was asked for, when the last sync began */
} sealing;

static void seal_synced(void)
{
	/* Not from in there: others hear of the same. */
	if (ktimer_start(&sealing.timer, host_clock(CLOCK_MONOTONIC)) < 0)
		(*sealing.timer.fn)(&sealing.timer);
}

static void seal_step(struct ktimer *timer)
{
	int64_t now = host_clock(CLOCK_MONOTONIC);
	int ret;

	(void)timer;
	if (!paused && sealing.sync && sealing.syncs < SEAL_SYNCS &&
	    (!sealing.syncs || now - sealing.last >= SEAL_SHORT_NS)) {
		sealing.syncs++;
		sealing.last = now;
		if (layer_sync_beside(boot_layer(), CALLBACK(seal_synced)))
			return;
	}
	ret = layer_seal(boot_layer(), sealing.number, sealing.sync);
	now = host_clock(CLOCK_MONOTONIC);
	control_say(CTL_SEALED, ret, "%lld", (long long)(now - sealing.start) / 1000);
	if (ret < 0)
		return;
	if (paused || ktimer_start(&seal_timer, now + SEAL_END_NS) < 0)
		layer_seal_end(boot_layer());
}

/* viv asks for one at a time. */
static void seal_in(const struct ctl_msg *m)
{
	sealing.number = (uint32_t)m->a;
	sealing.sync = !strncmp(m->text, "sync", 4);
	sealing.syncs = 0;
	sealing.start = host_clock(CLOCK_MONOTONIC);
	seal_step(&sealing.timer);
}

/* ---- pausing ---- */

bool control_is_paused(void)
{
	return paused;
}

static void pause_set(bool on)
{
	static int64_t since;
	struct hang_up *h, *tmp;

	if (on == paused)
		return;
	paused = on;
	if (on) {
		since = host_clock(CLOCK_MONOTONIC);
		procs_pause();
		strays_pause();
		return;
	}
	now_update();
	seed_resumed();
	births_resumed(since);
	strays_resume();
	procs_resume();
	list_for_each_safe(h, tmp, &hang_ups, link) {
		launch_hang_up(h->id);
		list_remove(&h->link);
		obj_free(&hang_up_type, h);
	}
	for (int sig = 1; sig < 32; sig++)
		if (paused_signals & SIGBIT(sig))
			signal_in(sig);
	paused_signals = 0;
}

/* As they would be pending in a process that does not run. */
static void signal_keep(int sig)
{
	if (sig < 1 || sig > 31)
		return;
	if (sig == SIGCONT || sig == SIGTSTP)
		paused_signals &= ~(SIGBIT(SIGCONT) | SIGBIT(SIGTSTP));
	paused_signals |= SIGBIT(sig);
}

/* Nothing is sent to what does not run: the host's SIGCONT would let it. */
static void hang_up_in(uint32_t id)
{
	struct hang_up *h = paused ? obj_new(&hang_up_type) : NULL;

	if (!paused) {
		launch_hang_up(id);
	} else if (h) {
		h->id = id;
		list_init(&h->link);
		list_append(&hang_ups, &h->link);
	}
}

/* ---- figures ---- */

static void stats_in(const struct ctl_msg *in)
{
	struct ctl_msg m = { .type = CTL_STATS, .request = in->request };
	const struct obj_type *files = obj_type_find("file");
	struct layer_usage disk;
	int64_t user, sys;

	layer_usage_get(boot_layer(), &disk);
	m.stats = (struct keep_stats){ .time = (uint64_t)host_clock(CLOCK_REALTIME),
				       .cpu_ns = (uint64_t)host_own_cputime(),
				       .memory = memory_used(false),
				       .memory_limit = cell.spec.memory,
				       .disk = disk.bytes,
				       .disk_limit = disk.max_bytes,
				       .inodes = disk.inodes,
				       .inodes_limit = disk.max_inodes,
				       .tasks = task_count() + zombie_count(),
				       .tasks_limit = cell.spec.max_tasks,
				       .procs = proc_count(),
				       .calls = cell.calls,
				       .files = files ? files->count : 0,
				       .refused = cell.unknown,
				       .inbound = inbound_count() };
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		if (p->state == PROC_ZOMBIE)
			continue;
		proc_cputime(p, &user, &sys);
		m.stats.cpu_ns += (uint64_t)(user + sys);
	}
	control_tell(&m);
}

/* ---- messages ---- */

static void done_tell(const struct ctl_msg *in, int ret)
{
	struct ctl_msg m = { .type = CTL_DONE, .request = in->request, .a = ret };

	control_tell(&m);
}

static void message_in(const struct ctl_msg *m, const int *fds, unsigned nfds)
{
	switch (m->type) {
	case CTL_EXEC:
		launch_start(m, fds, nfds);
		return; /* which took them */
	case CTL_SETUP:
		done_tell(m, launch_setup(m, fds, nfds));
		return; /* likewise */
	case CTL_INBOUND:
		done_tell(m, inbound_take(m, nfds == 1 ? fds[0] : -1));
		if (nfds == 1)
			return; /* likewise */
		break;
	case CTL_DOOR:
		door_answer(m, nfds == 1 ? fds[0] : -1);
		if (nfds == 1)
			return; /* likewise */
		break;
	case CTL_SIGNAL:
		(paused ? signal_keep : signal_in)(m->a);
		break;
	case CTL_SEAL:
		seal_in(m);
		break;
	case CTL_PROC_SIGNAL:
		done_tell(m, paused ? -EBUSY : launch_signal(m->id, m->a, m->b == 1));
		break;
	case CTL_RESIZE:
		done_tell(m, paused ? -EBUSY : launch_resize(m->id, m->a, m->b));
		break;
	case CTL_HANG_UP:
		hang_up_in(m->id);
		break;
	case CTL_PAUSE:
	case CTL_RESUME:
		pause_set(m->type == CTL_PAUSE);
		done_tell(m, 0);
		break;
	case CTL_STATS:
		stats_in(m);
		break;
	case CTL_POLICY:
		done_tell(m, policy_change(nfds ? fds[0] : -1));
		if (nfds)
			fds++, nfds--; /* it took that one */
		break;
	case CTL_NETWORK:
		gate_grant();
		break;
	case CTL_DENIED:
		denials_add(m->text, strnlen(m->text, sizeof(m->text)));
		done_tell(m, 0);
		break;
	case CTL_FREEZE:
		freeze_start(m, nfds == 1 ? fds[0] : -1);
		if (nfds == 1)
			return; /* which took it */
		break;
	case CTL_UNFREEZE:
		freeze_undo();
		break;
	case CTL_ANSWER:
		question_answer(m->id, m->a == 1);
		break;
	case CTL_LIMITS:
		done_tell(m, limits_change(&m->limits));
		break;
	case CTL_END:
		cell_end(0);
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < nfds; i++)
		host_close(fds[i]);
}

/* False: there is no message. */
static bool message_take(void)
{
	int fds[CTL_MAX_FDS];
	struct ctl_msg m;
	unsigned nfds;
	int64_t n = fdmsg_recv(FD_CONTROL, &m, sizeof(m), fds, CTL_MAX_FDS, &nfds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return false;
	if (n == -EMSGSIZE)
		return true;
	if (n == -EMFILE)
		n = sizeof(m); /* whoever sent it has an answer, if he waits for one */
	if (n <= 0)
		_exit(125); /* viv is gone: the host ends every process of the cell with us */
	if (m.type != CTL_LIMITS && m.type != CTL_SETUP)
		m.text[sizeof(m.text) - 1] = 0;
	if (n == sizeof(m))
		message_in(&m, fds, nfds);
	else
		for (unsigned i = 0; i < nfds; i++)
			host_close(fds[i]);
	return true;
}

static void control_in(struct hostwatch *w, uint32_t events)
{
	(void)events;
	now_update(); /* it may have been a long wait */
	outbox_send(MSG_DONTWAIT);
	for (int i = 0; i < BATCH && !paused && message_take(); i++)
		;
	(void)hostwatch_arm(w, POLLIN | (list_is_empty(&outbox) ? 0 : POLLOUT));
}

void control_wait(void)
{
	struct pollfd p = { .fd = FD_CONTROL,
			    .events = (short)(POLLIN | (list_is_empty(&outbox) ? 0 : POLLOUT)) };

	if (host_poll(&p, 1, -1) <= 0)
		return;
	outbox_send(MSG_DONTWAIT);
	if (p.revents & ~POLLOUT)
		(void)message_take();
}

int control_watch(void)
{
	ktimer_init(&seal_timer, seal_later);
	ktimer_init(&sealing.timer, seal_step);
	hostwatch_init(&watch, FD_CONTROL, control_in);
	return hostwatch_arm(&watch, POLLIN);
}
