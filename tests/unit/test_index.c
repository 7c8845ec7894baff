/* The reader of an image's index: a small tree made by hand, then the same bytes broken in every
 * place. Run with MODE=asan, the second part shows that nothing is read outside of the map. */
/* objects: src/store/index.c src/store/config.c */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/config.h"
#include "store/index.h"
#include "tap.h"

/*   /  0
 *     bin  1
 *       sh  2   (object 0)
 *     empty  3
 *     etc  4
 *       link  5  -> ../bin/sh
 *       null  6  c 1 3
 *     same  2 */
static const char strings[] = "binemptyetcsameshlinknull../bin/sh";
static const struct index_node nodes[] = {
	{ .mode = S_IFDIR | 0755, .nlink = 4, .b = 4 },
	{ .mode = S_IFDIR | 0755, .nlink = 2, .a = 4, .b = 1 },
	{ .mode = S_IFREG | 0755, .nlink = 2, .size = 100, .a = 1, .xattr = 1 },
	{ .mode = S_IFREG | 0644, .nlink = 1, .uid = 7, .gid = 8 },
	{ .mode = S_IFDIR | 0700, .nlink = 2, .a = 5, .b = 2 },
	{ .mode = S_IFLNK | 0777, .nlink = 1, .size = 9, .a = 25, .b = 9 },
	{ .mode = S_IFCHR | 0666, .nlink = 1, .a = 0x103 },
};
static const struct index_dirent dirents[] = {
	{ 0, 3, S_IFDIR >> 12, 1, 0 },	{ 3, 5, S_IFREG >> 12, 3, 0 },
	{ 8, 3, S_IFDIR >> 12, 4, 0 },	{ 11, 4, S_IFREG >> 12, 2, 0 },
	{ 15, 2, S_IFREG >> 12, 2, 0 }, { 17, 4, S_IFLNK >> 12, 5, 0 },
	{ 21, 4, S_IFCHR >> 12, 6, 0 },
};
static const struct index_object objects[] = { { { 1, 2, 3 }, 100 } };

static size_t table(uint8_t *file, size_t at, struct index_table *t, const void *from, size_t item,
		    size_t count)
{
	t->offset = at;
	t->count = count;
	if (count)
		memcpy(file + at, from, item * count);
	return ALIGN_UP(at + item * count, 8);
}

static size_t xattrs_build(uint8_t *to)
{
	static const struct {
		const char *name, *value;
	} list[] = { { "security.capability", "cap" }, { "user.x", "" } };
	size_t at = 4;

	for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
		uint16_t n = (uint16_t)strlen(list[i].name);
		uint32_t v = (uint32_t)strlen(list[i].value);

		memcpy(to + at, &n, 2);
		memcpy(to + at + 2, &v, 4);
		memcpy(to + at + 6, list[i].name, n);
		memcpy(to + at + 6 + n, list[i].value, v);
		at += 6u + n + v;
	}
	memcpy(to, &(uint32_t){ (uint32_t)at - 4 }, 4);
	return at;
}

static size_t config_build(uint8_t *to)
{
	static const struct {
		uint32_t tag;
		const char *value;
	} list[] = { { CONFIG_CMD, "/bin/sh" }, { CONFIG_ENV, "PATH=/bin:/usr/bin" } };
	size_t at = 0;

	for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
		uint32_t head[2] = { list[i].tag, (uint32_t)strlen(list[i].value) };

		memcpy(to + at, head, 8);
		memcpy(to + at + 8, list[i].value, head[1]);
		at = ALIGN_UP(at + 8 + head[1], 8);
	}
	return at;
}

static size_t build(uint8_t *file)
{
	struct index_header h = { .magic = INDEX_MAGIC,
				  .version = INDEX_VERSION,
				  .time = INDEX_TIME };
	uint8_t x[256] = { 0 }, c[256] = { 0 };
	size_t at = sizeof(h);

	memset(file, 0, 4096);
	at = table(file, at, &h.nodes, nodes, sizeof(nodes[0]), ARRAY_LEN(nodes));
	at = table(file, at, &h.dirents, dirents, sizeof(dirents[0]), ARRAY_LEN(dirents));
	at = table(file, at, &h.objects, objects, sizeof(objects[0]), ARRAY_LEN(objects));
	at = table(file, at, &h.strings, strings, 1, sizeof(strings) - 1);
	at = table(file, at, &h.xattrs, x, 1, xattrs_build(x));
	at = table(file, at, &h.config, c, 1, config_build(c));
	h.file_size = at;
	memcpy(file, &h, sizeof(h));
	return at;
}

static uint32_t scratch[64];

static int whole(const uint8_t *file, size_t size, const char **why)
{
	struct index ix;
	int err;

	*why = "open";
	err = index_open(file, size, &ix);
	if (err)
		return err;
	/* A broken count may be larger than the scratch of this test. */
	if (ix.h.nodes.count > ARRAY_LEN(scratch))
		return -EBADMSG;
	return index_check(&ix, scratch, why);
}

static void reading(const uint8_t *file, size_t size)
{
	struct index ix;
	struct index_node node;
	struct index_entry e;
	struct index_xattr x = { 0 };
	struct index_object o;
	struct config_item item;
	const char *text, *why;
	const void *config;
	uint32_t n, i, len;
	size_t at = 0, config_len;
	char path[INDEX_OBJECT_PATH];

	eq(index_open(file, size, &ix), 0, "opens");
	eq(index_check(&ix, scratch, &why), 0, "is whole");
	ok(!index_lookup(&ix, 0, "etc", 3, &n, &i) && n == 4 && i == 2, "finds a directory");
	ok(!index_lookup(&ix, n, "null", 4, &n, NULL) && n == 6, "finds a file in it");
	ok(!index_lookup(&ix, 0, "same", 4, &n, NULL) && n == 2, "a hard link is one node");
	eq(index_lookup(&ix, 0, "et", 2, &n, NULL), -ENOENT, "no part of a name");
	eq(index_lookup(&ix, 0, "etcx", 4, &n, NULL), -ENOENT, "no longer name");
	eq(index_lookup(&ix, 0, "..", 2, &n, NULL), -ENOENT, "no '..'");
	eq(index_lookup(&ix, 0, "", 0, &n, NULL), -ENOENT, "no empty name");
	eq(index_lookup(&ix, 2, "x", 1, &n, NULL), -ENOTDIR, "a file is no directory");
	eq(index_lookup(&ix, 99, "x", 1, &n, NULL), -EBADMSG, "no node of a high number");
	ok(!index_entry(&ix, 4, 1, &e) && e.len == 4 && !memcmp(e.name, "null", 4) && e.node == 6,
	   "entries by number");
	eq(index_entry(&ix, 4, 2, &e), -ENOENT, "the end of a directory");
	ok(!index_node(&ix, 6, &node) && node.a == 0x103, "a device");
	ok(!index_link_text(&ix, 5, &text, &len) && len == 9 && !memcmp(text, "../bin/sh", 9),
	   "the text of a link");
	eq(index_link_text(&ix, 2, &text, &len), -EINVAL, "a file is no link");
	ok(!index_object(&ix, 0, &o) && o.size == 100 && o.hash[2] == 3, "an object");
	eq(index_object(&ix, 1, &o), -EBADMSG, "no object behind the last");
	ok(!index_xattr(&ix, 2, &x) && x.name_len == 19 && x.value_len == 3 &&
		   !memcmp(x.value, "cap", 3),
	   "an attribute");
	ok(!index_xattr(&ix, 2, &x) && x.name_len == 6 && !x.value_len, "an empty attribute");
	eq(index_xattr(&ix, 2, &x), -ENOENT, "the end of the attributes");
	memset(&x, 0, sizeof(x));
	eq(index_xattr(&ix, 3, &x), -ENOENT, "a file without attributes");
	config = index_config(&ix, &config_len);
	ok(!config_next(config, config_len, &at, &item) && item.tag == CONFIG_CMD && item.len == 7,
	   "the configuration");
	ok(!config_next(config, config_len, &at, &item) && item.tag == CONFIG_ENV &&
		   !memcmp(item.value, "PATH=", 5),
	   "its second item");
	eq(config_next(config, config_len, &at, &item), -ENOENT, "its end");
	index_object_path(0, path);
	ok(!strcmp(path, "o/00/0"), "path of object 0");
	index_object_path(0x1a2b, path);
	ok(!strcmp(path, "o/2b/1a2b"), "path of a later object");
}

/* Each of these must be seen by the whole check, with its reason. */
static void one_wrong(uint8_t *good, size_t size, size_t at, uint8_t value, const char *want)
{
	uint8_t *file = malloc(size);
	const char *why = NULL;

	memcpy(file, good, size);
	file[at] = value;
	ok(whole(file, size, &why) == -EBADMSG && !strcmp(why, want), want);
	if (strcmp(why, want))
		printf("# got: %s\n", why);
	free(file);
}

static void wrongs(uint8_t *good, size_t size)
{
	size_t node0 = 128, dirent0 = node0 + sizeof(nodes),
	       string0 = dirent0 + sizeof(dirents) + 40;

#define NODE(n, field) (node0 + (n)*48 + offsetof(struct index_node, field))
#define DIRENT(n, field) (dirent0 + (n)*16 + offsetof(struct index_dirent, field))
	one_wrong(good, size, NODE(3, nlink), 2, "a count of links is wrong");
	one_wrong(good, size, NODE(2, nlink), 1, "a file has more names than links");
	one_wrong(good, size, NODE(0, nlink), 5, "a count of links is wrong");
	one_wrong(good, size, NODE(4, parent), 1, "broken entry");
	one_wrong(good, size, NODE(4, a), 4,
		  "the entries of a directory are not where they belong");
	one_wrong(good, size, DIRENT(1, node), 4, "broken entry");
	one_wrong(good, size, DIRENT(4, node), 3,
		  "nodes are not numbered in the order of the walk");
	one_wrong(good, size, DIRENT(5, node), 0, "broken entry");
	one_wrong(good, size, string0 + 0, 'z', "the names of a directory are not sorted");
	one_wrong(good, size, string0 + 15, '/', "broken entry");
	one_wrong(good, size, string0 + 30, 0, "broken symbolic link");
	one_wrong(good, size, NODE(2, a), 0, "broken entry");
	one_wrong(good, size, NODE(0, mode) + 1, 0x81, "broken root");
}

/* Everything that a kernel does with an index; the results do not matter. */
static unsigned long explore(const uint8_t *file, size_t size)
{
	struct index ix;
	unsigned long sum = 0;

	if (index_open(file, size, &ix))
		return 0;
	for (uint32_t n = 0; n < 10; n++) {
		struct index_node node;
		struct index_entry e;
		struct index_xattr x = { 0 };
		const char *text;
		uint32_t len, found;

		sum += (unsigned long)index_node(&ix, n, &node);
		for (uint32_t i = 0; i < 10 && !index_entry(&ix, n, i, &e); i++)
			for (uint32_t k = 0; k < e.len; k++)
				sum += (uint8_t)e.name[k];
		for (unsigned i = 0; i < ARRAY_LEN(dirents); i++)
			sum += (unsigned long)index_lookup(&ix, n, strings + dirents[i].name,
							   dirents[i].len, &found, NULL);
		if (!index_link_text(&ix, n, &text, &len))
			for (uint32_t k = 0; k < len; k++)
				sum += (uint8_t)text[k];
		for (unsigned i = 0; i < 10 && !index_xattr(&ix, n, &x); i++)
			for (uint32_t k = 0; k < x.value_len; k++)
				sum += ((const uint8_t *)x.value)[k];
	}
	return sum;
}

int main(void)
{
	static const uint8_t values[] = { 0, 1, 2, 0x10, 0x7f, 0x80, 0xff };
	uint8_t *file = malloc(4096), *copy;
	const char *why;
	size_t size = build(file);
	unsigned long sum = 0, refused = 0, tried = 0;

	reading(file, size);
	wrongs(file, size);
	/* A block of exactly that size, so that a sanitizer sees the first byte behind it. */
	copy = malloc(size);
	for (size_t at = 0; at < size; at++)
		for (unsigned v = 0; v < ARRAY_LEN(values); v++) {
			memcpy(copy, file, size);
			copy[at] = values[v];
			sum += explore(copy, size);
			tried++;
			refused += whole(copy, size, &why) != 0;
		}
	free(copy);
	for (size_t cut = 0; cut < size; cut++) {
		copy = malloc(cut ? cut : 1);
		memcpy(copy, file, cut);
		sum += explore(copy, cut);
		tried++;
		refused += whole(copy, cut, &why) != 0;
		/* Cut, and the header says so too: now the tables are short. */
		if (cut >= sizeof(struct index_header)) {
			memcpy(copy + 16, &(uint64_t){ cut }, 8);
			sum += explore(copy, cut);
			refused += whole(copy, cut, &why) != 0;
			tried++;
		}
		free(copy);
	}
	printf("# %lu broken files, %lu refused as a whole (%lx)\n", tried, refused, sum);
	ok(refused > tried / 3, "broken files are refused");
	free(file);
	return tap_end();
}
