/* msgget, msgsnd, msgrcv, msgctl. A call that waits keeps its queue; it finds out there that the
 * queue was removed. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "base/ref.h"
#include "kernel/ipc/msg.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define MSG_EXCEPT_ 020000
#define MSG_COPY_ 040000

static struct msg_queue *queue_of(struct ipc_obj *o)
{
	return (struct msg_queue *)o;
}

int64_t sys_msgget(struct task *t, const struct sysargs *a)
{
	int flags = (int)a->a[1], r;
	struct msg_queue *q;
	struct ipc_obj *o;

	r = ipc_get(&msg_table, &t->cred, (int32_t)a->a[0], flags, NULL, 0, &o);
	if (r == 0)
		return o->id;
	if (r < 0)
		return r;
	r = msg_queue_new(t, (int32_t)a->a[0], flags, &q);
	return r < 0 ? r : q->obj.id;
}

/* ---- sending and receiving ---- */

/* The queue of a first run (checked for mode) or of a later one. */
static int queue_get(struct task *t, int id, int mode, struct msg_queue **ret_)
{
	struct ipc_obj *o;

	if (t->call.resumed && t->call.kept.kind == KEPT_QUEUE) {
		*ret_ = t->call.kept.queue;
		if ((*ret_)->gone)
			return -EIDRM;
		return ipc_permission(&(*ret_)->obj, &t->cred, mode);
	}
	o = ipc_find(&msg_table, id);
	if (!o)
		return -EINVAL;
	*ret_ = queue_of(o);
	return ipc_permission(o, &t->cred, mode);
}

static int64_t queue_park(struct task *t, struct msg_queue *q, struct waitq *on)
{
	if (t->call.kept.kind == KEPT_NOTHING) {
		ref_get(&q->refs);
		t->call.kept = (struct call_kept){ .kind = KEPT_QUEUE, .queue = q };
	}
	return call_wait(t, on, ~0u, PARK_EINTR);
}

int64_t sys_msgsnd(struct task *t, const struct sysargs *a)
{
	uint64_t size = a->a[2];
	struct msg_queue *q;
	struct msg *m;
	int64_t type;
	int r;

	if (guest_get(t->tid, &type, a->a[1]) < 0)
		return -EFAULT;
	if (size > MSG_MAX_SIZE || (int)a->a[0] < 0 || type < 1)
		return -EINVAL;
	m = msg_new(type, (uint32_t)size);
	if (!m)
		return -ENOMEM;
	r = size ? guest_read(t->tid, m->data, a->a[1] + sizeof(type), size) : 0;
	if (r == 0)
		r = queue_get(t, (int)a->a[0], 0222, &q);
	if (r || !msg_has_room(q, size)) {
		msg_free(m);
		if (r)
			return r;
		return (int)a->a[3] & IPC_NOWAIT ? -EAGAIN : queue_park(t, q, &q->write_q);
	}
	msg_put(q, m, t->proc->pid);
	return 0;
}

int64_t sys_msgrcv(struct task *t, const struct sysargs *a)
{
	int flags = (int)a->a[4], r;
	int64_t room = (int64_t)a->a[2], n;
	struct msg_queue *q;
	struct msg *m;

	if ((int)a->a[0] < 0 || room < 0)
		return -EINVAL;
	if (flags & MSG_COPY_)
		return flags & MSG_EXCEPT_ || !(flags & IPC_NOWAIT) ? -EINVAL : -ENOSYS;
	r = queue_get(t, (int)a->a[0], 0444, &q);
	if (r < 0)
		return r;
	m = msg_find(q, (int64_t)a->a[3], flags & MSG_EXCEPT_);
	if (!m)
		return flags & IPC_NOWAIT ? -ENOMSG : queue_park(t, q, &q->read_q);
	if (m->size > room && !(flags & MSG_NOERROR))
		return -E2BIG;
	n = MIN((int64_t)m->size, room);
	msg_take(q, m, t->proc->pid);
	if (guest_put(t->tid, a->a[1], &m->type) < 0 ||
	    (n && guest_write(t->tid, a->a[1] + sizeof(m->type), m->data, (size_t)n) < 0))
		n = -EFAULT;
	msg_free(m);
	return n;
}

/* ---- control ---- */

static int64_t msg_put_stat(struct task *t, const struct msg_queue *q, uaddr_t addr)
{
	struct linux_msqid_ds ds = {
		.stime = q->stime,
		.rtime = q->rtime,
		.ctime = q->obj.ctime,
		.cbytes = q->cbytes,
		.qnum = q->qnum,
		.qbytes = q->qbytes,
		.lspid = q->lspid,
		.lrpid = q->lrpid,
	};

	ipc_perm_fill(&q->obj, &ds.perm);
	return guest_put(t->tid, addr, &ds);
}

static int64_t msg_info(struct task *t, int cmd, uaddr_t addr)
{
	struct linux_msginfo info = {
		.msgmax = MSG_MAX_SIZE,
		.msgmnb = MSG_MAX_QUEUE,
		.msgmni = MSG_MAX_QUEUES,
		.msgssz = 16,
		.msgseg = 0xffff,
	};
	uint64_t msgs, bytes;

	msg_totals(&msgs, &bytes);
	if (cmd == LINUX_MSG_INFO) {
		info.msgpool = (int32_t)msg_table.used;
		info.msgmap = (int32_t)MIN(msgs, (uint64_t)INT32_MAX);
		info.msgtql = (int32_t)bytes;
	} else {
		info.msgpool = MSG_MAX_QUEUES * (MSG_MAX_QUEUE / 1024);
		info.msgmap = MSG_MAX_QUEUE;
		info.msgtql = MSG_MAX_QUEUE;
	}
	return guest_put(t->tid, addr, &info) < 0 ? -EFAULT : ipc_highest(&msg_table);
}

static int64_t msg_set(struct task *t, struct msg_queue *q, const struct linux_msqid_ds *ds)
{
	if (ds->qbytes > MSG_MAX_QUEUE && !cred_has_cap(&t->cred, CAP_SYS_RESOURCE))
		return -EPERM;
	q->qbytes = MIN(ds->qbytes, MSG_MAX_ALL);
	ipc_perm_set(&q->obj, &ds->perm);
	waitq_wake(&q->read_q, ~0u);
	waitq_wake(&q->write_q, ~0u);
	return 0;
}

int64_t sys_msgctl(struct task *t, const struct sysargs *a)
{
	int id = (int)a->a[0], cmd = (int)a->a[1], r;
	bool by_place = cmd == LINUX_MSG_STAT || cmd == LINUX_MSG_STAT_ANY;
	struct linux_msqid_ds ds;
	struct ipc_obj *o;

	if (id < 0 || cmd < 0)
		return -EINVAL;
	if (cmd == IPC_INFO || cmd == LINUX_MSG_INFO)
		return msg_info(t, cmd, a->a[2]);
	o = by_place ? ipc_at(&msg_table, id) : ipc_find(&msg_table, id);
	if (cmd == IPC_SET && guest_get(t->tid, &ds, a->a[2]) < 0)
		return -EFAULT;
	if (!o)
		return -EINVAL;
	switch (cmd) {
	case IPC_STAT:
	case LINUX_MSG_STAT:
	case LINUX_MSG_STAT_ANY:
		r = cmd == LINUX_MSG_STAT_ANY ? 0 : ipc_permission(o, &t->cred, 0444);
		if (r == 0)
			r = (int)msg_put_stat(t, queue_of(o), a->a[2]);
		return r < 0 ? r : by_place ? o->id : 0;
	case IPC_SET:
	case IPC_RMID:
		if (ipc_owner(o, &t->cred) < 0)
			return -EPERM;
		if (cmd == IPC_SET)
			return msg_set(t, queue_of(o), &ds);
		msg_queue_remove(queue_of(o));
		return 0;
	default:
		return -EINVAL;
	}
}
