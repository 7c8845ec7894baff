/* Seccomp notifications: how a runner's system call reaches the kernel and how it is answered. */
#ifndef VIV_HOST_NOTIFY_H
#define VIV_HOST_NOTIFY_H

#include <sys/types.h>

#include "base/base.h"

struct host_call {
	uint64_t id;
	pid_t tid;
	int nr;
	uint64_t ip;
	uint64_t args[6];
};

/* Takes the listener over: looks up what this host can do (wake-ups on the caller's CPU). */
void notify_init(int listener);
int notify_fd(void);
/* Whether an answered thread is woken on our processor, which saves a wake-up across them and is
 * right for whoever sleeps next. It is so from the start. */
void notify_hand_over(bool on);
/* The next call. 0; -ENOENT when its caller died meanwhile; -EAGAIN. */
int must_check notify_recv(struct host_call *out);
/* ret is the call's result or a negative errno. -ENOENT: the caller is gone, which is nobody's
 * fault. */
int notify_answer(uint64_t id, int64_t ret);
/* The host is to carry the call out as it is. Only for calls whose arguments in registers are all
 * that counts. */
int notify_continue(uint64_t id);
/* Puts a copy of our descriptor fd into the caller's table at number at (negative: any), not
 * close-on-exec. The number. */
int notify_addfd(uint64_t id, int fd, int at);
bool notify_is_valid(uint64_t id);

#endif
