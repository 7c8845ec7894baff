/* See secrets.h: the directory of secrets. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/secrets/secrets.h"
#include "daemon/state/fields.h"
#include "store/files.h"

#define NAME_LEN 64
#define RANDOM_LEN 22 /* characters of 62: 131 bits */

bool secret_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > NAME_LEN || name[0] == '.' || name[0] == '-')
		return false;
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		      (*name >= '0' && *name <= '9') || strchr("_.-", *name)))
			return false;
	return true;
}

static int dir_open(const char *state, bool make)
{
	int fd, at = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return -errno;
	if (make)
		(void)mkdirat(at, "secrets", 0700);
	fd = openat(at, "secrets", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	fd = fd < 0 ? -errno : fd;
	close(at);
	return fd;
}

static int missing(const char *name, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND,
		       "there is no secret '%s'" REMEDY
		       "'viv secret ls' lists them, 'viv secret set' makes one",
		       name);
}

int secret_load(const char *state, const char *name, json_t **ret, struct err *e)
{
	struct buf text = { 0 };
	char *data = NULL;
	size_t n = 0;
	int dir, err;

	*ret = NULL;
	if (!secret_name_is_valid(name))
		return missing(name, e);
	dir = dir_open(state, false);
	err = dir < 0 ? dir : file_read_all(dir, name, SECRET_FILE_MAX, &data, &n);
	if (dir >= 0)
		close(dir);
	if (err == -ENOENT)
		return missing(name, e);
	if (err)
		return err_set(e, ERR_FAILED, "cannot read secret '%s': %s", name, strerror(-err));
	if (secret_unseal(name, data, n, &text, e) == 0) {
		*ret = json_loadb((char *)text.p, text.len, 0, NULL);
		explicit_bzero(text.p, text.len);
		if (!*ret)
			err_note(e, ERR_FAILED, "secret '%s' is damaged", name);
	}
	buf_free(&text);
	free(data);
	return *ret ? 0 : -1;
}

int secret_save(const char *state, const json_t *secret, struct err *e)
{
	const char *name = json_text(secret, "name");
	char *text = json_dumps(secret, JSON_COMPACT | JSON_SORT_KEYS);
	struct buf sealed = { 0 };
	int dir = -1, err = 0, ret = -1;

	if (!text)
		return err_set(e, ERR_FAILED, "cannot write secret '%s'", name);
	if (secret_seal(name, text, strlen(text), &sealed, e) == 0) {
		dir = dir_open(state, true);
		err = dir < 0 ? dir : file_replace(dir, name, sealed.p, sealed.len);
		ret = err ? err_set(e, ERR_STORAGE, "cannot write secret '%s': %s", name,
				    strerror(-err))
			  : 0;
	}
	explicit_bzero(text, strlen(text));
	free(text);
	buf_free(&sealed);
	if (dir >= 0)
		close(dir);
	return ret;
}

int secret_remove(const char *state, const char *name, struct err *e)
{
	int dir = dir_open(state, false), err = dir < 0 ? dir : 0;

	if (!secret_name_is_valid(name))
		err = -ENOENT;
	if (!err && (unlinkat(dir, name, 0) < 0 || dir_sync(dir, ".") < 0))
		err = -errno;
	if (dir >= 0)
		close(dir);
	if (err == -ENOENT)
		return missing(name, e);
	return err ? err_set(e, ERR_STORAGE, "cannot remove secret '%s': %s", name, strerror(-err))
		   : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

json_t *secret_names(const char *state)
{
	int fd = dir_open(state, false);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	char *names[SECRETS_KEPT_MAX];
	unsigned n = 0;
	json_t *list = json_array();

	for (struct dirent *i; d && n < ARRAY_LEN(names) && (i = readdir(d));)
		if (secret_name_is_valid(i->d_name))
			names[n++] = xstrndup(i->d_name, strlen(i->d_name));
	if (d)
		closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	for (unsigned i = 0; i < n; i++) {
		json_array_append_new(list, json_string(names[i]));
		free(names[i]);
	}
	return list;
}

json_t *secret_shown(const json_t *secret)
{
	static const char *const fields[] = { "name",	"env",	  "placeholder", "hosts",
					      "places", "source", "from",	 "changed" };
	json_t *o = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(fields); i++) {
		json_t *v = json_object_get(secret, fields[i]);

		if (v)
			json_object_set(o, fields[i], v);
	}
	return o;
}

/* ---- new ones ---- */

static void random_add(char *to, unsigned n)
{
	static const char letters[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	for (unsigned i = 0; i < n;) {
		uint8_t byte;

		if (getrandom(&byte, 1, 0) != 1)
			abort();
		if (byte < 62 * 4)
			to[i++] = letters[byte % 62];
	}
	to[n] = '\0';
}

/* A variable as it is usually written: "my-key" is MY_KEY. */
static void env_name(char *to, const char *name)
{
	char *p = to;

	if (*name >= '0' && *name <= '9')
		*p++ = '_';
	for (; *name; name++)
		*p++ = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A'
			      : strchr(".-", *name)	   ? '_'
							   : *name);
	*p = '\0';
}

static json_t *texts(const char *const *list, unsigned n)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < n && list[i]; i++)
		json_array_append_new(a, json_string(list[i]));
	return a;
}

json_t *secret_new(const char *name, const char *prefix)
{
	const struct known_secret *k = known_secret(name);
	char placeholder[256], random[RANDOM_LEN + 1], env[NAME_LEN + 2];

	if (!prefix)
		prefix = k ? k->prefix : "";
	random_add(random, RANDOM_LEN);
	env_name(env, name);
	snprintf(placeholder, sizeof(placeholder), "%.64sviv-secret-%s-%s", prefix, name, random);
	return json_pack("{s:s,s:s,s:s,s:o,s:o}", "name", name, "env", env, "placeholder",
			 placeholder, "hosts", texts(k ? k->hosts : NULL, k ? 5 : 0), "places",
			 texts(k ? k->places : (const char *const[]){ "bearer" }, k ? 4 : 1));
}
