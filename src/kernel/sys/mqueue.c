/* mq_open, mq_unlink, mq_timedsend, mq_timedreceive, mq_notify, mq_getsetattr. */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kernel/abi/signal.h"
#include "kernel/abi/time.h"
#include "kernel/fs/mqueue/mqueue.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define HARD_MSGS 65536
#define HARD_SIZE (16L << 20)

struct mq_attr_ {
	int64_t flags, maxmsg, msgsize, curmsgs, reserved[4];
};

/* The name: one component; the C library has taken the slash off. */
static int name_arg(struct task *t, uaddr_t addr, char *name)
{
	int r = guest_read_str(t->tid, path_buf, addr, PATH_MAX_LEN);

	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	if (strchr(path_buf, '/') || !strcmp(path_buf, ".") || !strcmp(path_buf, ".."))
		return -EACCES;
	if (r > NAME_MAX_LEN)
		return -ENAMETOOLONG;
	memcpy(name, path_buf, (size_t)r + 1);
	return 0;
}

/* What the queues of a user may hold: counted as Linux does, with the room that a full queue
 * needs. */
static int attr_check(const struct task *t, const struct mq_attr_ *at)
{
	bool free = cred_has_cap(&t->cred, CAP_SYS_RESOURCE);

	if (at->maxmsg <= 0 || at->msgsize <= 0)
		return -EINVAL;
	if (at->maxmsg > (free ? HARD_MSGS : MQ_MAX_MSGS) ||
	    at->msgsize > (free ? HARD_SIZE : MQ_MAX_SIZE))
		return -EINVAL;
	if ((uint64_t)at->maxmsg * ((uint64_t)at->msgsize + 96) >
	    t->proc->limits[RLIMIT_MSGQUEUE].cur)
		return -EMFILE;
	return 0;
}

static int queue_make(struct task *t, const char *name, uint32_t mode, const struct mq_attr_ *at,
		      struct mqueue **ret_)
{
	int r = attr_check(t, at);

	if (r < 0)
		return r;
	return mq_new(name, mode & 0777 & ~t->fs->umask, &t->cred, (uint32_t)at->maxmsg,
		      (uint32_t)at->msgsize, ret_);
}

int64_t sys_mq_open(struct task *t, const struct sysargs *a)
{
	static const int masks[4] = { R_OK, W_OK, R_OK | W_OK, 0 };
	struct mq_attr_ at = { .maxmsg = MQ_MAX_MSGS, .msgsize = MQ_MAX_SIZE };
	char name[NAME_MAX_LEN + 1];
	unsigned flags = ARG_UINT(a, 1);
	bool made = false;
	struct mqueue *mq;
	struct file *f;
	int r;

	if (a->a[3] && guest_get(t->tid, &at, a->a[3]) < 0)
		return -EFAULT;
	r = name_arg(t, a->a[0], name);
	if (r < 0)
		return r;
	mq = mq_find(name);
	if (!mq && !(flags & O_CREAT))
		return -ENOENT;
	if (mq && (flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (mq) {
		if ((flags & O_ACCMODE) == 3)
			return -EINVAL;
		r = mq_permission(mq, &t->cred, masks[flags & O_ACCMODE]);
	} else {
		r = queue_make(t, name, ARG_UINT(a, 2), &at, &mq);
		made = r == 0;
	}
	if (r == 0)
		r = mq_file(mq, flags, &f);
	if (r) {
		if (made)
			mq_unlink_queue(mq);
		return r;
	}
	return fd_give(t, f, true);
}

int64_t sys_mq_unlink(struct task *t, const struct sysargs *a)
{
	char name[NAME_MAX_LEN + 1];
	int r = name_arg(t, a->a[0], name);
	struct mqueue *mq;

	if (r < 0)
		return r;
	mq = mq_find(name);
	if (!mq)
		return -ENOENT;
	/* As a file of a directory that everybody may write and that is sticky. */
	if (t->cred.fsuid != mq->uid && !cred_has_cap(&t->cred, CAP_FOWNER))
		return -EPERM;
	mq_unlink_queue(mq);
	return 0;
}

/* The deadline of a call: a time of CLOCK_REALTIME. */
static int timeout_arg(struct task *t, uaddr_t addr)
{
	struct linux_timespec ts;
	int64_t ns;

	if (!addr || t->call.resumed)
		return 0;
	if (guest_get(t->tid, &ts, addr) < 0)
		return -EFAULT;
	if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= NSEC_PER_SEC)
		return -EINVAL;
	if (ts.sec >= TIME_NEVER / NSEC_PER_SEC)
		return 0;
	ns = ts.sec * NSEC_PER_SEC + ts.nsec;
	call_set_deadline(t, MAX(ns - now_real() + now_mono(), (int64_t)0));
	return 0;
}

static int queue_arg(struct task *t, int fd, uint32_t mode, struct file **ret_f,
		     struct mqueue **ret_)
{
	struct file *f = file_of_call(t, fd);

	*ret_ = f ? mq_of(f) : NULL;
	*ret_f = f;
	return *ret_ && (!mode || (f->mode & mode)) ? 0 : -EBADF;
}

static int64_t queue_wait(struct task *t, struct file *f, struct waitq *q)
{
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	if (call_is_expired(t))
		return -ETIMEDOUT;
	file_keep(t, f);
	return call_wait(t, q, ~0u, PARK_RESTART);
}

int64_t sys_mq_timedsend(struct task *t, const struct sysargs *a)
{
	uint64_t len = a->a[2];
	unsigned prio = ARG_UINT(a, 3);
	struct mqueue *mq;
	struct mq_msg *m;
	struct file *f;
	int r = timeout_arg(t, a->a[4]);

	if (r < 0)
		return r;
	if (prio >= MQ_PRIO_MAX)
		return -EINVAL;
	r = queue_arg(t, ARG_INT(a, 0), FMODE_WRITE, &f, &mq);
	if (r < 0)
		return r;
	if (len > mq->msgsize)
		return -EMSGSIZE;
	if (mq->count >= mq->maxmsg)
		return queue_wait(t, f, &mq->send_q);
	m = mq_msg_new(prio, (uint32_t)len);
	if (!m)
		return -ENOMEM;
	if (len && guest_read(t->tid, m->data, a->a[1], len) < 0) {
		mq_msg_free(m);
		return -EFAULT;
	}
	mq_put(mq, m, t);
	return 0;
}

int64_t sys_mq_timedreceive(struct task *t, const struct sysargs *a)
{
	struct mqueue *mq;
	struct mq_msg *m;
	struct file *f;
	int64_t n;
	int r = timeout_arg(t, a->a[4]);

	if (r < 0)
		return r;
	r = queue_arg(t, ARG_INT(a, 0), FMODE_READ, &f, &mq);
	if (r < 0)
		return r;
	if (a->a[2] < mq->msgsize)
		return -EMSGSIZE;
	m = mq_take(mq);
	if (!m)
		return queue_wait(t, f, &mq->recv_q);
	n = m->size;
	if ((a->a[3] && guest_put(t->tid, a->a[3], &m->prio) < 0) ||
	    (n && guest_write(t->tid, a->a[1], m->data, (size_t)n) < 0))
		n = -EFAULT;
	mq_msg_free(m);
	return n;
}

int64_t sys_mq_notify(struct task *t, const struct sysargs *a)
{
	struct linux_sigevent ev = { 0 };
	struct mqueue *mq;
	struct file *f;
	int r;

	if (a->a[1]) {
		if (guest_get(t->tid, &ev, a->a[1]) < 0)
			return -EFAULT;
		if (ev.notify != SIGEV_NONE && ev.notify != SIGEV_SIGNAL)
			return -EINVAL;
		if (ev.notify == SIGEV_SIGNAL && (ev.signo < 0 || ev.signo > LINUX_NSIG))
			return -EINVAL;
	}
	r = queue_arg(t, ARG_INT(a, 0), 0, &f, &mq);
	if (r < 0)
		return r;
	if (!a->a[1]) {
		if (mq->notify_pid == t->proc->pid)
			mq->notify_pid = 0;
		return 0;
	}
	if (mq->notify_pid)
		return -EBUSY;
	mq->notify_pid = t->proc->pid;
	mq->notify_kind = ev.notify;
	mq->notify_sig = ev.signo;
	mq->notify_value = ev.value;
	return 0;
}

int64_t sys_mq_getsetattr(struct task *t, const struct sysargs *a)
{
	struct mq_attr_ set, old = { 0 };
	struct mqueue *mq;
	struct file *f;
	int r;

	if (a->a[1]) {
		if (guest_get(t->tid, &set, a->a[1]) < 0)
			return -EFAULT;
		if (set.flags & ~(int64_t)O_NONBLOCK)
			return -EINVAL;
	}
	r = queue_arg(t, ARG_INT(a, 0), 0, &f, &mq);
	if (r < 0)
		return r;
	old.flags = f->flags & O_NONBLOCK;
	old.maxmsg = mq->maxmsg;
	old.msgsize = mq->msgsize;
	old.curmsgs = mq->count;
	if (a->a[1])
		f->flags = (f->flags & ~(uint32_t)O_NONBLOCK) | (uint32_t)(set.flags & O_NONBLOCK);
	return a->a[2] ? guest_put(t->tid, a->a[2], &old) : 0;
}
