/* Posted calls: the kernel's side of stub/post.h. See docs/decisions/0021-*.
 *
 * A box belongs to an address space (sys/fast.c). The kernel looks at all of them while it is awake
 * for that (posts_wait()). */
#ifndef VIV_KERNEL_SYS_POST_H
#define VIV_KERNEL_SYS_POST_H

#include <sys/types.h>

#include "base/base.h"

struct post;
struct task;

/* Whether there is a use for boxes at all: more than one processor, and runners that answer calls
 * (--fast). */
bool post_is_on(void);
/* NULL is allowed. */
void post_free(struct post *p);
/* A thread ended: what it posted is nobody's. */
void post_forget(struct post *p, pid_t tid);

/* t made a call that it could have posted. */
void posts_missed(struct task *t);
/* Works on what is posted. True: there was something. */
bool posts_run(void);
/* Before the loop sleeps until deadline: looks at the boxes for a while, if that is worth it. True:
 * go round, there is something or there may be; else the kernel is known to be asleep. */
bool posts_wait(int64_t deadline);
bool posts_are_awake(void);

#endif
