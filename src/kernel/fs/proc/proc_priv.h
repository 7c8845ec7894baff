/* What the files of /proc share.
 *
 * The numbers of an inode (pseudo.h): id is a process in the low half and, below task/, a thread
 * in the high half; sub is a descriptor below fd/ and fdinfo/; gen is the process's start time.
 * Process 1 is the kernel itself and has no struct proc. */
#ifndef VIV_KERNEL_FS_PROC_PROC_PRIV_H
#define VIV_KERNEL_FS_PROC_PROC_PRIV_H

#include "kernel/fs/proc/proc.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/vfs/file.h"

#define TICK_NS 10000000L /* USER_HZ is 100 */

/* Short forms of rows. */
#define P_FILE(n, perm, fn)                                     \
	{                                                       \
		.name = n, .mode = S_IFREG | (perm), .show = fn \
	}
#define P_SIZED(n, perm, fn, st)                                                            \
	{                                                                                   \
		.name = n, .mode = S_IFREG | (perm), .show = fn, .store = st, .sized = true \
	}
#define P_WATCHED(n, perm, fn)                                                          \
	{                                                                               \
		.name = n, .mode = S_IFREG | (perm), .show = fn, .watch = &mounts_watch \
	}
#define P_RW(n, perm, fn, st)                                                \
	{                                                                    \
		.name = n, .mode = S_IFREG | (perm), .show = fn, .store = st \
	}
#define P_TEXT(n, perm, str)                                     \
	{                                                        \
		.name = n, .mode = S_IFREG | (perm), .text = str \
	}
#define P_DIR(n, perm, rows)                                          \
	{                                                             \
		.name = n, .mode = S_IFDIR | (perm), .children = rows \
	}
#define P_LINK(n, str)                                         \
	{                                                      \
		.name = n, .mode = S_IFLNK | 0777, .text = str \
	}

extern const struct pnode sysctl_nodes[]; /* /proc/sys */
extern const struct pnode net_nodes[]; /* /proc/PID/net */
extern const struct pwatch mounts_watch; /* changes of the tree of mounts */
extern const struct pnode sysvipc_nodes[]; /* /proc/sysvipc */
extern const struct pnode ns_nodes[]; /* /proc/PID/ns */
extern const struct pnode pid_node, pid1_node; /* /proc/PID, /proc/1 */
extern const struct pdir fd_dir, fdinfo_dir, task_dir;
extern const struct file_ops mem_fops; /* /proc/PID/mem */
extern const struct file_ops pagemap_fops; /* /proc/PID/pagemap */
/* The mode of a link in fd/; 0: it is none. */
uint32_t fd_link_mode(const struct pinode *pi);

/* ---- who an inode is about ---- */
static inline pid_t pi_pid(const struct pinode *pi)
{
	return (pid_t)(uint32_t)pi->id;
}
static inline pid_t pi_tid(const struct pinode *pi)
{
	return (pid_t)(pi->id >> 32);
}
/* NULL: it ended, or is the kernel. */
struct proc *pi_proc(const struct pinode *pi);
/* As seen from where paths are shown to the reader; NULL: the real root. */
const struct path *reader_root(const struct task *t);
/* The thread, or the process's main thread; NULL: a zombie, or gone. */
struct task *pi_task(const struct pinode *pi);
/* Owner and group as /proc shows them. */
void proc_owner(struct proc *p, uint32_t *ret_uid, uint32_t *ret_gid);
int may_open_look(struct pinode *pi, struct task *t, uint32_t flags);
int may_open_never(struct pinode *pi, struct task *t, uint32_t flags);

/* ---- the host's view (hostview.c); everything fails softly when the host's /proc is not there
 * ---- */
/* A file of a process (tid 0: of the whole process), or with pid 0 a global one: at most size -
 * 1 bytes and a NUL; the length. */
size_t hostview_read(pid_t pid, pid_t tid, const char *file, char *buf, size_t size);
/* The whole of it into b. */
void hostview_text(pid_t pid, const char *file, struct textbuf *b);
/* The same in parts, of a file that was opened here: false: there is more to read, but the turn is
 * long. */
int hostview_open(pid_t pid, pid_t tid, const char *file); /* or -errno */
bool hostview_text_some(int fd, struct textbuf *b);
struct hoststat {
	bool valid;
	char state;
	uint64_t f[53]; /* by proc(5)'s numbers; f[10] is minflt */
};
void hostview_stat(pid_t pid, pid_t tid, struct hoststat *out);
/* The value after "key" at the start of a line of text; NULL: not there. Ends at the newline. */
const char *text_field(const char *text, const char *key);
/* Sums over live processes (bounded): resident bytes, and clock ticks of user and system time. */
struct usage_sum {
	uint64_t rss, utime, stime;
	uint32_t running;
};
void hostview_sum(struct usage_sum *out);

/* ---- shows ---- */
int show_maps(struct pinode *pi, struct task *t, struct textbuf *b);
int show_smaps(struct pinode *pi, struct task *t, struct textbuf *b);
int show_numa_maps(struct pinode *pi, struct task *t, struct textbuf *b);
int show_smaps_rollup(struct pinode *pi, struct task *t, struct textbuf *b);
int show_status(struct pinode *pi, struct task *t, struct textbuf *b);
int show_stat(struct pinode *pi, struct task *t, struct textbuf *b);
int show_statm(struct pinode *pi, struct task *t, struct textbuf *b);
int show_loginuid(struct pinode *pi, struct task *t, struct textbuf *b);
int show_session(struct pinode *pi, struct task *t, struct textbuf *b);
int64_t store_loginuid(struct pinode *pi, struct task *t, char *buf, size_t n);
int show_limits(struct pinode *pi, struct task *t, struct textbuf *b);
int show_mounts(struct pinode *pi, struct task *t, struct textbuf *b);
int show_mountinfo(struct pinode *pi, struct task *t, struct textbuf *b);
int show_sched(struct pinode *pi, struct task *t, struct textbuf *b);
int show_schedstat(struct pinode *pi, struct task *t, struct textbuf *b);
/* One CPU's block of cpuinfo, from the processor's own identification (cpuid.c). */
void cpu_describe(struct textbuf *b);
int show_cpuinfo(struct pinode *pi, struct task *t, struct textbuf *b);
int show_meminfo(struct pinode *pi, struct task *t, struct textbuf *b);

/* A decimal integer with optional sign and surrounding space; -EINVAL, -ERANGE. */
int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret_);
/* The cell's CPUs as a list ("0-3") and as a mask ("f"). */
void cpus_list(struct textbuf *b);
void cpus_mask(struct textbuf *b);

#endif
