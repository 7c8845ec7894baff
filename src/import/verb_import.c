/* viv image import. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/confine.h"
#include "import/import.h"
#include "import/progress.h"
#include "import/verbs.h"

static bool owner_parse(const char *s, struct import_options *o)
{
	char *end;
	unsigned long long uid = strtoull(s, &end, 10), gid = uid;

	if (*s < '0' || *s > '9')
		return false;
	if (*end == ':') {
		const char *group = end + 1;

		gid = strtoull(group, &end, 10);
		if (*group < '0' || *group > '9')
			return false;
	}
	o->owner_set = true;
	o->uid = (uint32_t)uid;
	o->gid = (uint32_t)gid;
	return !*end && uid < UINT32_MAX && gid < UINT32_MAX;
}

static int source_open(const char *src, struct stat *st, struct err *e)
{
	int fd = 0;

	if (strcmp(src, "-"))
		fd = open(src, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot open '%s': %s", src, strerror(errno));
	if (fstat(fd, st) < 0 || (!fd && isatty(0))) {
		if (fd)
			close(fd);
		return err_set(e, ERR_FAILED,
			       fd ? "cannot read '%s'"
				  : "'-' reads a tar archive from standard input, "
				    "which is a terminal (%s)",
			       src);
	}
	return fd;
}

static int source_import(struct import *im, int fd, const struct stat *st, const char *src,
			 struct err *e)
{
	struct tar_source tar = { .fd = fd,
				  .shown = src,
				  .size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
				  .strict = true };
	struct err why;

	if (S_ISDIR(st->st_mode))
		return import_directory(im, fd, src, e);
	if (import_tar(im, &tar, &why) == 0)
		return 0;
	return err_set(e, why.kind, "cannot import '%s': %s",
		       strcmp(src, "-") ? src : "standard input", why.text);
}

int verb_import(struct store *s, int argc, char **argv)
{
	const char *tag = NULL, *owner = NULL, *size = NULL, *entries = NULL;
	struct import_options o = { 0 };
	const struct option options[] = {
		{ "tag", 't', &tag, NULL },	      { "quiet", 'q', NULL, &o.quiet },
		{ "owner", 0, &owner, NULL },	      { "max-size", 0, &size, NULL },
		{ "max-entries", 0, &entries, NULL },
	};
	char hash[HASH_TEXT];
	struct import im;
	struct stat st;
	struct err e;
	int fd, result;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1) < 0)
		return ERR_USAGE;
	if (owner && !owner_parse(owner, &o))
		return usage_failed("--owner '%s': give it as UID or UID:GID", owner);
	if (size && !size_parse(size, &o.max_size))
		return usage_failed("--max-size '%s': a size such as 500M or 20G", size);
	if (entries && !size_parse(entries, &o.max_entries))
		return usage_failed("--max-entries '%s': a number of files", entries);
	if (tag && !tag_is_valid(tag)) {
		tag_set(s, tag, "", &e);
		return failed(&e);
	}
	fd = source_open(argv[1], &st, &e);
	if (fd < 0 || import_init(&im, s, &o, &e) < 0)
		return failed(&e);
	confine_to_store(s);
	progress_start("import", o.quiet);
	result = source_import(&im, fd, &st, argv[1], &e);
	if (!result)
		result = image_publish(&im, hash, &e);
	progress_end();
	if (!result && tag)
		result = tag_set(s, tag, hash, &e);
	import_fini(&im);
	if (fd)
		close(fd);
	if (result < 0)
		return failed(&e);
	printf("%s\n", hash);
	return 0;
}
