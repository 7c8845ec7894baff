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
 * start and rests in a queue before it is used again, behind everything that is handed out lies
 * poison too, and freeing twice is a find.
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
#ifdef ASAN_ON
#define REDZONE 16UL
#define REST 256u /* frees of a kind before its memory is used again */
#else
#define REDZONE 0UL
#define REST 0u
#endif

#define BLOB_MIN_SHIFT 4
#define BLOB_MAX_SHIFT 26
_Static_assert(BLOB_MAX == 1UL << BLOB_MAX_SHIFT, "the largest blob");

struct free_link {
	struct free_link *next;
};

#ifdef ASAN_ON
/* What was freed last, of all kinds, oldest first: it is put on its free list only when it leaves here. */
static struct resting {
	struct free_link *link, **list;
} resting[REST];
static uint32_t rest_at;
#endif

/* To the free list, and out of sight. */
static void memory_free(void *p, struct free_link **list, size_t room)
{
	struct free_link *link = p;

	POISON((char *)p + sizeof(*link), room - sizeof(*link));
#ifdef ASAN_ON
	struct resting out = resting[rest_at];

	resting[rest_at] = (struct resting){ link, list };
	rest_at = (rest_at + 1) % REST;
	if (!out.link)
		return;
	link = out.link;
	list = out.list;
#endif
	link->next = *list;
	*list = link;
}

/* Freed already? The second word is poisoned then. */
static void free_check(const void *p)
{
#ifdef ASAN_ON
	if (__asan_address_is_poisoned((const char *)p + sizeof(struct free_link)))
		__asan_report_error(__builtin_return_address(0), __builtin_frame_address(0),
				    (void *)&p, (void *)(uintptr_t)p, 1, 1);
#else
	(void)p;
#endif
}

void (*arena_warn)(const struct obj_type *type) SEALED;

static char *region;
static uint64_t region_used;
static uint64_t blob_bytes;
static uint32_t objects;
static struct obj_type *types;
static struct free_link *blob_free_lists[BLOB_MAX_SHIFT + 2];

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

void arena_expect(size_t bytes)
{
	const uint64_t huge = 2UL << 20;
	uint64_t from = ALIGN_UP(region_used, huge);

	if (region && bytes < ARENA_SIZE - region_used && region_used + bytes >= from + huge)
		(void)madvise(region + from, (region_used + bytes - from) & ~(huge - 1),
			      MADV_HUGEPAGE);
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
	return ALIGN_UP(MAX((size_t)type->size, sizeof(struct free_link)), (size_t)16) + REDZONE;
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
	POISON((char *)obj + obj_room(type) - REDZONE, REDZONE);
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
	if (type->size > sizeof(struct free_link))
		free_check(obj);
	type->count--;
	objects--;
	memory_free(obj, (struct free_link **)&type->free, obj_room(type));
}

static unsigned blob_shift(size_t size)
{
	size += REDZONE;
	if (size <= 1UL << BLOB_MIN_SHIFT)
		return BLOB_MIN_SHIFT;
	return 64 - (unsigned)__builtin_clzl(size - 1);
}

/* Of a blob that is handed out only size bytes are to be used. */
static void blob_fence(void *blob, size_t size, size_t room)
{
	UNPOISON(blob, size);
	POISON((char *)blob + size, room - size);
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
	blob_fence(blob, size, room);
	return blob;
}

void blob_free(void *blob, size_t size)
{
	if (!blob)
		return;
	unsigned shift = blob_shift(size);
	if (size > sizeof(struct free_link))
		free_check(blob);
	UNPOISON(blob, sizeof(struct free_link)); /* a shorter one */
	blob_bytes -= 1UL << shift;
	memory_free(blob, &blob_free_lists[shift], 1UL << shift);
}

void *blob_resize(void *blob, size_t old_size, size_t new_size)
{
	if (new_size > BLOB_MAX)
		return NULL;
	if (blob && blob_shift(old_size) == blob_shift(new_size)) {
		blob_fence(blob, new_size, 1UL << blob_shift(new_size));
		return blob;
	}
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
