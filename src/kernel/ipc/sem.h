/* SysV semaphore sets. */
#ifndef VIV_KERNEL_IPC_SEM_H
#define VIV_KERNEL_IPC_SEM_H

#include <sys/types.h>

#include "base/list.h"
#include "kernel/ipc/ipc.h"
#include "kernel/task/waitq.h"

struct task;

#define SEM_MAX_SETS 32000
#define SEM_MAX_IN_SET 32000 /* SEMMSL */
#define SEM_MAX_ALL 1048576 /* in the cell; SEMMNS says more */
#define SEM_MAX_OPS 500 /* SEMOPM */
#define SEM_MAX_VALUE 32767 /* SEMVMX, SEMAEM */

struct sem {
	int32_t value;
	pid_t pid; /* of the last operation */
};

struct sem_set {
	struct ipc_obj obj; /* first */
	uint32_t refs; /* the table's and those of waiting calls */
	bool gone; /* removed */
	uint32_t nsems;
	int64_t otime;
	struct sem *sems; /* blob */
	struct list undos;
	struct list waiting; /* calls, struct sem_wait */
	struct waitq q;
};

/* A call that could not be done yet. */
struct sem_wait {
	struct list link;
	struct sem_set *set; /* counted */
	uint32_t nsops;
	uint32_t on; /* which semaphore it waits for ... */
	bool on_zero; /* ... to become zero, or to grow */
	struct linux_sembuf sops[];
};

struct sem_undo; /* proc->sem_undo is a chain of them */

int sem_new(struct task *t, int32_t key, uint32_t nsems, int flags,
	    struct sem_set **ret_); /* -ENOSPC, -ENOMEM */
uint32_t sem_total(void);
void sem_set_put(struct sem_set *s);
void sem_remove(struct sem_set *s); /* waiting calls get EIDRM */
/* Its values were changed from outside: the undo values of one (or of all: -1) are forgotten,
 * waiting calls look again. */
void sem_changed(struct sem_set *s, int num);

/* All of w's operations by p, or none. 0; 1: it has to wait (w says for what); -EAGAIN
 * (IPC_NOWAIT), -ERANGE, -ENOMEM. */
int sem_try(struct sem_wait *w, struct proc *p);
/* How many calls wait for semaphore num. */
uint32_t sem_waiters(const struct sem_set *s, uint32_t num, bool zero);

void sem_undo_all(struct proc *p);

#endif
