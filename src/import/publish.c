/* From a tree and its objects to an image: the index, the links, the sync and the rename. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "import/import.h"
#include "import/progress.h"

/* ---- configuration ---- */

struct config_value {
	enum config_tag tag;
	uint32_t len;
	size_t order;
	char *value;
};

void config_add(struct config_list *c, enum config_tag tag, const char *value, size_t len)
{
	struct config_value *v;

	/* An empty argument means something, any other empty value does not. */
	if (memchr(value, '\0', len) || len > CONFIG_VALUE_MAX ||
	    (!len && tag != CONFIG_ENTRYPOINT && tag != CONFIG_CMD))
		return;
	v = buf_more(&c->items, sizeof(*v));
	v->tag = tag;
	v->len = (uint32_t)len;
	v->order = BUF_COUNT(&c->items, struct config_value);
	v->value = xstrndup(value, len);
}

void config_clear(struct config_list *c)
{
	for (size_t i = 0; i < BUF_COUNT(&c->items, struct config_value); i++)
		free(BUF_ITEM(&c->items, struct config_value, i)->value);
	buf_free(&c->items);
}

static int config_compare(const void *a, const void *b)
{
	const struct config_value *x = a, *y = b;
	int c = 0;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->tag == CONFIG_LABEL || x->tag == CONFIG_PORT || x->tag == CONFIG_VOLUME)
		c = strcmp(x->value, y->value);
	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void config_write(struct config_list *c, struct buf *out)
{
	size_t n = BUF_COUNT(&c->items, struct config_value);

	if (n)
		qsort(c->items.p, n, sizeof(struct config_value), config_compare);
	for (size_t i = 0; i < n; i++) {
		const struct config_value *v = BUF_ITEM(&c->items, struct config_value, i);
		uint32_t head[2] = { v->tag, v->len };

		buf_add(out, head, sizeof(head));
		buf_add(out, v->value, v->len);
		buf_more(out, -out->len & 7);
	}
}

/* ---- the index ---- */

struct writer {
	int fd;
	struct hash hash;
	uint8_t *block;
	size_t len;
	uint64_t at;
	bool failed;
};

#define BLOCK (1u << 20)

static void writer_flush(struct writer *w)
{
	size_t done = 0;

	while (done < w->len && !w->failed) {
		ssize_t n = write(w->fd, w->block + done, w->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		w->failed = n <= 0;
		done += n > 0 ? (size_t)n : 0;
	}
	hash_add(&w->hash, w->block, w->len);
	w->len = 0;
}

static void writer_add(struct writer *w, const void *data, size_t n)
{
	const uint8_t *p = data;

	w->at += n;
	while (n) {
		size_t part = MIN(n, BLOCK - w->len);

		memcpy(w->block + w->len, p, part);
		w->len += part;
		p += part;
		n -= part;
		if (w->len == BLOCK)
			writer_flush(w);
	}
}

static void writer_align(struct writer *w)
{
	static const uint8_t zeros[8];

	writer_add(w, zeros, -w->at & 7);
}

static uint64_t table_place(struct index_table *t, uint64_t at, uint64_t count, uint64_t item)
{
	t->offset = at;
	t->count = count;
	return ALIGN_UP(at + count * item, (uint64_t)8);
}

/* Objects by their number in the index, in the order of first use. */
struct numbering {
	uint32_t *objects; /* by number in the index: number of import */
	uint32_t *numbers; /* the other way */
	uint32_t n;
};

static void objects_number(struct import *im, struct numbering *nb)
{
	size_t n = BUF_COUNT(&im->objects.list, struct index_object);

	nb->objects = xalloc(n * sizeof(uint32_t));
	nb->numbers = xalloc(n * sizeof(uint32_t));
	memset(nb->numbers, 0xff, n * sizeof(uint32_t));
	nb->n = 0;
	for (uint32_t i = 0; i < im->tree.nordered; i++) {
		const struct tree_node *node = tree_node(&im->tree, im->tree.order[i]);

		if (!S_ISREG(node->mode) || !node->a || nb->numbers[node->a - 1] != OBJECT_NONE)
			continue;
		nb->numbers[node->a - 1] = nb->n;
		nb->objects[nb->n++] = (uint32_t)node->a - 1;
	}
}

static uint32_t xattrs_length(const struct tree *t, const struct tree_node *node)
{
	uint32_t total;

	if (!node->xattr)
		return 0;
	memcpy(&total, t->xattrs.p + (node->xattr - 1ull) * 8, sizeof(total));
	return total + (uint32_t)sizeof(total);
}

static void nodes_write(struct import *im, struct writer *w, const struct numbering *nb,
			uint64_t names)
{
	struct tree *t = &im->tree;
	uint64_t link = names, xattr = 0;

	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct tree_node *n = tree_node(t, t->order[i]);
		struct index_node out = { .mode = n->mode,
					  .uid = n->uid,
					  .gid = n->gid,
					  .nlink = n->nlink,
					  .size = n->size,
					  .a = n->a };

		if (S_ISDIR(n->mode)) {
			out.size = 0;
			out.a = n->first;
			out.b = n->b;
			out.parent = tree_node(t, n->parent)->number;
		} else if (S_ISLNK(n->mode)) {
			out.a = link;
			out.b = n->b;
			link += n->b;
		} else if (S_ISREG(n->mode) && n->a) {
			out.a = nb->numbers[n->a - 1] + 1ull;
		}
		if (n->xattr) {
			out.xattr = (uint32_t)(xattr / 8 + 1);
			xattr += ALIGN_UP(xattrs_length(t, n), 8u);
		}
		writer_add(w, &out, sizeof(out));
	}
}

static void tables_write(struct import *im, struct writer *w, const struct numbering *nb,
			 const struct buf *config)
{
	const struct tree *t = &im->tree;
	uint64_t name = 0;

	for (uint32_t i = 0; i < t->nsorted; i++) {
		const struct tree_entry *e = BUF_ITEM(&t->entries, struct tree_entry, t->sorted[i]);
		const struct tree_node *n = tree_node(t, e->node);
		struct index_dirent out = { .name = (uint32_t)name,
					    .len = (uint16_t)e->len,
					    .dtype = (uint16_t)(n->mode >> 12),
					    .node = n->number };

		name += e->len;
		writer_add(w, &out, sizeof(out));
	}
	for (uint32_t i = 0; i < nb->n; i++)
		writer_add(w, BUF_ITEM(&im->objects.list, struct index_object, nb->objects[i]),
			   sizeof(struct index_object));
	for (uint32_t i = 0; i < t->nsorted; i++) {
		const struct tree_entry *e = BUF_ITEM(&t->entries, struct tree_entry, t->sorted[i]);

		writer_add(w, t->text.p + e->name, e->len);
	}
	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct tree_node *n = tree_node(t, t->order[i]);

		if (S_ISLNK(n->mode))
			writer_add(w, t->text.p + n->a, n->b);
	}
	writer_align(w);
	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct tree_node *n = tree_node(t, t->order[i]);

		if (!n->xattr)
			continue;
		writer_add(w, t->xattrs.p + (n->xattr - 1ull) * 8, xattrs_length(t, n));
		writer_align(w);
	}
	writer_add(w, config->p, config->len);
}

/* Writes "index" into dir. */
static int index_write(struct import *im, int dir, const struct numbering *nb,
		       uint8_t hash[INDEX_HASH], struct err *e)
{
	const struct tree *t = &im->tree;
	struct index_header h = { .magic = INDEX_MAGIC,
				  .version = INDEX_VERSION,
				  .time = INDEX_TIME };
	uint64_t names = 0, links = 0, xattrs = 0, at = sizeof(h);
	struct buf config = { 0 };
	struct writer w = { 0 };

	for (uint32_t i = 0; i < t->nsorted; i++)
		names += BUF_ITEM(&t->entries, struct tree_entry, t->sorted[i])->len;
	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct tree_node *n = tree_node(t, t->order[i]);

		if (S_ISLNK(n->mode))
			links += n->b;
		xattrs += ALIGN_UP((uint64_t)xattrs_length(t, n), (uint64_t)8);
	}
	if (names + links > UINT32_MAX)
		return err_set(e, ERR_FAILED, "more than 4 GiB of names");
	config_write(&im->config, &config);
	at = table_place(&h.nodes, at, t->nordered, sizeof(struct index_node));
	at = table_place(&h.dirents, at, t->nsorted, sizeof(struct index_dirent));
	at = table_place(&h.objects, at, nb->n, sizeof(struct index_object));
	at = table_place(&h.strings, at, names + links, 1);
	at = table_place(&h.xattrs, at, xattrs, 1);
	h.file_size = table_place(&h.config, at, config.len, 1);

	w.fd = openat(dir, "index", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (w.fd < 0) {
		buf_free(&config);
		return err_set(e, ERR_FAILED, "cannot write the index: %s", strerror(errno));
	}
	w.block = xalloc(BLOCK);
	hash_init(&w.hash);
	hash_start(&w.hash);
	writer_add(&w, &h, sizeof(h));
	nodes_write(im, &w, nb, names);
	tables_write(im, &w, nb, &config);
	writer_flush(&w);
	hash_end(&w.hash, hash);
	hash_fini(&w.hash);
	free(w.block);
	buf_free(&config);
	if (close(w.fd) < 0 || w.failed)
		return err_set(e, ERR_FAILED, "cannot write the index: %s", strerror(errno));
	return 0;
}

/* ---- the image ---- */

static int objects_link(struct import *im, int dir, const struct numbering *nb, struct err *e)
{
	char path[INDEX_OBJECT_PATH];

	if (nb->n && mkdirat(dir, "o", 0755) < 0)
		return err_set(e, ERR_FAILED, "cannot make a directory: %s", strerror(errno));
	for (unsigned i = 0; i < MIN(nb->n, 256u); i++) {
		snprintf(path, sizeof(path), "o/%02x", i);
		if (mkdirat(dir, path, 0755) < 0)
			return err_set(e, ERR_FAILED, "cannot make a directory: %s",
				       strerror(errno));
	}
	for (uint32_t i = 0; i < nb->n; i++) {
		if (interrupted())
			return err_set(e, ERR_FAILED, "interrupted");
		index_object_path(i, path);
		if (object_link(&im->objects, nb->objects[i], dir, path, e) < 0)
			return -1;
		progress_show();
	}
	return 0;
}

/* Whether the image that is there is what we made: its index by its hash, its links by the sizes of
 * their objects. What is in those is for 'viv image verify' to say. */
static bool image_is_whole(const struct import *im, int dir, const struct numbering *nb,
			   const uint8_t want[INDEX_HASH])
{
	uint8_t got[INDEX_HASH];
	char path[INDEX_OBJECT_PATH];
	struct stat st;
	int fd = openat(dir, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool whole = fd >= 0 && hash_file(fd, got, NULL) == 0 && !memcmp(got, want, INDEX_HASH);

	if (fd >= 0)
		close(fd);
	for (uint32_t i = 0; whole && i < nb->n; i++) {
		const struct index_object *object =
			BUF_ITEM(&im->objects.list, struct index_object, nb->objects[i]);

		index_object_path(i, path);
		whole = fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
			(uint64_t)st.st_size == object->size;
	}
	return whole;
}

/* Whether the image is there already; held then. One that is damaged is taken away. */
static int image_is_there(struct import *im, const char *hash, const struct numbering *nb,
			  const uint8_t digest[INDEX_HASH], bool *ret, struct err *e)
{
	im->held = image_hold(im->store, hash, e);
	*ret = im->held >= 0 && image_is_whole(im, im->held, nb, digest);
	if (*ret || im->held < 0)
		return 0;
	close(im->held);
	im->held = -1;
	if (image_remove(im->store, hash, e) < 0 && e->kind != ERR_NOT_FOUND)
		return err_wrap(e, "the image is in the store and damaged, and cannot be replaced");
	return 0;
}

void image_unpublish(struct import *im, const char *hash)
{
	struct err ignored;

	if (!im->made)
		return;
	if (im->held >= 0) {
		flock(im->held, LOCK_UN); /* there may be another descriptor of it */
		close(im->held);
	}
	im->held = -1;
	im->published = false;
	image_remove(im->store, hash, &ignored);
}

/* Gives the finished directory its name, or finds that another import was faster; held in both
 * cases. */
static int image_show(struct import *im, int dir, const char *hash, struct err *e)
{
	const struct timespec moment = { .tv_nsec = 5 * 1000 * 1000 };
	char path[HASH_TEXT + 16], from[128];
	struct err why;

	snprintf(path, sizeof(path), "images/%s", hash);
	snprintf(from, sizeof(from), "%s/image", im->work.name);
	while (!interrupted()) {
		if (flock(dir, LOCK_SH | LOCK_NB) == 0 &&
		    renameat(im->store->fd, from, im->store->fd, path) == 0) {
			im->held = dup(dir);
			im->made = true;
			return 0;
		}
		if (errno != EEXIST && errno != ENOTEMPTY)
			return err_set(e, ERR_FAILED, "cannot write to '%s/images': %s",
				       im->store->path, strerror(errno));
		im->held = image_hold(im->store, hash, &why);
		if (im->held >= 0)
			return 0;
		nanosleep(&moment, NULL); /* the other one is being removed */
	}
	return err_set(e, ERR_FAILED, "interrupted");
}

static int image_build(struct import *im, int dir, const struct numbering *nb, char hash[HASH_TEXT],
		       struct err *e)
{
	uint8_t digest[INDEX_HASH];
	bool there;
	int images = store_dir(im->store, "images");

	if (images < 0)
		return err_set(e, ERR_FAILED, "cannot make '%s/images': %s", im->store->path,
			       strerror(errno));
	if (index_write(im, dir, nb, digest, e) < 0)
		goto out_failed;
	hash_text(digest, hash);
	if (image_is_there(im, hash, nb, digest, &there, e) < 0)
		goto out_failed;
	if (there)
		goto out; /* from content to name, all is the same */
	if (objects_link(im, dir, nb, e) < 0)
		goto out_failed;
	/* All contents of all objects, the index and the directories, at once. */
	if (syncfs(im->store->fd) < 0) {
		err_set(e, ERR_FAILED, "cannot write to '%s': %s", im->store->path,
			strerror(errno));
		goto out_failed;
	}
	if (image_show(im, dir, hash, e) < 0)
		goto out_failed;
	if (fsync(images) < 0) {
		err_set(e, ERR_FAILED, "cannot write to '%s/images': %s", im->store->path,
			strerror(errno));
		image_unpublish(im, hash);
		goto out_failed;
	}
out:
	close(images);
	return 0;
out_failed:
	close(images);
	return -1;
}

int image_publish(struct import *im, char hash[HASH_TEXT], struct err *e)
{
	struct numbering nb = { 0 };
	int dir, result;

	if (import_pycs_check(im, e) < 0)
		return -1;
	tree_order(&im->tree);
	objects_number(im, &nb);
	if (mkdirat(im->work.fd, "image", 0755) < 0 ||
	    (dir = openat(im->work.fd, "image", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		result = err_set(e, ERR_FAILED, "cannot make a directory: %s", strerror(errno));
	} else {
		result = image_build(im, dir, &nb, hash, e);
		/* Contents that a later entry or layer took away are in no image. */
		im->published =
			!result && nb.n == BUF_COUNT(&im->objects.list, struct index_object);
		close(dir);
	}
	free(nb.objects);
	free(nb.numbers);
	return result;
}
