/* Memory policy on a machine that has one node, number 0. A policy that names no other node is accepted and changes
 * nothing; the default is what can be asked back. Moving pages between nodes is refused. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/nr.h"
#include "kernel/sys/refused.h"

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
	default:
		return -EPERM;
	}
}
