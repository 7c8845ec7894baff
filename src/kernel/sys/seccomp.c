/* seccomp(2) and prctl(PR_SET_SECCOMP): filters of a guest's own.
 *
 * The stub traps the call and asks HC_SECCOMP. The program is copied, checked and kept with the
 * thread (with all threads for TSYNC), and its wrapped form is put into a slot of the memory that
 * runners can only read (stub/fast.h), from where the stub has the host take it: by a call that is
 * notified, and that the host carries out for the address of that very slot only. No process can
 * have anything else there, as the stub has sealed those addresses. HC_SECCOMP_DONE says whether
 * the host took it, and takes it back if not. The copy comes first, so that no call is judged by
 * the host and unknown here. HC_SECCOMP_ASK judges a call that the host made a trap. See
 * task/seccomp.c and docs/decisions/0015-guest-seccomp.md.
 *
 * Not there: SECCOMP_RET_USER_NOTIF with a listener (the host has room for one listener in a chain
 * of filters, and it is ours). Such a filter gets EINVAL; the action without a listener gives
 * ENOSYS, as on Linux. */
#include "kernel/task/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/strays.h"
#include "stub/fast.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define FLAGS_KNOWN                                                                             \
	(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW | \
	 SECCOMP_FILTER_FLAG_TSYNC_ESRCH)

struct guest_fprog {
	uint16_t len;
	uint64_t filter;
};

/* read, write, exit, rt_sigreturn. What else is tried ends the thread; ask() makes it SIGKILL. */
static const struct sock_filter strict[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int64_t action_avail(struct task *t, unsigned flags, uaddr_t addr)
{
	uint32_t action;

	if (flags)
		return -EINVAL;
	if (guest_get(t->tid, &action, addr) < 0)
		return -EFAULT;
	switch (action) {
	case SECCOMP_RET_KILL_PROCESS:
	case SECCOMP_RET_KILL_THREAD:
	case SECCOMP_RET_TRAP:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ALLOW:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static void filter_set(struct task *t, struct seccomp_filter *f, int mode)
{
	seccomp_filter_get(f);
	seccomp_filter_put(t->seccomp);
	t->seccomp = f;
	t->seccomp_mode = (uint8_t)mode;
	/* A call that the runner answers itself passes no filter. */
	fast_disable(t);
}

/* Can every thread take over t's filters? The number of the first that cannot, as Linux says it;
 * 0. */
static pid_t sync_obstacle(const struct task *t)
{
	struct task *o;

	list_for_each(o, &t->proc->threads, thread_link)
		if (o != t && o->seccomp_mode != SECCOMP_MODE_DISABLED &&
		    (o->seccomp_mode != SECCOMP_MODE_FILTER ||
		     !seccomp_is_older(o->seccomp, t->seccomp)))
			return o->tid;
	return 0;
}

/* ---- slots ---- */

#define SLOT_SECOND NSEC_PER_SEC
#define HOST_FLAGS (SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH)

static struct filter_slot *shown;
static struct {
	struct task *owner; /* NULL: free */
	bool taken; /* the host was told to take it */
	uint32_t flags; /* of the call, as far as they are the host's */
	int64_t since;
} slots[FILTER_SLOTS];

void seccomp_init(struct fast_region *region)
{
	shown = region->filters;
}

void seccomp_gone(const struct task *t)
{
	if (t->seccomp_slot)
		slots[t->seccomp_slot - 1].owner = NULL;
}

static void slot_drop(struct task *t)
{
	seccomp_gone(t);
	t->seccomp_slot = 0;
}

/* A free one; or one that the stub should have been done with long ago: before its call to the
 * host, anybody else's, as that call then fails and is made again, else after a second. -1:
 * none. */
static int slot_find(void)
{
	int asked = -1, old = -1;

	for (int i = 0; i < FILTER_SLOTS; i++) {
		if (!slots[i].owner)
			return i;
		if (!slots[i].taken && (asked < 0 || slots[i].since < slots[asked].since))
			asked = i;
		if (slots[i].taken && now_mono() - slots[i].since > SLOT_SECOND)
			old = i;
	}
	return old >= 0 ? old : asked;
}

static int slot_fill(struct task *t, const struct sock_filter *prog, uint32_t n, uint32_t flags)
{
	int i;

	slot_drop(t);
	i = slot_find();
	if (i < 0)
		return -ENOMEM;
	if (slots[i].owner)
		slots[i].owner->seccomp_slot = 0;
	slots[i].owner = t;
	slots[i].taken = false;
	slots[i].flags = flags & HOST_FLAGS;
	slots[i].since = now_mono();
	t->seccomp_slot = (uint8_t)(i + 1);
	memcpy(shown[i].insns, prog, n * sizeof(*prog));
	shown[i].len = (uint16_t)n;
	shown[i].filter =
		FILTER_BASE + (uint64_t)i * FILTER_ROOM + offsetof(struct filter_slot, insns);
	return i + 1;
}

/* Is there room in the cell's share of the host's budget? */
static bool has_room(uint32_t n)
{
	if (seccomp_alive + seccomp_dropped + n > SECCOMP_BUDGET) {
		strays_end();
		seccomp_dropped = 0;
	}
	return seccomp_alive + n <= SECCOMP_BUDGET;
}

/* Keeps the program, and shows what the host is to have. Returns in which slot. */
static int64_t install(struct task *t, const struct sock_filter *prog, uint32_t len, int mode,
		       uint32_t flags)
{
	static struct sock_filter wrapped[SECCOMP_INSNS_MAX + SECCOMP_WRAP_MAX];
	uint32_t n = seccomp_wrap(prog, len, wrapped);
	struct seccomp_filter *f;
	struct task *o;
	int slot;

	if (!n) /* the host takes 4096 as well, and the stub's part is in them */
		return -EINVAL;
	if (len + (t->seccomp ? t->seccomp->total + 4 : 0) > SECCOMP_PATH_MAX)
		return -ENOMEM;
	f = has_room(n) ? seccomp_filter_new(t->seccomp, prog, len, n) : NULL;
	if (!f)
		return -ENOMEM;
	slot = slot_fill(t, wrapped, n, flags);
	if (slot < 0) {
		seccomp_filter_put(f);
		return slot;
	}
	filter_set(t, f, mode);
	seccomp_filter_put(t->seccomp_fresh);
	t->seccomp_fresh = seccomp_filter_get(f);
	if (flags & SECCOMP_FILTER_FLAG_TSYNC) {
		list_for_each(o, &t->proc->threads, thread_link)
			if (o != t)
				filter_set(o, f, mode);
		seccomp_filter_put(t->proc->seccomp_synced);
		t->proc->seccomp_synced = seccomp_filter_get(f);
	}
	seccomp_filter_put(f);
	return slot;
}

static int64_t set_filter(struct task *t, unsigned flags, uaddr_t addr)
{
	static struct sock_filter prog[SECCOMP_INSNS_MAX];
	struct guest_fprog fp;
	pid_t obstacle;

	if (flags & ~FLAGS_KNOWN)
		return -EINVAL;
	if (guest_get(t->tid, &fp, addr) < 0)
		return -EFAULT;
	if (fp.len == 0 || fp.len > SECCOMP_INSNS_MAX)
		return -EINVAL;
	if (!t->proc->no_new_privs && !cred_has_cap(&t->cred, CAP_SYS_ADMIN))
		return -EACCES;
	if (guest_read(t->tid, prog, fp.filter, fp.len * sizeof(prog[0])) < 0)
		return -EFAULT;
	if (!seccomp_check(prog, fp.len) || t->seccomp_mode == SECCOMP_MODE_STRICT)
		return -EINVAL;
	obstacle = flags & SECCOMP_FILTER_FLAG_TSYNC ? sync_obstacle(t) : 0;
	if (obstacle)
		return flags & SECCOMP_FILTER_FLAG_TSYNC_ESRCH ? -ESRCH
							       : STUB_SYNC_FAILED + obstacle;
	return install(t, prog, fp.len, SECCOMP_MODE_FILTER, flags);
}

int64_t hc_seccomp(struct task *t, const struct sysargs *a)
{
	unsigned op = (unsigned)a->a[0], flags = (unsigned)a->a[1];
	uaddr_t arg = a->a[2];

	switch (op) {
	case SECCOMP_SET_MODE_STRICT:
		if (flags || arg || t->seccomp_mode == SECCOMP_MODE_FILTER)
			return -EINVAL;
		return install(t, strict, ARRAY_LEN(strict), SECCOMP_MODE_STRICT, 0);
	case SECCOMP_SET_MODE_FILTER:
		return set_filter(t, flags, arg);
	case SECCOMP_GET_ACTION_AVAIL:
		return action_avail(t, flags, arg);
	default: /* SECCOMP_GET_NOTIF_SIZES among them: a Linux without notifications */
		return -EINVAL;
	}
}

/* The stub has the host take the program of its slot. Everything that matters is in registers, and
 * in memory that only we write. */
int64_t sys_seccomp(struct task *t, const struct sysargs *a)
{
	int i = t->seccomp_slot - 1;

	if (i < 0)
		return t->seccomp_fresh ? -EAGAIN : -EPERM;
	if (slots[i].taken || a->a[0] != SECCOMP_SET_MODE_FILTER || a->a[1] != slots[i].flags ||
	    a->a[2] != FILTER_BASE + (uint64_t)i * FILTER_ROOM)
		return -EPERM;
	slots[i].taken = true;
	return CALL_NATIVE;
}

/* (what the host answered). Said once for each HC_SECCOMP, by the stub at once: code that is
 * filtered cannot take its filter back. Other threads may have put filters on top of this one
 * meanwhile (TSYNC): they stay. */
int64_t hc_seccomp_done(struct task *t, const struct sysargs *a)
{
	struct seccomp_filter *bad = t->seccomp_fresh, *prev;
	struct task *o;

	if (!bad)
		return -EINVAL;
	t->seccomp_fresh = NULL;
	slot_drop(t);
	prev = bad->prev;
	if (a->a[0]) {
		list_for_each(o, &t->proc->threads, thread_link) {
			if (o->seccomp == bad)
				filter_set(o, prev,
					   prev ? SECCOMP_MODE_FILTER : SECCOMP_MODE_DISABLED);
			else
				seccomp_cut(o->seccomp, bad);
		}
		if (t->proc->seccomp_synced == bad) {
			t->proc->seccomp_synced = seccomp_filter_get(prev);
			seccomp_filter_put(bad);
		} else {
			seccomp_cut(t->proc->seccomp_synced, bad);
		}
	}
	seccomp_filter_put(bad);
	return 0;
}

/* (struct stub_call *) -> what the filters say. Those that end the process do it here. */
int64_t hc_seccomp_ask(struct task *t, const struct sysargs *a)
{
	struct seccomp_data d = { .arch = AUDIT_ARCH_X86_64 };
	struct stub_call c;
	uint32_t verdict;
	bool is_strict = t->seccomp_mode == SECCOMP_MODE_STRICT;

	if (guest_get(t->tid, &c, a->a[0]) < 0)
		return -EFAULT;
	d.nr = (int)c.nr;
	d.instruction_pointer = c.ip;
	memcpy(d.args, c.a, sizeof(d.args));
	verdict = seccomp_judge(t->seccomp, &d);
	t->seccomp_pass.nr = -1;
	switch (verdict & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ALLOW:
		t->seccomp_pass.nr = d.nr;
		memcpy(t->seccomp_pass.a, c.a, sizeof(c.a));
		return verdict;
	case SECCOMP_RET_TRAP:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_TRACE:
		return verdict;
	case SECCOMP_RET_KILL_THREAD:
		if (t->proc->nthreads > 1)
			return verdict; /* the stub ends the thread */
		break;
	}
	proc_kill(t->proc, is_strict ? 0 : SIGSYS);
	return -EPERM;
}

/* A signal that only the stub can receive, without a handler of the guest's. */
int64_t hc_sigsys_die(struct task *t, const struct sysargs *a)
{
	(void)a;
	proc_kill(t->proc, SIGSYS);
	return -EPERM;
}
