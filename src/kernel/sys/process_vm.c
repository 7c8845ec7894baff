/* Looking into other processes of the cell: process_vm_readv and process_vm_writev, kcmp,
 * pidfd_getfd.
 *
 * Who may is Linux's rule for debuggers (proc_may_look); the rights of memory are those of the
 * other process's pages, and the stub's range is not there. Memory is moved through a buffer of the
 * kernel, bounded for one call, as the kernel does nothing else meanwhile; a short count is a legal
 * answer. Left out: ptrace. */
#include <errno.h>
#include <linux/kcmp.h>

#include "kernel/fs/epoll/epoll.h"
#include "kernel/fs/pidfd/pidfd.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/target.h"
#include "stub/stub.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

/* ---- memory ---- */

#define COPY_MAX (16UL << 20)

static int64_t memory_owner(struct task *t, pid_t pid, struct task **ret_)
{
	int64_t err;

	if (pid <= 0)
		return -ESRCH;
	if (pid == INIT_PID)
		return -EPERM;
	err = target_task(t, pid, ret_);
	if (err)
		return err;
	return proc_may_look(t, (*ret_)->proc) ? 0 : -EPERM;
}

/* Is any part of the other side the stub's? Then none of it is moved: nobody has business there. */
static bool touches_stub(const struct uio *u)
{
	for (uint32_t i = 0; i < u->nvec; i++)
		if (u->vec[i].len && u->vec[i].base < STUB_BASE + STUB_SPAN &&
		    u->vec[i].base + u->vec[i].len > STUB_BASE)
			return true;
	return false;
}

/* Neither side is empty. */
static int64_t memory_move(struct task *t, struct uio *from, struct uio *to)
{
	static char buf[65536];
	uint64_t done = (uint64_t)t->call.done;
	int64_t got, put;

	uio_skip(from, done);
	uio_skip(to, done);

	while (done < COPY_MAX && from->left && to->left) {
		got = uio_take(from, buf, MIN(sizeof(buf), to->left));
		if (got <= 0)
			break;
		put = uio_put(to, buf, (size_t)got);
		if (put > 0)
			done += (uint64_t)put;
		if (put < got)
			break;
		if (turn_is_long() && from->left && to->left && done < COPY_MAX) {
			t->call.done = (int64_t)done;
			return call_wait_turn(t);
		}
	}
	return done ? (int64_t)done : -EFAULT;
}

static int64_t memory_copy(struct task *t, const struct sysargs *a, bool write)
{
	struct uio local, remote;
	struct task *other = NULL;
	int64_t ret;

	if (a->a[5] != 0)
		return -EINVAL;
	ret = uio_init_iov(&local, t->tid, a->a[1], a->a[2]);
	if (ret < 0)
		return ret;
	if (!local.left)
		goto out_local;
	ret = uio_init_iov(&remote, t->tid, a->a[3], a->a[4]);
	if (ret < 0)
		goto out_local;
	if (!remote.left)
		goto out;
	ret = memory_owner(t, (pid_t)a->a[0], &other);
	if (ret)
		goto out;
	remote.tid = other->tid;
	if (touches_stub(&remote))
		ret = -EFAULT;
	else
		ret = write ? memory_move(t, &local, &remote) : memory_move(t, &remote, &local);
out:
	uio_fini(&remote);
out_local:
	uio_fini(&local);
	return ret;
}

int64_t sys_process_vm_readv(struct task *t, const struct sysargs *a)
{
	return memory_copy(t, a, false);
}

int64_t sys_process_vm_writev(struct task *t, const struct sysargs *a)
{
	return memory_copy(t, a, true);
}

/* ---- kcmp ---- */

/* 0: the same; 1 and 2: an order that means nothing but is stable. */
static int64_t order(const void *x, const void *y)
{
	return x == y ? 0 : (uintptr_t)x < (uintptr_t)y ? 1 : 2;
}

/* A file of the first, and what an epoll set of the second watches under a number. */
static int64_t order_epoll(struct task *t, struct task *who[2], const struct sysargs *a)
{
	struct kcmp_epoll_slot slot;
	struct file *f = fd_file_or_path(who[0], (int)a->a[3]), *set, *watched;

	if (guest_get(t->tid, &slot, a->a[4]) < 0)
		return -EFAULT;
	set = fd_file(who[1], (int)slot.efd);
	if (!f || !set)
		return -EBADF;
	if (!epoll_of(set))
		return -EINVAL;
	watched = epoll_watched(epoll_of(set), (int)slot.tfd, slot.toff);
	return watched ? order(f, watched) : -ENOENT;
}

int64_t sys_kcmp(struct task *t, const struct sysargs *a)
{
	pid_t pid[2] = { (pid_t)a->a[0], (pid_t)a->a[1] };
	struct task *who[2] = { NULL, NULL };
	struct file *f1, *f2;
	int64_t err;

	for (int i = 0; i < 2; i++) {
		if (pid[i] <= 0)
			return -ESRCH;
		if (pid[i] == INIT_PID)
			return -EPERM;
		err = target_task(t, pid[i], &who[i]);
		if (err)
			return err;
	}
	if (!proc_may_look(t, who[0]->proc) || !proc_may_look(t, who[1]->proc))
		return -EPERM;
	switch ((int)a->a[2]) {
	case KCMP_FILE:
		f1 = fd_file_or_path(who[0], (int)a->a[3]);
		f2 = fd_file_or_path(who[1], (int)a->a[4]);
		return f1 && f2 ? order(f1, f2) : -EBADF;
	case KCMP_FILES:
		return order(who[0]->files, who[1]->files);
	case KCMP_FS:
		return order(who[0]->fs, who[1]->fs);
	case KCMP_EPOLL_TFD:
		return order_epoll(t, who, a);
	case KCMP_VM: /* vfork and CLONE_VM share one between processes */
		if (who[0]->mm && who[1]->mm)
			return order(who[0]->mm, who[1]->mm);
		return order(who[0]->proc, who[1]->proc);
	case KCMP_SIGHAND:
		return order(who[0]->proc, who[1]->proc);
	case KCMP_SYSVSEM: /* nothing to undo is the same as nothing to undo */
		return order(who[0]->proc->sem_undo, who[1]->proc->sem_undo);
	case KCMP_IO:
		return order(who[0], who[1]);
	default:
		return -EINVAL;
	}
}

/* ---- pidfd_getfd ---- */

int64_t sys_pidfd_getfd(struct task *t, const struct sysargs *a)
{
	const struct pidref *r;
	struct task *other;
	struct file *f;

	if (ARG_UINT(a, 2))
		return -EINVAL;
	f = fd_file(t, ARG_INT(a, 0));
	r = f ? pidfd_of(f) : NULL;
	if (!r)
		return -EBADF;
	if (r->unborn)
		return births_wait(t);
	if (pidref_is_gone(r))
		return -ESRCH;
	if (!r->proc) /* the cell's init */
		return -EPERM;
	other = proc_leader(r->proc);
	if (!other)
		return -ESRCH;
	if (!proc_may_look(t, r->proc))
		return -EPERM;
	f = fd_file_or_path(other, ARG_INT(a, 1));
	return f ? fd_give(t, file_get(f), true) : -EBADF;
}
