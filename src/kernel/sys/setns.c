/* setns: enters a namespace that a file of /proc/PID/ns, or a pidfd, stands for.
 *
 * A cell has one namespace of each kind, so that entering does nothing but check, as Linux checks;
 * only trees of mounts are several (unshare -m), and entering one moves root and working directory
 * to its root. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>

#include "kernel/fs/pidfd/pidfd.h"
#include "kernel/fs/proc/ns.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/cred.h"
#include "kernel/task/pidref.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"

#define KINDS                                                                                      \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP | CLONE_NEWTIME)

static int64_t enter(struct task *t, uint32_t kinds, struct mntns *mnt)
{
	int ret = 0;

	if (kinds & CLONE_NEWUSER) /* nobody enters the one he is in */
		return -EINVAL;
	if (!cred_has_cap(&t->cred, CAP_SYS_ADMIN) ||
	    ((kinds & CLONE_NEWNS) && !cred_has_cap(&t->cred, CAP_SYS_CHROOT)))
		return -EPERM;
	if ((kinds & CLONE_NEWTIME) && t->proc->nthreads > 1)
		return -EUSERS;
	if (kinds & CLONE_NEWNS) {
		if (t->fs->refs > 1)
			return -EINVAL;
		ret = fsctx_enter_mounts(t->fs, mnt);
		fast_changed(t);
	}
	return ret;
}

/* All of the process at once. */
static int64_t enter_process(struct task *t, const struct pidref *r, uint32_t kinds)
{
	struct task *leader;

	if (!kinds || (kinds & ~(uint32_t)KINDS))
		return -EINVAL;
	leader = r->proc ? proc_leader(r->proc) : NULL;
	if (!leader || !leader->fs)
		return -ESRCH;
	if (!proc_may_look(t, r->proc))
		return -EPERM;
	return enter(t, kinds, leader->fs->ns);
}

int64_t sys_setns(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));
	uint32_t type = ARG_UINT(a, 1), kind;
	const struct pidref *r;
	struct mntns *mnt;

	if (!f)
		return -EBADF;
	r = pidfd_of(f);
	if (r)
		return enter_process(t, r, type);
	kind = nsfile_kind(f, &mnt);
	if (!kind || (type && type != kind))
		return -EINVAL;
	return enter(t, kind, mnt);
}
