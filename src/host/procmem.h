/* The host's view of other processes of the cell: their memory, figures, limits and scheduling. The
 * numbers are those of the cell's PID namespace, which the kernel shares with its runners. */
#ifndef VIV_HOST_PROCMEM_H
#define VIV_HOST_PROCMEM_H

#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"

/* process_vm_readv / process_vm_writev: the bytes moved (up to the first page that is not there),
 * or -errno (-EFAULT: not even the first; -ESRCH: no such process). */
int64_t host_vm_readv(pid_t pid, const struct iovec *local, unsigned nlocal,
		      const struct iovec *remote, unsigned nremote);
int64_t host_vm_writev(pid_t pid, const struct iovec *local, unsigned nlocal,
		       const struct iovec *remote, unsigned nremote);

/* What PID/stat says. Times are in clock ticks (HOST_TICKS a second), sizes in bytes. */
#define HOST_TICKS 100
struct host_stat {
	char state; /* R S D Z T ... */
	uint64_t minflt, majflt, utime, stime;
	uint64_t start; /* ticks since the host's boot */
	uint64_t vsize, rss;
	uint32_t nthreads;
	int processor;
};
/* proc_fd: the cell's own /proc. 0 or -errno (-ENOENT: gone). */
int host_proc_stat(int proc_fd, pid_t pid, struct host_stat *out);
int host_task_stat(int proc_fd, pid_t pid, pid_t tid, struct host_stat *out);

/* Numbers of all processes that the cell's /proc shows, the kernel's own included; or of the
 * threads of one. As many as fit; -errno. */
int64_t host_pids(int proc_fd, pid_t *out, size_t max);
int64_t host_tids(int proc_fd, pid_t pid, pid_t *out, size_t max);

/* Some lines of PID/task/TID/status. */
struct host_status {
	uint64_t hwm; /* peak resident memory, bytes */
	uint64_t rss, shmem; /* resident now; of that, in files of a tmpfs and shared */
	uint64_t anon; /* resident, and in no file */
	uint64_t swap, huge,
		tables; /* swapped out; in huge pages that were set aside; page tables */
	uint64_t nvcsw, nivcsw; /* context switches of this thread */
	uint64_t sig_pnd, shd_pnd; /* pending: of the thread, of the process */
	uint64_t sig_blk, sig_ign, sig_cgt;
};
int host_task_status(int proc_fd, pid_t pid, pid_t tid, struct host_status *out);
/* Of a process, for its memory: a first thread that has ended shows none, so then any other is
 * asked. Thread sets are not filled in. */
int host_proc_status(int proc_fd, pid_t pid, struct host_status *out);

/* Whether two processes have one address space. False also where the host does not tell. */
bool host_shares_memory(pid_t a, pid_t b);

/* The stack pointer of a thread that waits in a system call. -errno; -EAGAIN: it does not wait. */
int host_thread_sp(int proc_fd, pid_t pid, pid_t tid, uint64_t *ret_sp);
/* Bytes of stack that a signal may take on this host. */
uint64_t host_signal_frame(void);

/* CPU time of a process (all its threads) in ns, exact to the host's scheduler clock; which: see
 * below. -errno. */
enum host_cpuclock { HOST_CPU_PROF, HOST_CPU_VIRT, HOST_CPU_SCHED };
int64_t host_proc_cputime(pid_t pid, enum host_cpuclock which);

/* Sets the soft limit of a runner to cur and its hard limit to max, both cut to the hard limit it
 * has already: a limit of the host is never raised. RLIM_INFINITY for max leaves the hard limit as
 * it is. */
int host_prlimit(pid_t pid, int resource, uint64_t cur, uint64_t max);

/* Nice value of one thread. -EACCES: the host does not let it go down again. */
int host_setpriority(pid_t tid, int nice);
/* The mask is an array of 8-byte words. */
int host_sched_setaffinity(pid_t tid, const uint64_t *mask, size_t bytes);

/* Address of a thread's list of robust futexes (in its own memory). -ESRCH. */
int host_robust_list(pid_t tid, uint64_t *ret_head);

/* Memory of the host, in bytes. */
struct host_memory {
	uint64_t total, free;
};
int host_memory(struct host_memory *out);

#endif
