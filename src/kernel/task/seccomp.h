/* Seccomp filters of guests: kept, checked, judged by, and wrapped for the host.
 * docs/decisions/0015-guest-seccomp.md says how the host's evaluation and this one share the
 * work. */
#ifndef VIV_KERNEL_TASK_SECCOMP_H
#define VIV_KERNEL_TASK_SECCOMP_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/base.h"

struct task;
struct proc;
struct sysargs;

#define SECCOMP_INSNS_MAX 4096 /* Linux's, for one program */
#define SECCOMP_PATH_MAX 32768 /* Linux's, for all of a thread; each program counts four more */
#define SECCOMP_WRAP_MAX 128 /* instructions that seccomp_wrap() adds, at most */

/* One program. A thread points at its youngest; what it inherited hangs on prev. */
struct seccomp_filter {
	struct seccomp_filter *prev; /* counted */
	uint32_t refs;
	uint32_t total; /* instructions of this and all before it, with Linux's penalty */
	uint32_t depth; /* how many there are */
	uint16_t len;
	uint16_t host_len; /* instructions that the host has of it */
	struct sock_filter *insns; /* blob of len */
};

/* The host translates each program to machine code, for which there is one budget for all of its
 * users. What a cell may have of it, in instructions: those of all programs that are alive, and of
 * those that were dropped, as a process that we do not know may still have them. */
#define SECCOMP_BUDGET 262144u
extern uint32_t seccomp_alive, seccomp_dropped;

/* Which trapped call of a thread its filters let pass: the stub's next question must fit it. */
struct seccomp_pass {
	int nr; /* -1 none */
	uint64_t a[6];
};

/* Is it a program that seccomp_run() can run and that ends: known instructions, jumps forward and
 * inside, a return at the end? Finer points (reading scratch memory that was never written) are
 * left to the host, which checks again. */
bool seccomp_check(const struct sock_filter *f, uint32_t len);
/* What one program says. Ends after len steps at most. Borrows both. */
uint32_t seccomp_run(const struct sock_filter *f, uint32_t len, const struct seccomp_data *d);
/* What all of them say: the strictest, the youngest of equals. */
uint32_t seccomp_judge(const struct seccomp_filter *f, const struct seccomp_data *d);
/* The program that the host gets instead: the stub's own calls pass, and answers are put so that
 * they fit the host's order of filters. out holds len + SECCOMP_WRAP_MAX. Returns its length, or 0:
 * longer than the host takes. */
uint32_t seccomp_wrap(const struct sock_filter *f, uint32_t len, struct sock_filter *out);

/* A new program (copied) in front of prev (borrowed). NULL: no memory, or too many. Returns ref. */
struct seccomp_filter *must_check seccomp_filter_new(struct seccomp_filter *prev,
						     const struct sock_filter *f, uint32_t len,
						     uint32_t host_len);
struct seccomp_filter *seccomp_filter_get(struct seccomp_filter *f); /* NULL passes */
void seccomp_filter_put(struct seccomp_filter *f); /* NULL passes */
/* Takes bad, which the host has refused, out from below young; nothing happens where it is not
 * there. */
void seccomp_cut(struct seccomp_filter *young, struct seccomp_filter *bad);
/* Is old what young was made on, or the same? NULL is the oldest of all. */
bool seccomp_is_older(const struct seccomp_filter *old, const struct seccomp_filter *young);

/* Do the filters of t let this call through? */
bool seccomp_allows(const struct task *t, int nr, uint64_t ip, const struct sysargs *a);

/* May a thread with filters make this notified call? The host has judged it already, unless it was
 * marked as the stub's. */
bool seccomp_may_ask(const struct task *t, int nr, const struct sysargs *a);

#endif
