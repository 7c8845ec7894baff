/* What calls keep for their next run (struct call_kept): the end of each kind. */
#ifndef VIV_KERNEL_SYS_KEPT_H
#define VIV_KERNEL_SYS_KEPT_H

struct call_kept;
struct poll_kept;
struct sem_wait;

/* An upcall of tasks. */
void kept_release(const struct call_kept *kept);

/* Of kinds that belong to this folder. */
void poll_kept_free(struct poll_kept *kept);
void sem_wait_free(struct sem_wait *w);

#endif
