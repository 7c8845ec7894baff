/* The file systems with content: layer above the host image, tmpfs, hostdir, memfd, at the level of
 * inode operations. */
/* objects: src/base/arena.c src/base/program.c src/base/crc32c.c src/base/log.c src/host/file.c src/host/epoll.c src/host/sys.c src/host/procmem.c src/kernel/platform/cell.c src/kernel/platform/fastmem.c src/kernel/platform/gueststream.c src/kernel/platform/uio.c src/kernel/vfs/inode.c src/kernel/vfs/hostfile.c src/kernel/fs/image/etc.c src/kernel/fs/image/trust.c src/base/sha1.c src/base/base64.c src/kernel/fs/image/fdcache.c src/kernel/fs/image/hostimage.c src/kernel/fs/layer/ src/kernel/fs/hostdir/ src/kernel/vfs/notify.c src/kernel/vfs/upcalls.c src/kernel/platform/loop.c src/kernel/fs/memfd/memfd.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/hostdir/hostdir.h"
#include "kernel/fs/layer/node.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "layerfakes.h"
#include "tap.h"

/* ---- what the parts below need of others ---- */

int64_t now_mono(void)
{
	return host_clock(CLOCK_MONOTONIC);
}
int64_t now_real(void)
{
	return host_clock(CLOCK_REALTIME);
}
int64_t guest_move(pid_t tid, const struct iovec *local, unsigned nlocal,
		   const struct iovec *remote, unsigned nremote, bool towards_guest)
{
	(void)tid, (void)local, (void)nlocal, (void)remote, (void)nremote, (void)towards_guest;
	return -EFAULT;
}
size_t guest_read_some(pid_t tid, void *dst, uaddr_t src, size_t n)
{
	(void)tid, (void)dst, (void)src, (void)n;
	return 0;
}
size_t guest_write_some(pid_t tid, uaddr_t dst, const void *src, size_t n)
{
	(void)tid, (void)dst, (void)src, (void)n;
	return 0;
}
static struct file last_file;
int file_new(struct inode *ino, const struct path *p, uint32_t flags, struct file **ret_)
{
	(void)p;
	last_file = (struct file){ .refs = 1,
				   .ops = ino->fops,
				   .inode = inode_get(ino),
				   .flags = flags,
				   .mode = FMODE_READ | FMODE_WRITE };
	*ret_ = &last_file;
	return 0;
}

/* ---- helpers ---- */

static struct inode *walk(struct fs *fs, const char *path)
{
	struct inode *at = inode_get(fs->root), *next;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len) {
			int r = at->ops->lookup(at, path, len, &next);

			inode_put(at);
			if (r < 0)
				return NULL;
			at = next;
		}
		path += len + (path[len] == '/');
	}
	return at;
}

static bool exists(struct fs *fs, const char *path)
{
	struct inode *i = walk(fs, path);

	inode_put(i);
	return i != NULL;
}

static struct inode *make(struct inode *dir, const char *name, uint32_t mode)
{
	struct newnode n = {
		.mode = mode, .uid = 7, .gid = 8, .target = S_ISLNK(mode) ? "some/where" : NULL
	};
	struct inode *i = NULL;

	return dir->ops->create(dir, name, strlen(name), &n, &i) < 0 ? NULL : i;
}

static int drop(struct inode *dir, const char *name)
{
	struct inode *v;
	int r = dir->ops->lookup(dir, name, strlen(name), &v);

	if (r < 0)
		return r;
	r = dir->ops->unlink(dir, name, strlen(name), v);
	inode_put(v);
	return r;
}

static int move(struct inode *od, const char *o, struct inode *nd, const char *n, unsigned flags)
{
	struct inode *moved, *victim = NULL;
	int r = od->ops->lookup(od, o, strlen(o), &moved);

	if (r < 0)
		return r;
	nd->ops->lookup(nd, n, strlen(n), &victim);
	r = od->ops->rename(od, o, strlen(o), moved, nd, n, strlen(n), victim, flags);
	inode_put(moved);
	inode_put(victim);
	return r;
}

static int64_t put_bytes(struct inode *i, const char *s, size_t n, int64_t pos)
{
	struct file f = { .ops = i->fops, .inode = i, .mode = FMODE_READ | FMODE_WRITE };
	struct uio u;

	uio_init_kernel(&u, (void *)(uintptr_t)s, n);
	return f.ops->write(&f, &u, pos);
}

static int64_t get_bytes(struct inode *i, char *s, size_t n, int64_t pos)
{
	struct file f = { .ops = i->fops, .inode = i, .mode = FMODE_READ };
	struct uio u;

	uio_init_kernel(&u, s, n);
	return f.ops->read(&f, &u, pos);
}

struct names {
	struct dirsink sink;
	unsigned count, stop_after;
	char seen[65536];
};

static bool names_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino,
		       unsigned dtype, int64_t next_off)
{
	struct names *n = (struct names *)s;

	(void)ino, (void)dtype, (void)next_off;
	if (n->stop_after && n->count >= n->stop_after)
		return false;
	if (strlen(n->seen) + len + 2 < sizeof(n->seen)) {
		strcat(n->seen, "|");
		strncat(n->seen, name, len);
	}
	n->count++;
	return true;
}

static struct names *list_dir(struct inode *dir, unsigned step)
{
	static struct names n;
	struct file f = { .ops = dir->fops, .inode = dir, .mode = FMODE_READ };
	unsigned before;

	memset(&n, 0, sizeof(n));
	n.sink.emit = names_emit;
	do {
		before = n.count;
		n.stop_after = step ? n.count + step : 0;
		if (f.ops->iterate(&f, &n.sink) < 0)
			n.count = 0;
	} while (n.count > before);
	f.ops->release(&f);
	strcat(n.seen, "|");
	return &n;
}

static bool has_name(struct names *n, const char *name)
{
	char want[300];

	snprintf(want, sizeof(want), "|%s|", name);
	return strstr(n->seen, want) != NULL;
}

static char changes_text[65536];

static void add_change(void *arg, char kind, const char *path)
{
	(void)arg;
	snprintf(changes_text + strlen(changes_text), sizeof(changes_text) - strlen(changes_text),
		 "%c %s\n", kind, path);
}

static const char *changes(struct fs *fs)
{
	changes_text[0] = '\0';
	layer_changes(fs, add_change, NULL);
	return changes_text;
}

static uint32_t live(const char *type)
{
	struct obj_type *t = obj_type_find(type);

	return t ? t->count : 0;
}

static unsigned scratch_files(void)
{
	int fd = openat(cell.scratch_fd, ".", O_RDONLY | O_DIRECTORY);
	DIR *d = fdopendir(fd);
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* ---- tests ---- */

static void test_tmpfs(void)
{
	struct fs *fs = layer_new(NULL, 1 << 20, 100, "tmpfs");
	struct inode *root = fs->root, *f, *d, *g;
	struct fs_stat st = { 0 };
	char buf[64] = "";
	struct attr a = { .valid = ATTR_SIZE, .size = 2 };

	f = make(root, "file", S_IFREG | 0644);
	ok(f && f->nlink == 1 && f->uid == 7, "a file is made");
	eq(scratch_files(), 0, "an empty file has no content file");
	eq(get_bytes(f, buf, 10, 0), 0, "and reads as nothing");
	ok(make(root, "file", S_IFREG) == NULL, "not twice");
	eq(put_bytes(f, "hello", 5, 0), 5, "write");
	eq(f->size, 5, "size");
	eq(get_bytes(f, buf, 10, 1), 4, "read");
	ok(memcmp(buf, "ello", 4) == 0, "what was written");
	eq(f->ops->setattr(f, &a), 0, "truncate");
	eq(get_bytes(f, buf, 10, 0), 2, "to two bytes");
	eq(f->ops->hostfd(f, false) >= 0, 1, "a descriptor");
	eq(fcntl(f->ops->hostfd(f, false), F_GETFL) & O_ACCMODE, O_RDONLY, "for reading only");
	d = make(root, "dir", S_IFDIR | 0755);
	ok(d && root->nlink == 3 && d->nlink == 2, "link counts of directories");
	eq(root->ops->link(d, "hard", 4, f), 0, "link");
	eq(f->nlink, 2, "two links");
	g = walk(fs, "dir/hard");
	ok(g == f, "the same inode");
	inode_put(g);
	eq(drop(root, "dir"), -ENOTEMPTY, "not empty");
	eq(move(root, "file", d, "hard", 0), 0, "rename over its other name does nothing");
	ok(exists(fs, "file") && exists(fs, "dir/hard"), "both stay");
	eq(drop(d, "hard"), 0, "unlink");
	eq(move(root, "dir", root, "dir2", 0), 0, "rename a directory");
	ok(!exists(fs, "dir") && exists(fs, "dir2"), "moved");
	eq(move(root, "file", d, "in", 0), 0, "into a directory");
	ok(exists(fs, "dir2/in"), "there");
	eq(drop(d, "in"), 0, "unlinked while held");
	eq(get_bytes(f, buf, 10, 0), 2, "still readable");
	inode_put(f);
	eq(scratch_files(), 0, "its content went with the last holder");
	eq(drop(root, "dir2"), 0, "rmdir");
	ok(d->nlink == 0 && root->nlink == 2, "counts");
	ok(make(d, "x", S_IFREG) == NULL, "nothing is made in a removed directory");
	inode_put(d);
	g = make(root, "lnk", S_IFLNK | 0777);
	ok(g && g->ops->readlink(g, NULL, buf, sizeof(buf)) == 10 && g->size == 10, "symlink");
	inode_put(g);
	fs->ops->statfs(fs->root, &st);
	ok(st.type == 0x01021994 && st.blocks == 256 && st.files == 100 && st.ffree == 99,
	   "statfs");
	fs_put(fs);
}

static void test_quota(void)
{
	static char block[65536];
	struct fs *fs = layer_new(NULL, 100 * 1024, 10, "tmpfs");
	struct inode *root = fs->root, *f = make(root, "f", S_IFREG | 0600), *g;
	struct attr a = { .valid = ATTR_SIZE, .size = 1 << 30 };
	struct layer *l = (struct layer *)fs;

	memset(block, 'x', sizeof(block));
	eq(put_bytes(f, block, 65536, 0), 65536, "fits");
	eq(put_bytes(f, block, 65536, 65536), 100 * 1024 - 65536, "cut to what is left");
	eq(put_bytes(f, block, 1, 100 * 1024), -ENOSPC, "full");
	eq(put_bytes(f, block, 4096, 0), 4096, "overwriting goes on");
	eq(f->ops->setattr(f, &a), 0, "a hole costs nothing");
	eq(f->size, 1 << 30, "sparse");
	a.size = 0;
	eq(f->ops->setattr(f, &a), 0, "truncate");
	eq(l->used_bytes, 0, "gives all back");
	eq(put_bytes(f, block, 10, 5000000), 10, "behind a hole");
	eq(l->used_bytes, 4096, "one block");
	for (int i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		g = make(root, name, S_IFREG);
		inode_put(g);
	}
	ok(make(root, "one-more", S_IFREG) == NULL, "no more inodes");
	eq(root->ops->link(root, "l", 1, f), -ENOSPC, "nor names");
	eq(drop(root, "n3"), 0, "remove one");
	eq(root->ops->link(root, "l", 1, f), 0, "a name instead");
	eq(drop(root, "l"), 0, "which is given back");
	g = make(root, "one-more", S_IFREG);
	ok(g != NULL, "room again");
	inode_put(g);
	inode_put(f);
	fs_put(fs);
}

static void test_many(void)
{
	struct fs *fs = layer_new(NULL, 0, 0, "tmpfs");
	struct inode *dir = make(fs->root, "d", S_IFDIR | 0755), *i;
	int64_t start = host_clock(CLOCK_PROCESS_CPUTIME_ID);
	char name[32];
	int bad = 0;

	for (int n = 0; n < 20000; n++) {
		snprintf(name, sizeof(name), "file-%d", n);
		i = make(dir, name, S_IFREG | 0644);
		bad += !i;
		inode_put(i);
	}
	eq(list_dir(dir, 777)->count, 20002, "20,000 names listed in pieces");
	for (int n = 0; n < 20000; n++) {
		snprintf(name, sizeof(name), "file-%d", n);
		bad += drop(dir, name) != 0;
	}
	eq(bad, 0, "20,000 files made and removed");
	eq(list_dir(dir, 0)->count, 2, "empty again");
	ok(host_clock(CLOCK_PROCESS_CPUTIME_ID) - start < 2 * NSEC_PER_SEC,
	   "in two seconds of work");
	inode_put(dir);
	fs_put(fs);
}

static void test_listing_changes(void)
{
	struct fs *fs = layer_new(NULL, 0, 0, "tmpfs");
	struct inode *root = fs->root;
	struct names n = { .sink = { names_emit }, .stop_after = 3 };
	struct file f = { .ops = root->fops, .inode = root, .mode = FMODE_READ };

	for (const char *c = "abcdef"; *c; c++) {
		char name[2] = { *c };

		inode_put(make(root, name, S_IFREG));
	}
	f.ops->iterate(&f, &n.sink);
	eq(f.pos, 3, "three taken");
	drop(root, "c");
	inode_put(make(root, "z", S_IFREG));
	n.stop_after = 0;
	f.ops->iterate(&f, &n.sink);
	ok(strcmp(n.seen, "|.|..|a|b|d|e|f") == 0, "a removed name is left out, a new one waits");
	f.pos = 0;
	n.seen[0] = '\0';
	f.ops->iterate(&f, &n.sink);
	ok(strcmp(n.seen, "|.|..|a|b|d|e|f|z") == 0, "a rewind sees it");
	f.pos = 1LL << 60;
	n.seen[0] = '\0';
	f.ops->iterate(&f, &n.sink);
	ok(n.seen[0] == '\0', "a position out of nowhere");
	f.ops->release(&f);
	fs_put(fs);
}

static void test_xattr(void)
{
	struct fs *fs = layer_new(NULL, 0, 0, "tmpfs");
	struct inode *f = make(fs->root, "f", S_IFREG | 0644);
	static char big[65536];
	char buf[256];

	eq(f->ops->getxattr(f, "user.a", NULL, 0), -ENODATA, "none");
	eq(f->ops->setxattr(f, "user.a", "one", 3, XATTR_REPLACE), -ENODATA,
	   "replace what is not there");
	eq(f->ops->setxattr(f, "user.a", "one", 3, 0), 0, "set");
	eq(f->ops->setxattr(f, "user.b", "two!", 4, XATTR_CREATE), 0, "another");
	eq(f->ops->setxattr(f, "user.b", "x", 1, XATTR_CREATE), -EEXIST, "create what is there");
	eq(f->ops->setxattr(f, "user.a", "longer", 6, 0), 0, "change");
	eq(f->ops->getxattr(f, "user.a", buf, 3), -ERANGE, "small buffer");
	ok(f->ops->getxattr(f, "user.a", buf, 256) == 6 && !memcmp(buf, "longer", 6), "get");
	eq(f->ops->listxattr(f, NULL, 0), 14, "length of the list");
	ok(f->ops->listxattr(f, buf, 256) == 14 && !memcmp(buf, "user.b\0user.a", 14), "list");
	/* The largest value there is fits three times, beside the others. */
	for (char name[] = "user.big0"; name[8] < '3'; name[8]++)
		eq(f->ops->setxattr(f, name, big, sizeof(big), 0), 0, "large");
	eq(f->ops->setxattr(f, "user.big", big, sizeof(big), 0), -ENOSPC, "too much");
	for (char name[] = "user.big0"; name[8] < '3'; name[8]++)
		eq(f->ops->setxattr(f, name, NULL, 0, XATTR_REPLACE), 0, "and gone");
	eq(f->ops->setxattr(f, "system.x", "", 0, 0), -EOPNOTSUPP, "unknown namespace");
	eq(f->ops->setxattr(f, "user.b", NULL, 0, XATTR_REPLACE), 0, "remove");
	eq(f->ops->setxattr(f, "user.a", NULL, 0, XATTR_REPLACE), 0, "remove all");
	eq(f->ops->setxattr(f, "user.a", NULL, 0, XATTR_REPLACE), -ENODATA, "only once");
	inode_put(f);
	fs_put(fs);
}

static const char *const never[] = {
	"etc/shadow", "etc/ssh",	   "etc/gitconfig",	 "etc/ssl/private", "root/.ssh",
	"home/user",  "etc/sudoers",	   "etc/cron.d",	 "proc/1",	    "boot",
	"etc/npmrc",  "etc/apt/auth.conf", "etc/apt/auth.conf.d"
};

static void test_image(void)
{
	struct fs *fs = layer_new(hostimage_new(FD_IMAGE), 1 << 30, 100000, "overlay");
	struct inode *i, *etc, *usr, *d;
	struct names *n;
	char buf[8192], own[256];
	int64_t len;
	struct stat st;
	uint32_t before;

	i = walk(fs, "etc/passwd");
	ok(i && i->uid == 0 && i->mode == (S_IFREG | 0644), "/etc/passwd");
	len = get_bytes(i, buf, sizeof(buf) - 1, 0);
	buf[len > 0 ? len : 0] = '\0';
	ok(strstr(buf, "agent:x:1000:1000:") && strstr(buf, "root:x:0:0:"), "has the users");
	eq(i->size, len, "its size is right");
	ok(i->immutable, "an image file");
	inode_put(i);
	i = walk(fs, "home/agent");
	ok(i && i->uid == 1000 && (i->mode & 0777) == 0755, "/home/agent");
	inode_put(i);
	i = walk(fs, "tmp");
	ok(i && (i->mode & 07777) == 01777, "/tmp");
	inode_put(i);
	for (size_t k = 0; k < ARRAY_LEN(never); k++)
		ok(!exists(fs, never[k]), never[k]);
	usr = walk(fs, "usr/bin/env");
	ok(usr && stat("/usr/bin/env", &st) == 0 && usr->ino == st.st_ino &&
		   usr->size == (uint64_t)st.st_size,
	   "/usr/bin/env is the host's");
	eq(get_bytes(usr, buf, 4, 0), 4, "readable");
	ok(memcmp(buf, "\177ELF", 4) == 0, "as it is");
	inode_put(usr);
	etc = walk(fs, "etc");
	n = list_dir(etc, 3);
	ok(has_name(n, "passwd") && has_name(n, "hosts") && has_name(n, "ssl") &&
		   !has_name(n, "shadow") && !has_name(n, "gitconfig"),
	   "listing of /etc");
	n = list_dir(fs->root, 0);
	ok(has_name(n, "usr") && has_name(n, "tmp") && has_name(n, "etc") && !has_name(n, "work") &&
		   !has_name(n, "boot"),
	   "listing of /");
	ok(strcmp(changes(fs), "") == 0, "nothing was changed");
	before = live("lnode");

	i = walk(fs, "etc/passwd");
	eq(put_bytes(i, "ROOT", 4, 0), 4, "copy-up");
	ok(!i->immutable, "no longer an image file");
	len = get_bytes(i, buf, 20, 0);
	ok(len == 20 && memcmp(buf, "ROOT:x:0:0:root:/roo", 20) == 0, "the rest is kept");
	inode_put(i);
	i = walk(fs, "etc/passwd");
	ok(get_bytes(i, buf, 4, 0) == 4 && memcmp(buf, "ROOT", 4) == 0, "and stays");
	inode_put(i);
	eq(drop(etc, "hosts"), 0, "unlink of an image file");
	ok(!exists(fs, "etc/hosts") && !has_name(list_dir(etc, 0), "hosts"), "is gone");
	inode_put(make(etc, "hosts", S_IFREG | 0600));
	ok(exists(fs, "etc/hosts") && has_name(list_dir(etc, 0), "hosts"), "made anew");
	eq(drop(etc, "hosts"), 0, "and away again");
	ok(!exists(fs, "etc/hosts"), "is gone, the image's too");
	eq(move(etc, "ssl", fs->root, "ssl-moved", 0), 0, "an image directory is moved");
	ok(!exists(fs, "etc/ssl") && exists(fs, "ssl-moved/certs"), "with all that is in it");
	d = walk(fs, "ssl-moved");
	inode_put(make(d, "new", S_IFREG));
	ok(exists(fs, "ssl-moved/new") && list_dir(d, 0)->count >= 4, "and can be written");
	eq(drop(fs->root, "ssl-moved"), -ENOTEMPTY, "not empty");
	inode_put(d);
	eq(move(etc, "group", etc, "shells", 0), 0, "an image file over another");
	ok(!exists(fs, "etc/group") && exists(fs, "etc/shells"), "done");
	eq(move(etc, "shells", etc, "hostname", RENAME_EXCHANGE_), 0, "exchange");
	d = walk(fs, "var/spool");
	inode_put(d);
	d = walk(fs, "var");
	eq(drop(d, "spool"), 0, "rmdir of an image directory");
	i = make(d, "spool", S_IFDIR | 0700);
	ok(i && list_dir(i, 0)->count == 2, "a new one hides the old");
	inode_put(i);
	inode_put(d);
	d = walk(fs, "home/agent");
	i = make(d, "sub", S_IFDIR | 0755);
	inode_put(make(i, "deep", S_IFREG | 0644));
	inode_put(i);
	inode_put(d);
	changes(fs);
	ok(strstr(changes_text, "C /etc/passwd\n") && strstr(changes_text, "D /etc/hosts\n") &&
		   strstr(changes_text, "A /home/agent/sub/deep\n") &&
		   strstr(changes_text, "A /ssl-moved\n") && strstr(changes_text, "D /etc/ssl\n") &&
		   strstr(changes_text, "D /etc/group\n") && strstr(changes_text, "C /var/spool\n"),
	   "the list of changes");
	ok(!strstr(changes_text, " /home\n") && !strstr(changes_text, "certs"), "and nothing else");
	i = walk(fs, "usr/share");
	ok(i != NULL, "more mirrors");
	inode_put(i);
	ok(live("lnode") < before + 20, "mirrors went when nobody held them");
	snprintf(own, sizeof(own), "%s", "usr/lib/os-release");
	if (stat("/usr/lib/os-release", &st) == 0) {
		i = walk(fs, "etc/os-release");
		ok(i && inode_is_lnk(i) && i->ops->readlink(i, NULL, buf, 100) == 21,
		   "os-release is a link");
		inode_put(i);
	}
	inode_put(etc);
	fs_put(fs);
	eq(live("lnode"), 0, "no inode is left");
	eq(live("hnode"), 0, "nor an image node");
	eq(scratch_files(), 0, "nor a file");
}

static void test_mirrors(void)
{
	struct fs *fs = layer_new(hostimage_new(FD_IMAGE), 0, 0, "overlay");
	struct inode *f, *d;
	struct attr a = { .valid = ATTR_MODE, .mode = 0600 };
	uint32_t base = live("lnode");

	f = walk(fs, "usr/bin/env");
	eq(live("lnode"), base + 3, "a mirror for each component");
	inode_put(f);
	eq(live("lnode"), base, "all gone");
	f = walk(fs, "usr/bin/env");
	eq(f->ops->setattr(f, &a), 0, "chmod");
	inode_put(f);
	eq(live("lnode"), base + 3, "pinned up to the root");
	f = walk(fs, "usr/bin/env");
	ok((f->mode & 07777) == 0600 && !f->immutable, "the mode stays");
	d = walk(fs, "usr/bin");
	eq(drop(d, "env"), 0, "unlink a pinned mirror");
	ok(!exists(fs, "usr/bin/env"), "gone");
	char buf[4];
	eq(get_bytes(f, buf, 4, 0), 4, "readable while held");
	inode_put(f);
	f = walk(fs, "usr/bin/cat");
	ok(f != NULL, "another");
	/* One that has further names stays for them. */
	bool several = f->nlink > 1;
	eq(drop(d, "cat"), 0, "unlink an unpinned mirror that is held");
	eq(put_bytes(f, "x", 1, 0), 1, "write to it");
	inode_put(f);
	eq(live("lnode"), base + 2 + several, "only the directories stay");
	inode_put(d);
	fs_put(fs);
	eq(live("lnode"), 0, "none left");
	eq(scratch_files(), 0, "no content left");
}

static void test_fdcache(void)
{
	struct fs *fs = layer_new(NULL, 0, 0, "tmpfs");
	char name[16], buf[16];
	int bad = 0;

	for (int n = 0; n < 600; n++) {
		snprintf(name, sizeof(name), "%d", n);
		struct inode *i = make(fs->root, name, S_IFREG | 0644);

		bad += put_bytes(i, name, strlen(name), 0) <= 0;
		inode_put(i);
	}
	for (int n = 0; n < 600; n++) {
		snprintf(name, sizeof(name), "%d", n);
		struct inode *i = walk(fs, name);

		bad += get_bytes(i, buf, sizeof(buf), 0) != (int64_t)strlen(name) ||
		       memcmp(buf, name, strlen(name)) != 0;
		inode_put(i);
	}
	eq(bad, 0, "600 files through 256 descriptors");
	int fd = dup(0);
	ok(fd < 320, "not one descriptor each");
	close(fd);
	fs_put(fs);
}

static void test_hostdir(const char *dir)
{
	struct fs *fs;
	struct inode *root, *f, *d, *g;
	char path[512], buf[64];
	struct stat st;
	struct attr a = { .valid = ATTR_MODE, .mode = 06711 };
	int fd, base_fd = dup(0);

	close(base_fd);
	snprintf(path, sizeof(path), "%s/out", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/mnt", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/mnt/leak", dir);
	if (symlinkat("../out", AT_FDCWD, path) < 0)
		perror(path);
	mkfifo((snprintf(path, sizeof(path), "%s/mnt/fifo", dir), path), 0644);
	snprintf(path, sizeof(path), "%s/mnt", dir);
	fs = hostdir_new(open(path, O_PATH | O_DIRECTORY), false, 1000, 1001);
	root = fs->root;
	ok(fs->nocache && root->uid == 1000 && root->gid == 1001, "a host directory");
	f = make(root, "file", S_IFREG | 06444);
	ok(f && (f->mode & 07777) == 0444, "a file without set-id bits");
	eq(put_bytes(f, "text", 4, 0), 4, "writable for its maker");
	eq(f->size, 4, "size");
	eq(f->ops->setattr(f, &a), 0, "chmod");
	eq(f->mode & 07777, 0711, "without set-id bits");
	/* Owners are kept where the file system has attributes. */
	bool keeps = setxattr(path, "user.vivarium.test", "x", 1, 0) == 0;
	uint32_t was = f->uid;
	a = (struct attr){ .valid = ATTR_UID | ATTR_GID, .uid = 17, .gid = 18 };
	ok(f->ops->setattr(f, &a) == 0 && f->uid == (keeps ? 17 : was), "chown");
	eq(f->ops->setxattr(f, "user.vivarium.owner", "0:0", 3, 0), -EPERM,
	   "what keeps it is not the guest's");
	a = (struct attr){ .valid = ATTR_UID | ATTR_GID, .uid = 1000, .gid = 1001 };
	ok(f->ops->setattr(f, &a) == 0 && f->uid == 1000 && f->gid == 1001, "and back");
	d = make(root, "sub", S_IFDIR | 0777);
	ok(d && (d->mode & 07777) == 0777, "mkdir, umask ignored");
	eq(root->ops->link(d, "hard", 4, f), 0, "link");
	g = walk(fs, "sub/hard");
	ok(g == f && f->nlink == 2, "the same inode");
	inode_put(g);
	eq(move(d, "hard", root, "moved", 0), 0, "rename");
	ok(exists(fs, "moved") && !exists(fs, "sub/hard"), "moved");
	g = walk(fs, "leak");
	ok(g && inode_is_lnk(g) && g->ops->readlink(g, NULL, buf, 64) == 6, "a link is only text");
	inode_put(g);
	ok(!exists(fs, "leak/x") && walk(fs, "..") == NULL, "no way out by a link or ..");
	ok(list_dir(root, 2)->count == 7, "listing");
	g = walk(fs, "fifo");
	struct file of = { .mode = FMODE_READ, .inode = g };
	eq(g->ops->open(g, NULL, &of), -ENXIO, "a FIFO is the pipe code's to open");
	inode_put(g);
	eq(drop(root, "moved"), 0, "unlink one name");
	eq(drop(root, "file"), 0, "and the other");
	eq(get_bytes(f, buf, 10, 0), 4, "open content stays");
	inode_put(f);
	/* replaced behind our back */
	f = make(root, "swap", S_IFREG | 0644);
	inode_put(f);
	f = walk(fs, "swap");
	snprintf(path, sizeof(path), "%s/mnt/swap", dir);
	unlink(path);
	if (symlink("../../etc/passwd", path) < 0)
		perror(path);
	eq(f->ops->hostfd(f, false), -ESTALE, "a swapped file is not opened");
	inode_put(f);
	eq(drop(root, "sub"), 0, "rmdir");
	inode_put(d);
	fs_put(fs);
	eq(live("hdnode"), 0, "no node left");
	fd = dup(0);
	eq(fd, base_fd, "no descriptor left");
	close(fd);
	snprintf(path, sizeof(path), "%s/mnt", dir);
	fs = hostdir_new(open(path, O_PATH | O_DIRECTORY), true, 0, 0);
	ok(make(fs->root, "x", S_IFREG) == NULL && fstatat(AT_FDCWD, path, &st, 0) == 0,
	   "read-only");
	eq(drop(fs->root, "fifo"), -EROFS, "no unlink");
	fs_put(fs);
}

static void test_memfd(void)
{
	struct file *f;
	char buf[64];
	struct attr a = { .valid = ATTR_SIZE, .size = 100 };

	eq(memfd_new("x", 0x100, &f), -EINVAL, "unknown flag");
	eq(memfd_new("name", MFD_ALLOW_SEALING, &f), 0, "memfd");
	eq(put_bytes(f->inode, "data", 4, 0), 4, "write");
	ok(f->inode->ops->readlink(f->inode, NULL, buf, 64) == 21 &&
		   !memcmp(buf, "/memfd:name (deleted)", 21),
	   "its label");
	eq(memfd_get_seals(f), 0, "no seals");
	eq(memfd_add_seals(f, F_SEAL_GROW | F_SEAL_SHRINK), 0, "seal the size");
	eq(f->inode->ops->setattr(f->inode, &a), -EPERM, "holds");
	eq(memfd_add_seals(f, F_SEAL_WRITE | F_SEAL_SEAL), 0, "seal the content");
	eq(put_bytes(f->inode, "data", 4, 0), -EPERM, "holds");
	eq(memfd_add_seals(f, F_SEAL_GROW), -EPERM, "sealed");
	inode_put(f->inode);
	eq(live("memfd"), 0, "none left");
}

int main(void)
{
	char dir[] = "/tmp/test_layer.XXXXXX", cmd[64];
	int fd = open("/", O_PATH | O_DIRECTORY);

	/* The cache of descriptors follows the limit: 256 here. */
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 1024, 1024 });
	if (arena_init() < 0 || !mkdtemp(dir) || dup2(fd, FD_IMAGE) < 0)
		return 1;
	chmod(dir, 0755);
	snprintf(cmd, sizeof(cmd), "%s/scratch", dir);
	mkdir(cmd, 0700);
	cell.scratch_fd = open(cmd, O_PATH | O_DIRECTORY);
	cell.spec.user_uid = cell.spec.user_gid = 1000;
	cell.spec.hostname = "testcell";
	host_random(cell.random_id, sizeof(cell.random_id));
	test_tmpfs();
	test_quota();
	test_many();
	test_listing_changes();
	test_xattr();
	test_image();
	test_mirrors();
	test_fdcache();
	test_hostdir(dir);
	test_memfd();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ok(system(cmd) == 0, "cleaned up");
	return tap_end();
}
