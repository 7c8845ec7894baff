/* The channel to viv. */
#ifndef VIV_KERNEL_CELL_CONTROL_H
#define VIV_KERNEL_CELL_CONTROL_H

#include "base/base.h"

struct ctl_msg;

/* Starts to listen; when viv goes away, so does the cell. */
int must_check control_watch(void);
/* May be lost when viv does not read. */
void control_say(uint32_t type, int32_t a, const char *fmt, ...) printf_like(3, 4);
/* An upcall of tasks: cell_stopped. */
void control_stopped(void);
/* Is kept until viv reads. */
void control_tell(const struct ctl_msg *m);
/* Before the last word: waits until viv has taken what is kept. */
void control_flush(void);
/* CTL_PAUSE came: the main loop does nothing else than this, which waits for the next message. */
bool control_is_paused(void);
void control_wait(void);

#endif
