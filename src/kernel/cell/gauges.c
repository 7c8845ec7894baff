/* See gauges.h. A guest decides how often it comes near a limit or runs into it, so each kind is
 * told at most once in PAUSE, and nearness only again after a tenth of the limit was given back. */
#include "kernel/cell/gauges.h"

#include <stdio.h>

#include "wire/bootspec.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/net/budget.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define PAUSE (10 * NSEC_PER_SEC)

static struct gauge {
	const char *unit;
	bool near;
	int64_t near_at, hit_at; /* when it was told last; 0: never */
	uint64_t refused; /* that have been told of */
} gauges[] = {
	[LIMIT_DISK] = { .unit = "bytes on its disk" },
	[LIMIT_INODES] = { .unit = "files of its own" },
	[LIMIT_TASKS] = { .unit = "processes and threads" },
	[LIMIT_MEMORY] = { .unit = "bytes of memory" },
	[LIMIT_CONNECTIONS] = { .unit = "connections" },
	[LIMIT_NET_IN] = { .unit = "bytes from the network" },
	[LIMIT_NET_OUT] = { .unit = "bytes to the network" },
};

static void tell(enum keep_limit what, bool hit, uint64_t used, uint64_t max)
{
	struct ctl_msg m = { .type = CTL_EVENT, .b = (int)what, .flags = hit };

	if (hit)
		snprintf(m.text, sizeof(m.text), "the cell was refused more than its %lu %s",
			 (unsigned long)max, gauges[what].unit);
	else
		snprintf(m.text, sizeof(m.text), "the cell uses %lu of at most %lu %s",
			 (unsigned long)used, (unsigned long)max, gauges[what].unit);
	control_tell(&m);
}

/* Not yet, or not for a while. */
static bool is_due(int64_t *at)
{
	if (*at && now_mono() - *at < PAUSE)
		return false;
	*at = now_mono();
	return true;
}

void gauge_set(enum keep_limit what, uint64_t used, uint64_t max)
{
	struct gauge *g = &gauges[what];

	if (!max)
		return;
	if (!g->near && used >= max - max / 5) {
		if (!is_due(&g->near_at))
			return;
		g->near = true;
		tell(what, false, used, max);
	} else if (g->near && used < max - max / 5 - max / 10) {
		g->near = false;
	}
}

static void refused_set(enum keep_limit what, uint64_t refused, uint64_t max)
{
	struct gauge *g = &gauges[what];

	if (refused == g->refused || !is_due(&g->hit_at))
		return;
	g->refused = refused;
	tell(what, true, 0, max);
}

static void network_look(void)
{
	const struct net_usage *u = budget_usage();

	gauge_set(LIMIT_CONNECTIONS, u->connections, cell.spec.net_connections);
	gauge_set(LIMIT_NET_IN, u->in, cell.spec.net_in);
	gauge_set(LIMIT_NET_OUT, u->out, cell.spec.net_out);
	refused_set(LIMIT_CONNECTIONS, u->connections_refused, cell.spec.net_connections);
	refused_set(LIMIT_NET_IN, u->in_refused, cell.spec.net_in);
	refused_set(LIMIT_NET_OUT, u->out_refused, cell.spec.net_out);
}

void gauges_look(void)
{
	struct layer_usage disk;

	layer_usage_get(boot_layer(), &disk);
	gauge_set(LIMIT_DISK, disk.bytes, disk.max_bytes);
	gauge_set(LIMIT_INODES, disk.inodes, disk.max_inodes);
	gauge_set(LIMIT_TASKS, task_count() + zombie_count(), cell.spec.max_tasks);
	refused_set(LIMIT_DISK, disk.bytes_refused, disk.max_bytes);
	refused_set(LIMIT_INODES, disk.inodes_refused, disk.max_inodes);
	refused_set(LIMIT_TASKS, cell.tasks_refused, cell.spec.max_tasks);
	network_look();
}
