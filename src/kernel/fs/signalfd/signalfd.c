/* signalfd: a view on the signals that the kernel keeps back for the reader (task/heldsig.c, which
 * says what differs from Linux).
 *
 * As on Linux, whose signals are read or polled is decided by who asks, not by who made the
 * descriptor; an epoll item stays with the process that added it. */
#include "kernel/fs/signalfd/signalfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "base/arena.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/heldsig.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

struct signalfd {
	uint64_t mask;
};
OBJ_TYPE(signalfd_type, struct signalfd, 8192);

static const struct file_ops signalfd_fops;

enum layout { BY_KILL, BY_TIMER, BY_POLL, BY_FAULT, BY_CHILD, BY_QUEUE };

static enum layout layout_of(const struct linux_siginfo *si)
{
	if (si->code > 0 && si->code < SI_KERNEL) {
		switch (si->signo) {
		case SIGILL:
		case SIGFPE:
		case SIGSEGV:
		case SIGBUS:
		case SIGTRAP:
			return BY_FAULT;
		case SIGCHLD:
			return BY_CHILD;
		default:
			return BY_POLL;
		}
	}
	if (si->code == SI_TIMER)
		return BY_TIMER;
	if (si->code == SI_SIGIO)
		return BY_POLL;
	return si->code < 0 ? BY_QUEUE : BY_KILL;
}

static void info_fill(struct signalfd_siginfo *out, const struct linux_siginfo *si)
{
	*out = (struct signalfd_siginfo){ .ssi_signo = (uint32_t)si->signo, .ssi_code = si->code };
	switch (layout_of(si)) {
	case BY_KILL:
		out->ssi_pid = (uint32_t)si->u.rt.pid;
		out->ssi_uid = si->u.rt.uid;
		break;
	case BY_TIMER:
		out->ssi_tid = (uint32_t)si->u.timer.tid;
		out->ssi_overrun = (uint32_t)si->u.timer.overrun;
		out->ssi_ptr = si->u.timer.value;
		out->ssi_int = (int32_t)si->u.timer.value;
		break;
	case BY_POLL:
		out->ssi_band = (uint32_t)si->u.poll.band;
		out->ssi_fd = si->u.poll.fd;
		break;
	case BY_FAULT:
		out->ssi_addr = si->u.fault.addr;
		break;
	case BY_CHILD:
		out->ssi_pid = (uint32_t)si->u.chld.pid;
		out->ssi_uid = si->u.chld.uid;
		out->ssi_status = si->u.chld.status;
		out->ssi_utime = (uint64_t)si->u.chld.utime;
		out->ssi_stime = (uint64_t)si->u.chld.stime;
		break;
	case BY_QUEUE:
		out->ssi_pid = (uint32_t)si->u.rt.pid;
		out->ssi_uid = si->u.rt.uid;
		out->ssi_ptr = si->u.rt.value;
		out->ssi_int = (int32_t)si->u.rt.value;
		break;
	}
}

static int64_t signalfd_read(struct file *f, struct uio *u, int64_t pos)
{
	const struct signalfd *s = f->priv;
	struct task *t = task_current;
	struct signalfd_siginfo out;
	struct linux_siginfo si;
	int64_t done = 0;

	(void)pos;
	if (u->left < sizeof(out))
		return -EINVAL;
	if (!t)
		return -EAGAIN;
	while (u->left >= sizeof(out) && held_next(t, s->mask, &si)) {
		info_fill(&out, &si);
		if (uio_put(u, &out, sizeof(out)) != sizeof(out))
			return done ? done : -EFAULT;
		done += (int64_t)sizeof(out);
	}
	return done ? done : -EAGAIN;
}

static uint32_t signalfd_poll(struct file *f)
{
	const struct signalfd *s = f->priv;

	return task_current && (held_pending(task_current) & s->mask) ? POLLIN | POLLRDNORM : 0;
}

static struct waitq *signalfd_poll_q(struct file *f)
{
	(void)f;
	return task_current ? &task_current->proc->sigfd_q : NULL;
}

static void signalfd_flush(struct file *f, struct task *t)
{
	(void)f;
	if (t && t->files && t->files->refs) /* else the whole table goes */
		signalfd_recount(t);
}

static void signalfd_release(struct file *f)
{
	obj_free(&signalfd_type, f->priv);
}

static void signalfd_fdinfo(struct file *f, struct uio *u)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "sigmask:\t%016llx\n",
			 (unsigned long long)((struct signalfd *)f->priv)->mask);

	(void)!uio_put(u, line, (size_t)n);
}

static const struct file_ops signalfd_fops = {
	.read = signalfd_read,
	.poll = signalfd_poll,
	.poll_q = signalfd_poll_q,
	.flush = signalfd_flush,
	.release = signalfd_release,
	.fdinfo = signalfd_fdinfo,
};

bool file_is_signalfd(const struct file *f)
{
	return f->ops == &signalfd_fops;
}

void signalfd_recount(struct task *t)
{
	const struct fdtable *ft = t->files;
	uint32_t left = ft->open;
	uint64_t mask = 0;

	for (uint32_t i = 0; i < ft->size && left; i++) {
		const struct file *f = ft->slots[i].file;

		if (!f)
			continue;
		left--;
		if (file_is_signalfd(f))
			mask |= ((struct signalfd *)f->priv)->mask;
	}
	t->proc->sigfd_mask = mask;
	if (t->proc->held_set)
		held_pass_on(t);
}

void signalfd_set_mask(struct file *f, struct task *t, uint64_t mask)
{
	((struct signalfd *)f->priv)->mask = mask;
	signalfd_recount(t);
	waitq_wake(&t->proc->sigfd_q, POLLIN | POLLRDNORM);
}

int signalfd_make(uint64_t mask, uint32_t flags, struct file **ret_)
{
	struct signalfd *s = obj_new(&signalfd_type);
	int r;

	if (!s)
		return -ENFILE;
	s->mask = mask;
	r = file_new_anon("anon_inode:[signalfd]", 0600, &signalfd_fops, s,
			  O_RDWR | (flags & O_NONBLOCK), ret_);
	if (r < 0) {
		obj_free(&signalfd_type, s);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	return 0;
}
