/* /proc/PID and /proc/PID/task/TID: the rows, and the files that are short enough to need none
 * of their own.
 *
 * What Linux keeps from other users is kept from them here by the same rule (proc_may_look). stack
 * and syscall are refused to everyone: they would tell of the runner's stub. Process 1, the kernel,
 * has rows of its own with fixed text. Left out: map_files, clear_refs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/loop.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/path.h"

#define CAP_SYS_PTRACE_ 19
#define CAP_SYS_RESOURCE_ 24
#define ARGS_MAX (4UL << 20)

/* ---- who ---- */

struct proc *pi_proc(const struct pinode *pi)
{
	struct proc *p = pi_pid(pi) > INIT_PID ? proc_find(pi_pid(pi)) : NULL;

	return p && (uint64_t)p->start_time == pi->gen ? p : NULL;
}

struct task *pi_task(const struct pinode *pi)
{
	struct proc *p = pi_proc(pi);
	struct task *t;

	if (!p)
		return NULL;
	if (!pi_tid(pi))
		return proc_leader(p);
	t = task_find(pi_tid(pi));
	return t && t->proc == p ? t : NULL;
}

const struct path *reader_root(const struct task *t)
{
	return t && t->fs ? &t->fs->root : NULL;
}

void proc_owner(struct proc *p, uint32_t *ret_uid, uint32_t *ret_gid)
{
	struct task *t = proc_leader(p);

	*ret_uid = t ? t->cred.euid : p->last_uid;
	*ret_gid = t ? t->cred.egid : p->last_gid;
}

bool proc_may_look(const struct task *t, struct proc *p)
{
	const struct cred *c, *o;
	struct task *leader = proc_leader(p);

	if (!t || t->proc == p)
		return true;
	c = &t->cred;
	if (cred_has_cap(c, CAP_SYS_PTRACE_))
		return true;
	if (!leader)
		return false;
	o = &leader->cred;
	return c->fsuid == o->uid && c->fsuid == o->euid && c->fsuid == o->suid &&
	       c->fsgid == o->gid && c->fsgid == o->egid && c->fsgid == o->sgid &&
	       p->dumpable == 1 && !(o->cap_permitted & ~c->cap_effective);
}

pid_t procfs_pid_of(const struct file *f, struct proc **ret_)
{
	const struct pinode *pi = pinode_of(f->inode);

	*ret_ = NULL;
	if (!pi || (pi->node != &pid_node && pi->node != &pid1_node) || pi_tid(pi))
		return 0;
	*ret_ = pi_proc(pi);
	return pi_pid(pi);
}

int may_open_look(struct pinode *pi, struct task *t, uint32_t flags)
{
	struct proc *p = pi_proc(pi);

	(void)flags;
	if (!p)
		return -ESRCH;
	return proc_may_look(t, p) ? 0 : -EACCES;
}

int may_open_never(struct pinode *pi, struct task *t, uint32_t flags)
{
	(void)pi, (void)t, (void)flags;
	return -EACCES;
}

/* ---- memory of the guest: arguments, environment, auxiliary vector ---- */

static void put_guest(struct textbuf *b, pid_t tid, uaddr_t from, uaddr_t to)
{
	char buf[4096];
	size_t n;

	if (to > from && to - from > ARGS_MAX)
		to = from + ARGS_MAX;
	while (from < to && !b->failed) {
		n = guest_read_some(tid, buf, from, MIN(to - from, sizeof(buf)));
		text_put(b, buf, n);
		if (n == 0)
			break;
		from += n;
	}
}

/* A program that wrote its title over its arguments, and into the environment behind them, has
 * no NUL where they end. */
static int show_cmdline(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);
	char *nul;
	size_t args;

	(void)t;
	if (!p)
		return -ESRCH;
	if (!tsk || p->arg_end <= p->arg_start)
		return 0;
	put_guest(b, tsk->tid, p->arg_start, p->arg_end);
	if (b->len == 0 || b->failed || b->data[b->len - 1] == 0)
		return 0;
	args = b->len;
	if (p->env_start == p->arg_end)
		put_guest(b, tsk->tid, p->env_start, MIN(p->env_end, p->env_start + 4096));
	/* The title is one string: it ends at its first NUL, wherever that is. */
	nul = memchr(b->data, 0, b->len);
	b->len = nul ? (size_t)(nul - b->data) + 1 : args;
	return 0;
}

static int show_environ(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);

	(void)t;
	if (p && tsk)
		put_guest(b, tsk->tid, p->env_start, p->env_end);
	return 0;
}

static int show_auxv(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);

	(void)t;
	if (p && tsk && p->auxv_addr)
		put_guest(b, tsk->tid, p->auxv_addr, p->auxv_addr + MIN(p->auxv_size, 4096u));
	return 0;
}

/* ---- names and numbers ---- */

static int show_comm(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);

	(void)t;
	if (!p)
		return -ESRCH;
	text_printf(b, "%.15s\n", tsk ? tsk->comm : p->last_comm);
	return 0;
}

static int64_t store_comm(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	struct task *tsk = pi_task(pi);
	size_t len = MIN(n, sizeof(tsk->comm) - 1);

	if (!tsk)
		return -ESRCH;
	if (tsk->proc != t->proc)
		return -EINVAL;
	memset(tsk->comm, 0, sizeof(tsk->comm));
	memcpy(tsk->comm, buf, strnlen(buf, len));
	for (size_t i = 0; i < len; i++)
		if (tsk->comm[i] == '\n')
			tsk->comm[i] = 0;
	return (int64_t)n;
}

int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret_)
{
	int64_t v = 0;
	bool negative;

	s += strspn(s, " \t\n");
	negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > INT64_MAX / 10 - 1)
			return -ERANGE;
		v = v * 10 + (*s - '0');
	}
	s += strspn(s, " \t\n");
	if (*s)
		return -EINVAL;
	v = negative ? -v : v;
	if (v < min || v > max)
		return -EINVAL;
	*ret_ = v;
	return 0;
}

static int show_oom_score_adj(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);

	(void)t;
	if (!p)
		return -ESRCH;
	text_printf(b, "%d\n", p->oom_score_adj);
	return 0;
}

static int64_t set_oom(struct pinode *pi, struct task *t, int64_t v, size_t n)
{
	struct proc *p = pi_proc(pi);

	if (!p)
		return -ESRCH;
	if (v < p->oom_score_adj && !cred_has_cap(&t->cred, CAP_SYS_RESOURCE_))
		return -EACCES;
	p->oom_score_adj = (int)v;
	return (int64_t)n;
}

static int64_t store_oom_score_adj(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	int64_t v;
	int err = parse_int(buf, -1000, 1000, &v);

	return err ? err : set_oom(pi, t, v, n);
}

/* The older scale: -17 (never) to 15. */
static int show_oom_adj(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);

	(void)t;
	if (!p)
		return -ESRCH;
	text_printf(b, "%d\n", p->oom_score_adj == 1000 ? 15 : p->oom_score_adj * 17 / 1000);
	return 0;
}

static int64_t store_oom_adj(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	int64_t v;
	int err = parse_int(buf, -17, 15, &v);

	return err ? err : set_oom(pi, t, v == 15 ? 1000 : v * 1000 / 17, n);
}

static int show_timerslack(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct task *tsk = pi_task(pi);

	if (!tsk)
		return -ESRCH;
	if (!proc_may_look(t, tsk->proc))
		return -EPERM;
	text_printf(b, "%u\n", task_timerslack(tsk));
	return 0;
}

static int64_t store_timerslack(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	struct task *tsk = pi_task(pi);
	int64_t v;
	int err = parse_int(buf, 0, UINT32_MAX, &v);

	if (err)
		return err;
	if (!tsk)
		return -ESRCH;
	if (!proc_may_look(t, tsk->proc))
		return -EPERM;
	tsk->timerslack_ns = (uint32_t)v; /* 0: the default */
	return (int64_t)n;
}

static int show_personality(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);

	if (!p)
		return -ESRCH;
	if (!proc_may_look(t, p))
		return -EPERM;
	text_printf(b, "%08lx\n", p->personality);
	return 0;
}

/* Of the whole process, for each of its threads. Nothing of it is on a disk of the cell's own. */
static int show_io(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);

	if (!p)
		return -ESRCH;
	if (!proc_may_look(t, p))
		return -EACCES;
	text_printf(b,
		    "rchar: %lu\nwchar: %lu\nsyscr: %lu\nsyscw: %lu\nread_bytes: 0\n"
		    "write_bytes: 0\ncancelled_write_bytes: 0\n",
		    p->io.read, p->io.written, p->io.reads, p->io.writes);
	return 0;
}

static int show_coredump_filter(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);

	(void)t;
	if (!p)
		return -ESRCH;
	if (p->state != PROC_ZOMBIE)
		text_printf(b, "%08x\n", p->coredump_filter);
	return 0;
}

/* Nine bits; others are accepted and forgotten, as on Linux. */
static int64_t store_coredump_filter(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	struct proc *p = pi_proc(pi);
	char *end;
	unsigned long v;

	(void)t;
	if (!p)
		return -ESRCH;
	if (buf[0] < '0' || buf[0] > '9')
		return -EINVAL;
	v = strtoul(buf, &end, 0);
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (v > UINT32_MAX)
		return -ERANGE;
	p->coredump_filter = v & 0x1ff;
	return (int64_t)n;
}

static int show_refused(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t, (void)b;
	return -EPERM;
}

static int show_nothing(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t, (void)b;
	return 0;
}

static int show_children(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi), *child;

	(void)t;
	if (!p)
		return -ESRCH;
	if (pi_tid(pi) && pi_tid(pi) != p->pid)
		return 0; /* children are the process's; they are shown at its main thread */
	list_for_each(child, &p->children, sibling_link)
		text_printf(b, "%d ", child->pid);
	return 0;
}

/* The kernel's own children are those whose parent is gone or never was. */
static int show_children_init(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (proc_ppid(p) == INIT_PID)
			text_printf(b, "%d ", p->pid);
	return 0;
}

/* ---- links that lead to places ---- */

static int look(struct pinode *pi, struct task *t, struct proc **ret_)
{
	*ret_ = pi_proc(pi);
	if (!*ret_)
		return -ESRCH;
	return proc_may_look(t, *ret_) ? 0 : -EACCES;
}

static int readlink_exe(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	struct proc *p;
	int err = look(pi, t, &p);

	if (err)
		return err;
	return p->exe && p->state != PROC_ZOMBIE ? file_label(p->exe, reader_root(t), buf, size)
						 : -ENOENT;
}

static int follow_exe(struct pinode *pi, struct task *t, struct path *ret_)
{
	struct proc *p;
	int err = look(pi, t, &p);

	if (err)
		return err;
	return p->exe && p->state != PROC_ZOMBIE ? file_place(p->exe, ret_) : -ENOENT;
}

static int fsctx_path(struct pinode *pi, struct task *t, bool root, const struct path **ret_)
{
	struct proc *p;
	struct task *tsk = pi_task(pi);
	int err = look(pi, t, &p);

	if (err)
		return err;
	if (!tsk || !tsk->fs)
		return -ENOENT;
	*ret_ = root ? &tsk->fs->root : &tsk->fs->cwd;
	return 0;
}

static int readlink_place(struct pinode *pi, struct task *t, bool root, char *buf, size_t size)
{
	static char text[PATH_MAX_LEN + 16];
	const struct path *p;
	char *s;
	size_t len;
	int err = fsctx_path(pi, t, root, &p);

	if (!err)
		err = path_text(p, reader_root(t), true, text, sizeof(text), &s, &len);
	if (err)
		return err;
	len = MIN(len - 1, size); /* without its NUL */
	memcpy(buf, s, len);
	return (int)len;
}

static int readlink_cwd(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	return readlink_place(pi, t, false, buf, size);
}

static int readlink_root(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	return readlink_place(pi, t, true, buf, size);
}

static int follow_place(struct pinode *pi, struct task *t, bool root, struct path *ret_)
{
	const struct path *p;
	int err = fsctx_path(pi, t, root, &p);

	if (err)
		return err;
	*ret_ = *p;
	path_get(ret_);
	return 0;
}

static int follow_cwd(struct pinode *pi, struct task *t, struct path *ret_)
{
	return follow_place(pi, t, false, ret_);
}

static int follow_root(struct pinode *pi, struct task *t, struct path *ret_)
{
	return follow_place(pi, t, true, ret_);
}

/* ---- rows ---- */

#define MAGIC(n, rl, fo)                                                        \
	{                                                                       \
		.name = n, .mode = S_IFLNK | 0777, .readlink = rl, .follow = fo \
	}

static const struct pnode attr_nodes[] = {
	P_TEXT("current", 0444, "unconfined\n"),
	{ 0 },
};

#define ROWS_OF_BOTH                                                                            \
	P_DIR("attr", 0555, attr_nodes),                                                        \
		{ .name = "auxv",                                                               \
		  .mode = S_IFREG | 0400,                                                       \
		  .show = show_auxv,                                                            \
		  .sized = true,                                                                \
		  .may_open = may_open_look },                                                  \
		P_TEXT("cgroup", 0444, "0::/\n"), P_SIZED("cmdline", 0444, show_cmdline, NULL), \
		P_RW("comm", 0644, show_comm, store_comm), P_TEXT("cpuset", 0444, "/\n"),       \
		MAGIC("cwd", readlink_cwd, follow_cwd),                                         \
		{ .name = "environ",                                                            \
		  .mode = S_IFREG | 0400,                                                       \
		  .show = show_environ,                                                         \
		  .sized = true,                                                                \
		  .may_open = may_open_look },                                                  \
		MAGIC("exe", readlink_exe, follow_exe),                                         \
		{ .name = "fd", .mode = S_IFDIR | 0500, .dir = &fd_dir },                       \
		{ .name = "fdinfo",                                                             \
		  .mode = S_IFDIR | 0555,                                                       \
		  .dir = &fdinfo_dir,                                                           \
		  .may_open = may_open_look },                                                  \
		P_TEXT("gid_map", 0644, "         0          0 4294967295\n"),                  \
		P_FILE("io", 0400, show_io), P_FILE("limits", 0444, show_limits),               \
		P_RW("loginuid", 0644, show_loginuid, store_loginuid),                          \
		{ .name = "maps",                                                               \
		  .mode = S_IFREG | 0444,                                                       \
		  .show = show_maps,                                                            \
		  .may_open = may_open_look },                                                  \
		{ .name = "mem",                                                                \
		  .mode = S_IFREG | 0600,                                                       \
		  .fops = &mem_fops,                                                            \
		  .may_open = may_open_look },                                                  \
		P_WATCHED("mountinfo", 0444, show_mountinfo),                                   \
		P_WATCHED("mounts", 0444, show_mounts), P_DIR("net", 0555, net_nodes),          \
		P_DIR("ns", 0511, ns_nodes),                                                    \
		{ .name = "numa_maps",                                                          \
		  .mode = S_IFREG | 0444,                                                       \
		  .show = show_numa_maps,                                                       \
		  .may_open = may_open_look },                                                  \
		P_SIZED("oom_adj", 0644, show_oom_adj, store_oom_adj),                          \
		P_TEXT("oom_score", 0444, "0\n"),                                               \
		P_SIZED("oom_score_adj", 0644, show_oom_score_adj, store_oom_score_adj),        \
		{ .name = "pagemap",                                                            \
		  .mode = S_IFREG | 0400,                                                       \
		  .fops = &pagemap_fops,                                                        \
		  .may_open = may_open_look },                                                  \
		P_FILE("personality", 0400, show_personality),                                  \
		P_TEXT("projid_map", 0644, "         0          0 4294967295\n"),               \
		MAGIC("root", readlink_root, follow_root), P_FILE("sched", 0644, show_sched),   \
		P_FILE("schedstat", 0444, show_schedstat),                                      \
		P_FILE("sessionid", 0444, show_session), P_TEXT("setgroups", 0644, "allow\n"),  \
		{ .name = "smaps",                                                              \
		  .mode = S_IFREG | 0444,                                                       \
		  .show = show_smaps,                                                           \
		  .may_open = may_open_look },                                                  \
		{ .name = "smaps_rollup",                                                       \
		  .mode = S_IFREG | 0444,                                                       \
		  .show = show_smaps_rollup,                                                    \
		  .may_open = may_open_look },                                                  \
		P_FILE("stack", 0400, show_refused), P_FILE("stat", 0444, show_stat),           \
		P_FILE("statm", 0444, show_statm), P_FILE("status", 0444, show_status),         \
		P_FILE("syscall", 0400, show_refused),                                          \
		P_TEXT("uid_map", 0644, "         0          0 4294967295\n"),                  \
		P_TEXT("wchan", 0444, "0")

static const struct pnode tid_nodes[] = {
	ROWS_OF_BOTH,
	P_FILE("children", 0444, show_children),
	{ 0 },
};

static const struct pnode tid_node = { .mode = S_IFDIR | 0555,
				       .children = tid_nodes,
				       .fixed = true };

static void task_entry(struct pinode *dir, struct task *t, struct pentry *out)
{
	out->node = &tid_node;
	out->id = (uint64_t)(uint32_t)pi_pid(dir) | (uint64_t)t->tid << 32;
	out->gen = dir->gen;
	snprintf(out->name, sizeof(out->name), "%d", t->tid);
}

static int task_find_entry(struct pinode *dir, const char *name, struct pentry *out)
{
	struct proc *p = pi_proc(dir);
	struct task *t;
	uint64_t n;

	if (!p || !text_to_number(name, &n) || n > INT32_MAX)
		return -ENOENT;
	t = task_find((pid_t)n);
	if (!t || t->proc != p)
		return -ENOENT;
	task_entry(dir, t, out);
	return 0;
}

static int task_next_entry(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	struct proc *p = pi_proc(dir);
	struct task *t;

	if (!p)
		return -ENOENT;
	while (!pwalk_take(w)) {
		w->have = w->used = 0;
		list_for_each(t, &p->threads, thread_link)
			pwalk_offer(w, (uint64_t)t->tid);
		if (w->have == 0)
			return -ENOENT;
	}
	t = task_find((pid_t)w->cursor);
	if (!t)
		return -ENOENT;
	task_entry(dir, t, out);
	return 0;
}

const struct pdir task_dir = { .find = task_find_entry, .next = task_next_entry };

static const struct pnode pid_nodes[] = {
	ROWS_OF_BOTH,
	P_TEXT("autogroup", 0644, "/autogroup-1 nice 0\n"),
	P_SIZED("coredump_filter", 0644, show_coredump_filter, store_coredump_filter),
	P_WATCHED("mountstats", 0400, show_nothing),
	{ .name = "task", .mode = S_IFDIR | 0555, .dir = &task_dir },
	P_RW("timerslack_ns", 0666, show_timerslack, store_timerslack),
	{ 0 },
};

const struct pnode pid_node = { .mode = S_IFDIR | 0555, .children = pid_nodes, .fixed = true };

/* ---- process 1 ---- */

static int show_cmdline_init(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_put(b, "/sbin/init", 11);
	return 0;
}

/* The kernel's own use of the CPU, as Linux tells it of a process: milliseconds. */
static void put_ms(struct textbuf *b, const char *key, int64_t ns)
{
	text_printf(b, "%-45s:%14ld.%06ld\n", key, (long)(ns / 1000000), (long)(ns % 1000000));
}

static int show_sched_init(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_puts(b, "init (1, #threads: 1)\n"
		     "-------------------------------------------------------------------\n");
	put_ms(b, "se.sum_exec_runtime", host_clock(CLOCK_PROCESS_CPUTIME_ID));
	if (loop_is_measured())
		put_ms(b, "exec_max", loop_longest_turn());
	text_printf(b, "%-45s:%21d\n%-45s:%21d\n", "policy", 0, "prio", 120);
	return 0;
}

/* A write resets what is measured. */
static int64_t store_sched_init(struct pinode *pi, struct task *t, char *buf, size_t n)
{
	(void)pi, (void)t, (void)buf;
	loop_measure(loop_is_measured());
	return (int64_t)n;
}

#define ROWS_OF_INIT                                                                               \
	P_TEXT("cgroup", 0444, "0::/\n"), P_SIZED("cmdline", 0444, show_cmdline_init, NULL),       \
		P_TEXT("comm", 0444, "init\n"), P_TEXT("cpuset", 0444, "/\n"),                     \
		{ .name = "cwd", .mode = S_IFLNK | 0700, .readlink = NULL, .text = "/" },          \
		P_FILE("environ", 0400, show_nothing),                                             \
		{ .name = "exe", .mode = S_IFLNK | 0700, .text = "/sbin/init" },                   \
		{ .name = "fd", .mode = S_IFDIR | 0500 },                                          \
		{ .name = "fdinfo", .mode = S_IFDIR | 0500 }, P_FILE("limits", 0444, show_limits), \
		P_TEXT("loginuid", 0444, "4294967295"), P_FILE("maps", 0400, show_nothing),        \
		P_WATCHED("mountinfo", 0444, show_mountinfo),                                      \
		P_WATCHED("mounts", 0444, show_mounts), P_DIR("net", 0555, net_nodes),             \
		P_DIR("ns", 0511, ns_nodes), P_TEXT("oom_score", 0444, "0\n"),                     \
		P_TEXT("oom_score_adj", 0444, "0\n"),                                              \
		{ .name = "root", .mode = S_IFLNK | 0700, .text = "/" },                           \
		P_RW("sched", 0644, show_sched_init, store_sched_init),                            \
		P_FILE("schedstat", 0444, show_schedstat),                                         \
		P_TEXT("sessionid", 0444, "4294967295"), P_FILE("stat", 0444, show_stat),          \
		P_FILE("statm", 0444, show_statm), P_FILE("status", 0444, show_status),            \
		P_TEXT("uid_map", 0444, "         0          0 4294967295\n"),                     \
		P_TEXT("gid_map", 0444, "         0          0 4294967295\n"),                     \
		P_TEXT("wchan", 0444, "0")

static const struct pnode tid1_nodes[] = {
	ROWS_OF_INIT,
	P_FILE("children", 0444, show_children_init),
	{ 0 },
};

static const struct pnode task1_nodes[] = {
	P_DIR("1", 0555, tid1_nodes),
	{ 0 },
};

static const struct pnode pid1_nodes[] = {
	ROWS_OF_INIT,
	P_DIR("task", 0555, task1_nodes),
	{ 0 },
};

const struct pnode pid1_node = { .mode = S_IFDIR | 0555, .children = pid1_nodes, .fixed = true };
