/* See start.h. */
#include "kernel/cell/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "kernel/cell/boot.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/limits.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/path.h"

static int failed(struct start_failure *f, int status, int err)
{
	f->status = status;
	f->err = err;
	return err;
}

int start_user(const char *text, struct user *u, struct start_failure *f)
{
	struct task *t = boot_walker();
	int ret = t ? user_find(t, text, u) : -ENOMEM;

	if (ret >= 0)
		return 0;
	snprintf(f->text, sizeof(f->text),
		 "--user %.100s: the cell's %s has no such %s" REMEDY
		 "give numbers (UID:GID) or one of "
		 "its own",
		 text, ret == -ESRCH ? "/etc/group" : "/etc/passwd",
		 ret == -ESRCH ? "group" : "user");
	return failed(f, 125, ret);
}

int start_groups(const char *list, struct groups *ret, struct start_failure *f)
{
	struct task *t = boot_walker();
	const char *wrong = "";
	int err = t ? groups_find_all(t, list, ret, &wrong) : -ENOMEM;

	if (err >= 0)
		return 0;
	snprintf(f->text, sizeof(f->text),
		 "--group-add %s: the cell's /etc/group has no such group" REMEDY
		 "give its number or one of its own",
		 wrong);
	return failed(f, 125, err);
}

void start_cred(const struct user *u, struct cred *out)
{
	cred_init(out, u->uid, u->gid);
	memcpy(out->groups, u->groups, u->ngroups * sizeof(u->groups[0]));
	out->ngroups = u->ngroups;
	groups_add(out, boot_groups());
}

static int workdir_enter(struct task *t, const char *cwd, struct start_failure *f)
{
	struct path dir;
	int ret = path_lookup(t, AT_FDCWD, cwd, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &dir);

	if (ret < 0) {
		snprintf(f->text, sizeof(f->text), "working directory %.150s: %s", cwd,
			 strerror(-ret));
		return failed(f, 125, ret);
	}
	path_put(&t->fs->cwd);
	t->fs->cwd = dir;
	return 0;
}

/* As a shell does: a name with a slash is a path, others are searched for; the most telling error
 * wins. */
static int command_find(struct task *t, const char *name, const char *search)
{
	const char *path = search ? search : "/usr/bin:/bin", *end;
	char full[PATH_MAX_LEN];
	int ret, best = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return exec_prepare(t, AT_FDCWD, name, LOOKUP_FOLLOW, 0);
	for (; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path), path,
				     name) >= sizeof(full))
			continue;
		ret = exec_prepare(t, AT_FDCWD, full, LOOKUP_FOLLOW, 0);
		if (ret == 0)
			return 0;
		if (ret != -ENOENT && ret != -ENOTDIR)
			best = ret;
	}
	return best;
}

/* As fexecve: through a descriptor that is closed with the exec. */
static int given_prepare(struct task *t, const struct start *s)
{
	int fd = fd_install_at(t, file_get(s->given), 3, true);

	if (fd >= 0)
		return exec_prepare_fd(t, 3, s->program);
	file_put(s->given);
	return fd;
}

static int program_prepare(struct task *t, const struct start *s, struct start_failure *f)
{
	int ret = s->given ? given_prepare(t, s) : command_find(t, s->program, s->search);
	bool missing = ret == -ENOENT || ret == -ENOTDIR;

	if (ret >= 0)
		return 0;
	snprintf(f->text, sizeof(f->text), "%.150s: %s", s->program,
		 ret == -ENOENT && !strchr(s->program, '/') ? "command not found in the cell"
							    : strerror(-ret));
	return failed(f, missing ? 127 : 126, ret);
}

static int files_install(struct task *t, const struct start *s)
{
	int ret = 0;

	for (int i = 0; i < 3 && ret >= 0; i++) {
		ret = fd_install_at(t, file_get(s->files[i]), i, false);
		if (ret < 0)
			file_put(s->files[i]);
	}
	return ret;
}

struct proc *start_proc(pid_t pid, const struct start *s, struct start_failure *f)
{
	const struct rusage none = { 0 };
	struct proc *p = proc_new(pid, NULL);
	struct task *t = p ? task_new(p, pid) : NULL;

	f->text[0] = 0;
	if (!t) {
		if (p)
			proc_reap(p);
		snprintf(f->text, sizeof(f->text), "the cell has too many processes");
		(void)failed(f, 125, -EAGAIN);
		return NULL;
	}
	p->pgid = p->sid = p->pid;
	limits_init(p);
	limits_born(t);
	t->cred = *s->cred;
	t->files = fdtable_new();
	t->fs = boot_fsctx();
	if (!t->files || !t->fs || files_install(t, s) < 0) {
		snprintf(f->text, sizeof(f->text), "cannot set up the process");
		(void)failed(f, 125, -ENOMEM);
	} else if (workdir_enter(t, s->cwd, f) == 0 && program_prepare(t, s, f) == 0) {
		/* A program that viv brings along works for the operator, not for the cell. */
		if (!s->given)
			limits_given(p);
		return p;
	}
	proc_exit(p, 0, &none);
	return NULL;
}
