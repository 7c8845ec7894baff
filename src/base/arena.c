/* The arena's allocator.
 *
 * The region grows from its start by a bump pointer; pages that were never reached are never
 * touched, so a small kernel stays small. Freed objects go to the free list of their type, freed
 * blobs to that of their power of two: nothing is split or joined, so memory never moves between
 * kinds, and each operation is a few instructions. Fresh memory is zero as the host gives it; an
 * object that is used again is cleared.
 *
 * Mapping the region is the one host call, made here and not through src/host because this layer
 * lies below it. With the address sanitizer, freed memory is poisoned but for the link at its
 * start.
 * #syscalls: mmap madvise */
#include "base/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#define ASAN_ON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN_ON 1
#endif
#endif
#ifdef ASAN_ON
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define BLOB_MIN_SHIFT 4
#define BLOB_MAX_SHIFT 26
_Static_assert(BLOB_MAX == 1UL << BLOB_MAX_SHIFT, "the largest blob");

struct free_link {
	struct free_link *next;
};

void (*arena_warn)(const struct obj_type *type);

static char *region;
static uint64_t region_used;
static uint64_t blob_bytes;
static uint32_t objects;
static struct obj_type *types;
static struct free_link *blob_free_lists[BLOB_MAX_SHIFT + 1];

int arena_init(void)
{
	void *p = mmap((void *)ARENA_BASE, ARENA_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (p !=
	    (void *)ARENA_BASE) /* a host that does not know FIXED_NOREPLACE takes it as a hint */
		return -EEXIST;
	/* A huge page for the first byte of each two megabytes would cost more than the whole kernel. */
	if (madvise(p, ARENA_SIZE, MADV_NOHUGEPAGE) < 0 && errno != EINVAL)
		return -errno;
	region = p;
	return 0;
}

static void *region_take(size_t size, size_t align)
{
	uint64_t at = ALIGN_UP(region_used, align);
	if (!region || size > ARENA_SIZE - at)
		return NULL;
	region_used = at + size;
	return region + at;
}

static size_t obj_room(const struct obj_type *type)
{
	return ALIGN_UP(MAX((size_t)type->size, sizeof(struct free_link)), (size_t)16);
}

/* A type shows up in the list of all types with its first object. */
static void type_register(struct obj_type *type)
{
	for (struct obj_type *t = types; t; t = t->next)
		if (t == type)
			return;
	type->next = types;
	types = type;
}

void *obj_new(struct obj_type *type)
{
	if (type->limit && type->count >= type->limit)
		return NULL;
	void *obj = type->free;
	if (obj) {
		UNPOISON(obj, obj_room(type));
		type->free = ((struct free_link *)obj)->next;
		memset(obj, 0, type->size);
	} else {
		obj = region_take(obj_room(type), 16);
		if (!obj)
			return NULL;
	}
	if (!type->peak)
		type_register(type);
	type->count++;
	objects++;
	if (type->count > type->peak)
		type->peak = type->count;
	if (type->limit && !type->warned && type->count >= type->limit - type->limit / 5) {
		type->warned = true;
		if (arena_warn)
			arena_warn(type);
	}
	return obj;
}

void obj_free(struct obj_type *type, void *obj)
{
	if (!obj)
		return;
	struct free_link *link = obj;
	link->next = type->free;
	type->free = link;
	type->count--;
	objects--;
	POISON((char *)obj + sizeof(*link), obj_room(type) - sizeof(*link));
}

static unsigned blob_shift(size_t size)
{
	if (size <= 1UL << BLOB_MIN_SHIFT)
		return BLOB_MIN_SHIFT;
	return 64 - (unsigned)__builtin_clzl(size - 1);
}

void *blob_new(size_t size)
{
	if (size > BLOB_MAX)
		return NULL;
	unsigned shift = blob_shift(size);
	size_t room = 1UL << shift;
	struct free_link *link = blob_free_lists[shift];
	void *blob = link;
	if (link) {
		UNPOISON(link, room);
		blob_free_lists[shift] = link->next;
	} else {
		blob = region_take(room, MIN(room, PAGE_SIZE));
		if (!blob)
			return NULL;
	}
	blob_bytes += room;
	return blob;
}

void blob_free(void *blob, size_t size)
{
	if (!blob)
		return;
	unsigned shift = blob_shift(size);
	struct free_link *link = blob;
	link->next = blob_free_lists[shift];
	blob_free_lists[shift] = link;
	blob_bytes -= 1UL << shift;
	POISON((char *)blob + sizeof(*link), (1UL << shift) - sizeof(*link));
}

void *blob_resize(void *blob, size_t old_size, size_t new_size)
{
	if (new_size > BLOB_MAX)
		return NULL;
	if (blob && blob_shift(old_size) == blob_shift(new_size))
		return blob;
	void *fresh = blob_new(new_size);
	if (!fresh)
		return NULL;
	if (blob) {
		memcpy(fresh, blob, MIN(old_size, new_size));
		blob_free(blob, old_size);
	}
	return fresh;
}

char *blob_strndup(const char *s, size_t len)
{
	char *copy = blob_new(len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

void arena_stats_get(struct arena_stats *out)
{
	out->used_bytes = region_used;
	out->blob_bytes = blob_bytes;
	out->objects = objects;
}

const struct obj_type *obj_type_next(const struct obj_type *after)
{
	return after ? after->next : types;
}

struct obj_type *obj_type_find(const char *name)
{
	for (struct obj_type *t = types; t; t = t->next)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}
