/* Signal-driven input and output.
 *
 * A file with O_ASYNC has a waiter on its own poll queue, which stays there. A wake-up only puts it
 * on a list; after the event the owner of each file on the list gets SIGIO, or the signal that
 * F_SETSIG chose. Several wake-ups in one event are one signal, as they are on Linux when the
 * signal is still pending. The rights are those of who set the owner. The kinds are those of Linux
 * (file_ops.async): pipes, terminals and inotify tell of all input (ASYNC_ALWAYS), sockets only of
 * what no waiting reader has taken (ASYNC_LEFT); the others have no O_ASYNC. Left out: an owner
 * that is a single thread gets its signals as a process. */
#include "kernel/vfs/async.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "base/arena.h"
#include "kernel/abi/signal.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

struct async {
	struct waiter waiter;
	struct file *file; /* borrowed: it drops us before it goes */
	int fd;
	uint32_t events; /* of the wake-ups since */
	struct list link; /* in pending, or alone */
};
OBJ_TYPE(async_type, struct async, 16384);

static struct list pending = LIST_INIT(pending);

/* ---- the owner ---- */

int file_owner_set(struct task *t, struct file *f, int64_t who)
{
	if (who > INT32_MAX || who < -INT32_MAX)
		return -EINVAL;
	if (who > 0 && who != INIT_PID && !proc_find((pid_t)who) && !task_find((pid_t)who))
		return -ESRCH;
	if (who < 0 && !pgrp_exists((pid_t)-who, 0))
		return -ESRCH;
	f->owner_pid = (int)who;
	f->owner_uid = t->cred.uid;
	f->owner_euid = t->cred.euid;
	return 0;
}

static bool owner_may(const struct file *f, struct proc *p)
{
	const struct task *leader = proc_leader(p);
	const struct cred *c = leader ? &leader->cred : NULL;

	if (!c)
		return false;
	return f->owner_euid == 0 || f->owner_euid == c->suid || f->owner_euid == c->uid ||
	       f->owner_uid == c->suid || f->owner_uid == c->uid;
}

void file_owner_signal(const struct file *f, int sig, const struct linux_siginfo *info)
{
	struct task *thread;
	struct proc *p;

	if (f->owner_pid > 0) {
		p = proc_find(f->owner_pid);
		thread = p ? NULL : task_find(f->owner_pid);
		if (thread)
			p = thread->proc;
		if (p && owner_may(f, p))
			(void)!signal_send_proc(p, sig, info);
		return;
	}
	if (f->owner_pid < 0)
		for (p = proc_next(NULL); p; p = proc_next(p))
			if (p->pgid == -f->owner_pid && owner_may(f, p))
				(void)!signal_send_proc(p, sig, info);
}

/* ---- O_ASYNC ---- */

static void async_wake(struct waiter *w, uint32_t events)
{
	struct async *as = container_of(w, struct async, waiter);

	as->events |= events ? events : POLLIN | POLLOUT;
	if (list_is_empty(&as->link))
		list_append(&pending, &as->link);
}

void async_drop(struct file *f)
{
	struct async *as = f->async;

	if (!as)
		return;
	waiter_remove(&as->waiter);
	list_remove(&as->link);
	obj_free(&async_type, as);
	f->async = NULL;
}

int async_set(struct file *f, int fd, bool on)
{
	struct waitq *q = f->ops->async ? file_poll_q(f) : NULL;
	struct async *as;

	if (!on || !q) {
		async_drop(f);
		return 0;
	}
	if (f->async) {
		f->async->fd = fd;
		return 0;
	}
	as = obj_new(&async_type);
	if (!as)
		return -ENOMEM;
	as->file = f;
	as->fd = fd;
	list_init(&as->link);
	waiter_init(&as->waiter,
		    (f->mode & FMODE_READ ? POLLIN | POLLRDNORM | POLLPRI : 0u) |
			    (f->mode & FMODE_WRITE ? POLLOUT | POLLWRNORM : 0u),
		    async_wake);
	waitq_add(q, &as->waiter);
	f->async = as;
	return 0;
}

/* Why the owner is told: a code of SIGIO; 0: for nothing. */
static int reason(const struct async *as)
{
	uint32_t now = file_poll(as->file);

	if (as->file->ops->async == ASYNC_ALWAYS)
		now |= POLLIN;
	if (as->events & (POLLIN | POLLRDNORM | POLLHUP | POLLERR) &&
	    now & (POLLIN | POLLHUP | POLLERR))
		return POLL_IN;
	if (as->events & POLLPRI && now & POLLPRI)
		return POLL_PRI;
	return as->events & (POLLOUT | POLLWRNORM) && now & POLLOUT ? POLL_OUT : 0;
}

static void async_tell(const struct async *as)
{
	const struct file *f = as->file;
	int why = reason(as);
	struct linux_siginfo si = { .signo = f->owner_sig,
				    .code = why,
				    .u.poll = { .fd = as->fd } };

	if (!why || !f->owner_pid)
		return;
	si.u.poll.band = why == POLL_IN	   ? POLLIN | POLLRDNORM
			 : why == POLL_PRI ? POLLPRI | POLLRDBAND
					   : POLLOUT | POLLWRNORM | POLLWRBAND;
	/* What is known of the event is only said to who chose the signal, as on Linux. */
	if (f->owner_sig)
		file_owner_signal(f, f->owner_sig, &si);
	else
		file_owner_signal(f, SIGIO, NULL);
}

void async_run(void)
{
	while (!list_is_empty(&pending)) {
		struct async *as = list_first(&pending, struct async, link);

		list_remove(&as->link);
		async_tell(as);
		as->events = 0;
	}
}
