/* POSIX message queues. Names are a list of their own: there is no mqueue file system to mount, as
 * in most containers. Left out: SIGEV_THREAD of mq_notify (it needs a netlink socket in the C
 * library's protocol). */
#include "kernel/fs/mqueue/mqueue.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/uio.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

OBJ_TYPE(mqueue_type, struct mqueue, 4096);

static struct list queues = LIST_INIT(queues);
static uint32_t nqueues;
static const struct file_ops mq_fops;

struct mqueue *mq_find(const char *name)
{
	struct mqueue *mq;

	list_for_each(mq, &queues, link)
		if (!strcmp(mq->name, name))
			return mq;
	return NULL;
}

int mq_new(const char *name, uint32_t mode, const struct cred *c, uint32_t maxmsg, uint32_t msgsize,
	   struct mqueue **ret_)
{
	struct mqueue *mq;

	if (nqueues >= MQ_MAX_QUEUES && !cred_has_cap(c, CAP_SYS_RESOURCE))
		return -ENOSPC;
	mq = obj_new(&mqueue_type);
	if (!mq)
		return -ENOSPC;
	mq->refs = 1;
	mq->mode = mode;
	mq->uid = c->fsuid;
	mq->gid = c->fsgid;
	mq->maxmsg = maxmsg;
	mq->msgsize = msgsize;
	list_init(&mq->msgs);
	waitq_init(&mq->q);
	waitq_init(&mq->recv_q);
	waitq_init(&mq->send_q);
	snprintf(mq->name, sizeof(mq->name), "%s", name);
	list_append(&queues, &mq->link);
	nqueues++;
	*ret_ = mq;
	return 0;
}

static void mq_release_ref(struct mqueue *mq)
{
	if (!ref_put(&mq->refs))
		return;
	while (!list_is_empty(&mq->msgs))
		mq_msg_free(mq_take(mq));
	waitq_fini(&mq->q);
	waitq_fini(&mq->recv_q);
	waitq_fini(&mq->send_q);
	obj_free(&mqueue_type, mq);
}

void mq_unlink_queue(struct mqueue *mq)
{
	list_remove(&mq->link);
	nqueues--;
	mq->unlinked = true;
	mq_release_ref(mq);
}

int mq_permission(const struct mqueue *mq, const struct cred *c, int want)
{
	uint32_t bits = mq->mode;

	if (c->fsuid == mq->uid)
		bits >>= 6;
	else if (cred_in_group(c, mq->gid))
		bits >>= 3;
	if (!((uint32_t)want & ~bits & 7) || cred_has_cap(c, CAP_DAC_OVERRIDE))
		return 0;
	return want == R_OK && cred_has_cap(c, CAP_DAC_READ_SEARCH) ? 0 : -EACCES;
}

/* ---- messages ---- */

struct mq_msg *mq_msg_new(uint32_t prio, uint32_t size)
{
	struct mq_msg *m = blob_new(sizeof(*m) + size);

	if (!m)
		return NULL;
	list_init(&m->link);
	m->prio = prio;
	m->size = size;
	return m;
}

void mq_msg_free(struct mq_msg *m)
{
	blob_free(m, sizeof(*m) + m->size);
}

/* The first message of an empty queue for which nobody waits: tells who asked, once. */
static void mq_tell(struct mqueue *mq, const struct task *sender)
{
	struct proc *p = mq->notify_pid ? proc_find(mq->notify_pid) : NULL;
	struct linux_siginfo si = {
		.signo = mq->notify_sig,
		.code = SI_MESGQ,
		.u.rt = { .pid = sender->proc->pid,
			  .uid = sender->cred.uid,
			  .value = mq->notify_value },
	};

	if (!mq->notify_pid)
		return;
	if (p && mq->notify_kind == SIGEV_SIGNAL && mq->notify_sig)
		(void)signal_send_proc(p, mq->notify_sig, &si);
	mq->notify_pid = 0;
}

void mq_put(struct mqueue *mq, struct mq_msg *m, const struct task *sender)
{
	struct list *at = mq->msgs.prev;

	/* From the end: most come in order. */
	while (at != &mq->msgs && list_entry(at, struct mq_msg, link)->prio < m->prio)
		at = at->prev;
	list_insert(at, at->next, &m->link);
	mq->count++;
	mq->bytes += m->size;
	if (mq->count == 1 && list_is_empty(&mq->recv_q.waiters))
		mq_tell(mq, sender);
	waitq_wake(&mq->recv_q, ~0u);
	waitq_wake(&mq->q, POLLIN | POLLRDNORM);
}

struct mq_msg *mq_take(struct mqueue *mq)
{
	struct mq_msg *m;

	if (list_is_empty(&mq->msgs))
		return NULL;
	m = list_first(&mq->msgs, struct mq_msg, link);
	list_remove(&m->link);
	mq->count--;
	mq->bytes -= m->size;
	waitq_wake(&mq->send_q, ~0u);
	waitq_wake(&mq->q, POLLOUT | POLLWRNORM);
	return m;
}

/* ---- the file ---- */

static int64_t mq_read(struct file *f, struct uio *u, int64_t pos)
{
	const struct mqueue *mq = f->priv;
	char text[80];
	int n = snprintf(text, sizeof(text),
			 "QSIZE:%-10llu NOTIFY:%-5d SIGNO:%-5d NOTIFY_PID:%-6d\n",
			 (unsigned long long)mq->bytes, mq->notify_pid ? mq->notify_kind : 0,
			 mq->notify_pid && mq->notify_kind == SIGEV_SIGNAL ? mq->notify_sig : 0,
			 mq->notify_pid);

	if (pos < 0 || pos >= n)
		return 0;
	return uio_put(u, text + pos, (size_t)(n - pos));
}

static uint32_t mq_poll(struct file *f)
{
	const struct mqueue *mq = f->priv;

	return (mq->count ? POLLIN | POLLRDNORM : 0) |
	       (mq->count < mq->maxmsg ? POLLOUT | POLLWRNORM : 0);
}

static struct waitq *mq_poll_q(struct file *f)
{
	return &((struct mqueue *)f->priv)->q;
}

static void mq_flush(struct file *f, struct task *t)
{
	struct mqueue *mq = f->priv;

	if (t && mq->notify_pid == t->proc->pid)
		mq->notify_pid = 0;
}

static void mq_release(struct file *f)
{
	mq_release_ref(f->priv);
}

static const struct file_ops mq_fops = {
	.read = mq_read,
	.poll = mq_poll,
	.poll_q = mq_poll_q,
	.flush = mq_flush,
	.release = mq_release,
};

struct mqueue *mq_of(const struct file *f)
{
	return f->ops == &mq_fops ? f->priv : NULL;
}

int mq_file(struct mqueue *mq, uint32_t flags, struct file **ret_)
{
	char label[NAME_MAX_LEN + 2];
	int r;

	snprintf(label, sizeof(label), "/%s", mq->name);
	r = file_new_anon(label, S_IFREG | mq->mode, &mq_fops, mq, flags & (O_ACCMODE | O_NONBLOCK),
			  ret_);
	if (r < 0)
		return r;
	(*ret_)->inode->uid = mq->uid;
	(*ret_)->inode->gid = mq->gid;
	(*ret_)->inode->size = 80;
	ref_get(&mq->refs);
	return 0;
}
