/* See execspec.h. The reader copies nothing: the file is sealed, so what was checked stays as it
 * is. */
#include "wire/execspec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/memfd.h"

#define MAGIC 0x3163657876697663UL

struct execspec_wire {
	uint64_t magic;
	uint32_t size; /* of all */
	uint32_t flags, argc, envc;
	uint32_t has_cwd, has_user;
};

static size_t list_size(char *const *list, size_t *n)
{
	size_t bytes = 0;

	for (*n = 0; list && list[*n] && *n <= EXECSPEC_MAX_STRINGS; ++*n)
		bytes += strlen(list[*n]) + 1;
	return bytes;
}

static char *string_put(char *to, const char *s)
{
	size_t n = strlen(s) + 1;

	memcpy(to, s, n);
	return to + n;
}

int execspec_write(const struct execspec *s)
{
	size_t argc, envc, size;
	struct execspec_wire *w;
	char *at;
	int fd;

	size = sizeof(*w) + list_size(s->argv, &argc) + list_size(s->envp, &envc);
	size += (s->cwd ? strlen(s->cwd) + 1 : 0) + (s->user ? strlen(s->user) + 1 : 0);
	if (!argc)
		return -EINVAL;
	if (argc > EXECSPEC_MAX_STRINGS || envc > EXECSPEC_MAX_STRINGS || size > EXECSPEC_MAX_BYTES)
		return -E2BIG;
	for (size_t i = 0; i < envc; i++)
		if (!strchr(s->envp[i], '='))
			return -EINVAL;
	w = calloc(1, size);
	if (!w)
		return -ENOMEM;
	*w = (struct execspec_wire){ .magic = MAGIC,
				     .size = (uint32_t)size,
				     .flags = s->flags,
				     .argc = (uint32_t)argc,
				     .envc = (uint32_t)envc,
				     .has_cwd = s->cwd != NULL,
				     .has_user = s->user != NULL };
	at = (char *)(w + 1);
	for (size_t i = 0; i < argc; i++)
		at = string_put(at, s->argv[i]);
	for (size_t i = 0; i < envc; i++)
		at = string_put(at, s->envp[i]);
	if (s->cwd)
		at = string_put(at, s->cwd);
	if (s->user)
		string_put(at, s->user);
	fd = memfd_sealed("viv-exec", w, size);
	free(w);
	return fd;
}

/* The string at *at, which moves behind it; NULL: it does not end inside. */
static const char *string_take(const char **at, const char *end)
{
	const char *s = *at, *nul = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

int execspec_check(const void *bytes, size_t size, struct execspec_view *ret)
{
	const char *at = (const char *)bytes + sizeof(struct execspec_wire),
		   *end = (const char *)bytes + size, *s;
	struct execspec_wire w;

	if (size < sizeof(w) || size > EXECSPEC_MAX_BYTES)
		return -EINVAL;
	memcpy(&w, bytes, sizeof(w));
	if (w.magic != MAGIC || w.size != size ||
	    (w.flags & ~(uint32_t)(EXECSPEC_CELL_ENV | EXECSPEC_FILL | EXECSPEC_MAKE_CWD)) ||
	    !w.argc || w.argc > EXECSPEC_MAX_STRINGS || w.envc > EXECSPEC_MAX_STRINGS ||
	    w.has_cwd > 1 || w.has_user > 1)
		return -EINVAL;
	*ret = (struct execspec_view){
		.flags = w.flags, .argc = w.argc, .envc = w.envc, .words = at
	};
	for (uint32_t i = 0; i < w.argc; i++)
		if (!string_take(&at, end))
			return -EINVAL;
	for (uint32_t i = 0; i < w.envc; i++) {
		s = string_take(&at, end);
		if (!s || !strchr(s, '='))
			return -EINVAL;
	}
	ret->words_size = (size_t)(at - ret->words);
	if (w.has_cwd && !(ret->cwd = string_take(&at, end)))
		return -EINVAL;
	if (w.has_user && !(ret->user = string_take(&at, end)))
		return -EINVAL;
	return at == end ? 0 : -EINVAL;
}

int execspec_map(int fd, struct execspec_view *ret, void **ret_map, size_t *ret_size)
{
	int err = memfd_map(fd, EXECSPEC_MAX_BYTES, ret_map, ret_size);

	if (err)
		return err;
	err = execspec_check(*ret_map, *ret_size, ret);
	if (err)
		memfd_unmap(*ret_map, *ret_size);
	return err;
}

void execspec_unmap(void *map, size_t size)
{
	memfd_unmap(map, size);
}
