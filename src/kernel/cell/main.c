/* viv-kernel: one cell's kernel. Process 1 of the cell's PID namespace; viv starts it with the
 * descriptors of wire/bootspec.h.
 *
 * Start: read the spec, lock ourselves in, build the tree, start the first process, seal. Then the
 * loop: one event at a time, no locks, and no thread but the one that makes long calls of the host
 * (host/worker.h). After each event the calls that it woke are run, then those that a signal
 * interrupts. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/child.h"
#include "host/host.h"
#include "host/isolate.h"
#include "host/notify.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/cell/freeze.h"
#include "kernel/cell/gauges.h"
#include "kernel/cell/journal.h"
#include "kernel/cell/leave.h"
#include "kernel/cell/maintain.h"
#include "kernel/cell/memory.h"
#include "kernel/cell/policy.h"
#include "kernel/cell/upcalls.h"
#include "kernel/net/gate.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/post.h"
#include "kernel/sys/seed.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/detach.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/async.h"
#include "kernel/vfs/name.h"

static struct hostwatch chld_watch;

static int wait_status_of(const struct host_end *e)
{
	switch (e->code) {
	case CLD_EXITED:
		return (e->status & 0xff) << 8;
	case CLD_DUMPED:
		return (e->status & 0x7f) | 0x80;
	default:
		return e->status & 0x7f;
	}
}

static void child_changed(const struct host_end *e)
{
	struct proc *p = proc_find(e->pid);

	if (!p) {
		/* A process that was announced as a thread, or never announced. */
		struct task *t = task_find(e->pid);

		if (seed_is(e->pid) && e->code != CLD_STOPPED && e->code != CLD_CONTINUED)
			seed_gone();
		if (t && e->code != CLD_STOPPED && e->code != CLD_CONTINUED)
			task_free(t);
		return;
	}
	if (e->code == CLD_STOPPED) {
		if (signal_stop_counts(p, e->status))
			proc_stopped(p, e->status);
	} else if (e->code !=
		   CLD_CONTINUED) { /* known since we sent it: it may be stopped again by now */
		proc_leave(p, wait_status_of(e), &e->usage);
	}
}

/* The signal tells of many at once, so what is left for the next turn is not told of again. */
static void children_take(struct ktimer *timer)
{
	struct host_end e;

	while (host_wait_any(&e) == 1) {
		child_changed(&e);
		if (turn_is_long() && ktimer_start(timer, now_mono() + 1) == 0)
			return;
	}
}
KTIMER(reap_timer, children_take);

static void children_reap(struct hostwatch *w, uint32_t events)
{
	(void)events;
	if (control_is_paused()) {
		(void)hostwatch_arm(w, POLLIN);
		return;
	}
	now_update();
	host_sigchld_drain(w->fd);
	children_take(&reap_timer);
	(void)hostwatch_arm(w, POLLIN);
}

static void settle(void)
{
	/* Bounded: what keeps waking each other goes on after the next event. */
	for (int round = 0; round < 64 && calls_are_ready() && !(round && turn_is_long()); round++)
		calls_run_ready();
	async_run();
	calls_run_interrupts();
	calls_detach();
}

static void loop(void)
{
	struct host_call in;
	int64_t deadline;

	for (;;) {
		while (control_is_paused())
			control_wait();
		now_update();
		ktimer_run(now_mono());
		settle();
		gauges_look();
		name_prune();
		deadline = calls_are_ready() ? 0 : ktimer_next();
		if (posts_wait(deadline))
			continue;
		if (!loop_wait(now_mono(), posts_are_awake() ? 0 : deadline))
			continue;
		now_update();
		if (control_is_paused())
			continue;
		if (notify_recv(&in) == 0) {
			dispatch_call(&in);
			settle();
		}
	}
}

static _Noreturn void fail(const char *what, int err)
{
	control_say(CTL_FAIL, 125, "%s: %s", what, strerror(-err));
	_exit(125);
}

int main(void)
{
	struct isolate_result iso;
	int ret, chld_fd;

	signal(SIGPIPE, SIG_IGN);
	upcalls_init();
	now_update();
	ret = bootspec_read(FD_SPEC, &cell.spec);
	if (ret < 0)
		fail("cannot read the cell's spec", ret);
	ret = isolate_enter(&cell.spec, &iso);
	if (ret < 0)
		fail("cannot isolate the cell", ret);
	ret = host_open_prepare();
	if (ret < 0)
		fail("cannot prepare the cell's kernel", ret);
	cell.proc_fd = iso.proc_fd;
	cell.scratch_fd = iso.scratch_fd;
	cell.boot_mono = (uint64_t)now_mono();
	cell.boot_real = (uint64_t)now_real();
	host_random(cell.random_id, sizeof(cell.random_id));
	ret = arena_init();
	if (ret < 0)
		fail("cannot reserve memory for the cell's kernel", ret);
	if (cell.spec.mode != MODE_RUN) {
		ret = program_seal();
		if (ret == 0)
			ret = isolate_seal();
		if (ret < 0)
			fail("cannot seal the kernel", ret);
		maintain();
	}
	ret = loop_init();
	if (ret < 0)
		fail("cannot set up the event loop", ret);
	gate_init();
	policy_hooks_add();
	if (cell.spec.trace)
		trace_open(cell.spec.trace_fd);
	if (boot_tree() < 0)
		return 125;
	ret = journal_init();
	if (ret < 0)
		fail("cannot use the cell's journal", ret);
	ret = policy_init();
	if (ret < 0)
		fail("cannot use the cell's policy", ret);
	chld_fd = host_sigchld_fd();
	if (chld_fd < 0)
		fail("cannot watch processes", chld_fd);
	hostwatch_init(&chld_watch, chld_fd, children_reap);
	if (hostwatch_arm(&chld_watch, POLLIN) < 0 || control_watch() < 0)
		fail("cannot watch processes", -EINVAL);
	if (boot_first() != 0)
		return 125;
	ret = program_seal();
	if (ret == 0)
		ret = isolate_seal();
	if (ret < 0)
		fail("cannot seal the cell's kernel", ret);
	freeze_boot();
	if (thaw_begin() < 0)
		return 125;
	memory_watch();
	control_say(CTL_READY, 0, "%s", "");
	loop();
}
