/* Connections from outside of the cell to a port of it. The keeper takes them and hands over the
 * descriptor (wire/bootspec.h: CTL_INBOUND); nothing that the cell does makes one. */
#ifndef VIV_KERNEL_NET_INBOUND_H
#define VIV_KERNEL_NET_INBOUND_H

#include "wire/bootspec.h"

/* A connection to the cell's port m->a, from m->peer. Takes fd; -1: it was lost on the way. 0,
 * -ECONNREFUSED: nobody listens there; -ENOBUFS. */
int must_check inbound_take(const struct ctl_msg *m, int fd);

#endif
