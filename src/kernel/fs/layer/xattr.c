/* Extended attributes of a layer: all of an inode's in one blob, one record after the other:
 *     uint16_t name length, uint32_t value length, name, value
 * At most XATTR_BYTES_MAX together for each inode, counted in the layer's bytes. The namespaces are
 * Linux's: user (only regular files and directories), trusted and security. Who may use which is
 * checked by the caller, who knows the credentials. Left out: system (ACLs), which is not
 * supported. */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/arena.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/inode.h"

#define RECORD_HEAD 6
#define XATTR_NAME_LEN_MAX 255
#define XATTR_VALUE_MAX 65536

struct record {
	uint16_t name_len;
	uint32_t value_len;
	const char *name, *value;
	uint32_t at, next; /* offsets in the blob */
};

static bool record_read(const struct lnode *n, uint32_t at, struct record *r)
{
	if (at >= n->xattr_size)
		return false;
	memcpy(&r->name_len, n->xattrs + at, 2);
	memcpy(&r->value_len, n->xattrs + at + 2, 4);
	r->name = n->xattrs + at + RECORD_HEAD;
	r->value = r->name + r->name_len;
	r->at = at;
	r->next = at + RECORD_HEAD + r->name_len + r->value_len;
	return true;
}

/* The image's attributes become the node's at the first look at them, so that there is one place to
 * look at. They are no change: they are counted, but nothing is pinned. What does not fit is left
 * out. */
static int xattrs_load(struct lnode *n)
{
	struct layer *l = layer_of(n);
	struct image_xattr x = { 0 };
	size_t total = 0;
	char *blob, *p;
	int r;

	if (!n->xattrs_below)
		return 0;
	while ((r = CHECKED(l->lower->ops)->xattr(l->lower, n->lower, &x)) == 0)
		if (x.name_len <= XATTR_NAME_LEN_MAX && x.value_len <= XATTR_VALUE_MAX &&
		    total + RECORD_HEAD + x.name_len + x.value_len <= XATTR_BYTES_MAX)
			total += RECORD_HEAD + x.name_len + x.value_len;
	if (r != -ENOENT)
		return r;
	if (total == 0) {
		n->xattrs_below = false;
		return 0;
	}
	blob = p = blob_new(total);
	if (!blob)
		return -ENOMEM;
	x = (struct image_xattr){ 0 };
	while (CHECKED(l->lower->ops)->xattr(l->lower, n->lower, &x) == 0) {
		uint16_t name_len = (uint16_t)x.name_len;
		size_t size = RECORD_HEAD + x.name_len + x.value_len;

		if (x.name_len > XATTR_NAME_LEN_MAX || x.value_len > XATTR_VALUE_MAX ||
		    (size_t)(p - blob) + size > total)
			continue;
		memcpy(p, &name_len, 2);
		memcpy(p + 2, &x.value_len, 4);
		memcpy(p + RECORD_HEAD, x.name, x.name_len);
		memcpy(p + RECORD_HEAD + x.name_len, x.value, x.value_len);
		p += size;
	}
	l->used_bytes += total;
	n->xattrs = blob;
	n->xattr_size = (uint32_t)total;
	n->xattrs_below = false;
	return 0;
}

static bool record_find(const struct lnode *n, const char *name, struct record *r)
{
	size_t len = strlen(name);

	for (uint32_t at = 0; record_read(n, at, r); at = r->next)
		if (r->name_len == len && memcmp(r->name, name, len) == 0)
			return true;
	return false;
}

static int name_check(const struct inode *ino, const char *name, bool write)
{
	size_t len = strlen(name);

	if (len == 0 || len > XATTR_NAME_LEN_MAX)
		return -ERANGE;
	if (strncmp(name, "user.", 5) == 0) {
		if (!name[5])
			return -EINVAL;
		if (!S_ISREG(ino->mode) && !S_ISDIR(ino->mode))
			return write ? -EPERM : -ENODATA;
		return 0;
	}
	if (strncmp(name, "trusted.", 8) == 0)
		return name[8] ? 0 : -EINVAL;
	if (strncmp(name, "security.", 9) == 0)
		return name[9] ? 0 : -EINVAL;
	return -EOPNOTSUPP;
}

int layer_getxattr(struct inode *ino, const char *name, void *buf, size_t size)
{
	struct record r;
	int e = name_check(ino, name, false);

	if (e == 0)
		e = xattrs_load(lnode_of(ino));
	if (e < 0)
		return e;
	if (!record_find(lnode_of(ino), name, &r))
		return -ENODATA;
	if (buf && size) {
		if (r.value_len > size)
			return -ERANGE;
		memcpy(buf, r.value, r.value_len);
	}
	return (int)r.value_len;
}

/* The blob without the record old (if there is one) and with the new one (if value is not NULL). */
static int apply_xattr(struct lnode *n, const struct record *old, const char *name,
		       const void *value, size_t size)
{
	struct layer *l = layer_of(n);
	size_t name_len = strlen(name);
	size_t charged = 0;
	size_t cut = old ? old->next - old->at : 0;
	size_t add = value ? RECORD_HEAD + name_len + size : 0;
	size_t total = n->xattr_size - cut + add;
	char *blob = NULL, *p;
	int r;

	if (total > XATTR_BYTES_MAX)
		return -ENOSPC;
	if (total > n->xattr_size) {
		charged = total - n->xattr_size;
		r = layer_charge_bytes(l, charged);
		if (r < 0)
			return r;
	}
	if (total) {
		blob = blob_new(total);
		if (!blob) {
			layer_uncharge_bytes(l, charged);
			return -ENOSPC;
		}
	}
	r = log_begin(l);
	if (r == 0)
		r = layer_log_pin(n);
	if (r == 0) {
		if (n->logged || n->home)
			log_xattr(l, n, name, name_len, value, size);
		r = log_commit(l, !value);
	}
	if (r < 0) {
		log_abort(l);
		layer_uncharge_bytes(l, charged);
		if (blob)
			blob_free(blob, total);
		return r;
	}
	p = blob;
	if (p && n->xattr_size > cut) {
		uint32_t head = old ? old->at : n->xattr_size;
		uint32_t tail = old ? n->xattr_size - old->next : 0;

		memcpy(p, n->xattrs, head);
		memcpy(p + head, n->xattrs + (n->xattr_size - tail), tail);
		p += head + tail;
	}
	if (p && add) {
		uint16_t nl = (uint16_t)name_len;
		uint32_t vl = (uint32_t)size;

		memcpy(p, &nl, 2);
		memcpy(p + 2, &vl, 4);
		memcpy(p + RECORD_HEAD, name, name_len);
		memcpy(p + RECORD_HEAD + name_len, value, size);
	}
	if (total < n->xattr_size)
		layer_uncharge_bytes(l, n->xattr_size - total);
	if (n->xattrs)
		blob_free(n->xattrs, n->xattr_size);
	n->xattrs = blob;
	n->xattr_size = (uint32_t)total;
	layer_pin(n);
	n->changed = n->xattrs_changed = true;
	lnode_times_now(n, false);
	return 0;
}

int layer_setxattr(struct inode *ino, const char *name, const void *value, size_t size, int flags)
{
	struct lnode *n = lnode_of(ino);
	struct record r;
	bool there;
	int e = name_check(ino, name, true);

	if (e < 0)
		return e;
	if (size > XATTR_VALUE_MAX)
		return -E2BIG;
	e = xattrs_load(n);
	if (e < 0)
		return e;
	there = record_find(n, name, &r);
	if (there && (flags & XATTR_CREATE))
		return -EEXIST;
	if (!there && (!value || (flags & XATTR_REPLACE)))
		return -ENODATA;
	return apply_xattr(n, there ? &r : NULL, name, value, size);
}

int lnode_set_xattr(struct lnode *n, const char *name, const void *value, size_t size)
{
	struct record r;
	bool there;

	if (name_check(&n->inode, name, true) < 0 || size > XATTR_VALUE_MAX || xattrs_load(n) < 0)
		return -EINVAL;
	there = record_find(n, name, &r);
	return there || value ? apply_xattr(n, there ? &r : NULL, name, value, size) : 0;
}

void lnode_clear_xattrs(struct lnode *n)
{
	layer_uncharge_bytes(layer_of(n), n->xattr_size);
	if (n->xattrs)
		blob_free(n->xattrs, n->xattr_size);
	n->xattrs = NULL;
	n->xattr_size = 0;
	n->xattrs_below = false;
	n->changed = n->xattrs_changed = true;
}

void lnode_xattrs(struct lnode *n,
		  void (*fn)(void *arg, const char *name, size_t name_len, const char *value,
			     size_t size),
		  void *arg)
{
	struct record r;

	for (uint32_t at = 0; record_read(n, at, &r); at = r.next)
		fn(arg, r.name, r.name_len, r.value, r.value_len);
}

int layer_listxattr(struct inode *ino, char *buf, size_t size)
{
	struct lnode *n = lnode_of(ino);
	struct record r;
	size_t total = 0;
	int e = xattrs_load(n);

	if (e < 0)
		return e;
	for (uint32_t at = 0; record_read(n, at, &r); at = r.next) {
		if (buf && size) {
			if (total + r.name_len + 1 > size)
				return -ERANGE;
			memcpy(buf + total, r.name, r.name_len);
			buf[total + r.name_len] = '\0';
		}
		total += (size_t)r.name_len + 1;
	}
	return (int)total;
}
