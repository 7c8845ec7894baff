/* The channel to viv: signals in; log lines, events, the result out. The kernel never waits for viv to read: what does not fit into
 * the socket is lost, except for the result, which is small and last. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "host/bootspec.h"
#include "host/child.h"
#include "host/host.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/abi/signal.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

static struct hostwatch watch;

void control_say(uint32_t type, int32_t a, const char *fmt, ...)
{
	struct ctl_msg m = { .type = type, .a = a };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m.text, sizeof(m.text), fmt, ap);
	va_end(ap);
	(void)host_send(FD_CONTROL, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_line(const char *line)
{
	control_say(CTL_LOG, 0, "%s", line);
}

void control_init(void)
{
	log_sink = say_line;
}

/* Would SIGTSTP stop p, were it run by hand? */
static bool is_stopped_by_tstp(const struct proc *p)
{
	struct host_sigs hs = { 0 };

	if (cell.proc_fd >= 0)
		(void)host_thread_sigs(cell.proc_fd, p->pid, p->pid, &hs);
	return !((hs.ignored | hs.blocked | hs.caught) & SIGBIT(SIGTSTP));
}

static struct proc *first_proc(void)
{
	struct proc *p = proc_next(NULL);

	while (p && !p->is_first)
		p = proc_next(p);
	return p;
}

/* Ctrl-Z for the group of the first process (group 0: for it alone). In the cell that group is orphaned, and nothing would stop it; but
 * viv has a shell that can continue it. So those who have no other plan are stopped, and viv with them. */
static void stop_in(pid_t group)
{
	struct proc *first = first_proc();

	if (is_stopped_by_tstp(first))
		control_say(CTL_STOP, 0, "%s", "");
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (p->state != PROC_ZOMBIE && (group ? p->pgid == group : p == first))
			(void)signal_send_proc(p, is_stopped_by_tstp(p) ? SIGSTOP : SIGTSTP, NULL);
}

/* Terminal signals go to the foreground group, the others to the first process, as they would to a program run by hand. */
static void signal_in(int sig)
{
	const struct tty *tty = console_tty();
	pid_t group = tty ? tty->foreground : 0;
	struct proc *p = first_proc();

	if (sig < 1 || sig > 31 || !p)
		return;
	if (sig == SIGTSTP && (!group || p->pgid == group)) {
		stop_in(group);
		return;
	}
	if (group > 0 && (sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP || sig == SIGWINCH ||
			  sig == SIGCONT)) {
		(void)signal_send_pgrp(group, sig, NULL);
		return;
	}
	(void)signal_send_proc(p, sig, NULL);
}

/* The new layer goes to the host's disk a little later, when who asked for the seal has done what it needed it for. */
#define SEAL_END_NS (100 * 1000000LL)

static struct ktimer seal_timer;

static void seal_later(struct ktimer *timer)
{
	(void)timer;
	layer_seal_end(boot_layer());
}

static void seal_in(const struct ctl_msg *m)
{
	int64_t start = host_clock(CLOCK_MONOTONIC);
	int ret = layer_seal(boot_layer(), (uint32_t)m->a, !strncmp(m->text, "sync", 4));

	control_say(CTL_SEALED, ret, "%lld",
		    (long long)(host_clock(CLOCK_MONOTONIC) - start) / 1000);
	if (ret < 0)
		return;
	if (ktimer_start(&seal_timer, host_clock(CLOCK_MONOTONIC) + SEAL_END_NS) < 0)
		layer_seal_end(boot_layer());
}

static void control_in(struct hostwatch *w, uint32_t events)
{
	struct ctl_msg m;
	int64_t n = host_recv(FD_CONTROL, &m, sizeof(m), MSG_DONTWAIT);

	(void)events;
	if (n == 0 || (n < 0 && n != -EAGAIN))
		_exit(125); /* viv is gone: the host ends every process of the cell with us */
	if (n == sizeof(m) && m.type == CTL_SIGNAL)
		signal_in(m.a);
	if (n == sizeof(m) && m.type == CTL_SEAL)
		seal_in(&m);
	(void)hostwatch_arm(w, POLLIN);
}

int control_watch(void)
{
	ktimer_init(&seal_timer, seal_later);
	hostwatch_init(&watch, FD_CONTROL, control_in);
	return hostwatch_arm(&watch, POLLIN);
}
