/* The host image: the host's own /usr and what belongs to it, read-only, with a clean root and /etc
 * around it.
 *
 * Two kinds of nodes. Made nodes (the root, /home, /etc/passwd ...) are built at the start and
 * stay. Host nodes stand for a file of the host; they are made at a look-up and remember their
 * parent and name, which gives their real path. The table in etc.c says which entries of the made
 * directories come from the host.
 *
 * Confinement: a directory is opened with openat2 below the host's root (no link in any component,
 * no way out), and everything else is one component relative to that descriptor, links not
 * followed. What the host does not let everybody read or search is refused even if this process
 * could: the cell's root is not the host's. Only regular files, directories and symbolic links
 * exist. Everything is shown as owned by root.
 *
 * The host image is taken to be immutable while a cell runs: attributes are those of the look-up,
 * brought up to date when the content is opened. Left out: extended attributes and file
 * capabilities of host files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/ref.h"
#include "base/list.h"
#include "host/host.h"
#include "kernel/fs/image/etc.h"
#include "kernel/fs/image/fdcache.h"
#include "kernel/fs/image/image.h"
#include "kernel/fs/image/trust.h"
#include "kernel/platform/cell.h"

#define HOST_PATH_MAX 4096
#define DEVS_MAX 64

struct hnode {
	struct image_node n; /* first */
	uint32_t refs; /* the layer's, one for each child, one of the tree for made nodes */
	bool made, hides;
	uint8_t len;
	char *name; /* blob of len + 1 */
	struct hnode *parent; /* counted */
	struct fdref dir; /* of a directory */
	/* of made nodes: */
	struct list children, sibling;
	const char *made_path; /* "" for the root */
	char *text; /* blob of n.size + 1: content of a file or target of a link */
};

struct hostimage {
	struct image img; /* first */
	int root_fd;
	dev_t devs[DEVS_MAX]; /* of the host; the index keeps inode numbers apart */
	unsigned ndevs;
	uint64_t next_ino;
	/* files of /etc that have the host's certificates in them (trust.h), and are shown for the
	 * host's own as well; NULL: not */
	struct hnode *trust[TRUST_KINDS];
};

OBJ_TYPE(hnode_type, struct hnode, 0);
OBJ_TYPE(hostimage_type, struct hostimage, 8);

static struct fdcache dirs = FDCACHE_INIT(dirs, 64);

static struct hnode *hnode_of(struct image_node *n)
{
	return (struct hnode *)n;
}

static struct hostimage *hostimage_of(struct image *img)
{
	return (struct hostimage *)img;
}

/* Host numbers as they are on the first device seen, with the device's index above them on others.
 */
static uint64_t ino_of(struct hostimage *hi, dev_t dev, uint64_t ino)
{
	unsigned i;

	for (i = 0; i < hi->ndevs && hi->devs[i] != dev; i++)
		;
	if (i == hi->ndevs && hi->ndevs < DEVS_MAX)
		hi->devs[hi->ndevs++] = dev;
	if (ino < IMAGE_INO_END - 4096)
		return i == 0 ? ino : (uint64_t)i << 48 | ino;
	/* Too large to carry an index: the highest bit and a mix of both. */
	return 1ULL << 63 | ((ino * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)i << 56)) >> 1;
}

static void attr_from_stat(struct hostimage *hi, struct image_node *n, const struct stat *st)
{
	n->ino = ino_of(hi, st->st_dev, st->st_ino);
	n->mode = st->st_mode;
	n->uid = n->gid = 0;
	n->nlink = (uint32_t)st->st_nlink;
	n->size = (uint64_t)st->st_size;
	n->blocks = (uint64_t)st->st_blocks;
	n->atime = st->st_atim;
	n->mtime = st->st_mtim;
	n->ctime = st->st_ctim;
}

static bool type_exists(uint32_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

static struct hnode *hnode_new(struct hnode *parent, const char *name, size_t len)
{
	struct hnode *h = obj_new(&hnode_type);

	if (!h)
		return NULL;
	h->name = blob_strndup(name, len);
	if (!h->name) {
		obj_free(&hnode_type, h);
		return NULL;
	}
	h->refs = 1;
	h->len = (uint8_t)len;
	h->parent = parent;
	if (parent)
		ref_get(&parent->refs);
	fdref_init(&h->dir);
	list_init(&h->children);
	list_init(&h->sibling);
	return h;
}

/* Goes up as long as the node dropped was the last that held its parent. */
static void hnode_put(struct hnode *h)
{
	while (h && ref_put(&h->refs)) {
		struct hnode *parent = h->parent;

		fdcache_drop(&dirs, &h->dir);
		list_remove(&h->sibling);
		blob_free(h->name, (size_t)h->len + 1);
		if (h->text)
			blob_free(h->text, h->n.size + 1);
		obj_free(&hnode_type, h);
		h = parent;
	}
}

/* The path on the host, relative to its root: "." for the root itself. Points into buf. */
static int hnode_path(const struct hnode *h, char *buf, size_t size, const char **ret_)
{
	size_t at = size - 1;

	buf[at] = '\0';
	for (; h->parent; h = h->parent) {
		if (at < (size_t)h->len + 1)
			return -ENAMETOOLONG;
		if (buf[at] != '\0')
			buf[--at] = '/';
		at -= h->len;
		memcpy(buf + at, h->name, h->len);
	}
	if (buf[at] == '\0')
		buf[--at] = '.';
	*ret_ = buf + at;
	return 0;
}

/* A descriptor of the host's directory, good for look-ups in it, and for reading it if everybody
 * may. Borrowed. */
static int hnode_dirfd(struct hostimage *hi, struct hnode *h)
{
	static char buf[HOST_PATH_MAX];
	const char *path;
	struct stat st;
	int fd = fdcache_use(&dirs, &h->dir);
	int r;

	if (fd >= 0)
		return fd;
	r = hnode_path(h, buf, sizeof(buf), &path);
	if (r < 0)
		return r;
	fd = host_open_beneath(hi->root_fd, path,
			       O_DIRECTORY | (h->made || h->n.mode & 0004 ? O_RDONLY : O_PATH), 0);
	if (fd < 0)
		return fd;
	r = host_fstat(fd, &st);
	if (r == 0 && !h->made && !(st.st_mode & 0001))
		r = -EACCES;
	if (r < 0) {
		host_close(fd);
		return r;
	}
	fdcache_add(&dirs, &h->dir, fd);
	return fd;
}

static bool host_entry_shown(const struct hnode *dir, const char *name, size_t len)
{
	if (dir->made)
		return dir->made_path && hostimage_shows(dir->made_path, name, len);
	if (!dir->hides)
		return true;
	/* Directories with hidden entries lie directly in made ones. */
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir->parent->made_path, dir->name);
	return !hostimage_hides(path, name, len);
}

static struct hnode *made_child(struct hnode *dir, const char *name, size_t len)
{
	struct hnode *c;

	list_for_each(c, &dir->children, sibling)
		if (c->len == len && memcmp(c->name, name, len) == 0)
			return c;
	return NULL;
}

/* What is shown for a host's file of certificates; NULL: it is not one. */
static struct hnode *trust_find(const struct hostimage *hi, const struct hnode *dir,
				const char *name, size_t len)
{
	char buf[128];
	const char *path;
	size_t n;

	if ((!hi->trust[0] && !hi->trust[1]) || hnode_path(dir, buf, sizeof(buf), &path) < 0)
		return NULL;
	n = strlen(path);
	for (unsigned i = 0; i < TRUST_KINDS; i++) {
		const char *own = trust_files[i].paths[0];

		if (hi->trust[i] && strlen(own) == n + 1 + len && !memcmp(own, path, n) &&
		    own[n] == '/' && !memcmp(own + n + 1, name, len))
			return hi->trust[i];
	}
	return NULL;
}

static int hostimage_lookup(struct image *img, struct image_node *dirn, const char *name,
			    size_t len, struct image_node **ret_)
{
	struct hostimage *hi = hostimage_of(img);
	struct hnode *dir = hnode_of(dirn), *h;
	char str[256];
	struct stat st;
	int fd, r;

	if (len == 0 || len >= sizeof(str))
		return -ENAMETOOLONG;
	if (dir->made) {
		h = made_child(dir, name, len);
		if (h) {
			ref_get(&h->refs);
			*ret_ = &h->n;
			return 0;
		}
	}
	if (!host_entry_shown(dir, name, len))
		return -ENOENT;
	h = trust_find(hi, dir, name, len);
	if (h) {
		ref_get(&h->refs);
		*ret_ = &h->n;
		return 0;
	}
	memcpy(str, name, len);
	str[len] = '\0';
	fd = hnode_dirfd(hi, dir);
	if (fd < 0)
		return fd;
	r = host_fstatat(fd, str, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return r;
	if (!type_exists(st.st_mode))
		return -ENOENT;
	h = hnode_new(dir, name, len);
	if (!h)
		return -ENOMEM;
	attr_from_stat(hi, &h->n, &st);
	h->hides = dir->made && hostimage_hides_in(dir->made_path, name, len);
	*ret_ = &h->n;
	return 0;
}

static unsigned dtype_of(uint32_t mode)
{
	return (mode & S_IFMT) >> 12;
}

/* One record of a host listing. false: the sink wants no more. */
static bool host_entry_emit(struct hostimage *hi, struct hnode *dir, int fd, dev_t dev,
			    const struct dirent64 *d, struct image_sink *sink)
{
	size_t len = strnlen(d->d_name, 256);
	unsigned dtype = d->d_type;
	struct stat st;

	if (len == 0 || len > 255 || strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return true;
	if (!host_entry_shown(dir, d->d_name, len))
		return true;
	if (dir->made && made_child(dir, d->d_name, len))
		return true;
	if (dtype == DT_UNKNOWN) {
		if (host_fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return true;
		dtype = dtype_of(st.st_mode);
	}
	if (dtype != DT_REG && dtype != DT_DIR && dtype != DT_LNK)
		return true;
	return sink->emit(sink, d->d_name, len, ino_of(hi, dev, d->d_ino), dtype);
}

static int host_iterate(struct hostimage *hi, struct hnode *dir, struct image_sink *sink)
{
	static char buf[32768] __attribute__((aligned(8)));
	struct stat st;
	int fd = hnode_dirfd(hi, dir);
	int64_t n;
	int r;

	if (fd == -ENOENT && dir->made)
		return 0; /* a host without one */
	if (fd < 0)
		return fd;
	r = host_fstat(fd, &st);
	if (r < 0)
		return r;
	if (!dir->made && !(st.st_mode & 0004))
		return -EACCES;
	n = host_lseek(fd, 0, SEEK_SET);
	while (n >= 0 && (n = host_getdents(fd, buf, sizeof(buf))) > 0) {
		for (int64_t at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(buf + at);

			if (!host_entry_emit(hi, dir, fd, st.st_dev, d, sink))
				return 0;
			at += d->d_reclen;
		}
	}
	return n < 0 ? (int)n : 0;
}

static int hostimage_iterate(struct image *img, struct image_node *dirn, struct image_sink *sink)
{
	struct hostimage *hi = hostimage_of(img);
	struct hnode *dir = hnode_of(dirn), *c;

	if (!dir->made)
		return host_iterate(hi, dir, sink);
	list_for_each(c, &dir->children, sibling)
		if (!sink->emit(sink, c->name, c->len, c->n.ino, dtype_of(c->n.mode)))
			return 0;
	/* Only these have entries of the host's. */
	if (dir->made_path)
		return host_iterate(hi, dir, sink);
	return 0;
}

static int hostimage_readlink(struct image *img, struct image_node *node, char *buf, size_t size)
{
	struct hnode *h = hnode_of(node);
	int fd;

	if (h->made) {
		size = MIN(size, h->n.size);
		memcpy(buf, h->text, size);
		return (int)size;
	}
	fd = hnode_dirfd(hostimage_of(img), h->parent);
	return fd < 0 ? fd : host_readlinkat(fd, h->name, buf, size);
}

static int hostimage_open(struct image *img, struct image_node *node)
{
	struct hostimage *hi = hostimage_of(img);
	struct hnode *h = hnode_of(node);
	struct stat st;
	int fd, r;

	if (h->made)
		return host_memfd_sealed("etc", h->text,
					 h->n.size); /* whoever gets it can only read it */
	fd = hnode_dirfd(hi, h->parent);
	if (fd < 0)
		return fd;
	fd = host_open_beneath(fd, h->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return fd;
	r = host_fstat(fd, &st);
	if (r == 0 && (!S_ISREG(st.st_mode) || !(st.st_mode & 0004)))
		r = -EACCES;
	if (r < 0) {
		host_close(fd);
		return r;
	}
	attr_from_stat(hi, &h->n, &st);
	return fd;
}

static void hostimage_drop(struct image *img, struct image_node *node)
{
	(void)img;
	hnode_put(hnode_of(node));
}

/* ---- the made tree ---- */

static struct hnode *made_new(struct hostimage *hi, struct hnode *parent, const char *name,
			      uint32_t mode)
{
	struct hnode *h = hnode_new(parent, name, strlen(name));

	if (!h)
		return NULL;
	h->made = true;
	h->n.ino = hi->next_ino++;
	h->n.mode = mode;
	h->n.nlink = S_ISDIR(mode) ? 2 : 1;
	h->n.atime.tv_sec = (time_t)(cell.boot_real / NSEC_PER_SEC);
	h->n.atime.tv_nsec = (long)(cell.boot_real % NSEC_PER_SEC);
	h->n.mtime = h->n.ctime = h->n.atime;
	if (parent) {
		list_append(&parent->children, &h->sibling);
		if (S_ISDIR(mode))
			parent->n.nlink++;
	}
	return h;
}

static bool made_text(struct hnode *h, const char *text, size_t len)
{
	h->text = blob_strndup(text, len);
	if (!h->text)
		return false;
	h->n.size = len;
	h->n.blocks = S_ISREG(h->n.mode) ? ALIGN_UP(len, PAGE_SIZE) / 512 : 0;
	return true;
}

/* In this order: a directory comes before what is in it. */
static const struct made_dir {
	const char *parent, *name;
	uint32_t mode;
	const char *target; /* a link */
	const char *path; /* when the host's entries are looked at there */
} made_dirs[] = {
	{ "", "home", 0755, NULL, NULL },
	{ "", "root", 0700, NULL, NULL },
	{ "", "tmp", 01777, NULL, NULL },
	{ "", "var", 0755, NULL, NULL },
	{ "var", "tmp", 01777, NULL, NULL },
	{ "var", "lib", 0755, NULL, "var/lib" },
	{ "var", "cache", 0755, NULL, NULL },
	{ "var", "log", 0755, NULL, NULL },
	{ "var", "mail", 0755, NULL, NULL },
	{ "var", "spool", 0755, NULL, NULL },
	{ "var", "run", 0777, "/run", NULL },
	{ "var", "lock", 0777, "/run/lock", NULL },
	{ "", "run", 0755, NULL, NULL },
	{ "run", "lock", 01777, NULL, NULL },
	{ "", "srv", 0755, NULL, NULL },
	{ "", "mnt", 0755, NULL, NULL },
	{ "", "media", 0755, NULL, NULL },
	{ "", "proc", 0555, NULL, NULL },
	{ "", "sys", 0555, NULL, NULL },
	{ "", "dev", 0755, NULL, NULL },
	{ "", "etc", 0755, NULL, "etc" },
	{ "etc", "ssl", 0755, NULL, "etc/ssl" },
	{ "etc", "pam.d", 0755, NULL, NULL },
	{ "var", "local", 0755, NULL, NULL },
	{ "var", "opt", 0755, NULL, NULL },
	/* What dpkg, apt and debconf expect to find. */
	{ "var/lib", "dpkg", 0755, NULL, "var/lib/dpkg" },
	{ "var/lib/dpkg", "parts", 0755, NULL, NULL },
	{ "var/lib/dpkg", "updates", 0755, NULL, NULL },
	{ "var/lib", "apt", 0755, NULL, NULL },
	{ "var/lib/apt", "lists", 0755, NULL, NULL },
	{ "var/lib/apt/lists", "partial", 0700, NULL, NULL },
	{ "var/cache", "apt", 0755, NULL, NULL },
	{ "var/cache/apt", "archives", 0755, NULL, NULL },
	{ "var/cache/apt/archives", "partial", 0700, NULL, NULL },
	{ "var/cache", "debconf", 0755, NULL, NULL },
	{ "var/log", "apt", 0755, NULL, NULL },
};

/* A made directory by its path, "" is the root. */
static struct hnode *made_find(struct hnode *root, const char *path)
{
	struct hnode *h = root;

	while (h && *path) {
		size_t len = strcspn(path, "/");

		h = made_child(h, path, len);
		path += len + (path[len] == '/');
	}
	return h;
}

static bool build_dirs(struct hostimage *hi, struct hnode *root)
{
	for (size_t i = 0; i < ARRAY_LEN(made_dirs); i++) {
		const struct made_dir *m = &made_dirs[i];
		struct hnode *parent = made_find(root, m->parent);
		struct hnode *h = !parent ? NULL
					  : made_new(hi, parent, m->name,
						     m->mode | (m->target ? S_IFLNK : S_IFDIR));

		if (!h || (m->target && !made_text(h, m->target, strlen(m->target))))
			return false;
		h->made_path = m->path;
	}
	return true;
}

static bool build_etc(struct hostimage *hi, struct hnode *etc)
{
	static char buf[ETC_TEXT_MAX];
	struct stat st;

	for (unsigned i = 0; i < etc_file_count; i++) {
		const struct etc_file *e = &etc_files[i];
		const char *content = e->target ? e->target : buf;
		int len = e->target ? (int)strlen(e->target) : e->make(buf, sizeof(buf));
		const char *slash = strchr(e->name, '/');
		struct hnode *h = slash ? made_child(etc, e->name, (size_t)(slash - e->name)) : etc;

		if (!h)
			return false;
		/* "../usr/lib/os-release" only where it leads somewhere. */
		if (e->target && strncmp(e->target, "../", 3) == 0 &&
		    host_fstatat(hi->root_fd, e->target + 3, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (len < 0 || (size_t)len >= sizeof(buf))
			continue;
		h = made_new(hi, h, slash ? slash + 1 : e->name,
			     e->target ? S_IFLNK | 0777 : S_IFREG | 0644);
		if (!h || !made_text(h, content, (size_t)len))
			return false;
	}
	return true;
}

/* The host's certificates and the cell's; /etc/NAME has the cell's so far. */
static void build_trust(struct hostimage *hi, struct hnode *etc, unsigned kind)
{
	const struct trust_file *f = &trust_files[kind];
	struct hnode *h = made_child(etc, f->name, strlen(f->name));
	struct stat st = { 0 };
	char *text = NULL, *before;
	size_t size = 0, len = 0, had;
	int fd = -1;

	for (unsigned i = 0; h && fd < 0 && i < ARRAY_LEN(f->paths) && f->paths[i]; i++)
		fd = host_open_beneath(hi->root_fd, f->paths[i],
				       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return;
	if (host_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0004 &&
	    st.st_size > 0 && st.st_size <= (off_t)TRUST_MAX) {
		size = (size_t)st.st_size + trust_room();
		text = blob_new(size);
	}
	if (text && host_pread(fd, text, (size_t)st.st_size, 0) == st.st_size)
		len = f->complete(text, (size_t)st.st_size, size);
	before = h->text;
	had = h->n.size;
	if (len && made_text(h, text, len)) {
		blob_free(before, had + 1);
		hi->trust[kind] = h;
	} else {
		h->text = before;
	}
	if (text)
		blob_free(text, size);
	host_close(fd);
}

/* The links of the root that lead to the host's directories count for it. */
static void root_count_links(struct hostimage *hi, struct hnode *root)
{
	static const char *const names[] = { "usr",   "bin",   "sbin",	 "lib",
					     "lib32", "lib64", "libx32", "opt" };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (host_fstatat(hi->root_fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			root->n.nlink++;
}

/* Children are freed before their parents: each holds its parent, and the last is listed after it.
 */
static void made_free(struct hnode *root)
{
	struct hnode *h = root;

	while (h) {
		if (!list_is_empty(&h->children)) {
			h = list_last(&h->children, struct hnode, sibling);
			continue;
		}
		struct hnode *parent = h->parent;

		list_remove(&h->sibling);
		hnode_put(h);
		h = parent;
	}
}

static void hostimage_free(struct image *img)
{
	if (img->root)
		made_free(hnode_of(img->root));
	obj_free(&hostimage_type, hostimage_of(img));
}

static const struct image_ops hostimage_ops = {
	.lookup = hostimage_lookup,
	.iterate = hostimage_iterate,
	.readlink = hostimage_readlink,
	.open = hostimage_open,
	.drop = hostimage_drop,
	.free = hostimage_free,
};

struct image *hostimage_new(int root_fd)
{
	struct hostimage *hi = obj_new(&hostimage_type);
	struct hnode *root, *agent;
	struct stat st;

	if (!hi)
		return NULL;
	hi->img.ops = &hostimage_ops;
	hi->img.name = "host";
	hi->img.guarded = true;
	hi->root_fd = root_fd;
	hi->next_ino = IMAGE_INO_END - 4096;
	/* The device of /usr, where most files are, keeps its numbers. */
	if (host_fstatat(root_fd, "usr", &st, AT_SYMLINK_NOFOLLOW) == 0)
		ino_of(hi, st.st_dev, st.st_ino);
	root = made_new(hi, NULL, "", S_IFDIR | 0755);
	if (!root)
		goto out_image;
	root->made_path = "";
	hi->img.root = &root->n;
	if (!build_dirs(hi, root) || !build_etc(hi, made_child(root, "etc", 3)))
		goto out_image;
	for (unsigned i = 0; i < TRUST_KINDS && cell.spec.ca; i++)
		build_trust(hi, made_child(root, "etc", 3), i);
	if (cell.spec.user_uid != 0) {
		agent = made_new(hi, made_child(root, "home", 4), "agent", S_IFDIR | 0755);
		if (!agent)
			goto out_image;
		agent->n.uid = cell.spec.user_uid;
		agent->n.gid = cell.spec.user_gid;
	}
	root_count_links(hi, root);
	return &hi->img;

out_image:
	hostimage_free(&hi->img);
	return NULL;
}
