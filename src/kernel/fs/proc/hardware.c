/* /proc/cpuinfo and meminfo: the cell's CPUs and memory. A CPU's description is the host's,
 * taken once and cut to the CPUs that the cell has, numbered from 0, as one package. Without the
 * host's text a short one is made from the processor's own identification. */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/cell.h"
#include "kernel/task/cputime.h"

#define CPUINFO_MAX (1UL << 20)

/* The host's block for one CPU, without the blank line. */
static char *cpu_block;
static size_t cpu_block_len;

static void block_make_up(struct textbuf *b)
{
	unsigned a, bx, c, d, regs[12] = { 0 };
	char vendor[13] = "unknown", brand[49] = "unknown";

	if (__get_cpuid(0, &a, &bx, &c, &d)) {
		memcpy(vendor, &bx, 4);
		memcpy(vendor + 4, &d, 4);
		memcpy(vendor + 8, &c, 4);
		vendor[12] = 0;
	}
	for (unsigned i = 0; i < 3; i++)
		if (__get_cpuid(0x80000002 + i, &regs[i * 4], &regs[i * 4 + 1], &regs[i * 4 + 2],
				&regs[i * 4 + 3]))
			memcpy(brand + i * 16, &regs[i * 4], 16);
	brand[48] = 0;
	text_printf(
		b,
		"processor\t: 0\nvendor_id\t: %s\ncpu family\t: 6\nmodel\t\t: 1\n"
		"model name\t: %s\nstepping\t: 0\ncpu MHz\t\t: 2000.000\n"
		"cache size\t: 1024 KB\nphysical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\n"
		"cpu cores\t: 1\napicid\t\t: 0\nfpu\t\t: yes\nfpu_exception\t: yes\nwp\t\t: yes\n"
		"flags\t\t: fpu tsc cx8 cmov mmx fxsr sse sse2 syscall nx lm\n"
		"bogomips\t: 4000.00\nclflush size\t: 64\ncache_alignment\t: 64\n"
		"address sizes\t: 46 bits physical, 48 bits virtual\n",
		vendor, brand);
}

static bool block_load(void)
{
	struct textbuf b = { 0 };
	char *end;

	if (cpu_block)
		return true;
	hostview_text(0, "cpuinfo", &b);
	text_put(&b, "", 1);
	if (b.failed || strncmp(b.data, "processor", 9) != 0) {
		text_free(&b);
		block_make_up(&b);
		text_put(&b, "", 1);
	}
	if (b.failed || !b.data)
		return false;
	end = strstr(b.data, "\n\n");
	cpu_block_len = end ? (size_t)(end - b.data) + 1 : strlen(b.data);
	cpu_block = blob_strndup(b.data, cpu_block_len);
	text_free(&b);
	return cpu_block != NULL;
}

static bool key_is(const char *line, size_t len, const char *key)
{
	size_t n = strlen(key);

	return len > n && memcmp(line, key, n) == 0 &&
	       (line[n] == '\t' || line[n] == ' ' || line[n] == ':');
}

/* The lines that say which CPU it is are the cell's own. */
static void put_cpu(struct textbuf *b, uint32_t cpu, uint32_t cpus)
{
	const char *s = cpu_block, *end = cpu_block + cpu_block_len, *nl;
	size_t len;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl)
			break;
		len = (size_t)(nl - s);
		if (key_is(s, len, "processor"))
			text_printf(b, "processor\t: %u\n", cpu);
		else if (key_is(s, len, "physical id"))
			text_puts(b, "physical id\t: 0\n");
		else if (key_is(s, len, "siblings"))
			text_printf(b, "siblings\t: %u\n", cpus);
		else if (key_is(s, len, "core id"))
			text_printf(b, "core id\t\t: %u\n", cpu);
		else if (key_is(s, len, "cpu cores"))
			text_printf(b, "cpu cores\t: %u\n", cpus);
		else if (key_is(s, len, "apicid"))
			text_printf(b, "apicid\t\t: %u\n", cpu);
		else if (key_is(s, len, "initial apicid"))
			text_printf(b, "initial apicid\t: %u\n", cpu);
		else
			text_put(b, s, len + 1);
	}
	text_puts(b, "\n");
}

int show_cpuinfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	uint32_t cpus = MAX(cell.spec.cpus, 1u);

	(void)pi, (void)t;
	if (!block_load())
		return 0;
	for (uint32_t i = 0; i < cpus && b->len < CPUINFO_MAX; i++)
		put_cpu(b, i, cpus);
	return 0;
}

/* ---- memory ---- */

static uint64_t host_kb(const char *text, const char *key)
{
	const char *v = text_field(text, key);

	return v ? strtoull(v, NULL, 10) : 0;
}

uint64_t cell_memory(void)
{
	struct mem_figures mem;

	mem_figures_get(&mem);
	return mem.total;
}

uint64_t cell_resident(void)
{
	struct usage_sum sum;

	hostview_sum(&sum);
	return sum.rss;
}

int show_meminfo(struct pinode *pi, struct task *t, struct textbuf *b)
{
	uint64_t total = cell_memory() / 1024, used, free, avail;
	struct usage_sum sum;
	char text[4096];

	(void)pi, (void)t;
	hostview_sum(&sum);
	used = MIN(sum.rss / 1024, total);
	free = avail = total - used;
	if (!cell.spec.memory && hostview_read(0, 0, "meminfo", text, sizeof(text)) &&
	    host_kb(text, "MemAvailable:")) {
		free = MIN(free, host_kb(text, "MemFree:"));
		avail = MIN(avail, host_kb(text, "MemAvailable:"));
	}
	const struct {
		const char *key;
		uint64_t kb;
	} rows[] = {
		{ "MemTotal:", total },
		{ "MemFree:", free },
		{ "MemAvailable:", avail },
		{ "Buffers:", 0 },
		{ "Cached:", avail - MIN(free, avail) },
		{ "SwapCached:", 0 },
		{ "Active:", used },
		{ "Inactive:", 0 },
		{ "Active(anon):", used },
		{ "Inactive(anon):", 0 },
		{ "Active(file):", 0 },
		{ "Inactive(file):", 0 },
		{ "Unevictable:", 0 },
		{ "Mlocked:", 0 },
		{ "SwapTotal:", 0 },
		{ "SwapFree:", 0 },
		{ "Dirty:", 0 },
		{ "Writeback:", 0 },
		{ "AnonPages:", used },
		{ "Mapped:", 0 },
		{ "Shmem:", 0 },
		{ "KReclaimable:", 0 },
		{ "Slab:", 0 },
		{ "SReclaimable:", 0 },
		{ "SUnreclaim:", 0 },
		{ "KernelStack:", 0 },
		{ "PageTables:", 0 },
		{ "NFS_Unstable:", 0 },
		{ "Bounce:", 0 },
		{ "WritebackTmp:", 0 },
		{ "CommitLimit:", total },
		{ "Committed_AS:", used },
		{ "VmallocTotal:", 34359738367 },
		{ "VmallocUsed:", 0 },
		{ "VmallocChunk:", 0 },
		{ "Percpu:", 0 },
		{ "AnonHugePages:", 0 },
		{ "ShmemHugePages:", 0 },
		{ "ShmemPmdMapped:", 0 },
		{ "FileHugePages:", 0 },
		{ "FilePmdMapped:", 0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		text_printf(b, "%-15s %8lu kB\n", rows[i].key, rows[i].kb);
	text_puts(b,
		  "HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\n"
		  "HugePages_Surp:        0\nHugepagesize:       2048 kB\nHugetlb:               0 "
		  "kB\n");
	return 0;
}
