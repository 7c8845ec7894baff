/* Shared memory segments.
 *
 * The content is a file without a name on the cell's private tmpfs of the host, with one descriptor
 * for writing and one for reading, so that who may only read cannot map it for writing, whatever
 * code it runs. The runner maps it itself (stub); we only count. Attachments are copied by fork and
 * dropped by exec and exit. Left out: huge pages; SHM_LOCK only shows; an attachment that is
 * removed by munmap and not by shmdt counts until the process ends or executes another program. */
#include "kernel/ipc/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ipc.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/hostwork.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

struct shm_map {
	struct shm_map *next;
	struct shm *shm;
	uaddr_t addr; /* 0: being mapped by thread tid */
	pid_t tid;
};
OBJ_TYPE(shm_type, struct shm, SHM_MAX_SEGS);
OBJ_TYPE(shm_map_type, struct shm_map, 65536);

IPC_TABLE(shm_table, SHM_MAX_SEGS);
static uint64_t total_pages;

uint64_t shm_total_pages(void)
{
	return total_pages;
}

static void shm_free(struct shm *s)
{
	ipc_remove(&shm_table, &s->obj);
	total_pages -= s->pages;
	host_close(s->ro);
	if (s->pages * PAGE_SIZE >= FREE_LONG)
		hostwork_close(s->rw, false);
	else
		host_close(s->rw);
	obj_free(&shm_type, s);
}

/* The two descriptors of a fresh file. */
static int content_make(struct shm *s)
{
	static uint64_t serial;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "sysv-shm-%llu", (unsigned long long)++serial);
	s->rw = host_openat(cell.scratch_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (s->rw < 0)
		return s->rw == -EMFILE || s->rw == -ENFILE ? -ENFILE : -ENOMEM;
	s->ro = host_openat(cell.scratch_fd, name, O_RDONLY | O_NOFOLLOW, 0);
	host_unlinkat(cell.scratch_fd, name, 0);
	r = s->ro < 0 ? -ENFILE : host_ftruncate(s->rw, (int64_t)(s->pages * PAGE_SIZE));
	if (r < 0) {
		host_close(s->rw);
		if (s->ro >= 0)
			host_close(s->ro);
		return s->ro < 0 ? -ENFILE : -ENOMEM;
	}
	return 0;
}

int shm_new(struct task *t, int32_t key, uint64_t size, int flags, struct shm **ret_)
{
	uint64_t pages = (size + PAGE_SIZE - 1) / PAGE_SIZE;
	struct shm *s;
	int r;

	if (shm_table.used >= shm_table.max)
		return -ENOSPC;
	if (cell.spec.memory && (total_pages + pages) * PAGE_SIZE > cell.spec.memory)
		return -ENOMEM;
	s = obj_new(&shm_type);
	if (!s)
		return -ENOSPC;
	s->size = size;
	s->pages = pages;
	r = content_make(s);
	if (r == 0) {
		r = ipc_add(&shm_table, &s->obj, &t->cred, key, flags);
		if (r < 0) {
			host_close(s->rw);
			host_close(s->ro);
		}
	}
	if (r < 0) {
		obj_free(&shm_type, s);
		return r;
	}
	s->cpid = t->proc->pid;
	total_pages += pages;
	*ret_ = s;
	return 0;
}

void shm_destroy(struct shm *s)
{
	if (!s->nattch) {
		shm_free(s);
		return;
	}
	s->obj.mode |= SHM_MODE_DEST;
	s->obj.key = IPC_PRIVATE;
}

static void shm_unuse(struct shm *s, pid_t pid)
{
	s->nattch--;
	s->dtime = ipc_now();
	s->lpid = pid;
	if (!s->nattch && (s->obj.mode & SHM_MODE_DEST))
		shm_free(s);
}

static void map_free(struct shm_map *m, pid_t pid)
{
	shm_unuse(m->shm, pid);
	obj_free(&shm_map_type, m);
}

int shm_attach_begin(struct task *t, struct shm *s)
{
	struct shm_map *m;

	/* Counted before anything else: ending an attachment that was never finished may be the end
	 * of this very segment. */
	s->nattch++;
	shm_attach_end(t, 0);
	m = obj_new(&shm_map_type);
	if (!m) {
		shm_unuse(s, t->proc->pid);
		return -ENOMEM;
	}
	m->shm = s;
	m->tid = t->tid;
	m->next = t->proc->shm_maps;
	t->proc->shm_maps = m;
	return 0;
}

void shm_attach_end(struct task *t, uaddr_t addr)
{
	struct shm_map **at, *m, *mine = NULL;

	for (m = t->proc->shm_maps; m; m = m->next)
		if (!m->addr && m->tid == t->tid)
			mine = m;
	if (!mine)
		return;
	for (at = &t->proc->shm_maps; (m = *at);) {
		/* What it covers now (SHM_REMAP) is gone, and so is itself when nothing was
		 * mapped. */
		if (m == mine ? !addr : m->addr && addr && m->addr == addr) {
			*at = m->next;
			map_free(m, t->proc->pid);
			continue;
		}
		at = &m->next;
	}
	if (!addr)
		return;
	mine->addr = addr;
	mine->shm->atime = ipc_now();
	mine->shm->lpid = t->proc->pid;
}

int64_t shm_detach(struct task *t, uaddr_t addr)
{
	struct shm_map **at = &t->proc->shm_maps, *m;
	int64_t len;

	for (; (m = *at); at = &m->next) {
		if (!m->addr || m->addr != addr)
			continue;
		*at = m->next;
		len = (int64_t)(m->shm->pages * PAGE_SIZE);
		map_free(m, t->proc->pid);
		return len;
	}
	return -EINVAL;
}

void shm_maps_free(struct shm_map *m, pid_t pid)
{
	while (m) {
		struct shm_map *next = m->next;

		map_free(m, pid);
		m = next;
	}
}

void shm_detach_all(struct proc *p)
{
	struct shm_map *m = p->shm_maps;

	p->shm_maps = NULL;
	shm_maps_free(m, p->pid);
}

bool shm_maps_copy(struct proc *p, struct shm_map **ret_)
{
	struct shm_map *copy = NULL;

	for (struct shm_map *m = p->shm_maps; m; m = m->next) {
		struct shm_map *n;

		if (!m->addr)
			continue;
		n = obj_new(&shm_map_type);
		if (!n) {
			shm_maps_free(copy, p->pid);
			return false;
		}
		n->shm = m->shm;
		n->addr = m->addr;
		n->shm->nattch++;
		n->next = copy;
		copy = n;
	}
	*ret_ = copy;
	return true;
}
