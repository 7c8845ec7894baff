/* Container images as a source: the layers of one image, one over the other, and its configuration.
 *
 * OCI: index.json leads by digest to a manifest (over further indexes), that by digest to the
 * configuration and the layers. Docker: manifest.json names them; the configuration has the digests
 * of the layers when they are not compressed. Every digest is compared before anything is
 * published. Only SHA-256, only linux on this processor. */
#include "import/container.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "import/progress.h"

#define LAYERS_MAX 1000
#define INDEXES_MAX 4

#ifdef __x86_64__
#define ARCH "amd64"
#else
#define ARCH "arm64"
#endif

struct container {
	struct import *im;
	struct parts parts;
	const char *ref;
	bool found; /* the image, so it is one */
};

/* ---- blobs ---- */

static bool digest_parse(const char *digest, uint8_t hash[INDEX_HASH])
{
	return digest && !strncmp(digest, "sha256:", 7) && hash_parse(digest + 7, hash);
}

/* The content of a small part. */
static int part_read(struct container *c, const char *name, const uint8_t *want, struct buf *out,
		     struct err *e)
{
	uint8_t hash[INDEX_HASH];
	struct hash h;
	ssize_t n;
	int fd = parts_open(&c->parts, name, e);

	if (fd < 0)
		return -1;
	do {
		n = read(fd, buf_more(out, 65536), 65536);
		out->len -= 65536 - (size_t)MAX(n, 0);
	} while (n > 0 && out->len <= JSON_MAX);
	close(fd);
	if (n < 0 || out->len > JSON_MAX)
		return err_set(e, ERR_FAILED, "'%.200s' is too large to be read", name);
	if (!want)
		return 0;
	hash_init(&h);
	hash_start(&h);
	hash_add(&h, out->p, out->len);
	hash_end(&h, hash);
	hash_fini(&h);
	if (memcmp(hash, want, INDEX_HASH))
		return err_set(e, ERR_FAILED, "'%.200s' does not have the digest it should have",
			       name);
	return 0;
}

static int json_read(struct container *c, const char *name, const uint8_t *want,
		     struct json_doc *doc, struct err *e)
{
	struct buf text = { 0 };
	int result = part_read(c, name, want, &text, e);

	*doc = (struct json_doc){ 0 };
	if (!result && json_parse(doc, (const char *)text.p, text.len, e) < 0)
		result = err_wrap(e, "'%.200s'", name);
	buf_free(&text);
	return result;
}

/* A document by its descriptor {digest, size}. */
static int blob_json(struct container *c, const struct json *descriptor, struct json_doc *doc,
		     struct err *e)
{
	const char *digest = json_get_text(descriptor, "digest");
	uint8_t want[INDEX_HASH];
	char name[128];

	if (!digest_parse(digest, want))
		return err_set(e, ERR_FAILED, "'%.100s' is not a SHA-256 digest",
			       digest ? digest : "(none)");
	snprintf(name, sizeof(name), "blobs/sha256/%s", digest + 7);
	return json_read(c, name, want, doc, e);
}

/* ---- configuration ---- */

static void texts_add(struct import *im, const struct json *object, const char *key,
		      enum config_tag tag)
{
	const struct json *list = json_get(object, key, JSON_LIST);

	for (const struct json *v = list ? list->first : NULL; v; v = v->next)
		if (v->type == JSON_TEXT)
			config_add(&im->config, tag, v->text, strlen(v->text));
}

static void keys_add(struct import *im, const struct json *object, const char *key,
		     enum config_tag tag)
{
	const struct json *map = json_get(object, key, JSON_OBJECT);

	for (const struct json *v = map ? map->first : NULL; v; v = v->next) {
		char *pair = NULL;

		if (tag != CONFIG_LABEL)
			config_add(&im->config, tag, v->key, strlen(v->key));
		else if (v->type == JSON_TEXT && asprintf(&pair, "%s=%s", v->key, v->text) > 0)
			config_add(&im->config, tag, pair, strlen(pair));
		free(pair);
	}
}

static void text_add(struct import *im, const struct json *object, const char *key,
		     enum config_tag tag)
{
	const char *text = json_get_text(object, key);

	if (text)
		config_add(&im->config, tag, text, strlen(text));
}

static void config_keep(struct import *im, const struct json *root)
{
	const struct json *config = json_get(root, "config", JSON_OBJECT);

	texts_add(im, config, "Entrypoint", CONFIG_ENTRYPOINT);
	texts_add(im, config, "Cmd", CONFIG_CMD);
	texts_add(im, config, "Env", CONFIG_ENV);
	text_add(im, config, "User", CONFIG_USER);
	text_add(im, config, "WorkingDir", CONFIG_WORKDIR);
	keys_add(im, config, "Labels", CONFIG_LABEL);
	keys_add(im, config, "ExposedPorts", CONFIG_PORT);
	keys_add(im, config, "Volumes", CONFIG_VOLUME);
	text_add(im, config, "StopSignal", CONFIG_STOP_SIGNAL);
	text_add(im, root, "os", CONFIG_OS);
	text_add(im, root, "architecture", CONFIG_ARCH);
}

static int platform_check(const struct json *root, struct err *e)
{
	const char *os = json_get_text(root, "os"), *arch = json_get_text(root, "architecture");

	if ((!os || !*os || !strcmp(os, "linux")) && (!arch || !*arch || !strcmp(arch, ARCH)))
		return 0;
	return err_set(e, ERR_FAILED, "it is an image for %s/%s, not for linux/%s", os ? os : "?",
		       arch ? arch : "?", ARCH);
}

/* ---- layers ---- */

/* The hash of a layer without its compression. */
static int diff_hash(int fd, uint8_t hash[INDEX_HASH], struct err *e)
{
	struct archive *a = archive_read_new();
	struct archive_entry *ae;
	struct hash h;
	int r = ARCHIVE_FATAL;

	hash_init(&h);
	hash_start(&h);
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_fd(a, fd, 1 << 20) == ARCHIVE_OK &&
	    archive_read_next_header(a, &ae) == ARCHIVE_OK) {
		const void *data;
		int64_t at;
		size_t n;

		while ((r = archive_read_data_block(a, &data, &n, &at)) == ARCHIVE_OK &&
		       !interrupted()) {
			hash_add(&h, data, n);
			progress_show();
		}
	}
	hash_end(&h, hash);
	hash_fini(&h);
	if (r != ARCHIVE_EOF)
		err_set(e, ERR_FAILED, "%s",
			interrupted() ? "interrupted" : archive_error_string(a));
	archive_read_free(a);
	return r == ARCHIVE_EOF ? 0 : -1;
}

static bool fd_is_compressed(int fd)
{
	uint8_t magic[6];

	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		return false;
	return !memcmp(magic, "\x1f\x8b", 2) || !memcmp(magic, "\x28\xb5\x2f\xfd", 4) ||
	       !memcmp(magic,
		       "\xfd"
		       "7zXZ",
		       5);
}

/* raw: the digest of the file; diff: that of what is in it. One of them may be NULL. */
static int layer_import(struct container *c, const char *name, const uint8_t *raw,
			const uint8_t *diff, struct err *e)
{
	struct tar_source src = { .shown = name, .layer = true };
	uint8_t hash[INDEX_HASH];
	bool fits = true;
	struct hash h;
	struct stat st;
	int result = 0;

	src.fd = parts_open(&c->parts, name, e);
	if (src.fd < 0)
		return -1;
	if (fstat(src.fd, &st) == 0)
		src.size = (uint64_t)st.st_size;
	hash_init(&h);
	hash_start(&h);
	if (!raw && fd_is_compressed(src.fd)) {
		result = diff_hash(src.fd, hash, e);
		fits = !memcmp(hash, diff, INDEX_HASH);
		lseek(src.fd, 0, SEEK_SET);
	} else {
		src.hash = &h;
	}
	c->im->tree.layer++;
	if (!result && fits)
		result = import_tar(c->im, &src, e);
	if (!result && src.hash) {
		hash_end(&h, hash);
		fits = !memcmp(hash, raw ? raw : diff, INDEX_HASH);
	}
	hash_fini(&h);
	close(src.fd);
	if (result < 0)
		return err_wrap(e, "layer '%.100s'", name);
	if (!fits)
		return err_set(e, ERR_FAILED,
			       "the layer '%.100s' does not have the digest it should have", name);
	return 0;
}

static int layers_count(const struct json *layers, size_t *n, struct err *e)
{
	*n = 0;
	for (const struct json *v = layers ? layers->first : NULL; v; v = v->next)
		++*n;
	if (!layers || *n > LAYERS_MAX)
		return err_set(e, ERR_FAILED, "an image of %zu layers", *n);
	return 0;
}

/* ---- OCI ---- */

static int manifest_import(struct container *c, const struct json *manifest, struct err *e)
{
	const struct json *layers = json_get(manifest, "layers", JSON_LIST);
	struct json_doc config = { 0 };
	size_t n;

	c->found = true;
	if (layers_count(layers, &n, e) < 0 ||
	    blob_json(c, json_get(manifest, "config", JSON_OBJECT), &config, e) < 0)
		return -1;
	if (platform_check(config.root, e) < 0) {
		json_free(&config);
		return -1;
	}
	config_keep(c->im, config.root);
	json_free(&config);
	for (const struct json *v = layers->first; v; v = v->next) {
		const char *digest = json_get_text(v, "digest");
		uint8_t want[INDEX_HASH];
		char name[128];

		if (!digest_parse(digest, want))
			return err_set(e, ERR_FAILED, "a layer without a SHA-256 digest");
		snprintf(name, sizeof(name), "blobs/sha256/%s", digest + 7);
		if (layer_import(c, name, want, NULL, e) < 0)
			return -1;
	}
	return 0;
}

static bool platform_fits(const struct json *descriptor)
{
	const struct json *p = json_get(descriptor, "platform", JSON_OBJECT);
	const char *os = json_get_text(p, "os"), *arch = json_get_text(p, "architecture");

	return (!os || !strcmp(os, "linux")) && (!arch || !strcmp(arch, ARCH));
}

static const char *ref_name(const struct json *descriptor)
{
	return json_get_text(json_get(descriptor, "annotations", JSON_OBJECT),
			     "org.opencontainers.image.ref.name");
}

static bool ref_fits(const struct json *descriptor, const char *ref)
{
	const struct json *a = json_get(descriptor, "annotations", JSON_OBJECT);
	const char *name = ref_name(descriptor);
	const char *full = json_get_text(a, "io.containerd.image.name");

	return !ref || (name && !strcmp(name, ref)) || (full && !strcmp(full, ref));
}

/* Several images: says how many, and the names of the first ones. */
static int choice_failed(unsigned n, const char *names, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "it has %u images" REMEDY "--ref NAME chooses one%s%s", n,
		       *names ? " of " : "", names);
}

static void name_add(char *names, size_t size, const char *name)
{
	size_t len = strlen(names);

	if (name)
		snprintf(names + len, size - len, "%s'%.60s'", len ? ", " : "", name);
}

static bool digest_is(const struct json *a, const struct json *b)
{
	const char *x = json_get_text(a, "digest"), *y = json_get_text(b, "digest");

	return x && y && !strcmp(x, y);
}

/* The descriptor of an index that is meant. top: of index.json, whose entries are different images
 * unless they have one digest; in others they are one image for several platforms, and the first
 * that fits is the one. */
static const struct json *manifest_choose(const struct json *index, const char *ref, bool top,
					  struct err *e)
{
	const struct json *list = json_get(index, "manifests", JSON_LIST), *found = NULL;
	char names[256] = "";
	unsigned n = 0;

	for (const struct json *v = list ? list->first : NULL; v; v = v->next) {
		if (!platform_fits(v) || !ref_fits(v, ref) || (found && digest_is(found, v)))
			continue;
		name_add(names, sizeof(names), ref_name(v));
		if (!n++)
			found = v;
	}
	if (n == 1 || (n && !top))
		return found;
	if (n)
		choice_failed(n, names, e);
	else
		err_set(e, ERR_FAILED,
			ref ? "it has no image '%.100s' for linux/%s"
			    : "it has no image%.0s for linux/%s",
			ref ? ref : "", ARCH);
	return NULL;
}

static int oci_import(struct container *c, struct err *e)
{
	const char *ref = c->ref;
	struct json_doc doc = { 0 };
	int result;

	if (json_read(c, "index.json", NULL, &doc, e) < 0)
		return -1;
	/* An index may lead to another, one for each platform; a manifest has layers. */
	for (unsigned i = 0; i < INDEXES_MAX && !json_get(doc.root, "layers", JSON_LIST); i++) {
		const struct json *chosen = manifest_choose(doc.root, ref, !i, e);
		struct json_doc next = { 0 };

		result = chosen ? blob_json(c, chosen, &next, e) : -1;
		json_free(&doc);
		if (result < 0)
			return -1;
		doc = next;
		ref = NULL;
	}
	result = manifest_import(c, doc.root, e);
	json_free(&doc);
	return result;
}

/* ---- docker ---- */

static bool tags_have(const struct json *image, const char *ref)
{
	const struct json *tags = json_get(image, "RepoTags", JSON_LIST);

	for (const struct json *v = tags ? tags->first : NULL; v; v = v->next)
		if (v->type == JSON_TEXT && !strcmp(v->text, ref))
			return true;
	return false;
}

static int docker_layers(struct container *c, const struct json *layers, const struct json *config,
			 struct err *e)
{
	const struct json *ids =
		json_get(json_get(config, "rootfs", JSON_OBJECT), "diff_ids", JSON_LIST);
	const struct json *id = ids ? ids->first : NULL;
	size_t n;

	if (layers_count(layers, &n, e) < 0)
		return -1;
	for (const struct json *v = layers->first; v; v = v->next) {
		uint8_t want[INDEX_HASH];

		if (v->type != JSON_TEXT || !id || id->type != JSON_TEXT ||
		    !digest_parse(id->text, want))
			return err_set(e, ERR_FAILED, "a layer without a SHA-256 digest");
		if (layer_import(c, v->text, NULL, want, e) < 0)
			return -1;
		id = id->next;
	}
	return id ? err_set(e, ERR_FAILED, "more digests than layers") : 0;
}

static int docker_image(struct container *c, const struct json *image, struct err *e)
{
	const char *name = json_get_text(image, "Config"), *base;
	uint8_t want[INDEX_HASH];
	char digest[HASH_TEXT];
	struct json_doc config = { 0 };
	int result;

	if (!name)
		return err_set(e, ERR_FAILED, "manifest.json names no configuration");
	c->found = true;
	/* Its own hash is its name, with or without sha256: and .json. */
	base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	base += strncmp(base, "sha256:", 7) ? 0 : 7;
	snprintf(digest, sizeof(digest), "%.64s", base);
	if (json_read(c, name, hash_parse(digest, want) ? want : NULL, &config, e) < 0)
		return -1;
	result = platform_check(config.root, e);
	if (!result) {
		config_keep(c->im, config.root);
		result = docker_layers(c, json_get(image, "Layers", JSON_LIST), config.root, e);
	}
	json_free(&config);
	return result;
}

static int docker_import(struct container *c, struct err *e)
{
	const struct json *found = NULL;
	struct json_doc doc = { 0 };
	char names[256] = "";
	unsigned n = 0;
	int result;

	if (json_read(c, "manifest.json", NULL, &doc, e) < 0)
		return -1;
	if (doc.root && doc.root->type == JSON_LIST)
		for (const struct json *v = doc.root->first; v; v = v->next)
			if (!c->ref || tags_have(v, c->ref)) {
				const struct json *tags = json_get(v, "RepoTags", JSON_LIST);

				name_add(names, sizeof(names),
					 tags && tags->first ? tags->first->text : NULL);
				found = v;
				n++;
			}
	if (n == 1)
		result = docker_image(c, found, e);
	else if (!n)
		result = err_set(e, ERR_FAILED, "it has no image%s%.100s", c->ref ? " " : "",
				 c->ref ? c->ref : "");
	else
		result = choice_failed(n, names, e);
	json_free(&doc);
	return result;
}

/* ---- both ---- */

bool layout_is(int dir)
{
	struct stat st;

	return fstatat(dir, "oci-layout", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       fstatat(dir, "index.json", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int import_layout(struct import *im, int dir, const char *ref, bool docker, struct err *e)
{
	struct container c = { .im = im, .ref = ref, .parts = { .dir = dir } };

	return docker ? docker_import(&c, e) : oci_import(&c, e);
}

bool container_is(const char *name)
{
	static const char *const names[] = { "manifest.json", "repositories", "oci-layout",
					     "index.json",    "blobs",	      "blobs/" };
	bool digest;
	size_t hex;

	while (!strncmp(name, "./", 2))
		name += 2;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	if (!strncmp(name, "blobs/sha256", 12))
		return true;
	/* docker and skopeo; then crane, kaniko, ko, and Jib. */
	digest = !strncmp(name, "sha256:", 7);
	name += digest ? 7 : 0;
	hex = strspn(name, "0123456789abcdef");
	name += hex;
	if (hex != 64)
		return false;
	return digest || !strcmp(name, ".json") || !strcmp(name, ".tar") ||
	       !strcmp(name, ".tar.gz") || *name == '/';
}

int import_container(struct import *im, struct archive *a, struct archive_entry *first,
		     const char *ref, struct err *e)
{
	struct container c = { .im = im, .ref = ref };
	int result = parts_unpack(&c.parts, im, a, first, e);

	/* What docker save writes today is both; its manifest.json is the simpler way. */
	if (!result && parts_have(&c.parts, "manifest.json"))
		result = docker_import(&c, e);
	else if (!result && parts_have(&c.parts, "index.json"))
		result = oci_import(&c, e);
	else if (!result)
		result = err_set(e, ERR_FAILED, "it has neither manifest.json nor index.json");
	if (result < 0 && e->kind == ERR_FAILED && !c.found && !interrupted()) {
		err_wrap(e, "it looks like a container image, but is none" REMEDY
			    "--format tar takes it as it is");
	}
	parts_fini(&c.parts);
	return result;
}
