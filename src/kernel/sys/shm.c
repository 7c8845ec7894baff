/* shmget and shmctl, and the stub's questions for shmat and shmdt: the mapping itself is made in
 * the runner.
 *
 *   HC_SHMAT(id, addr, flags, struct stub_shm *)   checks, counts an attachment and gives the
 *                                                  descriptor to map
 *   HC_SHMAT_DONE(addr)                            where it was mapped; 0: it was not
 *   HC_SHMDT(addr)                                 drops the attachment and says how much to
 *                                                  unmap */
#include <errno.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "host/notify.h"
#include "kernel/ipc/shm.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/handlers.h"
#include "stub/stub.h"
#include "kernel/task/task.h"

#define SHM_HUGETLB_ 04000
/* as /proc/sys/kernel/shmmax shows it; less is given */
#define SHM_SHOWN_MAX 18446744073692774399UL

static struct shm *shm_of(struct ipc_obj *o)
{
	return (struct shm *)o;
}

static bool shm_too_small(const struct ipc_obj *o, uint64_t size)
{
	return ((const struct shm *)o)->size < size;
}

int64_t sys_shmget(struct task *t, const struct sysargs *a)
{
	uint64_t size = a->a[1];
	int flags = (int)a->a[2];
	struct ipc_obj *o;
	struct shm *s;
	int r = ipc_get(&shm_table, &t->cred, (int32_t)a->a[0], flags, shm_too_small, size, &o);

	if (r == 0)
		return o->id;
	if (r < 0)
		return r;
	if (size < 1 || size > SHM_MAX_SIZE)
		return -EINVAL;
	if (flags & SHM_HUGETLB_)
		return -ENOMEM; /* as on a Linux that has no huge pages set aside */
	r = shm_new(t, (int32_t)a->a[0], size, flags, &s);
	return r < 0 ? r : s->obj.id;
}

static int64_t shm_put_stat(struct task *t, const struct shm *s, uaddr_t addr)
{
	struct linux_shmid_ds ds = {
		.segsz = s->size,
		.atime = s->atime,
		.dtime = s->dtime,
		.ctime = s->obj.ctime,
		.cpid = s->cpid,
		.lpid = s->lpid,
		.nattch = s->nattch,
	};

	ipc_perm_fill(&s->obj, &ds.perm);
	return guest_put(t->tid, addr, &ds);
}

static int64_t shm_info(struct task *t, int cmd, uaddr_t addr)
{
	int r;

	if (cmd == IPC_INFO) {
		const struct linux_shminfo info = {
			.shmmax = SHM_SHOWN_MAX,
			.shmmin = 1,
			.shmmni = SHM_MAX_SEGS,
			.shmseg = SHM_MAX_SEGS,
			.shmall = SHM_SHOWN_MAX,
		};

		r = guest_put(t->tid, addr, &info);
	} else {
		const struct linux_shm_info info = {
			.used_ids = (int32_t)shm_table.used,
			.shm_tot = shm_total_pages(),
		};

		r = guest_put(t->tid, addr, &info);
	}
	return r < 0 ? r : ipc_highest(&shm_table);
}

/* ds: of IPC_SET, else NULL. */
static int64_t shm_change(struct task *t, struct shm *s, int cmd, const struct linux_shmid_ds *ds)
{
	if (ipc_owner(&s->obj, &t->cred) < 0)
		return -EPERM;
	switch (cmd) {
	case IPC_SET:
		ipc_perm_set(&s->obj, &ds->perm);
		break;
	case IPC_RMID:
		shm_destroy(s);
		break;
	case SHM_LOCK:
		s->obj.mode |= SHM_MODE_LOCKED;
		break;
	default:
		s->obj.mode &= ~SHM_MODE_LOCKED;
	}
	return 0;
}

int64_t sys_shmctl(struct task *t, const struct sysargs *a)
{
	struct linux_shmid_ds ds;
	int id = (int)a->a[0], cmd = (int)a->a[1], r;
	bool by_place = cmd == LINUX_SHM_STAT || cmd == LINUX_SHM_STAT_ANY;
	struct ipc_obj *o;

	if (cmd < 0 || id < 0)
		return -EINVAL;
	if (cmd == IPC_INFO || cmd == LINUX_SHM_INFO)
		return shm_info(t, cmd, a->a[2]);
	o = by_place ? ipc_at(&shm_table, id) : ipc_find(&shm_table, id);
	switch (cmd) {
	case IPC_STAT:
	case LINUX_SHM_STAT:
	case LINUX_SHM_STAT_ANY:
		if (!o)
			return -EINVAL;
		r = cmd == LINUX_SHM_STAT_ANY ? 0 : ipc_permission(o, &t->cred, 0444);
		if (r == 0)
			r = (int)shm_put_stat(t, shm_of(o), a->a[2]);
		return r < 0 ? r : by_place ? o->id : 0;
	case IPC_SET:
		if (guest_get(t->tid, &ds, a->a[2]) < 0)
			return -EFAULT;
		return o ? shm_change(t, shm_of(o), cmd, &ds) : -EINVAL;
	case IPC_RMID:
	case SHM_LOCK:
	case SHM_UNLOCK:
		return o ? shm_change(t, shm_of(o), cmd, NULL) : -EINVAL;
	default:
		return -EINVAL;
	}
}

int64_t hc_shmat(struct task *t, const struct sysargs *a)
{
	int id = (int)a->a[0], flags = (int)a->a[2], fd, r;
	int mode = flags & SHM_RDONLY ? 0444 : 0666;
	struct stub_shm out = { .addr = a->a[1], .prot = PROT_READ, .flags = MAP_SHARED };
	struct ipc_obj *o;

	if (id < 0)
		return -EINVAL;
	if (out.addr) {
		if (out.addr & (PAGE_SIZE - 1)) {
			if (!(flags & SHM_RND))
				return -EINVAL;
			out.addr &= ~(PAGE_SIZE - 1);
			if (!out.addr && (flags & SHM_REMAP))
				return -EINVAL;
		}
		out.flags |= flags & SHM_REMAP ? MAP_FIXED : 0x100000 /* MAP_FIXED_NOREPLACE */;
	} else if (flags & SHM_REMAP) {
		return -EINVAL;
	}
	if (!(flags & SHM_RDONLY))
		out.prot |= PROT_WRITE;
	if (flags & SHM_EXEC) {
		out.prot |= PROT_EXEC;
		mode |= 0111;
	}
	o = ipc_find(&shm_table, id);
	if (!o)
		return -EINVAL;
	r = ipc_permission(o, &t->cred, mode);
	if (r < 0)
		return r;
	out.len = shm_of(o)->pages * PAGE_SIZE;
	if (guest_put(t->tid, a->a[3], &out) < 0)
		return -EFAULT;
	r = shm_attach_begin(t, shm_of(o));
	if (r < 0)
		return r;
	fd = notify_addfd(t->call.id, flags & SHM_RDONLY ? shm_of(o)->ro : shm_of(o)->rw, -1);
	if (fd < 0)
		shm_attach_end(t, 0);
	return fd < 0 ? -ENOMEM : fd;
}

int64_t hc_shmat_done(struct task *t, const struct sysargs *a)
{
	shm_attach_end(t, a->a[0]);
	return 0;
}

int64_t hc_shmdt(struct task *t, const struct sysargs *a)
{
	return a->a[0] & (PAGE_SIZE - 1) ? -EINVAL : shm_detach(t, a->a[0]);
}
