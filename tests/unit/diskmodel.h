/* A tree to try disks with: random operations, the same on a layer and on a model, and both as
 * text. For the tests that include it, on the host of fakehost.h. */
#ifndef VIV_TESTS_UNIT_DISKMODEL_H
#define VIV_TESTS_UNIT_DISKMODEL_H

#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/arena.h"
#include "base/log.h"
#include "fakehost.h"
#include "kernel/fs/layer/store.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "layerfakes.h"

#define OPS 70
#define NODES 512
#define NAMES 32
#define DATA_MAX 20000
#define TEXT_MAX 65536

/* ---- what the layer needs of others ---- */

int64_t now_real(void)
{
	return fake->clock;
}
int64_t now_mono(void)
{
	return fake->clock;
}
int64_t guest_move(pid_t tid, const struct iovec *local, unsigned nlocal,
		   const struct iovec *remote, unsigned nremote, bool towards_guest)
{
	(void)tid, (void)local, (void)nlocal, (void)remote, (void)nremote, (void)towards_guest;
	return -EFAULT;
}

/* ---- an image ---- */

struct inode_of_image {
	struct image_node n; /* first */
	const char *path, *text;
	const char *same; /* another name of this one, which comes before it */
};

static struct inode_of_image files[] = {
	{ { .mode = S_IFDIR | 0755 }, .path = "" },
	{ { .mode = S_IFDIR | 0755 }, .path = "etc" },
	{ { .mode = S_IFREG | 0644 }, .path = "etc/a", .text = "users of the image\n" },
	{ { .mode = S_IFREG | 0644 }, .path = "etc/b", .text = "groups\n" },
	{ { .mode = S_IFDIR | 0755 }, .path = "etc/c" },
	{ { .mode = S_IFREG | 0600 }, .path = "etc/c/a", .text = "one" },
	{ { .mode = S_IFREG | 0600 }, .path = "etc/c/b", .text = "two" },
	{ { .mode = S_IFDIR | 0755 }, .path = "usr" },
	{ { .mode = S_IFDIR | 0755 }, .path = "usr/d" },
	{ { .mode = S_IFDIR | 0755 }, .path = "usr/d/e" },
	{ { .mode = S_IFREG | 0755 }, .path = "usr/d/e/f", .text = "a program, perhaps" },
	{ { .mode = S_IFREG | 0755 }, .path = "usr/g", .text = "another" },
	{ { .mode = S_IFLNK | 0777 }, .path = "usr/h", .text = "d/e/f" },
	{ .path = "etc/d", .same = "usr/g" },
	{ .path = "usr/a", .same = "etc/a" },
	{ .path = "usr/d/a", .same = "etc/a" },
};

static int image_lookup(struct image *img, struct image_node *dir, const char *name, size_t len,
			struct image_node **ret_)
{
	const char *path = ((struct inode_of_image *)dir)->path;
	char want[64];

	(void)img;
	snprintf(want, sizeof(want), "%s%s%.*s", path, *path ? "/" : "", (int)len, name);
	for (size_t i = 1; i < ARRAY_LEN(files); i++)
		if (!strcmp(files[i].path, want)) {
			*ret_ = &files[i].n;
			return 0;
		}
	return -ENOENT;
}

static int image_iterate(struct image *img, struct image_node *dir, struct image_sink *sink)
{
	const char *path = ((struct inode_of_image *)dir)->path;
	size_t len = strlen(path);

	(void)img;
	for (size_t i = 1; i < ARRAY_LEN(files); i++) {
		const char *name = files[i].path + (len ? len + 1 : 0);

		if ((len && (strncmp(files[i].path, path, len) || files[i].path[len] != '/')) ||
		    strchr(name, '/'))
			continue;
		if (!sink->emit(sink, name, strlen(name), files[i].n.ino, 0))
			break;
	}
	return 0;
}

static int image_readlink(struct image *img, struct image_node *node, char *buf, size_t size)
{
	const char *text = ((struct inode_of_image *)node)->text;

	(void)img, (void)size;
	memcpy(buf, text, strlen(text));
	return (int)strlen(text);
}

static int image_open(struct image *img, struct image_node *node)
{
	const char *text = ((struct inode_of_image *)node)->text;
	struct fino *i = fino_new(false);

	(void)img;
	fino_write(i, text, strlen(text), 0);
	return fake_fd(i);
}

static void image_drop(struct image *img, struct image_node *node)
{
	(void)img, (void)node;
}

static void image_free(struct image *img)
{
	(void)img;
}

static const struct image_ops image_ops = {
	.lookup = image_lookup,
	.iterate = image_iterate,
	.readlink = image_readlink,
	.open = image_open,
	.drop = image_drop,
	.free = image_free,
};
static struct image image = { .ops = &image_ops, .name = "test", .root = &files[0].n };

static void image_init(void)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		files[i].n.ino = 1000 + i;
		files[i].n.nlink = 1;
		files[i].n.size = files[i].text ? strlen(files[i].text) : 4096;
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct inode_of_image *first = files;

		if (!files[i].same)
			continue;
		while (strcmp(first->path, files[i].same))
			first++;
		first->n.nlink++;
		files[i].text = first->text;
		for (size_t k = 0; k < ARRAY_LEN(files); k++)
			if (&files[k] == first || (files[k].same && files[k].same == files[i].same))
				files[k].n = first->n;
	}
}

/* ---- the model ---- */

struct mnode {
	char type; /* f, d, l, p */
	uint32_t mode, uid, gid, nlink, links;
	char target[32];
	char xattr[3][16]; /* values of user.0 ...; "": none */
	char data[DATA_MAX];
	size_t size;
	unsigned version, synced;
	unsigned replaced; /* the version with which it, never synced, replaced another file */
	bool made; /* by the workload: the image does not have it */
	bool unknown; /* its content is between two states */
	struct {
		char name[8];
		int node; /* 0: free */
	} ents[NAMES];
};

static struct mnode *nodes; /* 1 is the root */
static int nnodes;

static int mnode_new(char type, uint32_t mode)
{
	struct mnode *m = &nodes[++nnodes];

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->mode = mode;
	m->nlink = 1;
	return nnodes;
}

static int ment_find(int dir, const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (nodes[dir].ents[i].node && !strcmp(nodes[dir].ents[i].name, name))
			return i;
	return -1;
}

static void ment_add(int dir, const char *name, int node)
{
	for (int i = 0; i < NAMES; i++)
		if (!nodes[dir].ents[i].node) {
			snprintf(nodes[dir].ents[i].name, 8, "%s", name);
			nodes[dir].ents[i].node = node;
			nodes[node].links++;
			return;
		}
	abort();
}

static void ment_remove(int dir, const char *name)
{
	int i = ment_find(dir, name);

	nodes[nodes[dir].ents[i].node].links--;
	nodes[dir].ents[i].node = 0;
}

static int mwalk(const char *path)
{
	int at = 1;

	while (*path) {
		char name[16];
		size_t n = strcspn(path, "/");
		int i;

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		i = ment_find(at, name);
		if (i < 0)
			return 0;
		at = nodes[at].ents[i].node;
		path += n + (path[n] == '/');
	}
	return at;
}

static void model_init(void)
{
	if (!nodes)
		nodes = calloc(NODES, sizeof(*nodes));
	nnodes = 0;
	mnode_new('d', 0755);
	nodes[1].links = 1;
	for (size_t i = 1; i < ARRAY_LEN(files); i++) {
		char dir[64] = "";
		const char *slash = strrchr(files[i].path, '/');
		uint32_t mode = files[i].n.mode;
		int n = files[i].same ? mwalk(files[i].same)
				      : mnode_new(S_ISDIR(mode)	  ? 'd'
						  : S_ISLNK(mode) ? 'l'
								  : 'f',
						  mode & 07777);

		if (slash)
			snprintf(dir, sizeof(dir), "%.*s", (int)(slash - files[i].path),
				 files[i].path);
		ment_add(mwalk(dir), slash ? slash + 1 : files[i].path, n);
		nodes[n].nlink = files[i].n.nlink;
		if (S_ISLNK(mode))
			strcpy(nodes[n].target, files[i].text);
		if (S_ISREG(mode)) {
			strcpy(nodes[n].data, files[i].text);
			nodes[n].size = strlen(files[i].text);
		}
	}
}

/* ---- operations ---- */

enum kind {
	OP_MKDIR,
	OP_CREATE,
	OP_WRITE,
	OP_TRUNCATE,
	OP_UNLINK,
	OP_RMDIR,
	OP_RENAME,
	OP_EXCHANGE,
	OP_LINK,
	OP_SYMLINK,
	OP_FIFO,
	OP_CHMOD,
	OP_SETXATTR,
	OP_REMOVEXATTR,
	OP_FSYNC,
	OP_FSYNCDIR,
	OP_SYNCFS,
	OP_SEAL,
	OP_COMPACT,
	OP_TMPFILE,
	OP_MAP,
	OP_KINDS,
	OP_NONE
};

static const char *const kind_names[] = {
	"mkdir",    "create",	   "write", "truncate", "unlink", "rmdir",
	"rename",   "exchange",	   "link",  "symlink",	"fifo",	  "chmod",
	"setxattr", "removexattr", "fsync", "fsyncdir", "syncfs", "seal",
	"compact",  "tmpfile",	   "map",   "",		"none"
};

struct op {
	enum kind kind;
	char dir[128], name[8], dir2[128], name2[8];
	uint32_t mode;
	size_t off, len;
	char fill;
	int key;
};

struct place {
	int dir, node;
	char path[128], name[8];
};

static struct place places[NODES];
static int nplaces;
static struct place dirs[NODES];
static int ndirs;

static void places_collect(void)
{
	nplaces = 0;
	ndirs = 1;
	dirs[0] = (struct place){ .node = 1 };
	for (int d = 0; d < ndirs; d++)
		for (int i = 0; i < NAMES; i++) {
			struct mnode *m = &nodes[dirs[d].node];
			struct place p = { .dir = dirs[d].node, .node = m->ents[i].node };

			if (!p.node)
				continue;
			strcpy(p.path, dirs[d].path);
			strcpy(p.name, m->ents[i].name);
			places[nplaces++] = p;
			if (nodes[p.node].type == 'd') {
				struct place sub = { .node = p.node };

				snprintf(sub.path, sizeof(sub.path), "%.100s%s%s", dirs[d].path,
					 dirs[d].path[0] ? "/" : "", p.name);
				dirs[ndirs++] = sub;
			}
		}
}

static uint64_t op_rng;

static unsigned pick(unsigned n)
{
	op_rng ^= op_rng << 13;
	op_rng ^= op_rng >> 7;
	op_rng ^= op_rng << 17;
	return (unsigned)((op_rng >> 11) % n);
}

static const struct place *pick_place(const char *types)
{
	if (nplaces)
		for (int tries = 0; tries < 30; tries++) {
			const struct place *p = &places[pick((unsigned)nplaces)];

			if (strchr(types, nodes[p->node].type))
				return p;
		}
	return NULL;
}

/* A directory with room in it and, in o, a name that is not there. */
static bool pick_new(struct op *o, char *dir, char *name)
{
	for (int tries = 0; tries < 30; tries++) {
		const struct place *d = &dirs[pick((unsigned)ndirs)];

		name[0] = (char)('a' + pick(10));
		name[1] = '\0';
		if (ment_find(d->node, name) < 0 && strlen(d->path) < 40) {
			strcpy(dir, d->path);
			return true;
		}
	}
	(void)o;
	return false;
}

static bool dir_is_empty(int n)
{
	for (int i = 0; i < NAMES; i++)
		if (nodes[n].ents[i].node)
			return false;
	return true;
}

/* Is the directory below or at the one that p names? */
static bool is_below(const char *dir, const struct place *p)
{
	char own[140];
	size_t n;

	snprintf(own, sizeof(own), "%s%s%s", p->path, p->path[0] ? "/" : "", p->name);
	n = strlen(own);
	return !strncmp(dir, own, n) && (dir[n] == '/' || !dir[n]);
}

static struct op op_make(void)
{
	static const uint8_t often[] = { OP_CREATE, OP_CREATE, OP_WRITE,  OP_WRITE,  OP_WRITE,
					 OP_MKDIR,  OP_RENAME, OP_RENAME, OP_UNLINK, OP_FSYNC };
	struct op o = { .kind = OP_NONE };
	enum kind k = pick(3) ? often[pick(ARRAY_LEN(often))] : pick(OP_KINDS);
	const struct place *p = NULL, *q;

	places_collect();
	o.mode = 0600 + pick(64);
	o.fill = (char)('A' + pick(26));
	o.off = pick(4) ? 0 : pick(9000);
	o.len = 1 + pick(pick(4) ? 300 : 9000);
	o.key = (int)pick(3);
	switch (k) {
	case OP_MKDIR:
	case OP_CREATE:
	case OP_SYMLINK:
	case OP_FIFO:
	case OP_TMPFILE:
		if (!pick_new(&o, o.dir, o.name) || nnodes > NODES - 10)
			return o;
		break;
	case OP_WRITE:
	case OP_TRUNCATE:
	case OP_FSYNC:
	case OP_MAP:
		p = pick_place("f");
		break;
	case OP_UNLINK:
		p = pick_place("flp");
		break;
	case OP_RMDIR:
		p = pick_place("d");
		if (p && !dir_is_empty(p->node))
			p = NULL;
		break;
	case OP_RENAME:
		p = pick_place("fdlp");
		if (!p)
			return o;
		q = pick(3) ? NULL : pick_place("fdlp");
		if (q) {
			strcpy(o.dir2, q->path);
			strcpy(o.name2, q->name);
			if (q->node == p->node ||
			    (nodes[q->node].type == 'd') != (nodes[p->node].type == 'd') ||
			    (nodes[q->node].type == 'd' && !dir_is_empty(q->node)) ||
			    is_below(p->path, q))
				return o;
		} else if (!pick_new(&o, o.dir2, o.name2)) {
			return o;
		}
		if (is_below(o.dir2, p))
			return o;
		break;
	case OP_EXCHANGE:
		p = pick_place("fdlp");
		q = pick_place("fdlp");
		if (!p || !q || p->node == q->node || is_below(p->path, q) || is_below(q->path, p))
			return o;
		strcpy(o.dir2, q->path);
		strcpy(o.name2, q->name);
		break;
	case OP_LINK:
		p = pick_place("fp");
		if (!p || !pick_new(&o, o.dir2, o.name2))
			return o;
		break;
	case OP_CHMOD:
		p = pick_place("fdp");
		break;
	case OP_SETXATTR:
	case OP_REMOVEXATTR:
		p = pick_place("fd");
		if (p && k == OP_REMOVEXATTR && !nodes[p->node].xattr[o.key][0])
			p = NULL;
		break;
	case OP_FSYNCDIR:
		p = pick_place("d");
		break;
	default:
		o.kind = k;
		return o;
	}
	if (!o.name[0]) {
		if (!p)
			return o;
		strcpy(o.dir, p->path);
		strcpy(o.name, p->name);
	}
	o.kind = k;
	return o;
}

/* The node that an operation writes to; 0: none. */
__attribute__((unused)) static int op_target(const struct op *o)
{
	int d = mwalk(o->dir), i;

	if (o->kind != OP_WRITE && o->kind != OP_TRUNCATE)
		return 0;
	i = d ? ment_find(d, o->name) : -1;
	return i < 0 ? 0 : nodes[d].ents[i].node;
}

static void fill(char *p, size_t n, char c)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(c + i % 7);
}

static void model_write(int n, size_t off, size_t len, char c)
{
	struct mnode *m = &nodes[n];

	if (off > m->size)
		memset(m->data + m->size, 0, off - m->size);
	fill(m->data + off, len, c);
	m->size = MAX(m->size, off + len);
	m->version++;
}

static void model_apply(const struct op *o)
{
	int d = mwalk(o->dir), d2 = mwalk(o->dir2), n = 0, n2 = 0, i;

	if (o->kind == OP_NONE)
		return;
	i = ment_find(d, o->name);
	n = i < 0 ? 0 : nodes[d].ents[i].node;
	if (o->name2[0]) {
		i = ment_find(d2, o->name2);
		n2 = i < 0 ? 0 : nodes[d2].ents[i].node;
	}
	switch (o->kind) {
	case OP_MKDIR:
		ment_add(d, o->name, mnode_new('d', o->mode));
		break;
	case OP_CREATE:
		n = mnode_new('f', o->mode);
		nodes[n].made = true;
		ment_add(d, o->name, n);
		break;
	case OP_TMPFILE:
		n = mnode_new('f', o->mode);
		ment_add(d, o->name, n);
		model_write(n, 0, o->len, o->fill);
		break;
	case OP_SYMLINK:
		n = mnode_new('l', 0777);
		snprintf(nodes[n].target, 32, "to/%c", o->fill);
		ment_add(d, o->name, n);
		break;
	case OP_FIFO:
		ment_add(d, o->name, mnode_new('p', o->mode));
		break;
	case OP_WRITE:
		model_write(n, o->off, o->len, o->fill);
		break;
	case OP_TRUNCATE:
		if (o->len > nodes[n].size)
			memset(nodes[n].data + nodes[n].size, 0, o->len - nodes[n].size);
		nodes[n].size = o->len;
		nodes[n].version++;
		break;
	case OP_UNLINK:
	case OP_RMDIR:
		ment_remove(d, o->name);
		nodes[n].nlink--;
		break;
	case OP_RENAME:
		if (n2 && nodes[n].type == 'f' && nodes[n].made && !nodes[n].synced)
			nodes[n].replaced = nodes[n].version;
		if (n2) {
			ment_remove(d2, o->name2);
			nodes[n2].nlink--;
		}
		ment_remove(d, o->name);
		ment_add(d2, o->name2, n);
		break;
	case OP_EXCHANGE:
		ment_remove(d, o->name);
		ment_remove(d2, o->name2);
		ment_add(d, o->name, n2);
		ment_add(d2, o->name2, n);
		break;
	case OP_LINK:
		ment_add(d2, o->name2, n);
		nodes[n].nlink++;
		break;
	case OP_CHMOD:
		nodes[n].mode = o->mode;
		nodes[n].uid = o->mode & 7;
		break;
	case OP_SETXATTR:
		snprintf(nodes[n].xattr[o->key], 16, "%c%zu", o->fill, o->len);
		break;
	case OP_REMOVEXATTR:
		nodes[n].xattr[o->key][0] = '\0';
		break;
	case OP_FSYNC:
		nodes[n].synced = nodes[n].version;
		break;
	case OP_SYNCFS:
	case OP_SEAL:
		for (i = 1; i <= nnodes; i++)
			nodes[i].synced = nodes[i].version;
		break;
	default:
		break;
	}
}

static struct inode *walk(struct fs *fs, const char *path)
{
	struct inode *at = inode_get(fs->root), *next;

	while (*path) {
		size_t n = strcspn(path, "/");
		int r = at->ops->lookup(at, path, n, &next);

		inode_put(at);
		if (r < 0)
			return NULL;
		at = next;
		path += n + (path[n] == '/');
	}
	return at;
}

static int64_t file_write_bytes(struct inode *i, size_t off, size_t len, char c)
{
	static char buf[DATA_MAX];
	struct file f = { .ops = &layer_reg_fops, .inode = i, .mode = FMODE_READ | FMODE_WRITE };
	struct uio u;
	int r = i->ops->open(i, NULL, &f);

	if (r < 0)
		return r;
	fill(buf, len, c);
	uio_init_kernel(&u, buf, len);
	return f.ops->write(&f, &u, (int64_t)off);
}

static int64_t tmpfile_do(struct inode *d, const struct op *o)
{
	struct newnode nn = { .mode = S_IFREG | o->mode };
	struct inode *i;
	int64_t r = d->ops->tmpfile(d, &nn, &i);

	if (r < 0)
		return r;
	r = file_write_bytes(i, 0, o->len, o->fill);
	if (r >= 0 && r != (int64_t)o->len)
		r = -ENOSPC;
	if (r >= 0)
		r = d->ops->link(d, o->name, strlen(o->name), i);
	inode_put(i);
	return r;
}

static int64_t seal_do(struct fs *fs)
{
	int r;

	/* As the trusted side does: first it is written down. */
	fake->active++;
	r = layer_seal(fs, fake->active, true);
	if (r < 0)
		fake->active--;
	return r;
}

/* 0 or more: done; a short write is -ENOSPC with the content unknown. */
static int64_t real_apply(struct fs *fs, const struct op *o)
{
	struct inode *d = walk(fs, o->dir), *i = NULL, *d2 = NULL, *v = NULL, *made;
	struct newnode nn = { .mode = o->mode };
	struct attr a = { 0 };
	char text[32];
	int64_t r = 0;

	if (!d)
		return -ENOTDIR;
	if (o->name[0] && o->kind > OP_CREATE && o->kind != OP_SYMLINK && o->kind != OP_FIFO &&
	    o->kind != OP_TMPFILE) {
		r = d->ops->lookup(d, o->name, strlen(o->name), &i);
		if (r < 0) {
			inode_put(d);
			return r;
		}
	}
	if (o->name2[0]) {
		d2 = walk(fs, o->dir2);
		if (d2 && d2->ops->lookup(d2, o->name2, strlen(o->name2), &v) < 0)
			v = NULL;
	}
	struct file f = { .ops = i ? i->fops : NULL, .inode = i, .mode = FMODE_READ | FMODE_WRITE };
	switch (o->kind) {
	case OP_MKDIR:
	case OP_CREATE:
	case OP_FIFO:
	case OP_SYMLINK:
		nn.mode = o->kind == OP_MKDIR	  ? S_IFDIR | o->mode
			  : o->kind == OP_CREATE  ? S_IFREG | o->mode
			  : o->kind == OP_SYMLINK ? S_IFLNK | 0777
						  : S_IFIFO | o->mode;
		snprintf(text, sizeof(text), "to/%c", o->fill);
		nn.target = o->kind == OP_SYMLINK ? text : NULL;
		r = d->ops->create(d, o->name, strlen(o->name), &nn, &made);
		if (r == 0)
			inode_put(made);
		break;
	case OP_TMPFILE:
		r = tmpfile_do(d, o);
		break;
	case OP_WRITE:
		r = file_write_bytes(i, o->off, o->len, o->fill);
		if (r >= 0 && r != (int64_t)o->len)
			r = -ENOSPC;
		break;
	case OP_TRUNCATE:
		a = (struct attr){ .valid = ATTR_SIZE | ATTR_MTIME | ATTR_CTIME, .size = o->len };
		a.mtime = a.ctime = inode_now();
		r = i->ops->setattr(i, &a);
		break;
	case OP_UNLINK:
	case OP_RMDIR:
		r = d->ops->unlink(d, o->name, strlen(o->name), i);
		break;
	case OP_RENAME:
	case OP_EXCHANGE:
		r = d->ops->rename(d, o->name, strlen(o->name), i, d2, o->name2, strlen(o->name2),
				   v, o->kind == OP_EXCHANGE ? RENAME_EXCHANGE_ : 0);
		break;
	case OP_LINK:
		r = d2->ops->link(d2, o->name2, strlen(o->name2), i);
		break;
	case OP_CHMOD:
		a = (struct attr){ .valid = ATTR_MODE | ATTR_UID | ATTR_CTIME,
				   .mode = o->mode,
				   .uid = o->mode & 7 };
		a.ctime = inode_now();
		r = i->ops->setattr(i, &a);
		break;
	case OP_SETXATTR:
	case OP_REMOVEXATTR: {
		char name[16], value[16];

		snprintf(name, sizeof(name), "user.%d", o->key);
		snprintf(value, sizeof(value), "%c%zu", o->fill, o->len);
		r = i->ops->setxattr(i, name, o->kind == OP_SETXATTR ? value : NULL, strlen(value),
				     0);
		break;
	}
	case OP_FSYNC:
	case OP_FSYNCDIR:
		r = f.ops->fsync(&f, false);
		break;
	case OP_SYNCFS:
		r = fs->ops->sync(fs);
		break;
	case OP_SEAL:
		r = seal_do(fs);
		break;
	case OP_COMPACT:
		r = store_compact((struct layer *)fs);
		break;
	case OP_MAP: {
		struct mapping_req req = { .prot = PROT_READ | PROT_WRITE, .flags = MAP_SHARED };
		uint64_t off = 0;

		r = f.ops->mmap(&f, &req, &off);
		break;
	}
	default:
		break;
	}
	inode_put(i);
	inode_put(v);
	inode_put(d2);
	inode_put(d);
	return r;
}

/* ---- trees as text ---- */

static char *text_real, *text_model;

struct sorted {
	struct dirsink sink;
	char names[NAMES * 2][8];
	int n;
};

static bool sorted_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino,
			unsigned dtype, int64_t next)
{
	struct sorted *so = (struct sorted *)s;

	(void)ino, (void)dtype, (void)next;
	if (name[0] != '.' && so->n < NAMES * 2)
		snprintf(so->names[so->n++], 8, "%.*s", (int)len, name);
	return true;
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

static const char *content_error;

static size_t content_read(struct inode *i, char *buf)
{
	struct file f = { .ops = &layer_reg_fops, .inode = i, .mode = FMODE_READ };
	struct uio u;
	int64_t r = i->ops->open(i, NULL, &f);

	if (r == 0)
		r = i->ops->getattr(i);
	uio_init_kernel(&u, buf, DATA_MAX);
	if (r == 0)
		r = f.ops->read(&f, &u, 0);
	if (r < 0 || (uint64_t)r != i->size) {
		content_error = r < 0 ? strerror((int)-r) : "wrong size";
		return 0;
	}
	return (size_t)r;
}

static unsigned sum(const char *p, size_t n)
{
	unsigned h = 1;

	while (n--)
		h = h * 31 + (unsigned char)*p++;
	return h;
}

static void real_text(struct inode *dir, const char *path, bool contents, char *out)
{
	struct sorted so = { .sink = { sorted_emit } };
	struct file f = { .ops = dir->fops, .inode = dir, .mode = FMODE_READ };
	static char buf[DATA_MAX];

	f.ops->iterate(&f, &so.sink);
	f.ops->release(&f);
	qsort(so.names, (size_t)so.n, 8, name_cmp);
	for (int k = 0; k < so.n; k++) {
		char sub[160], x[64] = "", target[40] = "", v[16];
		struct inode *i;

		snprintf(sub, sizeof(sub), "%.140s/%.8s", path, so.names[k]);
		if (dir->ops->lookup(dir, so.names[k], strlen(so.names[k]), &i) < 0) {
			sprintf(out + strlen(out), "%s ?\n", sub);
			continue;
		}
		for (int key = 0; key < 3; key++) {
			char name[32];
			int n;

			snprintf(name, sizeof(name), "user.%d", key);
			n = S_ISREG(i->mode) || S_ISDIR(i->mode)
				    ? i->ops->getxattr(i, name, v, sizeof(v))
				    : -1;
			if (n > 0)
				sprintf(x + strlen(x), "%d=%.*s,", key, n, v);
		}
		if (S_ISLNK(i->mode))
			(void)!i->ops->readlink(i, NULL, target, sizeof(target));
		sprintf(out + strlen(out), "%s %c %o %u %u %s %s", sub,
			S_ISDIR(i->mode)    ? 'd'
			: S_ISREG(i->mode)  ? 'f'
			: S_ISLNK(i->mode)  ? 'l'
			: S_ISFIFO(i->mode) ? 'p'
					    : '?',
			i->mode & 07777, i->uid, S_ISDIR(i->mode) ? 0 : i->nlink, target, x);
		if (contents && S_ISREG(i->mode)) {
			size_t n = content_read(i, buf);

			sprintf(out + strlen(out), " %zu %x", n, sum(buf, n));
		}
		strcat(out, "\n");
		if (S_ISDIR(i->mode))
			real_text(i, sub, contents, out);
		inode_put(i);
	}
}

__attribute__((unused)) static void text_of_model(int dir, const char *path, bool contents,
						  int masked, char *out)
{
	char names[NAMES][8];
	int n = 0;

	for (int i = 0; i < NAMES; i++)
		if (nodes[dir].ents[i].node)
			strcpy(names[n++], nodes[dir].ents[i].name);
	qsort(names, (size_t)n, 8, name_cmp);
	for (int k = 0; k < n; k++) {
		int node = nodes[dir].ents[ment_find(dir, names[k])].node;
		struct mnode *m = &nodes[node];
		char sub[160], x[64] = "";

		snprintf(sub, sizeof(sub), "%.140s/%.8s", path, names[k]);
		for (int key = 0; key < 3; key++)
			if (m->xattr[key][0])
				sprintf(x + strlen(x), "%d=%s,", key, m->xattr[key]);
		sprintf(out + strlen(out), "%s %c %o %u %u %s %s", sub, m->type, m->mode, m->uid,
			m->type == 'd' ? 0 : m->nlink, m->target, x);
		if (contents && m->type == 'f') {
			if (node == masked || m->unknown)
				strcat(out, " *");
			else
				sprintf(out + strlen(out), " %zu %x", m->size,
					sum(m->data, m->size));
		}
		strcat(out, "\n");
		if (m->type == 'd')
			text_of_model(node, sub, contents, masked, out);
	}
}

/* Line by line; a '*' in the model stands for any content. */
__attribute__((unused)) static bool same_text(const char *real, const char *model)
{
	while (*real && *model) {
		size_t rl = strcspn(real, "\n"), ml = strcspn(model, "\n");

		if (ml && model[ml - 1] == '*') {
			if (rl < ml - 1 || strncmp(real, model, ml - 1))
				return false;
		} else if (rl != ml || strncmp(real, model, rl)) {
			return false;
		}
		real += rl + 1;
		model += ml + 1;
	}
	return !*real && !*model;
}

/* ---- runs ---- */

static struct fs *disk_open_fs(void)
{
	static struct layer_spec sealed[LAYER_CHAIN_MAX];
	struct layer_disk d = { .data_fd = 0, .active = fake->active, .sealed = sealed };
	char why[256] = "";
	struct fs *fs;
	int r;

	d.data_fd = fake_open(FAKE_ROOT_FD, "data", O_DIRECTORY);
	d.nsealed = fake->active - 1;
	for (uint32_t i = 0; i < d.nsealed; i++) {
		sealed[i].fd = -1;
		sealed[i].number = i + 1;
	}
	r = layer_new_on_disk(&image, &d, 0, 0, "overlay", &fs, why, sizeof(why));
	if (r < 0) {
		if (getenv("CRASH_TRACE"))
			printf("# cannot open: %s (%s)\n", why, strerror(-r));
		return NULL;
	}
	return fs;
}

static void quiet(const char *line)
{
	(void)line;
}

/* Runs fn in a process of its own: its status. */
static int in_child(int (*fn)(uint64_t), uint64_t seed)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		log_sink = quiet;
		image_init();
		if (arena_init() < 0)
			_exit(98);
		fflush(stdout);
		int r = fn(seed);
		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_start(uint64_t seed)
{
	fake_reset(seed);
	text_real = fake_alloc(TEXT_MAX);
	text_model = fake_alloc(TEXT_MAX);
	struct fino *data = fino_new(true);

	fent_add(&fake->root->ents, "data", data);
	fino_sync(fake->root);
	fake->active = 1;
}

#endif
