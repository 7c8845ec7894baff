/* POSIX timers and interval timers on a clock that the test moves. */
/* objects: src/kernel/task/ptimer.c src/kernel/task/itimer.c src/kernel/task/timer.c src/kernel/task/cputime.c src/kernel/platform/cell.c src/host/procmem.c src/host/file.c src/host/sys.c src/base/arena.c src/base/program.c src/base/log.c */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/itimer.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "tap.h"

#define MS 1000000LL

static struct proc proc;
static struct task task;
static int64_t mono = 1000 * MS;
static int sent, last_sig, last_overrun;
static uint32_t last_seq;
static bool to_thread;

int64_t now_mono(void)
{
	return mono;
}

int64_t now_real(void)
{
	return mono + 5000 * MS;
}

void now_update(void)
{
}

struct task *task_find(pid_t tid)
{
	return tid == task.tid ? &task : NULL;
}

struct task *proc_leader(struct proc *p)
{
	(void)p;
	return &task;
}

struct proc *proc_next(struct proc *after)
{
	return after ? NULL : &proc;
}

static int note(int sig, const struct linux_siginfo *info, bool thread)
{
	sent++;
	last_sig = sig;
	last_overrun = info ? info->u.timer.overrun : -1;
	last_seq = info ? info->u.timer.seq : 0;
	to_thread = thread;
	return 0;
}

int signal_send_proc(struct proc *p, int sig, const struct linux_siginfo *info)
{
	(void)p;
	return note(sig, info, false);
}

int signal_send_task(struct task *t, int sig, const struct linux_siginfo *info)
{
	(void)t;
	return note(sig, info, true);
}

static void pass(int64_t ns)
{
	int64_t end = mono + ns;

	while (ktimer_next() <= end) {
		mono = MAX(mono, ktimer_next());
		ktimer_run(mono);
	}
	mono = end;
}

static void test_posix(void)
{
	struct linux_sigevent ev = { .notify = LINUX_SIGEV_SIGNAL, .signo = SIGUSR1 };
	struct itimer_ns it = { 10 * MS, 0 };
	struct ptimer *pt;
	int id;

	eq(ptimer_new(&task, 77, NULL), -EINVAL, "no such clock");
	eq(ptimer_new(&task, CLOCK_MONOTONIC_RAW, NULL), -EOPNOTSUPP, "a clock without timers");
	ev.signo = 65;
	eq(ptimer_new(&task, CLOCK_REALTIME, &ev), -EINVAL, "no such signal");
	ev.signo = SIGUSR1;
	id = ptimer_new(&task, CLOCK_MONOTONIC, &ev);
	pt = ptimer_find(&proc, id);
	ok(id >= 0 && pt, "a timer");
	eq(ptimer_set(pt, false, &it), 0, "is set");
	pass(9 * MS);
	eq(sent, 0, "not early");
	ptimer_get(pt, &it);
	eq(it.value, MS, "what remains");
	pass(2 * MS);
	ok(sent == 1 && last_sig == SIGUSR1 && !to_thread, "the signal");
	ptimer_get(pt, &it);
	eq(it.value, 0, "nothing remains");

	it = (struct itimer_ns){ 10 * MS, 10 * MS };
	sent = 0;
	eq(ptimer_set(pt, false, &it), 0, "repeating");
	pass(25 * MS);
	eq(sent, 2, "two signals");
	task.sig_sent = SIGBIT(SIGUSR1);
	pass(20 * MS);
	eq(sent, 2, "none while one is on its way");
	task.sig_sent = 0;
	pass(10 * MS);
	ok(sent == 3 && last_overrun == 2, "the next one carries the count");
	eq(ptimer_overrun(pt), 2, "which can be asked for");
	ptimer_free(pt);
	ok(!ptimer_find(&proc, id) && ktimer_next() == TIME_NEVER, "freed");

	ev.notify = LINUX_SIGEV_THREAD_ID;
	ev.tid = task.tid + 1;
	eq(ptimer_new(&task, CLOCK_REALTIME, &ev), -EINVAL, "a thread of others");
	ev.tid = task.tid;
	pt = ptimer_find(&proc, ptimer_new(&task, CLOCK_REALTIME, &ev));
	it = (struct itimer_ns){ now_real() + 7 * MS, 0 };
	sent = 0;
	eq(ptimer_set(pt, true, &it), 0, "an absolute time");
	pass(6 * MS);
	eq(sent, 0, "is not early");
	pass(MS);
	ok(sent == 1 && to_thread, "to the thread");

	it = (struct itimer_ns){ 1, 1000 }; /* every microsecond */
	sent = 0;
	eq(ptimer_set(pt, false, &it), 0, "a very fast one");
	pass(10 * MS);
	ok(sent > 50 && sent <= 101, "is slowed down");
	ok(last_overrun >= 98, "and counts what it skipped");

	ev.notify = LINUX_SIGEV_NONE;
	pt = ptimer_find(&proc, ptimer_new(&task, CLOCK_MONOTONIC, &ev));
	it = (struct itimer_ns){ 4 * MS, 10 * MS };
	(void)!ptimer_set(pt, false, &it);
	ptimers_free(&proc);
	ok(!proc.ptimers && ktimer_next() == TIME_NEVER, "all are freed");
}

/* Taken with sigtimedwait: the kernel hears of it afterwards. */
static void test_taken(void)
{
	struct linux_sigevent ev = { .notify = LINUX_SIGEV_SIGNAL, .signo = 34 };
	int id = ptimer_new(&task, CLOCK_MONOTONIC, &ev);
	struct ptimer *pt = ptimer_find(&proc, id);
	struct itimer_ns it = { 10 * MS, 10 * MS };
	uint32_t seq;

	sent = 0;
	(void)!ptimer_set(pt, false, &it);
	mono += 40 * MS; /* we did not get to look */
	ktimer_run(mono);
	seq = last_seq;
	task.sig_inflight = 1;
	pass(20 * MS);
	eq(sent, 1, "one signal is pending");
	task.sig_inflight = 0;
	pass(10 * MS);
	ok(sent == 2 && last_seq == seq + 1,
	   "it was taken, and the timer was due before we heard of it");
	eq(ptimer_taken(&proc, id, seq), 5,
	   "what it missed, before it was sent and while it was pending");
	eq(ptimer_overrun(pt), 5, "and can be asked for");
	task.sig_inflight = 1;
	pass(20 * MS);
	mono += 30 * MS;
	eq(ptimer_taken(&proc, id, seq + 1), 5, "the next one has its own, up to now");
	task.sig_inflight = 0;
	pass(10 * MS);
	ok(sent == 3 && ptimer_taken(&proc, id, last_seq) == 0, "nothing is counted twice");
	eq(ptimer_taken(&proc, id + 1, 1), -1, "no such timer");
	ptimers_free(&proc);
}

static void test_none(void)
{
	struct linux_sigevent ev = { .notify = LINUX_SIGEV_NONE };
	struct ptimer *pt = ptimer_find(&proc, ptimer_new(&task, CLOCK_MONOTONIC, &ev));
	struct itimer_ns it = { 4 * MS, 10 * MS };

	sent = 0;
	(void)!ptimer_set(pt, false, &it);
	pass(25 * MS);
	ptimer_get(pt, &it);
	ok(sent == 0 && it.value == 9 * MS, "a timer without signals moves on");
	ptimers_free(&proc);
}

static void test_alarm(void)
{
	struct itimer_ns it = { 3 * MS, 5 * MS };

	sent = 0;
	eq(itimer_set(&proc, ITIMER_REAL, &it), 0, "an interval timer");
	pass(14 * MS);
	ok(sent == 3 && last_sig == SIGALRM, "fires three times");
	itimer_get(&proc, ITIMER_REAL, &it);
	eq(it.value, 4 * MS, "and goes on");
	timers_free(&proc);
	ok(ktimer_next() == TIME_NEVER, "until the end");
}

/* By the clock that the timer counts with: the others differ from it by what the host's ticks
 * happened to meet. */
static void burn(clockid_t clock)
{
	volatile unsigned x = 0;
	struct timespec start, now;

	clock_gettime(clock, &start);
	do {
		for (int i = 0; i < 100000; i++)
			x++;
		clock_gettime(clock, &now);
	} while ((now.tv_sec - start.tv_sec) * NSEC_PER_SEC + now.tv_nsec - start.tv_nsec <
		 60 * MS);
}

static void test_cpu(void)
{
	struct itimer_ns it = { 40 * MS, 0 };
	struct ptimer *pt = ptimer_find(&proc, ptimer_new(&task, CLOCK_PROCESS_CPUTIME_ID, NULL));

	sent = 0;
	eq(ptimer_set(pt, false, &it), 0, "a timer on CPU time");
	pass(200 * MS);
	eq(sent, 0, "does not count other time");
	burn(CLOCK_PROCESS_CPUTIME_ID);
	pass(200 * MS);
	ok(sent == 1 && last_sig == SIGALRM, "but work");
	ptimers_free(&proc);
	sent = 0;
	eq(itimer_set(&proc, ITIMER_PROF, &it), 0, "ITIMER_PROF");
	pass(100 * MS);
	eq(sent, 0, "waits");
	burn((clockid_t)(~(unsigned)getpid() << 3)); /* the process's, by ticks */
	pass(200 * MS);
	ok(sent == 1 && last_sig == SIGPROF, "and fires");
	timers_free(&proc);
	ok(ktimer_next() == TIME_NEVER && !proc.cpu_itimers, "and is gone");
}

int main(void)
{
	struct obj_type *type;

	if (arena_init() < 0)
		return 1;
	cell.proc_fd = -1;
	cell.spec.cpus = 2;
	proc.pid = task.tid = getpid();
	task.proc = &proc;
	list_init(&proc.threads);
	list_append(&proc.threads, &task.thread_link);
	test_posix();
	test_taken();
	test_none();
	test_alarm();
	test_cpu();
	type = obj_type_find("ptimer");
	ok(type && type->count == 0, "no timer is left over");
	return tap_end();
}
