/* SysV message queues. */
#ifndef VIV_KERNEL_IPC_MSG_H
#define VIV_KERNEL_IPC_MSG_H

#include <sys/types.h>

#include "base/list.h"
#include "kernel/ipc/ipc.h"
#include "kernel/task/waitq.h"

struct task;

#define MSG_MAX_QUEUES 32000 /* MSGMNI */
#define MSG_MAX_SIZE 8192 /* MSGMAX */
#define MSG_MAX_QUEUE 16384 /* MSGMNB */
#define MSG_MAX_ALL (64UL << 20) /* bytes in all queues of the cell */

struct msg {
	struct list link;
	int64_t type;
	uint32_t size;
	char data[];
};

struct msg_queue {
	struct ipc_obj obj; /* first */
	uint32_t refs; /* the table's and those of waiting calls */
	bool gone; /* removed */
	struct list msgs;
	uint64_t qbytes, cbytes, qnum;
	int64_t stime, rtime;
	pid_t lspid, lrpid;
	struct waitq read_q, write_q;
};

int msg_queue_new(struct task *t, int32_t key, int flags, struct msg_queue **ret_); /* -ENOSPC */
void msg_queue_put(struct msg_queue *q);
void msg_queue_remove(struct msg_queue *q); /* waiting calls get EIDRM */
void msg_totals(uint64_t *ret_msgs, uint64_t *ret_bytes);

/* A message that is in no queue; NULL: no memory. */
struct msg *msg_new(int64_t type, uint32_t size);
void msg_free(struct msg *m);
bool msg_has_room(const struct msg_queue *q, uint64_t size);
void msg_put(struct msg_queue *q, struct msg *m, pid_t pid); /* takes m */
/* The first that type asks for (as msgrcv says; except: MSG_EXCEPT), borrowed; NULL: none. */
struct msg *msg_find(struct msg_queue *q, int64_t type, bool except);
void msg_take(struct msg_queue *q, struct msg *m, pid_t pid); /* out of the queue: the caller's */

#endif
