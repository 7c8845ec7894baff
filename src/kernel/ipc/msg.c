/* Message queues: lists of messages in the order of sending. Left out: MSG_COPY. */
#include "kernel/ipc/msg.h"

#include <errno.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/task/task.h"

OBJ_TYPE(msg_queue_type, struct msg_queue, MSG_MAX_QUEUES);

IPC_TABLE(msg_table, MSG_MAX_QUEUES);
static uint64_t total_msgs, total_bytes;

void msg_totals(uint64_t *ret_msgs, uint64_t *ret_bytes)
{
	*ret_msgs = total_msgs;
	*ret_bytes = total_bytes;
}

int msg_queue_new(struct task *t, int32_t key, int flags, struct msg_queue **ret_)
{
	struct msg_queue *q = obj_new(&msg_queue_type);
	int r;

	if (!q)
		return -ENOSPC;
	r = ipc_add(&msg_table, &q->obj, &t->cred, key, flags);
	if (r < 0) {
		obj_free(&msg_queue_type, q);
		return r;
	}
	q->refs = 1;
	q->qbytes = MSG_MAX_QUEUE;
	list_init(&q->msgs);
	waitq_init(&q->read_q);
	waitq_init(&q->write_q);
	*ret_ = q;
	return 0;
}

void msg_queue_put(struct msg_queue *q)
{
	if (!ref_put(&q->refs))
		return;
	waitq_fini(&q->read_q);
	waitq_fini(&q->write_q);
	obj_free(&msg_queue_type, q);
}

void msg_queue_remove(struct msg_queue *q)
{
	while (!list_is_empty(&q->msgs)) {
		struct msg *m = list_first(&q->msgs, struct msg, link);

		msg_take(q, m, 0);
		msg_free(m);
	}
	ipc_remove(&msg_table, &q->obj);
	q->gone = true;
	waitq_wake(&q->read_q, ~0u);
	waitq_wake(&q->write_q, ~0u);
	msg_queue_put(q);
}

struct msg *msg_new(int64_t type, uint32_t size)
{
	struct msg *m;

	if (total_bytes + size > MSG_MAX_ALL)
		return NULL;
	m = blob_new(sizeof(*m) + size);
	if (!m)
		return NULL;
	list_init(&m->link);
	m->type = type;
	m->size = size;
	return m;
}

void msg_free(struct msg *m)
{
	blob_free(m, sizeof(*m) + m->size);
}

bool msg_has_room(const struct msg_queue *q, uint64_t size)
{
	return size + q->cbytes <= q->qbytes && 1 + q->qnum <= q->qbytes;
}

void msg_put(struct msg_queue *q, struct msg *m, pid_t pid)
{
	list_append(&q->msgs, &m->link);
	q->qnum++;
	q->cbytes += m->size;
	total_msgs++;
	total_bytes += m->size;
	q->lspid = pid;
	q->stime = ipc_now();
	waitq_wake(&q->read_q, ~0u);
}

struct msg *msg_find(struct msg_queue *q, int64_t type, bool except)
{
	struct msg *m, *best = NULL;
	int64_t limit = type == INT64_MIN ? INT64_MAX : -type;

	list_for_each(m, &q->msgs, link) {
		if (type == 0 || (type > 0 && (m->type == type) != except))
			return m;
		if (type < 0 && m->type <= limit && (!best || m->type < best->type))
			best = m;
	}
	return best;
}

void msg_take(struct msg_queue *q, struct msg *m, pid_t pid)
{
	list_remove(&m->link);
	q->qnum--;
	q->cbytes -= m->size;
	total_msgs--;
	total_bytes -= m->size;
	q->lrpid = pid;
	q->rtime = ipc_now();
	waitq_wake(&q->write_q, ~0u);
}
