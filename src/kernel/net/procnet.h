/* The tables of sockets in /proc/net. */
#ifndef VIV_KERNEL_NET_PROCNET_H
#define VIV_KERNEL_NET_PROCNET_H

#include "kernel/fs/proc/proc.h"

/* An upcall of fs/proc: proc_net_show. */
void procnet_show(enum proc_net_table table, struct textbuf *b);

#endif
