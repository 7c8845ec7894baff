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
#include "host/host.h"
#include "kernel/cell/control.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/task/task.h"

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

/* Terminal signals go to the foreground group, the others to the first process, as they would to a program run by hand. */
static void signal_in(int sig)
{
	pid_t group = tty_present() ? tty_foreground() : 0;
	struct proc *p;

	if (sig < 1 || sig > 31)
		return;
	if (group > 0 && (sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP || sig == SIGWINCH || sig == SIGCONT)) {
		(void)signal_send_pgrp(group, sig, NULL);
		return;
	}
	for (p = proc_next(NULL); p; p = proc_next(p))
		if (p->is_first) {
			(void)signal_send_proc(p, sig, NULL);
			return;
		}
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
	(void)hostwatch_arm(w, POLLIN);
}

int control_watch(void)
{
	hostwatch_init(&watch, FD_CONTROL, control_in);
	return hostwatch_arm(&watch, POLLIN);
}
