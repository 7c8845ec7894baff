/* The file system of /proc. */
#ifndef VIV_KERNEL_FS_PROC_PROC_H
#define VIV_KERNEL_FS_PROC_PROC_H

#include "kernel/vfs/vfs.h"

/* returns ref, or NULL. */
struct fs *procfs_new(void);

/* The memory that the cell sees, in bytes, and what its processes hold of it now (a sum over a
 * bounded number of them). */
uint64_t cell_memory(void);
uint64_t cell_resident(void);

/* The lines of a table below /proc/net, after its header; set by net. NULL: there are none. */
struct textbuf;
enum proc_net_table {
	PROC_NET_TCP,
	PROC_NET_TCP6,
	PROC_NET_UDP,
	PROC_NET_UDP6,
	PROC_NET_UNIX,
	PROC_NET_NETLINK,
	PROC_NET_SOCKSTAT, /* all of it */
	PROC_NET_DEV, /* the line of lo */
};
extern void (*proc_net_show)(enum proc_net_table table, struct textbuf *b);

#endif
