/* The stages that lock a kernel in; host/isolate.h lists them in order. Each is a function
 * isolate_stage_NAME.
 *
 * Everything here works for an unprivileged caller: the capabilities that the stages need are
 * those of the new user namespace. As root, viv lowers its effective ids around the clone, so
 * the new user namespace belongs to an unprivileged uid, and the child gives up the rest by
 * mapping only that uid. Then both cases are the same. Left out: a network namespace shared by
 * all cells, which needs a long-lived owner (docs/decisions/0002). */
#include "host/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "host/jail.h"

#define SIGNALS_MAX 16384u /* as the cell says it (kernel/sys/limits.c) */
#define sys_open_tree(fd, path, flags) ((int)syscall(SYS_open_tree, fd, path, flags))
#define sys_mount_setattr(fd, path, flags, attr) \
	((int)syscall(SYS_mount_setattr, fd, path, flags, attr, sizeof(*(attr))))

/* What of the host the host image may show. Links are copied, directories are bound; a missing
 * one is left out. */
static const char *const host_view[] = { "usr",	   "opt",	   "etc",	  "bin",
					 "sbin",   "lib",	   "lib32",	  "lib64",
					 "libx32", "var/lib/dpkg", "var/lib/ghc", "var/lib/texmf" };

/* ---- viv's side ---- */

static bool in_first_user_namespace(void)
{
	char map[128] = "";
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	unsigned long inside, outside, count;
	ssize_t n;

	if (fd < 0)
		return true;
	n = read(fd, map, sizeof(map) - 1);
	close(fd);
	return n <= 0 || (sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
			  count >= 4294967295UL);
}

void isolate_ids(uid_t *ret_uid, gid_t *ret_gid)
{
	uint32_t r;

	*ret_uid = geteuid();
	*ret_gid = getegid();
	/* Root of a container's user namespace is an ordinary user already, and has no spare
	 * ids. */
	if (*ret_uid || !in_first_user_namespace())
		return;
	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		r = (uint32_t)getpid();
	*ret_uid = ISOLATE_UID_BASE + (r & ((1u << ISOLATE_UID_BITS) - 1));
	*ret_gid = *ret_uid;
}

/* In the child: what failed goes to viv, over a kernel's control socket or as a line of text. */
static _Noreturn void spawn_fail(const struct isolate_spawn *s, int control, const char *what,
				 int err)
{
	struct ctl_msg m = { .type = CTL_FAIL, .a = 125 };

	if (s->gate) {
		dprintf(control, "viv: cannot start viv-gate: %s: %s\n", what, strerror(err));
		_exit(125);
	}
	snprintf(m.text, sizeof(m.text), "cannot start the cell: %s: %s", what, strerror(err));
	(void)!send(control, &m, sizeof(m), MSG_NOSIGNAL);
	_exit(125);
}

static bool file_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return ok;
}

/* What the host counts for a user. A user namespace takes over the soft limits of who makes it, as
 * what its processes may make of the user's own counts: so they are lowered around the clone, and
 * the rest is kept for the user. */
struct quotas {
	struct rlimit signals, processes; /* as they were */
	long watches; /* of inotify, for this cell */
};

#define KEPT_SHARE 4 /* of pending signals: so much of the quota is for the user alone ... */
#define KEPT_SHARE_PROCESSES 8 /* ... and of processes */
#define WATCH_SHARE 8 /* of inotify's watches: what one cell may have */
#define WATCHES_UNKNOWN 65536 /* the quota is that of a namespace further up */

static long number_get(const char *path)
{
	char text[24] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? atol(text) : -1;
}

static void limit_keep(int which, rlim_t share, struct rlimit *ret_old)
{
	struct rlimit l;

	if (getrlimit(which, ret_old) < 0)
		*ret_old = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	if (ret_old->rlim_cur == RLIM_INFINITY)
		return;
	l = *ret_old;
	l.rlim_cur -= l.rlim_cur / share;
	(void)setrlimit(which, &l);
}

static void quotas_keep(struct quotas *q)
{
	long watches = number_get("/proc/sys/user/max_inotify_watches");

	q->watches = (watches <= 0 || watches >= INT_MAX ? WATCHES_UNKNOWN : watches) / WATCH_SHARE;
	limit_keep(RLIMIT_SIGPENDING, KEPT_SHARE, &q->signals);
	limit_keep(RLIMIT_NPROC, KEPT_SHARE_PROCESSES, &q->processes);
}

static void quotas_restore(const struct quotas *q)
{
	(void)setrlimit(RLIMIT_SIGPENDING, &q->signals);
	(void)setrlimit(RLIMIT_NPROC, &q->processes);
}

static void isolate_stage_maps(const struct isolate_spawn *s, int control)
{
	char line[64];
	uid_t r, e, v;
	gid_t gr, ge, gv;

	if (!file_put("/proc/self/setgroups", "deny") && errno != ENOENT)
		spawn_fail(s, control, "/proc/self/setgroups", errno);
	snprintf(line, sizeof(line), "0 %u 1\n", s->uid);
	if (!file_put("/proc/self/uid_map", line))
		spawn_fail(s, control, "/proc/self/uid_map", errno);
	snprintf(line, sizeof(line), "0 %u 1\n", s->gid);
	if (!file_put("/proc/self/gid_map", line))
		spawn_fail(s, control, "/proc/self/gid_map", errno);
	/* When viv is root, its real and saved ids are still in this process: all three become
	 * the cell's. */
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		spawn_fail(s, control, "setresuid", errno);
	if (getresuid(&r, &e, &v) < 0 || getresgid(&gr, &ge, &gv) < 0 || r || e || v || gr || ge ||
	    gv)
		spawn_fail(s, control, "setresuid", EPERM);
}

/* Quotas that the host keeps for each user and user namespace, and that cells of one user share
 * with all else that he runs. A new user namespace has none of its own. Where /proc/sys is not to
 * be written, as in some containers, the filters are alone. */
static void isolate_stage_quotas(const struct quotas *q)
{
	char text[24];

	/* Nothing of a cell makes a user namespace, and without one there are no others. */
	(void)file_put("/proc/sys/user/max_user_namespaces", "0");
	(void)file_put("/proc/sys/user/max_inotify_instances", "2");
	snprintf(text, sizeof(text), "%ld", q->watches);
	(void)file_put("/proc/sys/user/max_inotify_watches", text);
}

static void isolate_stage_leash(const struct isolate_spawn *s, int control)
{
	sigset_t none;

	/* After the ids: a change of ids clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		spawn_fail(s, control, "prctl", errno);
	/* Layers of disks are read by other kernels, with other uids. */
	umask(022);
	/* A session of its own has no terminal, so the host's job control never stops or signals
	 * the cell; viv forwards. */
	setsid();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void isolate_stage_exec(const struct isolate_spawn *s)
{
	static char names[2][12] = { "viv-kernel", "viv-gate" };
	char *argv[] = { names[s->gate], NULL }, *envp[] = { NULL };
	struct pollfd viv = { .fd = (int)s->control, .events = POLLIN };
	int *fds = calloc(s->nfds, sizeof(*fds));
	int kernel = fcntl(s->program_fd, F_DUPFD_CLOEXEC, (int)s->nfds);
	int control = s->fds[s->control];
	char go;

	if (kernel < 0 || !fds)
		spawn_fail(s, control, "descriptors", errno);
	/* First all out of the way, then each to its place. */
	for (unsigned i = 0; i < s->nfds; i++) {
		fds[i] = s->fds[i] < 0 ? -1 : fcntl(s->fds[i], F_DUPFD_CLOEXEC, (int)s->nfds);
		if (fds[i] < 0 && s->fds[i] >= 0)
			spawn_fail(s, control, "descriptors", errno);
	}
	for (unsigned i = 0; i < s->nfds; i++)
		if (fds[i] >= 0 ? dup2(fds[i], (int)i) < 0 : close((int)i) < 0 && errno != EBADF)
			spawn_fail(s, control, "descriptors", errno);
	control = (int)s->control;
	/* Closed now, not at the exec, so that viv's end of the control socket is viv's alone.
	 * kernel stays. */
	if (syscall(SYS_close_range, s->nfds, (unsigned)kernel - 1, 0) < 0 &&
	    (unsigned)kernel > s->nfds)
		spawn_fail(s, control, "close_range", errno);
	if (syscall(SYS_close_range, (unsigned)kernel + 1, ~0u, 0) < 0)
		spawn_fail(s, control, "close_range", errno);
	if (s->wait_go && recv(control, &go, 1, 0) != 1)
		_exit(125);
	/* viv may have died before the leash was on. */
	if (poll(&viv, 1, 0) > 0 && (viv.revents & (POLLHUP | POLLERR)))
		_exit(125);
	syscall(SYS_execveat, kernel, "", argv, envp, AT_EMPTY_PATH);
	spawn_fail(s, control,
		   "viv-kernel cannot be executed (is it readable and executable for everyone?)",
		   errno);
}

/* Lowers or raises the effective ids; the saved ones stay root's, so that viv can go back. */
static int ids_set(uid_t uid, gid_t gid, size_t ngroups, const gid_t *groups)
{
	bool up = !uid;

	if (up && setresuid((uid_t)-1, uid, (uid_t)-1) < 0)
		return -errno;
	if (setgroups(ngroups, groups) < 0 || setresgid((gid_t)-1, gid, (gid_t)-1) < 0)
		return -errno;
	if (!up && setresuid((uid_t)-1, uid, (uid_t)-1) < 0)
		return -errno;
	/* A change of ids made us undumpable, and then the child could not write its own maps. */
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

int isolate_spawn(const struct isolate_spawn *s, struct isolated *ret)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			 (s->gate ? 0 : CLONE_NEWNET) | CLONE_NEWCGROUP | CLONE_PIDFD,
		.pidfd = (uintptr_t)&ret->pidfd,
		.exit_signal = SIGCHLD,
	};
	bool drop = s->uid != geteuid();
	gid_t groups[256], gid = getegid();
	struct quotas quotas;
	int ngroups = 0, err;
	long pid;

	if (s->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)s->cgroup_fd;
	}
	if (drop) {
		ngroups = getgroups(ARRAY_LEN(groups), groups);
		if (ngroups < 0)
			return -errno;
		err = ids_set(s->uid, s->gid, 0, NULL);
		if (err)
			return err;
	}
	quotas_keep(&quotas);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		isolate_stage_maps(s, s->fds[s->control]);
		isolate_stage_quotas(&quotas);
		isolate_stage_leash(s, s->fds[s->control]);
		isolate_stage_exec(s);
	}
	err = pid < 0 ? -errno : 0;
	quotas_restore(&quotas);
	if (drop && ids_set(0, gid, (size_t)ngroups, groups) && !err)
		err = -EPERM;
	ret->pid = (pid_t)pid;
	return err;
}

/* ---- the kernel's side ---- */

static int isolate_stage_proc(struct frame *f, struct isolate_result *ret)
{
	/* Processes only: none of the host's own figures and switches. */
	static const char *const options[] = { "subset", "pid", NULL };
	int fd = mount_new("proc", options,
			   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	ret->proc_fd = fd < 0 ? -1 : fd;
	if (fd < 0) {
		log_warn("the host allows no private /proc here (%s): memory maps and processor "
			 "times of the cell's "
			 "processes are not shown",
			 strerror(-fd));
		return 0;
	}
	return frame_mount(f, f->fd, "proc", fd);
}

static int isolate_stage_scratch(struct frame *f, const struct bootspec *spec,
				 struct isolate_result *ret)
{
	char size[32], inodes[32];
	const char *options[] = { "mode", "0700", "size", size, "nr_inodes", inodes, NULL };
	/* The layer keeps some files and directories of its own; its limits are checked by
	 * itself and are met first. */
	uint64_t bytes = spec->disk_bytes ? spec->disk_bytes + (64UL << 20) : 0;
	uint64_t nodes = spec->disk_inodes ? spec->disk_inodes + 4096 : 0;
	int fd;

	/* 0 means no limit to tmpfs as well. */
	snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	snprintf(inodes, sizeof(inodes), "%llu", (unsigned long long)nodes);
	/* Executable: programs that a guest writes are mapped from here. */
	fd = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	ret->scratch_fd = fd;
	return fd < 0 ? fd : frame_mount(f, f->fd, "scratch", fd);
}

/* A copy of the mount at path, which starts there, with these attributes; its descriptor or
 * -errno. Recursive: the parts of a tree that came from the outer namespace cannot be taken
 * apart. */
static int tree_copy(const char *path, unsigned attributes)
{
	struct mount_attr attr = { .attr_set = attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	int tree = sys_open_tree(AT_FDCWD, path,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE),
	    err;

	if (tree < 0)
		return -errno;
	if (!sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr))
		return tree;
	err = -errno;
	close(tree);
	return err;
}

/* viv opened the directory, before any namespace; it is found again by path in our own and replaced
 * by a copy of the mount that starts there. -ESTALE: not possible, as it moved meanwhile or the
 * path is closed to us. */
static int mount_adopt(struct frame *f, int fd, const char *name, bool readonly)
{
	char link[32], path[4096];
	struct stat a, b;
	int tree, err;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[MAX(n, 0)] = '\0';
	tree = n > 0 ? tree_copy(path, readonly ? MOUNT_ATTR_RDONLY : 0) : -1;
	if (tree < 0)
		return -ESTALE;
	err = fstat(fd, &a) || fstat(tree, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino
		      ? -ESTALE
		      : frame_mount(f, f->fd, name, tree);
	if (!err && dup3(tree, fd, O_CLOEXEC) < 0)
		err = -errno;
	close(tree);
	return err;
}

/* A disk's directories. Other than with a directory of the host, nothing less will do than mounts
 * of their own: layers are written by kernels. */
static int disk_mounts(struct frame *f, const struct bootspec *spec, const struct disk_spec *d,
		       unsigned id)
{
	char label[32];
	int err;

	if (!d->present || d->detached)
		return 0;
	snprintf(label, sizeof(label), "disk%u", id);
	err = mount_adopt(f, d->data_fd, label, d->readonly);
	for (uint32_t i = 0; !err && i < d->nsealed; i++) {
		const struct layer_spec *l = &spec->layers[d->first + i];

		if (l->fd < 0)
			continue;
		snprintf(label, sizeof(label), "disk%u.%u", id, i);
		err = mount_adopt(f, l->fd, label, true);
	}
	return err;
}

/* The content of a mounted file is opened now, as nothing leads from an O_PATH descriptor to it
 * later: for reading, and for writing beside it unless the host refuses that. A kernel has no more
 * of the host than these. */
static int file_open(const struct mount_spec *m)
{
	static const int modes[2] = { O_RDONLY, O_RDWR };
	int numbers[2] = { m->fd, m->readonly ? -1 : m->write_fd }, opened[2] = { -1, -1 }, err = 0;
	struct stat was, is;
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", m->fd);
	if (fstat(m->fd, &was) < 0)
		return -errno;
	for (int i = 0; i < 2 && !err; i++) {
		if (numbers[i] < 0)
			continue;
		opened[i] = open(link, modes[i] | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (opened[i] < 0 && i)
			opened[i] = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (opened[i] < 0)
			err = -errno;
		else if (fstat(opened[i], &is) < 0 || !S_ISREG(is.st_mode) ||
			 is.st_dev != was.st_dev || is.st_ino != was.st_ino)
			err = -ESTALE;
	}
	for (int i = 0; i < 2; i++) {
		if (!err && opened[i] >= 0 && dup3(opened[i], numbers[i], O_CLOEXEC) < 0)
			err = -errno;
		if (opened[i] >= 0)
			close(opened[i]);
	}
	return err;
}

/* A host directory that cannot be adopted keeps viv's descriptor, and only host_open_beneath
 * confines it. */
static int isolate_stage_mounts(struct frame *f, const struct bootspec *spec)
{
	int err = disk_mounts(f, spec, &spec->disk, SPEC_MAX_MOUNTS);

	for (uint32_t i = 0; !err && i < spec->nmounts; i++) {
		const struct mount_spec *m = &spec->mounts[i];
		char label[32];

		bool is_file = !strcmp(m->kind, "file");

		if (!strcmp(m->kind, "disk"))
			err = disk_mounts(f, spec, &m->disk, i);
		if ((strcmp(m->kind, "host") && !is_file) || err)
			continue;
		snprintf(label, sizeof(label), "mount%u", i);
		if (!m->detached)
			err = mount_adopt(f, m->fd, label, m->readonly);
		if (err == -ESTALE) {
			log_debug("the mount at %s keeps the host's own view", m->dst);
			err = 0;
		}
		if (!err && is_file)
			err = file_open(m);
	}
	return err;
}

/* One entry of the host view, into the new root. A missing one is no error. */
static int host_view_add(struct frame *f, int dir, const char *name)
{
	char path[32], target[256];
	struct stat st;
	ssize_t n;
	int tree, err;

	for (const char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", (int)(s - name), name);
		if (mkdirat(dir, path, 0755) < 0 && errno != EEXIST)
			return -errno;
	}

	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		return symlinkat(target, dir, name) < 0 ? -errno : 0;
	}
	if (!S_ISDIR(st.st_mode))
		return 0;
	tree = tree_copy(path, MOUNT_ATTR_RDONLY);
	if (tree < 0)
		return tree;
	err = frame_mount(f, dir, name, tree);
	close(tree);
	return err;
}

/* FD_IMAGE becomes the image's directory as a mount of its own, or a directory with what the host
 * image may show. */
static int isolate_stage_view(struct frame *f, const struct bootspec *spec)
{
	int dir, err = 0;

	if (fcntl(FD_IMAGE, F_GETFD) < 0)
		return 0;
	if (spec->image_stored)
		return spec->image_detached ? 0 : mount_adopt(f, FD_IMAGE, "image", true);
	if (mkdirat(f->fd, "host", 0755) < 0)
		return -errno;
	dir = openat(f->fd, "host", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	for (unsigned i = 0; !err && i < ARRAY_LEN(host_view); i++)
		err = host_view_add(f, dir, host_view[i]);
	if (!err && dup3(dir, FD_IMAGE, O_CLOEXEC) < 0)
		err = -errno;
	close(dir);
	return err;
}

/* Signals that wait, of all processes of the cell together: as many as one process is told that it
 * may have, but not more than a third of what all cells of the user may have. */
static int signals_set(void)
{
	struct rlimit l;
	rlim_t n;

	if (getrlimit(RLIMIT_SIGPENDING, &l) < 0)
		return -errno;
	n = l.rlim_cur == RLIM_INFINITY ? SIGNALS_MAX : MIN(l.rlim_cur / 3, SIGNALS_MAX);
	return rlimit_set(RLIMIT_SIGPENDING, n, n);
}

static int isolate_stage_rlimits(const struct bootspec *spec)
{
	/* Counted for this user namespace alone. The slack is for processes that are being born or
	 * reaped. The kernel follows a change of max_tasks with the soft limit of each runner. */
	rlim_t soft = (rlim_t)spec->max_tasks + TASKS_SLACK,
	       hard = (rlim_t)MAX(spec->max_tasks, spec->most_tasks) + TASKS_SLACK;
	int err = spec->max_tasks ? rlimit_set(RLIMIT_NPROC, soft, hard) : 0;

	if (!err)
		err = rlimit_set(RLIMIT_NOFILE, RLIM_INFINITY, RLIM_INFINITY);
	if (!err)
		err = signals_set();
	if (!err)
		err = rlimit_set(RLIMIT_MSGQUEUE, 0, 0);
	if (!err)
		err = rlimit_set(RLIMIT_CORE, 0, 0);
	if (!err)
		err = rlimit_set(RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY);
	return err;
}

/* While processes that were frozen are made again, with the numbers that they had. */
#define CHECKPOINT_RESTORE (1ULL << 40)
static int numbers_fd = -1;

static void isolate_stage_numbers(const struct bootspec *spec)
{
	if (spec->thaw_fd >= 0)
		numbers_fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
}

int isolate_next_pid(pid_t pid)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", pid - 1);

	if (numbers_fd < 0)
		return -EROFS;
	return pwrite(numbers_fd, text, (size_t)n, 0) == n ? 0 : -errno;
}

int isolate_numbers_end(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (numbers_fd >= 0)
		close(numbers_fd);
	numbers_fd = -1;
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int isolate_enter(const struct bootspec *spec, struct isolate_result *ret)
{
	struct frame frame;
	const char *stage = "frame";
	int err = isolate_stage_frame(&frame);

	isolate_stage_numbers(spec);
	if (!err)
		stage = "proc", err = isolate_stage_proc(&frame, ret);
	if (!err)
		stage = "scratch", err = isolate_stage_scratch(&frame, spec, ret);
	if (!err)
		stage = "mounts", err = isolate_stage_mounts(&frame, spec);
	if (!err)
		stage = "view", err = isolate_stage_view(&frame, spec);
	if (!err)
		stage = "root", err = isolate_stage_root(&frame);
	if (!err)
		stage = "caps", err = isolate_stage_caps(numbers_fd < 0 ? 0 : CHECKPOINT_RESTORE);
	/* The first runner is read by its parent before it executes the stub. */
	if (!err)
		prctl(PR_SET_DUMPABLE, 1);
	if (!err)
		stage = "rlimits", err = isolate_stage_rlimits(spec);
	if (err)
		log_warn("isolation failed at stage '%s': %s%s", stage, strerror(-err),
			 err == -EPERM || err == -EACCES
				 ? "; a security module may forbid it (on Ubuntu: sysctl "
				   "kernel.apparmor_restrict_unprivileged_userns=0)"
				 : "");
	return err;
}

int isolate_seal(void)
{
	/* From here on nothing needs to look into the kernel: its memory is closed to other
	 * processes of its uid. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return -errno;
	return filter_install();
}

/* What glibc and the compiler's runtime do by themselves:
 * #syscalls: exit exit_group rt_sigreturn rt_sigaction rt_sigprocmask restart_syscall brk futex
 * #syscalls: clock_gettime gettimeofday getpid gettid tgkill writev */
