/* prctl: the options that programs use. Each checks its unused arguments as Linux does. Options
 * that belong to other architectures or to features a cell does not have give EINVAL, as on a Linux
 * without them. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/securebits.h>
#include <string.h>

#include "kernel/abi/signal.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

/* In newer headers only. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

static int64_t put_int(struct task *t, uaddr_t addr, int value)
{
	return guest_put(t->tid, addr, &value);
}

static int64_t set_name(struct task *t, uaddr_t addr)
{
	char name[sizeof(t->comm)] = { 0 };
	int len = guest_read_str(t->tid, name, addr, sizeof(name) - 1);

	if (len == -EFAULT)
		return len;
	/* Longer ones are cut. What was read behind the end is not part of it. */
	if (len >= 0)
		memset(name + len, 0, sizeof(name) - (size_t)len);
	memcpy(t->comm, name, sizeof(name));
	return 0;
}

static int64_t set_keepcaps(struct task *t, uint64_t on)
{
	if (on > 1)
		return -EINVAL;
	if (t->cred.securebits & SECBIT_KEEP_CAPS_LOCKED)
		return -EPERM;
	if (on)
		t->cred.securebits |= SECBIT_KEEP_CAPS;
	else
		t->cred.securebits &= ~(uint32_t)SECBIT_KEEP_CAPS;
	return 0;
}

static int64_t set_securebits(struct task *t, uint64_t bits)
{
	uint32_t old = t->cred.securebits;
	uint32_t known = SECURE_ALL_BITS | SECURE_ALL_LOCKS;

	/* A locked bit stays, a lock stays, unknown bits are refused, and it takes a capability. */
	if (((old & SECURE_ALL_LOCKS) >> 1 & (old ^ bits)) || (old & SECURE_ALL_LOCKS & ~bits) ||
	    (bits & ~(uint64_t)known) || !cred_has_cap(&t->cred, CAP_SETPCAP))
		return -EPERM;
	t->cred.securebits = (uint32_t)bits;
	return 0;
}

static int64_t drop_bounding(struct task *t, uint64_t cap)
{
	if (!cred_has_cap(&t->cred, CAP_SETPCAP))
		return -EPERM;
	if (cap > CAP_LAST)
		return -EINVAL;
	t->cred.cap_bounding &= ~CAP_MASK(cap);
	return 0;
}

static int64_t ambient(struct task *t, const struct sysargs *a)
{
	struct cred *c = &t->cred;
	uint64_t bit;

	if (a->a[1] == PR_CAP_AMBIENT_CLEAR_ALL) {
		if (a->a[2] | a->a[3] | a->a[4])
			return -EINVAL;
		c->cap_ambient = 0;
		return 0;
	}
	if (a->a[2] > CAP_LAST || (a->a[3] | a->a[4]))
		return -EINVAL;
	bit = CAP_MASK(a->a[2]);
	switch (a->a[1]) {
	case PR_CAP_AMBIENT_IS_SET:
		return (c->cap_ambient & bit) != 0;
	case PR_CAP_AMBIENT_RAISE:
		if (!(c->cap_permitted & c->cap_inheritable & bit) ||
		    (c->securebits & SECBIT_NO_CAP_AMBIENT_RAISE))
			return -EPERM;
		c->cap_ambient |= bit;
		return 0;
	case PR_CAP_AMBIENT_LOWER:
		c->cap_ambient &= ~bit;
		return 0;
	default:
		return -EINVAL;
	}
}

static int64_t mce_kill(const struct sysargs *a)
{
	if (a->a[3] | a->a[4])
		return -EINVAL;
	switch (a->a[1]) {
	case PR_MCE_KILL_CLEAR:
		return a->a[2] ? -EINVAL : 0;
	case PR_MCE_KILL_SET:
		return a->a[2] > PR_MCE_KILL_DEFAULT ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

/* Options about the thread itself and its process; -ENOSYS: none of them. */
static int64_t prctl_process(struct task *t, const struct sysargs *a)
{
	struct proc *p = t->proc;
	uint64_t arg = a->a[1], rest = a->a[2] | a->a[3] | a->a[4];

	switch ((int)a->a[0]) {
	case PR_SET_NAME:
		return set_name(t, arg);
	case PR_GET_NAME:
		return guest_write(t->tid, arg, t->comm, sizeof(t->comm));
	case PR_SET_PDEATHSIG:
		if (arg > LINUX_NSIG)
			return -EINVAL;
		t->pdeathsig = (int)arg;
		return 0;
	case PR_GET_PDEATHSIG:
		return put_int(t, arg, t->pdeathsig);
	case PR_SET_DUMPABLE:
		if (arg > 1)
			return -EINVAL;
		p->dumpable = (int)arg;
		return 0;
	case PR_GET_DUMPABLE:
		return p->dumpable;
	case PR_SET_CHILD_SUBREAPER:
		p->subreaper = arg != 0;
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return put_int(t, arg, p->subreaper);
	case PR_SET_NO_NEW_PRIVS:
		if (arg != 1 || rest)
			return -EINVAL;
		p->no_new_privs = true;
		return 0;
	case PR_GET_NO_NEW_PRIVS:
		return arg || rest ? -EINVAL : p->no_new_privs;
	case PR_SET_THP_DISABLE:
		if (rest)
			return -EINVAL;
		p->thp_disable = arg != 0;
		return 0;
	case PR_GET_THP_DISABLE:
		return arg || rest ? -EINVAL : p->thp_disable;
	case PR_SET_TIMERSLACK:
		t->timerslack_ns = (int64_t)arg <= 0 ? 0 : (uint32_t)MIN(arg, UINT32_MAX);
		return 0;
	case PR_GET_TIMERSLACK:
		return task_timerslack(t);
	default:
		return -ENOSYS;
	}
}

/* Options about credentials; -ENOSYS: none of them. */
static int64_t prctl_cred(struct task *t, const struct sysargs *a)
{
	uint64_t arg = a->a[1];

	switch ((int)a->a[0]) {
	case PR_GET_KEEPCAPS:
		return (t->cred.securebits & SECBIT_KEEP_CAPS) != 0;
	case PR_SET_KEEPCAPS:
		return set_keepcaps(t, arg);
	case PR_GET_SECUREBITS:
		return t->cred.securebits;
	case PR_SET_SECUREBITS:
		return set_securebits(t, arg);
	case PR_CAPBSET_READ:
		return arg > CAP_LAST ? -EINVAL : (t->cred.cap_bounding & CAP_MASK(arg)) != 0;
	case PR_CAPBSET_DROP:
		return drop_bounding(t, arg);
	case PR_CAP_AMBIENT:
		return ambient(t, a);
	default:
		return -ENOSYS;
	}
}

int64_t sys_prctl(struct task *t, const struct sysargs *a)
{
	uint64_t arg = a->a[1], rest = a->a[2] | a->a[3] | a->a[4];
	int64_t result = prctl_process(t, a);

	if (result == -ENOSYS)
		result = prctl_cred(t, a);
	if (result != -ENOSYS)
		return result;
	switch ((int)a->a[0]) {
	case PR_GET_SECCOMP:
		return t->seccomp_mode;
	case PR_GET_TIMING:
		return 0;
	case PR_SET_TIMING:
		return arg == PR_TIMING_STATISTICAL ? 0 : -EINVAL;
	case PR_GET_TSC:
		return put_int(t, arg, PR_TSC_ENABLE);
	case PR_SET_TSC: /* reading the clock cannot be taken away */
		return arg == PR_TSC_ENABLE ? 0 : -EINVAL;
	case PR_TASK_PERF_EVENTS_DISABLE:
	case PR_TASK_PERF_EVENTS_ENABLE:
		return 0; /* there are none */
	case PR_MCE_KILL:
		return mce_kill(a);
	case PR_MCE_KILL_GET:
		return arg || rest ? -EINVAL : PR_MCE_KILL_DEFAULT;
	case PR_SET_MM: /* the layout of the memory is known from the program's start */
		return a->a[4] || (a->a[3] && arg != PR_SET_MM_AUXV && arg != PR_SET_MM_MAP &&
				   arg != PR_SET_MM_MAP_SIZE)
			       ? -EINVAL
			       : -EPERM;
	case PR_GET_SPECULATION_CTRL:
		if (rest)
			return -EINVAL;
		return arg <= PR_SPEC_L1D_FLUSH ? PR_SPEC_NOT_AFFECTED : -ENODEV;
	case PR_SET_SPECULATION_CTRL:
		if (a->a[3] | a->a[4])
			return -EINVAL;
		return arg <= PR_SPEC_L1D_FLUSH ? -ENXIO : -ENODEV;
	case PR_GET_IO_FLUSHER:
	case PR_SET_IO_FLUSHER:
		return -EPERM;
	case PR_SET_PTRACER: /* nobody can trace here anyway */
	case PR_SET_VMA: /* names of anonymous memory are not kept */
		return 0;
	default:
		/* Among them: PR_SET_SECCOMP (the stub takes it), PR_GET_TID_ADDRESS,
		 * PR_SET_TAGGED_ADDR_CTRL, PR_MPX_*, PR_SVE_*, PR_PAC_*, PR_SET_FP_MODE,
		 * PR_SET_SYSCALL_USER_DISPATCH, PR_SCHED_CORE, PR_SET_MDWE. */
		return -EINVAL;
	}
}
