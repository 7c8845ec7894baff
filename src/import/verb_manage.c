/* viv image tag, rm and gc. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/progress.h"
#include "import/verbs.h"
#include "store/named.h"

static void gc_waits(void)
{
	progress_warn("waiting for imports to end");
}

static void others_wait(void)
{
	progress_warn("waiting for 'viv image gc' to end");
}

int verb_tag(struct store *s, int argc, char **argv)
{
	char hash[HASH_TEXT];
	struct err e;
	int lock, result;

	if (options_parse(argc, argv, NULL, 0, 2, 2) < 0)
		return ERR_USAGE;
	lock = store_lock(s, false, others_wait, &e);
	if (lock < 0)
		return report(&e);
	result = image_find(s, argv[1], hash, &e);
	if (!result) {
		int held = image_hold(s, hash, &e);

		result = held < 0 ? -1 : tag_set(s, argv[2], hash, &e);
		if (held >= 0)
			close(held);
	}
	close(lock);
	if (!result && report_is_json())
		image_made(hash, argv[2]);
	return result < 0 ? report(&e) : 0;
}

/* ---- rm ---- */

/* Says by name who has an image that cannot be removed, where it is a cell that has one. */
static void users_tell(struct store *s, const char *hash, struct err *e)
{
	struct named *cells;
	const char *first = NULL;
	unsigned n, others = 0;

	if (e->kind != ERR_CONFLICT || named_list(s->fd, NAMED_CELL, &cells, &n) < 0)
		return;
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(cells[i].image, hash))
			continue;
		others += first != NULL;
		first = first ? first : cells[i].name;
	}
	if (first && others)
		err_set(e, ERR_CONFLICT,
			"the image %.12s is used by the cell '%s' and %u more" REMEDY
			"remove them first",
			hash, first, others);
	else if (first)
		err_set(e, ERR_CONFLICT,
			"the image %.12s is used by the cell '%s'" REMEDY "remove it first", hash,
			first);
	free(cells);
}

static int rm_one(struct store *s, const char *name, bool force, struct err *e)
{
	char hash[HASH_TEXT];
	bool by_tag = tag_is_valid(name) && tag_get(s, name, hash, e) == 0;
	struct tag *tags;
	size_t n, others = 0;
	int result = 0;

	/* A damaged tag names no image. */
	if (!by_tag && tag_is_valid(name) && e->kind == ERR_FAILED)
		return tag_remove(s, name, e);
	if (!by_tag && image_find(s, name, hash, e) < 0)
		return -1;
	if (tag_list(s, &tags, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		others += !strcmp(tags[i].hash, hash) && !(by_tag && !strcmp(tags[i].name, name));
	if (by_tag && others) {
		result = tag_remove(s, name, e);
	} else if (!by_tag && others > 1 && !force) {
		result = err_set(e, ERR_CONFLICT,
				 "the image %.12s has %zu tags" REMEDY
				 "remove those, or use --force",
				 hash, others);
	} else {
		int fd = image_seize(s, hash, e);

		/* When it is in use its tags stay. Else they go first: an image without a tag is
		 * whole, a tag without an image is not. */
		if (fd < 0)
			users_tell(s, hash, e);
		if (fd < 0 && !(by_tag && e->kind == ERR_NOT_FOUND))
			result = -1;
		for (size_t i = 0; !result && i < n; i++)
			if (!strcmp(tags[i].hash, hash))
				result = tag_remove(s, tags[i].name, e);
		if (fd >= 0 && !result)
			result = image_discard(s, hash, fd, e);
		else if (fd >= 0)
			close(fd);
	}
	free(tags);
	return result;
}

int verb_rm(struct store *s, int argc, char **argv)
{
	bool force = false;
	const struct option options[] = { { "force", 'f', NULL, &force } };
	struct err e;
	int lock, n, status = 0;

	n = options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1 << 20);
	if (n < 0)
		return ERR_USAGE;
	lock = store_lock(s, false, others_wait, &e);
	if (lock < 0)
		return report(&e);
	for (int i = 1; i <= n; i++)
		if (rm_one(s, argv[i], force, &e) < 0) {
			status = report(&e);
		} else if (report_is_json()) {
			printf("{\"image\":");
			json_quoted(stdout, argv[i]);
			printf("}\n");
		}
	close(lock);
	return status;
}

/* ---- gc ---- */

/* An object with one link is in no image. */
static int objects_collect(int objects, const char *sub, unsigned long *n, uint64_t *bytes)
{
	int fd = openat(objects, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	int result = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((de = readdir(d)) && !interrupted()) {
		struct stat st;

		if (de->d_name[0] == '.' || fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_nlink != 1 || !S_ISREG(st.st_mode))
			continue;
		if (unlinkat(fd, de->d_name, 0) < 0) {
			result = -1;
			continue;
		}
		++*n;
		*bytes += (uint64_t)st.st_blocks * 512;
	}
	closedir(d);
	return result;
}

static bool is_tagged(const struct tag *tags, size_t n, const char *hash)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(tags[i].hash, hash))
			return true;
	return false;
}

/* Images that no tag names go, but for those that a cell, a snapshot or somebody else uses. */
static int untagged_collect(struct store *s, unsigned long *ret, struct err *e)
{
	char(*images)[HASH_TEXT];
	struct tag *tags;
	size_t n, ntags;
	int result = 0;

	if (tag_list(s, &tags, &ntags, e) < 0)
		return -1;
	if (image_list(s, &images, &n, e) < 0) {
		free(tags);
		return -1;
	}
	for (size_t i = 0; i < n && !interrupted(); i++) {
		struct err why;

		if (is_tagged(tags, ntags, images[i]))
			continue;
		if (image_remove(s, images[i], &why) == 0)
			++*ret;
		else if (why.kind != ERR_CONFLICT && why.kind != ERR_NOT_FOUND)
			*e = why, result = -1;
	}
	free(images);
	free(tags);
	return result;
}

int verb_gc(struct store *s, int argc, char **argv)
{
	bool quiet = false, untagged = false;
	const struct option options[] = { { "quiet", 'q', NULL, &quiet },
					  { "untagged", 0, NULL, &untagged } };
	unsigned long images = 0;
	unsigned long n = 0;
	uint64_t bytes = 0;
	unsigned stale;
	struct err e;
	int lock, objects, result = 0;
	char text[32], sub[4];

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 0, 0) < 0)
		return ERR_USAGE;
	lock = store_lock(s, true, quiet ? NULL : gc_waits, &e);
	if (lock < 0)
		return report(&e);
	stale = work_collect(s);
	if (untagged)
		result = untagged_collect(s, &images, &e);
	objects = openat(s->fd, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (unsigned i = 0; objects >= 0 && i < 256 && !interrupted(); i++) {
		snprintf(sub, sizeof(sub), "%02x", i);
		if (objects_collect(objects, sub, &n, &bytes) < 0 && errno != ENOENT)
			result = err_set(&e, ERR_FAILED, "cannot collect '%s/objects/%s': %s",
					 s->path, sub, strerror(errno));
	}
	if (objects >= 0)
		close(objects);
	close(lock);
	if (result < 0)
		return report(&e);
	if (report_is_json()) {
		printf("{\"images\":%lu,\"objects\":%lu,\"bytes\":%llu,\"abandoned\":%u}\n", images,
		       n, (unsigned long long)bytes, stale);
		return 0;
	}
	if (!quiet && untagged)
		printf("removed %lu image%s\n", images, images == 1 ? "" : "s");
	if (!quiet)
		printf("removed %lu object%s (%s) and %u abandoned import%s\n", n,
		       n == 1 ? "" : "s", size_text(bytes, text, sizeof(text)), stale,
		       stale == 1 ? "" : "s");
	return 0;
}
