/* Building a cell.
 *
 *   boot_tree    the image with the cell's own layer above it, then /proc, /sys, /dev, /dev/pts,
 *                /dev/shm, then the mounts of the spec in order
 *   boot_first   the first process: looked up in the cell's own tree with the cell's own PATH,
 *                started as process 2; or, in an idle cell, the seed that all processes are made
 *                from (sys/seed.h)
 *
 * Hooks that free what a thread or process holds in the layers above are set here, where all layers
 * are known. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "host/isolate.h"
#include "host/notify.h"
#include "host/runner.h"
#include "kernel/cell/boot.h"
#include "kernel/cell/control.h"
#include "kernel/cell/freeze.h"
#include "kernel/cell/start.h"
#include "kernel/fs/dev/dev.h"
#include "kernel/fs/hostdir/hostdir.h"
#include "kernel/fs/image/image.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/fs/pty/pty.h"
#include "kernel/fs/s3/s3fs.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/sys/sysfs.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/net/door.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/mount.h"
#include "kernel/sys/seed.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define FIRST_PID 2

extern const char stub_blob[], stub_blob_end[];

static struct fs *layer;
static struct fs *shm;
static struct path root;
static struct cred own_cred; /* of processes that viv starts, unless it says otherwise */
static struct groups own_groups; /* of all processes that viv starts */

struct fs *boot_layer(void)
{
	return layer;
}

struct fs *boot_shm(void)
{
	return shm;
}

uint64_t boot_shm_size(void)
{
	const struct bootspec *spec = &cell.spec;

	/* A full /dev/shm is an error, not the end of the cell. */
	return spec->memory ? MIN(spec->memory / 2, spec->disk_bytes) : spec->disk_bytes;
}

const struct cred *boot_cred(void)
{
	return &own_cred;
}

const struct groups *boot_groups(void)
{
	return &own_groups;
}

struct fsctx *boot_fsctx(void)
{
	return fsctx_new(&root, &root, 022);
}

/* ---- the tree ---- */

/* A task that only exists to walk paths as the cell's root while there is no process yet. */
struct task *boot_walker(void)
{
	static struct task t;
	static struct proc p;

	if (!t.fs) {
		list_init(&t.interrupt_link);
		t.proc = &p;
		cred_init(&t.cred, 0, 0);
		t.fs = fsctx_new(&root, &root, 022);
		for (int i = 0; i < RLIMITS; i++)
			p.limits[i].cur = p.limits[i].max = UINT64_MAX;
	}
	return t.fs ? &t : NULL;
}

/* mkdir -p inside the cell, and with is_file an empty file at the end of it; returns path ref. */
static int place_make(const char *path, bool is_file, struct path *ret_)
{
	struct task *t = boot_walker();
	char part[PATH_MAX_LEN];
	size_t n = strlen(path);
	int ret = -ENOMEM;

	if (!t || n >= sizeof(part) || path[0] != '/')
		return -EINVAL;
	for (size_t i = 1; i <= n; i++) {
		bool file = is_file && path[i] == 0;
		const struct newnode new = { .mode = file ? S_IFREG | 0644 : S_IFDIR | 0755 };
		struct path parent, made;
		char last[NAME_MAX_LEN + 2];
		bool slash;

		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		ret = path_lookup(t, AT_FDCWD, part, LOOKUP_FOLLOW | (file ? 0 : LOOKUP_DIRECTORY),
				  &made);
		if (ret == -ENOENT) {
			ret = path_lookup_parent(t, AT_FDCWD, part, 0, &parent, last, &slash);
			if (ret < 0)
				return ret;
			ret = vfs_create(t, &parent, last, &new, &made);
			path_put(&parent);
		}
		if (ret < 0)
			return ret;
		if (path[i] == 0)
			*ret_ = made;
		else
			path_put(&made);
	}
	return ret;
}

static int dir_make(const char *path, struct path *ret_)
{
	return place_make(path, false, ret_);
}

/* Takes the fs reference. fixed: the operator's, not to be undone by a guest. */
static int mount_at(struct fs *fs, const char *path, uint32_t flags, const char *source, bool fixed)
{
	struct mount *m;
	struct path at;
	int ret;

	if (!fs)
		return -ENOMEM;
	ret = place_make(path, !inode_is_dir(fs->root), &at);
	if (ret == 0 && inode_is_dir(at.name->inode) && !inode_is_dir(fs->root)) {
		path_put(&at);
		ret = -EISDIR;
	}
	if (ret < 0) {
		fs_put(fs);
		return ret;
	}
	ret = mount_add(fs, &at, flags, source, &m);
	path_put(&at);
	if (ret < 0)
		return ret;
	mount_kind_add(fs, flags);
	m->locked = flags;
	m->fixed = fixed;
	mount_put(m);
	return 0;
}

/* -ELOOP: a part of the path is a symbolic link. Nothing runs that could make one meanwhile. */
static int place_check(const char *path)
{
	struct task *t = boot_walker();
	char part[PATH_MAX_LEN];
	size_t n = strlen(path);

	if (!t || n >= sizeof(part) || path[0] != '/')
		return -EINVAL;
	for (size_t i = 1; i <= n; i++) {
		struct path at;
		bool link;
		int ret;

		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		ret = path_lookup(t, AT_FDCWD, part, 0, &at);
		if (ret < 0)
			return ret == -ENOENT ? 0 : ret; /* it will be made */
		link = inode_is_lnk(at.name->inode);
		path_put(&at);
		if (link)
			return -ELOOP;
	}
	return 0;
}

static bool failure_told; /* viv knows already why there is no cell */

/* A layer on a disk. Takes the image. */
static int disk_layer(struct image *image, const struct disk_spec *d, const char *type,
		      struct fs **ret_)
{
	struct layer_disk disk;
	const struct bootspec *spec = &cell.spec;
	char why[256];
	int ret;

	if (d->nsealed > LAYER_CHAIN_MAX) {
		control_say(CTL_FAIL, 125, "a disk of the cell has more than %d snapshots below it",
			    LAYER_CHAIN_MAX);
		return -EMLINK;
	}
	disk = (struct layer_disk){ .readonly = d->readonly,
				    .active = d->active,
				    .nsealed = d->nsealed,
				    .sealed = spec->layers + d->first };
	disk.data_fd = host_openat(d->data_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (disk.data_fd < 0)
		return disk.data_fd;
	ret = layer_new_on_disk(image, &disk, d->max_bytes, d->max_inodes, type, ret_, why,
				sizeof(why));
	if (ret < 0) {
		control_say(CTL_FAIL, 125, "the cell's disk cannot be used: %s", why);
		failure_told = true;
	}
	return ret;
}

static int mount_spec_do(const struct mount_spec *s)
{
	const struct bootspec *spec = &cell.spec;
	uint32_t flags = MNT_NOSUID | MNT_NODEV | (s->readonly ? MNT_RDONLY : 0);
	struct fs *fs;
	int ret = s->nofollow ? place_check(s->dst) : 0;

	if (ret < 0)
		return ret;
	if (!strcmp(s->kind, "disk")) {
		ret = disk_layer(NULL, &s->disk, "vivdisk", &fs);
		return ret < 0 ? ret : mount_at(fs, s->dst, flags & ~MNT_NODEV, s->dst, true);
	}

	if (!strcmp(s->kind, "s3"))
		return mount_at(s3fs_new(s->fd, s->readonly, spec->uid, spec->gid), s->dst, flags,
				"s3", true);
	if (!strcmp(s->kind, "tmpfs"))
		return mount_at(layer_new(NULL, s->size ? s->size : spec->disk_bytes,
					  spec->disk_inodes, "tmpfs"),
				s->dst, flags, "tmpfs", true);
	if (!strcmp(s->kind, "file"))
		return mount_at(hostdir_new_file(s->fd, s->write_fd, s->readonly, spec->uid,
						 spec->gid),
				s->dst, flags, s->dst, true);
	return mount_at(hostdir_new(s->fd, s->readonly, spec->uid, spec->gid), s->dst, flags,
			s->dst, true);
}

static int root_mount(void)
{
	struct image *image;
	struct mount *m;
	int ret = 0;

	if (cell.spec.image_stored)
		ret = indeximage_new(FD_IMAGE, &image);
	else
		image = hostimage_new(FD_IMAGE);
	if (ret < 0)
		return ret;
	if (!image)
		return -ENOMEM;
	if (cell.spec.disk.present) {
		ret = disk_layer(image, &cell.spec.disk, "overlay", &layer);
		if (ret < 0)
			return ret;
	} else {
		layer = layer_new(image, cell.spec.disk_bytes, cell.spec.disk_inodes, "overlay");
	}
	if (!layer)
		return -ENOMEM;
	ret = mount_add(layer, NULL, 0, "vivarium", &m);
	if (ret < 0)
		return ret;
	root = (struct path){ .mnt = m, .name = name_get(m->root) };
	return 0;
}

/* Mounts of the host's and the caller's streams belong to the user of the first process, who may be
 * one that only the cell's own files know. One that they do not know is told when the process is to
 * start. */
static void owner_find(void)
{
	static struct user u;
	struct start_failure f;

	if (!cell.spec.user || start_user(cell.spec.user, &u, &f) < 0)
		return;
	cell.spec.uid = u.uid;
	cell.spec.gid = u.gid;
}

/* Ours, over the empty files of /run/viv/bin. */
static void program_mount(int fd, const char *path, const char *name)
{
	(void)!mount_at(hostdir_new_file(fd, -1, true, 0, 0), path,
			MNT_NOSUID | MNT_NODEV | MNT_RDONLY, name, false);
}

static void programs_mount(const struct bootspec *spec)
{
	program_mount(spec->tool_fd, "/run/viv/bin/viv-tools", "viv-tools");
	if (spec->viv_fd >= 0)
		program_mount(spec->viv_fd, "/run/viv/bin/viv", "viv");
}

int boot_tree(void)
{
	const struct bootspec *spec = &cell.spec;
	int ret;

	ret = root_mount();
	if (ret == 0)
		ret = mount_at(procfs_new(), "/proc", MNT_NOSUID | MNT_NODEV | MNT_NOEXEC, "proc",
			       false);
	if (ret == 0)
		ret = mount_at(sysfs_new(), "/sys",
			       MNT_NOSUID | MNT_NODEV | MNT_NOEXEC | MNT_RDONLY, "sysfs", false);
	if (ret == 0)
		ret = mount_at(devfs_new(), "/dev", MNT_NOSUID, "devtmpfs", false);
	if (ret == 0)
		ret = mount_at(devpts_new(), "/dev/pts", MNT_NOSUID | MNT_NOEXEC, "devpts", false);
	/* An image whose /run is no directory does without. */
	if (ret == 0 && (spec->network || spec->tools) &&
	    mount_at(runviv_fs_new(), "/run/viv", MNT_NOSUID | MNT_NODEV | MNT_NOEXEC | MNT_RDONLY,
		     "tmpfs", false) == 0 &&
	    spec->tools && spec->tool_fd >= 0)
		programs_mount(spec);
	shm = layer_new(NULL, boot_shm_size(), spec->disk_inodes, "tmpfs");
	if (ret == 0)
		ret = mount_at(shm ? fs_get(shm) : NULL, "/dev/shm", MNT_NOSUID | MNT_NODEV,
			       "tmpfs", false);
	if (ret < 0) {
		if (!failure_told)
			control_say(CTL_FAIL, 125, "cannot build the cell's file system: %s",
				    strerror(-ret));
		return ret;
	}
	owner_find();
	for (uint32_t i = 0; i < spec->nmounts; i++) {
		ret = mount_spec_do(&spec->mounts[i]);
		if (ret < 0) {
			if (!failure_told)
				control_say(CTL_FAIL, 125, "cannot mount %s in the cell: %s",
					    spec->mounts[i].dst,
					    ret == -EISDIR ? "it is a directory there, and a file "
							     "can only be mounted on a file"
					    : ret == -ELOOP
						    ? "the place leads through a symbolic link"
						    : strerror(-ret));
			return ret;
		}
	}
	return 0;
}

/* ---- the first process ---- */

static const char *env_get(const char *name)
{
	size_t n = strlen(name);

	for (char **e = cell.spec.envp; *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* NAME= without a value in the environment is where a user's own value goes. */
static void env_fill(const char *name, const char *value)
{
	size_t n = strlen(name);
	char *text;

	for (char **e = cell.spec.envp; *e; e++) {
		if (strncmp(*e, name, n) || (*e)[n] != '=' || (*e)[n + 1])
			continue;
		text = blob_new(n + strlen(value) + 2);
		if (!text)
			return;
		sprintf(text, "%s=%s", name, value);
		*e = text;
	}
}

/* Who the first process is: by number, or by name as the cell's own files say. */
static int user_become(struct start_failure *f)
{
	static struct user u;

	if (cell.spec.groups && start_groups(cell.spec.groups, &own_groups, f) < 0)
		return f->err;
	cred_init(&own_cred, cell.spec.uid, cell.spec.gid);
	groups_add(&own_cred, &own_groups);
	if (!cell.spec.user)
		return 0;
	if (start_user(cell.spec.user, &u, f) < 0)
		return f->err;
	start_cred(&u, &own_cred);
	env_fill("HOME", u.home);
	env_fill("USER", u.name);
	env_fill("LOGNAME", u.name);
	return 0;
}

/* Whatever keeps it from being made is told when a process is to start there. */
static void workdir_prepare(void)
{
	struct path at;

	if (cell.spec.workdir_make && dir_make(cell.spec.workdir, &at) == 0)
		path_put(&at);
}

/* From here on the root is as read-only as a mount of the operator's: every bind of it and every
 * tree of a process's own is a copy of this mount, flags that cannot be cleared included. */
static void root_seal(void)
{
	if (!cell.spec.readonly_root)
		return;
	root.mnt->flags |= MNT_RDONLY;
	root.mnt->locked |= MNT_RDONLY;
	mounts_changed();
}

int boot_become(char **envp, const char *workdir, bool make, const char *user)
{
	const struct bootspec before = cell.spec;
	const struct cred was = own_cred;
	struct start_failure f;
	int ret;

	cell.spec.envp = envp;
	cell.spec.workdir = workdir;
	cell.spec.workdir_make = make;
	cell.spec.user = user;
	cell.spec.uid = cell.spec.gid = 0;
	ret = user_become(&f);
	if (ret == 0) {
		workdir_prepare();
		return 0;
	}
	cell.spec = before;
	own_cred = was;
	return ret;
}

/* The tables of the first process, before the host has one. */
static int first_prepare(struct start_failure *f)
{
	const struct bootspec *spec = &cell.spec;
	struct start s = { .program = spec->argv[0],
			   .search = env_get("PATH"),
			   .cwd = spec->workdir,
			   .cred = &own_cred };
	struct proc *p;

	f->err = stream_files(s.files);
	if (f->err < 0) {
		snprintf(f->text, sizeof(f->text), "cannot set up the first process");
		f->status = 125;
		return f->err;
	}
	p = start_proc(FIRST_PID, &s, f);
	for (int i = 0; i < 3; i++)
		file_put(s.files[i]);
	if (!p)
		return f->err;
	p->is_first = true;
	p->launch = 1;
	if (console_tty())
		tty_attach(console_tty(), p);
	if (spec->seed)
		seed_init_split(FIRST_PID);
	return 0;
}

int boot_first(void)
{
	static char seed_name[] = "viv-seed";
	static char *seed_argv[] = { seed_name, NULL }, *seed_envp[] = { NULL };
	const struct bootspec *spec = &cell.spec;
	/* With a trace every call is to be seen. */
	bool with_fast = spec->fast != FAST_OFF && !spec->trace;
	struct start_failure f;
	pid_t pid = FIRST_PID;
	void *fast = NULL;
	int listener = -1, ret;

	ret = user_become(&f);
	if (ret == 0)
		workdir_prepare();
	root_seal();
	if (ret == 0 && !spec->idle)
		ret = first_prepare(&f);
	if (ret < 0) {
		control_say(CTL_FAIL, f.status, "%s", f.text);
		return f.status;
	}
	ret = runner_stub_install(stub_blob, (size_t)(stub_blob_end - stub_blob), FAST_BASE,
				  FAST_SIZE, &fast);
	if (ret == 0)
		seccomp_init(fast);
	if (ret == 0 && with_fast)
		fastmem_init(fast);
	if (ret == 0 && spec->thaw_fd >= 0 && thaw_open(spec->thaw_fd, &pid) < 0)
		return 125;
	if (ret == 0)
		ret = spec->idle ? runner_spawn(seed_argv, seed_envp, &listener)
				 : runner_spawn(spec->argv, spec->envp, &listener);
	if (ret != pid) {
		control_say(CTL_FAIL, 125, "cannot start a process for the cell: %s",
			    ret < 0 ? strerror(-ret) : "unexpected process number");
		return 125;
	}
	notify_init(listener);
	if (spec->thaw_fd >= 0)
		return thaw_births() < 0 || isolate_numbers_end() < 0 ? 125 : 0;
	if (spec->idle)
		seed_init(FIRST_PID);
	return 0;
}
