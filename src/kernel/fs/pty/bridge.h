/* A pseudo-terminal of the cell whose other side is the caller's: what is typed comes from a host's
 * descriptor, what is shown goes to one. The line discipline is the pair's own, so the caller's
 * terminal (if it is one) is in raw mode. */
#ifndef VIV_KERNEL_FS_PTY_BRIDGE_H
#define VIV_KERNEL_FS_PTY_BRIDGE_H

#include "base/base.h"

struct bridge;
struct file;
struct proc;

/* A new pair whose terminal belongs to uid; *ret_slave: an open file of it, returns ref. Takes both
 * descriptors, also when it fails. hang_up: the end of the input hangs the terminal up. -errno. */
int must_check bridge_new(int in, int out, uint32_t uid, bool hang_up, struct bridge **ret_,
			  struct file **ret_slave);
/* Makes it leader's controlling terminal. */
void bridge_attach(struct bridge *b, struct proc *leader);
void bridge_resize(struct bridge *b, unsigned rows, unsigned cols);
/* Nothing is typed any more: the caller is gone. */
void bridge_hang_up(struct bridge *b);
/* The session's leader ended. What was shown still goes out, unless nobody takes it for a second;
 * then the terminal is hung up, done is called, and b is gone. May call done at once. */
void bridge_end(struct bridge *b, void (*const *done)(void *arg), void *arg);

#endif
