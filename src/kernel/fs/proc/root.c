/* The root of /proc: the processes, and the files about the cell as a whole. The figures are the
 * cell's: its CPUs, its memory; uptime is the host's, as CLOCK_BOOTTIME is. Where only the host
 * knows (how busy the runners were), the sum over the live processes is shown. Left out: kcore,
 * kallsyms, keys, kmsg and everything else that tells about the host. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "base/arena.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/version.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* ---- links to the reader ---- */

static int readlink_self(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	char text[16];

	(void)pi;
	if (!t)
		return -ENOENT;
	snprintf(text, sizeof(text), "%d", t->proc->pid);
	size = MIN(size, strlen(text));
	memcpy(buf, text, size);
	return (int)size;
}

static int readlink_thread_self(struct pinode *pi, struct task *t, char *buf, size_t size)
{
	char text[48];

	(void)pi;
	if (!t)
		return -ENOENT;
	snprintf(text, sizeof(text), "%d/task/%d", t->proc->pid, t->tid);
	size = MIN(size, strlen(text));
	memcpy(buf, text, size);
	return (int)size;
}

/* ---- time and load ---- */

static int64_t uptime_ns(void)
{
	return host_clock(CLOCK_BOOTTIME);
}

static uint32_t cpus(void)
{
	return MAX(cell.spec.cpus, 1u);
}

/* Never goes back, though processes that end take their share of the sum with them. */
static void busy_ticks(struct usage_sum *sum)
{
	static uint64_t utime, stime;

	hostview_sum(sum);
	sum->utime = utime = MAX(utime, sum->utime);
	sum->stime = stime = MAX(stime, sum->stime);
}

static uint64_t idle_ticks(const struct usage_sum *sum)
{
	uint64_t all = (uint64_t)(uptime_ns() / TICK_NS) * cpus(), busy = sum->utime + sum->stime;

	return all > busy ? all - busy : 0;
}

static int show_uptime(struct pinode *pi, struct task *t, struct textbuf *b)
{
	int64_t up = uptime_ns() / TICK_NS;
	struct usage_sum sum;
	uint64_t idle;

	(void)pi, (void)t;
	busy_ticks(&sum);
	idle = idle_ticks(&sum);
	text_printf(b, "%ld.%02ld %lu.%02lu\n", up / 100, up % 100, idle / 100, idle % 100);
	return 0;
}

static pid_t newest_pid(void)
{
	pid_t last = INIT_PID;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		last = p->pid;
	return last;
}

/* How many processors the cell keeps busy, averaged over the last 1, 5 and 15 minutes, in Linux's
 * steps of five seconds and its fixed-point numbers. Linux counts those that wait for a processor,
 * too, and looks at each step; here nobody wakes an idle cell to count: what was used since the
 * last reader looked is taken as used evenly. */
#define LOAD_SHIFT 11
#define LOAD_ONE (1u << LOAD_SHIFT)
#define LOAD_STEP (5 * NSEC_PER_SEC)

/* x to the power of n. */
static uint64_t load_power(uint64_t x, uint64_t n)
{
	uint64_t result = LOAD_ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			result = (result * x + LOAD_ONE / 2) >> LOAD_SHIFT;
		x = (x * x + LOAD_ONE / 2) >> LOAD_SHIFT;
	}
	return result;
}

static void load_update(const struct usage_sum *sum, uint64_t load[3])
{
	static const uint32_t keep[3] = { 1884, 2014, 2037 }; /* of LOAD_ONE, after one step */
	static uint64_t last[3], busy_then;
	static int64_t then;
	uint64_t busy = sum->utime + sum->stime, rate, kept;
	int64_t steps;

	if (!then && proc_next(NULL)) /* the cell's first, or the oldest still there */
		then = proc_next(NULL)->start_time;
	steps = (now_mono() - then) / LOAD_STEP;
	if (steps > 0) {
		/* Ticks are hundredths of a second. */
		rate = (busy - MIN(busy, busy_then)) * LOAD_ONE / ((uint64_t)steps * 500);
		rate = MIN(rate, (uint64_t)cpus() * LOAD_ONE);
		for (int i = 0; i < 3; i++) {
			kept = load_power(keep[i], (uint64_t)steps);
			last[i] = (last[i] * kept + rate * (LOAD_ONE - kept)) >> LOAD_SHIFT;
		}
		then += steps * LOAD_STEP;
		busy_then = busy;
	}
	for (int i = 0; i < 3; i++)
		load[i] = last[i] * 100 >> LOAD_SHIFT;
}

static int show_loadavg(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct usage_sum sum;
	uint64_t load[3];

	(void)pi, (void)t;
	busy_ticks(&sum);
	load_update(&sum, load);
	for (int i = 0; i < 3; i++)
		text_printf(b, "%lu.%02lu ", load[i] / 100, load[i] % 100);
	text_printf(b, "%u/%u %d\n", MAX(sum.running, 1u), task_count() + 1, newest_pid());
	return 0;
}

static int show_root_stat(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct usage_sum sum;
	uint64_t idle;

	(void)pi, (void)t;
	busy_ticks(&sum);
	idle = idle_ticks(&sum);
	text_printf(b, "cpu  %lu 0 %lu %lu 0 0 0 0 0 0\n", sum.utime, sum.stime, idle);
	for (uint32_t i = 0; i < cpus(); i++)
		text_printf(b, "cpu%u %lu 0 %lu %lu 0 0 0 0 0 0\n", i, sum.utime / cpus(),
			    sum.stime / cpus(), idle / cpus());
	text_printf(b,
		    "intr 0\nctxt %lu\nbtime %lu\nprocesses %d\nprocs_running %u\n"
		    "procs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
		    cell.calls, (uint64_t)((now_real() - uptime_ns()) / NSEC_PER_SEC), newest_pid(),
		    MAX(sum.running, 1u));
	return 0;
}

static int show_interrupts(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_puts(b, "     ");
	for (uint32_t i = 0; i < cpus(); i++)
		text_printf(b, "      CPU%-2u", i);
	text_puts(b, "\nERR:          0\nMIS:          0\n");
	return 0;
}

/* The kernel's own objects. Slabs are none of ours: an object is one. */
static int show_slabinfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	const struct obj_type *type = NULL;
	struct arena_stats st;

	(void)pi, (void)t;
	text_printf(b, "slabinfo - version: 2.1\n"
		       "# name            <active_objs> <num_objs> <objsize> <objperslab> "
		       "<pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata "
		       "<active_slabs> <num_slabs> <sharedavail>\n");
	while ((type = obj_type_next(type)))
		text_printf(b,
			    "%-17s %6u %6u %6u %4u %4u : tunables %4u %4u %4u : slabdata %6u %6u "
			    "%6u\n",
			    type->name, type->count, type->peak, type->size, 1u, 1u, 0u, 0u, 0u,
			    type->count, type->peak, 0u);
	arena_stats_get(&st);
	text_printf(b,
		    "%-17s %6lu %6lu %6u %4u %4u : tunables %4u %4u %4u : slabdata %6u %6u %6u\n",
		    "blob-bytes", (unsigned long)st.blob_bytes, (unsigned long)st.blob_bytes, 1u,
		    1u, 1u, 0u, 0u, 0u, 0u, 0u, 0u);
	return 0;
}

static int show_vmstat(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct usage_sum sum;
	uint64_t pages, used;

	(void)pi, (void)t;
	hostview_sum(&sum);
	pages = cell_memory() / PAGE_SIZE;
	used = MIN(sum.rss / PAGE_SIZE, pages);
	text_printf(
		b,
		"nr_free_pages %lu\nnr_anon_pages %lu\nnr_mapped 0\nnr_file_pages 0\nnr_dirty 0\n"
		"nr_writeback 0\nnr_shmem 0\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\n"
		"pgmajfault 0\noom_kill 0\n",
		pages - used, used);
	return 0;
}

/* ---- processes ---- */

static void pid_entry(pid_t pid, const struct proc *p, struct pentry *out)
{
	out->node = p ? &pid_node : &pid1_node;
	out->id = (uint64_t)(uint32_t)pid;
	out->gen = p ? (uint64_t)p->start_time : 0;
	snprintf(out->name, sizeof(out->name), "%d", pid);
}

static int pid_find(struct pinode *dir, const char *name, struct pentry *out)
{
	struct proc *p = NULL;
	struct task *t;
	uint64_t n;

	(void)dir;
	if (!text_to_number(name, &n) || n == 0 || n > INT32_MAX)
		return -ENOENT;
	if (n != INIT_PID) {
		p = proc_find((pid_t)n);
		/* A thread's number works too, though it is not listed. */
		if (!p && (t = task_find((pid_t)n)) != NULL) {
			p = t->proc;
			pid_entry(p->pid, p, out);
			out->id |= n << 32;
			return 0;
		}
		if (!p) {
			if (task_current)
				task_current->call.missed = true;
			return -ENOENT;
		}
	}
	pid_entry((pid_t)n, p, out);
	return 0;
}

static int pid_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	struct proc *p;

	(void)dir;
	while (!pwalk_take(w)) {
		w->have = w->used = 0;
		pwalk_offer(w, INIT_PID);
		for (p = proc_next(NULL); p; p = proc_next(p))
			pwalk_offer(w, (uint64_t)p->pid);
		if (w->have == 0)
			return -ENOENT;
	}
	p = w->cursor == INIT_PID ? NULL : proc_find((pid_t)w->cursor);
	if (!p && w->cursor != INIT_PID)
		return -ENOENT;
	pid_entry((pid_t)w->cursor, p, out);
	return 0;
}

static const struct pdir pid_dir = { .find = pid_find, .next = pid_next };

/* ---- rows ---- */

static const char filesystems[] =
	"nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tcgroup2\nnodev\tdevtmpfs\n"
	"nodev\tsockfs\nnodev\tpipefs\nnodev\tramfs\nnodev\tdevpts\nnodev\toverlay\nnodev\tmqueue"
	"\n";

static const char devices[] =
	"Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/console\n  5 /dev/ptmx\n"
	"136 pts\n\nBlock devices:\n";

static const struct pnode root_nodes[] = {
	{ .name = "self", .mode = S_IFLNK | 0777, .readlink = readlink_self },
	{ .name = "thread-self", .mode = S_IFLNK | 0777, .readlink = readlink_thread_self },
	P_LINK("mounts", "self/mounts"),
	P_LINK("net", "self/net"),
	P_TEXT("cmdline", 0444, "vivarium\n"),
	P_FILE("cpuinfo", 0444, show_cpuinfo),
	P_TEXT("devices", 0444, devices),
	P_TEXT("diskstats", 0444, ""),
	P_TEXT("filesystems", 0444, filesystems),
	P_FILE("interrupts", 0444, show_interrupts),
	{ .name = "kmsg", .mode = S_IFREG | 0400, .text = "", .may_open = may_open_never },
	P_FILE("loadavg", 0444, show_loadavg),
	P_TEXT("locks", 0444, ""),
	P_FILE("meminfo", 0444, show_meminfo),
	P_TEXT("modules", 0444, ""),
	P_TEXT("partitions", 0444, "major minor  #blocks  name\n\n"),
	P_FILE("slabinfo", 0400, show_slabinfo),
	P_FILE("stat", 0444, show_root_stat),
	P_TEXT("swaps", 0444, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"),
	P_DIR("sys", 0555, sysctl_nodes),
	P_DIR("sysvipc", 0555, sysvipc_nodes),
	P_FILE("uptime", 0444, show_uptime),
	P_TEXT("version", 0444, UTS_BANNER "\n"),
	P_FILE("vmstat", 0444, show_vmstat),
	{ 0 },
};

static const struct pnode root_node = {
	.mode = S_IFDIR | 0555,
	.children = root_nodes,
	.dir = &pid_dir,
};

/* Files of a process belong to its effective user, or to root when it is not to be looked into. */
static int proc_refresh(struct pinode *pi)
{
	struct proc *p;
	uint32_t mode;

	if (pi_pid(pi) <= INIT_PID) {
		if (pi->inode.fs->root == &pi->inode)
			pi->inode.nlink = 2 + proc_count();
		return 0;
	}
	p = pi_proc(pi);
	if (!p || (pi_tid(pi) && !pi_task(pi)))
		return -ENOENT;
	proc_owner(p, &pi->inode.uid, &pi->inode.gid);
	/* Directories stay its own: a process can always get at its own descriptors. */
	if (p->dumpable != 1 && !S_ISDIR(pi->node->mode))
		pi->inode.uid = pi->inode.gid = 0;
	/* One directory for each thread, and programs count them by it (Chromium's zygote). */
	if (S_ISDIR(pi->node->mode) && pi->node->dir == &task_dir)
		pi->inode.nlink = 2 + p->nthreads;
	mode = fd_link_mode(pi);
	if (mode) {
		pi->inode.mode = mode;
		pi->inode.size = 64; /* what Linux shows for any of them */
	}
	return 0;
}

struct fs *procfs_new(void)
{
	struct pseudo_fs *pfs = pseudo_new("proc", PROC_SUPER_MAGIC, &root_node);

	if (!pfs)
		return NULL;
	pfs->fs.nocache = true;
	pfs->fs.fixed_names = true;
	pfs->fs.lists_procs = true;
	pfs->objects_unwatched = true;
	pfs->refresh = CALLBACK(proc_refresh);
	return &pfs->fs;
}
