/* What shared memory, semaphores and message queues have in common: keys, numbers, owners,
 * permissions. The cell is one IPC namespace. */
#ifndef VIV_KERNEL_IPC_IPC_H
#define VIV_KERNEL_IPC_IPC_H

#include "base/list.h"
#include "kernel/abi/ipc.h"

struct cred;
struct proc;

#define IPC_SLOTS 32000 /* the most objects of one kind */

/* First in each kind's own struct. */
struct ipc_obj {
	struct list link; /* of its table */
	int id;
	int32_t key;
	uint32_t uid, gid, cuid, cgid;
	uint32_t mode; /* nine bits, and the kind's own flags */
	uint16_t seq;
	int64_t ctime; /* seconds */
};

struct ipc_table {
	struct list all;
	struct ipc_obj **slots; /* IPC_SLOTS, a blob, once there is one */
	uint32_t used, max;
	int last; /* place given out last */
	uint16_t seq;
};

#define IPC_TABLE(name, limit) \
	struct ipc_table name = { .all = LIST_INIT(name.all), .max = limit, .last = -1 }

/* The three kinds. */
extern struct ipc_table shm_table, sem_table, msg_table;

struct ipc_obj *ipc_find(const struct ipc_table *tb, int id); /* borrows; NULL: none */
struct ipc_obj *ipc_find_key(const struct ipc_table *tb, int32_t key);
/* By place in the table, as the STAT commands of ipcs count. */
struct ipc_obj *ipc_at(const struct ipc_table *tb, int place);
int ipc_highest(const struct ipc_table *tb); /* the highest place in use; 0 when there is none */

/* The beginning of a get call. 0 and *ret_: found and allowed; 1: the caller is to make a new one;
 * else -errno. The caller checks sizes between this and the permission: too_small tells of an
 * object found. */
int ipc_get(const struct ipc_table *tb, const struct cred *c, int32_t key, int flags,
	    bool (*too_small)(const struct ipc_obj *o, uint64_t size), uint64_t size,
	    struct ipc_obj **ret_);
/* Gives a new object its number and owner. -ENOSPC. */
int ipc_add(struct ipc_table *tb, struct ipc_obj *o, const struct cred *c, int32_t key, int flags);
void ipc_remove(struct ipc_table *tb, struct ipc_obj *o);

/* 0 or -EACCES; mode as in the lower nine bits of a get call. */
int ipc_permission(const struct ipc_obj *o, const struct cred *c, int mode);
/* May c remove or change it? 0 or -EPERM. */
int ipc_owner(const struct ipc_obj *o, const struct cred *c);
void ipc_perm_fill(const struct ipc_obj *o, struct linux_ipc_perm *out);
void ipc_perm_set(struct ipc_obj *o, const struct linux_ipc_perm *in);
int64_t ipc_now(void); /* seconds */

/* A process ended: its attachments and undo lists go. */
void ipc_proc_gone(struct proc *p);

#endif
