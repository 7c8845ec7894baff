/* /proc/PID/status, stat, statm, limits and the scheduler's files: our tables for who a process
 * is, the host's view of its runner for how large and how busy it is. The signals that the stub
 * uses for itself are not shown as caught. */
#include <errno.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "host/host.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/cell.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"

#define STUB_SIGNALS (1UL << (SIGSYS - 1) | 1UL << 63)

/* ---- CPUs of the cell ---- */

void cpus_list(struct textbuf *b)
{
	if (cell.spec.cpus > 1)
		text_printf(b, "0-%u", cell.spec.cpus - 1);
	else
		text_puts(b, "0");
}

void cpus_mask(struct textbuf *b)
{
	uint32_t cpus = MIN(MAX(cell.spec.cpus, 1u), 1024u), words = (cpus + 31) / 32;

	for (uint32_t i = words; i-- > 0;) {
		uint32_t in_word = MIN(cpus - i * 32, 32u);
		uint32_t mask = in_word == 32 ? ~0u : (1u << in_word) - 1;

		text_printf(b, i == words - 1 ? "%x" : ",%08x", mask);
	}
}

/* ---- state ---- */

static char state_letter(const struct proc *p, const struct task *tsk, const struct task *reader,
			 char host)
{
	if (p->state == PROC_ZOMBIE)
		return 'Z';
	if (p->state == PROC_STOPPED)
		return 'T';
	if (tsk && tsk == reader)
		return 'R'; /* it reads this: on the host it waits for our answer */
	return host && strchr("RSD", host) ? host : 'S';
}

static const char *state_word(char c)
{
	switch (c) {
	case 'R':
		return "R (running)";
	case 'D':
		return "D (disk sleep)";
	case 'T':
		return "T (stopped)";
	case 'Z':
		return "Z (zombie)";
	default:
		return "S (sleeping)";
	}
}

/* ---- status ---- */

static void status_memory(struct textbuf *b, const char *host)
{
	static const char *const keys[] = {
		"VmPeak:",  "VmSize:",	"VmLck:",    "VmPin:",	      "VmHWM:", "VmRSS:",
		"RssAnon:", "RssFile:", "RssShmem:", "VmData:",	      "VmStk:", "VmExe:",
		"VmLib:",   "VmPTE:",	"VmSwap:",   "HugetlbPages:",
	};
	const char *v;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		v = text_field(host, keys[i]);
		text_printf(b, "%s\t%8lu kB\n", keys[i], v ? strtoul(v, NULL, 10) : 0);
	}
	text_puts(b, "CoreDumping:\t0\nTHP_enabled:\t1\n");
}

static uint64_t host_mask(const char *host, const char *key)
{
	const char *v = text_field(host, key);

	return v ? strtoull(v, NULL, 16) : 0;
}

static void status_signals(struct textbuf *b, const struct task *tsk, const char *host)
{
	text_printf(b, "SigQ:\t0/%lu\n", tsk->proc->limits[RLIMIT_SIGPENDING].cur);
	text_printf(b, "SigPnd:\t%016lx\n", host_mask(host, "SigPnd:") & ~STUB_SIGNALS);
	text_printf(b, "ShdPnd:\t%016lx\n",
		    (host_mask(host, "ShdPnd:") & ~STUB_SIGNALS) | tsk->proc->stop_held);
	text_printf(b, "SigBlk:\t%016lx\n", host_mask(host, "SigBlk:") & ~STUB_SIGNALS);
	text_printf(b, "SigIgn:\t%016lx\n", host_mask(host, "SigIgn:") & ~STUB_SIGNALS);
	text_printf(b, "SigCgt:\t%016lx\n",
		    host_mask(host, "SigCgt:") & ~(STUB_SIGNALS | tsk->proc->sig_guarded));
}

static void status_cpus(struct textbuf *b, const char *host)
{
	const char *v;

	text_puts(b, "Cpus_allowed:\t");
	cpus_mask(b);
	text_puts(b, "\nCpus_allowed_list:\t");
	cpus_list(b);
	text_puts(b, "\nMems_allowed:\t00000000,00000001\nMems_allowed_list:\t0\n");
	v = text_field(host, "voluntary_ctxt_switches:");
	text_printf(b, "voluntary_ctxt_switches:\t%lu\n", v ? strtoul(v, NULL, 10) : 0);
	v = text_field(host, "nonvoluntary_ctxt_switches:");
	text_printf(b, "nonvoluntary_ctxt_switches:\t%lu\n", v ? strtoul(v, NULL, 10) : 0);
}

/* A control character in a name would make a line of its own. */
static void put_name(struct textbuf *b, const char *comm)
{
	for (size_t i = 0; i < 16 && comm[i]; i++) {
		if (comm[i] == '\n')
			text_puts(b, "\\n");
		else if (comm[i] == '\\')
			text_puts(b, "\\\\");
		else
			text_put(b, &comm[i], 1);
	}
}

static void status_ids(struct textbuf *b, struct proc *p, const struct task *tsk, pid_t tid)
{
	const struct cred *c = tsk ? &tsk->cred : NULL;
	uint32_t uid, gid;

	proc_owner(p, &uid, &gid);
	text_printf(b, "Tgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", p->pid, tid,
		    proc_ppid(p));
	text_printf(b, "Uid:\t%u\t%u\t%u\t%u\n", c ? c->uid : uid, c ? c->euid : uid,
		    c ? c->suid : uid, c ? c->fsuid : uid);
	text_printf(b, "Gid:\t%u\t%u\t%u\t%u\n", c ? c->gid : gid, c ? c->egid : gid,
		    c ? c->sgid : gid, c ? c->fsgid : gid);
	text_printf(b, "FDSize:\t%u\nGroups:\t", tsk && tsk->files ? tsk->files->size : 0);
	for (uint32_t i = 0; c && i < MIN(c->ngroups, NGROUPS_IN_CELL); i++)
		text_printf(b, "%u ", c->groups[i]);
	if (!c || !c->ngroups)
		text_puts(b, " ");
	text_printf(b, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n", p->pid, tid, p->pgid,
		    p->sid);
}

static int show_status_init(struct textbuf *b)
{
	text_puts(b,
		  "Name:\tinit\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t1\nNgid:\t0\nPid:\t1\n"
		  "PPid:\t0\nTracerPid:\t0\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t64\n"
		  "Groups:\t \nNStgid:\t1\nNSpid:\t1\nNSpgid:\t1\nNSsid:\t1\n");
	status_memory(b, "");
	text_puts(b, "Threads:\t1\nSigQ:\t0/0\n");
	for (int i = 0; i < 5; i++)
		text_printf(b, "%s:\t%016x\n",
			    (const char *[]){ "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt" }[i],
			    0);
	text_puts(b, "CapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\n"
		     "CapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n"
		     "CapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n"
		     "Seccomp_filters:\t0\n");
	status_cpus(b, "");
	return 0;
}

int show_status(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);
	pid_t tid = pi_tid(pi) ? pi_tid(pi) : pi_pid(pi);
	struct hoststat st;
	char host[4096];

	if (pi_pid(pi) == INIT_PID)
		return show_status_init(b);
	if (!p)
		return -ESRCH;
	hostview_stat(p->pid, tid, &st);
	hostview_read(p->pid, tid, "status", host, sizeof(host));
	text_puts(b, "Name:\t");
	put_name(b, tsk ? tsk->comm : p->last_comm);
	text_puts(b, "\n");
	if (tsk)
		text_printf(b, "Umask:\t%04o\n", tsk->fs ? tsk->fs->umask : 022);
	text_printf(b, "State:\t%s\n", state_word(state_letter(p, tsk, t, st.state)));
	status_ids(b, p, tsk, tid);
	if (tsk)
		status_memory(b, host);
	text_printf(b, "Threads:\t%u\n", MAX(p->nthreads, 1u));
	if (tsk) {
		status_signals(b, tsk, host);
		text_printf(b,
			    "CapInh:\t%016lx\nCapPrm:\t%016lx\nCapEff:\t%016lx\nCapBnd:\t%016lx\n"
			    "CapAmb:\t%016lx\n",
			    tsk->cred.cap_inheritable, tsk->cred.cap_permitted,
			    tsk->cred.cap_effective, tsk->cred.cap_bounding, tsk->cred.cap_ambient);
	}
	text_printf(b, "NoNewPrivs:\t%d\nSeccomp:\t%d\nSeccomp_filters:\t%u\n", p->no_new_privs,
		    tsk ? tsk->seccomp_mode : 0,
		    tsk && tsk->seccomp && tsk->seccomp_mode == 2 /* filter */ ? tsk->seccomp->depth
									       : 0);
	text_puts(b, "Speculation_Store_Bypass:\tvulnerable\n"
		     "SpeculationIndirectBranch:\talways enabled\n");
	status_cpus(b, host);
	return 0;
}

/* ---- stat ---- */

static uint64_t rusage_ticks(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 100 + (uint64_t)tv->tv_usec / 10000;
}

/* The encoding of tty_nr: the low byte of the minor, then the major, then the rest of the minor. */
static unsigned tty_number(const struct proc *p)
{
	const struct tty *tty = tty_of(p);
	unsigned low = tty ? minor(tty->rdev) : 0;

	return tty ? (low & 0xff) | major(tty->rdev) << 8 | (low & ~0xffu) << 12 : 0;
}

static int nice_of(const struct proc *p, const struct task *t)
{
	return t ? t->nice : p->nice;
}

int show_stat(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);
	pid_t tid = pi_tid(pi) ? pi_tid(pi) : pi_pid(pi);
	struct hoststat st;
	bool look, zombie;

	if (pi_pid(pi) == INIT_PID) {
		text_puts(b, "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 "
			     "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 "
			     "0 0 0 0\n");
		return 0;
	}
	if (!p)
		return -ESRCH;
	zombie = p->state == PROC_ZOMBIE;
	look = !zombie && proc_may_look(t, p);
	hostview_stat(p->pid, pi_tid(pi), &st);
	text_printf(b, "%d (%.15s) %c %d %d %d %u %d %lu ", tid, tsk ? tsk->comm : p->last_comm,
		    state_letter(p, tsk, t, st.state), proc_ppid(p), p->pgid, p->sid, tty_number(p),
		    tty_of(p) ? tty_of(p)->foreground : -1, zombie ? 4UL : 4194304UL);
	/* 10 to 17: faults and times */
	text_printf(b, "%lu %lu %lu %lu %lu %lu %lu %lu ", st.f[10],
		    (uint64_t)p->child_usage.ru_minflt, st.f[12],
		    (uint64_t)p->child_usage.ru_majflt,
		    zombie ? rusage_ticks(&p->usage.ru_utime) : st.f[14],
		    zombie ? rusage_ticks(&p->usage.ru_stime) : st.f[15],
		    rusage_ticks(&p->child_usage.ru_utime), rusage_ticks(&p->child_usage.ru_stime));
	/* 18 to 25: priority, nice, threads, itrealvalue, start, size */
	text_printf(b, "%d %d %u 0 %ld %lu %lu %lu ", 20 + nice_of(p, tsk), nice_of(p, tsk),
		    MAX(p->nthreads, 1u),
		    ((tsk && pi_tid(pi) ? tsk->start_time : p->start_time) +
		     host_clock(CLOCK_BOOTTIME) - host_clock(CLOCK_MONOTONIC)) /
			    TICK_NS,
		    zombie ? 0 : st.f[23], zombie ? 0 : st.f[24], p->limits[RLIMIT_RSS].cur);
	/* 26 to 30: code and stack; 31 to 37: signals (obsolete) and wchan */
	text_printf(b, "%lu %lu %lu 0 0 ", look ? p->start_code : 0, look ? p->end_code : 0,
		    look ? p->start_stack : 0);
	text_printf(b, "0 %lu %lu %lu %d 0 0 ", st.f[32] & ~STUB_SIGNALS & 0x7fffffff,
		    st.f[33] & ~STUB_SIGNALS & 0x7fffffff, st.f[34] & ~STUB_SIGNALS & 0x7fffffff,
		    zombie ? 0
		    : look ? 0
			   : 1);
	/* 38 to 44 */
	text_printf(b, "%d %lu 0 0 0 0 0 ", pi_tid(pi) && tid != p->pid ? -1 : p->exit_signal,
		    cell.spec.cpus ? st.f[39] % cell.spec.cpus : 0);
	/* 45 to 52: data, brk, arguments, environment, exit code */
	text_printf(b, "%lu %lu %lu %lu %lu %lu %lu %d\n", look ? st.f[45] : 0, look ? st.f[46] : 0,
		    look ? p->start_brk : 0, look ? p->arg_start : 0, look ? p->arg_end : 0,
		    look ? p->env_start : 0, look ? p->env_end : 0, look ? p->wait_status : 0);
	return 0;
}

int show_statm(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	uint64_t v[7] = { 0 };
	char host[256], *s = host;

	(void)t;
	if (!p && pi_pid(pi) != INIT_PID)
		return -ESRCH;
	if (p && p->state != PROC_ZOMBIE && hostview_read(p->pid, 0, "statm", host, sizeof(host)))
		for (size_t i = 0; i < ARRAY_LEN(v); i++)
			v[i] = strtoull(s, &s, 10);
	text_printf(b, "%lu %lu %lu %lu %lu %lu %lu\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
	return 0;
}

/* ---- limits ---- */

static void put_limit(struct textbuf *b, uint64_t v)
{
	if (v == UINT64_MAX)
		text_printf(b, "%-20s ", "unlimited");
	else
		text_printf(b, "%-20lu ", v);
}

int show_limits(struct pinode *pi, struct task *t, struct textbuf *b)
{
	static const struct {
		const char *name, *unit;
	} rows[RLIMITS] = {
		{ "Max cpu time", "seconds" },	   { "Max file size", "bytes" },
		{ "Max data size", "bytes" },	   { "Max stack size", "bytes" },
		{ "Max core file size", "bytes" }, { "Max resident set", "bytes" },
		{ "Max processes", "processes" },  { "Max open files", "files" },
		{ "Max locked memory", "bytes" },  { "Max address space", "bytes" },
		{ "Max file locks", "locks" },	   { "Max pending signals", "signals" },
		{ "Max msgqueue size", "bytes" },  { "Max nice priority", NULL },
		{ "Max realtime priority", NULL }, { "Max realtime timeout", "us" },
	};
	struct proc *p = pi_proc(pi);

	(void)t;
	if (!p && pi_pid(pi) != INIT_PID)
		return -ESRCH;
	text_printf(b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (size_t i = 0; i < RLIMITS; i++) {
		text_printf(b, "%-25s ", rows[i].name);
		put_limit(b, p ? p->limits[i].cur : UINT64_MAX);
		put_limit(b, p ? p->limits[i].max : UINT64_MAX);
		if (rows[i].unit)
			text_printf(b, "%-10s\n", rows[i].unit);
		else
			text_puts(b, "\n");
	}
	return 0;
}

/* ---- scheduler ---- */

int show_schedstat(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	uint64_t v[3] = { 0 };
	char host[128], *s = host;

	(void)t;
	if (p && hostview_read(p->pid, pi_tid(pi), "schedstat", host, sizeof(host)))
		for (size_t i = 0; i < ARRAY_LEN(v); i++)
			v[i] = strtoull(s, &s, 10);
	text_printf(b, "%lu %lu %lu\n", v[0], v[1], v[2]);
	return 0;
}

int show_sched(struct pinode *pi, struct task *t, struct textbuf *b)
{
	struct proc *p = pi_proc(pi);
	struct task *tsk = pi_task(pi);

	(void)t;
	if (!p)
		return -ESRCH;
	text_printf(b, "%.15s (%d, #threads: %u)\n", tsk ? tsk->comm : p->last_comm, pi_pid(pi),
		    MAX(p->nthreads, 1u));
	text_puts(b, "-------------------------------------------------------------------\n");
	text_printf(b, "%-45s:%21d\n%-45s:%21d\n", "policy", 0, "prio",
		    120 + nice_of(p, pi_task(pi)));
	return 0;
}
