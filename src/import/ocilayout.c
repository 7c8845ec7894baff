/* An image as an OCI layout: one layer, a configuration and what leads to them. All of it follows
 * from the image, so the same image gives the same files.
 *
 * The layout is a directory, or an archive of one. The archive is written as it is made, to a pipe
 * if need be: an entry's name and size come before its content, so the layer is made twice, first
 * only for its digest. With a manifest.json it is what 'docker load' takes as well. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/export.h"
#include "import/hash.h"
#include "import/ocidocs.h"
#include "import/verbs.h"
#include "store/files.h"

#define TIME_SECONDS 315619200 /* OCI_TIME */
#define BLOB_PATH (sizeof("blobs/sha256/") + HASH_TEXT)

/* Where a layer goes: a file, an entry of an archive, or nowhere but into its digest. */
struct layer_out {
	int fd; /* -1: none */
	struct archive *archive; /* NULL: none */
	struct hash hash;
	uint64_t size;
};

static const char layout_text[] = "{\"imageLayoutVersion\":\"1.0.0\"}";

static int write_failed(struct err *e)
{
	return err_set(e, ERR_FAILED, "cannot write the layout: %s", strerror(errno));
}

/* ---- the layer ---- */

static ssize_t layer_write(struct archive *a, void *data, const void *block, size_t n)
{
	struct layer_out *out = data;
	ssize_t done = (ssize_t)n;

	if (out->fd >= 0)
		done = write(out->fd, block, n);
	if (out->archive)
		done = archive_write_data(out->archive, block, n);
	if (done < 0) {
		const char *why = out->archive ? archive_error_string(out->archive) : NULL;

		archive_set_error(a, errno, "%s", why ? why : strerror(errno));
		return -1;
	}
	hash_add(&out->hash, block, (size_t)done);
	out->size += (uint64_t)done;
	return done;
}

static int layer_make(const struct image *i, int fd, struct archive *to, struct blob *blob,
		      struct err *e)
{
	struct layer_out out = { .fd = fd, .archive = to };
	struct archive *a = archive_write_new();
	uint8_t hash[INDEX_HASH];
	int result;

	hash_init(&out.hash);
	hash_start(&out.hash);
	archive_write_set_format_pax_restricted(a);
	archive_write_set_bytes_in_last_block(a, 1);
	if (archive_write_open(a, &out, NULL, layer_write, NULL) != ARCHIVE_OK)
		result = err_set(e, ERR_FAILED, "cannot write the layer");
	else
		result = image_export_tar(i, a, e);
	if (!result && archive_write_close(a) != ARCHIVE_OK)
		result = err_set(e, ERR_FAILED, "cannot write the layer: %s",
				 archive_error_string(a));
	archive_write_free(a);
	hash_end(&out.hash, hash);
	hash_fini(&out.hash);
	hash_text(hash, blob->hash);
	blob->size = out.size;
	return result;
}

static void blob_path(const struct blob *b, char path[BLOB_PATH])
{
	snprintf(path, BLOB_PATH, "blobs/sha256/%s", b->hash);
}

/* ---- as a directory ---- */

static int text_export(int dir, const char *name, const char *text, size_t len, struct err *e)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int result = 0;

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		result = write_failed(e);
	if (fd >= 0 && close(fd) < 0 && !result)
		result = write_failed(e);
	return result;
}

static int text_export_blob(int dir, const struct oci_text *t, struct err *e)
{
	char path[BLOB_PATH];

	blob_path(&t->blob, path);
	return text_export(dir, path, t->p, t->len, e);
}

static int layer_export(const struct image *i, int dir, struct blob *layer, struct err *e)
{
	int fd = openat(dir, "blobs/layer", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), result;
	char path[BLOB_PATH];

	if (fd < 0)
		return write_failed(e);
	result = layer_make(i, fd, NULL, layer, e);
	if (close(fd) < 0 && !result)
		result = write_failed(e);
	if (result)
		return result;
	blob_path(layer, path);
	return renameat(dir, "blobs/layer", dir, path) < 0 ? write_failed(e) : 0;
}

static int layout_export(const struct image *i, int dir, const char *ref, struct err *e)
{
	struct oci_documents d = { 0 };
	struct blob layer;
	int result;

	if (layer_export(i, dir, &layer, e) < 0)
		return -1;
	oci_documents_make(i, ref, &layer, &d);
	result = text_export_blob(dir, &d.config, e);
	if (!result)
		result = text_export_blob(dir, &d.manifest, e);
	if (!result)
		result = text_export(dir, "index.json", d.index.p, d.index.len, e);
	if (!result)
		result = text_export(dir, "oci-layout", layout_text, sizeof(layout_text) - 1, e);
	oci_documents_free(&d);
	return result;
}

int image_export_oci(const struct image *i, const char *path, const char *ref, struct err *e)
{
	int dir, result;

	if (mkdir(path, 0777) < 0)
		return err_set(e, errno == EEXIST ? ERR_CONFLICT : ERR_FAILED,
			       errno == EEXIST ? "'%s' is there already%.0s"
					       : "cannot make '%s': %s",
			       path, strerror(errno));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || mkdirat(dir, "blobs", 0777) < 0 || mkdirat(dir, "blobs/sha256", 0777) < 0)
		result = write_failed(e);
	else
		result = layout_export(i, dir, ref, e);
	if (dir >= 0)
		close(dir);
	if (result < 0)
		tree_remove(AT_FDCWD, path);
	return result;
}

/* ---- as an archive ---- */

static int entry_begin(struct archive *a, const char *path, mode_t mode, uint64_t size,
		       struct err *e)
{
	struct archive_entry *ae = archive_entry_new();
	int result;

	archive_entry_set_pathname(ae, path);
	archive_entry_set_mode(ae, mode);
	archive_entry_set_size(ae, (int64_t)size);
	archive_entry_set_mtime(ae, TIME_SECONDS, 0);
	result = archive_write_header(a, ae);
	archive_entry_free(ae);
	return result < ARCHIVE_WARN ? err_set(e, ERR_FAILED, "cannot write the archive: %s",
					       archive_error_string(a))
				     : 0;
}

static int entry_text(struct archive *a, const char *path, const char *text, size_t len,
		      struct err *e)
{
	if (entry_begin(a, path, S_IFREG | 0644, len, e) < 0)
		return -1;
	if (archive_write_data(a, text, len) != (ssize_t)len)
		return err_set(e, ERR_FAILED, "cannot write the archive: %s",
			       archive_error_string(a));
	return 0;
}

static int entry_blob(struct archive *a, const struct oci_text *t, struct err *e)
{
	char path[BLOB_PATH];

	blob_path(&t->blob, path);
	return entry_text(a, path, t->p, t->len, e);
}

/* The layer once more, which must be the same. */
static int entry_layer(struct archive *a, const struct image *i, const struct blob *layer,
		       struct err *e)
{
	struct blob again;
	char path[BLOB_PATH];

	blob_path(layer, path);
	if (entry_begin(a, path, S_IFREG | 0644, layer->size, e) < 0 ||
	    layer_make(i, -1, a, &again, e) < 0)
		return -1;
	if (again.size != layer->size || strcmp(again.hash, layer->hash) != 0)
		return err_set(e, ERR_FAILED,
			       "the image changed while it was exported" REMEDY
			       "'viv image verify' shows more");
	return 0;
}

int image_export_oci_archive(const struct image *i, struct archive *a, const char *ref,
			     struct err *e)
{
	struct oci_documents d = { 0 };
	struct blob layer;
	int result;

	if (layer_make(i, -1, NULL, &layer, e) < 0)
		return -1;
	oci_documents_make(i, ref, &layer, &d);
	result = entry_text(a, "oci-layout", layout_text, sizeof(layout_text) - 1, e);
	if (!result)
		result = entry_text(a, "index.json", d.index.p, d.index.len, e);
	if (!result)
		result = entry_text(a, "manifest.json", d.docker.p, d.docker.len, e);
	if (!result)
		result = entry_begin(a, "blobs/", S_IFDIR | 0755, 0, e);
	if (!result)
		result = entry_begin(a, "blobs/sha256/", S_IFDIR | 0755, 0, e);
	if (!result)
		result = entry_blob(a, &d.manifest, e);
	if (!result)
		result = entry_blob(a, &d.config, e);
	if (!result)
		result = entry_layer(a, i, &layer, e);
	oci_documents_free(&d);
	return result;
}
