/* Processes that viv starts in a running cell: CTL_EXEC and what follows (wire/bootspec.h). */
#ifndef VIV_KERNEL_CELL_LAUNCH_H
#define VIV_KERNEL_CELL_LAUNCH_H

#include "wire/bootspec.h"

struct proc;

/* CTL_EXEC. Takes the descriptors. What comes of it is told later, or at once. */
void launch_start(const struct ctl_msg *m, const int *fds, unsigned nfds);
/* CTL_SETUP. Takes the descriptors. 0 or -errno. */
int must_check launch_setup(const struct ctl_msg *m, const int *fds, unsigned nfds);
/* A process that viv started ended: tells viv, when what it showed has gone out. */
void launch_ended(struct proc *p);
/* The first process ended: true when its terminal still has something to show; cell_end() is called
 * again after that. */
bool launch_lingers(int wait_status);
/* CTL_SIGNAL when there is no first process: for the one on its way. */
void launch_signal_first(int sig);
/* CTL_PROC_SIGNAL, CTL_RESIZE: 0 or -errno. A signal waits for a process that is on its way. */
int must_check launch_signal(uint32_t id, int sig, bool group);
int must_check launch_resize(uint32_t id, int rows, int cols);
/* CTL_HANG_UP. */
void launch_hang_up(uint32_t id);

#endif
