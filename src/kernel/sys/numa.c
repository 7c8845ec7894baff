/* Memory policy on a machine that has one node, number 0. A policy that names no other node is
 * accepted and changes nothing; the default is what can be asked back. A process may "move" its own
 * pages to where they are, and ask where that is: node 0 for memory that can be read, -EFAULT for
 * any other (Linux tells memory that was never touched apart, as -ENOENT). The pages of others are
 * refused. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <string.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/nr.h"
#include "kernel/sys/refused.h"
#include "kernel/sys/target.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define MASK_BYTES_MAX PAGE_SIZE
#define MODES 7 /* MPOL_DEFAULT ... MPOL_WEIGHTED_INTERLEAVE */

/* Reads a mask of maxnode - 1 bits: 0: empty, 1: node 0, or -errno. */
static int mask_read(struct task *t, uaddr_t addr, uint64_t maxnode)
{
	uint64_t words[MASK_BYTES_MAX / 8] = { 0 };
	uint64_t bits = maxnode - 1, n;

	if (maxnode == 0 || bits == 0 || !addr)
		return 0;
	if (bits > MASK_BYTES_MAX * 8)
		return -EINVAL;
	n = (bits + 63) / 64;
	if (guest_read(t->tid, words, addr, n * 8) < 0)
		return -EFAULT;
	if (bits % 64)
		words[n - 1] &= (1UL << (bits % 64)) - 1;
	for (uint64_t i = 0; i < n; i++)
		if (words[i] & ~(i == 0 ? 1UL : 0UL))
			return -EINVAL;
	return (int)(words[0] & 1);
}

static int64_t policy_check(struct task *t, uint64_t mode, uaddr_t mask, uint64_t maxnode)
{
	uint64_t flags = mode & (uint64_t)MPOL_MODE_FLAGS;
	int node;

	mode = (uint32_t)mode & ~(uint32_t)MPOL_MODE_FLAGS;
	if (mode >= MODES)
		return -EINVAL;
	if ((flags & MPOL_F_STATIC_NODES) && (flags & MPOL_F_RELATIVE_NODES))
		return -EINVAL;
	node = mask_read(t, mask, maxnode);
	if (node < 0)
		return node;
	switch (mode) {
	case MPOL_DEFAULT:
	case MPOL_LOCAL:
		return node || (mode == MPOL_LOCAL && flags) ? -EINVAL : 0;
	case MPOL_PREFERRED:
		return !node && flags ? -EINVAL : 0;
	default:
		return node ? 0 : -EINVAL;
	}
}

static int64_t policy_get(struct task *t, const struct sysargs *a)
{
	uint64_t mask[MASK_BYTES_MAX / 8] = { 0 }, maxnode = a->a[2], flags = a->a[4], n;
	int mode = MPOL_DEFAULT;

	if (flags & ~(uint64_t)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED))
		return -EINVAL;
	if (a->a[1] && maxnode < 1)
		return -EINVAL;
	if (flags & MPOL_F_MEMS_ALLOWED) {
		if (flags & (MPOL_F_NODE | MPOL_F_ADDR))
			return -EINVAL;
		mask[0] = 1;
	} else if (flags & MPOL_F_ADDR) {
		char probe;

		if (guest_read(t->tid, &probe, a->a[3], 1) < 0)
			return -EFAULT;
	} else if (a->a[3] || (flags & MPOL_F_NODE)) {
		return -EINVAL;
	}
	if (a->a[0] && guest_put(t->tid, a->a[0], &mode) < 0)
		return -EFAULT;
	if (!a->a[1])
		return 0;
	n = (maxnode - 1 + 63) / 64 * 8;
	if (n > MASK_BYTES_MAX)
		return -EINVAL;
	return guest_write(t->tid, a->a[1], mask, n);
}

/* 0 when the call is about the caller's own process. */
static int64_t own_process(struct task *t, pid_t pid)
{
	struct proc *p;
	int64_t err;

	if (pid == INIT_PID)
		return -EPERM;
	err = target_proc(t, pid, &p);
	if (err)
		return err;
	return p == t->proc ? 0 : -EPERM;
}

/* So many pages in one go; the rest after the next event of others. */
#define PAGES_AT_ONCE 256

static int64_t pages_move(struct task *t, const struct sysargs *a)
{
	uint64_t n = a->a[1], first = (uint64_t)t->call.done, some;
	uint64_t pages[PAGES_AT_ONCE];
	int32_t nodes[PAGES_AT_ONCE], status[PAGES_AT_ONCE];
	char probe;
	int64_t err;

	if (a->a[5] & ~(uint64_t)(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	if ((a->a[5] & MPOL_MF_MOVE_ALL) && !cred_has_cap(&t->cred, CAP_SYS_NICE))
		return -EPERM;
	err = own_process(t, (pid_t)a->a[0]);
	if (err)
		return err;
	if (first >= n)
		return 0;
	some = MIN(n - first, (uint64_t)PAGES_AT_ONCE);
	if (guest_read(t->tid, pages, a->a[2] + first * 8, some * 8) < 0)
		return -EFAULT;
	if (a->a[3] && guest_read(t->tid, nodes, a->a[3] + first * 4, some * 4) < 0)
		return -EFAULT;
	for (uint64_t i = 0; i < some; i++) {
		if (a->a[3] && nodes[i] != 0)
			return -ENODEV;
		status[i] = guest_read(t->tid, &probe, pages[i], 1);
	}
	if (guest_write(t->tid, a->a[4] + first * 4, status, some * 4) < 0)
		return -EFAULT;
	t->call.done += (int64_t)some;
	return first + some < n ? call_wait_turn(t) : 0;
}

static int64_t pages_migrate(struct task *t, const struct sysargs *a)
{
	int from = mask_read(t, a->a[2], a->a[1]), to = mask_read(t, a->a[3], a->a[1]);
	int64_t err;

	if (from < 0 || to < 0)
		return from < 0 ? from : to;
	err = own_process(t, (pid_t)a->a[0]);
	if (err)
		return err;
	return to ? 0 : -EINVAL;
}

int64_t numa_call(struct task *t, int nr, const struct sysargs *a)
{
	switch (nr) {
	case NR_get_mempolicy:
		return policy_get(t, a);
	case NR_set_mempolicy:
		return policy_check(t, (uint32_t)a->a[0], a->a[1], a->a[2]);
	case NR_mbind:
		if (a->a[0] % PAGE_SIZE ||
		    (a->a[5] & ~(uint64_t)(MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL)))
			return -EINVAL;
		if (a->a[5] & MPOL_MF_MOVE_ALL)
			return -EPERM;
		return policy_check(t, (uint32_t)a->a[2], a->a[3], a->a[4]);
	case NR_set_mempolicy_home_node:
		if (a->a[0] % PAGE_SIZE || a->a[2] != 0 || a->a[3] != 0)
			return -EINVAL;
		return 0;
	case NR_move_pages:
		return pages_move(t, a);
	case NR_migrate_pages:
		return pages_migrate(t, a);
	default:
		return -EPERM;
	}
}
