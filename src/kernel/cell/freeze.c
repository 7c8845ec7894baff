/* Writing a running cell to a file; see freeze.h, and frozen.h for what is in it.
 *
 * What can be seen to be impossible is refused before anybody is disturbed. Then all threads come
 * to rest (sys/rest.h), and the rest is done in one turn of the loop: nothing of the cell runs, so
 * what is written fits together. What is refused then lets everybody go on. */
#include "kernel/cell/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/host.h"
#include "host/procmem.h"
#include "kernel/abi/signal.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/cell/freezememory.h"
#include "kernel/cell/frozen.h"
#include "kernel/cell/policy.h"
#include "kernel/fs/dev/result.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/pipe/pipe_priv.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/rest.h"
#include "kernel/sys/seed.h"
#include "kernel/task/clock.h"
#include "kernel/task/itimer.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "stub/stub.h"

extern const char stub_blob[], stub_blob_end[];

static struct freezer fz = { .fd = -1 };

/* What has been written of open files and pipes; a number is its place. */
static struct file *files[FROZEN_FILES_MAX];
static struct pipe *pipes[FROZEN_PIPES_MAX];
static uint32_t nfiles, npipes;
static uint32_t mounts_at_boot;

int freeze_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fz.why, sizeof(fz.why), fmt, ap);
	va_end(ap);
	return -EOPNOTSUPP;
}

/* The same of what will pass, most likely: before anybody is disturbed, it is waited for. */
#define freeze_wait(...) (freeze_refuse(__VA_ARGS__), -EAGAIN)
#define PASSING_NS (2 * NSEC_PER_SEC)
#define LOOK_NS (5 * 1000 * 1000)

/* ---- records ---- */

int freeze_put(uint32_t type, const void *payload, size_t n, const void *more, size_t nmore)
{
	const struct frozen_rec r = { .type = type, .size = (uint32_t)(n + nmore) };
	size_t all = sizeof(r) + ALIGN_UP(n + nmore, 8UL);

	if (all > FROZEN_RECORDS_MAX - fz.used)
		return freeze_refuse("the cell has too many objects to be frozen");
	memcpy(fz.records + fz.used, &r, sizeof(r));
	memcpy(fz.records + fz.used + sizeof(r), payload, n);
	if (nmore)
		memcpy(fz.records + fz.used + sizeof(r) + n, more, nmore);
	fz.used += all;
	return 0;
}

/* The path of what is there, if it leads there still; its length with the NUL. */
int freeze_path(const struct path *p, char *buf, size_t size, const char **ret)
{
	struct task *t = boot_walker();
	struct path found;
	char *text;
	size_t len;
	bool same;

	if (!t || path_text(p, NULL, false, buf, size, &text, &len) < 0 || len > FROZEN_TEXT ||
	    path_lookup(t, AT_FDCWD, text, 0, &found) < 0)
		return -ENOENT;
	same = path_is_same(p, &found);
	path_put(&found);
	*ret = text;
	return same ? (int)len : -ENOENT;
}

/* ---- open files ---- */

static int pipe_number(struct pipe *p)
{
	for (uint32_t i = 0; i < npipes; i++)
		if (pipes[i] == p)
			return (int)i;
	return -1;
}

static int file_number(const struct file *f)
{
	for (uint32_t i = 0; i < nfiles; i++)
		if (files[i] == f)
			return (int)i;
	return -1;
}

static int file_refuse(struct file *f, const struct proc *p)
{
	char label[128];
	int n = file_label(f, NULL, label, sizeof(label));

	return freeze_refuse("process %d has %.*s open, which cannot be frozen yet", p->pid,
			     MAX(n, 0), label);
}

/* Can it be opened again? By its path, or as one of the kinds that are written down. */
static int file_look(struct file *f, const struct proc *p)
{
	static char buf[PATH_MAX_LEN + 16];
	const struct inode *ino = f->inode;
	struct pipe *pipe = pipe_of(f);
	const char *path;

	if (f->async || ino->locks || (f->mode & FMODE_PATH))
		return file_refuse(f, p);
	if (pipe)
		return pipe->anonymous && !pipe->npackets && pipe->readers <= 1 &&
				       pipe->writers <= 1
			       ? 0
			       : file_refuse(f, p);
	if (stream_file_number(f) >= 0)
		return 0;
	if (!f->path.name || freeze_path(&f->path, buf, sizeof(buf), &path) < 0 ||
	    !(inode_is_reg(ino) || inode_is_dir(ino) ||
	      (S_ISCHR(ino->mode) && major(ino->rdev) == 1)))
		return file_refuse(f, p);
	if (!policy_allows_again(&f->path, f->flags, false))
		return freeze_refuse("process %d has %.128s open, which its policy does not let be "
				     "opened again without a question",
				     p->pid, path);
	return 0;
}

static int pipe_put_down(struct pipe *p)
{
	static char content[PIPE_SIZE_MAX];
	const struct frozen_pipe out = { .capacity = p->capacity, .used = pipe_used(p) };

	if (pipe_number(p) >= 0)
		return 0;
	if (npipes == FROZEN_PIPES_MAX || out.used > sizeof(content))
		return freeze_refuse("the cell has too many pipes to be frozen");
	pipe_peek(p, 0, content, out.used);
	pipes[npipes++] = p;
	return freeze_put(FROZEN_PIPE, &out, sizeof(out), content, out.used);
}

static int file_put_down(struct file *f)
{
	static char buf[PATH_MAX_LEN + 16];
	struct pipe *pipe = pipe_of(f);
	struct frozen_file out = { .flags = f->flags & FROZEN_FLAGS, .pos = f->pos };
	const char *path = NULL;
	int n = 0;

	if (file_number(f) >= 0)
		return 0;
	if (nfiles == FROZEN_FILES_MAX)
		return freeze_refuse("the cell has more than %u open files", FROZEN_FILES_MAX);
	if (pipe) {
		out.kind = f->mode & FMODE_WRITE ? FROZEN_PIPE_WRITE : FROZEN_PIPE_READ;
		out.number = (uint32_t)pipe_number(pipe);
		out.pos = 0;
	} else if (stream_file_number(f) >= 0) {
		out.kind = FROZEN_STREAM;
		out.number = (uint32_t)stream_file_number(f);
		out.pos = 0;
	} else {
		n = freeze_path(&f->path, buf, sizeof(buf), &path);
	}
	files[nfiles++] = f;
	return n < 0 ? n : freeze_put(FROZEN_FILE, &out, sizeof(out), path, (size_t)n);
}

static int each_file(const struct proc *p, int (*fn)(struct file *f, const struct proc *p))
{
	const struct fdtable *ft = list_first(&p->threads, struct task, thread_link)->files;
	int ret = 0;

	for (uint32_t fd = 0; fd < ft->size && ret == 0; fd++)
		if (ft->slots[fd].file)
			ret = fn(ft->slots[fd].file, p);
	return ret;
}

static int pipes_of_file(struct file *f, const struct proc *p)
{
	(void)p;
	return pipe_of(f) ? pipe_put_down(pipe_of(f)) : 0;
}

static int files_of_file(struct file *f, const struct proc *p)
{
	(void)p;
	return file_put_down(f);
}

/* ---- processes ---- */

static bool root_is_ordinary(const struct fsctx *fs)
{
	const struct task *t = boot_walker();

	return t && !fs->ns && path_is_same(&fs->root, &t->fs->root);
}

static bool is_changing(const struct proc *p)
{
	return p->state != PROC_ZOMBIE &&
	       (p->exiting || p->leaving || p->exec || list_is_empty(&p->threads));
}

/* What of a process has no place in the file. */
static int proc_look(const struct proc *p)
{
	struct task *t, *first;
	struct itimer_ns cpu[2] = { 0 };

	if (p->state == PROC_ZOMBIE)
		return 0;
	if (p->state == PROC_STOPPED || p->stop_request)
		return freeze_refuse("process %d is stopped", p->pid);
	/* It is waited for while the others come to rest. */
	if (is_changing(p))
		return fz.rested ? freeze_refuse("process %d is ending or starting; try again",
						 p->pid)
				 : 0;
	first = list_first(&p->threads, struct task, thread_link);
	if (!p->exe || first->tid != p->pid)
		return freeze_refuse("the first thread of process %d has ended", p->pid);
	if (p->cpu_itimers) {
		itimer_get((struct proc *)p, 1, &cpu[0]);
		itimer_get((struct proc *)p, 2, &cpu[1]);
	}
	if (p->ptimers || cpu[0].value || cpu[1].value)
		return freeze_refuse("process %d has a POSIX timer", p->pid);
	if (p->shm_maps || p->sem_undo || p->aio)
		return freeze_refuse("process %d uses System V memory or semaphores, or "
				     "asynchronous I/O",
				     p->pid);
	if (p->held_set || p->sigfd_mask || !list_is_empty(&p->stranded) || p->stop_held)
		return freeze_refuse("process %d has signals that wait for a signalfd", p->pid);
	if (p->launch && !p->is_first)
		return freeze_wait("process %d was started from outside ('viv exec', a file "
				   "operation) and runs still",
				   p->pid);
	list_for_each(t, &p->threads, thread_link) {
		if (t->files != first->files || t->fs != first->fs)
			return freeze_refuse("the threads of process %d do not share their files",
					     p->pid);
		if (t->seccomp)
			return freeze_refuse("process %d has a seccomp filter", p->pid);
		for (int i = 0; i < CPU_WORDS; i++)
			if (t->affinity.w[i])
				return freeze_refuse("process %d chose its processors", p->pid);
	}
	/* A thread that is about to be born has its share already; it is waited for as well. */
	if (!births_count() &&
	    (first->files->refs != p->nthreads || first->fs->refs != p->nthreads))
		return freeze_refuse("process %d shares its files with another one", p->pid);
	if (!root_is_ordinary(first->fs))
		return freeze_refuse("process %d has another root or mounts of its own", p->pid);
	return each_file(p, file_look);
}

/* Types of which objects may live: each is written down, refused where it belongs to a process, or
 * a cache of what is on the disk. Whatever else the kernel has makes a cell that cannot be frozen,
 * so that nothing is left out by mistake. */
static const char *const carried[] = {
	/* processes */
	"proc", "task", "fdtable", "fsctx", "travel", "birth", "leaving", "launch", "exec_state",
	"fastmm", "post", "poll_kept", "kept", "cpu_itimers", "hang_up", "outgoing",
	/* files */
	"file", "anon_inode", "pipe", "stream", "flock_list", "change", "content", "content_work",
	"writer_of", "seen_files", "maps",
	/* the tree; mounts are compared with those of the start */
	"mount", "name", "layer", "lstore", "lnode", "xnode", "orphan", "recovery", "hnode",
	"hdnode", "hostdir", "hostimage", "indeximage", "pseudo_fs", "pinode", "listing",
	"hdlisting", "textbuf", "maps_text", "sync_request", "flight"
};

static int objects_look(void)
{
	/* What belongs to a process that ends goes with it. */
	for (const struct proc *p = proc_next(NULL); p && !fz.rested;
	     p = proc_next((struct proc *)p))
		if (is_changing(p))
			return 0;
	for (const struct obj_type *t = obj_type_next(NULL); t; t = obj_type_next(t)) {
		bool known = !t->count;

		for (size_t i = 0; i < ARRAY_LEN(carried) && !known; i++)
			known = !strcmp(carried[i], t->name);
		if (!known)
			return freeze_refuse("the cell has an object of type %s, which cannot be "
					     "frozen yet",
					     t->name);
	}
	return mount_changes == mounts_at_boot
		       ? 0
		       : freeze_refuse("mounts of the cell were changed from inside");
}

void freeze_boot(void)
{
	mounts_at_boot = mount_changes;
}

/* Of the whole cell. */
static int cell_look(void)
{
	struct layer_usage shm;
	size_t result;
	int ret = 0;

	fz.why[0] = 0;
	if (cell.proc_fd < 0)
		return freeze_refuse("the host allows the cell no /proc of its own");
	if (!cell.spec.disk.present)
		return freeze_refuse("the cell keeps no files");
	if (cell.spec.trace)
		return freeze_refuse("the cell is traced");
	(void)result_bytes(&result);
	if (result)
		return freeze_refuse("a result was written to /dev/result");
	layer_usage_get(boot_shm(), &shm);
	if (shm.inodes)
		return freeze_refuse("there are files in /dev/shm");
	for (uint32_t i = 0; i < cell.spec.nmounts; i++)
		if (!strcmp(cell.spec.mounts[i].kind, "tmpfs") ||
		    !strcmp(cell.spec.mounts[i].kind, "s3"))
			return freeze_refuse("the cell has a %s mount at %.200s",
					     cell.spec.mounts[i].kind, cell.spec.mounts[i].dst);
	if (rest_is_thawing())
		return freeze_wait("the cell is being thawed; try again");
	if (!seed_pid() || seed_births())
		return freeze_wait("a process is being started; try again");
	if (!proc_count())
		return freeze_refuse("no process runs in it");
	for (const struct proc *p = proc_next(NULL); p && ret == 0; p = proc_next((struct proc *)p))
		ret = proc_look(p);
	return ret ? ret : objects_look();
}

static int signal_put_down(const struct task *t, bool shared, const struct linux_siginfo *info)
{
	const struct frozen_signal out = { .shared = shared, .info = *info };

	(void)t;
	if (fz.nsignals++ == FROZEN_SIGNALS_MAX)
		return -E2BIG;
	return freeze_put(FROZEN_SIGNAL, &out, sizeof(out), NULL, 0);
}

static int task_put_down(const struct task *t)
{
	struct frozen_task out = { .tid = t->tid,
				   .pdeathsig = t->pdeathsig,
				   .sp = t->rest_sp,
				   .cred = t->cred,
				   .loginuid = t->loginuid,
				   .sessionid = t->sessionid,
				   .timerslack_ns = t->timerslack_ns,
				   .timerslack_default = t->timerslack_default,
				   .nice = t->nice,
				   .ioprio = t->ioprio,
				   .sched_policy = t->sched_policy,
				   .sched_prio = t->sched_prio,
				   .sched_reset = t->sched_reset };
	struct host_status st;
	int ret;

	if (host_task_status(cell.proc_fd, t->proc->pid, t->tid, &st) < 0)
		return freeze_refuse("thread %d cannot be looked at", t->tid);
	if ((st.sig_pnd | st.shd_pnd) & ~(SIGBIT(STUB_SIG) | SIGBIT(SIGCONT)))
		return freeze_refuse("too many signals are pending for process %d; try again",
				     t->proc->pid);
	memcpy(out.comm, t->comm, sizeof(out.comm));
	if (t->restart.valid) {
		out.restart = 1;
		out.restart_nr = t->restart.nr;
		memcpy(out.restart_args, t->restart.args.a, sizeof(out.restart_args));
		out.restart_deadline = t->restart.deadline;
	}
	ret = freeze_put(FROZEN_TASK, &out, sizeof(out), NULL, 0);
	if (ret == 0)
		ret = signal_travelling(t, signal_put_down);
	return ret == -E2BIG ? freeze_refuse("too many signals are on their way to process %d; "
					     "try again",
					     t->proc->pid)
			     : ret;
}

static int fds_put_down(const struct proc *p)
{
	const struct fdtable *ft = list_first(&p->threads, struct task, thread_link)->files;
	int ret = 0;

	for (uint32_t fd = 0; fd < ft->size && ret == 0; fd++) {
		const struct fdslot *s = &ft->slots[fd];
		const struct frozen_fd out = { .fd = fd,
					       .file = s->file ? (uint32_t)file_number(s->file) : 0,
					       .cloexec = s->cloexec };

		if (s->file)
			ret = freeze_put(FROZEN_FD, &out, sizeof(out), NULL, 0);
	}
	return ret;
}

static void numbers_fill(const struct proc *p, struct frozen_numbers *n)
{
	*n = (struct frozen_numbers){
		.pid = p->pid,
		.ppid = proc_ppid(p),
		.pgid = p->pgid,
		.sid = p->sid,
		.exit_signal = p->exit_signal,
		.nice = p->nice,
		.oom_score_adj = p->oom_score_adj,
		.dumpable = p->dumpable,
		.sig_caught = p->sig_caught,
		.sig_guarded = p->sig_guarded,
		.arg_start = p->arg_start,
		.arg_end = p->arg_end,
		.env_start = p->env_start,
		.env_end = p->env_end,
		.auxv_addr = p->auxv_addr,
		.auxv_size = p->auxv_size,
		.start_brk = p->start_brk,
		.start_stack = p->start_stack,
		.start_code = p->start_code,
		.end_code = p->end_code,
		.personality = p->personality,
		.is_first = p->is_first,
		.chld_ignore = p->chld_ignore,
		.chld_nowait = p->chld_nowait,
		.chld_nostop = p->chld_nostop,
		.did_exec = p->did_exec,
		.subreaper = p->subreaper,
		.no_new_privs = p->no_new_privs,
		.thp_disable = p->thp_disable,
	};
}

static int zombie_put_down(const struct proc *p)
{
	struct frozen_zombie out = { .pid = p->pid,
				     .ppid = proc_ppid(p),
				     .pgid = p->pgid,
				     .sid = p->sid,
				     .exit_signal = p->exit_signal,
				     .wait_status = p->wait_status,
				     .uid = p->last_uid,
				     .gid = p->last_gid };

	memcpy(out.comm, p->last_comm, sizeof(out.comm));
	return freeze_put(FROZEN_ZOMBIE, &out, sizeof(out), NULL, 0);
}

static int proc_put_down(struct proc *p)
{
	static char cwd_buf[PATH_MAX_LEN + 16], exe_buf[PATH_MAX_LEN + 16],
		both[2 * (PATH_MAX_LEN + 16)];
	const struct fsctx *fs = list_first(&p->threads, struct task, thread_link)->fs;
	struct frozen_proc out = { .umask = fs->umask, .nthreads = p->nthreads };
	const char *cwd, *exe;
	int ncwd = freeze_path(&fs->cwd, cwd_buf, sizeof(cwd_buf), &cwd);
	int nexe = p->exe->path.name ? freeze_path(&p->exe->path, exe_buf, sizeof(exe_buf), &exe)
				     : -ENOENT;
	struct itimer_ns alarm;
	struct task *t;
	int ret;

	if (ncwd < 0 || nexe < 0)
		return freeze_refuse("the %s of process %d is not there any more",
				     ncwd < 0 ? "working directory" : "program", p->pid);
	numbers_fill(p, &out.n);
	memcpy(out.limits, p->limits, sizeof(out.limits));
	itimer_get(p, 0, &alarm);
	out.alarm = alarm.value;
	out.alarm_interval = alarm.interval;
	out.brk = freeze_brk(p->pid);
	out.cwd = (uint32_t)ncwd;
	out.exe = (uint32_t)nexe;
	memcpy(both, cwd, (size_t)ncwd);
	memcpy(both + ncwd, exe, (size_t)nexe);
	ret = freeze_put(FROZEN_PROC, &out, sizeof(out), both, (size_t)(ncwd + nexe));
	list_for_each(t, &p->threads, thread_link)
		if (ret == 0)
			ret = task_put_down(t);
	if (ret == 0)
		ret = fds_put_down(p);
	return ret ? ret : freeze_memory(&fz, p->pid);
}

/* ---- all of it ---- */

static int everything_put_down(void)
{
	int ret = 0;

	nfiles = npipes = 0;
	for (struct proc *p = proc_next(NULL); p && ret == 0; p = proc_next(p))
		if (p->state != PROC_ZOMBIE)
			ret = each_file(p, pipes_of_file);
	for (struct proc *p = proc_next(NULL); p && ret == 0; p = proc_next(p))
		if (p->state != PROC_ZOMBIE)
			ret = each_file(p, files_of_file);
	for (struct proc *p = proc_next(NULL); p && ret == 0; p = proc_next(p))
		ret = p->state == PROC_ZOMBIE ? zombie_put_down(p) : proc_put_down(p);
	return ret;
}

static int head_write(void)
{
	static union {
		struct frozen_head h;
		char page[PAGE_SIZE];
	} out;
	struct sha256 sum;
	const char *why;

	memset(&out, 0, sizeof(out));
	memcpy(out.h.magic, FROZEN_MAGIC, sizeof(out.h.magic));
	memcpy(out.h.host, fz.host, sizeof(out.h.host));
	out.h.records = fz.at;
	out.h.size = fz.used;
	out.h.seed = seed_pid();
	sha256_init(&sum);
	sha256_add(&sum, stub_blob, (size_t)(stub_blob_end - stub_blob));
	sha256_end(&sum, out.h.stub);
	sha256_init(&sum);
	sha256_add(&sum, fz.records, fz.used);
	sha256_end(&sum, out.h.hash);
	/* A guest that says where it rests can say anything: what would not be thawed goes on. */
	if (frozen_check(&out.h, fz.at + fz.used, (const uint8_t *)fz.records, &why) < 0)
		return freeze_refuse("%s is not as it can be thawed", why);
	return freeze_write(&fz, &out, sizeof(out), 0);
}

static void answer(int ret)
{
	struct ctl_msg m = { .type = CTL_FROZEN, .a = ret };

	snprintf(m.text, sizeof(m.text), "%s", fz.why[0] ? fz.why : ret ? strerror(-ret) : "");
	if (fz.records)
		host_unmap(fz.records, FROZEN_RECORDS_MAX);
	host_close(fz.fd);
	fz.fd = -1;
	fz.records = NULL;
	control_tell(&m);
}

static void rested(const struct task *missing)
{
	int ret = 0;

	fz.rested = true;
	if (missing)
		ret = missing->tid ? freeze_refuse("thread %d of process %d does not come to rest",
						   missing->tid, missing->proc->pid)
				   : freeze_refuse("a process is starting or ending; try again");
	if (ret == 0)
		ret = cell_look(); /* once more: they went on meanwhile */
	if (ret == 0)
		ret = everything_put_down();
	if (ret == 0)
		ret = freeze_write(&fz, fz.records, fz.used, fz.at);
	if (ret == 0)
		ret = head_write();
	if (ret < 0)
		rest_end();
	answer(ret);
}

static void look_first(struct ktimer *timer)
{
	int ret = cell_look();

	if (ret == -EAGAIN && now_mono() < fz.until &&
	    ktimer_start(timer, now_mono() + LOOK_NS) == 0)
		return;
	if (ret == 0)
		rest_begin(CALLBACK(rested));
	else
		answer(ret);
}
KTIMER(look_timer, look_first);

void freeze_start(const struct ctl_msg *m, int fd)
{
	int ret;

	if (fz.fd >= 0) {
		struct ctl_msg busy = { .type = CTL_FROZEN, .a = -EBUSY };

		if (fd >= 0)
			host_close(fd);
		control_tell(&busy);
		return;
	}
	memset(&fz, 0, sizeof(fz));
	fz.fd = fd;
	fz.at = PAGE_SIZE;
	snprintf(fz.host, sizeof(fz.host), "%.63s", m->text);
	fz.until = now_mono() + PASSING_NS;
	ret = fd < 0 || control_is_paused() ? freeze_refuse("the cell is paused") : 0;
	if (ret == 0) {
		fz.records = host_map_anon(NULL, FROZEN_RECORDS_MAX);
		ret = fz.records ? 0 : -ENOMEM;
	}
	if (ret == 0)
		look_first(&look_timer);
	else
		answer(ret);
}

void freeze_undo(void)
{
	if (fz.fd < 0)
		rest_end();
}
