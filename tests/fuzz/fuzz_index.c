/* The reader of an image's index, as a kernel uses it: everything that can be asked is asked of
 * whatever opens. What passes the whole check must answer every question. */
/* objects: src/store/index.c src/store/config.c */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "store/config.h"
#include "store/index.h"

const char fuzz_name[] = "index";
const size_t fuzz_max = 4096;

#define ASKED 64

static uint64_t sum; /* of all bytes that were returned: they must be there */

void fuzz_init(void)
{
}

static void bytes_use(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += ((const uint8_t *)p)[i];
}

static void directory_use(const struct index *ix, uint32_t n, bool whole)
{
	struct index_entry e;
	uint32_t found, place;
	int err = 0;

	for (uint32_t i = 0; i < ASKED && !err; i++) {
		err = index_entry(ix, n, i, &e);
		if (err)
			break;
		bytes_use(e.name, e.len);
		err = index_lookup(ix, n, e.name, e.len, &found, &place);
		FUZZ_CHECK(!whole || (!err && found == e.node && place == i));
		err = 0;
	}
	FUZZ_CHECK(!whole || !err || err == -ENOENT || err == -ENOTDIR);
}

static void node_use(const struct index *ix, uint32_t n, bool whole)
{
	struct index_node node;
	struct index_xattr x = { 0 };
	const char *text;
	uint32_t len;
	int err = index_node(ix, n, &node);

	FUZZ_CHECK(!whole || !err);
	directory_use(ix, n, whole);
	if (!index_link_text(ix, n, &text, &len))
		bytes_use(text, len);
	for (unsigned i = 0; i < ASKED && !index_xattr(ix, n, &x); i++) {
		bytes_use(x.name, x.name_len);
		bytes_use(x.value, x.value_len);
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	/* A block of exactly this size: the sanitizer sees the first byte behind it. */
	uint8_t *map = malloc(size ? size : 1);
	struct index ix;
	size_t len, at = 0;
	struct config_item item;
	const void *config;
	uint32_t *scratch;
	bool whole;

	if (!map)
		return;
	memcpy(map, data, size);
	/* The size in the header is what a mutation seldom gets right. */
	if (size >= 24)
		memcpy(map + 16, &(uint64_t){ size }, 8);
	if (!index_open(map, size, &ix)) {
		scratch = calloc(ix.h.nodes.count, sizeof(uint32_t));
		whole = scratch && !index_check(&ix, scratch, NULL);
		free(scratch);
		for (uint32_t n = 0; n < MIN(ix.h.nodes.count + 1, ASKED); n++)
			node_use(&ix, n, whole && n < ix.h.nodes.count);
		config = index_config(&ix, &len);
		while (!config_next(config, len, &at, &item))
			bytes_use(item.value, item.len);
	}
	free(map);
}
