/* viv image import. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/confine.h"
#include "import/container.h"
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

/* What the source is taken for; auto: by what it looks like. */
enum format { AUTO, DIRECTORY, TAR, OCI, DOCKER, NIX, FORMATS };
static const char *const formats[FORMATS] = { "auto", "dir", "tar", "oci", "docker", "nix" };

struct source {
	const char *name;
	int fd;
	struct stat st;
	enum format format;
	const char *ref;
	/* an image whose configuration the new one gets, and whose contents it may name; or NULL */
	const char *base;
	const char *command; /* of an image that has none; or NULL */
	const char *labels; /* lines of K=V, before those of base; or NULL */
};

/* The line of labels that has this key, or NULL. */
static const char *label_find(const char *labels, const char *label, size_t len)
{
	const char *equal = memchr(label, '=', len);
	size_t key = equal ? (size_t)(equal - label) : len;

	for (const char *l = labels; l; l = strchr(l, '\n'), l = l ? l + 1 : NULL)
		if (!strncmp(l, label, key) && l[key] == '=')
			return l;
	return NULL;
}

static void labels_add(struct config_list *config, const char *labels)
{
	for (const char *l = labels; l && *l;) {
		size_t len = strcspn(l, "\n");

		config_add(config, CONFIG_LABEL, l, len);
		l += len + (l[len] == '\n');
	}
}

static int source_import(struct import *im, const struct source *src, const struct image *base,
			 struct err *e)
{
	bool dir = S_ISDIR(src->st.st_mode);
	struct tar_source tar = { .fd = src->fd,
				  .shown = src->name,
				  .size = S_ISREG(src->st.st_mode) ? (uint64_t)src->st.st_size : 0,
				  .strict = true,
				  .detect = src->format == AUTO,
				  .container = src->format == OCI || src->format == DOCKER,
				  .base = base,
				  .ref = src->ref };

	if (src->format == NIX && !dir && !src->ref)
		return import_nix(im, src->fd, e);
	if (dir && (src->format == OCI || src->format == DOCKER ||
		    (src->format == AUTO && layout_is(src->fd))))
		return import_layout(im, src->fd, src->ref, src->format == DOCKER, e);
	if (src->ref && (dir || src->format == TAR || src->format == NIX))
		return err_set(e, ERR_FAILED, "it is not a container image; --ref does not fit");
	if (dir && (src->format == AUTO || src->format == DIRECTORY))
		return import_directory(im, src->fd, src->name, e);
	if (!dir && src->format != DIRECTORY && src->format != NIX)
		return import_tar(im, &tar, e);
	return err_set(e, ERR_FAILED, "it is %s directory; --format %s does not fit",
		       dir ? "a" : "no", formats[src->format]);
}

static bool format_parse(const char *name, enum format *ret)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (!strcmp(name, formats[i])) {
			*ret = (enum format)i;
			return true;
		}
	return false;
}

int image_import(struct store *s, const struct import_options *o, const char *tag, char *hash,
		 int (*fill)(struct import *im, const void *arg, struct err *e), const void *arg,
		 struct err *e)
{
	struct import im;
	int result;

	if (import_init(&im, s, o, e) < 0)
		return -1;
	confine_to_store(s);
	progress_start("import", o->quiet);
	result = fill(&im, arg, e);
	if (!result)
		result = image_publish(&im, hash, e);
	progress_end();
	if (!result && tag) {
		struct err ignored;
		char now[HASH_TEXT];

		result = tag_set(s, tag, hash, e);
		/* It may have failed with the tag in its place. */
		if (result < 0 && (tag_get(s, tag, now, &ignored) < 0 || strcmp(now, hash)))
			image_unpublish(&im, hash);
	}
	import_fini(&im);
	return result;
}

static int base_config(struct import *im, const struct image *base, const struct source *src,
		       struct err *e)
{
	struct config_item it;
	size_t len, at = 0;
	const void *config = index_config(&base->ix, &len);
	int err;

	while ((err = config_next(config, len, &at, &it)) == 0)
		if (it.tag < CONFIG_TAGS &&
		    (it.tag != CONFIG_LABEL || !label_find(src->labels, it.value, it.len)))
			config_add(&im->config, (enum config_tag)it.tag, it.value, it.len);
	return err == -ENOENT
		       ? 0
		       : err_set(e, ERR_FAILED, "the configuration of '%s' is damaged", src->base);
}

/* Of an archive that says nothing of it. */
static void command_set(struct config_list *config, const char *command)
{
	if (config->items.len)
		return;
	config_add(config, CONFIG_CMD, command, strlen(command));
	config_add(config, CONFIG_OS, "linux", 5);
#ifdef __x86_64__
	config_add(config, CONFIG_ARCH, "amd64", 5);
#endif
}

static int source_fill(struct import *im, const void *arg, struct err *e)
{
	const struct source *src = arg;
	struct image base;
	int r = 0;

	if (src->base && image_open(im->store, src->base, &base, e) < 0)
		return -1;
	if (src->base && base_config(im, &base, src, e) < 0) {
		image_close(&base);
		return -1;
	}
	r = source_import(im, src, src->base ? &base : NULL, e);
	if (!r && src->command)
		command_set(&im->config, src->command);
	if (!r)
		labels_add(&im->config, src->labels);
	if (src->base)
		image_close(&base);
	if (r && interrupted())
		err_remedy(e, "what it stored is used the next time, or removed by 'viv image gc'");
	return !r ? 0
		  : err_wrap(e, "cannot import '%s'",
			     strcmp(src->name, "-") ? src->name : "standard input");
}

int verb_import(struct store *s, int argc, char **argv)
{
	const char *tag = NULL, *owner = NULL, *size = NULL, *entries = NULL, *format = NULL;
	struct import_options o = { 0 };
	struct source src = { .format = AUTO };
	const struct option options[] = {
		{ "tag", 't', &tag, NULL },	      { "quiet", 'q', NULL, &o.quiet },
		{ "owner", 0, &owner, NULL },	      { "max-size", 0, &size, NULL },
		{ "max-entries", 0, &entries, NULL }, { "format", 0, &format, NULL },
		{ "ref", 0, &src.ref, NULL },	      { "base", 0, &src.base, NULL },
		{ "command", 0, &src.command, NULL }, { "labels", 0, &src.labels, NULL },
	};
	char hash[HASH_TEXT];
	struct err e;
	int result;

	if (options_parse(argc, argv, options, ARRAY_LEN(options), 1, 1) < 0)
		return ERR_USAGE;
	if (owner && !owner_parse(owner, &o))
		return fail(ERR_USAGE, "--owner '%s': give it as UID or UID:GID", owner);
	if (size && !size_parse(size, &o.max_size))
		return fail(ERR_USAGE, "--max-size '%s': a size such as 500M or 20G", size);
	if (entries && !size_parse(entries, &o.max_entries))
		return fail(ERR_USAGE, "--max-entries '%s': a number of files", entries);
	if (format && !format_parse(format, &src.format))
		return fail(ERR_USAGE, "--format '%s': one of auto, dir, tar, oci, docker, nix",
			    format);
	if (tag && !tag_is_valid(tag)) {
		tag_set(s, tag, "", &e);
		return report(&e);
	}
	/* Nix has one owner for all; who runs it here does not matter to the image. */
	if (src.format == NIX && !owner)
		o.owner_set = true;
	src.name = argv[1];
	src.fd = source_open(src.name, &src.st, &e);
	if (src.fd < 0)
		return report(&e);
	result = image_import(s, &o, tag, hash, source_fill, &src, &e);
	if (src.fd)
		close(src.fd);
	if (result < 0)
		return report(&e);
	image_made(hash, tag);
	return 0;
}
