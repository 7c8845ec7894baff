/* The memory limit by our own accounting: where the host gives us no cgroup, memory is summed fifty
 * times a second, and when it is over the limit the largest process is ended with SIGKILL, as
 * Linux's own out-of-memory killer would. A process can exceed the limit for the length of one
 * period; a cgroup does not allow that and is used where it can be had.
 *
 * Who is summed is the host's word, not our tables': every process of the private /proc, whether it
 * announced itself or not, and of a process whose first thread has ended the others. Of each, what
 * is in no file (swapped out or not), what is shared, and its page tables, which a process can have
 * without any memory in them. Pages of files of the host and of disks are not counted: the host
 * takes them back when it needs them. To that comes of what files hold (the cell's layer, its
 * tmpfs, shared memory, memfds) as much as is not mapped and so is in no process's sum; and the
 * kernel's own objects, beyond what every cell has.
 *
 * A round looks at a few processes in each turn of the loop, those first that were not there in the
 * last one: who hands its memory to a new process again and again is met all the same. When the sum
 * is over the limit, memory that processes share (vfork) is taken out of it before anybody is
 * ended. */
#include <signal.h>
#include <string.h>
#include <sys/statfs.h>

#include "base/arena.h"
#include "base/log.h"
#include "wire/bootspec.h"
#include "host/child.h"
#include "host/host.h"
#include "host/procmem.h"
#include "kernel/cell/control.h"
#include "kernel/cell/gauges.h"
#include "kernel/cell/memory.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/strays.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define PERIOD (20 * 1000000L)
/* Where a cgroup enforces the limit, it is only looked how near it is. */
#define IDLE_PERIOD (2 * NSEC_PER_SEC)
#define TURN (2 * 1000000L) /* of looking, in one turn of the loop */
#define REST 4 /* of the time: who has thousands of processes is not looked at all the time */
#define PIDS_MAX 16384
/* caches and tables that a cell's kernel has without anybody's doing */
#define KERNEL_FREE (16UL << 20)
#define DYING NSEC_PER_SEC /* what was killed has so long to give its memory back */
#define SHARERS 16
#define GROUPS 1024

static struct ktimer timer;

/* The census. */
static struct {
	bool active;
	int64_t start;
	size_t n, at;
	pid_t pids[PIDS_MAX];
	uint64_t bytes[PIDS_MAX];
	uint64_t sum, shmem, most;
	pid_t worst;
	size_t nlast;
	pid_t last[PIDS_MAX]; /* of the round before */
} census;

static uint64_t total; /* of the last round */

/* Killed, and in no table where that stands. */
static struct {
	pid_t pid;
	int64_t since;
} dying[16];

static bool is_dying(pid_t pid)
{
	struct proc *p = proc_find(pid);

	if (p)
		return p->exiting || p->state == PROC_ZOMBIE;
	for (size_t i = 0; i < ARRAY_LEN(dying); i++)
		if (dying[i].pid == pid && now_mono() - dying[i].since < DYING)
			return true;
	return false;
}

static uint64_t file_bytes(void)
{
	uint64_t n = memfds_size();
	struct statfs st;

	if (cell.scratch_fd >= 0 && host_fstatfs(cell.scratch_fd, &st) == 0)
		n += (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize;
	return n;
}

/* In live objects: what was freed is used again, and no guest's end would give it back to the host.
 */
static uint64_t kernel_bytes(void)
{
	struct arena_stats st;
	uint64_t n;

	arena_stats_get(&st);
	n = st.blob_bytes;
	for (const struct obj_type *t = obj_type_next(NULL); t; t = obj_type_next(t))
		n += (uint64_t)t->count * t->size;
	return n > KERNEL_FREE ? n - KERNEL_FREE : 0;
}

/* Both lists are in ascending order, as /proc has them: those that are new come to the front. */
static void newest_first(void)
{
	static pid_t known[PIDS_MAX];
	size_t nknown = 0, nnew = 0, at = 0;

	for (size_t i = 0; i < census.n; i++) {
		while (at < census.nlast && census.last[at] < census.pids[i])
			at++;
		if (at < census.nlast && census.last[at] == census.pids[i])
			known[nknown++] = census.pids[i];
		else
			census.pids[nnew++] = census.pids[i];
	}
	memcpy(census.pids + nnew, known, nknown * sizeof(known[0]));
}

static void round_begin(void)
{
	int64_t n = host_pids(cell.proc_fd, census.pids, PIDS_MAX);
	static pid_t now[PIDS_MAX];

	census.n = n > 0 ? (size_t)n : 0;
	memcpy(now, census.pids, census.n * sizeof(now[0]));
	newest_first();
	memcpy(census.last, now, census.n * sizeof(now[0]));
	census.nlast = census.n;
	census.at = 0;
	census.sum = census.shmem = census.most = 0;
	census.worst = 0;
	census.start = now_mono();
	census.active = true;
}

static void look_at(size_t i)
{
	pid_t pid = census.pids[i];
	struct host_status st;

	census.bytes[i] = 0;
	if (pid <= 1 || is_dying(pid) || host_proc_status(cell.proc_fd, pid, &st) < 0)
		return;
	census.bytes[i] = st.anon + st.shmem + st.swap + st.huge + st.tables;
	census.sum += census.bytes[i];
	census.shmem += st.shmem;
	if (census.bytes[i] > census.most) {
		census.most = census.bytes[i];
		census.worst = pid;
	}
}

/* Until the round is done, or for one turn's time; false: there is more. */
static bool round_step(bool whole)
{
	int64_t end = host_clock(CLOCK_MONOTONIC) + TURN;

	while (census.at < census.n) {
		look_at(census.at++);
		if (!whole && census.at % 16 == 0 && host_clock(CLOCK_MONOTONIC) > end)
			return false;
	}
	census.active = false;
	return true;
}

/* What the last round found. Memory that is shared is in it as often as it has processes. */
static uint64_t round_total(void)
{
	uint64_t files = file_bytes();

	return census.sum + (files > census.shmem ? files - census.shmem : 0) + kernel_bytes();
}

/* How much of the round's sum is there twice: processes that have one address space, as a child of
 * vfork and its parent. Our tables say who could, the host whether it is so. */
static uint64_t shared_bytes(void)
{
	static struct {
		const struct fastmm *mm;
		pid_t pid;
	} first[GROUPS];
	pid_t makers[SHARERS];
	size_t nmakers = births_sharers(makers, SHARERS);
	uint64_t twice = 0;

	memset(first, 0, sizeof(first));
	for (size_t i = 0; i < census.n; i++) {
		struct proc *p = proc_find(census.pids[i]);
		struct task *t = p ? proc_leader(p) : NULL;
		bool shares = false;

		if (!census.bytes[i])
			continue;
		if (t && t->mm) {
			size_t at = ((uintptr_t)t->mm >> 4) % GROUPS;

			if (first[at].mm == t->mm) /* two that meet here are counted as they are */
				shares = host_shares_memory(first[at].pid, p->pid);
			else if (!first[at].mm)
				first[at].mm = t->mm, first[at].pid = p->pid;
		}
		for (size_t k = 0; !p && k < nmakers && !shares; k++)
			shares = host_shares_memory(makers[k], census.pids[i]);
		if (shares)
			twice += census.bytes[i];
	}
	return twice;
}

uint64_t memory_used(bool fresh)
{
	if (cell.proc_fd < 0)
		return 0;
	if (fresh || !ktimer_is_started(&timer) || cell.spec.memory_enforced) {
		round_begin();
		(void)round_step(true);
		total = round_total();
	}
	return total;
}

static void worst_end(void)
{
	static size_t turn;
	struct proc *p = proc_find(census.worst);
	struct task *t = p ? proc_leader(p) : NULL;

	control_say(CTL_EVENT, 1,
		    "out of memory: process %d (%s) was killed; the cell may use %lu MiB",
		    census.worst, t ? t->comm : "never announced",
		    (unsigned long)(cell.spec.memory >> 20));
	if (p) {
		proc_kill(p, 0);
		return;
	}
	(void)host_kill(census.worst, SIGKILL);
	dying[turn].pid = census.worst;
	dying[turn].since = now_mono();
	turn = (turn + 1) % ARRAY_LEN(dying);
}

static void check(struct ktimer *t)
{
	int64_t took;

	if (!census.active)
		round_begin();
	if (!round_step(false)) {
		(void)ktimer_start(t, now_mono() + 1);
		return;
	}
	total = round_total();
	if (total > cell.spec.memory && !cell.spec.memory_enforced)
		total -= shared_bytes();
	gauge_set(LIMIT_MEMORY, total, cell.spec.memory);
	if (cell.spec.memory_enforced) {
		(void)ktimer_start(t, now_mono() + (total > cell.spec.memory / 2 ? NSEC_PER_SEC
										 : IDLE_PERIOD));
		return;
	}
	if (total > cell.spec.memory && census.worst)
		worst_end();
	strays_sweep();
	took = host_clock(CLOCK_MONOTONIC) - census.start;
	(void)ktimer_start(t, now_mono() + MAX(PERIOD - took, (REST - 1) * took));
}

/* Once: who set a limit is to know what it is worth. */
static void weakness_tell(void)
{
	static bool told;

	if (told || !cell.spec.memory || cell.spec.memory_enforced)
		return;
	told = true;
	if (cell.proc_fd < 0)
		log_warn("--memory is not enforced: there is no usable cgroup, and the host allows "
			 "no private /proc");
	else
		log_warn("--memory: without a usable cgroup, memory is counted every %ld ms: the "
			 "cell can exceed its limit in between ('viv doctor' says more)",
			 PERIOD / 1000000);
}

void memory_watch(void)
{
	static bool ready;

	weakness_tell();

	if (!ready)
		ktimer_init(&timer, check);
	ready = true;
	census.active = false;
	if (!cell.spec.memory || cell.proc_fd < 0)
		ktimer_stop(&timer);
	else
		(void)ktimer_start(&timer, now_mono() + PERIOD);
}
