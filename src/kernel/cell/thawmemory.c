/* The memory of a process that is being thawed: by calls that it makes itself.
 *
 * What the fork of the seed has is unmapped, but for the stub; the host's own pages (vDSO) move to
 * where they were; mappings are made anew. Those that get contents can be written until they have
 * them. */
#include "kernel/cell/thaw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kernel/cell/boot.h"
#include "kernel/cell/freezememory.h"
#include "kernel/cell/policy.h"
#include "kernel/sys/mem.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define MAP_FIXED_NOREPLACE_ 0x100000
#define HOST_MAPS 8

struct host_map {
	uint64_t start, end;
	uint8_t hash[SHA256_SIZE];
};

/* What a fork of the seed has. */
struct present {
	struct thaw_work *w;
	struct host_map host[HOST_MAPS];
	unsigned nhost;
};

static int present_add(const struct maps_line *m, void *arg)
{
	struct present *p = arg;

	if (!strcmp(m->name, "[vsyscall]") ||
	    (m->start < STUB_BASE + STUB_SPAN && m->end > STUB_BASE))
		return 0;
	if (!maps_is_host(m)) {
		thaw_call(p->w, SYS_munmap, m->start, m->end - m->start, 0, 0, 0, 0);
		return 0;
	}
	if (p->nhost == HOST_MAPS)
		return -E2BIG;
	p->host[p->nhost] = (struct host_map){ m->start, m->end, { 0 } };
	return maps_hash(p->w->leader->tid, m, p->host[p->nhost++].hash);
}

/* Walks the mappings of one process, with what follows each. */
struct maps_walk {
	const uint8_t *records;
	size_t size, at;
	struct frozen_map m;
	const char *path;
	size_t pages_at; /* where the records of its pages begin */
	bool has_pages;
};

static bool map_next(struct maps_walk *w)
{
	const uint8_t *data;
	struct frozen_rec r;

	while (frozen_next(w->records, w->size, &w->at, &r, &data) == 1 && r.type != FROZEN_PROC &&
	       r.type != FROZEN_ZOMBIE) {
		if (r.type != FROZEN_MAP)
			continue;
		size_t at = w->at;

		memcpy(&w->m, data, sizeof(w->m));
		w->path = (const char *)data + sizeof(w->m);
		w->pages_at = at;
		w->has_pages = frozen_next(w->records, w->size, &at, &r, &data) == 1 &&
			       r.type == FROZEN_PAGES;
		return true;
	}
	return false;
}

static struct maps_walk walk_of(const uint8_t *records, size_t size, size_t at)
{
	return (struct maps_walk){ .records = records, .size = size, .at = at };
}

/* The host's own: as many, as large and with the same code as when it was frozen, or it is another
 * kernel of the host. */
static int host_move(struct thaw_work *w, struct maps_walk walk, const struct present *p)
{
	unsigned n = 0;

	while (map_next(&walk)) {
		const struct host_map *h = &p->host[n];
		const struct frozen_map *m = &walk.m;

		if (m->memory != FROZEN_HOST)
			continue;
		if (n++ == p->nhost || h->end - h->start != m->end - m->start ||
		    memcmp(h->hash, m->hash, sizeof(h->hash)))
			return thaw_refuse("the host's kernel is another one");
		if (h->start == m->start)
			continue;
		for (unsigned i = 0; i < p->nhost; i++)
			if (m->start < p->host[i].end && m->end > p->host[i].start)
				return thaw_refuse("two mappings are in each other's way; try "
						   "again");
		thaw_call(w, SYS_mremap, h->start, h->end - h->start, m->end - m->start,
			  MREMAP_MAYMOVE | MREMAP_FIXED, m->start, 0);
	}
	return n == p->nhost ? 0 : thaw_refuse("the host's kernel is another one");
}

static int file_map(struct thaw_work *w, const struct maps_walk *walk, uint32_t prot)
{
	const struct frozen_map *m = &walk->m;
	const struct mapping_req req = { .prot = (int)prot,
					 .flags = m->memory == FROZEN_SHARED ? MAP_SHARED
									     : MAP_PRIVATE,
					 .off = m->off,
					 .len = m->end - m->start };
	struct task *t = boot_walker();
	bool keep = false;
	struct path at;
	struct file *f;
	int ret = path_lookup(t, AT_FDCWD, walk->path, 0, &at), fd;

	if (ret < 0)
		return thaw_refuse("%.128s: %s", walk->path, strerror(-ret));
	/* One on the cell's own disk learns its size when it is asked for. */
	if (at.name->inode)
		ret = vfs_getattr(&at);
	if (ret < 0)
		ret = thaw_refuse("%.128s: %s", walk->path, strerror(-ret));
	else if (!policy_allows_again(&at, O_RDONLY, true))
		ret = thaw_refuse("%.128s: %s", walk->path, strerror(EACCES));
	else if (!at.name->inode || at.name->inode->ino != m->ino ||
		 at.name->inode->size != m->size || at.name->inode->mtime.tv_sec != m->mtime ||
		 at.name->inode->mtime.tv_nsec != m->mtime_ns)
		ret = thaw_refuse("%.128s has changed", walk->path);
	if (ret == 0)
		ret = file_open(t, &at, O_RDONLY, &f);
	path_put(&at);
	if (ret < 0)
		return ret;
	fd = mem_give(w->t, f, &req, &keep);
	file_put(f);
	if (fd < 0)
		return thaw_refuse("%.128s cannot be mapped: %s", walk->path, strerror(-fd));
	thaw_call(w, SYS_mmap, m->start, req.len, prot, (uint64_t)req.flags | MAP_FIXED_NOREPLACE_,
		  (uint64_t)STUB_MAP_FD(fd), m->off);
	/* At once: there are few numbers for those that do not stay. */
	if (!keep)
		thaw_call(w, SYS_close, (uint64_t)fd, 0, 0, 0, 0, STUB_MAGIC);
	return keep ? w->err : thaw_flush(w);
}

static int map_make(struct thaw_work *w, const struct maps_walk *walk)
{
	const struct frozen_map *m = &walk->m;
	uint32_t prot = walk->has_pages ? PROT_READ | PROT_WRITE : m->prot;
	uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE_;

	if (m->memory == FROZEN_HOST || m->memory == FROZEN_STUB)
		return 0;
	if (m->memory == FROZEN_PRIVATE || m->memory == FROZEN_SHARED)
		return file_map(w, walk, prot);
	if (m->memory == FROZEN_STACK)
		flags |= MAP_GROWSDOWN;
	else if (prot & PROT_WRITE)
		flags &= ~(uint64_t)MAP_NORESERVE;
	thaw_call(w, SYS_mmap, m->start, m->end - m->start, prot, flags,
		  (uint64_t)STUB_MAP_FD(0xffffffffU), 0);
	return w->err;
}

static int pages_fill(pid_t pid, const struct maps_walk *walk)
{
	const uint8_t *data;
	struct frozen_rec r;
	size_t at = walk->pages_at;
	int ret = 0;

	while (ret == 0 && frozen_next(walk->records, walk->size, &at, &r, &data) == 1 &&
	       r.type == FROZEN_PAGES) {
		struct frozen_pages p;

		memcpy(&p, data, sizeof(p));
		ret = thaw_copy(pid, &p);
	}
	return ret;
}

/* What the host shows of it, and where its heap ends. */
static void mm_describe(struct thaw_work *w, const struct frozen_proc *p)
{
	const struct prctl_mm_map m = {
		.start_code = p->n.start_code,
		.end_code = p->n.end_code,
		.start_data = p->n.end_code,
		.end_data = p->n.end_code,
		.start_brk = p->n.start_brk,
		.brk = MAX(p->brk, p->n.start_brk),
		.start_stack = p->n.start_stack,
		.arg_start = p->n.arg_start,
		.arg_end = p->n.arg_end,
		.env_start = p->n.env_start,
		.env_end = p->n.env_end,
		.auxv = (void *)p->n.auxv_addr,
		.auxv_size = p->n.auxv_size,
		.exe_fd = ~0u,
	};

	_Static_assert(sizeof(m) <= sizeof(w->work.data), "fits");
	memcpy(w->work.data, &m, sizeof(m));
	thaw_call(w, SYS_prctl, PR_SET_MM, PR_SET_MM_MAP,
		  w->leader->work + offsetof(struct stub_work, data), sizeof(m), 0, STUB_MAGIC);
}

static void name_set(struct thaw_work *w)
{
	memcpy(w->work.data, w->t->comm, sizeof(w->t->comm));
	thaw_call(w, SYS_prctl, PR_SET_NAME, w->leader->work + offsetof(struct stub_work, data), 0,
		  0, 0, STUB_MAGIC);
}

int thaw_memory(struct thaw_work *w, const struct frozen_proc *p, const uint8_t *records,
		size_t size, size_t at)
{
	struct present present = { .w = w };
	struct maps_walk walk;
	pid_t pid = w->leader->tid;
	int ret = maps_each(pid, present_add, &present);

	if (ret == 0)
		ret = host_move(w, walk_of(records, size, at), &present);
	for (walk = walk_of(records, size, at); ret == 0 && map_next(&walk);)
		ret = map_make(w, &walk);
	if (ret == 0)
		ret = thaw_flush(w);
	for (walk = walk_of(records, size, at); ret == 0 && map_next(&walk);) {
		if (!walk.has_pages || walk.m.memory == FROZEN_STUB)
			continue;
		ret = pages_fill(pid, &walk);
		if (walk.m.prot != (PROT_READ | PROT_WRITE))
			thaw_call(w, SYS_mprotect, walk.m.start, walk.m.end - walk.m.start,
				  walk.m.prot, 0, 0, 0);
		if (ret == 0)
			ret = w->err;
	}
	if (ret == 0)
		ret = thaw_flush(w);
	if (ret == 0) {
		mm_describe(w, p);
		ret = thaw_flush(w);
	}
	if (ret == 0) {
		name_set(w);
		ret = thaw_flush(w);
	}
	return ret;
}

int thaw_stub(pid_t pid, const uint8_t *records, size_t size, size_t at)
{
	struct maps_walk walk = walk_of(records, size, at);
	int ret = 0;

	while (ret == 0 && map_next(&walk))
		if (walk.m.memory == FROZEN_STUB)
			ret = pages_fill(pid, &walk);
	return ret;
}
