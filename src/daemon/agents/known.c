/* See def.h: where definitions are. Read whenever they are asked for: a file that its user edits
 * counts at once, and there are few. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/agents/blob.h"
#include "daemon/agents/def.h"
#include "daemon/yaml/yaml.h"
#include "daemon/state/daemon.h"
#include "daemon/state/fields.h"
#include "store/files.h"

#define ENDING ".yaml"

/* $XDG_CONFIG_HOME/vivarium/agents, or what stands for it. make: it is there afterwards. */
static int dir_path(char *path, size_t size, bool make, struct err *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char dir[3900];
	int n;

	if (config && *config == '/')
		n = snprintf(dir, sizeof(dir), "%s", config);
	else if (home && *home == '/')
		n = snprintf(dir, sizeof(dir), "%s/.config", home);
	else
		n = snprintf(dir, sizeof(dir), "/etc");
	if (n >= (int)sizeof(dir))
		return err_set(e, ERR_FAILED, "the path in XDG_CONFIG_HOME is too long");
	if (make) {
		(void)mkdir(dir, 0700);
		snprintf(path, size, "%s/vivarium", dir);
		(void)mkdir(path, 0700);
	}
	snprintf(path, size, "%s/vivarium/agents", dir);
	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make '%s': %s", path, strerror(errno));
	return 0;
}

static int file_path(const char *name, char *path, size_t size, bool make, struct err *e)
{
	char dir[4000];

	if (dir_path(dir, sizeof(dir), make, e) < 0)
		return -1;
	snprintf(path, size, "%s/%s" ENDING, dir, name);
	return 0;
}

static const struct agent_blob *blob_find(const char *name)
{
	for (const struct agent_blob *b = agent_blobs; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

int agent_missing(const char *name, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND,
		       "there is no agent '%.80s'" REMEDY
		       "'viv agent ls' lists them, 'viv agent add NAME --command' makes one",
		       name);
}

/* source: a path of 4200 bytes, or NULL. */
static int load(const char *name, struct agent_def *ret, char *source, struct err *e)
{
	const struct agent_blob *b;
	char path[4200], *text = NULL;
	size_t size = 0;
	int r;

	*ret = (struct agent_def){ 0 };
	if (!agent_name_is_valid(name))
		return agent_missing(name, e);
	if (file_path(name, path, sizeof(path), false, e) < 0)
		return -1;
	r = file_read_all(AT_FDCWD, path, YAML_MAX_BYTES, &text, &size);
	b = r == -ENOENT ? blob_find(name) : NULL;
	if (source)
		snprintf(source, sizeof(path), "%s", b ? "built-in" : path);
	if (r == -ENOENT && !b)
		return agent_missing(name, e);
	if (b) {
		snprintf(path, sizeof(path), "agents/%s" ENDING, name);
		return agent_def_read(b->text, (size_t)(b->end - b->text), path, name, ret, e);
	}
	if (r < 0)
		return err_set(e, ERR_FAILED, "cannot read '%s': %s", path, strerror(-r));
	r = agent_def_read(text, size, path, name, ret, e);
	free(text);
	return r;
}

int agent_def_load(struct daemon *d, const char *name, struct agent_def *ret, struct err *e)
{
	(void)d;
	return load(name, ret, NULL, e);
}

json_t *agent_def_shown(struct daemon *d, const char *name, struct err *e)
{
	struct agent_def a;
	char source[4200];
	json_t *o;

	(void)d;
	if (load(name, &a, source, e) < 0) {
		agent_def_free(&a);
		return NULL;
	}
	json_object_set_new(a.all, "source", json_clean(source));
	o = json_incref(a.all);
	agent_def_free(&a);
	return o;
}

/* ---- all of them ---- */

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void name_add(struct buf *names, const char *name, size_t n)
{
	char *copy = xstrndup(name, n);

	for (size_t i = 0; i < BUF_COUNT(names, char *); i++)
		if (!strcmp(*BUF_ITEM(names, char *, i), copy)) {
			free(copy);
			return;
		}
	buf_add(names, &copy, sizeof(copy));
}

static void names_of_user(struct buf *names)
{
	unsigned n = 0;
	char path[4000];
	struct dirent *f;
	struct err e;
	DIR *dir;

	if (dir_path(path, sizeof(path), false, &e) < 0 || !(dir = opendir(path)))
		return;
	while ((f = readdir(dir)) && n < AGENT_DEFS_MAX) {
		size_t len = strlen(f->d_name), end = strlen(ENDING);
		char name[AGENT_NAME_LEN + 1];

		if (len <= end || len - end > AGENT_NAME_LEN ||
		    strcmp(f->d_name + len - end, ENDING))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(len - end), f->d_name);
		if (agent_name_is_valid(name)) {
			name_add(names, name, len - end);
			n++;
		}
	}
	closedir(dir);
}

json_t *agent_defs(struct daemon *d)
{
	struct buf names = { 0 };
	json_t *list = json_array();

	for (const struct agent_blob *b = agent_blobs; b->name; b++)
		name_add(&names, b->name, strlen(b->name));
	names_of_user(&names);
	qsort(names.p, BUF_COUNT(&names, char *), sizeof(char *), name_compare);
	for (size_t i = 0; i < BUF_COUNT(&names, char *); i++) {
		char *name = *BUF_ITEM(&names, char *, i), path[4200] = "";
		struct err e = { 0 }, unused;
		json_t *o = agent_def_shown(d, name, &e);

		if (!o) {
			(void)!file_path(name, path, sizeof(path), false, &unused);
			o = json_pack("{s:s,s:o,s:o}", "name", name, "source", json_clean(path),
				      "error", json_err(&e));
		}
		json_array_append_new(list, o);
		free(name);
	}
	buf_free(&names);
	return list;
}

/* ---- changes ---- */

int agent_def_save(struct daemon *d, const char *name, const char *text, size_t size, bool *ret_new,
		   struct err *e)
{
	struct agent_def a;
	char path[4200];
	struct stat st;
	int r;

	(void)d;
	if (!agent_name_is_valid(name))
		return err_set(e, ERR_INVALID,
			       "'%.80s' is not a name for an agent" REMEDY
			       "it has up to %d lower-case letters, digits, '-' and '_'",
			       name, AGENT_NAME_LEN);
	r = agent_def_read(text, size, "the definition", name, &a, e);
	agent_def_free(&a);
	if (r < 0 || file_path(name, path, sizeof(path), true, e) < 0)
		return -1;
	*ret_new = lstat(path, &st) < 0;
	r = file_replace(AT_FDCWD, path, text, size);
	if (!r)
		return 0;
	return err_set(e, r == -ENOSPC ? ERR_NO_SPACE : ERR_FAILED, "cannot write '%s': %s", path,
		       strerror(-r));
}

int agent_def_remove(struct daemon *d, const char *name, struct err *e)
{
	char path[4200];

	(void)d;
	if (!agent_name_is_valid(name))
		return agent_missing(name, e);
	if (file_path(name, path, sizeof(path), false, e) < 0)
		return -1;
	if (unlink(path) == 0)
		return 0;
	if (errno != ENOENT)
		return err_set(e, ERR_FAILED, "cannot remove '%s': %s", path, strerror(errno));
	if (blob_find(name))
		return err_set(e, ERR_CONFLICT,
			       "the agent '%s' is built in and has no definition of yours", name);
	return agent_missing(name, e);
}
