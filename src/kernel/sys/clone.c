/* New processes and threads.
 *
 * The stub asks before the host's clone (limits, a copy of the tables); the answer is a token. The child shows it when it announces
 * itself, which proves whose child it is. While a birth is pending, questions about unknown numbers wait for it instead of
 * failing: the parent may know the child's number before we do. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "host/child.h"
#include "host/host.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/vfs/vfs.h"

#define BAD_FLAGS                                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |      \
	 CLONE_NEWNET | CLONE_PTRACE)
#define BIRTHS_MAX 4096
#define BIRTH_AGE (30 * NSEC_PER_SEC)

struct birth {
	struct list link;
	int64_t token;
	pid_t parent_tid, parent_pid;
	uint64_t flags;
	int exit_signal;
	int64_t since;
	struct fdtable *files; /* counted: the table the child gets */
	struct fsctx *fs;      /* counted */
};
OBJ_TYPE(birth_type, struct birth, BIRTHS_MAX);

static struct list births = LIST_INIT(births);
static struct waitq births_q = WAITQ_INIT(births_q);

static void birth_free(struct birth *b)
{
	struct proc *p = proc_find(b->parent_pid);

	if (p && p->pending_births)
		p->pending_births--;
	if (b->files)
		fdtable_put(b->files, NULL);
	if (b->fs)
		fsctx_put(b->fs);
	list_remove(&b->link);
	obj_free(&birth_type, b);
	waitq_wake(&births_q, ~0u);
}

/* Births whose parent died before the host's clone will never come. */
static void births_expire(void)
{
	struct birth *b, *tmp;

	list_for_each_safe(b, tmp, &births, link)
		if (!task_find(b->parent_tid) && now_mono() - b->since > BIRTH_AGE)
			birth_free(b);
}

struct waitq *births_pending(void)
{
	return list_is_empty(&births) ? NULL : &births_q;
}

static uint32_t births_count(void)
{
	return birth_type.count;
}

static uint32_t tasks_of_user(uint32_t uid)
{
	uint32_t n = 0;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		struct task *t = proc_leader(p);

		if (t && t->cred.uid == uid)
			n += p->nthreads;
	}
	return n;
}

static int flags_check(uint64_t flags)
{
	if (flags & BAD_FLAGS)
		return -EPERM;
	if (flags & CLONE_PIDFD)
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && !(flags & CLONE_VM))
		return -EINVAL;
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	return 0;
}

int64_t hc_clone_prep(struct task *t, const struct sysargs *a)
{
	uint64_t flags = a->a[0];
	uint64_t nproc = t->proc->limits[RLIMIT_NPROC].cur;
	struct birth *b;
	int ret = flags_check(flags);

	if (ret < 0)
		return ret;
	if (task_count() + births_count() >= cell.spec.max_tasks) {
		births_expire();
		return -EAGAIN;
	}
	if (nproc < cell.spec.max_tasks && t->cred.uid != 0 && tasks_of_user(t->cred.uid) >= nproc)
		return -EAGAIN;
	b = obj_new(&birth_type);
	if (!b) {
		births_expire();
		return -EAGAIN;
	}
	list_init(&b->link);
	b->parent_tid = t->tid;
	b->parent_pid = t->proc->pid;
	b->flags = flags;
	b->exit_signal = (int)(a->a[1] & 0x7f);
	b->since = now_mono();
	b->files = flags & CLONE_FILES ? fdtable_get(t->files) : fdtable_copy(t->files);
	b->fs = flags & CLONE_FS ? fsctx_get(t->fs) : fsctx_copy(t->fs);
	host_random(&b->token, sizeof(b->token));
	b->token = (b->token & INT64_MAX) | (1L << 40); /* never mistaken for an errno or zero */
	t->proc->pending_births++;
	list_append(&births, &b->link);
	if (!b->files || !b->fs) {
		birth_free(b);
		return -ENOMEM;
	}
	return b->token;
}

static struct birth *birth_find(uint64_t token)
{
	struct birth *b;

	list_for_each(b, &births, link)
		if ((uint64_t)b->token == token)
			return b;
	return NULL;
}

int64_t hc_clone_cancel(struct task *t, const struct sysargs *a)
{
	struct birth *b = birth_find(a->a[0]);

	if (!b || b->parent_tid != t->tid)
		return -EINVAL;
	birth_free(b);
	return 0;
}

static struct proc *proc_fork(const struct birth *b, pid_t pid)
{
	struct proc *pp = proc_find(b->parent_pid), *old = proc_find(pid), *p;
	struct proc *parent = pp && pp->state != PROC_ZOMBIE ? pp : NULL;

	/* The host gave out a number that a zombie of ours still has: its parent never asked for it in a whole round of numbers. */
	if (old && old->state == PROC_ZOMBIE)
		proc_reap(old);
	if ((b->flags & CLONE_PARENT) && parent)
		parent = parent->parent;
	p = proc_new(pid, parent);
	if (!p)
		return NULL;
	p->exit_signal = b->exit_signal;
	if (pp) {
		p->pgid = pp->pgid;
		p->sid = pp->sid;
		p->sig_caught = pp->sig_caught;
		p->chld_ignore = pp->chld_ignore;
		p->chld_nostop = pp->chld_nostop;
		p->no_new_privs = pp->no_new_privs;
		p->dumpable = pp->dumpable;
		p->nice = pp->nice;
		p->oom_score_adj = pp->oom_score_adj;
		p->personality = pp->personality;
		p->exe = pp->exe ? file_get(pp->exe) : NULL;
		memcpy(p->limits, pp->limits, sizeof(p->limits));
		memcpy(p->slots, pp->slots, sizeof(p->slots));
		p->arg_start = pp->arg_start;
		p->arg_end = pp->arg_end;
		p->env_start = pp->env_start;
		p->env_end = pp->env_end;
		p->auxv_addr = pp->auxv_addr;
		p->auxv_size = pp->auxv_size;
		p->start_brk = pp->start_brk;
		p->start_stack = pp->start_stack;
		p->start_code = pp->start_code;
		p->end_code = pp->end_code;
	}
	return p;
}

int64_t hc_child(const struct host_call *in)
{
	struct birth *b = birth_find(in->args[0]);
	struct task *pt, *t;
	struct proc *p;

	if (!b)
		goto kill;
	pt = task_find(b->parent_tid);
	p = b->flags & CLONE_THREAD ? proc_find(b->parent_pid) : proc_fork(b, in->tid);
	if (!p || p->state == PROC_ZOMBIE) {
		birth_free(b);
		goto kill;
	}
	t = task_new(p, in->tid);
	if (!t) {
		if (!(b->flags & CLONE_THREAD))
			proc_reap(p);
		birth_free(b);
		goto kill;
	}
	t->files = b->files;
	t->fs = b->fs;
	b->files = NULL;
	b->fs = NULL;
	if (!pt)
		pt = proc_find(b->parent_pid) ? proc_leader(proc_find(b->parent_pid)) : NULL;
	if (pt) {
		t->cred = pt->cred;
		memcpy(t->comm, pt->comm, sizeof(t->comm));
		if (b->flags & CLONE_THREAD)
			t->pdeathsig = pt->pdeathsig;
		task_inherit_sched(t, pt);
	}
	birth_free(b);
	return 0;
kill: /* made behind our back, or too late: it ends */
	(void)host_kill(in->tid, SIGKILL);
	return -EPERM;
}
