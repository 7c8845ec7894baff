/* An image of the store: its index is mapped and searched in place, its contents are files of the
 * image's own directory (docs/decisions/0016).
 *
 * A look-up costs no host call; a node is a few words in the arena while the layer holds it. The
 * index was written by the trusted side, but from what strangers packed, and the reader believes
 * none of it: a broken one gives EIO.
 *
 * A few files belong to the cell and not to its image (etc.c: hosts, hostname, resolv.conf):
 * whatever file or link the image has there, the cell's is shown, as container engines do. The
 * image's own lines of hosts are kept, and those that a cell needs are added; a file of more than
 * HOSTS_MAX bytes is left alone. Made, too, are /etc, and the directories that every cell has
 * something mounted on. All of them are part of what the layer stands on, so what a guest makes of
 * them is kept like any other change.
 *
 * Left out: two names of one file in the image are two files once one of them is changed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/image/etc.h"
#include "kernel/fs/image/image.h"
#include "kernel/fs/image/trust.h"
#include "kernel/platform/cell.h"
#include "store/index.h"

#define INDEX_BYTES_MAX (8ULL << 30)
#define HOSTS_MAX 65536u
/* Numbers of made files, above those of any index. */
#define MADE_INO (IMAGE_INO_END - 4096)

struct xnode {
	struct image_node n; /* first */
	uint32_t num; /* in the index; of a made file: its place in etc_files */
	bool made;
	bool made_dir;
};

/* Their numbers follow those of the files. */
static const char *const made_dirs[] = { "dev", "proc", "sys", "etc" };
#define MADE_ETC 3
#define MADE_DIR_INO (MADE_INO + 1024)

struct indeximage {
	struct image img; /* first */
	int dir_fd;
	struct index ix;
	uint32_t etc; /* the node of /etc, or ETC_MADE; UINT32_MAX: there is none */
#define ETC_MADE (UINT32_MAX - 1)
	char *hosts; /* a blob of hosts_size; NULL: not made */
	size_t hosts_len, hosts_size;
	struct {
		char *text; /* a blob of size; NULL: not made */
		size_t len, size;
		uint32_t num; /* the image's own node, which shows it */
	} trust[TRUST_KINDS];
};

OBJ_TYPE(xnode_type, struct xnode, 0);
OBJ_TYPE(indeximage_type, struct indeximage, 64);

static struct xnode *xnode_of(struct image_node *n)
{
	return (struct xnode *)n;
}

static struct indeximage *indeximage_of(struct image *img)
{
	return (struct indeximage *)img;
}

/* What is wrong with an index is the disk's fault, to a guest. */
static int broken(int err)
{
	return err == -EBADMSG ? -EIO : err;
}

static int xnode_new(struct indeximage *xi, uint32_t num, struct xnode **ret_)
{
	struct index_node in;
	struct xnode *x;
	int r = index_node(&xi->ix, num, &in);

	if (r < 0)
		return broken(r);
	x = obj_new(&xnode_type);
	if (!x)
		return -ENOMEM;
	x->num = num;
	x->n.ino = (uint64_t)num + 1;
	x->n.mode = in.mode;
	x->n.uid = in.uid;
	x->n.gid = in.gid;
	x->n.nlink = in.nlink;
	x->n.size = S_ISDIR(in.mode) ? 4096 : in.size;
	x->n.blocks = S_ISREG(in.mode)	 ? ALIGN_UP(in.size, PAGE_SIZE) / 512
		      : S_ISDIR(in.mode) ? 8
					 : 0;
	x->n.rdev = S_ISCHR(in.mode) || S_ISBLK(in.mode) ? in.a : 0;
	x->n.atime.tv_sec = x->n.mtime.tv_sec = x->n.ctime.tv_sec = xi->ix.h.time;
	*ret_ = x;
	return 0;
}

/* ---- files that are the cell's and not the image's ---- */

static bool made_is_wanted(const char *name)
{
	if (!strncmp(name, "viv-", 4))
		return cell.spec.ca != NULL;
	return !strcmp(name, "hosts") || !strcmp(name, "hostname") || !strcmp(name, "resolv.conf");
}

static int made_find(const char *name, size_t len)
{
	for (unsigned i = 0; i < etc_file_count; i++)
		if (strlen(etc_files[i].name) == len && !memcmp(etc_files[i].name, name, len) &&
		    made_is_wanted(etc_files[i].name) && etc_files[i].make)
			return (int)i;
	return -1;
}

static const char *made_text(const struct indeximage *xi, uint32_t which, size_t *ret_len)
{
	static char buf[ETC_TEXT_MAX];

	if (xi->hosts && !strcmp(etc_files[which].name, "hosts")) {
		*ret_len = xi->hosts_len;
		return xi->hosts;
	}
	for (unsigned i = 0; i < TRUST_KINDS; i++)
		if (xi->trust[i].text && !strcmp(etc_files[which].name, trust_files[i].name)) {
			*ret_len = xi->trust[i].len;
			return xi->trust[i].text;
		}
	int n = etc_files[which].make(buf, sizeof(buf));

	*ret_len = n > 0 && (size_t)n < sizeof(buf) ? (size_t)n : 0;
	return buf;
}

/* Whether the image's own entry, if there is one, gives way: a link or an empty file does, and in a
 * kernel that runs guests every other file. What is told of a cell, and images made from one, have
 * the image's own. */
static bool made_takes(struct indeximage *xi, uint32_t dir, const char *name, size_t len)
{
	struct index_node in;
	uint32_t num;
	int r;

	if (dir != xi->etc || made_find(name, len) < 0)
		return false;
	if (dir == ETC_MADE)
		return true;
	r = index_lookup(&xi->ix, dir, name, len, &num, NULL);
	if (r == -ENOENT)
		return true;
	if (r < 0 || index_node(&xi->ix, num, &in) < 0)
		return false;
	if (!S_ISREG(in.mode))
		return S_ISLNK(in.mode);
	if (in.size == 0)
		return true;
	return cell.spec.mode == MODE_RUN &&
	       (xi->hosts || strcmp(etc_files[made_find(name, len)].name, "hosts"));
}

static int made_new(const struct indeximage *xi, const char *name, size_t len, struct xnode **ret_)
{
	struct xnode *x = obj_new(&xnode_type);
	size_t size;

	if (!x)
		return -ENOMEM;
	x->made = true;
	x->num = (uint32_t)made_find(name, len);
	(void)made_text(xi, x->num, &size);
	x->n.ino = MADE_INO + x->num;
	x->n.mode = S_IFREG | 0644;
	x->n.nlink = 1;
	x->n.size = size;
	x->n.blocks = ALIGN_UP(size, PAGE_SIZE) / 512;
	x->n.atime.tv_sec = (time_t)(cell.boot_real / NSEC_PER_SEC);
	x->n.mtime = x->n.ctime = x->n.atime;
	*ret_ = x;
	return 0;
}

static int made_dir_find(struct indeximage *xi, uint32_t dir, const char *name, size_t len)
{
	uint32_t num;

	if (dir != 0)
		return -1;
	for (unsigned i = 0; i < ARRAY_LEN(made_dirs); i++)
		if (strlen(made_dirs[i]) == len && !memcmp(made_dirs[i], name, len))
			return index_lookup(&xi->ix, 0, name, len, &num, NULL) == -ENOENT ? (int)i
											  : -1;
	return -1;
}

static int made_dir_new(struct indeximage *xi, int which, struct xnode **ret_)
{
	struct xnode *x = obj_new(&xnode_type);

	if (!x)
		return -ENOMEM;
	x->made = x->made_dir = true;
	x->num = which == MADE_ETC ? ETC_MADE : UINT32_MAX;
	x->n.ino = MADE_DIR_INO + (unsigned)which;
	x->n.mode = S_IFDIR | 0755;
	x->n.nlink = 2;
	x->n.size = 4096;
	x->n.blocks = 8;
	x->n.atime.tv_sec = x->n.mtime.tv_sec = x->n.ctime.tv_sec = xi->ix.h.time;
	*ret_ = x;
	return 0;
}

/* The file of /etc that an image's own node shows; NULL: it is itself. */
static const char *trust_find(const struct indeximage *xi, uint32_t num)
{
	for (unsigned i = 0; i < TRUST_KINDS; i++)
		if (xi->trust[i].text && xi->trust[i].num == num)
			return trust_files[i].name;
	return NULL;
}

/* ---- operations ---- */

static int indeximage_lookup(struct image *img, struct image_node *dir, const char *name,
			     size_t len, struct image_node **ret_)
{
	struct indeximage *xi = indeximage_of(img);
	struct xnode *d = xnode_of(dir), *x;
	const char *shown;
	uint32_t num;
	int r;

	if (d->made && (!d->made_dir || d->num != ETC_MADE || !made_takes(xi, d->num, name, len)))
		return -ENOENT;
	if (made_takes(xi, d->num, name, len)) {
		r = made_new(xi, name, len, &x);
	} else if ((r = made_dir_find(xi, d->num, name, len)) >= 0) {
		r = made_dir_new(xi, r, &x);
	} else {
		r = index_lookup(&xi->ix, d->num, name, len, &num, NULL);
		shown = r == 0 ? trust_find(xi, num) : NULL;
		if (shown)
			r = made_new(xi, shown, strlen(shown), &x);
		else if (r == 0)
			r = xnode_new(xi, num, &x);
	}
	if (r)
		return broken(r);
	*ret_ = &x->n;
	return 0;
}

static int indeximage_iterate(struct image *img, struct image_node *dir, struct image_sink *sink)
{
	struct indeximage *xi = indeximage_of(img);
	uint32_t num = xnode_of(dir)->num, i;
	struct index_entry e;
	int r = 0;

	if (xnode_of(dir)->made && num != ETC_MADE)
		return 0;
	for (i = 0; num != ETC_MADE && (r = index_entry(&xi->ix, num, i, &e)) == 0; i++) {
		uint64_t ino = (uint64_t)e.node + 1;
		unsigned dtype = e.dtype;

		if (made_takes(xi, num, e.name, e.len)) {
			ino = MADE_INO + (uint64_t)made_find(e.name, e.len);
			dtype = S_IFREG >> 12;
		}
		if (!sink->emit(sink, e.name, e.len, ino, dtype))
			return 0;
	}
	if (r != -ENOENT && num != ETC_MADE)
		return broken(r);
	for (i = 0; num == 0 && i < ARRAY_LEN(made_dirs); i++)
		if (made_dir_find(xi, 0, made_dirs[i], strlen(made_dirs[i])) >= 0 &&
		    !sink->emit(sink, made_dirs[i], strlen(made_dirs[i]), MADE_DIR_INO + i,
				S_IFDIR >> 12))
			return 0;
	for (i = 0; num == xi->etc && i < etc_file_count; i++) {
		const char *name = etc_files[i].name;
		size_t len = strlen(name);
		uint32_t there;

		if (made_find(name, len) < 0 ||
		    (num != ETC_MADE && index_lookup(&xi->ix, num, name, len, &there, NULL) == 0))
			continue;
		if (!sink->emit(sink, name, len, MADE_INO + i, S_IFREG >> 12))
			return 0;
	}
	return 0;
}

static int indeximage_readlink(struct image *img, struct image_node *node, char *buf, size_t size)
{
	const char *text;
	uint32_t len;
	int r = index_link_text(&indeximage_of(img)->ix, xnode_of(node)->num, &text, &len);

	if (r < 0)
		return broken(r);
	size = MIN(size, (size_t)len);
	memcpy(buf, text, size);
	return (int)size;
}

static int indeximage_open(struct image *img, struct image_node *node)
{
	struct indeximage *xi = indeximage_of(img);
	struct xnode *x = xnode_of(node);
	char path[INDEX_OBJECT_PATH];
	struct index_node in;
	const char *text;
	struct stat st;
	size_t size;
	int fd, r;

	if (x->made_dir)
		return -EINVAL;
	if (x->made) {
		text = made_text(xi, x->num, &size);
		return host_memfd_sealed("image", text, size);
	}
	r = index_node(&xi->ix, x->num, &in);
	if (r < 0)
		return broken(r);
	if (!S_ISREG(in.mode))
		return -EINVAL;
	if (in.a == 0)
		return host_memfd_sealed("image", "", 0);
	index_object_path(in.a - 1, path);
	fd = host_open_beneath(xi->dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return fd == -ENOENT ? -EIO : fd;
	r = host_fstat(fd, &st);
	if (r == 0 && (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != in.size))
		r = -EIO;
	if (r < 0) {
		host_close(fd);
		return r;
	}
	return fd;
}

static int indeximage_xattr(struct image *img, struct image_node *node, struct image_xattr *xa)
{
	struct xnode *x = xnode_of(node);
	struct index_xattr ix = { .next = xa->next, .end = xa->end };
	int r;

	if (x->made)
		return -ENOENT;
	r = index_xattr(&indeximage_of(img)->ix, x->num, &ix);
	if (r < 0)
		return broken(r);
	*xa = (struct image_xattr){ ix.name, ix.name_len, ix.value, ix.value_len, ix.next, ix.end };
	return 0;
}

static int64_t indeximage_object(struct image *img, struct image_node *node)
{
	struct xnode *x = xnode_of(node);
	struct index_node in;

	if (x->made || index_node(&indeximage_of(img)->ix, x->num, &in) < 0 || !S_ISREG(in.mode))
		return -1;
	return (int64_t)in.a - 1;
}

static int indeximage_hash(struct image *img, struct image_node *node, uint8_t out[32])
{
	int64_t n = indeximage_object(img, node);
	struct index_object o;

	if (n < 0 || index_object(&indeximage_of(img)->ix, (uint64_t)n, &o) < 0)
		return -ENODATA;
	memcpy(out, o.hash, sizeof(o.hash));
	return 0;
}

static void indeximage_drop(struct image *img, struct image_node *node)
{
	(void)img;
	obj_free(&xnode_type, xnode_of(node));
}

static void indeximage_free(struct image *img)
{
	struct indeximage *xi = indeximage_of(img);

	if (img->root)
		obj_free(&xnode_type, xnode_of(img->root));
	if (xi->hosts)
		blob_free(xi->hosts, xi->hosts_size);
	for (unsigned i = 0; i < TRUST_KINDS; i++)
		if (xi->trust[i].text)
			blob_free(xi->trust[i].text, xi->trust[i].size);
	host_unmap((void *)(uintptr_t)xi->ix.map, xi->ix.size);
	obj_free(&indeximage_type, xi);
}

static const struct image_ops indeximage_ops = {
	.lookup = indeximage_lookup,
	.iterate = indeximage_iterate,
	.readlink = indeximage_readlink,
	.open = indeximage_open,
	.xattr = indeximage_xattr,
	.object = indeximage_object,
	.hash = indeximage_hash,
	.drop = indeximage_drop,
	.free = indeximage_free,
};

static int index_map(struct indeximage *xi)
{
	int fd = host_open_beneath(xi->dir_fd, "index",
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;
	void *map;
	int r;

	if (fd < 0)
		return fd;
	r = host_fstat(fd, &st);
	if (r == 0 &&
	    (!S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > INDEX_BYTES_MAX))
		r = -EBADMSG;
	map = r == 0 ? host_map_file(fd, (size_t)st.st_size) : NULL;
	host_close(fd);
	if (r < 0)
		return r;
	if (!map)
		return -ENOMEM;
	r = index_open(map, (size_t)st.st_size, &xi->ix);
	if (r < 0)
		host_unmap(map, (size_t)st.st_size);
	return r;
}

/* The content of a regular file, of at most max bytes, in a blob of *ret_size, which has room for
 * so many more; NULL: it is empty, too large, or cannot be read. */
static char *node_read(struct indeximage *xi, uint32_t num, size_t max, size_t room,
		       size_t *ret_len, size_t *ret_size)
{
	struct index_node in;
	struct xnode *x;
	int64_t n = -1;
	char *text;
	int fd;

	if (index_node(&xi->ix, num, &in) < 0 || !S_ISREG(in.mode) || !in.size || in.size > max ||
	    xnode_new(xi, num, &x) < 0)
		return NULL;
	*ret_len = in.size;
	*ret_size = in.size + room;
	text = blob_new(*ret_size);
	fd = indeximage_open(&xi->img, &x->n);
	if (text && fd >= 0)
		n = host_pread(fd, text, in.size, 0);
	if (fd >= 0)
		host_close(fd);
	obj_free(&xnode_type, x);
	if (text && n != (int64_t)in.size) {
		blob_free(text, *ret_size);
		text = NULL;
	}
	return text;
}

/* The image's own hosts with what it lacks. Where that does not work out, the image's own is shown
 * as it is. */
static void hosts_make(struct indeximage *xi)
{
	size_t len, size;
	uint32_t num;

	if (index_lookup(&xi->ix, xi->etc, "hosts", 5, &num, NULL) < 0)
		return;
	xi->hosts = node_read(xi, num, HOSTS_MAX, etc_hosts_room(), &len, &size);
	if (!xi->hosts)
		return;
	xi->hosts_size = size;
	xi->hosts_len = etc_hosts_complete(xi->hosts, len, size);
}

/* The node of a path without links in it. */
static int path_find(struct indeximage *xi, const char *path, uint32_t *ret)
{
	int r = 0;

	for (*ret = 0; *path && !r;) {
		size_t len = strcspn(path, "/");

		r = index_lookup(&xi->ix, *ret, path, len, ret, NULL);
		path += len + (path[len] == '/');
	}
	return r;
}

/* The image's own certificates and the cell's. */
static void trust_read(struct indeximage *xi, unsigned kind)
{
	const struct trust_file *f = &trust_files[kind];
	size_t len = 0, size = 0;
	char *text = NULL;
	uint32_t num;

	for (unsigned i = 0; !text && i < ARRAY_LEN(f->paths) && f->paths[i]; i++)
		if (path_find(xi, f->paths[i], &num) == 0)
			text = node_read(xi, num, TRUST_MAX, trust_room(), &len, &size);
	len = text ? f->complete(text, len, size) : 0;
	if (text && !len) {
		blob_free(text, size);
		text = NULL;
	}
	if (!text)
		return;
	xi->trust[kind].text = text;
	xi->trust[kind].len = len;
	xi->trust[kind].size = size;
	xi->trust[kind].num = num;
}

int indeximage_new(int dir_fd, struct image **ret_)
{
	struct indeximage *xi = obj_new(&indeximage_type);
	struct xnode *root = NULL;
	int r;

	if (!xi)
		return -ENOMEM;
	xi->img.ops = &indeximage_ops;
	xi->img.name = "image";
	xi->dir_fd = dir_fd;
	r = index_map(xi);
	if (r < 0) {
		obj_free(&indeximage_type, xi);
		return r;
	}
	r = xnode_new(xi, 0, &root);
	if (r == 0 && !S_ISDIR(root->n.mode)) {
		obj_free(&xnode_type, root);
		r = -EBADMSG;
	}
	if (r < 0) {
		indeximage_free(&xi->img);
		return r;
	}
	xi->img.root = &root->n;
	r = index_lookup(&xi->ix, 0, "etc", 3, &xi->etc, NULL);
	if (r < 0)
		xi->etc = r == -ENOENT ? ETC_MADE : UINT32_MAX;
	else
		hosts_make(xi);
	for (unsigned i = 0; i < TRUST_KINDS && cell.spec.ca; i++)
		trust_read(xi, i);
	*ret_ = &xi->img;
	return 0;
}
