/* Users, capabilities, groups, sessions, limits and prctl, with this process as the guest and
 * made-up tables. */
/* objects: src/kernel/sys/ids.c src/kernel/sys/session.c src/kernel/sys/limits.c src/kernel/sys/prctl.c src/kernel/sys/target.c src/kernel/task/cred.c src/kernel/task/inherit.c src/kernel/platform/guestmem.c src/kernel/platform/cell.c src/host/procmem.c src/host/file.c src/host/sys.c src/base/log.c */
#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/limits.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "tap.h"

static struct proc procs[3]; /* parent (this process), a child of it, a stranger */
static struct task tasks[3];
static struct waitq births;
static bool birth;

void fast_changed(struct task *t)
{
	(void)t;
}

void fast_id_told(struct task *t)
{
	(void)t;
}

void fast_limit_changed(struct proc *p)
{
	(void)p;
}

struct waitq *births_pending(void)
{
	return birth ? &births : NULL;
}

int64_t births_wait(struct task *t)
{
	return birth ? call_wait(t, &births, ~0u, PARK_NOINTR) : -ESRCH;
}

int call_wait(struct task *t, struct waitq *q, uint32_t events, enum park_kind kind)
{
	(void)t, (void)q, (void)events, (void)kind;
	return WAITING;
}

struct proc *proc_find(pid_t pid)
{
	for (int i = 0; i < 3; i++)
		if (procs[i].pid == pid)
			return &procs[i];
	return NULL;
}

struct task *task_find(pid_t tid)
{
	return proc_find(tid) ? &tasks[proc_find(tid) - procs] : NULL;
}

struct task *proc_leader(struct proc *p)
{
	return &tasks[p - procs];
}

struct proc *proc_next(struct proc *after)
{
	return !after ? procs : after == &procs[2] ? NULL : after + 1;
}

pid_t proc_ppid(const struct proc *p)
{
	return p->parent ? p->parent->pid : 1;
}

bool pgrp_exists(pid_t pgid, pid_t sid)
{
	for (int i = 0; i < 3; i++)
		if (procs[i].pgid == pgid && (!sid || procs[i].sid == sid))
			return true;
	return false;
}

static struct task *me = &tasks[0];

#define CALL(name, ...) sys_##name(me, &(struct sysargs){ { __VA_ARGS__ } })
#define MINUS1 ((uint64_t)-1)
#define UA(p) ((uint64_t)(uintptr_t)(p))

static void reset(uint32_t uid)
{
	for (int i = 0; i < 3; i++) {
		procs[i] = (struct proc){ .pid = i ? 100000000 + i : getpid(), .dumpable = 1 };
		procs[i].pgid = procs[i].sid = 7;
		list_init(&procs[i].threads);
		limits_init(&procs[i]);
		tasks[i] = (struct task){ .tid = procs[i].pid, .proc = &procs[i] };
		cred_init(&tasks[i].cred, uid, uid);
	}
	procs[1].parent = &procs[0];
}

static void test_uids(void)
{
	reset(0);
	eq(CALL(setuid, 1000), 0, "root becomes a user");
	eq(me->cred.suid, 1000, "for good");
	eq((long long)(me->cred.cap_effective | me->cred.cap_permitted), 0,
	   "and loses its capabilities");
	eq(procs[0].dumpable, 0, "and cannot be dumped");
	eq(CALL(setuid, 0), -EPERM, "there is no way back");
	reset(0);
	eq(CALL(setresuid, MINUS1, 1000, MINUS1), 0, "only the effective one");
	eq((long long)me->cred.cap_effective, 0, "nothing is effective");
	ok(me->cred.cap_permitted == CAP_FULL, "all is permitted");
	eq(CALL(setresuid, MINUS1, 0, MINUS1), 0, "back");
	ok(me->cred.cap_effective == CAP_FULL, "with everything");
	eq(CALL(prctl, PR_SET_KEEPCAPS, 1), 0, "keep capabilities");
	eq(CALL(setuid, 5), 0, "and go");
	ok(me->cred.cap_permitted == CAP_FULL && !me->cred.cap_effective,
	   "they are kept, not effective");
	reset(1000);
	eq(CALL(setreuid, 1000, 1001), -EPERM, "an unknown user");
	eq(CALL(setuid, MINUS1), -EINVAL, "no user at all");
	eq(CALL(setfsuid, 3), 1000, "setfsuid tells the old one");
	eq(CALL(setfsuid, MINUS1), 1000, "and nothing has changed");
	reset(0);
	eq(CALL(setfsuid, 3), 0, "root changes it");
	ok(!cred_has_cap(&me->cred, CAP_DAC_OVERRIDE) && cred_has_cap(&me->cred, CAP_SETUID),
	   "and only the rights over files go");
	eq(CALL(setreuid, 10, 20), 0, "setreuid");
	eq(me->cred.suid, 20, "sets the saved one too");
}

static void test_groups(void)
{
	uint32_t in[3] = { 30, 10, 20 }, out[3];

	reset(0);
	eq(CALL(setgroups, 3, UA(in)), 0, "setgroups");
	eq(CALL(getgroups, 0, 0), 3, "their number");
	eq(CALL(getgroups, 2, UA(out)), -EINVAL, "too little room");
	eq(CALL(getgroups, 3, UA(out)), 3, "getgroups");
	ok(out[0] == 10 && out[1] == 20 && out[2] == 30, "sorted");
	ok(cred_in_group(&me->cred, 20) && cred_in_group(&me->cred, 0) &&
		   !cred_in_group(&me->cred, 5),
	   "member");
	eq(CALL(getgroups, 3, 8), -EFAULT, "a bad place");
	eq(CALL(getgroups, MINUS1, 0), -EINVAL, "a negative size");
	reset(1000);
	eq(CALL(setgroups, 0, 0), -EPERM, "not for users");
	eq(CALL(setgid, 1), -EPERM, "setgid neither");
	eq(CALL(setresgid, 1000, 1000, MINUS1), 0, "what one is already");
}

static void test_caps(void)
{
	struct __user_cap_header_struct h = { 0x1234, 0 };
	struct __user_cap_data_struct d[2];

	reset(0);
	eq(CALL(capget, UA(&h), 0), 0, "asking for the version");
	ok(h.version == _LINUX_CAPABILITY_VERSION_3, "is answered");
	h.version = 1;
	eq(CALL(capget, UA(&h), UA(d)), -EINVAL, "a version that is not there");
	eq(CALL(capget, UA(&h), UA(d)), 0, "the one that was told is");
	ok(d[0].effective == 0xffffffff && d[1].effective == 0x1ff, "root has all");
	d[0].effective = d[1].effective = d[1].permitted = 0;
	eq(CALL(capset, UA(&h), UA(d)), 0, "some are given up");
	d[1].permitted = 1;
	eq(CALL(capset, UA(&h), UA(d)), -EPERM, "and not had again");
	eq(CALL(prctl, PR_CAPBSET_READ, 41), -EINVAL, "a capability too many");
	eq(CALL(prctl, PR_CAPBSET_DROP, 3), -EPERM, "dropping takes one");
	me->cred.cap_inheritable = me->cred.cap_permitted;
	eq(CALL(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 3, 0, 0), 0, "ambient");
	eq(CALL(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 3, 0, 0), 1, "is set");
	me->cred.uid = me->cred.euid = 9;
	cred_exec(&me->cred);
	ok(me->cred.cap_effective == CAP_MASK(3), "and survives exec");
}

static void test_sessions(void)
{
	pid_t self = procs[0].pid, child = procs[1].pid;

	reset(0);
	eq(CALL(getpgid, 0), 7, "group of the caller");
	eq(CALL(getsid, 55), -ESRCH, "of nobody");
	birth = true;
	eq(CALL(setpgid, 55, 0), WAITING, "of somebody who may just be born");
	birth = false;
	eq(CALL(setpgid, 0, MINUS1), -EINVAL, "a negative group");
	eq(CALL(setpgid, procs[2].pid, 0), -ESRCH, "a stranger");
	eq(CALL(setpgid, child, 12345), -EPERM, "a group that is not there");
	eq(CALL(setpgid, child, child), 0, "a child leads its own");
	eq(CALL(setpgid, 0, child), 0, "and another joins");
	procs[1].did_exec = true;
	eq(CALL(setpgid, child, 7), -EACCES, "not after exec");
	eq(CALL(setsid), self, "a new session");
	eq(procs[0].pgid, self, "and group");
	eq(CALL(setsid), -EPERM, "only once");
	eq(CALL(setpgid, 0, 0), -EPERM, "a session leader stays");
	eq(CALL(setpgid, child, 0), -EPERM, "a child of another session");
	eq(CALL(getppid), 1, "the parent is the cell's init");
}

static void test_limits(void)
{
	struct klimit l = { 10, 5 }, old;

	reset(1000);
	eq(CALL(setrlimit, RLIMIT_NOFILE, UA(&l)), -EINVAL, "soft above hard");
	l.max = 1 << 30;
	eq(CALL(setrlimit, RLIMIT_NOFILE, UA(&l)), -EPERM, "more files than any process can have");
	l.max = 20;
	eq(CALL(prlimit64, 0, RLIMIT_NOFILE, UA(&l), UA(&old)), 0, "less");
	ok(old.cur == 1024 && procs[0].limits[RLIMIT_NOFILE].max == 20,
	   "set, and the old one told");
	l.max = 21;
	eq(CALL(setrlimit, RLIMIT_NOFILE, UA(&l)), -EPERM, "not more again");
	eq(CALL(getrlimit, 16, UA(&l)), -EINVAL, "no such limit");
	tasks[1].cred.suid = 5;
	eq(CALL(prlimit64, procs[1].pid, RLIMIT_NOFILE, 0, UA(&old)), -EPERM, "another user's");
	eq(CALL(prlimit64, 55, RLIMIT_NOFILE, 0, UA(&old)), -ESRCH, "nobody's");
	eq(CALL(getpriority, PRIO_PROCESS, 0), 20, "nice 0");
	eq(CALL(setpriority, PRIO_PROCESS, 0, 5), 0, "nicer");
	eq(CALL(getpriority, PRIO_PROCESS, 0), 15, "is lower");
	eq(CALL(setpriority, PRIO_PROCESS, 0, 0), -EACCES, "and stays so");
	eq(CALL(setpriority, 3, 0, 0), -EINVAL, "no such kind");
	eq(CALL(getpriority, PRIO_USER, 4711), -ESRCH, "no such user");
}

static void test_prctl(void)
{
	char name[16];
	int sig = 0;

	reset(1000);
	eq(CALL(prctl, PR_SET_NAME, UA("a name that is too long")), 0, "a long name");
	eq(CALL(prctl, PR_GET_NAME, UA(name)), 0, "comes back");
	ok(!strcmp(name, "a name that is "), "cut");
	eq(CALL(prctl, PR_SET_NAME, 8), -EFAULT, "no name");
	eq(CALL(prctl, PR_SET_PDEATHSIG, 65), -EINVAL, "no such signal");
	eq(CALL(prctl, PR_SET_PDEATHSIG, 15), 0, "one that is");
	eq(CALL(prctl, PR_GET_PDEATHSIG, UA(&sig)), 0, "is asked for");
	eq(sig, 15, "and told");
	eq(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 1), -EINVAL, "arguments that must be 0");
	eq(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1), 0, "no new privileges");
	eq(CALL(prctl, PR_GET_NO_NEW_PRIVS), 1, "is set");
	eq(CALL(prctl, PR_GET_TIMERSLACK), 50000, "timer slack");
	eq(CALL(prctl, 9999), -EINVAL, "no such option");
}

int main(void)
{
	cell.spec.cpus = 2;
	test_uids();
	test_groups();
	test_caps();
	test_sessions();
	test_limits();
	test_prctl();
	return tap_end();
}
