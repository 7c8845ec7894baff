/* The importer of tar archives: the input is an archive, plain or compressed, or (by the first
 * byte) a layer over a small tree, or a container image. What is accepted must become an image
 * whose index passes the whole check, and must not leave anything in tmp. */
/* objects: src/import/import.c src/import/fromtar.c src/import/gunzip.c src/import/container.c src/import/parts.c src/base/json.c src/import/tree.c src/import/order.c src/import/object.c src/import/publish.c src/import/pyc.c src/base/buf.c src/import/hash.c src/import/progress.c src/store/config.c src/store/files.c src/store/image.c src/store/index.c src/store/store.c src/store/tags.c src/store/work.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c src/base/bar.c */
/* libraries: -larchive -lcrypto -lz */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "import/import.h"
#include "store/files.h"

const char fuzz_name[] = "import";
const size_t fuzz_max = 65536;

static struct store store;

void fuzz_init(void)
{
	char dir[4096];
	const char *tmp = getenv("TMPDIR");
	struct err e;

	snprintf(dir, sizeof(dir), "%s/fuzz-import.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || setenv("XDG_DATA_HOME", dir, 1) || store_open(&store, &e) < 0)
		exit(2);
}

static int archive_fd(const void *data, size_t size)
{
	int fd = memfd_create("archive", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) < 0)
		exit(2);
	return fd;
}

/* d/, d/f, d/e/g, l -> d */
static void lower_put(struct import *im)
{
	const struct tree_attr dir = { .mode = 0040755 }, file = { .mode = 0100644 };
	const struct tree_attr link = { .mode = 0120777, .link = "d" };
	struct err e;
	uint32_t d = tree_put(&im->tree, TREE_ROOT, "d", 1, &dir, &e);
	uint32_t below = tree_put(&im->tree, d, "e", 1, &dir, &e);

	FUZZ_CHECK(tree_put(&im->tree, d, "f", 1, &file, &e) != TREE_NONE);
	FUZZ_CHECK(tree_put(&im->tree, below, "g", 1, &file, &e) != TREE_NONE);
	FUZZ_CHECK(tree_put(&im->tree, TREE_ROOT, "l", 1, &link, &e) != TREE_NONE);
	im->tree.layer = 1;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	const struct import_options o = { .max_size = 1 << 20, .max_entries = 1000, .quiet = true };
	struct tar_source src = { .shown = "input" };
	char hash[HASH_TEXT];
	struct import im;
	struct image image;
	struct err e;
	int result;

	if (!size)
		return;
	src.layer = data[0] & 1;
	src.strict = !(data[0] & 2);
	src.detect = data[0] & 4;
	src.fd = archive_fd(data + 1, size - 1);
	FUZZ_CHECK(import_init(&im, &store, &o, &e) == 0);
	if (src.layer)
		lower_put(&im);
	result = import_tar(&im, &src, &e);
	if (!result)
		result = image_publish(&im, hash, &e);
	import_fini(&im);
	close(src.fd);
	if (result) {
		FUZZ_CHECK(e.message[0]);
		return;
	}
	FUZZ_CHECK(image_open(&store, hash, &image, &e) == 0);
	{
		uint32_t *scratch = xalloc(image.ix.h.nodes.count * sizeof(uint32_t));

		FUZZ_CHECK(index_check(&image.ix, scratch, NULL) == 0);
		free(scratch);
	}
	image_close(&image);
	FUZZ_CHECK(image_remove(&store, hash, &e) == 0);
	result = tree_remove(store.fd, "objects");
	FUZZ_CHECK(!result || result == -ENOENT);
}
