/* /proc/cpuinfo and meminfo: the cell's CPUs and memory. A CPU's description is the host's,
 * taken once and cut to the CPUs that the cell has, numbered from 0, as one package. Without the
 * host's text, the processor's own words are taken (cpuid.c). */
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
		cpu_describe(&b);
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
