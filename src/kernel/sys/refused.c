/* Calls that a cell refuses, each with what Linux answers a caller without the right, and why.
 *
 * A few of them have a form that is harmless and that programs use: it works (reading the clock's
 * discipline, leaving a shared descriptor table, a single memory node, naming the cell). */
#include <errno.h>
#include <linux/capability.h>
#include <linux/reboot.h>
#include <sched.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "kernel/abi/time.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/nr.h"
#include "kernel/sys/refused.h"
#include "kernel/sys/uts.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"

static const struct refused {
	uint16_t nr;
	uint16_t err;
	const char *why;
} refused[] = {
	{ NR_ptrace, EPERM, "the stub in each runner relies on not being traced" },
	{ NR_syslog, EPERM, "the host's messages are not the cell's" },
	{ NR_vhangup, EPERM, "hanging up needs a privilege" },
	{ NR_modify_ldt, ENOSYS, "64-bit code only" },
	{ NR_adjtimex, EPERM, "the clock is the host's; reading works" },
	{ NR_acct, EPERM, "accounting is the operator's" },
	{ NR_settimeofday, EPERM, "the clock is the host's" },
	{ NR_swapon, EPERM, "memory is the host's" },
	{ NR_swapoff, EPERM, "memory is the host's" },
	{ NR_reboot, EPERM, "a cell ends with its first process" },
	{ NR_sethostname, EPERM, "works for root of the cell" },
	{ NR_setdomainname, EPERM, "works for root of the cell" },
	{ NR_iopl, EPERM, "no hardware" },
	{ NR_ioperm, EPERM, "no hardware" },
	{ NR_init_module, EPERM, "no modules" },
	{ NR_delete_module, EPERM, "no modules" },
	{ NR_quotactl, EPERM, "quotas are the operator's" },
	{ NR_nfsservctl, ENOSYS, "gone from Linux" },
	{ NR_lookup_dcookie, ENOSYS, "gone from Linux" },
	{ NR_clock_settime, EPERM, "the clock is the host's" },
	{ NR_mbind, EPERM, "one memory node; harmless forms work" },
	{ NR_set_mempolicy, EPERM, "one memory node; harmless forms work" },
	{ NR_get_mempolicy, EPERM, "one memory node; works" },
	{ NR_kexec_load, EPERM, "the host's kernel is not the cell's" },
	{ NR_add_key, ENOSYS, "no key rings" },
	{ NR_request_key, ENOSYS, "no key rings" },
	{ NR_keyctl, ENOSYS, "no key rings" },
	{ NR_migrate_pages, EPERM, "one memory node; the own pages stay where they are" },
	{ NR_unshare, EPERM, "no namespaces but of mounts; leaving shared tables works" },
	{ NR_move_pages, EPERM, "one memory node; the own pages stay where they are" },
	{ NR_perf_event_open, EACCES, "counters would see the host" },
	{ NR_fanotify_init, EPERM, "no watching of whole mounts" },
	{ NR_fanotify_mark, EPERM, "no watching of whole mounts" },
	{ NR_name_to_handle_at, EOPNOTSUPP, "file systems without handles" },
	{ NR_open_by_handle_at, EPERM, "would walk round permissions" },
	{ NR_clock_adjtime, EPERM, "the clock is the host's; reading works" },
	{ NR_finit_module, EPERM, "no modules" },
	{ NR_kexec_file_load, EPERM, "the host's kernel is not the cell's" },
	{ NR_bpf, EPERM, "no programs in the host's kernel" },
	{ NR_userfaultfd, EPERM, "would stop the kernel in the middle of a copy" },
	{ NR_io_uring_setup, ENOSYS, "a second way into the host's kernel" },
	{ NR_io_uring_enter, ENOSYS, "a second way into the host's kernel" },
	{ NR_io_uring_register, ENOSYS, "a second way into the host's kernel" },
	{ NR_open_tree, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_move_mount, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_fsopen, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_fsconfig, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_fsmount, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_fspick, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_process_madvise, EPERM, "no advice about other processes" },
	{ NR_mount_setattr, ENOSYS, "as a Linux without it, so that programs use mount(2)" },
	{ NR_quotactl_fd, EPERM, "quotas are the operator's" },
	{ NR_landlock_create_ruleset, ENOSYS, "as a Linux without it" },
	{ NR_landlock_add_rule, ENOSYS, "as a Linux without it" },
	{ NR_landlock_restrict_self, ENOSYS, "as a Linux without it" },
	{ NR_memfd_secret, ENOSYS, "memory that the kernel could not read" },
	{ NR_process_mrelease, EPERM, "no taking of others' memory" },
	{ NR_set_mempolicy_home_node, EPERM, "one memory node; harmless forms work" },
	{ NR_map_shadow_stack, EOPNOTSUPP, "as on a processor without it" },
};

static const struct refused *refused_find(int nr)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (refused[i].nr == nr)
			return &refused[i];
	return NULL;
}

const char *refused_reason(int nr)
{
	const struct refused *r = refused_find(nr);

	return r ? r->why : NULL;
}

/* adjtimex without a change: a clock that nobody disciplines. */
static int64_t clock_discipline(struct task *t, uaddr_t addr)
{
	struct timex tx;

	if (guest_get(t->tid, &tx, addr) < 0)
		return -EFAULT;
	if (tx.modes != 0 && tx.modes != ADJ_OFFSET_SS_READ)
		return -EPERM;
	memset(&tx, 0, sizeof(tx));
	tx.maxerror = tx.esterror = 16000000;
	tx.status = STA_UNSYNC;
	tx.constant = 2;
	tx.precision = 1;
	tx.tolerance = 32768000;
	tx.tick = 10000;
	tx.time.tv_sec = now_real() / NSEC_PER_SEC;
	tx.time.tv_usec = now_real() % NSEC_PER_SEC / 1000;
	return guest_put(t->tid, addr, &tx) < 0 ? -EFAULT : TIME_ERROR;
}

/* Linux looks at the arguments before it asks who may. */
static int64_t clock_set(struct task *t, const struct sysargs *a)
{
	int clock = (int)a->a[0];
	struct linux_timespec ts;

	if (clock > 0) /* only the wall clock can be set; negative ones are CPU clocks */
		return -EINVAL;
	if (guest_get(t->tid, &ts, a->a[1]) < 0)
		return -EFAULT;
	if (clock == CLOCK_REALTIME && (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= NSEC_PER_SEC))
		return -EINVAL;
	return -EPERM;
}

static int64_t time_of_day_set(struct task *t, const struct sysargs *a)
{
	struct linux_timeval tv;
	int32_t zone[2];

	if (a->a[0] && guest_get(t->tid, &tv, a->a[0]) < 0)
		return -EFAULT;
	if (a->a[0] && (tv.usec < 0 || tv.usec > 1000000))
		return -EINVAL;
	if (a->a[1] && guest_get(t->tid, &zone, a->a[1]) < 0)
		return -EFAULT;
	if (a->a[0] && (tv.sec < 0 || tv.usec == 1000000))
		return -EINVAL;
	return -EPERM;
}

static bool reboot_magic_is_right(uint32_t magic, uint32_t again)
{
	return magic == LINUX_REBOOT_MAGIC1 &&
	       (again == LINUX_REBOOT_MAGIC2 || again == LINUX_REBOOT_MAGIC2A ||
		again == LINUX_REBOOT_MAGIC2B || again == LINUX_REBOOT_MAGIC2C);
}

/* Who has the right hears first what is wrong with the question. */
static int64_t reboot_refuse(struct task *t, const struct sysargs *a)
{
	if (cred_has_cap(&t->cred, CAP_SYS_BOOT) &&
	    !reboot_magic_is_right((uint32_t)a->a[0], (uint32_t)a->a[1]))
		return -EINVAL;
	return -EPERM;
}

#define UNSHARE_OWN (CLONE_FS | CLONE_FILES | CLONE_SYSVSEM)
#define UNSHARE_PROCESS (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)
#define UNSHARE_SPACES                                                                             \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP | CLONE_NEWTIME)

static int64_t unshare_tables(struct task *t, uint64_t flags)
{
	struct fdtable *files = NULL;
	struct fsctx *fs = NULL;

	if (flags & ~(uint64_t)(UNSHARE_OWN | UNSHARE_PROCESS | UNSHARE_SPACES))
		return -EINVAL;
	/* A tree of mounts of its own is all that there is. */
	if ((flags & UNSHARE_SPACES & ~(uint64_t)CLONE_NEWNS) ||
	    ((flags & CLONE_NEWNS) && !cred_has_cap(&t->cred, CAP_SYS_ADMIN)))
		return -EPERM;
	/* These are shared by all threads: nothing to do when there is only one. */
	if ((flags & UNSHARE_PROCESS) && t->proc->nthreads > 1)
		return -EINVAL;
	if ((flags & CLONE_FILES) && t->files->refs > 1) {
		files = fdtable_copy(t->files);
		if (!files)
			return -ENOMEM;
	}
	if ((flags & CLONE_NEWNS) || ((flags & CLONE_FS) && t->fs->refs > 1)) {
		fs = fsctx_copy(t->fs);
		if (fs && (flags & CLONE_NEWNS) && fsctx_unshare_mounts(fs) < 0) {
			fsctx_put(fs);
			if (files)
				fdtable_put(files, t);
			return -ENOSPC;
		}
		if (!fs) {
			if (files)
				fdtable_put(files, t);
			return -ENOMEM;
		}
	}
	if (files) {
		struct fdtable *old = t->files;

		t->files = files;
		fdtable_put(old, t);
	}
	if (fs) {
		fsctx_put(t->fs);
		t->fs = fs;
	}
	fast_changed(t);
	return 0;
}

int64_t refused_call(struct task *t, int nr, const struct sysargs *a)
{
	const struct refused *r;

	switch (nr) {
	case NR_sethostname:
	case NR_setdomainname:
		return uts_set(t, a, nr == NR_setdomainname);
	case NR_clock_settime:
		return clock_set(t, a);
	case NR_settimeofday:
		return time_of_day_set(t, a);
	case NR_adjtimex:
		return clock_discipline(t, a->a[0]);
	case NR_clock_adjtime:
		if ((int)a->a[0] != CLOCK_REALTIME)
			return (int)a->a[0] > CLOCK_TAI ? -EINVAL : -EOPNOTSUPP;
		return clock_discipline(t, a->a[1]);
	case NR_reboot:
		return reboot_refuse(t, a);
	case NR_unshare:
		return unshare_tables(t, a->a[0]);
	case NR_get_mempolicy:
	case NR_set_mempolicy:
	case NR_mbind:
	case NR_set_mempolicy_home_node:
	case NR_move_pages:
	case NR_migrate_pages:
		return numa_call(t, nr, a);
	case NR_iopl:
		if ((uint32_t)a->a[0] > 3)
			return -EINVAL;
		return (uint32_t)a->a[0] ? -EPERM : 0;
	default:
		r = refused_find(nr);
		return r ? -(int64_t)r->err : -ENOSYS;
	}
}
