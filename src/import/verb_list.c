/* viv image ls and inspect. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "import/verbs.h"
#include "store/config.h"

struct summary {
	char hash[HASH_TEXT];
	uint64_t files, dirs, links, others; /* regular files, ... */
	uint64_t size; /* of all files, each once */
	uint64_t stored; /* of the objects */
	int64_t imported;
};

static void image_summary(const struct image *i, struct summary *s)
{
	struct index_node node;
	struct index_object object;
	struct stat st;

	memset(s, 0, sizeof(*s));
	strcpy(s->hash, i->hash);
	for (uint32_t n = 0; n < i->ix.h.nodes.count; n++) {
		if (index_node(&i->ix, n, &node))
			continue;
		s->files += S_ISREG(node.mode);
		s->dirs += S_ISDIR(node.mode);
		s->links += S_ISLNK(node.mode);
		s->size += S_ISREG(node.mode) ? node.size : 0;
	}
	s->others = i->ix.h.nodes.count - s->files - s->dirs - s->links;
	for (uint64_t n = 0; n < i->ix.h.objects.count; n++)
		if (!index_object(&i->ix, n, &object))
			s->stored += object.size;
	if (fstat(i->dir, &st) == 0)
		s->imported = st.st_mtime;
}

static void tags_json(const struct tag *tags, size_t n, const char *hash)
{
	bool first = true;

	printf("\"tags\": [");
	for (size_t i = 0; i < n; i++) {
		if (strcmp(tags[i].hash, hash))
			continue;
		if (!first)
			printf(", ");
		first = false;
		json_bytes(stdout, tags[i].name, strlen(tags[i].name));
	}
	printf("]");
}

static void summary_json(const struct summary *s, const struct tag *tags, size_t ntags)
{
	char time[32];

	printf("\"hash\": \"%s\", ", s->hash);
	tags_json(tags, ntags, s->hash);
	printf(", \"files\": %llu, \"directories\": %llu, \"links\": %llu, \"others\": %llu, "
	       "\"size\": %llu, \"stored\": %llu, \"imported\": \"%s\"",
	       (unsigned long long)s->files, (unsigned long long)s->dirs,
	       (unsigned long long)s->links, (unsigned long long)s->others,
	       (unsigned long long)s->size, (unsigned long long)s->stored,
	       time_text(s->imported, time, sizeof(time)));
}

static void summary_line(const struct summary *s, const char *tag)
{
	char size[32], time[32];

	printf("%-28s %.12s %9llu %9s  %s\n", tag, s->hash,
	       (unsigned long long)(s->files + s->dirs + s->links + s->others),
	       size_text(s->size, size, sizeof(size)), time_text(s->imported, time, sizeof(time)));
}

static void image_lines(const struct summary *s, const struct tag *tags, size_t ntags)
{
	bool any = false;

	for (size_t t = 0; t < ntags; t++)
		if (!strcmp(tags[t].hash, s->hash)) {
			summary_line(s, tags[t].name);
			any = true;
		}
	if (!any)
		summary_line(s, "-");
}

int verb_ls(struct store *s, int argc, char **argv)
{
	bool json = false, quiet = false;
	const struct option options[] = { { "json", 0, NULL, &json },
					  { "quiet", 'q', NULL, &quiet } };
	char(*hashes)[HASH_TEXT];
	struct tag *tags;
	size_t n, ntags;
	struct err e;
	int status = 0;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 0, 0) < 0)
		return ERR_USAGE;
	if (image_list(s, &hashes, &n, &e) < 0)
		return report(&e);
	if (tag_list(s, &tags, &ntags, &e) < 0) {
		free(hashes);
		return report(&e);
	}
	if (!json && !quiet)
		printf("%-28s %-12s %9s %9s  %s\n", "TAG", "HASH", "FILES", "SIZE", "IMPORTED");
	for (size_t i = 0; i < n; i++) {
		struct summary sum;
		struct image image;

		if (quiet && !json) {
			printf("%s\n", hashes[i]);
			continue;
		}
		if (image_open(s, hashes[i], &image, &e) < 0) {
			if (e.kind != ERR_NOT_FOUND)
				status = report(&e);
			continue;
		}
		image_summary(&image, &sum);
		image_close(&image);
		if (json) {
			printf("{");
			summary_json(&sum, tags, ntags);
			printf("}\n");
		} else {
			image_lines(&sum, tags, ntags);
		}
	}
	free(hashes);
	free(tags);
	return status;
}

/* ---- inspect ---- */

static bool tag_is_list(uint32_t tag)
{
	return tag != CONFIG_USER && tag != CONFIG_WORKDIR && tag != CONFIG_STOP_SIGNAL &&
	       tag != CONFIG_OS && tag != CONFIG_ARCH;
}

static void label_json(const struct config_item *item)
{
	const char *equal = memchr(item->value, '=', item->len);
	size_t key = equal ? (size_t)(equal - item->value) : item->len;

	json_bytes(stdout, item->value, key);
	printf(": ");
	json_bytes(stdout, equal ? equal + 1 : "", equal ? item->len - key - 1 : 0);
}

static void config_json(const struct image *i)
{
	struct config_item item;
	size_t len, at = 0;
	const void *config = index_config(&i->ix, &len);
	uint32_t open = 0;

	printf("\"config\": {");
	while (!config_next(config, len, &at, &item)) {
		if (item.tag >= CONFIG_TAGS)
			continue;
		if (item.tag == open) {
			printf(", ");
		} else {
			if (open && tag_is_list(open))
				printf("%s", open == CONFIG_LABEL ? "}" : "]");
			printf("%s\"%s\": %s", open ? ", " : "", config_tag_name(item.tag),
			       !tag_is_list(item.tag)	  ? ""
			       : item.tag == CONFIG_LABEL ? "{"
							  : "[");
			open = item.tag;
		}
		if (item.tag == CONFIG_LABEL)
			label_json(&item);
		else
			json_bytes(stdout, item.value, item.len);
	}
	if (open && tag_is_list(open))
		printf("%s", open == CONFIG_LABEL ? "}" : "]");
	printf("}");
}

/* A value of an image goes to a terminal. */
static void shown(const char *text, size_t len)
{
	while (len) {
		unsigned n = text_printable(text, len);

		if (n)
			fwrite(text, 1, n, stdout);
		else
			putchar('?');
		text += n ? n : 1;
		len -= n ? n : 1;
	}
}

static void image_print(const struct image *i, const struct summary *s, const struct tag *tags,
			size_t ntags)
{
	char text[32];
	struct config_item item;
	size_t len, at = 0;
	const void *config = index_config(&i->ix, &len);

	printf("%-14s%s\n", "hash", s->hash);
	for (size_t t = 0; t < ntags; t++)
		if (!strcmp(tags[t].hash, s->hash))
			printf("%-14s%s\n", "tag", tags[t].name);
	printf("%-14s%s\n", "imported", time_text(s->imported, text, sizeof(text)));
	printf("%-14s%llu, %llu directories, %llu symbolic links, %llu others\n", "files",
	       (unsigned long long)s->files, (unsigned long long)s->dirs,
	       (unsigned long long)s->links, (unsigned long long)s->others);
	printf("%-14s%s\n", "size", size_text(s->size, text, sizeof(text)));
	printf("%-14s%s in %llu objects\n", "stored", size_text(s->stored, text, sizeof(text)),
	       (unsigned long long)i->ix.h.objects.count);
	while (!config_next(config, len, &at, &item)) {
		printf("%-14s", config_tag_name(item.tag));
		shown(item.value, item.len);
		printf("\n");
	}
}

int verb_inspect(struct store *s, int argc, char **argv)
{
	bool json = false;
	const struct option options[] = { { "json", 0, NULL, &json } };
	struct summary sum;
	struct image image;
	struct tag *tags;
	size_t ntags;
	struct err e;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1) < 0)
		return ERR_USAGE;
	if (image_open(s, argv[1], &image, &e) < 0)
		return report(&e);
	if (tag_list(s, &tags, &ntags, &e) < 0) {
		image_close(&image);
		return report(&e);
	}
	image_summary(&image, &sum);
	if (json) {
		printf("{");
		summary_json(&sum, tags, ntags);
		printf(", ");
		config_json(&image);
		printf("}\n");
	} else {
		image_print(&image, &sum, tags, ntags);
	}
	free(tags);
	image_close(&image);
	return 0;
}
