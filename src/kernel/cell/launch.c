/* See launch.h.
 *
 * A launch is read and checked when it comes (the spec, the user, the streams), then waits for a
 * runner from the seed. Its words, argv and envp, are laid out for the place that the seed has for
 * them. When the runner is there, its tables are made as those of the first process are, and only
 * then the program is looked up: what fails there ends the runner and is told as a shell would tell
 * it. */
#include "kernel/cell/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/arena.h"
#include "wire/execspec.h"
#include "host/host.h"
#include "kernel/abi/signal.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/change.h"
#include "kernel/cell/control.h"
#include "kernel/cell/end.h"
#include "kernel/cell/freeze.h"
#include "kernel/cell/start.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/fs/pty/bridge.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/seed.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/vfs/file.h"

#define LAUNCHES_MAX 1024
#define STRING_MAX 131072 /* MAX_ARG_STRLEN of the host */
#define COMPARE_MAX (1UL << 22) /* variables of the cell times those that are given */

struct launch {
	struct seed_order order; /* first */
	struct list link;
	uint32_t id, flags;
	bool alive; /* its process is in the tables */
	uint64_t early; /* signals that came before that */
	int status; /* its wait status, once it has ended */
	struct execspec_view view;
	void *map; /* of the spec; NULL once it is not needed */
	size_t map_size;
	const char **words; /* argv, then the variables that were given */
	size_t nwords;
	bool has_user; /* another than the cell's */
	char vars[3][320]; /* HOME=, USER=, LOGNAME= of that user */
	struct cred cred;
	struct file *files[3], *program; /* program: NULL, it is looked up */
	struct bridge *bridge;
};
OBJ_TYPE(launch_type, struct launch, LAUNCHES_MAX);

static struct list launches = LIST_INIT(launches);

static struct launch *launch_find(uint32_t id)
{
	struct launch *l;

	list_for_each(l, &launches, link)
		if (l->id == id)
			return l;
	return NULL;
}

/* What is only needed until the process runs. */
static void spec_drop(struct launch *l)
{
	if (l->map)
		execspec_unmap(l->map, l->map_size);
	if (l->words)
		host_unmap(l->words, l->nwords * sizeof(*l->words));
	l->map = NULL;
	l->words = NULL;
	for (int i = 0; i < 3; i++) {
		if (l->files[i])
			file_put(l->files[i]);
		l->files[i] = NULL;
	}
	if (l->program)
		file_put(l->program);
	l->program = NULL;
}

static void launch_free(void *arg)
{
	struct launch *l = arg;

	spec_drop(l);
	list_remove(&l->link);
	obj_free(&launch_type, l);
}

static void fail_say(uint32_t id, int status, int err, const char *text)
{
	struct ctl_msg m = { .type = CTL_EXEC_FAIL, .id = id, .a = status, .b = err };

	snprintf(m.text, sizeof(m.text), "%s", text);
	control_tell(&m);
}

/* Nothing of it ever ran. */
static void launch_fail(struct launch *l, int status, int err, const char *text)
{
	fail_say(l->id, status, err, text);
	if (l->bridge)
		bridge_end(l->bridge, CALLBACK(launch_free), l);
	else
		launch_free(l);
}

/* ---- the environment ---- */

/* Is there a variable of that name among list? */
static bool has_variable(const char *const *list, size_t n, const char *text)
{
	size_t name = strcspn(text, "=") + 1;

	for (size_t i = 0; i < n; i++)
		if (list[i] && !strncmp(list[i], text, name))
			return true;
	return false;
}

/* The next variable that the process gets, after *at, which starts at 0; NULL: no more. First the
 * cell's that nobody replaces, then a named user's own, then those that were given. */
static const char *variable_next(const struct launch *l, size_t *at)
{
	const char *const *given = l->words + l->view.argc;
	const char *user[3] = { l->vars[0], l->vars[1], l->vars[2] };
	size_t nuser = l->has_user ? 3 : 0, ncell = 0;

	if (l->view.flags & EXECSPEC_CELL_ENV)
		while (cell.spec.envp[ncell])
			ncell++;
	for (; *at < ncell + nuser + l->view.envc;) {
		size_t i = (*at)++;
		const char *s = i < ncell	    ? cell.spec.envp[i]
				: i < ncell + nuser ? user[i - ncell]
						    : given[i - ncell - nuser];

		if (i < ncell + nuser && has_variable(given, l->view.envc, s))
			continue;
		if (i < ncell && has_variable(user, nuser, s))
			continue;
		for (size_t u = 0; u < nuser && (l->view.flags & EXECSPEC_FILL); u++)
			if (!strncmp(user[u], s, strlen(s)) && s[strlen(s) - 1] == '=')
				return user[u];
		return s;
	}
	return NULL;
}

static const char *path_of(const struct launch *l)
{
	const char *s;

	for (size_t at = 0; (s = variable_next(l, &at));)
		if (!strncmp(s, "PATH=", 5))
			return s + 5;
	return NULL;
}

/* ---- what the seed asks ---- */

/* Counts the words, or lays them out at out for a place addr. */
static void words_arrange(const struct launch *l, struct seed_order *o, char *out, uint64_t addr)
{
	uint64_t *ptr = (uint64_t *)out;
	size_t nvars = 0, text;
	const char *s;

	for (size_t at = 0; variable_next(l, &at);)
		nvars++;
	text = (l->view.argc + 1 + nvars + 1) * sizeof(uint64_t);
	o->envp = (l->view.argc + 1) * sizeof(uint64_t);
	for (size_t i = 0, at = 0; i < l->view.argc + nvars; i++) {
		size_t n;

		s = i < l->view.argc ? l->words[i] : variable_next(l, &at);
		n = strlen(s) + 1;
		if (out) {
			/* Behind argv is its NULL. */
			ptr[i + (i >= l->view.argc)] = addr + text;
			memcpy(out + text, s, n);
		}
		text += n;
	}
	o->size = text;
}

static int order_fill(struct seed_order *o, pid_t seed, uint64_t addr)
{
	struct launch *l = container_of(o, struct launch, order);
	char *buf = host_map_anon(NULL, o->size);
	int ret;

	if (!buf)
		return -ENOMEM;
	words_arrange(l, o, buf, addr);
	ret = guest_write(seed, addr, buf, o->size);
	host_unmap(buf, o->size);
	return ret;
}

static void order_failed(struct seed_order *o, int err)
{
	struct launch *l = container_of(o, struct launch, order);
	char text[128];

	snprintf(text, sizeof(text), "cannot start a process in the cell: %s", strerror(-err));
	launch_fail(l, 125, err, text);
}

/* p is the process of it. */
static void launch_begun(struct launch *l, struct proc *p)
{
	const struct ctl_msg m = { .type = CTL_STARTED, .id = l->id, .a = p->pid };

	p->launch = l->id;
	p->is_first = l->flags & CTL_X_FIRST;
	l->alive = true;
	if (l->bridge)
		bridge_attach(l->bridge, p);
	spec_drop(l);
	control_tell(&m);
	for (; l->early; l->early &= l->early - 1)
		(void)signal_send_proc(p, __builtin_ctzll(l->early) + 1, NULL);
}

static int order_born(struct seed_order *o, pid_t pid)
{
	struct launch *l = container_of(o, struct launch, order);
	struct start s = { .program = l->words[0],
			   .search = path_of(l),
			   .cwd = l->view.cwd ? l->view.cwd : cell.spec.workdir,
			   .cred = &l->cred,
			   .given = l->program };
	struct start_failure f;
	struct proc *p;

	memcpy(s.files, l->files, sizeof(s.files));
	p = start_proc(pid, &s, &f);
	if (!p) {
		launch_fail(l, f.status, f.err, f.text);
		return f.err;
	}
	launch_begun(l, p);
	return 0;
}

/* ---- CTL_EXEC ---- */

static int words_index(struct launch *l)
{
	const char *s = l->view.words;

	l->nwords = l->view.argc + l->view.envc;
	l->words = host_map_anon(NULL, l->nwords * sizeof(*l->words));
	if (!l->words)
		return -ENOMEM;
	for (size_t i = 0; i < l->nwords; i++) {
		size_t n = strlen(s) + 1;

		if (n > STRING_MAX)
			return -E2BIG;
		l->words[i] = s;
		s += n;
	}
	return 0;
}

static size_t cell_env_count(void)
{
	size_t n = 0;

	while (cell.spec.envp[n])
		n++;
	return n;
}

static int user_set(struct launch *l, struct start_failure *f)
{
	static const char *const names[] = { "HOME", "USER", "LOGNAME" };
	static struct user u;

	l->cred = *boot_cred();
	if (!l->view.user)
		return 0;
	if (start_user(l->view.user, &u, f) < 0)
		return f->err;
	start_cred(&u, &l->cred);
	l->has_user = true;
	for (int i = 0; i < 3; i++)
		snprintf(l->vars[i], sizeof(l->vars[i]), "%s=%s", names[i], i ? u.name : u.home);
	return 0;
}

/* Takes fds, the three streams. */
static int streams_set(struct launch *l, const struct ctl_msg *m, const int fds[3])
{
	int ret;

	if (!(l->flags & CTL_X_TTY))
		return stream_files_of(fds, l->cred.uid, l->cred.gid, l->files);
	host_close(fds[2]);
	ret = bridge_new(fds[0], fds[1], l->cred.uid, l->flags & CTL_X_HANG_UP, &l->bridge,
			 &l->files[0]);
	if (ret < 0)
		return ret;
	l->files[1] = file_get(l->files[0]);
	l->files[2] = file_get(l->files[0]);
	if (m->a > 0 && m->a < 65536 && m->b > 0 && m->b < 65536)
		bridge_resize(l->bridge, (unsigned)m->a, (unsigned)m->b);
	return 0;
}

static bool first_is_taken(void)
{
	struct launch *l;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (p->is_first)
			return true;
	list_for_each(l, &launches, link)
		if (l->flags & CTL_X_FIRST)
			return true;
	return false;
}

static void fds_close(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		host_close(fds[i]);
}

/* The spec, whose descriptor is closed either way. */
static int spec_read(struct launch *l, int fd, struct start_failure *f)
{
	int ret = execspec_map(fd, &l->view, &l->map, &l->map_size);

	host_close(fd);
	f->status = 125;
	f->err = ret;
	if (ret < 0) {
		snprintf(f->text, sizeof(f->text), "the request for a process is damaged");
		return ret;
	}
	ret = words_index(l);
	if (ret == 0 && (l->view.flags & EXECSPEC_CELL_ENV) &&
	    cell_env_count() * l->view.envc > COMPARE_MAX)
		ret = -E2BIG;
	if (ret < 0) {
		snprintf(f->text, sizeof(f->text), "%.100s: %s", l->words ? l->words[0] : "exec",
			 strerror(-ret));
		f->status = ret == -E2BIG ? 126 : 125;
		f->err = ret;
		return ret;
	}
	return user_set(l, f);
}

/* Its process was frozen: it goes on, with these streams. What cannot be thawed is not started. */
static void launch_thaw(struct launch *l)
{
	struct proc *first;

	if (!(l->flags & CTL_X_FIRST) || l->bridge || thaw_run(l->files, &first) < 0 || !first)
		_exit(125);
	launch_begun(l, first);
}

void launch_start(const struct ctl_msg *m, const int *fds, unsigned nfds)
{
	struct start_failure f = { .status = 125 };
	struct launch *l;
	int ret;

	if (!nfds) {
		fail_say(m->id, 125, -EMFILE, "the cell has too many open files");
		return;
	}
	if (nfds != 4u + (m->flags & CTL_X_PROGRAM ? 1 : 0) || !m->id || launch_find(m->id) ||
	    ((m->flags & CTL_X_FIRST) && first_is_taken())) {
		fds_close(fds, nfds);
		fail_say(m->id, 125, -EINVAL, "the request for a process is damaged");
		return;
	}
	l = control_is_paused() ? NULL : obj_new(&launch_type);
	if (!l) {
		fds_close(fds, nfds);
		fail_say(m->id, 125, control_is_paused() ? -EBUSY : -EAGAIN,
			 control_is_paused() ? "the cell is paused" REMEDY
					       "'viv resume' lets it go on"
					     : "the cell has too many processes");
		return;
	}
	l->id = m->id;
	l->flags = m->flags;
	list_init(&l->link);
	list_append(&launches, &l->link);
	if (spec_read(l, fds[0], &f) < 0) {
		fds_close(fds + 1, nfds - 1);
		launch_fail(l, f.status, f.err, f.text);
		return;
	}
	ret = nfds > 4 ? memfd_given(fds[4], l->words[0], &l->program) : 0;
	if (ret < 0) {
		fds_close(fds + 1, 3);
		launch_fail(l, 125, ret, "the request for a process is damaged");
		return;
	}
	ret = streams_set(l, m, fds + 1);
	if (ret < 0) {
		snprintf(f.text, sizeof(f.text), "cannot use the streams: %s", strerror(-ret));
		launch_fail(l, 125, ret, f.text);
		return;
	}
	l->order.fill = CALLBACK(order_fill);
	l->order.born = CALLBACK(order_born);
	l->order.failed = CALLBACK(order_failed);
	words_arrange(l, &l->order, NULL, 0);
	if (l->flags & CTL_X_FIRST)
		stream_files_mark(l->files);
	if (thaw_is_pending()) {
		launch_thaw(l);
		return;
	}
	ret = seed_start(&l->order);
	if (ret == -ENOSYS)
		launch_fail(l, 125, ret,
			    "this cell cannot run further processes; it was started without them");
	else if (ret < 0)
		launch_fail(l, 125, ret, "the cell has too many processes");
}

/* ---- what follows ---- */

static struct proc *proc_of(uint32_t id)
{
	for (struct proc *p = proc_next(NULL); id && p; p = proc_next(p))
		if (p->launch == id && p->state != PROC_ZOMBIE)
			return p;
	return NULL;
}

static void end_tell(void *arg)
{
	struct launch *l = arg;
	struct ctl_msg m = { .type = CTL_PROC_EXIT, .id = l->id, .a = l->status };

	control_tell(&m);
	launch_free(l);
}

void launch_ended(struct proc *p)
{
	struct launch *l = launch_find(p->launch);

	/* The first process's end is the cell's. */
	if (!l || !l->alive || p->is_first)
		return;
	l->alive = false;
	l->status = p->wait_status;
	if (l->bridge)
		bridge_end(l->bridge, CALLBACK(end_tell), l);
	else
		end_tell(l);
}

static void first_done(void *arg)
{
	struct launch *l = arg;

	l->bridge = NULL;
	cell_end(l->status);
}

bool launch_lingers(int wait_status)
{
	struct launch *l;

	list_for_each(l, &launches, link) {
		if (!(l->flags & CTL_X_FIRST) || !l->bridge)
			continue;
		l->status = wait_status;
		bridge_end(l->bridge, CALLBACK(first_done), l);
		return true;
	}
	return false;
}

/* As a process that is stopped has them: SIGCONT takes stop signals back, and they it. */
static void early_add(struct launch *l, int sig)
{
	const uint64_t stops =
		SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU);

	if (sig == SIGCONT)
		l->early &= ~stops;
	else if (stops & SIGBIT(sig))
		l->early &= ~SIGBIT(SIGCONT);
	l->early |= SIGBIT(sig);
}

void launch_signal_first(int sig)
{
	struct launch *l;

	list_for_each(l, &launches, link)
		if ((l->flags & CTL_X_FIRST) && l->map)
			early_add(l, sig);
}

int launch_signal(uint32_t id, int sig, bool group)
{
	struct proc *p = proc_of(id);
	struct launch *l = p ? NULL : launch_find(id);
	const struct tty *tty = p ? tty_of(p) : NULL;

	if (!p && (!l || !l->map)) /* one that has its map has not been born */
		return -ESRCH;
	if (sig < 0 || sig > 64)
		return -EINVAL;
	if (sig == 0)
		return 0;
	if (!p) {
		early_add(l, sig);
		return 0;
	}
	if (!group)
		return signal_send_proc(p, sig, NULL);
	return signal_send_pgrp(tty && tty->foreground > 0 ? tty->foreground : p->pgid, sig, NULL);
}

int launch_resize(uint32_t id, int rows, int cols)
{
	struct launch *l = launch_find(id);

	if (!l)
		return -ESRCH;
	if (!l->bridge)
		return -ENOTTY;
	if (rows < 0 || rows > 65535 || cols < 0 || cols > 65535)
		return -EINVAL;
	bridge_resize(l->bridge, (unsigned)rows, (unsigned)cols);
	return 0;
}

void launch_hang_up(uint32_t id)
{
	struct launch *l = launch_find(id);
	struct proc *p = proc_of(id);

	if (l && l->bridge && l->alive) {
		bridge_hang_up(l->bridge);
	} else if (p) {
		(void)signal_send_pgrp(p->pgid, SIGHUP, NULL);
		(void)signal_send_pgrp(p->pgid, SIGCONT, NULL);
	}
}

/* ---- CTL_SETUP ---- */

/* A list of the variables in a mapping that stays: NULL: no memory. */
static char **variables_list(const struct execspec_view *v)
{
	char **list = host_map_anon(NULL, ((size_t)v->envc + 1) * sizeof(*list));
	const char *s = v->words;

	if (!list)
		return NULL;
	for (uint32_t i = 0; i < v->argc + v->envc; i++, s += strlen(s) + 1)
		if (i >= v->argc)
			list[i - v->argc] = (char *)(uintptr_t)s;
	return list;
}

int launch_setup(const struct ctl_msg *m, const int *fds, unsigned nfds)
{
	struct execspec_view v = { 0 };
	size_t size = 0;
	void *map = NULL;
	char **list = NULL;
	int ret = nfds == 1 && !proc_next(NULL) && list_is_empty(&launches) ? 0 : -EINVAL;

	if (ret == 0)
		ret = execspec_map(fds[0], &v, &map, &size);
	fds_close(fds, nfds);
	if (ret < 0)
		return ret;
	list = variables_list(&v);
	ret = list ? limits_change(&m->limits) : -ENOMEM;
	if (ret == 0)
		ret = boot_become(list, v.cwd ? v.cwd : "/", v.flags & EXECSPEC_MAKE_CWD, v.user);
	if (ret == 0)
		return 0;
	if (list)
		host_unmap(list, ((size_t)v.envc + 1) * sizeof(*list));
	execspec_unmap(map, size);
	return ret;
}
