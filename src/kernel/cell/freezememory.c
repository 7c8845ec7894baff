/* The memory of a process at rest.
 *
 * The host knows what is mapped (/proc/PID/maps), and which pages are the process's own
 * (/proc/PID/pagemap). A file of the cell is known by the note that /proc/PID/maps of the cell uses
 * (procmap.h); it is mapped again when the cell is thawed. Of private mappings the pages that were
 * written are kept, except those that are zero in anonymous memory. */
#include "kernel/cell/freezememory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "host/host.h"
#include "host/procmem.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/frozen.h"
#include "kernel/cell/policy.h"
#include "kernel/fs/proc/procmap.h"
#include "kernel/platform/cell.h"
#include "kernel/task/task.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"
#include "stub/fast.h"
#include "stub/stub.h"

#define CHUNK (1UL << 20)
#define MAPS_TEXT (16UL << 20)
#define PM_PRESENT (1UL << 63)
#define PM_SWAPPED (1UL << 62)
#define PM_FILE (1UL << 61)

int freeze_write(struct freezer *f, const void *p, size_t n, uint64_t at)
{
	while (n) {
		int64_t did = host_pwrite(f->fd, p, n, (int64_t)at);

		if (did <= 0)
			return did ? freeze_refuse("it cannot be written: %s", strerror((int)-did))
				   : -EIO;
		p = (const char *)p + did;
		at += (uint64_t)did;
		n -= (size_t)did;
	}
	return 0;
}

/* ---- the list of mappings ---- */

static int proc_open(pid_t pid, const char *file)
{
	char path[48];

	snprintf(path, sizeof(path), "%d/%s", pid, file);
	return host_open_beneath(cell.proc_fd, path, O_RDONLY, 0);
}

static bool line_parse(char *s, struct maps_line *m)
{
	unsigned long major, minor;
	char *p;

	m->start = strtoull(s, &p, 16);
	if (*p != '-')
		return false;
	m->end = strtoull(p + 1, &p, 16);
	if (*p != ' ' || strlen(p) < 8)
		return false;
	memcpy(m->perms, p + 1, 4);
	m->perms[4] = 0;
	m->off = strtoull(p + 6, &p, 16);
	major = strtoul(p, &p, 16);
	if (*p != ':')
		return false;
	minor = strtoul(p + 1, &p, 16);
	m->dev = makedev(major, minor);
	m->ino = strtoull(p, &p, 10);
	m->name = p + strspn(p, " ");
	return true;
}

int maps_each(pid_t pid, int (*fn)(const struct maps_line *m, void *arg), void *arg)
{
	char *text = host_map_anon(NULL, MAPS_TEXT), *s, *end;
	int fd = proc_open(pid, "maps"), ret = fd;
	struct maps_line m;
	size_t n = 0;
	int64_t did;

	if (fd < 0 || !text) {
		ret = fd < 0 ? fd : -ENOMEM;
		goto out;
	}
	while (n < MAPS_TEXT - 1 && (did = host_read(fd, text + n, MAPS_TEXT - 1 - n)) > 0)
		n += (size_t)did;
	ret = n == MAPS_TEXT - 1 ? -E2BIG : 0;
	for (s = text; ret == 0 && (end = strchr(s, '\n')); s = end + 1) {
		*end = 0;
		ret = line_parse(s, &m) ? fn(&m, arg) : -EIO;
	}
out:
	if (fd >= 0)
		host_close(fd);
	if (text)
		host_unmap(text, MAPS_TEXT);
	return ret;
}

bool maps_is_host(const struct maps_line *m)
{
	return !strcmp(m->name, "[vdso]") || !strncmp(m->name, "[vvar", 5);
}

int maps_hash(pid_t pid, const struct maps_line *m, uint8_t out[32])
{
	static char page[PAGE_SIZE];
	struct sha256 sum;

	memset(out, 0, 32);
	if (strcmp(m->name, "[vdso]"))
		return 0;
	sha256_init(&sum);
	for (uint64_t at = m->start; at < m->end; at += PAGE_SIZE) {
		const struct iovec local = { page, PAGE_SIZE }, remote = { (void *)at, PAGE_SIZE };

		if (host_vm_readv(pid, &local, 1, &remote, 1) != (int64_t)PAGE_SIZE)
			return -EIO;
		sha256_add(&sum, page, PAGE_SIZE);
	}
	sha256_end(&sum, out);
	return 0;
}

static int brk_find(const struct maps_line *m, void *arg)
{
	if (!strcmp(m->name, "[heap]"))
		*(uint64_t *)arg = m->end;
	return 0;
}

uint64_t freeze_brk(pid_t pid)
{
	uint64_t brk = 0;

	return maps_each(pid, brk_find, &brk) < 0 ? 0 : brk;
}

/* ---- pages ---- */

struct walk {
	struct freezer *f;
	pid_t pid;
	int pagemap, mem;
	char *buf; /* of CHUNK */
};

static bool is_zero(const char *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* n bytes of its memory from addr on, of which all are its own. */
static int run_put(struct walk *w, uint64_t addr, size_t n, bool skip_zero)
{
	const struct iovec local = { w->buf, n }, remote = { (void *)addr, n };
	size_t from = 0, to;
	int ret = 0;

	if (host_vm_readv(w->pid, &local, 1, &remote, 1) != (int64_t)n &&
	    host_pread(w->mem, w->buf, n, (int64_t)addr) != (int64_t)n)
		return freeze_refuse("memory of process %d cannot be read", w->pid);
	while (from < n && ret == 0) {
		struct frozen_pages out;

		while (from < n && skip_zero && is_zero(w->buf + from, PAGE_SIZE))
			from += PAGE_SIZE;
		for (to = from; to < n && !(skip_zero && is_zero(w->buf + to, PAGE_SIZE));)
			to += PAGE_SIZE;
		if (to == from)
			break;
		out = (struct frozen_pages){ .addr = addr + from, .n = to - from, .at = w->f->at };
		ret = freeze_write(w->f, w->buf + from, to - from, w->f->at);
		if (ret == 0)
			ret = freeze_put(FROZEN_PAGES, &out, sizeof(out), NULL, 0);
		w->f->at += to - from;
		from = to;
	}
	return ret;
}

static int pages_put(struct walk *w, uint64_t start, uint64_t end, bool skip_zero)
{
	static uint64_t entries[CHUNK / PAGE_SIZE];
	int ret = 0;

	for (uint64_t at = start; at < end && ret == 0;) {
		size_t n = MIN(end - at, CHUNK) / PAGE_SIZE, i = 0, j;
		int64_t did = host_pread(w->pagemap, entries, n * 8, (int64_t)(at / PAGE_SIZE * 8));

		if (did != (int64_t)(n * 8))
			return freeze_refuse("memory of process %d cannot be looked at", w->pid);
		while (i < n && ret == 0) {
#define OWN(e) ((e) & (PM_PRESENT | PM_SWAPPED) && !((e)&PM_FILE))
			for (j = i; j < n && OWN(entries[j]);)
				j++;
			if (j > i)
				ret = run_put(w, at + i * PAGE_SIZE, (j - i) * PAGE_SIZE,
					      skip_zero);
			i = j + 1;
#undef OWN
		}
		at += n * PAGE_SIZE;
	}
	return ret;
}

/* ---- mappings ---- */

static uint32_t prot_of(const char *perms)
{
	return (perms[0] == 'r' ? 1u : 0) | (perms[1] == 'w' ? 2u : 0) | (perms[2] == 'x' ? 4u : 0);
}

/* The file of the cell behind a mapping: its path, and what it is now. */
static int file_of(const struct walk *w, const struct maps_line *m, struct frozen_map *out,
		   const char **ret_path)
{
	struct task *t = boot_walker();
	struct procnote note;
	struct path at;
	int ret;

	if (!procmap_find(m->dev, m->ino, &note) || note.label[0] != '/' ||
	    strlen(note.label) >= FROZEN_TEXT || !t ||
	    path_lookup(t, AT_FDCWD, note.label, 0, &at) < 0)
		return freeze_refuse("process %d maps memory or a file that cannot be frozen yet",
				     w->pid);
	ret = at.name->inode && at.name->inode->ino == note.ino && vfs_getattr(&at) == 0
		      ? 0
		      : freeze_refuse("process %d maps %.180s, which is another file now", w->pid,
				      note.label);
	if (ret == 0 && !policy_allows_again(&at, O_RDONLY, true))
		ret = freeze_refuse("process %d maps %.128s, which its policy does not let be "
				    "opened again without a question",
				    w->pid, note.label);
	if (ret == 0) {
		out->ino = note.ino;
		out->size = at.name->inode->size;
		out->mtime = at.name->inode->mtime.tv_sec;
		out->mtime_ns = at.name->inode->mtime.tv_nsec;
		*ret_path = note.label;
	}
	path_put(&at);
	return ret;
}

static int map_put(const struct maps_line *m, void *arg)
{
	struct walk *w = arg;
	struct frozen_map out = {
		.start = m->start, .end = m->end, .off = m->off, .prot = prot_of(m->perms)
	};
	bool shared = m->perms[3] == 's';
	const char *path = NULL;
	int ret = 0;

	if (!strcmp(m->name, "[vsyscall]"))
		return 0;
	if (m->start < STUB_BASE + STUB_SPAN && m->end > STUB_BASE) {
		/* What is only read is the same in each runner. */
		if (!(out.prot & 2) || shared || m->start >= FAST_BASE)
			return 0;
		out.memory = FROZEN_STUB;
		out.off = 0;
	} else if (maps_is_host(m)) {
		out.memory = FROZEN_HOST;
		out.off = 0;
		ret = maps_hash(w->pid, m, out.hash);
	} else if (!m->ino && !shared) {
		out.memory = strcmp(m->name, "[stack]") ? FROZEN_ANON : FROZEN_STACK;
		out.off = 0;
	} else {
		out.memory = shared ? FROZEN_SHARED : FROZEN_PRIVATE;
		ret = shared && (out.prot & 2)
			      ? freeze_refuse("process %d shares memory that can be written",
					      w->pid)
			      : file_of(w, m, &out, &path);
	}
	if (ret == 0)
		ret = freeze_put(FROZEN_MAP, &out, sizeof(out), path, path ? strlen(path) + 1 : 0);
	if (ret == 0 && out.memory != FROZEN_HOST && out.memory != FROZEN_SHARED)
		ret = pages_put(w, m->start, m->end,
				out.memory == FROZEN_ANON || out.memory == FROZEN_STACK);
	return ret;
}

int freeze_memory(struct freezer *f, pid_t pid)
{
	struct walk w = { .f = f,
			  .pid = pid,
			  .pagemap = proc_open(pid, "pagemap"),
			  .mem = proc_open(pid, "mem"),
			  .buf = host_map_anon(NULL, CHUNK) };
	int ret = w.buf && w.pagemap >= 0 && w.mem >= 0
			  ? maps_each(pid, map_put, &w)
			  : freeze_refuse("memory of process %d cannot be looked at", pid);

	if (w.pagemap >= 0)
		host_close(w.pagemap);
	if (w.mem >= 0)
		host_close(w.mem);
	if (w.buf)
		host_unmap(w.buf, CHUNK);
	return ret;
}
