/* execve.
 *
 * HC_EXEC_PREP decides while the old program still runs: looks the file up, checks that it may be
 * executed, follows #! lines, reads the ELF headers of the program and of its interpreter. Then the
 * stub makes the host's execve of itself, after which it cannot fail any more; the new stub asks
 * HC_EXEC_BOOT for the plan. There the effects happen: other threads are forgotten (the host has
 * ended them), close-on-exec descriptors closed, names and handlers reset.
 *
 * Setuid bits are not honored: a program never gains rights by being executed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/abi/signal.h"
#include "kernel/ipc/shm.h"
#include "kernel/platform/elf.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/sys/aio.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/limits.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/mem.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/wasm.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "stub/stub.h"
#include "kernel/task/signal.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define SHEBANG_DEPTH 5
#define PIE_BASE 0x555555554000UL

struct exec_state {
	struct file *file, *interp; /* counted; interp may be NULL */
	struct elf_plan plan, interp_plan;
	uint64_t sigmask;
	uint32_t nprefix, extra_len;
	char extra[STUB_MAX_EXTRA]; /* execfn, then the strings that replace argv[0] */
	char comm[16];
};
OBJ_TYPE(exec_type, struct exec_state, 0);

void exec_state_free(struct proc *p)
{
	if (!p->exec)
		return;
	if (p->exec->file)
		file_put(p->exec->file);
	if (p->exec->interp)
		file_put(p->exec->interp);
	obj_free(&exec_type, p->exec);
	p->exec = NULL;
	p->exec_task = NULL;
}

void exec_release(struct proc *p)
{
	struct file *exe = p->exe;

	p->exe = NULL;
	file_put(exe);
}

static int64_t read_at(struct file *f, void *buf, size_t n, uint64_t off)
{
	struct uio u;

	if (!f->ops->read)
		return -EINVAL;
	uio_init_kernel(&u, buf, n);
	return CHECKED(f->ops)->read(f, &u, (int64_t)off);
}

/* Opens what path leads to as a program: a regular file that t may execute, on a mount that allows
 * it. */
static int prog_open_as(struct task *t, int dfd, const char *path, unsigned flags, uint32_t how,
			struct file **ret_)
{
	struct path at;
	int ret = path_lookup(t, dfd, path, flags, &at);

	if (ret < 0)
		return ret;
	ret = at.name->inode && inode_is_lnk(at.name->inode) ? -ELOOP : -EACCES;
	if (!at.name->inode || !inode_is_reg(at.name->inode) || (at.mnt->flags & MNT_NOEXEC))
		goto out;
	ret = file_open(t, &at, O_RDONLY | OPEN_EXEC | how, ret_);
out:
	path_put(&at);
	return ret;
}

static int prog_open(struct task *t, int dfd, const char *path, unsigned flags, struct file **ret_)
{
	return prog_open_as(t, dfd, path, flags, 0, ret_);
}

static int plan_read(struct file *f, struct elf_plan *plan)
{
	static char head[ELF_HEAD];
	static char phdrs[ELF_MAX_PHDRS * 56];
	uint64_t off;
	uint32_t size;
	int64_t n = read_at(f, head, sizeof(head), 0);
	int ret;

	if (n < 0)
		return (int)n;
	ret = elf_phdr_range(head, (size_t)n, &off, &size);
	if (ret < 0)
		return ret;
	if (size > sizeof(phdrs) || read_at(f, phdrs, size, off) != size)
		return -ENOEXEC;
	return elf_plan(head, (size_t)n, phdrs, size, f->inode->size, plan);
}

static int interp_load(struct task *t, struct exec_state *x)
{
	char name[PATH_MAX_LEN];
	uint32_t n = x->plan.interp_len;
	int ret;

	if (read_at(x->file, name, n, x->plan.interp_off) != n || name[n - 1] != 0)
		return -ENOEXEC;
	ret = prog_open_as(t, AT_FDCWD, name, LOOKUP_FOLLOW, OPEN_LINKER, &x->interp);
	if (ret < 0)
		return ret;
	ret = plan_read(x->interp, &x->interp_plan);
	return ret == -ENOEXEC ? -ELIBBAD : ret;
}

static int extra_add(struct exec_state *x, const char *s)
{
	size_t n = strlen(s) + 1;

	if (x->extra_len + n > sizeof(x->extra))
		return -ENAMETOOLONG;
	memcpy(x->extra + x->extra_len, s, n);
	x->extra_len += (uint32_t)n;
	return 0;
}

/* The strings in front of what is there already (but behind the execfn): interpreters of
 * interpreters come first. */
static int prefix_add(struct exec_state *x, const char *const *words, unsigned count,
		      const char *script)
{
	static char rest[STUB_MAX_EXTRA];
	size_t first = strlen(x->extra) + 1, n = x->extra_len - first;
	const char *old = rest;
	int ret;

	memcpy(rest, x->extra + first, n);
	x->extra_len = (uint32_t)first;
	ret = 0;
	for (unsigned i = 0; ret == 0 && i < count; i++)
		ret = extra_add(x, words[i]);
	if (ret == 0)
		ret = extra_add(x, script);
	/* What was argv[0] before is replaced by the script's name. */
	for (uint32_t i = 0; ret == 0 && i < x->nprefix; i++, old += strlen(old) + 1)
		if (i > 0)
			ret = extra_add(x, old);
	x->nprefix = (x->nprefix ? x->nprefix - 1 : 0) + count + 1;
	return ret;
}

/* What runs a WebAssembly module: opens it instead of the module. */
static int wasm_find(struct task *t, struct exec_state *x, const char *module)
{
	const char *words[WASM_WORDS], *command = cell.spec.wasm;
	const char *const *place = wasm_default_places;
	struct file *f = NULL;
	unsigned n = wasm_words(command, NULL, words);
	int ret = -ENOENT;

	if (command && n)
		ret = prog_open(t, AT_FDCWD, words[0], LOOKUP_FOLLOW, &f);
	for (; !command && *place; place++) {
		ret = prog_open(t, AT_FDCWD, *place, LOOKUP_FOLLOW, &f);
		if (ret == 0)
			break;
	}
	if (ret < 0) {
		wasm_say_missing(module, command);
		return -ENOEXEC;
	}
	file_put(x->file);
	x->file = f;
	if (!command)
		n = wasm_words(NULL, *place, words);
	ret = prefix_add(x, words, n, module);
	return ret == -ENAMETOOLONG ? -ENOEXEC : ret;
}

/* A program, or a script that leads to one. */
static int program_find(struct task *t, struct exec_state *x, const char *path)
{
	char script[PATH_MAX_LEN], line[256], *words[2];
	static char head[256];
	bool wasm = false;

	strcpy(script, path);
	for (int depth = 0;; depth++) {
		int64_t n = read_at(x->file, head, sizeof(head), 0);
		int ret;

		if (n < 0)
			return (int)n;
		if (!wasm && wasm_is_module(head, (size_t)n)) {
			wasm = true; /* a runtime that is a module itself has nobody to run it */
			ret = wasm_find(t, x, script);
			if (ret < 0)
				return ret;
			n = read_at(x->file, head, sizeof(head), 0);
			if (n < 0)
				return (int)n;
			snprintf(script, sizeof(script), "%s", x->extra + strlen(x->extra) + 1);
		}
		if (shebang_parse(head, (size_t)n, line, &words[0], &words[1]) < 0)
			return plan_read(x->file, &x->plan);
		if (depth == SHEBANG_DEPTH)
			return -ELOOP;
		ret = prefix_add(x, (const char *const *)words, words[1] ? 2 : 1, script);
		if (ret < 0)
			return ret == -ENAMETOOLONG ? -ENOEXEC : ret;
		file_put(x->file);
		x->file = NULL;
		ret = prog_open(t, AT_FDCWD, words[0], LOOKUP_FOLLOW, &x->file);
		if (ret < 0)
			return ret;
		strcpy(script, words[0]);
	}
}

/* name is what the program is told it is called; for fexecve that is not the path. */
static int prepare_as(struct task *t, int dfd, const char *path, const char *name,
		      unsigned lookup_flags, uint64_t sigmask)
{
	struct proc *p = t->proc;
	struct exec_state *x;
	const char *base;
	int ret;

	if (p->exec && p->exec_task && p->exec_task != t)
		return -EAGAIN; /* another thread is faster: the host will end this one */
	exec_state_free(p);
	x = obj_new(&exec_type);
	if (!x)
		return -ENOMEM;
	p->exec = x;
	p->exec_task = t;
	x->sigmask = sigmask;
	ret = prog_open(t, dfd, path, lookup_flags, &x->file);
	if (ret == 0)
		ret = extra_add(x, strlen(name) < 512 ? name : "?");
	if (ret == 0)
		ret = program_find(t, x, name);
	if (ret == 0 && x->plan.interp_len)
		ret = interp_load(t, x);
	if (ret < 0) {
		exec_state_free(p);
		return ret;
	}
	base = strrchr(name, '/');
	strncpy(x->comm, base ? base + 1 : name, sizeof(x->comm) - 1);
	return 0;
}

int exec_prepare(struct task *t, int dfd, const char *path, unsigned lookup_flags, uint64_t sigmask)
{
	return prepare_as(t, dfd, path, path, lookup_flags, sigmask);
}

int exec_prepare_fd(struct task *t, int fd, const char *name)
{
	return prepare_as(t, fd, "", name, LOOKUP_FOLLOW | LOOKUP_EMPTY, 0);
}

int64_t hc_exec_prep(struct task *t, const struct sysargs *a)
{
	static char path[PATH_MAX_LEN];
	int dfd = (int)a->a[0], flags = (int)a->a[2];
	unsigned lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	int ret;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	ret = guest_read_str(t->tid, path, a->a[1], sizeof(path));
	if (ret < 0)
		return ret;
	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	if (path[0] == 0 && (flags & AT_EMPTY_PATH)) {
		/* fexecve: the program is known by its descriptor; an interpreter finds a script as
		 * /dev/fd/N, if it is open then. */
		char name[32];

		if (!fd_file_or_path(t, dfd))
			return -EBADF;
		snprintf(name, sizeof(name), "/dev/fd/%d", dfd);
		ret = prepare_as(t, dfd, "", name, lookup, a->a[3]);
		if (ret == 0 && t->proc->exec->nprefix && t->files->slots[dfd].cloexec) {
			exec_state_free(t->proc);
			ret = -ENOENT;
		}
		return ret;
	}
	return exec_prepare(t, dfd, path, lookup, a->a[3]);
}

int64_t hc_exec_cancel(struct task *t, const struct sysargs *a)
{
	(void)a;
	if (t->proc->exec_task == t)
		exec_state_free(t->proc);
	return 0;
}

static int obj_fill(struct task *t, struct stub_boot *b, uint32_t which, struct file *f,
		    const struct elf_plan *plan)
{
	const struct mapping_req req = { .prot = 5 /* PROT_READ | PROT_EXEC */,
					 .flags = 2,
					 .len = plan->span };
	struct stub_obj *o = &b->obj[which];
	bool keep = false;
	int fd;

	fd = mem_give(t, f, &req, &keep);
	if (fd < 0)
		return fd;
	o->fd = fd;
	o->keep = keep;
	o->present = 1;
	o->span = plan->span;
	o->vaddr = plan->vaddr;
	o->entry = plan->entry;
	if (!plan->dynamic_base) {
		o->hint = plan->vaddr;
		o->fixed = 1;
	}
	for (uint32_t i = 0; i < plan->nseg; i++) {
		if (b->nseg == STUB_MAX_SEGS)
			return -ENOEXEC;
		b->seg[b->nseg] = plan->seg[i];
		b->seg[b->nseg++].obj = which;
	}
	return 0;
}

/* Threads and files of the old program go. False: there are many, and more of them. */
static bool old_close(struct task *t)
{
	struct proc *p = t->proc;
	struct task *o, *tmp;

	fast_leave(p);
	list_for_each_safe(o, tmp, &p->threads, thread_link)
		if (o != t) {
			task_free(o);
			if (turn_is_long())
				return false;
		}
	signal_resend(p, p);
	births_exec(p);
	if (t->files->refs > 1) {
		struct fdtable *own = fdtable_copy(t->files);

		if (own) {
			fdtable_put(t->files, t);
			t->files = own;
		}
	}
	return fd_close_on_exec(t);
}

/* The program has changed: what belonged to the old one goes. */
static void proc_renew(struct task *t, struct exec_state *x)
{
	struct proc *p = t->proc;

	exec_release(p);
	p->exe = x->file;
	x->file = NULL;
	p->sig_caught = p->sig_guarded = 0;
	p->chld_nostop = false;
	if (p->chld_nowait)
		p->chld_ignore = p->chld_nowait = false;
	p->did_exec = p->exec_untold = true;
	p->exit_signal = SIGCHLD;
	p->dumpable = 1;
	p->personality &= ~(uint64_t)READ_IMPLIES_EXEC;
	cred_exec(&t->cred);
	ptimers_free(p);
	aio_free(p);
	shm_detach_all(p);
	memcpy(t->comm, x->comm, sizeof(t->comm));
	p->start_code = p->end_code = p->start_brk = p->start_stack = 0;
	p->arg_start = p->arg_end = p->env_start = p->env_end = 0;
}

/* The host gives the thread that called execve the process's number, whoever had it. */
struct task *exec_survivor(pid_t pid, struct task *leader)
{
	struct proc *p = proc_find(pid);
	struct task *t = p ? p->exec_task : NULL;

	if (!t || t == leader)
		return leader;
	if (leader)
		task_free(leader);
	task_renumber(t, pid);
	return t;
}

int64_t hc_exec_boot(struct task *t, const struct sysargs *a)
{
	static struct stub_boot b;
	struct proc *p = t->proc;
	struct exec_state *x = p->exec;
	uint32_t rnd[2];
	int ret;

	if (!x || t->tid != p->pid)
		goto fatal;
	if (seed_is_split(t)) {
		int64_t split = seed_split(t, a);

		if (split)
			return split;
	}
	/* Not before: the seed that it split off has none of them. */
	if (p->is_first && !p->did_exec)
		limits_given(p);
	if (!old_close(t))
		return call_wait_turn(t);
	memset(&b, 0, sizeof(b));
	ret = obj_fill(t, &b, 0, x->file, &x->plan);
	if (ret == 0 && x->interp)
		ret = obj_fill(t, &b, 1, x->interp, &x->interp_plan);
	if (ret < 0)
		goto fatal;
	host_random(rnd, sizeof(rnd));
	/* Like Linux: a program with an interpreter goes to the middle of the address space, a lone
	 * one (the loader called by hand, static PIE) to the mmap area. */
	if (x->plan.dynamic_base && x->interp)
		b.obj[0].hint = PIE_BASE + ((uint64_t)(rnd[0] & 0xfffffff) << 12);
	b.brk_gap = ((uint64_t)rnd[1] << 12) & 0x1fff000;
	b.phdr = x->plan.phdr;
	b.phnum = x->plan.phnum;
	b.start_code = x->plan.start_code;
	b.end_code = x->plan.end_code;
	b.start_data = x->plan.start_data;
	b.end_data = x->plan.end_data;
	b.sigmask = x->sigmask;
	b.nprefix = x->nprefix;
	b.extra_len = x->extra_len;
	memcpy(b.extra, x->extra, sizeof(b.extra));
	memcpy(b.comm, x->comm, sizeof(b.comm));
	b.uid = t->cred.uid;
	b.euid = t->cred.euid;
	b.gid = t->cred.gid;
	b.egid = t->cred.egid;
	b.filtered = t->seccomp != NULL;
	proc_renew(t, x);
	exec_state_free(p);
	fast_exec(t, a->a[0] + offsetof(struct stub_boot, own), (struct fast_own *)b.own);
	if (guest_put(t->tid, a->a[0], &b) < 0)
		goto fatal;
	return 0;
fatal:
	proc_kill(p, SIGSEGV);
	return -EPERM;
}

int64_t hc_exec_done(struct task *t, const struct sysargs *a)
{
	struct stub_done d;
	struct proc *p = t->proc;
	int ret = guest_get(t->tid, &d, a->a[0]);

	if (ret < 0)
		return ret;
	p->start_code = d.start_code;
	p->end_code = d.end_code;
	p->start_brk = d.start_brk;
	p->start_stack = d.start_stack;
	p->arg_start = d.arg_start;
	p->arg_end = d.arg_end;
	p->env_start = d.env_start;
	p->env_end = d.env_end;
	p->auxv_addr = d.auxv;
	p->auxv_size = (uint32_t)MIN(d.auxv_size, 4096);
	/* No instruction of the program has run yet; it cannot say this a second time. */
	if (p->exec_untold)
		observe(executed, t);
	p->exec_untold = false;
	return 0;
}
