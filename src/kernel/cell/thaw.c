/* Starting a cell from a file that freeze.c wrote.
 *
 * thaw_births() runs while the kernel still has its last capability, the one to choose numbers, and
 * uses of the file only the numbers: the seed forks each process and each process makes its
 * threads, and all of them wait. Nothing of a guest is in their memory yet. Then the kernel is
 * sealed, and thaw_run() gives them their state: the tables of the kernel are made by the same
 * functions that make them for any process, and memory by calls that the processes make themselves
 * (stub/rest.c). When all is there they go on. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/host.h"
#include "host/isolate.h"
#include "host/notify.h"
#include "host/procmem.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/cell/freeze.h"
#include "kernel/cell/policy.h"
#include "kernel/cell/thaw.h"
#include "kernel/fs/pipe/pipe.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/limits.h"
#include "kernel/sys/rest.h"
#include "kernel/sys/seed.h"
#include "kernel/task/gate.h"
#include "kernel/task/itimer.h"
#include "kernel/task/observe.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

#define STEP_NS (10 * NSEC_PER_SEC) /* for one step of a process that does what it is told */

extern const char stub_blob[], stub_blob_end[];

static struct {
	int fd;
	bool pending;
	struct frozen_head head;
	uint8_t *records;
	struct thawing threads[FROZEN_TASKS_MAX];
	uint32_t nthreads;
	struct host_call seed; /* its question, while it waits */
	bool seed_waits;
	char why[200];
} thaw = { .fd = -1 };

static struct file *files[FROZEN_FILES_MAX];
static struct {
	struct file *end[2];
} pipes[FROZEN_PIPES_MAX];
static uint32_t nfiles, npipes;

int thaw_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!thaw.why[0])
		vsnprintf(thaw.why, sizeof(thaw.why), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

bool thaw_is_pending(void)
{
	return thaw.pending;
}

/* ---- the file ---- */

static int read_all(void *buf, size_t n, uint64_t at)
{
	while (n) {
		int64_t did = host_pread(thaw.fd, buf, n, (int64_t)at);

		if (did <= 0)
			return thaw_refuse("it cannot be read");
		buf = (char *)buf + did;
		at += (uint64_t)did;
		n -= (size_t)did;
	}
	return 0;
}

static int frozen_read(void)
{
	uint8_t hash[SHA256_SIZE];
	struct sha256 sum;
	const char *why;
	struct stat st;
	int ret = host_fstat(thaw.fd, &st);

	if (ret == 0)
		ret = read_all(&thaw.head, sizeof(thaw.head), 0);
	if (ret < 0)
		return ret;
	sha256_init(&sum);
	sha256_add(&sum, stub_blob, (size_t)(stub_blob_end - stub_blob));
	sha256_end(&sum, hash);
	if (memcmp(hash, thaw.head.stub, sizeof(hash)))
		return thaw_refuse("it was frozen by another version of viv");
	if (thaw.head.size > FROZEN_RECORDS_MAX)
		return thaw_refuse("it is damaged");
	thaw.records = host_map_anon(NULL, FROZEN_RECORDS_MAX);
	if (!thaw.records)
		return -ENOMEM;
	ret = read_all(thaw.records, thaw.head.size, thaw.head.records);
	if (ret < 0)
		return ret;
	sha256_init(&sum);
	sha256_add(&sum, thaw.records, thaw.head.size);
	sha256_end(&sum, hash);
	if (memcmp(hash, thaw.head.hash, sizeof(hash)))
		return thaw_refuse("it is damaged");
	if (frozen_check(&thaw.head, (uint64_t)st.st_size, thaw.records, &why) < 0)
		return thaw_refuse("it is damaged: %s", why);
	return 0;
}

int thaw_copy(pid_t pid, const struct frozen_pages *p)
{
	static char buf[1UL << 18];
	int ret = 0;

	for (uint64_t done = 0; done < p->n && ret == 0;) {
		size_t n = MIN(p->n - done, sizeof(buf));
		const struct iovec local = { buf, n }, remote = { (void *)(p->addr + done), n };

		ret = read_all(buf, n, p->at + done);
		if (ret == 0 && host_vm_writev(pid, &local, 1, &remote, 1) != (int64_t)n)
			ret = thaw_refuse("memory of process %d cannot be written", pid);
		done += n;
	}
	return ret;
}

/* ---- what processes that are being thawed ask ---- */

static struct thawing *thread_find(pid_t tid)
{
	for (uint32_t i = 0; i < thaw.nthreads; i++)
		if (thaw.threads[i].tid == tid)
			return &thaw.threads[i];
	return NULL;
}

/* The next question of tid, which is to be nr. Nobody else has a word to say meanwhile, but the
 * seed. */
static int question_wait(pid_t tid, int nr, struct host_call *ret_)
{
	struct pollfd p = { .fd = notify_fd(), .events = POLLIN };
	struct host_call in;

	for (;;) {
		if (host_poll(&p, 1, STEP_NS) <= 0 || !(p.revents & POLLIN))
			return thaw_refuse("process %d does not come", tid);
		if (notify_recv(&in) < 0)
			continue;
		if (in.tid == thaw.head.seed && in.nr == HC_EXEC_BOOT) {
			call_reply(in.id, STUB_BE_SEED);
			continue;
		}
		if (in.tid == thaw.head.seed && in.nr == HC_SEED) {
			thaw.seed = in;
			thaw.seed_waits = true;
			if (tid == in.tid)
				return 0;
			continue;
		}
		if (in.tid != tid || in.nr != nr)
			return thaw_refuse("thread %d has another number or does something else "
					   "than it should",
					   in.tid);
		*ret_ = in;
		return 0;
	}
}

static int leader_wait(struct thawing *l)
{
	struct host_call in;
	int ret = question_wait(l->tid, HC_THAW, &in);

	if (ret < 0)
		return ret;
	l->id = in.id;
	l->work = in.args[0];
	l->data = in.args[1];
	return (int)in.args[2];
}

static int process_birth(struct thawing *l)
{
	const struct stub_order order = { .thaw = 1 };
	struct host_call none;
	int ret = thaw.seed_waits ? 0 : question_wait(thaw.head.seed, HC_SEED, &none);

	if (ret == 0)
		ret = isolate_next_pid(l->tid);
	if (ret < 0)
		return thaw.why[0] ? ret
				   : thaw_refuse("the host does not let numbers of processes be "
						 "chosen: %s",
						 strerror(-ret));
	if (guest_put(thaw.head.seed, thaw.seed.args[0], &order) < 0)
		return -EIO;
	thaw.seed_waits = false;
	call_reply(thaw.seed.id, 0);
	return leader_wait(l);
}

static int thread_birth(struct thawing *l, struct thawing *t)
{
	struct host_call in;
	int ret = isolate_next_pid(t->tid);

	if (ret < 0)
		return ret;
	call_reply(l->id, THAW_CLONE);
	/* The two come in any order. */
	for (int i = 0; i < 2 && ret == 0; i++) {
		struct pollfd p = { .fd = notify_fd(), .events = POLLIN };

		if (host_poll(&p, 1, STEP_NS) <= 0 || notify_recv(&in) < 0)
			return thaw_refuse("thread %d does not come", t->tid);
		if (in.tid == t->tid && in.nr == HC_THAW_WAIT)
			t->id = in.id;
		else if (in.tid == l->tid && in.nr == HC_THAW && (pid_t)in.args[2] == t->tid)
			l->id = in.id;
		else if (in.tid == thaw.head.seed && in.nr == HC_SEED)
			thaw.seed = in, thaw.seed_waits = true, i--;
		else
			return thaw_refuse("thread %d has another number", t->tid);
	}
	return ret;
}

static int births_count_check(void)
{
	const uint8_t *data;
	struct frozen_rec r;
	uint32_t n = 0;
	size_t at = 0;

	while (frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1)
		n += r.type == FROZEN_TASK || r.type == FROZEN_ZOMBIE;
	return n <= cell.spec.max_tasks
		       ? 0
		       : thaw_refuse("it has %u processes and threads, more than it may have", n);
}

/* The host goes on from the last number that it gave, and knows nothing of those of processes that
 * have ended, of groups and of sessions: new processes come after all of them. */
static int numbers_pass(void)
{
	int32_t last = thaw.head.seed;
	const uint8_t *data;
	struct frozen_rec r;
	size_t at = 0;

	while (frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1) {
		struct frozen_proc p;
		struct frozen_task t;
		struct frozen_zombie z;

		if (r.type == FROZEN_PROC) {
			memcpy(&p, data, sizeof(p));
			last = MAX(last, MAX(p.n.pgid, p.n.sid));
		} else if (r.type == FROZEN_TASK) {
			memcpy(&t, data, sizeof(t));
			last = MAX(last, t.tid);
		} else if (r.type == FROZEN_ZOMBIE) {
			memcpy(&z, data, sizeof(z));
			last = MAX(last, MAX(z.pid, MAX(z.pgid, z.sid)));
		}
	}
	return isolate_next_pid(last + 1);
}

static int births(void)
{
	struct thawing *leader = NULL;
	const uint8_t *data;
	struct frozen_rec r;
	size_t at = 0;
	int ret = 0;

	while (ret >= 0 && frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1) {
		struct thawing *t = &thaw.threads[thaw.nthreads];
		struct frozen_task ft;

		if (r.type == FROZEN_PROC)
			leader = NULL;
		if (r.type != FROZEN_TASK)
			continue;
		memcpy(&ft, data, sizeof(ft));
		*t = (struct thawing){ .tid = ft.tid, .sp = ft.sp };
		thaw.nthreads++;
		ret = leader ? thread_birth(leader, t) : process_birth(t);
		if (!leader)
			leader = t;
	}
	return MIN(ret, 0);
}

static int fail(int ret)
{
	control_say(CTL_FAIL, 125,
		    "the cell cannot be thawed: %s" REMEDY "'viv start' starts it without "
		    "the processes that were frozen",
		    thaw.why[0] ? thaw.why : strerror(-ret));
	return ret;
}

int thaw_open(int fd, pid_t *ret_seed)
{
	int ret;

	thaw.fd = fd;
	ret = frozen_read();
	*ret_seed = thaw.head.seed;
	if (ret == 0)
		ret = isolate_next_pid(thaw.head.seed);
	return ret < 0 ? fail(ret) : 0;
}

int thaw_births(void)
{
	int ret = births_count_check();
	struct host_call none;

	if (ret == 0)
		ret = births();

	if (ret == 0 && !thaw.seed_waits)
		ret = question_wait(thaw.head.seed, HC_SEED, &none);
	if (ret == 0)
		ret = numbers_pass();
	if (ret < 0)
		return fail(ret);
	/* From here on it is a seed like any other. */
	seed_init_waiting(thaw.head.seed, &thaw.seed);
	thaw.pending = true;
	return 0;
}

/* ---- work ---- */

int thaw_flush(struct thaw_work *w)
{
	if (w->err || !w->n)
		return w->err;
	w->err = guest_put(w->t->tid, w->leader->work, &w->work);
	if (w->err == 0) {
		call_reply(w->leader->id, (int64_t)w->n);
		w->err = leader_wait(w->leader);
		if (w->err < 0)
			thaw_refuse("the memory of process %d cannot be laid out: %s",
				    w->leader->tid, strerror(-w->err));
	}
	w->t->call.id = w->leader->id;
	w->n = 0;
	return w->err;
}

void thaw_call(struct thaw_work *w, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
	       uint64_t e, uint64_t f)
{
	if (w->n == THAW_CALLS)
		(void)thaw_flush(w);
	if (w->err)
		return;
	w->work.call[w->n].nr = nr;
	w->work.call[w->n].a[0] = a;
	w->work.call[w->n].a[1] = b;
	w->work.call[w->n].a[2] = c;
	w->work.call[w->n].a[3] = d;
	w->work.call[w->n].a[4] = e;
	w->work.call[w->n].a[5] = f;
	w->n++;
}

/* ---- open files ---- */

static int pipe_take(const uint8_t *data)
{
	struct file **end = pipes[npipes].end;
	struct frozen_pipe p;
	struct pipe *made;
	struct uio u;
	int ret;

	memcpy(&p, data, sizeof(p));
	ret = pipe_make(0, &end[0], &end[1]);
	if (ret < 0)
		return ret;
	npipes++;
	made = pipe_of(end[0]);
	if (p.capacity != pipe_capacity(made) && pipe_resize(made, p.capacity) < 0)
		return thaw_refuse("a pipe cannot have its size");
	uio_init_kernel(&u, (void *)(uintptr_t)(data + sizeof(p)), p.used);
	return !p.used || pipe_push(made, &u, false) == (int64_t)p.used
		       ? 0
		       : thaw_refuse("a pipe cannot have its content");
}

static int path_open(const char *path, uint32_t flags, struct file **ret_)
{
	struct task *t = boot_walker();
	struct path at;
	int ret = t ? path_lookup(t, AT_FDCWD, path, 0, &at) : -ENOMEM;

	if (ret == 0) {
		ret = flags & OPEN_EXEC || policy_allows_again(&at, flags, false)
			      ? file_open(t, &at, flags, ret_)
			      : -EACCES;
		path_put(&at);
	}
	return ret < 0 ? thaw_refuse("%.128s: %s", path,
				     ret == WAITING ? "it is not ready" : strerror(-ret))
		       : 0;
}

static int file_take(const uint8_t *data, struct file *const streams[3])
{
	const char *path = (const char *)data + sizeof(struct frozen_file);
	struct frozen_file f;
	struct file **end, *made = NULL;
	int ret = 0;

	memcpy(&f, data, sizeof(f));
	switch (f.kind) {
	case FROZEN_STREAM:
		if (!streams)
			return thaw_refuse("a stream of a process that is not there is open");
		made = file_get(streams[f.number]);
		break;
	case FROZEN_PIPE_READ:
	case FROZEN_PIPE_WRITE:
		end = &pipes[f.number].end[f.kind == FROZEN_PIPE_WRITE];
		made = *end;
		*end = NULL;
		if (!made)
			return thaw_refuse("an end of a pipe is there twice");
		break;
	default:
		ret = path_open(path, f.flags, &made);
	}
	if (ret < 0)
		return ret;
	if (f.kind != FROZEN_STREAM)
		made->flags = (made->flags & O_ACCMODE) | (f.flags & ~(uint32_t)O_ACCMODE);
	if (f.kind == FROZEN_BY_PATH)
		made->pos = f.pos;
	files[nfiles++] = made;
	return 0;
}

/* What nobody has open any more of what was opened here. */
static void files_drop(void)
{
	for (uint32_t i = 0; i < nfiles; i++)
		file_put(files[i]);
	for (uint32_t i = 0; i < npipes; i++)
		for (int end = 0; end < 2; end++)
			if (pipes[i].end[end])
				file_put(pipes[i].end[end]);
	nfiles = npipes = 0;
}

/* ---- processes ---- */

static int zombie_take(const uint8_t *data)
{
	struct frozen_zombie z;
	struct proc *p;

	memcpy(&z, data, sizeof(z));
	p = proc_new(z.pid, proc_find(z.ppid));
	if (!p)
		return -ENOMEM;
	p->pgid = z.pgid;
	p->sid = z.sid;
	p->exit_signal = z.exit_signal;
	p->last_uid = z.uid;
	p->last_gid = z.gid;
	memcpy(p->last_comm, z.comm, sizeof(p->last_comm));
	p->last_comm[sizeof(p->last_comm) - 1] = 0;
	proc_is_zombie(p, z.wait_status);
	return 0;
}

static void numbers_take(struct proc *p, const struct frozen_numbers *n)
{
	p->pgid = n->pgid;
	p->sid = n->sid;
	p->exit_signal = n->exit_signal;
	p->nice = n->nice;
	p->oom_score_adj = n->oom_score_adj;
	p->dumpable = n->dumpable;
	p->sig_caught = n->sig_caught;
	p->sig_guarded = n->sig_guarded;
	p->arg_start = n->arg_start;
	p->arg_end = n->arg_end;
	p->env_start = n->env_start;
	p->env_end = n->env_end;
	p->auxv_addr = n->auxv_addr;
	p->auxv_size = n->auxv_size;
	p->start_brk = n->start_brk;
	p->start_stack = n->start_stack;
	p->start_code = n->start_code;
	p->end_code = n->end_code;
	p->personality = n->personality;
	p->is_first = n->is_first;
	p->chld_ignore = n->chld_ignore;
	p->chld_nowait = n->chld_nowait;
	p->chld_nostop = n->chld_nostop;
	p->did_exec = n->did_exec;
	p->subreaper = n->subreaper;
	p->no_new_privs = n->no_new_privs;
	p->thp_disable = n->thp_disable;
}

static int task_take(struct proc *p, const struct frozen_task *f, struct task **ret_)
{
	struct task *leader = proc_leader(p), *t = task_new(p, f->tid);

	if (!t)
		return -ENOMEM;
	t->cred = f->cred;
	memcpy(t->comm, f->comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = 0;
	t->pdeathsig = f->pdeathsig;
	t->loginuid = f->loginuid;
	t->sessionid = f->sessionid;
	t->timerslack_ns = f->timerslack_ns;
	t->timerslack_default = f->timerslack_default;
	t->nice = (int8_t)f->nice;
	if (f->nice > 0)
		(void)host_setpriority(f->tid, f->nice);
	t->ioprio = f->ioprio;
	t->sched_policy = f->sched_policy;
	t->sched_prio = f->sched_prio;
	t->sched_reset = f->sched_reset;
	t->rest_sp = f->sp;
	if (f->restart) {
		t->restart.valid = true;
		t->restart.nr = f->restart_nr;
		memcpy(t->restart.args.a, f->restart_args, sizeof(f->restart_args));
		t->restart.deadline = f->restart_deadline;
	}
	if (leader) {
		t->files = fdtable_get(leader->files);
		t->fs = fsctx_get(leader->fs);
	}
	*ret_ = t;
	return 0;
}

/* Tables of the first thread: descriptors come with their records. */
static int leader_take(struct proc *p, struct task *t, const struct frozen_proc *f,
		       const uint8_t *data)
{
	const char *cwd = (const char *)data + sizeof(*f), *exe = cwd + f->cwd;
	struct task *walker = boot_walker();
	struct path at;
	int ret;

	t->files = fdtable_new();
	t->fs = boot_fsctx();
	if (!t->files || !t->fs || !walker)
		return -ENOMEM;
	t->fs->umask = f->umask;
	ret = path_lookup(walker, AT_FDCWD, cwd, LOOKUP_DIRECTORY, &at);
	if (ret < 0)
		return thaw_refuse("%.128s: %s", cwd, strerror(-ret));
	path_put(&t->fs->cwd);
	t->fs->cwd = at;
	return path_open(exe, O_RDONLY | OPEN_EXEC, &p->exe);
}

/* Signals that were on their way: sent again when everybody is there. */
static struct sent {
	pid_t to; /* process or thread */
	struct frozen_signal s;
} signals[FROZEN_SIGNALS_MAX];
static uint32_t nsignals;

static void signals_send(void)
{
	for (uint32_t i = 0; i < nsignals; i++) {
		const struct sent *x = &signals[i];
		struct proc *p = x->s.shared ? proc_find(x->to) : NULL;
		struct task *t = x->s.shared ? NULL : task_find(x->to);

		if (p)
			(void)signal_send_proc(p, x->s.info.signo, &x->s.info);
		else if (t)
			(void)signal_send_task(t, x->s.info.signo, &x->s.info);
	}
	nsignals = 0;
}

/* The records of one process, from behind its own on. */
struct proc_records {
	const struct frozen_proc *f;
	const uint8_t *data;
	size_t at;
};

static int threads_take(struct proc *p, const struct proc_records *pr)
{
	const uint8_t *data;
	struct frozen_rec r;
	struct task *t, *last = NULL;
	size_t at = pr->at;
	int ret = 0;

	while (ret == 0 && frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1 &&
	       r.type != FROZEN_PROC && r.type != FROZEN_ZOMBIE) {
		struct frozen_task ft;
		struct frozen_fd fd;
		struct frozen_signal sig;

		if (r.type == FROZEN_TASK) {
			memcpy(&ft, data, sizeof(ft));
			ret = task_take(p, &ft, &t);
			if (ret == 0 && ft.tid == p->pid)
				ret = leader_take(p, t, pr->f, pr->data);
			if (ret == 0)
				limits_born(t);
			last = t;
		} else if (r.type == FROZEN_SIGNAL && nsignals < ARRAY_LEN(signals)) {
			memcpy(&sig, data, sizeof(sig));
			signals[nsignals++] = (struct sent){ sig.shared ? p->pid : last->tid, sig };
		} else if (r.type == FROZEN_FD) {
			memcpy(&fd, data, sizeof(fd));
			t = proc_leader(p);
			ret = fd_install_at(t, file_get(files[fd.file]), (int)fd.fd, fd.cloexec);
			if (ret < 0)
				file_put(files[fd.file]);
			ret = MIN(ret, 0);
		}
	}
	return ret;
}

static int address_space_take(struct proc *p, const struct proc_records *pr)
{
	static struct thaw_work w;
	struct task *t, *leader = proc_leader(p);
	struct fast_own own;
	struct fastmm *mm;
	struct host_call in;
	uint32_t mark;
	int ret;

	memset(&w, 0, sizeof(w));
	w.leader = thread_find(p->pid);
	w.t = leader;
	if (!w.leader)
		return -ESRCH;
	leader->call.id = w.leader->id;
	ret = thaw_memory(&w, pr->f, thaw.records, thaw.head.size, pr->at);
	if (ret < 0)
		return ret;
	call_reply(w.leader->id, THAW_LEAVE);
	ret = question_wait(p->pid, HC_THAW_WAIT, &in);
	if (ret < 0)
		return ret;
	w.leader->id = in.id;
	ret = thaw_stub(p->pid, thaw.records, thaw.head.size, pr->at);
	if (ret < 0)
		return ret;
	fast_exec(leader, w.leader->data + offsetof(struct stub_boot, own), &own);
	if (guest_put(p->pid, w.leader->data + offsetof(struct stub_boot, own), &own) < 0)
		return -EIO;
	list_for_each(t, &p->threads, thread_link)
		if (t != leader) {
			mm = fast_mm_get(leader, &mark);
			fast_born(t, mm, mark, true);
			fast_mm_put(mm);
		}
	return 0;
}

static int proc_take(const uint8_t *data, size_t at, struct proc **ret_first)
{
	struct frozen_proc f;
	const struct proc_records pr = { .f = &f, .data = data, .at = at };
	struct proc *p;
	int ret;

	memcpy(&f, data, sizeof(f));
	p = proc_new(f.n.pid, f.n.ppid == INIT_PID ? NULL : proc_find(f.n.ppid));
	if (!p)
		return -ENOMEM;
	numbers_take(p, &f.n);
	memcpy(p->limits, f.limits, sizeof(p->limits));
	if (p->is_first)
		*ret_first = p;
	ret = threads_take(p, &pr);
	if (ret == 0)
		limits_thawed(p);
	if (ret == 0)
		ret = address_space_take(p, &pr);
	if (ret == 0 && f.alarm) {
		const struct itimer_ns alarm = { MIN(f.alarm, FROZEN_TIME_MAX),
						 MIN(f.alarm_interval, FROZEN_TIME_MAX) };

		ret = itimer_set(p, 0, &alarm);
	}
	return ret;
}

static int everything_take(struct file *const streams[3], struct proc **ret_first)
{
	const uint8_t *data;
	struct frozen_rec r;
	size_t at = 0;
	int ret = 0;

	while (ret == 0 && frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1) {
		if (r.type == FROZEN_PIPE)
			ret = pipe_take(data);
		else if (r.type == FROZEN_FILE)
			ret = file_take(data, streams);
		else if (r.type == FROZEN_PROC)
			ret = proc_take(data, at, ret_first);
		else if (r.type == FROZEN_ZOMBIE)
			ret = zombie_take(data);
	}
	files_drop();
	return ret;
}

int thaw_run(struct file *const streams[3], struct proc **ret_first)
{
	int ret;

	*ret_first = NULL;
	thaw.pending = false;
	ret = everything_take(streams, ret_first);
	if (ret < 0)
		return fail(ret);
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (p->state != PROC_ZOMBIE) {
			observe(forked, p, proc_ppid(p));
			observe(executed, proc_leader(p));
		}
	rest_thaw(thaw.nthreads);
	for (uint32_t i = 0; i < thaw.nthreads; i++)
		call_reply(thaw.threads[i].id, (int64_t)thaw.threads[i].sp);
	signals_send();
	host_unmap(thaw.records, FROZEN_RECORDS_MAX);
	host_close(thaw.fd);
	return 0;
}

static bool has_first(void)
{
	const uint8_t *data;
	struct frozen_rec r;
	struct frozen_proc p;
	size_t at = 0;

	while (frozen_next(thaw.records, thaw.head.size, &at, &r, &data) == 1) {
		if (r.type != FROZEN_PROC)
			continue;
		memcpy(&p, data, sizeof(p));
		if (p.n.is_first)
			return true;
	}
	return false;
}

int thaw_begin(void)
{
	struct proc *first;

	return !thaw.pending || has_first() ? 0 : thaw_run(NULL, &first);
}
