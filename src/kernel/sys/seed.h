/* Further processes of the cell, that no guest forks: they come from the seed, a runner that waits
 * for orders (stub/seed.c).
 *
 * The seed and those it is about to make are in no table of processes: no guest can name, see or
 * signal them. What an order's child may become is in the order, and a token that only the seed was
 * told ties the two together. */
#ifndef VIV_KERNEL_SYS_SEED_H
#define VIV_KERNEL_SYS_SEED_H

#include "base/list.h"
#include "host/notify.h"

struct sysargs;
struct task;

struct seed_order {
	/* Set by who gives the order, functions as CALLBACK. */
	uint64_t size, envp; /* of the words, as struct stub_order has them */
	/* The words, to be written to addr in the memory of the seed. 0 or -errno. */
	int (*const *fill)(struct seed_order *o, pid_t seed, uint64_t addr);
	/* The child is there: it is to be put into the tables, ready to execute. 0, or -errno: it
	 * ends. Last call either way. */
	int (*const *born)(struct seed_order *o, pid_t pid);
	/* There will be none. Last call. */
	void (*const *failed)(struct seed_order *o, int err);
	/* Ours. */
	struct list link;
	uint64_t token;
	bool cloned; /* its words were written */
	int64_t since;
};

/* At boot: runner pid is the seed; or, the first process pid makes it before its program starts. */
void seed_init(pid_t pid);
void seed_init_split(pid_t pid);
/* The same of a seed that is in HC_SEED already. */
void seed_init_waiting(pid_t pid, const struct host_call *in);
/* Queues an order, which stays the caller's. -ENOSYS: this cell has no seed; -EAGAIN: too many
 * wait. */
int must_check seed_start(struct seed_order *o);
/* For tables: is it the seed; how many children are on their way. */
bool seed_is(pid_t pid);
pid_t seed_pid(void); /* 0: there is none */
uint32_t seed_births(void);
/* The host says that it ended. */
void seed_gone(void);
/* The cell was paused: time that passed is nobody's fault. */
void seed_resumed(void);

/* ---- for dispatch ---- */
/* A call of a thread that is in no table: the answer; WAITING: it comes later; CALL_LOST: it is
 * none of ours. */
int64_t seed_call(const struct host_call *in);
/* HC_EXEC_BOOT of the first process: must it make the seed first? Then what to answer; 0: it is
 * done. */
bool seed_is_split(const struct task *t);
int64_t seed_split(struct task *t, const struct sysargs *a);

#endif
