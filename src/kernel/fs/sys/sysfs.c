/* /sys, as far as programs read it: the topology and caches of the cell's CPUs, one memory node,
 * the cell's limits as a control group, huge pages, the loopback device. All CPUs are cores of
 * one package without siblings. An inode's id is a CPU (or node) number and its sub a cache
 * index.
 * Left out: real devices, modules, drivers, power. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "kernel/fs/proc/proc.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/fs/sys/sysfs.h"
#include "kernel/platform/cell.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"

#define FILE_(n, fn)                                          \
	{                                                     \
		.name = n, .mode = S_IFREG | 0444, .show = fn \
	}
#define TEXT(n, str)                                                \
	{                                                           \
		.name = n, .mode = S_IFREG | 0444, .text = str "\n" \
	}
#define DIR_(n, rows)                                               \
	{                                                           \
		.name = n, .mode = S_IFDIR | 0755, .children = rows \
	}
#define CPUS_SHOWN 1024u

static uint32_t cpus(void)
{
	return MIN(MAX(cell.spec.cpus, 1u), CPUS_SHOWN);
}

/* ---- sets of CPUs ---- */

static int show_all_list(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	if (cpus() > 1)
		text_printf(b, "0-%u\n", cpus() - 1);
	else
		text_puts(b, "0\n");
	return 0;
}

/* Words of 32 bits, the highest first. */
static void put_mask(struct textbuf *b, uint32_t first, uint32_t count)
{
	uint32_t words = (cpus() + 31) / 32;

	for (uint32_t i = words; i-- > 0;) {
		uint32_t mask = 0;

		for (uint32_t bit = 0; bit < 32; bit++)
			if (i * 32 + bit >= first && i * 32 + bit < first + count)
				mask |= 1u << bit;
		if (words == 1)
			text_printf(b, "%x", mask);
		else
			text_printf(b, "%s%08x", i == words - 1 ? "" : ",", mask);
	}
	text_puts(b, "\n");
}

static int show_all_mask(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	put_mask(b, 0, cpus());
	return 0;
}

static int show_own_number(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	text_printf(b, "%lu\n", pi->id);
	return 0;
}

static int show_own_mask(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	put_mask(b, (uint32_t)pi->id, 1);
	return 0;
}

/* ---- caches ---- */

static const struct {
	int level;
	const char *type, *size;
	bool shared;
	int ways;
} caches[] = {
	{ 1, "Data", "32K", false, 8 },
	{ 1, "Instruction", "32K", false, 8 },
	{ 2, "Unified", "1024K", false, 8 },
	{ 3, "Unified", "32768K", true, 16 },
};

static int show_level(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	text_printf(b, "%d\n", caches[pi->sub].level);
	return 0;
}

static int show_type(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	text_printf(b, "%s\n", caches[pi->sub].type);
	return 0;
}

static int show_size(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	text_printf(b, "%s\n", caches[pi->sub].size);
	return 0;
}

static int show_ways(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)t;
	text_printf(b, "%d\n", caches[pi->sub].ways);
	return 0;
}

static int show_shared_map(struct pinode *pi, struct task *t, struct textbuf *b)
{
	return caches[pi->sub].shared ? show_all_mask(pi, t, b) : show_own_mask(pi, t, b);
}

static int show_shared_list(struct pinode *pi, struct task *t, struct textbuf *b)
{
	return caches[pi->sub].shared ? show_all_list(pi, t, b) : show_own_number(pi, t, b);
}

static const struct pnode index_nodes[] = {
	TEXT("coherency_line_size", "64"),
	FILE_("level", show_level),
	FILE_("shared_cpu_list", show_shared_list),
	FILE_("shared_cpu_map", show_shared_map),
	FILE_("size", show_size),
	FILE_("type", show_type),
	FILE_("ways_of_associativity", show_ways),
	{ 0 },
};

static const struct pnode index_node = { .mode = S_IFDIR | 0755, .children = index_nodes };

/* "prefixN" with N below limit. */
static bool numbered(const char *name, const char *prefix, uint64_t limit, uint64_t *ret_)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && text_to_number(name + n, ret_) && *ret_ < limit;
}

static int index_entry(struct pinode *dir, uint64_t n, struct pentry *out)
{
	if (n >= ARRAY_LEN(caches))
		return -ENOENT;
	out->node = &index_node;
	out->id = dir->id;
	out->sub = n;
	snprintf(out->name, sizeof(out->name), "index%lu", n);
	return 0;
}

static int index_find(struct pinode *dir, const char *name, struct pentry *out)
{
	uint64_t n;

	return numbered(name, "index", ARRAY_LEN(caches), &n) ? index_entry(dir, n, out) : -ENOENT;
}

static int index_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	return index_entry(dir, w->cursor, out);
}

static const struct pdir index_dir = { .find = index_find, .next = index_next };

/* ---- CPUs ---- */

static const struct pnode topology_nodes[] = {
	FILE_("core_cpus", show_own_mask),
	FILE_("core_cpus_list", show_own_number),
	FILE_("core_id", show_own_number),
	FILE_("core_siblings", show_all_mask),
	FILE_("core_siblings_list", show_all_list),
	TEXT("die_id", "0"),
	FILE_("package_cpus", show_all_mask),
	FILE_("package_cpus_list", show_all_list),
	TEXT("physical_package_id", "0"),
	FILE_("thread_siblings", show_own_mask),
	FILE_("thread_siblings_list", show_own_number),
	{ 0 },
};

static const struct pnode cpu_nodes[] = {
	{ .name = "cache", .mode = S_IFDIR | 0755, .dir = &index_dir },
	TEXT("online", "1"),
	DIR_("topology", topology_nodes),
	{ 0 },
};

static const struct pnode cpu_node = { .mode = S_IFDIR | 0755, .children = cpu_nodes };

static int cpu_entry(uint64_t n, struct pentry *out)
{
	if (n >= cpus())
		return -ENOENT;
	out->node = &cpu_node;
	out->id = n;
	snprintf(out->name, sizeof(out->name), "cpu%lu", n);
	return 0;
}

static int cpu_find(struct pinode *dir, const char *name, struct pentry *out)
{
	uint64_t n;

	(void)dir;
	return numbered(name, "cpu", cpus(), &n) ? cpu_entry(n, out) : -ENOENT;
}

static int cpu_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	(void)dir;
	return cpu_entry(w->cursor, out);
}

static const struct pdir cpu_dir = { .find = cpu_find, .next = cpu_next };

/* The host gives its own numbers of processors (getcpu, rseq). Programs that keep something for
 * each one ask here how many there can be. */
static uint32_t possible(void)
{
	return MIN(MAX(cell.spec.host_cpus, cpus()), CPUS_SHOWN);
}

static int show_possible(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, possible() > 1 ? "0-%u\n" : "0\n", possible() - 1);
	return 0;
}

static int show_offline(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	if (possible() > cpus() + 1)
		text_printf(b, "%u-%u\n", cpus(), possible() - 1);
	else if (possible() > cpus())
		text_printf(b, "%u\n", cpus());
	else
		text_puts(b, "\n");
	return 0;
}

static int show_kernel_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%u\n", CPUS_SHOWN - 1);
	return 0;
}

static const struct pnode smt_nodes[] = {
	TEXT("active", "0"),
	TEXT("control", "notsupported"),
	{ 0 },
};

static const struct pnode cpus_nodes[] = {
	TEXT("isolated", ""),
	FILE_("kernel_max", show_kernel_max),
	FILE_("offline", show_offline),
	FILE_("online", show_all_list),
	FILE_("possible", show_possible),
	FILE_("present", show_all_list),
	DIR_("smt", smt_nodes),
	{ 0 },
};

/* ---- memory ---- */

static int show_node_meminfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	uint64_t total = cell_memory() / 1024, used = MIN(cell_resident() / 1024, total);

	(void)pi, (void)t;
	text_printf(b,
		    "Node 0 MemTotal:       %8lu kB\nNode 0 MemFree:        %8lu kB\n"
		    "Node 0 MemUsed:        %8lu kB\n",
		    total, total - used, used);
	return 0;
}

static const struct pnode node0_nodes[] = {
	FILE_("cpulist", show_all_list),
	FILE_("cpumap", show_all_mask),
	TEXT("distance", "10"),
	FILE_("meminfo", show_node_meminfo),
	{ 0 },
};

static const struct pnode nodes_nodes[] = {
	TEXT("has_cpu", "0"),
	TEXT("has_memory", "0"),
	TEXT("has_normal_memory", "0"),
	DIR_("node0", node0_nodes),
	TEXT("online", "0"),
	TEXT("possible", "0"),
	{ 0 },
};

/* ---- limits as a control group ---- */

static int put_limit(struct textbuf *b, uint64_t v)
{
	if (v)
		text_printf(b, "%lu\n", v);
	else
		text_puts(b, "max\n");
	return 0;
}

static int show_memory_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	return put_limit(b, cell.spec.memory);
}

static int show_pids_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	return put_limit(b, cell.spec.max_tasks);
}

static int show_pids_current(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%u\n", task_count());
	return 0;
}

static int show_cpu_max(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%u 100000\n", cpus() * 100000);
	return 0;
}

static int show_memory_current(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_printf(b, "%lu\n", cell_resident());
	return 0;
}

static int show_procs(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	text_puts(b, "1\n");
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		text_printf(b, "%d\n", p->pid);
	return 0;
}

static const struct pnode cgroup_nodes[] = {
	TEXT("cgroup.controllers", "cpuset cpu memory pids"),
	FILE_("cgroup.procs", show_procs),
	{ .name = "cgroup.subtree_control", .mode = S_IFREG | 0444, .text = "\n" },
	TEXT("cgroup.type", "domain"),
	FILE_("cpu.max", show_cpu_max),
	TEXT("cpu.weight", "100"),
	FILE_("cpuset.cpus.effective", show_all_list),
	TEXT("cpuset.mems.effective", "0"),
	FILE_("memory.current", show_memory_current),
	TEXT("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0"),
	TEXT("memory.high", "max"),
	FILE_("memory.max", show_memory_max),
	TEXT("memory.min", "0"),
	TEXT("memory.swap.max", "0"),
	TEXT("memory.swap.current", "0"),
	FILE_("pids.current", show_pids_current),
	FILE_("pids.max", show_pids_max),
	{ 0 },
};

/* ---- the rest ---- */

static const struct pnode lo_nodes[] = {
	TEXT("addr_len", "6"),
	TEXT("address", "00:00:00:00:00:00"),
	TEXT("carrier", "1"),
	TEXT("flags", "0x9"),
	TEXT("ifindex", "1"),
	TEXT("mtu", "65536"),
	TEXT("operstate", "unknown"),
	TEXT("type", "772"),
	{ 0 },
};

static const struct pnode class_net_nodes[] = { DIR_("lo", lo_nodes), { 0 } };

static const struct pnode statistics_nodes[] = {
	TEXT("rx_bytes", "0"),	 TEXT("rx_dropped", "0"), TEXT("rx_errors", "0"),
	TEXT("rx_packets", "0"), TEXT("tx_bytes", "0"),	  TEXT("tx_dropped", "0"),
	TEXT("tx_errors", "0"),	 TEXT("tx_packets", "0"), { 0 },
};

/* net/iface.c has the same. */
static const struct pnode eth0_nodes[] = {
	TEXT("addr_assign_type", "3"),
	TEXT("addr_len", "6"),
	TEXT("address", "02:76:69:76:00:02"),
	TEXT("broadcast", "ff:ff:ff:ff:ff:ff"),
	TEXT("carrier", "1"),
	TEXT("dormant", "0"),
	TEXT("duplex", "full"),
	TEXT("flags", "0x1003"),
	TEXT("ifindex", "2"),
	TEXT("iflink", "2"),
	TEXT("mtu", "1500"),
	TEXT("operstate", "up"),
	TEXT("speed", "10000"),
	DIR_("statistics", statistics_nodes),
	TEXT("tx_queue_len", "1000"),
	TEXT("type", "1"),
	{ 0 },
};
static const struct pnode eth0_node = { .mode = S_IFDIR | 0755, .children = eth0_nodes };

/* There is an eth0 if the cell is granted a network. */
static int eth0_entry(struct pentry *out)
{
	if (!cell.spec.network)
		return -ENOENT;
	out->node = &eth0_node;
	out->id = 0;
	snprintf(out->name, sizeof(out->name), "eth0");
	return 0;
}

static int net_find(struct pinode *dir, const char *name, struct pentry *out)
{
	(void)dir;
	return strcmp(name, "eth0") ? -ENOENT : eth0_entry(out);
}

static int net_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	(void)dir;
	return w->cursor ? -ENOENT : eth0_entry(out);
}

static const struct pdir net_dir = { .find = net_find, .next = net_next };

static const struct pnode no_nodes[] = { { 0 } };

static const struct pnode class_nodes[] = {
	DIR_("block", no_nodes),
	{ .name = "net", .mode = S_IFDIR | 0755, .children = class_net_nodes, .dir = &net_dir },
	DIR_("tty", no_nodes),
	{ 0 },
};

static const struct pnode thp_nodes[] = {
	TEXT("defrag", "always defer defer+madvise [madvise] never"),
	TEXT("enabled", "always [madvise] never"),
	TEXT("hpage_pmd_size", "2097152"),
	TEXT("shmem_enabled", "always within_size advise [never] deny force"),
	{ 0 },
};

static const struct pnode hugepages_2m_nodes[] = {
	TEXT("free_hugepages", "0"),
	TEXT("nr_hugepages", "0"),
	TEXT("nr_overcommit_hugepages", "0"),
	{ 0 },
};

static const struct pnode hugepages_nodes[] = { DIR_("hugepages-2048kB", hugepages_2m_nodes),
						{ 0 } };

static const struct pnode mm_nodes[] = {
	DIR_("hugepages", hugepages_nodes),
	DIR_("transparent_hugepage", thp_nodes),
	{ 0 },
};

static const struct pnode kernel_nodes[] = { DIR_("mm", mm_nodes), { 0 } };

static const struct pnode system_nodes[] = {
	{ .name = "cpu", .mode = S_IFDIR | 0755, .children = cpus_nodes, .dir = &cpu_dir },
	DIR_("node", nodes_nodes),
	{ 0 },
};

static const struct pnode devices_nodes[] = { DIR_("system", system_nodes), { 0 } };
static const struct pnode fs_nodes[] = { DIR_("cgroup", cgroup_nodes), { 0 } };

static const struct pnode root_nodes[] = {
	DIR_("block", no_nodes),	DIR_("bus", no_nodes),
	DIR_("class", class_nodes),	DIR_("dev", no_nodes),
	DIR_("devices", devices_nodes), DIR_("firmware", no_nodes),
	DIR_("fs", fs_nodes),		DIR_("kernel", kernel_nodes),
	DIR_("module", no_nodes),	{ 0 },
};

static const struct pnode root_node = { .mode = S_IFDIR | 0555, .children = root_nodes };

struct fs *sysfs_new(void)
{
	struct pseudo_fs *pfs = pseudo_new("sysfs", SYSFS_MAGIC, &root_node);

	if (pfs)
		pfs->file_size = PAGE_SIZE; /* as Linux shows for each */

	return pfs ? &pfs->fs : NULL;
}
