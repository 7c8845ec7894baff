/* Limits of a cell: what it starts with, and other ones while it runs (KEEP_LIMITS).
 *
 * Who enforces what: a cgroup processor time, memory and, with one of those, processes, where one
 * can be made; else whole processors by affinity, and the kernel by counting. The kernel always
 * counts processes and files, and shows all of it. A cell that has no cgroup gets one for its
 * processor time when that is limited later; memory is then counted by its kernel, since what is in
 * use does not move to a cgroup with the processes.
 *
 * A change is made in an order in which only the first steps can be refused, and taken back if one
 * is: processor time, the kernel's part (which refuses less memory than is in use), the cgroup's
 * memory and processes. One change is made at a time. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "host/isolate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define DEFAULT_FILES 65536
#define DEFAULT_INODES (1u << 20)
#define MEMORY_LEAST (4u << 20)

struct limits {
	uint32_t cpu_milli, pids; /* 0: none was asked for */
	uint64_t memory, disk, inodes;
	uint64_t connections, net_in, net_out, net_rate;
};

static struct {
	cpu_set_t all; /* where we were started */
	uint32_t cpus; /* of them */
	struct limits first, now, next; /* at the start; in force; being put in force */
	bool placed; /* processors by affinity */
	bool changing;
	bool fresh_done; /* a cell of the pool has got its own */
	int64_t timeout_ns; /* -1: it stays */
} own;

/* ---- how they are enforced ---- */

static struct cgroup_limits cgroup_wants(const struct limits *l)
{
	struct cgroup_limits c = { .memory = l->memory };

	if (l->cpu_milli < own.cpus * 1000)
		c.cpu_milli = l->cpu_milli;
	c.pids = (l->pids ? l->pids : TASKS_DEFAULT) + TASKS_SLACK;
	return c;
}

static uint32_t cpus_seen(const struct limits *l)
{
	return l->cpu_milli ? (l->cpu_milli + 999) / 1000 : own.cpus;
}

/* So many of ours; which, is not the same for every cell. */
static void cpus_choose(uint32_t want, cpu_set_t *some)
{
	uint32_t n = 0, skip = (uint32_t)getpid() % own.cpus;

	CPU_ZERO(some);
	for (unsigned round = 0; round < 2 * CPU_SETSIZE && n < want; round++)
		if (CPU_ISSET(round % CPU_SETSIZE, &own.all) && (!skip || !skip--)) {
			CPU_SET(round % CPU_SETSIZE, some);
			n = (uint32_t)CPU_COUNT(some);
		}
}

static uint64_t layer_bytes(uint64_t asked)
{
	uint64_t bytes = 1UL << 30;
	struct sysinfo si;

	if (asked)
		return asked;
	if (!sysinfo(&si))
		bytes = MAX(bytes, (uint64_t)si.totalram * si.mem_unit / 2);
	return bytes;
}

/* How many numbers processors can have here: what runs in the cell may be told any of them. */
static uint32_t host_cpus(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re"); /* such as 0-7, or 0,2-3 */
	uint32_t n = 0;
	char list[4096], *last;

	if (f && fgets(list, sizeof(list), f)) {
		last = list + strlen(list);
		while (last > list && !strchr(",-", last[-1]))
			last--;
		n = (uint32_t)strtoul(last, NULL, 10) + 1;
	}
	if (f)
		fclose(f);
	for (uint32_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &own.all))
			n = MAX(n, i + 1);
	return n;
}

/* ---- the start ---- */

static struct limits limits_of(const struct run_options *o)
{
	return (struct limits){ .cpu_milli = o->cpu_milli,
				.pids = o->pids,
				.memory = o->memory,
				.disk = o->disk_bytes,
				.inodes = o->disk_inodes,
				.connections = o->max_connections,
				.net_in = o->max_net_in,
				.net_out = o->max_net_out,
				.net_rate = o->max_net_rate };
}

int limits_prepare(const struct run_options *o, struct bootspec *s, struct cgroup *cg,
		   struct err *e)
{
	const struct limits l = limits_of(o);
	struct cgroup_limits limits;
	cpu_set_t some;

	own.cpus = 1;
	if (!sched_getaffinity(0, sizeof(own.all), &own.all))
		own.cpus = (uint32_t)CPU_COUNT(&own.all);
	if (o->cpu_milli > own.cpus * 1000)
		return err_set(e, ERR_USAGE, "--cpus: this host has %u processor%s", own.cpus,
			       own.cpus == 1 ? "" : "s");
	own.first = own.now = l;
	s->cpus = cpus_seen(&l);
	s->host_cpus = MAX(host_cpus(), s->cpus);
	limits = cgroup_wants(&l);
	/* The cell's own user namespace counts processes too, so a cgroup is not made for them
	 * alone. */
	if (!o->pids || (!limits.memory && !limits.cpu_milli))
		limits.pids = 0;
	cgroup_create(cg, &limits);
	if (limits.cpu_milli && !cg->enforced[CGROUP_CPU]) {
		/* Whole processors at least: the cell inherits where viv may run. */
		cpus_choose(s->cpus, &some);
		sched_setaffinity(0, sizeof(some), &some);
		own.placed = true;
		if (o->cpu_milli % 1000 && !o->quiet)
			warn("--cpus: no cgroup can be had here; the cell gets %u whole "
			     "processor%s",
			     s->cpus, s->cpus == 1 ? "" : "s");
	}
	s->memory = o->memory;
	s->memory_enforced = cg->enforced[CGROUP_MEMORY];
	s->max_tasks = o->pids ? o->pids : TASKS_DEFAULT;
	s->most_tasks = MAX(s->max_tasks, (uint32_t)TASKS_DEFAULT);
	s->max_files = DEFAULT_FILES;
	s->disk_bytes = layer_bytes(o->disk_bytes);
	s->disk_inodes = o->disk_inodes ? o->disk_inodes : DEFAULT_INODES;
	s->disk.max_bytes = o->disk_bytes;
	s->disk.max_inodes = s->disk_inodes;
	s->net_connections = o->max_connections;
	s->net_in = o->max_net_in;
	s->net_out = o->max_net_out;
	s->net_rate = o->max_net_rate;
	s->timeout_ns = o->timeout_ns;
	return 0;
}

/* ---- a change ---- */

/* Makes it so, as far as it is the host's scheduler's business. place: the processors that the
 * kernel is to put everything on. */
static void cpus_apply(const struct limits *l, struct ctl_msg *m)
{
	struct cgroup_limits c = cgroup_wants(l);
	struct cgroup *cg = keeper.cgroup;
	cpu_set_t some = own.all;

	_Static_assert(sizeof(m->limits.cpu_mask) <= sizeof(some), "processors");
	if (cg->enforced[CGROUP_CPU] && cgroup_set(cg, &c, CGROUP_CPU) == 0)
		return;
	if (!own.placed && (!c.cpu_milli || cgroup_add(cg, &c, CGROUP_CPU, keeper.kernel->pid)))
		return;
	own.placed = true;
	if (c.cpu_milli)
		cpus_choose(cpus_seen(l), &some);
	m->limits.place = true;
	memcpy(m->limits.cpu_mask, &some, sizeof(m->limits.cpu_mask));
}

static void kernel_message(const struct limits *l, struct ctl_msg *m)
{
	bool kept = keeper.rootfs->kept;

	m->type = CTL_LIMITS;
	m->limits.memory = l->memory;
	m->limits.memory_enforced = keeper.cgroup->enforced[CGROUP_MEMORY];
	m->limits.tasks = l->pids ? l->pids : TASKS_DEFAULT;
	m->limits.cpus = cpus_seen(l);
	m->limits.disk_bytes = kept ? l->disk : layer_bytes(l->disk);
	m->limits.disk_inodes = l->inodes ? l->inodes : DEFAULT_INODES;
	m->limits.net_connections = l->connections;
	m->limits.net_in = l->net_in;
	m->limits.net_out = l->net_out;
	m->limits.net_rate = l->net_rate;
}

/* Memory and processes. 0 or -errno. */
static int cgroup_apply(const struct limits *from, const struct limits *l)
{
	struct cgroup_limits c = cgroup_wants(l);
	struct cgroup *cg = keeper.cgroup;
	int err = 0;

	if (cg->enforced[CGROUP_MEMORY] && from->memory != l->memory)
		err = cgroup_set(cg, &c, CGROUP_MEMORY);
	if (!err && cg->enforced[CGROUP_PIDS] && from->pids != l->pids)
		err = cgroup_set(cg, &c, CGROUP_PIDS);
	return err;
}

/* What was changed becomes what it was. The kernel's answer is nobody's. */
static void change_undo(bool kernel)
{
	struct ctl_msg m = { 0 };

	kernel_message(&own.now, &m);
	if (own.next.cpu_milli != own.now.cpu_milli)
		cpus_apply(&own.now, &m);
	if (kernel || m.limits.place)
		control_put(&m, NULL, 0);
	(void)!cgroup_apply(&own.next, &own.now);
	own.changing = false;
}

static void deadline_change(int64_t timeout)
{
	/* It counts for something else by now. */
	if (keeper.stay.timed_out || keeper.finishing || keeper.stay.status >= 0 ||
	    keeper.state >= KEEP_STOPPING)
		return;
	keeper.stay.deadline = timeout ? keeper.began + timeout : 0;
}

static int change_check(const struct limits *l, struct err *e)
{
	uint32_t most = MAX(own.first.pids, (uint32_t)TASKS_DEFAULT);
	bool kept = keeper.rootfs->kept;

	if (l->cpu_milli > own.cpus * 1000)
		return err_set(e, ERR_USAGE, "'cpus': this host has %u processor%s", own.cpus,
			       own.cpus == 1 ? "" : "s");
	if (l->memory && l->memory < MEMORY_LEAST)
		return err_set(e, ERR_USAGE, "'memory' is at least 4 MiB");
	if (l->pids > most)
		return err_set(e, ERR_CONFLICT,
			       "a running cell can have at most %u processes" REMEDY
			       "restart it for more",
			       most);
	/* What is in memory has the room that was made for it at the start. */
	if (!kept && layer_bytes(l->disk) > layer_bytes(own.first.disk))
		return err_set(e, ERR_CONFLICT,
			       "a running cell without a name gets no more 'disk' than it was "
			       "started with");
	if (!kept && (l->inodes ? l->inodes : DEFAULT_INODES) >
			     (own.first.inodes ? own.first.inodes : DEFAULT_INODES))
		return err_set(e, ERR_CONFLICT,
			       "a running cell without a name gets no more 'inodes' than it was "
			       "started with");
	return 0;
}

/* What is there is only the kernel and a runner that never ran a program: they can be moved, and
 * nothing is in use yet. */
int limits_fresh(const struct run_options *o, struct ctl_msg *m, struct err *e)
{
	const struct limits l = limits_of(o);

	if (change_check(&l, e) < 0)
		return -1;
	own.fresh_done = true;
	if (l.memory || l.cpu_milli) {
		struct cgroup_limits limits = cgroup_wants(&l);

		limits.pids = l.pids ? limits.pids : 0;
		cgroup_create(keeper.cgroup, &limits);
		if (!cgroup_enter(keeper.cgroup, keeper.kernel->pid))
			return err_set(e, ERR_FAILED, "the cell cannot be moved into its cgroup");
		memory_follow();
	}
	if (l.cpu_milli)
		cpus_apply(&l, m);
	own.now = l;
	kernel_message(&l, m);
	return 0;
}

static void limits_merge(struct limits *l, const struct keep_limits *in)
{
	if (in->set & KEEP_L_CPUS)
		l->cpu_milli = in->cpu_milli;
	if (in->set & KEEP_L_MEMORY)
		l->memory = in->memory;
	if (in->set & KEEP_L_PIDS)
		l->pids = in->pids;
	if (in->set & KEEP_L_DISK)
		l->disk = in->disk;
	if (in->set & KEEP_L_INODES)
		l->inodes = in->inodes;
	if (in->set & KEEP_L_CONNECTIONS)
		l->connections = in->connections;
	if (in->set & KEEP_L_NET_IN)
		l->net_in = in->net_in;
	if (in->set & KEEP_L_NET_OUT)
		l->net_out = in->net_out;
	if (in->set & KEEP_L_NET_RATE)
		l->net_rate = in->net_rate;
}

/* Of a cell from the pool, for who has it on the leash and goes elsewhere if this fails. */
static void fresh_request(struct client *c, const struct keep_msg *in, const struct limits *l)
{
	const struct run_options o = { .cpu_milli = l->cpu_milli,
				       .pids = l->pids,
				       .memory = l->memory,
				       .disk_bytes = l->disk,
				       .disk_inodes = l->inodes,
				       .max_connections = l->connections,
				       .max_net_in = l->net_in,
				       .max_net_out = l->net_out,
				       .max_net_rate = l->net_rate };
	struct ctl_msg m = { 0 };
	struct err e;
	int err = limits_fresh(&o, &m, &e);

	own.next = own.now;
	own.timeout_ns = -1;
	if (err) {
		e.kind = ERR_CONFLICT;
		client_err(c, in->id, 0, &e);
	} else {
		own.changing = pass_on(c, in, &m, NULL, 0);
	}
}

void limits_request(struct client *c, const struct keep_msg *in)
{
	struct ctl_msg m = { 0 };
	struct limits next = own.now;
	struct err e;

	if (own.changing) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the limits of the cell are being changed" REMEDY "try again");
		return;
	}
	limits_merge(&next, &in->limits);
	if (keeper.leash && keeper.state == KEEP_IDLE && !own.fresh_done) {
		fresh_request(c, in, &next);
		return;
	}
	if (change_check(&next, &e) < 0) {
		client_err(c, in->id, 0, &e);
		return;
	}
	own.next = next;
	own.changing = true;
	own.timeout_ns = in->limits.set & KEEP_L_TIMEOUT ? MAX(in->limits.timeout_ns, 0) : -1;
	kernel_message(&next, &m);
	if (next.cpu_milli != own.now.cpu_milli)
		cpus_apply(&next, &m);
	if (!pass_on(c, in, &m, NULL, 0))
		change_undo(false);
}

void limits_answer(struct client *c, uint32_t id, int err)
{
	bool kernel = !err;

	if (!err)
		err = cgroup_apply(&own.now, &own.next);
	if (err) {
		change_undo(kernel);
		client_fail(c, id, err == -EBUSY ? ERR_CONFLICT : ERR_FAILED, 0, "%s",
			    err == -EBUSY ? "the cell uses more memory than that" : strerror(-err));
		return;
	}
	own.now = own.next;
	own.changing = false;
	journal_operator("limits", "");
	if (own.timeout_ns >= 0)
		deadline_change(own.timeout_ns);
	/* Whole processors, where less was asked for: who says so to people is told. */
	client_ok(c, id, own.placed && own.now.cpu_milli % 1000 ? cpus_seen(&own.now) : 0);
}
