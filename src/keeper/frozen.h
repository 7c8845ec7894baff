/* A cell's processes on the disk while it sleeps (docs/decisions/0056-freeze.md). */
#ifndef VIV_KEEPER_FROZEN_H
#define VIV_KEEPER_FROZEN_H

#include "base/err.h"

struct client;
struct ctl_msg;
struct keep_msg;
struct rootfs;
struct run_options;

/* Before the cell starts: *ret_fd is what its kernel goes on from; -1: it starts anew. A frozen
 * cell that is not woken but started loses its processes. */
int must_check frozen_prepare(const struct run_options *o, const struct rootfs *p, int *ret_fd,
			      struct err *e);
/* Its processes run: from here on what is on the disk is old. */
void frozen_used(void);
/* The cell could not go on: it is kept. Else does nothing. */
void frozen_keep(void);

/* KEEP_SLEEP with KEEP_SLEEP_FREEZE. */
void frozen_request(struct client *c, const struct keep_msg *in);
/* CTL_FROZEN */
void frozen_message(const struct ctl_msg *m);
void frozen_client_gone(struct client *c);

#endif
