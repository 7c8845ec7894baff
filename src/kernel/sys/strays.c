/* Processes that were made behind the kernel's back (strays.h).
 *
 * A guest can make the stub's marked clone itself. Such a child cannot ask for anything, its first
 * question ends it, but it can hold a place in the host's table and compute. Every child that was
 * asked for has a birth pending until it announces itself, so when the host's /proc shows more
 * unknown processes than there are births, some are strays. Which ones cannot be told, so all
 * unknown ones are ended; a child that is about to announce itself may be among them, in a cell
 * that is under attack from inside. A guest can also ask for births that it never makes. So each
 * unknown process has its time: one that was there BIRTH_AGE ago and still has not announced itself
 * is ended whatever is pending. Rounds are repeated because strays can make more meanwhile. Without
 * a /proc there is no way to find them; the host's limit on processes still bounds them. */
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "host/child.h"
#include "host/host.h"
#include "host/procmem.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/strays.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define PERIOD NSEC_PER_SEC
#define ROUNDS 2 /* in one turn */
#define PIDS_MAX 16384
#define AGED_MAX 1024

static pid_t pids[PIDS_MAX];

/* The processes that are in no table, to the front of pids[]. */
static size_t unknown_list(void)
{
	int64_t n = host_pids(cell.proc_fd, pids, PIDS_MAX);
	size_t count = 0;

	for (int64_t i = 0; i < n; i++)
		if (pids[i] > 1 && !proc_find(pids[i]) && !seed_is(pids[i]))
			pids[count++] = pids[i];
	return count;
}

bool strays_are_possible(void)
{
	return cell.proc_fd < 0 || unknown_list() > 0;
}

/* Since when they are unknown, in the order of /proc, which is that of their numbers. */
static struct aged {
	pid_t pid;
	int64_t since;
} aged[AGED_MAX];
static size_t naged;

/* Ends those of the n in pids[] that had their time. */
static void aged_end(size_t n)
{
	static struct aged old[AGED_MAX];
	size_t nold = naged, at = 0;

	memcpy(old, aged, nold * sizeof(old[0]));
	naged = 0;
	for (size_t i = 0; i < n && naged < AGED_MAX; i++) {
		int64_t since = now_mono();

		while (at < nold && old[at].pid < pids[i])
			at++;
		if (at < nold && old[at].pid == pids[i])
			since = old[at].since;
		if (now_mono() - since > BIRTH_AGE)
			(void)host_kill(pids[i], SIGKILL);
		aged[naged++] = (struct aged){ pids[i], since };
	}
}

static int64_t last;

void strays_sweep(void)
{
	if (last && now_mono() - last < PERIOD)
		return;
	last = now_mono();
	strays_end();
}

void strays_end(void)
{
	size_t n;

	if (cell.proc_fd < 0)
		return;
	n = unknown_list();
	aged_end(n);
	if (n <= births_count() + seed_births())
		return;
	for (int round = 0; n && round < ROUNDS; round++, n = unknown_list())
		for (size_t i = 0; i < n; i++)
			(void)host_kill(pids[i], SIGKILL);
	log_debug("unannounced processes were ended, %zu are left", n);
	if (n)
		last = 0; /* it goes on when it is called next */
}

/* ---- pausing ---- */

#define PAUSE_ROUNDS 50
#define PAUSE_WAIT 1000000 /* ns */

/* Stops every thread of pid that is in no table. The host hands the stop of a process to one
 * thread, and that may wait for our answer, so each is told itself. True: one of them ran. */
static bool threads_stop(pid_t pid)
{
	const struct linux_siginfo si = { .signo = SIGSTOP, .code = SI_QUEUE };
	static pid_t tids[PIDS_MAX];
	int64_t n = host_tids(cell.proc_fd, pid, tids, PIDS_MAX);
	struct host_stat st;
	bool ran = false;

	for (int64_t i = 0; i < n; i++) {
		struct task *t = task_find(tids[i]);

		if ((t && t->proc->pid == pid) ||
		    host_task_stat(cell.proc_fd, pid, tids[i], &st) < 0 || st.state == 'T' ||
		    st.state == 'Z' || st.state == 'X')
			continue;
		(void)host_tgsigqueue(pid, tids[i], SIGSTOP, &si);
		ran = true;
	}
	return ran;
}

void strays_pause(void)
{
	static pid_t all[PIDS_MAX];

	if (cell.proc_fd < 0)
		return;
	/* Of processes all at once, so that none of them can make another one meanwhile. */
	(void)host_kill(-1, SIGSTOP);
	for (int round = 0; round < PAUSE_ROUNDS; round++) {
		int64_t n = host_pids(cell.proc_fd, all, PIDS_MAX);
		bool ran = false;

		for (int64_t i = 0; i < n; i++)
			if (all[i] > 1 &&
			    !seed_is(all[i])) /* which waits for us, and runs no code of a guest */
				ran |= threads_stop(all[i]);
		if (!ran)
			return;
		(void)host_poll(NULL, 0, PAUSE_WAIT); /* they need a moment */
	}
}

void strays_resume(void)
{
	size_t n = cell.proc_fd < 0 ? 0 : unknown_list();

	for (size_t i = 0; i < n; i++)
		(void)host_kill(pids[i], SIGCONT);
	if (seed_pid())
		(void)host_kill(seed_pid(), SIGCONT);
	naged = 0; /* no time has passed for them */
}
