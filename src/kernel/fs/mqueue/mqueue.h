/* POSIX message queues: named, with priorities; a descriptor can be polled. */
#ifndef VIV_KERNEL_FS_MQUEUE_MQUEUE_H
#define VIV_KERNEL_FS_MQUEUE_MQUEUE_H

#include <sys/types.h>

#include "base/list.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/name.h"

struct cred;
struct file;
struct task;

/* As /proc/sys/fs/mqueue shows them. */
#define MQ_MAX_QUEUES 256
#define MQ_MAX_MSGS 10
#define MQ_MAX_SIZE 8192
#define MQ_PRIO_MAX 32768u

struct mq_msg {
	struct list link;
	uint32_t prio, size;
	char data[];
};

struct mqueue {
	struct list link; /* of those that have a name */
	uint32_t refs; /* its name and its open files */
	bool unlinked;
	uint32_t mode, uid, gid;
	uint32_t maxmsg, msgsize, count;
	uint64_t bytes; /* in messages */
	struct list msgs; /* highest priority first, then in order of sending */
	struct waitq q; /* pollers */
	struct waitq recv_q, send_q; /* calls that wait */
	/* mq_notify */
	pid_t notify_pid; /* 0: nobody asked */
	int notify_kind, notify_sig;
	uint64_t notify_value;
	char name[NAME_MAX_LEN + 1];
};

struct mqueue *mq_find(const char *name); /* borrows; NULL: none */
/* -ENOSPC, -ENOMEM. borrowed: its name holds it. */
int must_check mq_new(const char *name, uint32_t mode, const struct cred *c, uint32_t maxmsg,
		      uint32_t msgsize, struct mqueue **ret_);
void mq_unlink_queue(struct mqueue *mq);
/* An open file; flags as open's. returns ref. */
int must_check mq_file(struct mqueue *mq, uint32_t flags, struct file **ret_);
struct mqueue *mq_of(const struct file *f); /* borrows; NULL: no queue */
/* want: R_OK, W_OK. 0 or -EACCES. */
int mq_permission(const struct mqueue *mq, const struct cred *c, int want);

struct mq_msg *mq_msg_new(uint32_t prio, uint32_t size); /* NULL: no memory */
void mq_msg_free(struct mq_msg *m);
void mq_put(struct mqueue *mq, struct mq_msg *m,
	    const struct task *sender); /* takes m; there is room */
struct mq_msg *mq_take(struct mqueue *mq); /* the caller's; NULL: empty */

#endif
