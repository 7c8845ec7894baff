/* The VFS core over a toy file system: walks, names, mounts, renames, descriptors; no object is
 * left at the end. */
/* objects: src/base/arena.c src/base/program.c src/host/child.c src/kernel/vfs/async.c src/kernel/vfs/attr.c src/kernel/vfs/drop.c src/kernel/vfs/fdtable.c src/kernel/vfs/file.c src/kernel/vfs/inode.c src/kernel/vfs/lock.c src/kernel/vfs/ranges.c src/kernel/vfs/mount.c src/kernel/vfs/mounttree.c src/kernel/vfs/name.c src/kernel/vfs/notify.c src/kernel/vfs/upcalls.c src/kernel/vfs/ops.c src/kernel/vfs/walk.c src/kernel/task/waitq.c src/kernel/task/cred.c src/kernel/platform/cell.c src/kernel/platform/fastmem.c src/kernel/vfs/ask.c src/kernel/task/hooks.c src/kernel/task/observe.c src/base/siphash.c src/host/sys.c */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"
#include "tap.h"

/* ---- what other layers give ---- */
static int64_t clock_now = 1000 * NSEC_PER_SEC;
static int signals;

int64_t now_real(void)
{
	return clock_now += 1000000;
}

int ktimer_start(struct ktimer *timer, int64_t expires)
{
	(void)timer, (void)expires;
	return 0;
}
bool ktimer_is_started(const struct ktimer *timer)
{
	(void)timer;
	return false;
}
int64_t now_mono(void)
{
	return 0;
}
bool turn_is_long(void)
{
	return false;
}

struct proc *proc_find(pid_t pid)
{
	(void)pid;
	return NULL;
}

int signal_send_task(struct task *t, int sig, const struct linux_siginfo *info)
{
	(void)t, (void)sig, (void)info;
	return signals++, 0;
}

/* ---- a toy file system: entries in one array ---- */
struct toy {
	struct inode ino;
	char target[64];
};
struct entry {
	struct inode *dir, *ino;
	char name[256];
};
OBJ_TYPE(toy_type, struct toy, 0);
static struct entry entries[64];
static const struct inode_ops toy_ops;
static const struct file_ops toy_fops;
static int lookups;

static struct entry *entry_find(struct inode *dir, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (entries[i].dir == dir && strlen(entries[i].name) == len &&
		    memcmp(entries[i].name, name, len) == 0)
			return &entries[i];
	return NULL;
}

static void entry_add(struct inode *dir, const char *name, size_t len, struct inode *ino)
{
	struct entry *e = entries;
	while (e->dir)
		e++;
	e->dir = dir;
	e->ino = inode_get(ino);
	memcpy(e->name, name, len);
	e->name[len] = '\0';
	ino->nlink++;
}

static void entry_drop(struct entry *e)
{
	e->ino->nlink--;
	inode_put(e->ino);
	e->dir = NULL;
}

static bool is_empty(struct inode *dir)
{
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (entries[i].dir == dir)
			return false;
	return true;
}

static struct inode *toy_new(struct fs *fs, uint32_t mode)
{
	struct toy *toy = obj_new(&toy_type);
	inode_init(&toy->ino, fs, &toy_ops, mode);
	toy->ino.ino = ino_next();
	toy->ino.nlink = 0;
	toy->ino.fops = &toy_fops;
	return &toy->ino;
}

static int toy_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct entry *e = entry_find(dir, name, len);
	lookups++;
	if (!e)
		return -ENOENT;
	*ret_ = inode_get(e->ino);
	return 0;
}

static int toy_create(struct inode *dir, const char *name, size_t len, const struct newnode *n,
		      struct inode **ret_)
{
	struct inode *ino = toy_new(dir->fs, n->mode);
	if (n->target)
		strcpy(container_of(ino, struct toy, ino)->target, n->target);
	entry_add(dir, name, len, ino);
	*ret_ = ino;
	return 0;
}

static int toy_tmpfile(struct inode *dir, const struct newnode *n, struct inode **ret_)
{
	*ret_ = toy_new(dir->fs, n->mode);
	return 0;
}

static int toy_link(struct inode *dir, const char *name, size_t len, struct inode *target)
{
	entry_add(dir, name, len, target);
	return 0;
}

static int toy_unlink(struct inode *dir, const char *name, size_t len, struct inode *victim)
{
	if (inode_is_dir(victim) && !is_empty(victim))
		return -ENOTEMPTY;
	entry_drop(entry_find(dir, name, len));
	return 0;
}

static int toy_rename(struct inode *odir, const char *oname, size_t olen, struct inode *moved,
		      struct inode *ndir, const char *nname, size_t nlen, struct inode *victim,
		      unsigned flags)
{
	struct entry *o = entry_find(odir, oname, olen), *n = entry_find(ndir, nname, nlen);
	if (flags & RENAME_EXCHANGE_) {
		o->ino = victim;
		n->ino = moved;
		return 0;
	}
	if (victim && inode_is_dir(victim) && !is_empty(victim))
		return -ENOTEMPTY;
	if (n)
		entry_drop(n);
	entry_add(ndir, nname, nlen, moved);
	entry_drop(o);
	return 0;
}

static int toy_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	const char *target = container_of(ino, struct toy, ino)->target;
	(void)t;
	size_t n = MIN(strlen(target), size);
	memcpy(buf, target, n);
	return (int)n;
}

static int toy_setattr(struct inode *ino, const struct attr *a)
{
	inode_set_attr(ino, a);
	if (a->valid & ATTR_SIZE)
		ino->size = a->size;
	return 0;
}

static void toy_evict(struct inode *ino)
{
	obj_free(&toy_type, container_of(ino, struct toy, ino));
}

static const struct inode_ops toy_ops = {
	.lookup = toy_lookup,
	.create = toy_create,
	.tmpfile = toy_tmpfile,
	.link = toy_link,
	.unlink = toy_unlink,
	.rename = toy_rename,
	.readlink = toy_readlink,
	.setattr = toy_setattr,
	.evict = toy_evict,
};
static const struct fs_ops fs_ops;

/* ---- the tests ---- */
static struct proc proc;
static struct task task;
static struct fs fs_a, fs_b;
static struct mount *root_mount, *sub_mount;

static void toy_fs(struct fs *fs)
{
	fs_init(fs, &fs_ops, "toy");
	fs->root = toy_new(fs, S_IFDIR | 0755);
}

static int make(const char *path, uint32_t mode, const char *target)
{
	struct newnode n = { .mode = mode, .target = target };
	char last[NAME_MAX_LEN + 2];
	struct path dir;
	bool slash;
	int err = path_lookup_parent(&task, AT_FDCWD, path, 0, &dir, last, &slash);
	if (err < 0)
		return err;
	if (slash)
		strcat(last, "/");
	err = vfs_create(&task, &dir, last, &n, NULL);
	path_put(&dir);
	return err;
}

static int gone(const char *path, bool rmdir)
{
	char last[NAME_MAX_LEN + 2];
	struct path dir;
	bool slash;
	int err = path_lookup_parent(&task, AT_FDCWD, path, 0, &dir, last, &slash);
	if (err < 0)
		return err;
	if (slash)
		strcat(last, "/");
	err = vfs_unlink(&task, &dir, last, rmdir);
	path_put(&dir);
	return err;
}

static int move(const char *from, const char *to, unsigned flags)
{
	char olast[NAME_MAX_LEN + 2], nlast[NAME_MAX_LEN + 2];
	struct path o, n;
	bool oslash, nslash;
	int err = path_lookup_parent(&task, AT_FDCWD, from, 0, &o, olast, &oslash);
	if (err < 0)
		return err;
	err = path_lookup_parent(&task, AT_FDCWD, to, 0, &n, nlast, &nslash);
	if (err == 0) {
		if (oslash)
			strcat(olast, "/");
		if (nslash)
			strcat(nlast, "/");
		err = vfs_rename(&task, &o, olast, &n, nlast, flags);
		path_put(&n);
	}
	path_put(&o);
	return err;
}

static int look(const char *path, unsigned flags)
{
	struct path p;
	int err = path_lookup(&task, AT_FDCWD, path, flags, &p);
	if (!err)
		path_put(&p);
	return err;
}

/* Does path, when followed, lead to the place whose text is want? */
static bool leads_to(const char *path, const char *want)
{
	static char buf[PATH_MAX_LEN];
	struct path p;
	char *text;
	size_t len;
	if (path_lookup(&task, AT_FDCWD, path, LOOKUP_FOLLOW, &p) < 0)
		return false;
	int err = path_text(&p, NULL, true, buf, sizeof(buf), &text, &len);
	path_put(&p);
	if (err < 0 || strcmp(text, want) != 0)
		printf("# %s leads to %s\n", path, err < 0 ? "nowhere" : text);
	return err == 0 && strcmp(text, want) == 0 && len == strlen(want) + 1;
}

static void set_up(void)
{
	struct path root, at;

	proc.limits[RLIMIT_NOFILE].cur = 20;
	proc.limits[RLIMIT_FSIZE].cur = UINT64_MAX;
	list_init(&proc.threads);
	task.proc = &proc;
	task.cred.cap_effective = UINT64_MAX >> 23;
	toy_fs(&fs_a);
	toy_fs(&fs_b);
	eq(mount_add(&fs_a, NULL, 0, "a", &root_mount), 0, "the root is mounted");
	root = (struct path){ root_mount, root_mount->root };
	task.fs = fsctx_new(&root, &root, 022);
	task.files = fdtable_new();
	make("/d", S_IFDIR | 0755, NULL);
	make("/d/e", S_IFDIR | 0755, NULL);
	make("/mnt", S_IFDIR | 0755, NULL);
	make("/d/f", S_IFREG | 0644, NULL);
	eq(path_lookup(&task, AT_FDCWD, "mnt", 0, &at), 0, "a mount point");
	eq(mount_add(&fs_b, &at, MNT_NOEXEC, "b", &sub_mount), 0, "a mount");
	path_put(&at);
	make("/mnt/x", S_IFDIR | 0755, NULL);
}

static void test_walk(void)
{
	static char name[300], longpath[5000];

	ok(leads_to("/", "/"), "/");
	ok(leads_to("../../..", "/"), ".. stops at the root");
	ok(leads_to("d//e/./../f", "/d/f"), "dots and slashes");
	ok(leads_to("/mnt/x/../../d", "/d"), ".. climbs out of a mount");
	ok(leads_to("/mnt/x", "/mnt/x"), "text through a mount");
	make("/l", S_IFLNK | 0777, "d/e/");
	make("/d/e/up", S_IFLNK | 0777, "../../mnt/x");
	make("/abs", S_IFLNK | 0777, "/l/up");
	make("/loop", S_IFLNK | 0777, "loop");
	make("/dangling", S_IFLNK | 0777, "d/new");
	ok(leads_to("abs", "/mnt/x"), "links in links");
	ok(leads_to("abs/../x/.", "/mnt/x"), "links in the middle");
	eq(look("loop", LOOKUP_FOLLOW), -ELOOP, "a loop");
	eq(look("loop", 0), 0, "the looping link itself");
	eq(look("loop/", 0), -ELOOP, "with a slash it is followed");
	eq(look("dangling", LOOKUP_FOLLOW), -ENOENT, "dangling");
	eq(look("dangling", LOOKUP_FOLLOW | LOOKUP_CREATE), 0, "dangling, to be made");
	eq(look("d/f/", LOOKUP_FOLLOW), -ENOTDIR, "file with a slash");
	eq(look("d/f/x", LOOKUP_FOLLOW), -ENOTDIR, "below a file");
	eq(look("d/f/..", LOOKUP_FOLLOW), -ENOTDIR, ".. of a file");
	eq(look("d/", LOOKUP_CREATE), -EISDIR, "a slash cannot be made");
	eq(look("", 0), -ENOENT, "nothing");
	eq(look("", LOOKUP_EMPTY), 0, "nothing, allowed");
	memset(name, 'n', 256);
	eq(look(name, 0), -ENAMETOOLONG, "256 bytes");
	name[255] = '\0';
	eq(look(name, 0), -ENOENT, "255 bytes");
	memset(longpath, '/', 4096);
	eq(look(longpath, 0), -ENAMETOOLONG, "4096 bytes");
	longpath[4095] = '\0';
	eq(look(longpath, 0), 0, "4095 slashes");
	eq(look("/d", LOOKUP_BENEATH), -EXDEV, "beneath: absolute");
	eq(look("d/../..", LOOKUP_BENEATH), -EXDEV, "beneath: out");
	eq(look("d/../d/f", LOOKUP_BENEATH), 0, "beneath: in");
	eq(look("abs", LOOKUP_BENEATH | LOOKUP_FOLLOW), -EXDEV, "beneath: absolute link");
	eq(look("../../d", LOOKUP_IN_ROOT), 0, "in root");
	eq(look("mnt/x", LOOKUP_NO_XDEV), -EXDEV, "no other mount");
	eq(look("l", LOOKUP_NO_SYMLINKS), 0, "no links: itself");
	eq(look("l/up", LOOKUP_NO_SYMLINKS), -ELOOP, "no links: through");
	eq(look("d/f", LOOKUP_DIRECTORY), -ENOTDIR, "not a directory");
}

static void test_tree(void)
{
	eq(make("d/f", S_IFREG | 0644, NULL), -EEXIST, "create: exists");
	eq(make("g/", S_IFREG | 0644, NULL), -ENOENT, "create: a file with a slash");
	eq(make("g/", S_IFDIR | 0755, NULL), 0, "create: a directory with a slash");
	eq(make("/", S_IFDIR | 0755, NULL), -EEXIST, "create: the root");
	eq(gone("g", false), -EISDIR, "unlink: a directory");
	eq(gone("d/f", true), -ENOTDIR, "rmdir: a file");
	eq(gone("d", true), -ENOTEMPTY, "rmdir: not empty");
	eq(gone("d/.", true), -EINVAL, "rmdir: .");
	eq(gone("d/..", true), -ENOTEMPTY, "rmdir: ..");
	eq(gone("/", true), -EBUSY, "rmdir: /");
	eq(gone("mnt", true), -EBUSY, "rmdir: a mount point");
	eq(gone("d/f/", false), -ENOTDIR, "unlink: a file with a slash");
	eq(gone("nothing", false), -ENOENT, "unlink: nothing");
	eq(move("d", "d/e/z", 0), -EINVAL, "rename: into itself");
	eq(move("d/e", "d", 0), -ENOTEMPTY, "rename: over its parent");
	eq(move("d/f", "g", 0), -EISDIR, "rename: a file over a directory");
	eq(move("g", "d/f", 0), -ENOTDIR, "rename: a directory over a file");
	eq(move("d/f", "mnt/f", 0), -EXDEV, "rename: to another mount");
	eq(move("d/f", "g", RENAME_NOREPLACE_), -EEXIST, "rename: no replace");
	eq(move("d/f", "none", RENAME_EXCHANGE_), -ENOENT, "rename: exchange with nothing");
	eq(move("d/f", "x/", 0), -ENOTDIR, "rename: a file to a slash");
	eq(move("d/.", "x", 0), -EBUSY, "rename: .");
	eq(move("d/f", "g/a-name-that-is-longer-than-a-name-object-holds", 0), 0, "rename");
	eq(look("d/f", 0), -ENOENT, "the old name is gone");
	eq(look("g/a-name-that-is-longer-than-a-name-object-holds", 0), 0, "the new one is there");
	eq(move("g/a-name-that-is-longer-than-a-name-object-holds", "d/e", RENAME_EXCHANGE_), 0,
	   "exchange");
	ok(leads_to("g/a-name-that-is-longer-than-a-name-object-holds/up/..", "/mnt"),
	   "a moved directory");
	eq(look("d/e/up", 0), -ENOTDIR, "and the file in its place");
	eq(move("g/a-name-that-is-longer-than-a-name-object-holds", "d/e", RENAME_EXCHANGE_), 0,
	   "back");
	eq(move("g/a-name-that-is-longer-than-a-name-object-holds", "d/f", 0), 0, "back too");
	eq(gone("g", true), 0, "rmdir");
	eq(look("g", 0), -ENOENT, "is gone");
	lookups = 0;
	look("d/e/up", 0);
	look("g", 0);
	eq(lookups, 0, "all from the cache, the missing one too");
}

static void test_files(void)
{
	struct path p, q;
	struct file *f, *g;
	char buf[64];
	struct newnode n = { .mode = S_IFREG | 0600 };

	path_lookup(&task, AT_FDCWD, "d/f", 0, &p);
	eq(file_open(&task, &p, O_RDWR | O_CREAT | O_CLOEXEC, &f), 0, "open");
	eq(f->flags, O_RDWR | 0100000, "flags as F_GETFL shows them");
	eq(p.name->inode->writers, 1, "a writer");
	eq(file_open(&task, &p, O_RDONLY | OPEN_EXEC, &g), -EACCES, "not executable");
	p.name->inode->mode |= 0100;
	eq(file_open(&task, &p, O_RDONLY | OPEN_EXEC, &g), -ETXTBSY, "open for writing");
	eq(fd_install(&task, f, 0, false), 0, "the lowest number");
	eq(fd_install(&task, file_get(f), 5, true), 5, "from 5");
	eq(fd_install(&task, file_get(f), 0, false), 1, "the next one");
	eq(fd_install_at(&task, file_get(f), 0, false), 0, "dup2");
	eq(fd_install_at(&task, f, 20, false), -EBADF, "over the limit");
	eq(gone("d/f", false), 0, "unlink an open file");
	int len = file_label(f, NULL, buf, sizeof(buf));
	ok(len == 14 && memcmp(buf, "/d/f (deleted)", 14) == 0, "its label");
	eq(file_truncate(&task, f, 100), 0, "ftruncate");
	proc.limits[RLIMIT_FSIZE].cur = 50;
	eq(file_truncate(&task, f, 200), -EFBIG, "RLIMIT_FSIZE");
	eq(signals, 1, "SIGXFSZ");
	eq(file_truncate(&task, f, 10), 0, "shrinking is fine");
	fd_close_on_exec(&task);
	ok(!fd_file(&task, 5) && fd_file(&task, 1) == f, "close on exec");
	for (int i = 2; i < 20; i++)
		fd_install(&task, file_get(f), 0, false);
	eq(fd_install(&task, f, 0, false), -EMFILE, "no number is left");
	eq(fd_close(&task, 7), 0, "close");
	eq(fd_close(&task, 7), -EBADF, "close twice");
	eq(fd_install(&task, file_get(f), 0, false), 7, "and used again");
	path_put(&p);
	struct fdtable *copy = fdtable_copy(task.files);
	fdtable_put(task.files, &task);
	task.files = copy;
	eq(task.files->open, 20, "a copy");
	ok(fd_file(&task, 19) == f, "has the same files");

	eq(path_lookup(&task, AT_FDCWD, "d", 0, &p), 0, "a directory");
	eq(vfs_tmpfile(&task, &p, &n, &q), 0, "a file without a name");
	eq(vfs_link(&task, &q, &p, "tmp"), 0, "gets one");
	eq(q.name->inode->nlink, 1, "and one link");
	path_put(&q);
	eq(path_lookup(&task, AT_FDCWD, "d/tmp", 0, &q), 0, "by which it is found");
	eq(vfs_link(&task, &p, &p, "dir"), -EPERM, "no links to directories");
	eq(gone("d/tmp", false), 0, "unlink it");
	eq(vfs_link(&task, &q, &p, "tmp"), -ENOENT, "an unlinked file stays so");
	path_put(&q);
	path_put(&p);

	eq(file_new_anon("pipe:", S_IFIFO | 0600, &toy_fops, NULL, O_RDONLY, &f), 0, "a pipe");
	len = file_label(f, NULL, buf, sizeof(buf) - 1);
	buf[MAX(len, 0)] = '\0';
	ok(strncmp(buf, "pipe:[", 6) == 0, "its label");
	eq(file_place(f, &p), 0, "its place");
	ok(p.name->inode == f->inode, "leads to it");
	path_put(&p);
	file_put(f);
}

static void test_permission(void)
{
	struct path p;
	struct attr a = { .valid = ATTR_MODE, .mode = 04755 };
	struct attr own = { .valid = ATTR_UID, .uid = 5 };

	make("/s", S_IFDIR | 01777, NULL);
	make("/s/f", S_IFREG | 0600, NULL);
	path_lookup(&task, AT_FDCWD, "s/f", 0, &p);
	eq(vfs_setattr(&task, &p, &a), 0, "chmod");
	eq(p.name->inode->mode, S_IFREG | 04755, "with set-user-id");
	eq(vfs_setattr(&task, &p, &own), 0, "chown");
	eq(p.name->inode->mode, S_IFREG | 0755, "takes it away");
	eq(vfs_permission(&task, &p, R_OK | W_OK | X_OK), 0, "root may");
	task.cred.cap_effective = 0;
	task.cred.fsuid = 7;
	task.cred.fsgid = 7;
	eq(vfs_permission(&task, &p, R_OK), 0, "others may read");
	eq(vfs_permission(&task, &p, W_OK), -EACCES, "and not write");
	eq(vfs_setattr(&task, &p, &a), -EPERM, "nor change the mode");
	eq(gone("/s/f", false), -EPERM, "nor remove it from a sticky directory");
	eq(gone("/d/e", true), -EACCES, "nor from one they cannot write");
	task.cred.fsuid = 5;
	eq(gone("/s/f", false), 0, "the owner may");
	task.cred.fsuid = 0;
	task.cred.cap_effective = UINT64_MAX >> 23;
	path_put(&p);
}

static void test_nocache(void)
{
	struct path p, q;

	fs_b.nocache = true;
	path_lookup(&task, AT_FDCWD, "mnt/x", 0, &p);
	path_lookup(&task, AT_FDCWD, "mnt/x", 0, &q);
	ok(path_is_same(&p, &q), "the same while it is held");
	path_put(&q);
	/* Somebody else replaces it. */
	struct entry *e = entry_find(fs_b.root, "x", 1);
	entry_drop(e);
	struct inode *other = toy_new(&fs_b, S_IFDIR | 0755);
	entry_add(fs_b.root, "x", 1, other);
	inode_put(other);
	path_lookup(&task, AT_FDCWD, "mnt/x", 0, &q);
	ok(q.name->inode == other && q.name != p.name, "what replaced it is found");
	path_put(&q);
	path_put(&p);
	entry_drop(entry_find(fs_b.root, "x", 1));
	eq(look("mnt/x", 0), -ENOENT, "and not found when it is gone");
}

struct task *task_current;

int main(void)
{
	static char name[16];
	struct arena_stats stats;
	int pieces;

	if (arena_init() < 0)
		return 1;
	set_up();
	test_walk();
	test_tree();
	test_files();
	test_permission();
	test_nocache();
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof(name), "/d/%d", i);
		look(name, 0);
	}
	name_prune();
	eq(obj_type_find("name")->count <= 16384 + 32, true, "the cache stays within its limit");
	for (pieces = 1; !caches_drop(DROP_NODES); pieces++)
		;
	ok(pieces > 1 && pieces < 10, "it is emptied in pieces");
	ok(obj_type_find("name")->count < 32, "... of all that nobody holds");
	/* All goes away: the root file system with its mount. */
	fdtable_put(task.files, &task);
	fsctx_put(task.fs);
	eq(mount_remove(sub_mount), 0, "umount");
	mount_put(sub_mount);
	eq(mount_remove(root_mount), -EINVAL, "the root stays");
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (entries[i].dir)
			entry_drop(&entries[i]);
	list_remove(&root_mount->link);
	mount_put(root_mount);
	mount_put(root_mount);
	for (const struct obj_type *ty = obj_type_next(NULL); ty; ty = obj_type_next(ty))
		if (ty->count)
			printf("# left: %u %s\n", ty->count, ty->name);
	arena_stats_get(&stats);
	/* The mount outside of the tree, its root inode and root name stay. */
	eq(stats.objects, 3, "no other object is left");
	return tap_end();
}
