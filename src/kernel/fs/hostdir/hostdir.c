/* A directory of the host as a file system of the cell.
 *
 * Confinement: each held inode has an O_PATH descriptor of the file itself. All operations are one
 * component relative to a directory's descriptor, made with openat2 (beneath, no links, no other
 * mount) or with calls that never follow a last component that is a link (mkdirat, unlinkat,
 * renameat2, ...). No path text of the guest's reaches the host. So whatever happens to the tree
 * meanwhile, inside or outside of the cell, no link and no ".." leads out of it. A directory that
 * somebody on the host moves out of the tree while the cell holds it stays reachable, as an open
 * directory does on Linux.
 *
 * The same (device, inode) is the same inode while it is held. Content is opened by the name under
 * which the file was last seen and compared with the inode. Symbolic links are text that the
 * guest's own path walk follows. FIFOs and sockets are names on the host and nothing more: those of
 * the cell that open one meet in the cell's own kernel, and nobody outside. Devices are shown, but
 * cannot be opened or made.
 *
 * Owners: files of our own host user look like the cell's user, or whomever chown gave them to
 * (owner.c), all others like nobody, and chown of those fails. New files get permission bits only,
 * and set-id bits are never set: such a file would be a trap for the host's users.
 *
 * A single file can be mounted as well: its content was opened by the host's side at the start, and
 * there is no name to find another by. Left out: crossing into mounts inside of the directory
 * (EXDEV), O_TMPFILE; a FIFO or socket that is reached through two mounts of one directory is
 * two. */
#include "kernel/fs/hostdir/hostdir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/hostdir/hnode.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/upcalls.h"

OBJ_TYPE(hostdir_type, struct hostdir, 64);
OBJ_TYPE(hdnode_type, struct hdnode, 0);

/* ---- nodes ---- */

void hdnode_fill(struct hdnode *n, const struct stat *st)
{
	struct hostdir *hd = hostdir_of(n);

	n->foreign = st->st_uid != hd->host_uid;
	inode_from_stat(&n->inode, st);
	n->inode.uid = n->foreign ? HOSTDIR_OTHER_ID : n->owned ? n->own_uid : hd->show_uid;
	n->inode.gid = n->foreign ? HOSTDIR_OTHER_ID : n->owned ? n->own_gid : hd->show_gid;
}

int hdnode_refresh(struct hdnode *n)
{
	struct stat st;
	int r = host_fstat(n->fd, &st);

	if (r == 0)
		hdnode_fill(n, &st);
	return r;
}

static struct list *bucket_of(struct hostdir *hd, ino_t ino)
{
	return &hd->buckets[(ino * 0x9e3779b97f4a7c15ULL >> 40) % HOSTDIR_BUCKETS];
}

void hdnode_place(struct hdnode *n, struct hdnode *dir, const char *name, size_t len)
{
	struct hdnode *old = n->parent;

	if (dir)
		inode_get(&dir->inode);
	n->parent = dir;
	n->len = (uint8_t)MIN(len, (size_t)NAME_MAX_LEN);
	memcpy(n->name, name, n->len);
	n->name[n->len] = '\0';
	if (old)
		inode_put(&old->inode);
}

int hdnode_from_fd(struct hostdir *hd, struct hdnode *dir, const char *name, size_t len, int fd,
		   struct hdnode **ret_)
{
	struct hdnode *n;
	struct stat st;
	int r = host_fstat(fd, &st);

	if (r < 0)
		goto out_close;
	list_for_each(n, bucket_of(hd, st.st_ino), hash_link) {
		if (n->host_ino != st.st_ino || n->dev != st.st_dev)
			continue;
		host_close(fd);
		inode_get(&n->inode);
		hdnode_fill(n, &st);
		if (&n->inode != hd->fs.root &&
		    (n->parent != dir || n->len != len || memcmp(n->name, name, len) != 0))
			hdnode_place(n, dir, name, len);
		*ret_ = n;
		return 0;
	}
	n = obj_new(&hdnode_type);
	if (!n) {
		r = -ENOMEM;
		goto out_close;
	}
	inode_init(&n->inode, &hd->fs, &hostdir_iops, st.st_mode);
	n->inode.fops = S_ISDIR(st.st_mode) ? &hostdir_dir_fops : &hostdir_reg_fops;
	n->dev = st.st_dev;
	n->host_ino = st.st_ino;
	n->fd = fd;
	n->rd = n->wr = -1;
	list_init(&n->kept_link);
	hdnode_fill(n, &st);
	hdnode_place(n, dir, name, len);
	owner_load(n);
	if (n->owned)
		hdnode_fill(n, &st);
	list_push(bucket_of(hd, st.st_ino), &n->hash_link);
	*ret_ = n;
	return 0;

out_close:
	host_close(fd);
	return r;
}

static void hostdir_evict(struct inode *ino)
{
	struct hdnode *n = hdnode_of(ino), *parent = n->parent;

	list_remove(&n->hash_link);
	host_close(n->fd);
	if (n->rd >= 0)
		host_close(n->rd);
	if (n->wr >= 0) {
		change_begin();
		host_close(n->wr);
		change_end_of(n);
	}
	obj_free(&hdnode_type, n);
	inode_put_parent(parent ? &parent->inode : NULL);
}

/* ---- directory operations ---- */

/* The name as the host wants it. The VFS has checked it; this is the last door. */
struct component {
	char str[NAME_MAX_LEN + 1];
};

static int component_make(struct component *c, const char *name, size_t len)
{
	if (len == 0 || len > NAME_MAX_LEN)
		return len ? -ENAMETOOLONG : -ENOENT;
	if (memchr(name, '/', len) || memchr(name, '\0', len) || (len == 1 && name[0] == '.') ||
	    (len == 2 && name[0] == '.' && name[1] == '.'))
		return -EINVAL;
	memcpy(c->str, name, len);
	c->str[len] = '\0';
	return 0;
}

static int node_at(struct hdnode *dir, const char *name, size_t len, const struct component *c,
		   struct hdnode **ret_)
{
	int fd = host_open_beneath_xdev(dir->fd, c->str, O_PATH | O_NOFOLLOW);
	struct rights lent;

	if (rights_lend(&lent, dir, 0100, fd)) {
		fd = host_open_beneath_xdev(dir->fd, c->str, O_PATH | O_NOFOLLOW);
		rights_return(&lent);
	}
	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : fd;
	return hdnode_from_fd(hostdir_of(dir), dir, name, len, fd, ret_);
}

static int hostdir_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct component c;
	struct hdnode *n;
	int r = component_make(&c, name, len);

	if (r == 0)
		r = node_at(hdnode_of(dir), name, len, &c, &n);
	if (r == 0)
		*ret_ = &n->inode;
	return r;
}

static int make_entry(struct hdnode *dir, const struct component *c, const struct newnode *nn,
		      int *ret_content)
{
	mode_t mode = nn->mode & 0777;
	int fd;

	switch (nn->mode & S_IFMT) {
	case S_IFREG:
		/* One component, and O_EXCL follows no link and enters no mount. */
		fd = host_openat(dir->fd, c->str, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
		if (fd < 0)
			return fd;
		/* This process's own umask is not the guest's. */
		host_fchmod(fd, mode);
		*ret_content = fd;
		return 0;
	case S_IFDIR:
		return host_mkdirat(dir->fd, c->str, mode);
	case S_IFLNK:
		return host_symlinkat(nn->target ? nn->target : "", dir->fd, c->str);
	case S_IFIFO:
	case S_IFSOCK:
		return host_mknodat(dir->fd, c->str, (nn->mode & S_IFMT) | mode, 0);
	default:
		return -EPERM;
	}
}

static int hostdir_create(struct inode *dir, const char *name, size_t len, const struct newnode *nn,
			  struct inode **ret_)
{
	struct hdnode *d = hdnode_of(dir), *n = NULL;
	struct component c;
	struct rights lent;
	int content = -1;
	int r = component_make(&c, name, len);

	if (r == 0 && dir->fs->readonly)
		r = -EROFS;
	if (r < 0)
		return r;
	change_begin();
	r = make_entry(d, &c, nn, &content);
	if (rights_lend(&lent, d, 0300, r)) {
		r = make_entry(d, &c, nn, &content);
		rights_return(&lent);
	}
	if (r == 0)
		r = node_at(d, name, len, &c, &n);
	if (r) {
		if (content >= 0)
			host_close(content);
		return r;
	}
	if (content >= 0) {
		struct stat st;

		/* It may have been replaced meanwhile; then it is opened by name when it is needed.
		 */
		if (n->wr < 0 && host_fstat(content, &st) == 0 && st.st_ino == n->host_ino &&
		    st.st_dev == n->dev)
			n->wr = content;
		else
			host_close(content);
	}
	if (!S_ISREG(nn->mode) && !S_ISLNK(nn->mode) && (n->inode.mode & 0777) != (nn->mode & 0777))
		host_fchmodat(n->fd, "", nn->mode & 0777);
	if (!n->foreign)
		(void)!owner_set(n, nn->uid, nn->gid); /* it is made, whoever it belongs to */
	change_end(&(struct change){ .dir = { d }, .name = { c.str }, .self = { n } });
	hdnode_refresh(n);
	hdnode_refresh(d);
	*ret_ = &n->inode;
	return 0;
}

/* The host has no call that links an O_PATH descriptor without privilege, so the name is used and
 * the result is compared: if another file was meant by then, the new name is taken away again. */
static int hostdir_link(struct inode *dir, const char *name, size_t len, struct inode *target)
{
	struct hdnode *d = hdnode_of(dir), *n = hdnode_of(target);
	struct component c;
	struct rights lent;
	struct stat st;
	int r = component_make(&c, name, len);

	if (r < 0)
		return r;
	if (dir->fs->readonly)
		return -EROFS;
	if (!n->parent)
		return -ENOENT;
	change_begin();
	r = host_linkat(n->parent->fd, n->name, d->fd, c.str, 0);
	if (rights_lend(&lent, d, 0300, r)) {
		r = host_linkat(n->parent->fd, n->name, d->fd, c.str, 0);
		rights_return(&lent);
	}
	if (r < 0)
		return r;
	r = host_fstatat(d->fd, c.str, &st, AT_SYMLINK_NOFOLLOW);
	if (r == 0 && (st.st_ino != n->host_ino || st.st_dev != n->dev)) {
		host_unlinkat(d->fd, c.str, 0);
		r = -ESTALE;
	}
	change_end(&(struct change){
		.dir = { d, n->parent }, .name = { c.str, n->name }, .self = { n } });
	if (r == -ESTALE)
		return r;
	hdnode_refresh(n);
	hdnode_refresh(d);
	return r;
}

static int hostdir_unlink(struct inode *dir, const char *name, size_t len, struct inode *victim)
{
	struct hdnode *d = hdnode_of(dir), *n = hdnode_of(victim);
	struct component c;
	struct rights lent;
	int r = component_make(&c, name, len);

	if (r < 0)
		return r;
	if (dir->fs->readonly)
		return -EROFS;
	change_begin();
	r = host_unlinkat(d->fd, c.str, inode_is_dir(victim) ? AT_REMOVEDIR : 0);
	if (rights_lend(&lent, d, 0300, r)) {
		r = host_unlinkat(d->fd, c.str, inode_is_dir(victim) ? AT_REMOVEDIR : 0);
		rights_return(&lent);
	}
	if (r < 0)
		return r;
	change_end(&(struct change){ .dir = { d }, .name = { c.str }, .self = { n } });
	hdnode_refresh(n);
	owner_unlinked(n);
	if (n->parent == d && n->len == len && memcmp(n->name, name, len) == 0)
		hdnode_place(n, NULL, "", 0);
	return hdnode_refresh(d);
}

static int hostdir_rename(struct inode *odir, const char *oname, size_t olen, struct inode *moved,
			  struct inode *ndir, const char *nname, size_t nlen, struct inode *victim,
			  unsigned flags)
{
	struct hdnode *od = hdnode_of(odir), *nd = hdnode_of(ndir);
	struct component oc, nc;
	int r = component_make(&oc, oname, olen);

	if (r == 0)
		r = component_make(&nc, nname, nlen);
	if (r < 0)
		return r;
	if (odir->fs->readonly)
		return -EROFS;
	change_begin();
	r = host_renameat2(od->fd, oc.str, nd->fd, nc.str, flags & RENAME_FLAGS);
	if (r == -EACCES) {
		/* A directory that moves is written, too: its ".." changes. */
		struct hdnode *all[] = { od, nd == od ? NULL : nd,
					 inode_is_dir(moved) ? hdnode_of(moved) : NULL };
		struct rights lent[ARRAY_LEN(all)];
		bool any = false;

		for (size_t i = 0; i < ARRAY_LEN(all); i++)
			any = rights_lend(&lent[i], all[i], 0300, r) || any;
		if (any)
			r = host_renameat2(od->fd, oc.str, nd->fd, nc.str, flags & RENAME_FLAGS);
		for (size_t i = 0; i < ARRAY_LEN(all); i++)
			rights_return(&lent[i]);
	}
	if (r < 0)
		return r;
	change_end(&(struct change){
		.dir = { od, nd },
		.name = { oc.str, nc.str },
		.self = { hdnode_of(moved), victim ? hdnode_of(victim) : NULL } });
	/* A rename between two names of one file does nothing. */
	if (moved == victim)
		return 0;
	hdnode_place(hdnode_of(moved), nd, nname, nlen);
	hdnode_refresh(hdnode_of(moved));
	if (victim) {
		if (flags & RENAME_EXCHANGE_)
			hdnode_place(hdnode_of(victim), od, oname, olen);
		else
			hdnode_place(hdnode_of(victim), NULL, "", 0);
		hdnode_refresh(hdnode_of(victim));
		owner_unlinked(hdnode_of(victim));
	}
	hdnode_refresh(od);
	hdnode_refresh(nd);
	return 0;
}

static int hostdir_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	(void)t;
	return host_readlinkat(hdnode_of(ino)->fd, "", buf, size);
}

static int hostdir_getattr(struct inode *ino)
{
	return hdnode_refresh(hdnode_of(ino));
}

/* Content is opened here, so that a file that loses its name stays readable for those who have it
 * open. */
static int hostdir_open(struct inode *ino, struct task *t, struct file *f)
{
	int r;

	f->ops = ino->fops;
	switch (ino->mode & S_IFMT) {
	case S_IFDIR:
		return 0;
	case S_IFREG:
		r = hdnode_content(hdnode_of(ino), f->mode & FMODE_WRITE);
		if (r >= 0)
			hdnode_refresh(hdnode_of(ino));
		return r < 0 ? r : 0;
	case S_IFIFO:
		return vfs_upcalls.fifo_open ? vfs_upcalls.fifo_open(ino, t, f) : -ENXIO;
	case S_IFSOCK:
		return -ENXIO;
	default:
		return -EACCES;
	}
}

static int hostdir_hostfd(struct inode *ino, bool write)
{
	return hdnode_content(hdnode_of(ino), write);
}

const struct inode_ops hostdir_iops = {
	.lookup = hostdir_lookup,
	.create = hostdir_create,
	.link = hostdir_link,
	.unlink = hostdir_unlink,
	.rename = hostdir_rename,
	.readlink = hostdir_readlink,
	.getattr = hostdir_getattr,
	.setattr = hostdir_setattr,
	.open = hostdir_open,
	.hostfd = hostdir_hostfd,
	.getxattr = hostdir_getxattr,
	.setxattr = hostdir_setxattr,
	.listxattr = hostdir_listxattr,
	.watch = hostdir_watch,
	.evict = hostdir_evict,
};

/* ---- the file system ---- */

static void hostdir_statfs(const struct inode *ino, struct fs_stat *out)
{
	struct statfs st;

	if (host_fstatfs(hdnode_of(ino->fs->root)->fd, &st) < 0)
		return;
	out->type = (uint64_t)st.f_type;
	/* The caller counts in pages. */
	out->blocks = (uint64_t)st.f_blocks * (uint64_t)st.f_bsize / PAGE_SIZE;
	out->bfree = (uint64_t)st.f_bavail * (uint64_t)st.f_bsize / PAGE_SIZE;
	out->files = st.f_files;
	out->ffree = st.f_ffree;
}

static int hostdir_sync(struct fs *fs)
{
	struct hdnode *root = hdnode_of(fs->root);
	int fd, r;

	if (!inode_is_dir(fs->root))
		return host_syncfs(root->rd);
	r = fd = host_openat(root->fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0) {
		r = host_syncfs(fd);
		host_close(fd);
	}
	return r;
}

static void hostdir_free(struct fs *fs)
{
	owners_free((struct hostdir *)fs);
	obj_free(&hostdir_type, (struct hostdir *)fs);
}

static const struct fs_ops hostdir_fs_ops = {
	.statfs = hostdir_statfs,
	.sync = hostdir_sync,
	.free = hostdir_free,
};

/* The file system whose root is the directory or file fd, which is taken. */
static struct fs *hostdir_make(int fd, uint32_t type, bool readonly, uint32_t show_uid,
			       uint32_t show_gid)
{
	struct hostdir *hd = obj_new(&hostdir_type);
	struct hdnode *root;
	struct stat st;

	if (!hd || host_fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != type)
		goto out_close;
	fs_init(&hd->fs, &hostdir_fs_ops, "hostdir");
	hd->fs.nocache = true;
	hd->fs.readonly = readonly;
	hd->host_uid = host_uid();
	hd->show_uid = show_uid;
	hd->show_gid = show_gid;
	hd->dev = st.st_dev;
	list_init(&hd->kept);
	for (unsigned i = 0; i < HOSTDIR_BUCKETS; i++)
		list_init(&hd->buckets[i]);
	if (hdnode_from_fd(hd, NULL, "", 0, fd, &root) < 0)
		goto out_free;
	hd->fs.root = &root->inode;
	return &hd->fs;

out_close:
	host_close(fd);
out_free:
	if (hd)
		obj_free(&hostdir_type, hd);
	return NULL;
}

struct fs *hostdir_new(int dirfd, bool readonly, uint32_t show_uid, uint32_t show_gid)
{
	return hostdir_make(dirfd, S_IFDIR, readonly, show_uid, show_gid);
}

struct fs *hostdir_new_file(int fd, int write_fd, bool readonly, uint32_t show_uid,
			    uint32_t show_gid)
{
	int own = host_dup(fd);
	struct fs *fs = own < 0 ? NULL : hostdir_make(own, S_IFREG, readonly, show_uid, show_gid);
	bool writes = write_fd >= 0 && (host_fcntl(write_fd, F_GETFL, 0) & O_ACCMODE) == O_RDWR;

	if (fs) {
		hdnode_of(fs->root)->rd = fd;
		if (writes && !readonly)
			hdnode_of(fs->root)->wr = write_fd;
		owner_load(hdnode_of(fs->root));
		(void)hdnode_refresh(hdnode_of(fs->root));
	} else {
		host_close(fd);
	}
	if (write_fd >= 0 && !(fs && writes && !readonly))
		host_close(write_fd);
	return fs;
}
