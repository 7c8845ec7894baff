/* The index of an image, as its reader in the kernel uses it: open, walk every node, entry, link, attribute and object, and the
 * configuration; look names up; check the whole. */
/* objects: src/store/index.c src/store/config.c */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "store/config.h"
#include "store/index.h"

const char fuzz_name[] = "index";
const size_t fuzz_max = 8192;

static volatile uint64_t sum; /* every byte that is pointed to is read */

void fuzz_init(void)
{
}

static void bytes_use(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += ((const uint8_t *)p)[i];
}

static void dir_use(const struct index *ix, uint32_t n)
{
	struct index_entry e;
	uint32_t node, at;

	for (uint32_t i = 0; i < 1000 && index_entry(ix, n, i, &e) == 0; i++) {
		bytes_use(e.name, e.len);
		FUZZ_CHECK(e.len >= 1 && e.len <= INDEX_NAME_MAX);
		if (index_lookup(ix, n, e.name, e.len, &node, &at) == 0)
			FUZZ_CHECK(node < ix->h.nodes.count);
	}
	(void)!index_lookup(ix, n, "name", 4, &node, NULL);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static uint32_t scratch[4096];
	struct index_object o;
	struct index_node in;
	struct config_item item;
	struct index ix;
	const char *text, *why = NULL;
	const void *config;
	size_t len, at = 0;
	uint32_t n;

	/* Aligned as a mapping is. */
	if ((uintptr_t)data % 8 || index_open(data, size, &ix) < 0)
		return;
	for (uint32_t i = 0; i < MIN(ix.h.nodes.count, 2000ul) + 2; i++) {
		struct index_xattr x = { 0 };

		if (index_node(&ix, i, &in) < 0)
			continue;
		if (S_ISDIR(in.mode))
			dir_use(&ix, i);
		if (index_link_text(&ix, i, &text, &n) == 0)
			bytes_use(text, n);
		for (int k = 0; k < 1000 && index_xattr(&ix, i, &x) == 0; k++) {
			bytes_use(x.name, x.name_len);
			bytes_use(x.value, x.value_len);
		}
	}
	for (uint64_t i = 0; i < 100; i++)
		if (index_object(&ix, i, &o) == 0)
			sum += o.size;
	config = index_config(&ix, &len);
	while (config_next(config, len, &at, &item) == 0) {
		bytes_use(item.value, item.len);
		sum += config_tag_name(item.tag) != NULL;
	}
	if (ix.h.nodes.count <= ARRAY_LEN(scratch))
		FUZZ_CHECK(index_check(&ix, scratch, &why) == 0 || why);
}
