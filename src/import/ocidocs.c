/* See ocidocs.h. */
#include "import/ocidocs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/hash.h"
#include "import/verbs.h"
#include "store/config.h"

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
	fputs(",\"created\":\"" OCI_TIME "\",\"config\":{", f);
	for (unsigned m = 0; m < ARRAY_LEN(members); m++)
		any |= members_write(f, i, m, !any);
	fprintf(f, "},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:%s\"]}}", layer->hash);
}

/* What was written to t, which is a blob from here on. */
static void text_end(FILE *f, struct oci_text *t)
{
	uint8_t hash[INDEX_HASH];
	struct hash h;

	if (fclose(f))
		abort();
	hash_init(&h);
	hash_start(&h);
	hash_add(&h, t->p, t->len);
	hash_end(&h, hash);
	hash_fini(&h);
	hash_text(hash, t->blob.hash);
	t->blob.size = t->len;
}

static FILE *text_begin(struct oci_text *t)
{
	FILE *f = open_memstream(&t->p, &t->len);

	if (!f)
		abort();
	return f;
}

static void descriptor_write(FILE *f, const char *type, const struct blob *b)
{
	fprintf(f,
		"{\"mediaType\":\"application/vnd.oci.image.%s\",\"digest\":\"sha256:%s\","
		"\"size\":%llu",
		type, b->hash, (unsigned long long)b->size);
}

void oci_documents_make(const struct image *i, const char *ref, const struct blob *layer,
			struct oci_documents *d)
{
	FILE *f = text_begin(&d->config);

	config_write(f, i, layer);
	text_end(f, &d->config);

	f = text_begin(&d->manifest);
	fputs("{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
	      "\"config\":",
	      f);
	descriptor_write(f, "config.v1+json", &d->config.blob);
	fputs("},\"layers\":[", f);
	descriptor_write(f, "layer.v1.tar", layer);
	fputs("}]}", f);
	text_end(f, &d->manifest);

	f = text_begin(&d->index);
	fputs("{\"schemaVersion\":2,\"manifests\":[", f);
	descriptor_write(f, "manifest.v1+json", &d->manifest.blob);
	if (ref) {
		fputs(",\"annotations\":{\"org.opencontainers.image.ref.name\":", f);
		json_bytes(f, ref, strlen(ref));
		fputs("}", f);
	}
	fputs("}]}", f);
	text_end(f, &d->index);

	f = text_begin(&d->docker);
	fprintf(f, "[{\"Config\":\"blobs/sha256/%s\",\"RepoTags\":[", d->config.blob.hash);
	if (ref) {
		const char *base = strrchr(ref, '/');
		char *name = NULL;

		/* docker wants a tag behind the name. */
		if (asprintf(&name, "%s%s", ref, strchr(base ? base : ref, ':') ? "" : ":latest") <
		    0)
			abort();
		json_bytes(f, name, strlen(name));
		free(name);
	}
	fprintf(f, "],\"Layers\":[\"blobs/sha256/%s\"]}]", layer->hash);
	text_end(f, &d->docker);
}

void oci_documents_free(struct oci_documents *d)
{
	free(d->config.p);
	free(d->manifest.p);
	free(d->index.p);
	free(d->docker.p);
}
