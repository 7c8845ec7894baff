/* The boot spec in a sealed memfd. Layout: struct bootspec as it is, then the pointer arrays, the
 * layers, then the strings; every pointer is written as an offset from the start. The reader maps
 * the file privately and turns offsets into pointers in place, so that nothing is copied and the
 * strings live as long as the mapping. Both sides are of one build. */
#include "wire/bootspec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/memfd.h"

#define SPEC_MAGIC 0x3176697670656373UL
#define SPEC_MAX_BYTES (16UL << 20)

struct wire {
	uint64_t magic, size;
	uint32_t nargs, nenvs;
	struct bootspec spec;
};

struct spec_writer {
	char *buf;
	size_t at; /* where the next string goes */
};

static size_t string_size(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

/* Appends a string and returns its offset, in the disguise of a pointer. */
static void *string_put(struct spec_writer *w, const char *s)
{
	size_t n = string_size(s), at = w->at;

	if (!s)
		return NULL;
	memcpy(w->buf + at, s, n);
	w->at += n;
	return (void *)at;
}

static size_t strings_count(char *const *list, size_t *bytes)
{
	size_t n = 0;

	for (; list[n]; n++)
		*bytes += string_size(list[n]);
	return n;
}

int bootspec_write(const struct bootspec *spec)
{
	size_t bytes = string_size(spec->workdir) + string_size(spec->hostname) +
		       string_size(spec->user) + string_size(spec->groups) +
		       string_size(spec->wasm) + string_size(spec->hosts) + string_size(spec->ca) +
		       string_size(spec->search) + string_size(spec->tools);
	size_t nargs = strings_count(spec->argv, &bytes), nenvs = strings_count(spec->envp, &bytes);
	size_t arrays = (nargs + nenvs + 2) * sizeof(char *);
	size_t layers = spec->nlayers * sizeof(struct layer_spec);
	struct wire *wire;
	struct spec_writer w;
	char **list;
	int fd;

	if (spec->nmounts > SPEC_MAX_MOUNTS || spec->nulimits > SPEC_ULIMITS ||
	    spec->nlayers > SPEC_MAX_LAYERS || !nargs)
		return -EINVAL;
	for (uint32_t i = 0; i < spec->nmounts; i++)
		bytes += string_size(spec->mounts[i].dst) + string_size(spec->mounts[i].kind);
	bytes += sizeof(*wire) + arrays + layers;
	if (nargs > SPEC_MAX_ARGS || nenvs > SPEC_MAX_ARGS || bytes > SPEC_MAX_BYTES)
		return -E2BIG;
	w.buf = calloc(1, bytes);
	if (!w.buf)
		return -ENOMEM;
	w.at = sizeof(*wire) + arrays + layers;
	wire = (struct wire *)w.buf;
	wire->magic = SPEC_MAGIC;
	wire->size = bytes;
	wire->nargs = (uint32_t)nargs;
	wire->nenvs = (uint32_t)nenvs;
	wire->spec = *spec;
	wire->spec.workdir = string_put(&w, spec->workdir);
	wire->spec.hostname = string_put(&w, spec->hostname);
	wire->spec.user = string_put(&w, spec->user);
	wire->spec.groups = string_put(&w, spec->groups);
	wire->spec.wasm = string_put(&w, spec->wasm);
	wire->spec.ca = string_put(&w, spec->ca);
	wire->spec.hosts = string_put(&w, spec->hosts);
	wire->spec.search = string_put(&w, spec->search);
	wire->spec.tools = string_put(&w, spec->tools);
	list = (char **)(w.buf + sizeof(*wire));
	wire->spec.argv = (char **)sizeof(*wire);
	for (size_t i = 0; i < nargs; i++)
		*list++ = string_put(&w, spec->argv[i]);
	list++;
	wire->spec.envp = (char **)((char *)list - w.buf);
	for (size_t i = 0; i < nenvs; i++)
		*list++ = string_put(&w, spec->envp[i]);
	list++;
	wire->spec.layers = (struct layer_spec *)((char *)list - w.buf);
	if (layers)
		memcpy(list, spec->layers, layers);
	for (uint32_t i = 0; i < spec->nmounts; i++) {
		wire->spec.mounts[i].dst = string_put(&w, spec->mounts[i].dst);
		wire->spec.mounts[i].kind = string_put(&w, spec->mounts[i].kind);
	}
	fd = memfd_sealed("viv-spec", w.buf, bytes);
	free(w.buf);
	return fd;
}

static bool disk_ok(const struct bootspec *s, const struct disk_spec *d)
{
	unsigned char present; /* not a bool yet: the bytes may be any */

	memcpy(&present, &d->present, 1);
	return present <= 1 &&
	       (!present || (d->first <= s->nlayers && d->nsealed <= s->nlayers - d->first));
}

/* Turns an offset into a pointer; the last byte of the file is a NUL, so every string ends
 * inside. */
static bool string_fix(char *base, size_t size, const char **s)
{
	uintptr_t at = (uintptr_t)*s;

	if (!at)
		return true;
	if (at < sizeof(struct wire) || at >= size)
		return false;
	*s = base + at;
	return true;
}

static bool list_fix(char *base, size_t size, char ***list, size_t n)
{
	uintptr_t at = (uintptr_t)*list;

	if (at < sizeof(struct wire) || at % sizeof(char *) || at > size ||
	    (size - at) / sizeof(char *) < n + 1)
		return false;
	*list = (char **)(base + at);
	for (size_t i = 0; i < n; i++)
		if (!(*list)[i] || !string_fix(base, size, (const char **)&(*list)[i]))
			return false;
	return !(*list)[n];
}

static bool layers_fix(char *base, size_t size, struct bootspec *s)
{
	uintptr_t at = (uintptr_t)s->layers;

	if (at < sizeof(struct wire) || at % sizeof(*s->layers) || at > size ||
	    s->nlayers > SPEC_MAX_LAYERS || (size - at) / sizeof(*s->layers) < s->nlayers)
		return false;
	s->layers = (struct layer_spec *)(base + at);
	return true;
}

/* #syscalls: fstat newfstatat mmap munmap */
int bootspec_read(int fd, struct bootspec *out)
{
	struct stat st;
	struct wire *w;
	struct bootspec *s;
	char *base;
	size_t size;
	bool ok;

	if (fstat(fd, &st) < 0)
		return -errno;
	size = (size_t)st.st_size;
	if (size <= sizeof(*w) || size > SPEC_MAX_BYTES)
		return -EINVAL;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	w = (struct wire *)base;
	s = &w->spec;
	ok = w->magic == SPEC_MAGIC && w->size == size && !base[size - 1] && w->nargs &&
	     w->nargs <= SPEC_MAX_ARGS && w->nenvs <= SPEC_MAX_ARGS &&
	     s->nmounts <= SPEC_MAX_MOUNTS && s->nulimits <= SPEC_ULIMITS &&
	     layers_fix(base, size, s) && disk_ok(s, &s->disk) &&
	     list_fix(base, size, &s->argv, w->nargs) && list_fix(base, size, &s->envp, w->nenvs) &&
	     string_fix(base, size, &s->workdir) && string_fix(base, size, &s->hostname) &&
	     string_fix(base, size, &s->user) && string_fix(base, size, &s->groups) &&
	     string_fix(base, size, &s->wasm) && string_fix(base, size, &s->hosts) &&
	     string_fix(base, size, &s->search) &&
	     (!s->hosts || strlen(s->hosts) <= SPEC_HOSTS_MAX) && string_fix(base, size, &s->ca) &&
	     (!s->ca || strlen(s->ca) <= SPEC_CA_MAX) &&
	     (!s->search || strlen(s->search) <= SPEC_SEARCH_MAX) &&
	     string_fix(base, size, &s->tools) && (!s->tools || strlen(s->tools) <= SPEC_TOOLS_MAX);
	for (uint32_t i = 0; ok && i < s->nmounts; i++)
		ok = string_fix(base, size, &s->mounts[i].dst) &&
		     string_fix(base, size, &s->mounts[i].kind) && disk_ok(s, &s->mounts[i].disk);
	if (!ok) {
		munmap(base, size);
		return -EINVAL;
	}
	*out = *s;
	out->map = base;
	out->map_size = size;
	return 0;
}
