/* Families about processes: signals, waiting, time, limits, prctl, scheduling, ids. */
#include "diff.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>

static const struct sym sigs[] = { S(0), S(SIGUSR1), S(SIGUSR2), S(SIGCHLD), S(SIGURG), S(SIGCONT), S(SIGKILL), S(SIGSTOP), S(SIGPIPE), S(34), S(40),
				   S(63), S(62), S(65), S(-1), S(SIGTERM), S(SIGWINCH), S(33), S(1000) };
static volatile sig_atomic_t hits[70];
static volatile int last_code;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	hits[sig]++;
	last_code = info->si_code;
}
static void on_plain(int sig)
{
	hits[sig]++;
}
static void hits_note(void)
{
	sigset_t set;

	for (int i = 1; i < 65; i++)
		if (hits[i])
			note(" h%d:%d", i, (int)hits[i]);
	sigpending(&set);
	for (int i = 1; i < 65; i++)
		if (sigismember(&set, i) == 1)
			note(" p%d", i);
}

struct ksigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static void fam_sigaction(void)
{
	static const struct sym flags[] = { S(SA_NOCLDSTOP), S(SA_NOCLDWAIT), S(SA_SIGINFO), S(SA_ONSTACK), S(SA_RESTART), S(SA_NODEFER), S(SA_RESETHAND),
					    S(0x400), S(0x800), S(0x10000) };
	static const struct sym handlers[] = { S(SIG_DFL), S(SIG_IGN), S(on_plain), S(on_signal) };
	static const struct sym sizes[] = { S(8), S(8), S(8), S(8), S(8), S(8), S(8), S(16), S(0), S(4) };
	char text[300];

	for (int i = 0; i < 3; i++) {
		const struct sym *s = pick(sigs), *h = pick(handlers), *z = pick(sizes);
		struct ksigaction get, set = { 0 };
		struct sigaction lib = { 0 };
		long f = pick_flags(flags, COUNT(flags), 20, text, sizeof(text));

		if (chance(50)) {
			/* Without a restorer, as it is only set and read back; given a real one by
			 * the library below. */
			set.handler = (void (*)(int))h->v;
			set.flags = (unsigned long)f & ~0x04000000ul;
			set.mask = (rnd(1ull << 40) << rnd(24)) & ~(1ul << 30) & ~(1ul << 63); /* SIGSYS, 64: reserved */
			memset(&get, 0x33, sizeof(get));
			call("rt_sigaction(%s, %s %s %lx, size %s)", s->name, h->name, text, set.mask, z->name);
			res(sys(SYS_rt_sigaction, s->v, chance(80) ? &set : NULL, NULL, z->v));
			call("rt_sigaction(%s, read)", s->name);
			if (!res(sys(SYS_rt_sigaction, s->v, NULL, &get, 8)))
				note(" %d flags %lx mask %lx", get.handler == set.handler, get.flags & ~0x04000000ul, get.mask);
		} else if (s->v > 0 && s->v < 65 && s->v != 33) {
			lib.sa_sigaction = on_signal;
			lib.sa_flags = SA_SIGINFO | (int)(f & (SA_RESETHAND | SA_NODEFER | SA_RESTART));
			call("sigaction(%s, %x) and raise", s->name, (unsigned)lib.sa_flags);
			if (res(sigaction((int)s->v, &lib, NULL)) || s->v == SIGKILL || s->v == SIGSTOP)
				continue;
			res(sys(SYS_tgkill, getpid(), gettid(), s->v));
			sigaction((int)s->v, NULL, &lib);
			note(" code %d now %d", last_code, lib.sa_sigaction == on_signal);
			hits_note();
		}
	}
}

static void fam_sigmask(void)
{
	static const struct sym hows[] = { S(SIG_BLOCK), S(SIG_BLOCK), S(SIG_UNBLOCK), S(SIG_SETMASK), S(3), S(-1) };
	struct sigaction a = { .sa_flags = SA_SIGINFO };

	a.sa_sigaction = on_signal;
	for (int i = 1; i < 65; i++)
		if (i != SIGALRM)
			sigaction(i, &a, NULL);
	for (int i = 0; i < 6; i++) {
		const struct sym *h = pick(hows), *s = pick(sigs);
		unsigned long set = rnd(UINT64_MAX), old = 0;
		siginfo_t info;
		struct timespec ts = { 0, chance(10) ? -1 : 0 };
		long r;

		/* The alarm clock of the runner stays usable. */
		set &= ~(1ul << (SIGALRM - 1)) & ~(1ul << 32) & ~(1ul << 31) & ~(1ul << 30) & ~(1ul << 63);
		switch (rnd(5)) {
		case 0:
		case 1:
			call("rt_sigprocmask(%s, %lx)", h->name, set);
			res(sys(SYS_rt_sigprocmask, h->v, chance(90) ? &set : NULL, &old, chance(95) ? 8 : 4));
			note(" was %lx", old);
			break;
		case 2:
			if (s->v == SIGKILL || s->v == SIGSTOP || s->v == 33)
				break;
			call("kill(self, %s)", s->name);
			res(sys(SYS_kill, getpid(), s->v));
			break;
		case 3:
			memset(&info, 0, sizeof(info));
			call("rt_sigtimedwait(%lx, %ld)", set, ts.tv_nsec);
			r = sys(SYS_rt_sigtimedwait, &set, &info, &ts, 8);
			res(r);
			if (r > 0)
				note(" %d code %d %s", info.si_signo, info.si_code, info.si_pid == getpid() ? "me" : "other");
			break;
		default:
			if (s->v == SIGKILL || s->v == SIGSTOP || s->v == 33 || s->v == SIGALRM)
				break;
			memset(&info, 0, sizeof(info));
			info.si_signo = (int)s->v;
			info.si_code = chance(50) ? SI_QUEUE : chance(50) ? -60 : SI_TKILL;
			info.si_value.sival_int = 42;
			call("rt_sigqueueinfo(self, %s, %d)", s->name, info.si_code);
			res(sys(SYS_rt_sigqueueinfo, getpid(), s->v, &info));
			break;
		}
		hits_note();
	}
}

static void fam_kill(void)
{
	static const struct sym pids[] = { S(-2), S(0), S(99999999), S(-99999999), S(-1000), S(1), S(0x7fffffff), S(-3) };
	const struct sym *s = pick(sigs), *p = pick(pids);
	pid_t child = fork();
	int status = 0;

	if (!child) {
		signal(SIGALRM, SIG_DFL);
		alarm(3);
		for (;;)
			pause();
	}
	if (chance(60)) {
		switch (rnd(4)) {
		case 0:
			call("kill(child, %s)", s->name);
			res(sys(SYS_kill, child, s->v));
			break;
		case 1:
			call("tkill(child, %s)", s->name);
			res(sys(SYS_tkill, child, s->v));
			break;
		case 2:
			call("tgkill(child, child, %s)", s->name);
			res(sys(SYS_tgkill, child, child, s->v));
			break;
		default:
			call("tgkill(self, child, %s)", s->name);
			res(sys(SYS_tgkill, getpid(), child, s->v));
			break;
		}
		if (s->v == SIGSTOP) {
			pid_t r = waitpid(child, &status, WUNTRACED);

			note(" stop %d %x", r == child, status);
		}
	} else if (p->v > 1 || p->v < -1000) {
		call("kill(%s, %s)", p->name, s->name);
		res(sys(SYS_kill, p->v, s->v));
	} else {
		call("tgkill(%s, %s, %s)", p->name, p->name, s->name);
		res(sys(SYS_tgkill, p->v < 0 ? p->v : -1, p->v, s->v));
	}
	if (s->v <= 0 || s->v == SIGSTOP || s->v == SIGCHLD || s->v == SIGURG || s->v == SIGCONT || s->v == SIGWINCH)
		note(" alive %d", waitpid(child, &status, WNOHANG));
	kill(child, SIGCONT);
	usleep(2000);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	note(" status %x", status);
}

static void fam_wait(void)
{
	static const struct sym opts[] = { S(WNOHANG), S(WUNTRACED), S(WCONTINUED), S(WEXITED), S(WSTOPPED), S(WNOWAIT), S(__WALL), S(__WCLONE), S(__WNOTHREAD),
					   S(0x100) };
	static const struct sym kinds[] = { S(P_ALL), S(P_PID), S(P_PGID), S(P_PIDFD), S(7) };
	static const struct sym whos[] = { S(-1), S(0), S(1), S(99999999), S(-99999999) };
	int how = (int)rnd(5), status = 0x7777;
	const struct sym *k = pick(kinds), *w = pick(whos);
	char text[300];
	long opt, r;
	siginfo_t info;
	struct rusage ru;
	pid_t child = fork(), who;

	if (!child) {
		signal(SIGALRM, SIG_DFL);
		alarm(3);
		if (how == 0)
			_exit(17);
		if (how == 1)
			kill(getpid(), SIGUSR1);
		if (how == 2)
			kill(getpid(), SIGSTOP);
		for (;;)
			pause();
	}
	/* Until the child is in the state that is asked for. */
	if (how <= 1)
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	if (how == 2)
		waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT);
	kill(child, 0); /* a child on its way is known from here on */
	for (int i = 0; i < 3; i++) {
		bool real = chance(70);

		opt = pick_flags(opts, COUNT(opts), 18, text, sizeof(text)) | WNOHANG;
		memset(&info, 0, sizeof(info));
		who = real ? child : (pid_t)w->v;
		if (chance(50)) {
			call("wait4(%d %s, %s, %s)", how, real ? "child" : w->name, text, "st");
			r = sys(SYS_wait4, who, chance(4) ? BAD_PTR : &status, opt, chance(50) ? &ru : NULL);
			if (r > 0)
				note(" = %s", r == child ? "child" : "other");
			else
				res(r);
			note(" %x", status);
		} else {
			call("waitid(%d %s, %s, %s)", how, k->name, real ? "child" : w->name, text);
			/* A group's id as P_PGID of a child that is in ours: only our own number
			 * means something. */
			r = sys(SYS_waitid, k->v, k->v == P_PGID && real ? 0 : k->v == P_PIDFD ? 77 : who, &info, opt, NULL);
			res(r);
			if (!r)
				note(" %d %d %d %s", info.si_signo, info.si_code, info.si_status, info.si_pid == child ? "child" : "none");
		}
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static const struct sym clocks[] = { S(CLOCK_REALTIME), S(CLOCK_MONOTONIC), S(CLOCK_PROCESS_CPUTIME_ID), S(CLOCK_THREAD_CPUTIME_ID), S(CLOCK_MONOTONIC_RAW),
				     S(CLOCK_REALTIME_COARSE), S(CLOCK_MONOTONIC_COARSE), S(CLOCK_BOOTTIME), S(CLOCK_TAI), S(CLOCK_REALTIME_ALARM), S(10), S(99),
				     S(-1), S(-100) };

static void fam_time(void)
{
	static const struct sym secs[] = { S(0), S(0), S(-1), S(100), S(1L << 62) };
	static const struct sym ns[] = { S(0), S(1), S(1000), S(999999999), S(1000000000), S(-1) };
	static const struct sym which[] = { S(ITIMER_REAL), S(ITIMER_VIRTUAL), S(ITIMER_PROF), S(3), S(-1) };
	static const struct sym notify[] = { S(SIGEV_NONE), S(SIGEV_SIGNAL), S(SIGEV_THREAD_ID | SIGEV_SIGNAL), S(SIGEV_THREAD), S(9) };
	const struct sym *c = pick(clocks), *s = pick(secs), *n = pick(ns), *s2 = pick(secs), *n2 = pick(ns), *w = pick(which), *e = pick(notify),
			 *g = pick(sigs);
	struct timespec ts = { s->v, n->v }, left = { 0 };
	struct itimerval it = { { s2->v, n2->v }, { s->v, n->v } }, was;
	struct itimerspec its = { { s2->v, n2->v }, { s->v, n->v } }, cur;
	struct sigevent sev = { 0 };
	struct tms tms;
	int id = -1;

	signal(SIGVTALRM, SIG_IGN);
	signal(SIGPROF, SIG_IGN);
	switch (rnd(9)) {
	case 0:
		call("clock_gettime(%s)", c->name);
		res(sys(SYS_clock_gettime, c->v, &ts));
		break;
	case 1:
		call("clock_getres(%s)", c->name);
		ts.tv_nsec = 0;
		if (!res(sys(SYS_clock_getres, c->v, &ts)))
			note(" %ld", ts.tv_nsec);
		break;
	case 2:
		if (s->v > 0 || n->v == 999999999)
			ts.tv_sec = -1;
		call("clock_nanosleep(%s, %ld.%s)", c->name, ts.tv_sec, n->name);
		res(sys(SYS_clock_nanosleep, c->v, chance(30) ? 1 : 0, &ts, &left));
		break;
	case 3:
		if (s->v > 0 || n->v == 999999999)
			ts.tv_sec = -1;
		call("nanosleep(%ld.%s)", ts.tv_sec, n->name);
		res(sys(SYS_nanosleep, chance(5) ? BAD_PTR : &ts, &left));
		break;
	case 4:
		if (w->v == ITIMER_REAL) /* the runner's alarm clock */
			signal(SIGALRM, SIG_IGN);
		call("setitimer(%s, %s.%s, %s.%s)", w->name, s->name, n->name, s2->name, n2->name);
		res(sys(SYS_setitimer, w->v, &it, &was));
		memset(&was, 0, sizeof(was));
		res(sys(SYS_getitimer, w->v, &was));
		note(" armed %d every %lld.%06lld", was.it_value.tv_sec > 50, (long long)was.it_interval.tv_sec, (long long)was.it_interval.tv_usec);
		break;
	case 5:
	case 6:
		sev.sigev_notify = (int)e->v;
		sev.sigev_signo = (int)g->v;
		sev._sigev_un._tid = gettid();
		if (g->v > 0 && g->v < 65)
			signal((int)g->v, SIG_IGN);
		call("timer_create(%s, %s %s)", c->name, e->name, g->name);
		res(sys(SYS_timer_create, c->v, chance(90) ? &sev : NULL, &id));
		call("timer_settime(%s.%s, %s.%s)", s->name, n->name, s2->name, n2->name);
		if (its.it_interval.tv_sec == 0 && its.it_interval.tv_nsec > 0 && its.it_interval.tv_nsec < 10000)
			its.it_interval.tv_nsec = 0;
		if (sev.sigev_notify != SIGEV_SIGNAL || g->v != SIGALRM)
			res(sys(SYS_timer_settime, id, chance(30) ? 1 : 0, &its, &cur));
		memset(&cur, 0, sizeof(cur));
		res(sys(SYS_timer_gettime, id, &cur));
		note(" armed %d", cur.it_value.tv_sec > 50);
		res(sys(SYS_timer_getoverrun, id));
		res(sys(SYS_timer_delete, id));
		res(sys(SYS_timer_delete, id));
		break;
	case 7:
		call("times");
		res_sign(times(&tms));
		break;
	default:
		call("alarm");
		res(alarm(0) > 0);
		res(alarm(100));
		res(alarm(0));
		break;
	}
}

static void fam_rlimit(void)
{
	static const struct sym which[] = { S(RLIMIT_CPU), S(RLIMIT_FSIZE), S(RLIMIT_DATA), S(RLIMIT_STACK), S(RLIMIT_CORE), S(RLIMIT_RSS), S(RLIMIT_NOFILE),
					    S(RLIMIT_AS), S(RLIMIT_LOCKS), S(RLIMIT_SIGPENDING), S(RLIMIT_MSGQUEUE), S(RLIMIT_NICE), S(RLIMIT_RTPRIO),
					    S(RLIMIT_RTTIME), S(16), S(-1) };
	static const struct sym vals[] = { S(-1), S(1 << 30), S(100000000), S(1L << 40), S(500), S(200000000) };
	const struct sym *r = pick(which);

	for (int i = 0; i < 3; i++) {
		const struct sym *a = pick(vals), *b = pick(vals);
		struct rlimit set = { (rlim_t)a->v, (rlim_t)b->v }, get = { 5, 5 };
		bool write_it = chance(80);

		/* So small a space ends the process, which is what it is for. */
		if (r->v == RLIMIT_AS || r->v == RLIMIT_DATA || r->v == RLIMIT_STACK) {
			if (a->v == 500)
				set.rlim_cur = 1 << 30;
		}
		/* A host's root may lack CAP_SYS_RESOURCE, and hard limits of two hosts differ:
		 * only downwards. */
		if (!sys(SYS_prlimit64, 0, r->v, NULL, &get) && set.rlim_max > get.rlim_max && set.rlim_max != RLIM_INFINITY - 1) {
			call("prlimit64(%s) upwards", r->name);
			continue;
		}
		call("prlimit64(%s, %ld %ld, %d)", r->name, (long)set.rlim_cur, b->v, write_it);
		res(sys(SYS_prlimit64, chance(85) ? 0 : chance(50) ? getpid() : 99999999, r->v, write_it ? &set : NULL, NULL));
		if (write_it && !sys(SYS_prlimit64, 0, r->v, NULL, &get) && get.rlim_cur == set.rlim_cur)
			note(" set %ld %ld", (long)get.rlim_cur, (long)get.rlim_max);
	}
}

static void fam_fsize(void)
{
	struct rlimit set = { rnd(9000), RLIM_INFINITY };
	struct stat st;
	int fd = open("f", O_RDWR);
	static char big[20000];

	signal(SIGXFSZ, on_plain);
	setrlimit(RLIMIT_FSIZE, &set);
	for (int i = 0; i < 4; i++) {
		long at = (long)rnd(10000), n = (long)rnd(12000);

		switch (rnd(3)) {
		case 0:
			call("pwrite(limit %lu, %ld, %ld)", (long)set.rlim_cur, n, at);
			res(pwrite(fd, big, (size_t)n, at));
			break;
		case 1:
			call("ftruncate(limit %lu, %ld)", (long)set.rlim_cur, at);
			res(ftruncate(fd, at));
			break;
		default:
			call("fallocate(limit %lu, %ld, %ld)", (long)set.rlim_cur, at, n);
			res(fallocate(fd, 0, at, n));
			break;
		}
		fstat(fd, &st);
		stat_note(&st);
		hits_note();
	}
}

static void fam_prctl(void)
{
	static const struct sym ops[] = { S(PR_SET_PDEATHSIG), S(PR_GET_PDEATHSIG), S(PR_GET_DUMPABLE), S(PR_SET_DUMPABLE), S(PR_GET_KEEPCAPS),
					  S(PR_SET_KEEPCAPS), S(PR_SET_NAME), S(PR_GET_NAME), S(PR_GET_SECUREBITS), S(PR_CAPBSET_READ), S(PR_CAPBSET_DROP),
					  S(PR_SET_NO_NEW_PRIVS), S(PR_GET_NO_NEW_PRIVS), S(PR_SET_TIMERSLACK), S(PR_GET_TIMERSLACK),
					  S(PR_SET_CHILD_SUBREAPER), S(PR_GET_CHILD_SUBREAPER), S(PR_SET_THP_DISABLE), S(PR_GET_THP_DISABLE),
					  S(PR_CAP_AMBIENT), S(PR_GET_TID_ADDRESS), S(PR_SET_TIMING), S(PR_GET_TIMING), S(PR_GET_FPEMU), S(PR_GET_UNALIGN),
					  S(PR_GET_ENDIAN), S(PR_GET_TSC), S(PR_MCE_KILL_GET), S(PR_SET_MM), S(9999), S(-1), S(PR_SET_IO_FLUSHER),
					  S(PR_GET_SPECULATION_CTRL), S(PR_TASK_PERF_EVENTS_DISABLE), S(PR_GET_FP_MODE), S(PR_SVE_GET_VL) };
	static const struct sym args[] = { S(0), S(1), S(2), S(3), S(9), S(15), S(40), S(64), S(65), S(-1), S(1000) };

	for (int i = 0; i < 3; i++) {
		const struct sym *o = pick(ops), *a = pick(args), *b = pick(args);
		char name[64] = "a name that is long";
		int value[4] = { 77, 77, 77, 77 };
		bool ptr = o->v == PR_GET_PDEATHSIG || o->v == PR_GET_CHILD_SUBREAPER || o->v == PR_GET_TID_ADDRESS || o->v == PR_GET_FPEMU ||
			   o->v == PR_GET_UNALIGN || o->v == PR_GET_ENDIAN || o->v == PR_GET_TSC;
		bool str = o->v == PR_SET_NAME || o->v == PR_GET_NAME;
		bool rest = chance(15);
		long r;

		if (str)
			name[rnd(18)] = 0;
		call("prctl(%s, %s, %s, %d)", o->name, ptr ? "&value" : str ? name : a->name, b->name, rest);
		r = sys(SYS_prctl, o->v, ptr ? (long)value : str ? (long)name : a->v, o->v == PR_CAP_AMBIENT || rest ? b->v : 0, rest, 0);
		if (o->v == PR_GET_SPECULATION_CTRL) /* the processor's */
			res_sign(r);
		else
			res(r);
		if (ptr && o->v != PR_GET_TID_ADDRESS)
			note(" %d", value[0]);
		if (str)
			note(" '%.20s'", name);
	}
}

static void fam_sched(void)
{
	static const struct sym pols[] = { S(SCHED_OTHER), S(SCHED_FIFO), S(SCHED_RR), S(SCHED_BATCH), S(SCHED_IDLE), S(4), S(-1), S(99) };
	static const struct sym prios[] = { S(0), S(1), S(50), S(99), S(100), S(-1) };
	static const struct sym who[] = { S(0), S(0), S(0), S(-1), S(99999999) };
	static const struct sym nices[] = { S(0), S(5), S(19), S(20), S(100), S(10) };
	static const struct sym kinds[] = { S(PRIO_PROCESS), S(PRIO_PGRP), S(3), S(-1) };
	const struct sym *p = pick(pols), *o = pick(prios), *w = pick(who), *n = pick(nices), *k = pick(kinds);
	struct sched_param sp = { (int)o->v };
	unsigned char mask[1024] = { 0 };
	long r;

	switch (rnd(9)) {
	case 0:
		call("sched_get_priority_max/min(%s)", p->name);
		res(sys(SYS_sched_get_priority_max, p->v));
		res(sys(SYS_sched_get_priority_min, p->v));
		break;
	case 1:
		call("sched_getscheduler(%s)", w->name);
		res(sys(SYS_sched_getscheduler, w->v));
		break;
	case 2:
		call("sched_getparam(%s)", w->name);
		res(sys(SYS_sched_getparam, w->v, chance(10) ? NULL : &sp));
		note(" %d", sp.sched_priority);
		break;
	case 3:
		if (p->v == SCHED_FIFO || p->v == SCHED_RR)
			sp.sched_priority = o->v == 0 || o->v >= 100 || o->v < 0 ? (int)o->v : 0;
		call("sched_setscheduler(%s, %s, %d)", w->name, p->name, sp.sched_priority);
		res(sys(SYS_sched_setscheduler, w->v, p->v, &sp));
		res(sys(SYS_sched_getscheduler, 0));
		break;
	case 4:
		r = (long)rnd(20) * 4;
		call("sched_getaffinity(%s, %ld)", w->name, r);
		r = sys(SYS_sched_getaffinity, w->v, r, mask);
		if (r > 0)
			note(" = ok %d", mask[0] != 0);
		else
			res(r);
		break;
	case 5:
		mask[0] = chance(50) ? 0 : 1;
		call("sched_setaffinity(%s, %d)", w->name, mask[0]);
		res(sys(SYS_sched_setaffinity, w->v, chance(90) ? 128 : 0, mask));
		break;
	case 6:
		call("setpriority(%s, %s, %s)", k->name, w->name, n->name);
		res(sys(SYS_setpriority, k->v, w->v, n->v));
		res(sys(SYS_getpriority, PRIO_PROCESS, 0));
		break;
	case 7:
		call("getpriority(%s, %s)", k->name, w->name);
		res(sys(SYS_getpriority, k->v, w->v));
		break;
	default:
		call("sched_rr_get_interval(%s)", w->name);
		res(sys(SYS_sched_rr_get_interval, w->v, (long[2]){ 0 }));
		break;
	}
}

static void fam_ids(void)
{
	static const struct sym ids[] = { S(-1), S(-1), S(0), S(1000), S(USER_ID), S(65534), S(5) };

	for (int i = 0; i < 4; i++) {
		const struct sym *a = pick(ids), *b = pick(ids), *c = pick(ids);
		uid_t r[3] = { 0 };
		gid_t g[8] = { 3, 1, 2 };
		int n;

		switch (rnd(11)) {
		case 0:
			call("setuid(%s)", a->name);
			res(sys(SYS_setuid, a->v));
			break;
		case 1:
			call("setgid(%s)", a->name);
			res(sys(SYS_setgid, a->v));
			break;
		case 2:
			call("setreuid(%s, %s)", a->name, b->name);
			res(sys(SYS_setreuid, a->v, b->v));
			break;
		case 3:
			call("setregid(%s, %s)", a->name, b->name);
			res(sys(SYS_setregid, a->v, b->v));
			break;
		case 4:
			call("setresuid(%s, %s, %s)", a->name, b->name, c->name);
			res(sys(SYS_setresuid, a->v, b->v, c->v));
			break;
		case 5:
			call("setresgid(%s, %s, %s)", a->name, b->name, c->name);
			res(sys(SYS_setresgid, a->v, b->v, c->v));
			break;
		case 6:
			call("setfsuid(%s)", a->name);
			res(sys(SYS_setfsuid, a->v));
			break;
		case 7:
			n = (int)rnd(5) - 1;
			call("setgroups(%d)", n);
			res(sys(SYS_setgroups, n, g));
			n = (int)sys(SYS_getgroups, 8, g);
			note(" %d %u", n, n > 0 ? g[0] : 0);
			break;
		case 8:
			call("getgroups(%d)", (int)rnd(2) - 1);
			res(sys(SYS_getgroups, chance(50) ? -1 : 8, g));
			break;
		case 9:
			call("setpgid/setsid");
			res(sys(SYS_setpgid, chance(70) ? 0 : 99999999, chance(70) ? 0 : -1));
			res_sign(sys(SYS_setsid));
			note(" leader %d %d", getpgrp() == getpid(), getsid(0) == getpid());
			break;
		default:
			call("umask(%lo)", a->v & 07777);
			res(sys(SYS_umask, a->v));
			break;
		}
		sys(SYS_getresuid, &r[0], &r[1], &r[2]);
		note(" u %d %d %d", (int)r[0], (int)r[1], (int)r[2]);
		sys(SYS_getresgid, &r[0], &r[1], &r[2]);
		note(" g %d %d %d", (int)r[0], (int)r[1], (int)r[2]);
	}
}

const struct family proc_families[] = {
	{ "sigaction", fam_sigaction, OWN, 60 }, { "sigmask", fam_sigmask, OWN, 60 },	{ "kill", fam_kill, OWN | USER, 30 },
	{ "wait", fam_wait, OWN, 60 },		 { "time", fam_time, OWN, 100 },	{ "rlimit", fam_rlimit, OWN | USER, 40 },
	{ "fsize", fam_fsize, FIX | OWN, 30 },	 { "prctl", fam_prctl, OWN, 60 },	{ "sched", fam_sched, OWN | USER, 60 },
	{ "ids", fam_ids, OWN | USER, 60 },	 { NULL, NULL, 0, 0 },
};
