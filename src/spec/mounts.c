/* Options of viv run that mount something: SRC:DST[:ro|rw], or fields with commas between them, as
 * docker's --mount has them. A source with a '/' in it is a directory or file of the host, for
 * --volume too. */
#include <stdio.h>
#include <string.h>

#include "spec/options.h"

/* A place in the cell for a mount: absolute, not "/", not used twice. */
int mount_add(struct run_options *o, const char *option, struct run_mount m, struct err *e)
{
	char *dst = m.dst;
	size_t n = strlen(dst);

	if (dst[0] != '/')
		return err_set(e, ERR_USAGE,
			       "%s: the place in the cell must be an absolute path, not '%s'",
			       option, dst);
	while (n > 1 && dst[n - 1] == '/')
		dst[--n] = '\0';
	if (n == 1)
		return err_set(e, ERR_USAGE,
			       "%s: '/' itself is the image" REMEDY "choose a directory below it",
			       option);
	for (unsigned i = 0; i < o->nmounts; i++)
		if (!strcmp(o->mounts[i].dst, dst))
			return err_set(e, ERR_USAGE, "%s: something is mounted at '%s' already",
				       option, dst);
	if (o->nmounts == ARRAY_LEN(o->mounts))
		return err_set(e, ERR_USAGE,
			       "at most %zu mounts" REMEDY "mount a directory above them instead",
			       ARRAY_LEN(o->mounts));
	o->mounts[o->nmounts++] = m;
	o->given[SET_MOUNT] = true;
	return 0;
}

bool subpath_is_valid(const char *text)
{
	size_t n;

	if (strlen(text) >= 4096)
		return false;
	do {
		n = strcspn(text, "/");
		if (!n || (n <= 2 && !strncmp(text, "..", n)))
			return false;
		text += n;
	} while (*text++);
	return true;
}

/* SRC:DST[:ro|rw]; both parts are new strings. */
static int mount_split(struct run_options *o, const char *option, const char *text,
		       const char **ret_src, char **ret_dst, bool *ret_readonly, struct err *e)
{
	char *src = run_keep_text(o, text), *dst, *mode;

	mode = strrchr(src, ':');
	if (mode && (!strcmp(mode, ":ro") || !strcmp(mode, ":rw"))) {
		*ret_readonly = !strcmp(mode, ":ro");
		*mode = '\0';
	}
	dst = strrchr(src, ':');
	if (!dst || dst == src || !dst[1])
		return err_set(e, ERR_USAGE,
			       "%s '%s': give it as SRC:DST, SRC:DST:ro or SRC:DST:rw", option,
			       text);
	*dst++ = '\0';
	if (dst[0] != '/' && strchr(src, ':'))
		return err_set(e, ERR_USAGE, "%s '%s': the mode after the second ':' is ro or rw",
			       option, text);
	*ret_src = src;
	*ret_dst = dst;
	return 0;
}

static bool field_is(const char *field, const char *const *names)
{
	while (*names && strcmp(field, *names))
		names++;
	return *names != NULL;
}

static const char *const type_names[] = { "type", NULL };
static const char *const source_names[] = { "source", "src", NULL };
static const char *const target_names[] = { "target", "destination", "dst", NULL };
static const char *const readonly_names[] = { "readonly", "ro", NULL };
static const char *const size_names[] = { "tmpfs-size", NULL };

/* Is it type=TYPE,source=SRC,target=DST, as docker has it? */
static bool is_fields(const char *text)
{
	size_t n = strcspn(text, "=");
	char name[16];

	if (!text[n] || n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	return field_is(name, type_names) || field_is(name, source_names) ||
	       field_is(name, target_names);
}

/* One field, whose value is NULL when it has none. False: it is not understood. */
static bool field_take(struct run_mount *m, const char **type, const char **src, const char *field,
		       char *value)
{
	if (field_is(field, readonly_names)) {
		m->readonly = !value || !strcmp(value, "true") || !strcmp(value, "1");
		return m->readonly || !strcmp(value, "false") || !strcmp(value, "0");
	}
	if (!value || !*value)
		return false;
	if (field_is(field, type_names))
		*type = value;
	else if (field_is(field, source_names))
		*src = value;
	else if (field_is(field, target_names))
		m->dst = value;
	else
		return field_is(field, size_names) && value_size(value, &m->size);
	return true;
}

static int fields_option(struct run_options *o, const char *text, struct err *e)
{
	char *rest = run_keep_text(o, text), *field;
	const char *type = "volume", *src = NULL;
	struct run_mount m = { 0 };

	while ((field = strsep(&rest, ","))) {
		char *value = strchr(field, '=');

		if (value)
			*value++ = '\0';
		if (!field_take(&m, &type, &src, field, value))
			return err_set(e, ERR_USAGE,
				       "--mount '%s': '%s' is not understood" REMEDY
				       "it has type, source, "
				       "target, readonly and tmpfs-size",
				       text, field);
	}
	if (!strcmp(type, "bind"))
		m.src = src;
	else if (!strcmp(type, "volume"))
		m.volume = src;
	else if (strcmp(type, "tmpfs"))
		return err_set(e, ERR_USAGE, "--mount '%s': the type is bind, volume or tmpfs",
			       text);
	if (!m.dst || !src != !strcmp(type, "tmpfs") || (m.size && src) || (m.readonly && !src))
		return err_set(
			e, ERR_USAGE,
			"--mount '%s': give it as type=bind,source=DIR,target=DST[,readonly], "
			"type=volume,source=NAME,target=DST[,readonly] or "
			"type=tmpfs,target=DST[,tmpfs-size=64M]",
			text);
	return mount_add(o, "--mount", m, e);
}

int mount_option(struct run_options *o, const char *text, struct err *e)
{
	struct run_mount m = { 0 };
	int status;

	if (is_fields(text))
		return fields_option(o, text, e);
	status = mount_split(o, "--mount", text, &m.src, &m.dst, &m.readonly, e);
	return status ? status : mount_add(o, "--mount", m, e);
}

int volume_option(struct run_options *o, const char *text, struct err *e)
{
	struct run_mount m = { 0 };
	const char *src = "";
	int status = mount_split(o, "--volume", text, &src, &m.dst, &m.readonly, e);

	if (status)
		return status;
	/* No volume has such a name. */
	*(strchr(src, '/') ? &m.src : &m.volume) = src;
	return mount_add(o, "--volume", m, e);
}

int tmpfs_option(struct run_options *o, const char *text, struct err *e)
{
	char *dst = run_keep_text(o, text), *colon;
	uint64_t size = 0;

	colon = strrchr(dst, ':');
	if (colon) {
		*colon++ = '\0';
		if (strncmp(colon, "size=", 5) || !value_size(colon + 5, &size))
			return err_set(e, ERR_USAGE, "--tmpfs '%s': give it as DST or DST:size=64M",
				       text);
	}
	return mount_add(o, "--tmpfs", (struct run_mount){ .dst = dst, .size = size }, e);
}

int copy_option(struct run_options *o, const char *text, struct err *e)
{
	char *src = run_keep_text(o, text), *dst = strrchr(src, ':');

	if (!dst || dst == src || dst[1] != '/' || !dst[2])
		return err_set(
			e, ERR_USAGE,
			"--copy '%s': give it as DIR:DST, where DST is an absolute path in the "
			"cell",
			text);
	*dst++ = '\0';
	for (size_t n = strlen(dst); n > 1 && dst[n - 1] == '/'; n--)
		dst[n - 1] = '\0';
	if (strstr(dst, "/../") || strstr(dst, "/./") || strstr(dst, "//") ||
	    !strcmp(strrchr(dst, '/'), "/..") || !strcmp(strrchr(dst, '/'), "/."))
		return err_set(e, ERR_USAGE, "--copy '%s': DST must not have '.' or '..' in it",
			       text);
	if (o->ncopies == ARRAY_LEN(o->copies))
		return err_set(e, ERR_USAGE,
			       "at most %u copies" REMEDY "copy a directory above them instead",
			       RUN_COPIES_MAX);
	o->copies[o->ncopies++] = (struct run_copy){ .src = src, .dst = dst };
	return 0;
}
