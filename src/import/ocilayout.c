/* An image as an OCI layout: one layer, a configuration and what leads to them. All of it follows
 * from the image, so the same image gives the same files. */
#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/export.h"
#include "import/hash.h"
#include "import/verbs.h"
#include "store/files.h"
#include "store/config.h"

#define TIME "1980-01-02T00:00:00Z"

struct blob {
	char hash[HASH_TEXT];
	uint64_t size;
};

struct layer_out {
	int fd;
	struct hash hash;
	uint64_t size;
};

static int write_failed(struct err *e)
{
	return err_set(e, ERR_FAILED, "cannot write the layout: %s", strerror(errno));
}

static ssize_t layer_write(struct archive *a, void *data, const void *block, size_t n)
{
	struct layer_out *out = data;
	ssize_t done = write(out->fd, block, n);

	if (done < 0) {
		archive_set_error(a, errno, "%s", strerror(errno));
		return -1;
	}
	hash_add(&out->hash, block, (size_t)done);
	out->size += (uint64_t)done;
	return done;
}

static int blob_name(int dir, const char *temporary, const uint8_t hash[INDEX_HASH],
		     struct blob *blob, struct err *e)
{
	char name[HASH_TEXT + 16];

	hash_text(hash, blob->hash);
	snprintf(name, sizeof(name), "blobs/sha256/%s", blob->hash);
	return renameat(dir, temporary, dir, name) < 0 ? write_failed(e) : 0;
}

static int layer_export(const struct image *i, int dir, struct blob *blob, struct err *e)
{
	struct layer_out out = { 0 };
	struct archive *a = archive_write_new();
	uint8_t hash[INDEX_HASH];
	int result;

	out.fd = openat(dir, "blobs/layer", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out.fd < 0) {
		archive_write_free(a);
		return write_failed(e);
	}
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
	blob->size = out.size;
	if (close(out.fd) < 0 && !result)
		result = write_failed(e);
	return result ? result : blob_name(dir, "blobs/layer", hash, blob, e);
}

/* ---- documents ---- */

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

static int text_export_blob(int dir, const char *text, size_t len, struct blob *blob, struct err *e)
{
	uint8_t hash[INDEX_HASH];
	struct hash h;

	hash_init(&h);
	hash_start(&h);
	hash_add(&h, text, len);
	hash_end(&h, hash);
	hash_fini(&h);
	blob->size = len;
	if (text_export(dir, "blobs/text", text, len, e) < 0)
		return -1;
	return blob_name(dir, "blobs/text", hash, blob, e);
}

/* What a tag is called in an OCI configuration, and whether its values are keys of an object. */
static const struct {
	uint32_t tag;
	const char *key;
	enum { ONE, LIST, KEYS, PAIRS } form;
} members[] = {
	{ CONFIG_ENTRYPOINT, "Entrypoint", LIST },
	{ CONFIG_CMD, "Cmd", LIST },
	{ CONFIG_ENV, "Env", LIST },
	{ CONFIG_USER, "User", ONE },
	{ CONFIG_WORKDIR, "WorkingDir", ONE },
	{ CONFIG_LABEL, "Labels", PAIRS },
	{ CONFIG_PORT, "ExposedPorts", KEYS },
	{ CONFIG_VOLUME, "Volumes", KEYS },
	{ CONFIG_STOP_SIGNAL, "StopSignal", ONE },
};

static void member_write(FILE *f, const struct config_item *item, unsigned form)
{
	const char *equal = memchr(item->value, '=', item->len);
	size_t key = form == PAIRS && equal ? (size_t)(equal - item->value) : item->len;

	json_bytes(f, item->value, key);
	if (form == KEYS)
		fputs(":{}", f);
	if (form == PAIRS) {
		fputc(':', f);
		json_bytes(f, equal ? equal + 1 : "", equal ? item->len - key - 1 : 0);
	}
}

/* All values of one tag; false when there are none. */
static bool members_write(FILE *f, const struct image *i, unsigned m, bool first)
{
	static const char *const starts[] = { "", "[", "{", "{" }, *const ends[] = { "", "]", "}",
										     "}" };
	struct config_item item;
	size_t len, at = 0;
	const void *config = index_config(&i->ix, &len);
	bool any = false;

	while (!config_next(config, len, &at, &item)) {
		if (item.tag != members[m].tag)
			continue;
		if (any)
			fputc(',', f);
		else
			fprintf(f, "%s\"%s\":%s", first ? "" : ",", members[m].key,
				starts[members[m].form]);
		any = true;
		member_write(f, &item, members[m].form);
	}
	if (any)
		fputs(ends[members[m].form], f);
	return any;
}

static void value_write(FILE *f, const struct image *i, uint32_t tag, const char *otherwise)
{
	struct config_item item;
	size_t len, at = 0;
	const void *config = index_config(&i->ix, &len);

	while (!config_next(config, len, &at, &item))
		if (item.tag == tag) {
			json_bytes(f, item.value, item.len);
			return;
		}
	json_bytes(f, otherwise, strlen(otherwise));
}

static void config_write(FILE *f, const struct image *i, const struct blob *layer)
{
	bool any = false;

	fputs("{\"architecture\":", f);
	value_write(f, i, CONFIG_ARCH, "amd64");
	fputs(",\"os\":", f);
	value_write(f, i, CONFIG_OS, "linux");
	fputs(",\"created\":\"" TIME "\",\"config\":{", f);
	for (unsigned m = 0; m < ARRAY_LEN(members); m++)
		any |= members_write(f, i, m, !any);
	fprintf(f, "},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:%s\"]}}", layer->hash);
}

static int documents_export(const struct image *i, int dir, const char *ref,
			    const struct blob *layer, struct err *e)
{
	static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	struct blob config, manifest;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int result;

	if (!f)
		return err_set(e, ERR_FAILED, "out of memory");
	config_write(f, i, layer);
	fflush(f);
	result = text_export_blob(dir, text, len, &config, e);
	rewind(f);
	if (!result) {
		fprintf(f,
			"{\"schemaVersion\":2,\"mediaType\":\"application/"
			"vnd.oci.image.manifest.v1+json\","
			"\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\","
			"\"digest\":\"sha256:%s\",\"size\":%llu},"
			"\"layers\":[{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\","
			"\"digest\":\"sha256:%s\",\"size\":%llu}]}",
			config.hash, (unsigned long long)config.size, layer->hash,
			(unsigned long long)layer->size);
		fflush(f);
		result = text_export_blob(dir, text, len, &manifest, e);
		rewind(f);
	}
	if (!result) {
		fprintf(f,
			"{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"application/"
			"vnd.oci.image.manifest.v1+json\",\"digest\":\"sha256:%s\",\"size\":%llu",
			manifest.hash, (unsigned long long)manifest.size);
		if (ref) {
			fputs(",\"annotations\":{\"org.opencontainers.image.ref.name\":", f);
			json_bytes(f, ref, strlen(ref));
			fputs("}", f);
		}
		fputs("}]}", f);
		fflush(f);
		result = text_export(dir, "index.json", text, len, e);
	}
	if (!result)
		result = text_export(dir, "oci-layout", layout, sizeof(layout) - 1, e);
	fclose(f);
	free(text);
	return result;
}

int image_export_oci(const struct image *i, const char *path, const char *ref, struct err *e)
{
	struct blob layer;
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
		result = layer_export(i, dir, &layer, e);
	if (!result)
		result = documents_export(i, dir, ref, &layer, e);
	if (dir >= 0)
		close(dir);
	if (result < 0)
		tree_remove(AT_FDCWD, path);
	return result;
}
