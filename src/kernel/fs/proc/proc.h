/* The file system of /proc. */
#ifndef VIV_KERNEL_FS_PROC_PROC_H
#define VIV_KERNEL_FS_PROC_PROC_H

#include <sys/types.h>

#include "base/base.h"

struct file;
struct fs;
struct proc;
struct task;

/* returns ref, or NULL. */
struct fs *procfs_new(void);

/* May t read what only the process's owner should (Linux's ptrace access check for reading)? */
bool proc_may_look(const struct task *t, struct proc *p);
/* The number of the process whose directory /proc/PID is open as f; 0: f is something else. *ret_:
 * the process, NULL when it has ended or is init. Borrowed. */
pid_t procfs_pid_of(const struct file *f, struct proc **ret_);

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
	PROC_NET_DEV,
	PROC_NET_ROUTE,
	PROC_NET_ROUTE6,
	PROC_NET_INET6,
	PROC_NET_ARP,
	PROC_NET_SNMP, /* all of it */
};
extern void (*proc_net_show)(enum proc_net_table table, struct textbuf *b);

/* The same for a table of /proc/sysvipc; set by ipc. */
enum proc_ipc_table { PROC_IPC_MSG, PROC_IPC_SEM, PROC_IPC_SHM };
extern void (*proc_ipc_show)(enum proc_ipc_table table, struct textbuf *b);

#endif
