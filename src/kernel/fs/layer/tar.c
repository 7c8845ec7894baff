/* A layer as a tar stream, in the pax format: what ustar cannot say is in records before the
 * header.
 *
 *   path, linkpath, size, uid, gid, mtime    where they do not fit, or have fractions
 *   SCHILY.xattr.NAME                        extended attributes
 *   GNU.sparse.*                             a file with holes: format 1.0, a map of its data
 *                                            and then only that
 *   SCHILY.xattr.VIVARIUM.object             asked for: the number of the content in the image's
 *                                            index, instead of the content. No file has an
 *                                            attribute of that name, as it is in no namespace
 * Further names of a file are links to the first. The same tree gives the same bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/host.h"
#include "kernel/fs/layer/diff.h"
#include "kernel/fs/layer/node.h"
#include "kernel/fs/layer/outstream.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

#define BLOCK 512u
#define RECORDS_MAX (512u << 10) /* of one entry: attributes of 64 KiB and paths */
#define LINKS_MIN 256u
#define EXTENTS_MAX 4096
#define OCTAL_SIZE_MAX 077777777777ULL

struct extent {
	uint64_t off, len;
};

/* The first name of a file that has several. */
struct link {
	uint64_t ino;
	char *path; /* blob of len + 1; NULL: free */
	uint32_t len;
};

struct tar {
	struct tar_options o;
	struct outstream out;
	char *records; /* blob of RECORDS_MAX */
	size_t records_len;
	struct link *links; /* blob, a hash table */
	uint32_t nlinks, links_size;
	struct extent *extents; /* blob of EXTENTS_MAX */
};

OBJ_TYPE(tar_type, struct tar, 4);

/* ---- bytes ---- */

static int out_pad(struct tar *t, uint64_t size)
{
	return outstream_put(&t->out, NULL, (size_t)(ALIGN_UP(size, (uint64_t)BLOCK) - size));
}

/* ---- records ---- */

/* "LENGTH KEY=VALUE\n", the length counting its own digits. */
static int record_put(struct tar *t, const char *key, const void *value, size_t size)
{
	size_t rest = 1 + strlen(key) + 1 + size + 1, total = rest + 1;
	char digits[24];

	while ((size_t)snprintf(digits, sizeof(digits), "%zu", total) + rest != total)
		total = rest + strlen(digits);
	if (t->records_len + total > RECORDS_MAX)
		return -E2BIG;
	t->records_len += (size_t)sprintf(t->records + t->records_len, "%s %s=", digits, key);
	memcpy(t->records + t->records_len, value, size);
	t->records_len += size;
	t->records[t->records_len++] = '\n';
	return 0;
}

static int record_text(struct tar *t, const char *key, const char *text)
{
	return record_put(t, key, text, strlen(text));
}

static int record_number(struct tar *t, const char *key, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return record_text(t, key, text);
}

struct xattr_arg {
	struct tar *t;
	int error;
};

static void xattr_put(void *arg, const char *name, size_t len, const char *value, size_t size)
{
	struct xattr_arg *x = arg;
	char key[300];

	snprintf(key, sizeof(key), "SCHILY.xattr.%.*s", (int)len, name);
	if (x->error == 0)
		x->error = record_put(x->t, key, value, size);
}

/* ---- headers ---- */

struct entry {
	char type;
	const char *path, *linkpath;
	const struct inode *ino; /* NULL: nobody's */
	uint64_t size; /* of what follows in the stream */
	struct timespec mtime;
};

static void octal_put(char *p, size_t n, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*llo", (int)n - 1, (unsigned long long)v);
	memcpy(p, text + (strlen(text) - (n - 1)), n - 1);
	p[n - 1] = '\0';
}

static int header_put(struct tar *t, const struct entry *e)
{
	char h[BLOCK] = { 0 };
	const struct inode *i = e->ino;
	bool device = i && (e->type == '3' || e->type == '4');
	unsigned sum = 0;

	memcpy(h, e->path, MIN(strlen(e->path), (size_t)100));
	octal_put(h + 100, 8, i ? i->mode & 07777 : 0644);
	octal_put(h + 108, 8, i && i->uid <= 07777777 ? i->uid : 0);
	octal_put(h + 116, 8, i && i->gid <= 07777777 ? i->gid : 0);
	octal_put(h + 124, 12, e->size <= OCTAL_SIZE_MAX ? e->size : 0);
	octal_put(h + 136, 12,
		  e->mtime.tv_sec > 0 ? (uint64_t)e->mtime.tv_sec & OCTAL_SIZE_MAX : 0);
	memset(h + 148, ' ', 8);
	h[156] = e->type;
	if (e->linkpath)
		memcpy(h + 157, e->linkpath, MIN(strlen(e->linkpath), (size_t)100));
	memcpy(h + 257, "ustar\00000", 8);
	octal_put(h + 329, 8, device ? major(i->rdev) & 07777777 : 0);
	octal_put(h + 337, 8, device ? minor(i->rdev) & 07777777 : 0);
	for (unsigned k = 0; k < BLOCK; k++)
		sum += (unsigned char)h[k];
	octal_put(h + 148, 7, sum);
	return outstream_put(&t->out, h, BLOCK);
}

/* What does not fit into the header. */
static int records_usual(struct tar *t, const struct entry *e)
{
	char text[48];
	int r = 0;

	if (strlen(e->path) > 100)
		r = record_text(t, "path", e->path);
	if (r == 0 && e->linkpath && strlen(e->linkpath) > 100)
		r = record_text(t, "linkpath", e->linkpath);
	if (r == 0 && e->size > OCTAL_SIZE_MAX)
		r = record_number(t, "size", e->size);
	if (r == 0 && e->ino && e->ino->uid > 07777777)
		r = record_number(t, "uid", e->ino->uid);
	if (r == 0 && e->ino && e->ino->gid > 07777777)
		r = record_number(t, "gid", e->ino->gid);
	if (r == 0 && (e->mtime.tv_nsec || e->mtime.tv_sec < 0 ||
		       (uint64_t)e->mtime.tv_sec > OCTAL_SIZE_MAX)) {
		snprintf(text, sizeof(text), "%lld.%09ld", (long long)e->mtime.tv_sec,
			 e->mtime.tv_nsec);
		r = record_text(t, "mtime", text);
	}
	return r;
}

static int entry_put(struct tar *t, const struct entry *e)
{
	struct entry x = { .type = 'x', .path = "pax", .size = t->records_len };
	int r = records_usual(t, e);

	if (r == 0 && t->records_len) {
		x.size = t->records_len;
		r = header_put(t, &x);
		if (r == 0)
			r = outstream_put(&t->out, t->records, t->records_len);
		if (r == 0)
			r = out_pad(t, t->records_len);
	}
	return r < 0 ? r : header_put(t, e);
}

/* ---- contents ---- */

/* The parts of the file that hold data; 0: it has no holes worth a word, or too many. */
static uint32_t extents_find(struct tar *t, int fd, const struct inode *ino)
{
	int64_t at = 0, end, size = (int64_t)ino->size;
	uint32_t n = 0;

	if (ino->blocks * 512 + PAGE_SIZE >= ino->size)
		return 0;
	while (at < size) {
		at = host_lseek(fd, at, SEEK_DATA);
		if (at == -ENXIO)
			break;
		end = at < 0 ? at : host_lseek(fd, at, SEEK_HOLE);
		if (end <= at || n == EXTENTS_MAX - 1)
			return 0;
		end = MIN(end, size);
		t->extents[n++] = (struct extent){ (uint64_t)at, (uint64_t)(end - at) };
		at = end;
	}
	/* The last one says how long the file is. */
	t->extents[n++] = (struct extent){ (uint64_t)size, 0 };
	return n;
}

static int sparse_put(struct tar *t, struct entry *e, int fd, uint32_t n)
{
	char *map = blob_new(n * 48 + BLOCK);
	uint64_t data = 0;
	size_t len;
	int r;

	if (!map)
		return -ENOMEM;
	len = (size_t)sprintf(map, "%u\n", n);
	for (uint32_t i = 0; i < n; i++) {
		len += (size_t)sprintf(map + len, "%llu\n%llu\n",
				       (unsigned long long)t->extents[i].off,
				       (unsigned long long)t->extents[i].len);
		data += t->extents[i].len;
	}
	memset(map + len, 0, ALIGN_UP(len, (size_t)BLOCK) - len);
	r = record_text(t, "GNU.sparse.major", "1");
	if (r == 0)
		r = record_text(t, "GNU.sparse.minor", "0");
	if (r == 0)
		r = record_text(t, "GNU.sparse.name", e->path);
	if (r == 0)
		r = record_number(t, "GNU.sparse.realsize", e->ino->size);
	e->size = ALIGN_UP(len, (size_t)BLOCK) + data;
	if (r == 0)
		r = entry_put(t, e);
	if (r == 0)
		r = outstream_put(&t->out, map, ALIGN_UP(len, (size_t)BLOCK));
	for (uint32_t i = 0; i < n && r == 0; i++)
		r = outstream_copy(&t->out, fd, t->extents[i].off, t->extents[i].len);
	blob_free(map, n * 48 + BLOCK);
	return r < 0 ? r : out_pad(t, e->size);
}

static int regular_put(struct tar *t, struct entry *e, struct inode *ino)
{
	struct content_id id = layer_content_id(ino);
	uint32_t n;
	int fd, r;

	if (t->o.objects && id.layer == -1 && id.number != UINT64_MAX) {
		r = record_number(t, "SCHILY.xattr.VIVARIUM.object", id.number);
		return r < 0 ? r : entry_put(t, e);
	}
	if (id.layer == -2 || ino->size == 0)
		return entry_put(t, e);
	fd = CHECKED(ino->ops)->hostfd(ino, false);
	if (fd < 0)
		return fd == -EACCES && id.layer != -1 ? -EIO : fd;
	n = extents_find(t, fd, ino);
	if (n)
		return sparse_put(t, e, fd, n);
	e->size = ino->size;
	r = entry_put(t, e);
	if (r == 0)
		r = outstream_copy(&t->out, fd, 0, e->size);
	return r < 0 ? r : out_pad(t, e->size);
}

/* ---- further names ---- */

static struct link *link_slot(struct tar *t, uint64_t ino)
{
	uint32_t i = (uint32_t)((ino * 0x9e3779b97f4a7c15ULL) >> 32) & (t->links_size - 1);

	while (t->links[i].path && t->links[i].ino != ino)
		i = (i + 1) & (t->links_size - 1);
	return &t->links[i];
}

static int links_grow(struct tar *t)
{
	struct link *old = t->links;
	uint32_t old_size = t->links_size, size = old_size ? old_size * 2 : LINKS_MIN;

	t->links = blob_new(size * sizeof(*old));
	if (!t->links) {
		t->links = old;
		return -ENOMEM;
	}
	t->links_size = size;
	memset(t->links, 0, size * sizeof(*old));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].path)
			*link_slot(t, old[i].ino) = old[i];
	if (old)
		blob_free(old, old_size * sizeof(*old));
	return 0;
}

/* The first name of the file, or NULL, and then this is it. */
static int link_find(struct tar *t, const struct tree_visit *v, const char **ret_)
{
	struct link *l;
	int r;

	*ret_ = NULL;
	if (inode_is_dir(v->inode) || v->inode->nlink < 2)
		return 0;
	if (t->nlinks * 2 >= t->links_size) {
		r = links_grow(t);
		if (r < 0)
			return r;
	}
	l = link_slot(t, v->inode->ino);
	if (l->path) {
		*ret_ = l->path;
		return 0;
	}
	l->path = blob_strndup(v->path, v->path_len);
	if (!l->path)
		return -ENOMEM;
	l->ino = v->inode->ino;
	l->len = (uint32_t)v->path_len;
	t->nlinks++;
	return 0;
}

/* The entry for this name was not written. Nobody else has been led to the slot meanwhile, so it
 * can be emptied. */
static void link_forget(struct tar *t, const struct tree_visit *v)
{
	struct link *l = v->inode->nlink < 2 ? NULL : link_slot(t, v->inode->ino);

	if (!l || !l->path)
		return;
	blob_free(l->path, (size_t)l->len + 1);
	*l = (struct link){ 0 };
	t->nlinks--;
}

/* ---- entries ---- */

static char type_of(uint32_t mode)
{
	return S_ISREG(mode)	? '0'
	       : S_ISLNK(mode)	? '2'
	       : S_ISCHR(mode)	? '3'
	       : S_ISBLK(mode)	? '4'
	       : S_ISDIR(mode)	? '5'
	       : S_ISFIFO(mode) ? '6'
				: 0;
}

static int whiteout_put(struct tar *t, const struct tree_visit *v)
{
	static char path[TREE_PATH_MAX + 8];
	struct entry e = { .type = '0', .path = path };
	const char *slash = strrchr(v->path, '/');
	size_t dir = slash ? (size_t)(slash - v->path) + 1 : 0;

	if (!t->o.whiteouts)
		return 0;
	memcpy(path, v->path, dir);
	snprintf(path + dir, sizeof(path) - dir, ".wh.%s", v->path + dir);
	return entry_put(t, &e);
}

int tar_entry(struct tar *t, const struct tree_visit *v)
{
	static char path[TREE_PATH_MAX + 2], target[PATH_MAX_LEN + 1];
	struct entry e = { .type = type_of(v->inode->mode),
			   .path = path,
			   .ino = v->inode,
			   .mtime = v->inode->mtime };
	struct xattr_arg x = { .t = t };
	int r;

	t->records_len = 0;
	if (v->kind == 'D')
		return v->nested ? 0 : whiteout_put(t, v);
	if (!e.type)
		return 0; /* sockets are nobody's to keep */
	memcpy(path, v->path_len ? v->path : ".", v->path_len ? v->path_len : 1);
	path[v->path_len ? v->path_len : 1] = '\0';
	if (e.type == '5')
		strcat(path, "/");
	r = link_find(t, v, &e.linkpath);
	if (r < 0)
		return r;
	if (e.linkpath) {
		e.type = '1';
		return entry_put(t, &e);
	}
	r = layer_listxattr(v->inode, NULL, 0); /* the image's are there after it */
	if (r < 0)
		return r;
	lnode_xattrs(lnode_of(v->inode), xattr_put, &x);
	if (x.error < 0)
		return x.error;
	if (e.type == '0') {
		r = regular_put(t, &e, v->inode);
		if (r == -EACCES)
			link_forget(t, v);
		return r;
	}
	if (e.type == '2') {
		r = CHECKED(v->inode->ops)->readlink(v->inode, NULL, target, PATH_MAX_LEN);
		if (r < 0)
			return r;
		target[r] = '\0';
		e.linkpath = target;
	}
	return entry_put(t, &e);
}

static void tar_free(struct tar *t)
{
	for (uint32_t i = 0; i < t->links_size; i++)
		if (t->links[i].path)
			blob_free(t->links[i].path, (size_t)t->links[i].len + 1);
	if (t->links)
		blob_free(t->links, t->links_size * sizeof(*t->links));
	outstream_fini(&t->out);
	if (t->records)
		blob_free(t->records, RECORDS_MAX);
	if (t->extents)
		blob_free(t->extents, EXTENTS_MAX * sizeof(*t->extents));
	obj_free(&tar_type, t);
}

int tar_begin(const struct tar_options *o, struct tar **ret_)
{
	struct tar *t = obj_new(&tar_type);

	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->records = blob_new(RECORDS_MAX);
	t->extents = blob_new(EXTENTS_MAX * sizeof(*t->extents));
	if (outstream_init(&t->out, o->fd) < 0 || !t->records || !t->extents) {
		tar_free(t);
		return -ENOMEM;
	}
	*ret_ = t;
	return 0;
}

int tar_end(struct tar *t)
{
	int r = outstream_put(&t->out, NULL, 2 * BLOCK);

	if (r == 0)
		r = outstream_flush(&t->out);
	tar_free(t);
	return r;
}
