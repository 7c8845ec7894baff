/* What programs ask about their machine and themselves: uname, sysinfo, getrusage, personality.
 * Figures of memory and CPU time come from the host's view of the cell's processes, cut to what the
 * cell may see. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include "host/host.h"
#include "host/procmem.h"
#include "kernel/abi/resource.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/version.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/target.h"
#include "kernel/sys/uts.h"
#include "kernel/task/cputime.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

_Static_assert(sizeof(struct utsname) == 6 * 65, "new_utsname");
_Static_assert(offsetof(struct sysinfo, mem_unit) == LINUX_SYSINFO_SIZE - 8, "sysinfo");
_Static_assert(offsetof(struct rusage, ru_nivcsw) == LINUX_RUSAGE_SIZE - 8, "rusage");

static char hostname[UTS_LEN + 1], domainname[UTS_LEN + 1] = UTS_DOMAIN;

int64_t uts_set(struct task *t, const struct sysargs *a, bool domain)
{
	int len = (int)a->a[1];
	char name[UTS_LEN + 1] = { 0 };

	if (!cred_has_cap(&t->cred, CAP_SYS_ADMIN))
		return -EPERM;
	if (len < 0 || len > UTS_LEN)
		return -EINVAL;
	if (guest_read(t->tid, name, a->a[0], (size_t)len) < 0)
		return -EFAULT;
	memcpy(domain ? domainname : hostname, name, sizeof(name));
	if (!domain)
		cell.spec.hostname = hostname;
	return 0;
}

static void uts_copy(char *dst, const char *src)
{
	memcpy(dst, src, MIN(strlen(src), (size_t)UTS_LEN)); /* the rest is zero already */
}

int64_t sys_uname(struct task *t, const struct sysargs *a)
{
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uts_copy(u.sysname, UTS_SYSNAME);
	uts_copy(u.nodename, cell.spec.hostname ? cell.spec.hostname : "cell");
	uts_copy(u.release, UTS_RELEASE);
	uts_copy(u.version, UTS_VERSION);
	uts_copy(u.machine,
		 (t->proc->personality & PER_MASK) == PER_LINUX32 ? "i686" : UTS_MACHINE);
	uts_copy(u.domainname, domainname);
	return guest_put(t->tid, a->a[0], &u);
}

int64_t sys_sysinfo(struct task *t, const struct sysargs *a)
{
	struct sysinfo si;
	struct mem_figures mem;

	memset(&si, 0, sizeof(si));
	mem_figures_get(&mem);
	si.uptime =
		host_clock(CLOCK_BOOTTIME) / NSEC_PER_SEC; /* the host's, as CLOCK_BOOTTIME is */
	si.totalram = mem.total;
	si.freeram = mem.available;
	si.procs = (unsigned short)MIN(task_count() + 1, 65535u); /* and the cell's init */
	si.mem_unit = 1;
	return guest_write(t->tid, a->a[0], &si, LINUX_SYSINFO_SIZE);
}

/* The caller's own is native; this is for other threads by number. */
int64_t sys_get_robust_list(struct task *t, const struct sysargs *a)
{
	uint64_t head = 0, len = 24; /* sizeof(struct robust_list_head) */
	struct task *target;
	int64_t err = target_task(t, (pid_t)a->a[0], &target);

	if (err)
		return err;
	if (target->proc != t->proc && !cred_has_cap(&t->cred, CAP_SYS_PTRACE) &&
	    (!cred_is_same_user(&t->cred, &target->cred) || target->proc->dumpable != 1))
		return -EPERM;
	err = host_robust_list(target->tid, &head);
	if (err < 0)
		return err;
	if (guest_put(t->tid, a->a[2], &len) < 0 || guest_put(t->tid, a->a[1], &head) < 0)
		return -EFAULT;
	return 0;
}

int64_t sys_getrusage(struct task *t, const struct sysargs *a)
{
	struct rusage ru;

	switch ((int)a->a[0]) {
	case RUSAGE_SELF:
		proc_rusage(t->proc, &ru);
		break;
	case RUSAGE_THREAD:
		task_rusage(t, &ru);
		break;
	case RUSAGE_CHILDREN:
		ru = t->proc->child_usage;
		break;
	default:
		return -EINVAL;
	}
	return guest_write(t->tid, a->a[1], &ru, LINUX_RUSAGE_SIZE);
}

/* Stored and shown; of its flags only PER_LINUX32 means something here (the machine's name). */
int64_t sys_personality(struct task *t, const struct sysargs *a)
{
	uint32_t old = (uint32_t)t->proc->personality, set = (uint32_t)a->a[0];

	if (set != 0xffffffffu)
		t->proc->personality = set;
	return old;
}
