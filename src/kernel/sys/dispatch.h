/* From a notification to an answer. */
#ifndef VIV_KERNEL_SYS_DISPATCH_H
#define VIV_KERNEL_SYS_DISPATCH_H

#include "host/notify.h"

struct sysargs;
struct task;

/* Runs the handler of t's call: for the first time, or again. */
void dispatch_run(struct task *t);
/* A call arrived. */
void dispatch_call(const struct host_call *in);
/* A call that was posted (sys/post.c), as far as it ends at once: what it gives; WAITING: it is to
 * be made again, as a notification. */
int64_t dispatch_posted(struct task *t, const struct host_call *in);

/* Names and formats from the table; NULL: there is no such call. */
const char *syscall_name(int nr);
const char *syscall_format(int nr);

/* --trace: from now on one line for each call that leaves (task/gate.h). */
void trace_open(int fd);

/* Questions of the stub (sys/clone.c, exec.c, mem.c, post.c, seccomp.c, shm.c, signal.c). The first
 * has no task yet. */
int64_t hc_child(const struct host_call *in);
int64_t hc_clone_prep(struct task *t, const struct sysargs *a);
int64_t hc_clone_cancel(struct task *t, const struct sysargs *a);
int64_t hc_exec_prep(struct task *t, const struct sysargs *a);
int64_t hc_exec_cancel(struct task *t, const struct sysargs *a);
int64_t hc_exec_boot(struct task *t, const struct sysargs *a);
int64_t hc_exec_done(struct task *t, const struct sysargs *a);
int64_t hc_mmap(struct task *t, const struct sysargs *a);
int64_t hc_shmat(struct task *t, const struct sysargs *a);
int64_t hc_shmat_done(struct task *t, const struct sysargs *a);
int64_t hc_shmdt(struct task *t, const struct sysargs *a);
int64_t hc_sigaction(struct task *t, const struct sysargs *a);
int64_t hc_reroute(struct task *t, const struct sysargs *a);
int64_t hc_hold(struct task *t, const struct sysargs *a);
int64_t hc_seccomp(struct task *t, const struct sysargs *a);
int64_t hc_seccomp_done(struct task *t, const struct sysargs *a);
int64_t hc_seccomp_ask(struct task *t, const struct sysargs *a);
/* The memory that runners have from us (stub/fast.h), where programs wait for the host. A thread
 * that ends waits no more. */
struct fast_region;
void seccomp_init(struct fast_region *region);
void seccomp_gone(const struct task *t);
int64_t hc_sigsys_die(struct task *t, const struct sysargs *a);
int64_t hc_io_setup(struct task *t, const struct sysargs *a);
int64_t hc_io_destroy(struct task *t, const struct sysargs *a);
int64_t hc_post(struct task *t, const struct sysargs *a);
int64_t hc_taken(struct task *t, const struct sysargs *a);
int64_t hc_rest(struct task *t, const struct sysargs *a);
int64_t hc_thawed(struct task *t, const struct sysargs *a);

/* REFUSED rows (sys/refused.c). */
int64_t refused_call(struct task *t, int nr, const struct sysargs *a);

#endif
