/* See change.h. Its keeper has decided that these limits can be had, and has set or will set what
 * the host's cgroups enforce; here is what the kernel itself counts and shows. Limits below what is
 * in use are taken as Linux's cgroups and quotas take them: nothing goes away, and nothing more is
 * given. Memory is the exception: what is over its limit would be killed at once, so that is
 * refused.
 *
 * Sizes that follow from a limit at boot follow it here, too: /dev/shm is half of the memory. What
 * a guest mounted itself stays as it is. */
#include "kernel/cell/change.h"

#include <errno.h>

#include "kernel/cell/boot.h"
#include "kernel/cell/memory.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/limits.h"

int limits_change(const struct cell_limits *l)
{
	struct bootspec *s = &cell.spec;

	/* The last count may be of before somebody gave memory back. */
	if (l->memory && memory_used(false) > l->memory && memory_used(true) > l->memory)
		return -EBUSY;
	limits_tasks_set(l->tasks);
	s->net_connections = l->net_connections;
	s->net_in = l->net_in;
	s->net_out = l->net_out;
	s->net_rate = l->net_rate;
	if (l->cpus != s->cpus || l->place)
		sched_cpus_set(MAX(l->cpus, 1u), l->place ? l->cpu_mask : NULL);
	layer_limits_set(boot_layer(), l->disk_bytes, l->disk_inodes);
	if (l->memory != s->memory || l->memory_enforced != s->memory_enforced) {
		s->memory = l->memory;
		s->memory_enforced = l->memory_enforced;
		layer_limits_set(boot_shm(), boot_shm_size(), s->disk_inodes);
		memory_watch();
	}
	return 0;
}
