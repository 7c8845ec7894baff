/* The arena's allocator.
 *
 * The region has three zones with gaps between them that can never be touched: objects, blobs, and
 * large blobs, each of which has such a page behind it. So what runs past the end of a blob of a
 * guest's bytes does not reach an object. A zone grows from its start by a bump pointer, and is
 * made accessible in steps; pages that were never reached are never touched, so a small kernel
 * stays small. Nothing is split or joined, so memory never moves between kinds, and each operation
 * is a few instructions.
 *
 * Freed memory is of its type or class for ever. It begins with a link to the next one of its list
 * and a mark that says that it is free; both depend on where it lies and on random keys of the
 * cell, so that they can be neither made up nor copied from elsewhere. The rest of it, or of
 * something large the beginning, is zero, and must be so when it is used again. What was freed last
 * is not used first: it rests until another one that is freed takes its place by chance.
 *
 * Behind the bytes of a blob stands a canary that depends on its address, its size and the keys.
 *
 * Mapping the region is the one host call, made here and not through src/host because this layer
 * lies below it. With the address sanitizer, freed memory is poisoned and rests in one more queue
 * before it is used again, behind everything that is handed out lies poison too, instead of the
 * canary, and freeing twice is a find.
 *
 * With ARENA_TIGHT, which is a kernel for the fuzzer, there are at most so many objects of each
 * type that has a limit, and now and then there is no memory at all: what happens at limits happens
 * all the time. #syscalls: mmap madvise mprotect getrandom */
#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/program.h"

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
#define REDZONE 16UL
#define QUEUE 256u /* frees of any kind before memory may be used again */
#define CANARY 0UL
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define REDZONE 0UL
#define CANARY sizeof(uint64_t)
#endif

#define UNIT 16UL /* what everything is aligned to, and what references count */
#define CLEAR_MAX 1024UL /* of free memory that is no larger every byte is zero */
#define CLEAR_HEAD 256UL /* else so many */

#define LARGE_MIN 65536UL
/* each is an area of the host's, of which a process may have some 65,000 */
#define GUARDS_MAX 8192u
#define CLASSES 84u
#define OPEN_FIRST (512UL << 10)
#define OPEN_STEP (32UL << 20)

#define ZONE_SIZE ARENA_SIZE
#define ZONE_GAP (16UL << 20)
#define RESERVED (3 * ZONE_SIZE + 4 * ZONE_GAP)
/* Any page in these 64 TiB: nothing else is here, neither programs and libraries nor what a
 * sanitizer keeps. */
#define PLACES_START 0x110000000000UL
#define PLACES_END 0x510000000000UL
_Static_assert(RESERVED / UNIT < UINT32_MAX, "references are 32 bits");

/* How free memory begins. */
struct free_head {
	uint64_t link, mark;
};
_Static_assert(sizeof(struct free_head) <= UNIT, "fits in the smallest");

enum zone_nr { ZONE_OBJECTS, ZONE_BLOBS, ZONE_LARGE, ZONES };

struct zone {
	uint64_t start; /* from the region's */
	uint64_t used, open;
};

void (*arena_warn)(const struct obj_type *type) SEALED;

static struct {
	char *region;
	struct arena_place place;
} arena SEALED;
static struct zone zones[ZONES];
static uint64_t chance; /* state of a generator, not a secret worth much */
static uint32_t guards;
static uint64_t region_used;
static uint64_t blob_bytes;
static uint32_t objects;
static struct obj_type *types;
static struct freed blobs_freed[CLASSES];

/* ---- the region ---- */

int arena_init_at(const struct arena_place *place)
{
	void *want = (void *)place->base;
	void *p = mmap(want, RESERVED, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (p != want) /* a host that does not know FIXED_NOREPLACE takes it as a hint */
		return -EEXIST;
	/* A huge page for the first byte of each two megabytes would cost more than the whole
	 * kernel. */
	if (madvise(p, RESERVED, MADV_NOHUGEPAGE) < 0 && errno != EINVAL)
		return -errno;
	arena.region = p;
	arena.place = *place;
	arena.place.key[1] |= 1;
	chance = place->key[0] ^ place->key[1] << 1;
	for (int i = 0; i < ZONES; i++)
		zones[i].start = ZONE_GAP + (uint64_t)i * (ZONE_SIZE + ZONE_GAP);
	return 0;
}

int arena_init(void)
{
	struct arena_place place;
	int ret = -EEXIST;

	for (int i = 0; i < 16 && ret == -EEXIST; i++) {
		if (getrandom(&place, sizeof(place), 0) != sizeof(place))
			return -EIO;
		place.base = PLACES_START +
			     place.base % ((PLACES_END - PLACES_START) / PAGE_SIZE) * PAGE_SIZE;
		ret = arena_init_at(&place);
	}
	return ret;
}

void arena_place_get(struct arena_place *out)
{
	*out = arena.place;
}

static bool zone_open(struct zone *z, uint64_t upto)
{
	uint64_t open;

	if (upto <= z->open)
		return true;
	open = ALIGN_UP(MAX(upto, z->open + MIN(MAX(z->open, OPEN_FIRST), OPEN_STEP)), PAGE_SIZE);
	open = MIN(open, ZONE_SIZE);
	if (mprotect(arena.region + z->start + z->open, open - z->open, PROT_READ | PROT_WRITE) < 0)
		return false;
	z->open = open;
	return true;
}

void arena_expect(size_t bytes)
{
	const uint64_t huge = 2UL << 20;

	/* Which of the two it will be is not known, and what is not touched costs nothing. */
	for (struct zone *z = zones; arena.region && z <= &zones[ZONE_BLOBS]; z++) {
		char *at = arena.region + z->start + z->used;
		char *from = (char *)ALIGN_UP((uintptr_t)at, huge);

		if (bytes < ARENA_SIZE - region_used && bytes < ZONE_SIZE - z->used &&
		    at + bytes >= from + huge && zone_open(z, z->used + bytes))
			(void)madvise(from, (size_t)(at + bytes - from) & ~(huge - 1),
				      MADV_HUGEPAGE);
	}
}

static void *region_take(enum zone_nr nr, size_t size, size_t align)
{
	struct zone *z = &zones[nr];
	uint64_t at = ALIGN_UP(z->used, align);

	if (!arena.region || size > ZONE_SIZE || at > ZONE_SIZE - size ||
	    at + size - z->used > ARENA_SIZE - region_used || !zone_open(z, at + size))
		return NULL;
	region_used += at + size - z->used;
	z->used = at + size;
	return arena.region + z->start + at;
}

/* One that can be touched, and a page behind it that cannot. */
static void *region_take_large(size_t size)
{
	struct zone *z = &zones[ZONE_LARGE];
	size_t all = size + PAGE_SIZE;
	char *p = arena.region + z->start + z->used;
	bool guarded = guards < GUARDS_MAX;

	if (!arena.region || all > ZONE_SIZE - z->used || all > ARENA_SIZE - region_used ||
	    mprotect(p, guarded ? size : all, PROT_READ | PROT_WRITE) < 0)
		return NULL;
	guards += guarded;
	region_used += all;
	z->used += all;
	return p;
}

/* ---- free memory ---- */

static _Noreturn void damaged(const char *what, const char *kind)
{
	char text[128];

	snprintf(text, sizeof(text), "%s (%s)", what, kind ? kind : "blob");
	memory_damaged(text);
}

static uint64_t mix(uint64_t x, unsigned key)
{
	x = (x ^ arena.place.key[key]) * (arena.place.key[!key] | 1);
	return x ^ x >> 29;
}

static uint64_t link_of(const void *p, uint32_t ref)
{
	return ((uint64_t)~ref << 32 | ref) ^ mix((uintptr_t)p, 0);
}

static uint64_t mark_of(const void *p)
{
	return mix((uintptr_t)p, 1);
}

static uint32_t ref_of(const void *p)
{
	return (uint32_t)((uint64_t)((const char *)p - arena.region) / UNIT);
}

static bool zone_has(const struct zone *z, const void *p)
{
	uint64_t at = (uintptr_t)p - (uintptr_t)(arena.region + z->start);

	return at < z->used && at % UNIT == 0;
}

/* Of memory of so many bytes, how many are zero while it is free: all or the beginning. */
static size_t cleared(size_t room)
{
	return room <= CLEAR_MAX ? room : CLEAR_HEAD;
}

static bool is_zero(const void *p, size_t size)
{
	const uint64_t *w = p, *end = w + size / sizeof(*w);
	uint64_t all = 0;

	for (; w < end; w += 2)
		all |= w[0] | w[1];
	return !all;
}

static uint32_t rest_slots(size_t room)
{
	return room <= 256 ? ARENA_REST : room <= 1024 ? 4 : room < (1UL << 20) ? 1 : 0;
}

static const struct zone *zone_of_room(const char *kind, size_t room)
{
	return &zones[kind ? ZONE_OBJECTS : room < LARGE_MIN ? ZONE_BLOBS : ZONE_LARGE];
}

/* The free memory that ref names. Its head is not poisoned any more. */
static struct free_head *freed_at(uint32_t ref, const char *kind, size_t room)
{
	struct free_head *h = (struct free_head *)(arena.region + (uint64_t)ref * UNIT);

	if (!zone_has(zone_of_room(kind, room), h))
		damaged("a list of free memory leads elsewhere", kind);
	UNPOISON(h, sizeof(*h));
	if (h->mark != mark_of(h))
		damaged("free memory was written to", kind);
	return h;
}

static void freed_push(struct freed *f, uint32_t ref, const char *kind, size_t room)
{
	struct free_head *h = freed_at(ref, kind, room);

	if (h->link != link_of(h, 0))
		damaged("a list of free memory is broken", kind);
	h->link = link_of(h, f->top);
	POISON(h, sizeof(*h));
	f->top = ref;
}

static void freed_rest(struct freed *f, uint32_t ref, const char *kind, size_t room)
{
	uint32_t slots = rest_slots(room);

	if (slots) {
		uint32_t *slot;
		uint32_t old;

		chance = chance * 6364136223846793005UL + 1442695040888963407UL;
		slot = &f->rest[(chance >> 58) & (slots - 1)];
		old = *slot;
		*slot = ref;
		ref = old;
	}
	if (ref)
		freed_push(f, ref, kind, room);
}

#ifdef ASAN_ON
static struct queued {
	struct freed *f;
	const char *kind;
	size_t room;
	uint32_t ref;
} queue[QUEUE];
static uint32_t queue_at;
#endif

/* kind is the name of an object's type, NULL for a blob. */
static void freed_put(struct freed *f, void *p, const char *kind, size_t room)
{
	struct free_head *h = p;
	uint32_t ref = ref_of(p);

	UNPOISON(p, room);
	memset(h + 1, 0, cleared(room) - sizeof(*h));
	h->link = link_of(h, 0);
	h->mark = mark_of(h);
	POISON(p, room);
#ifdef ASAN_ON
	struct queued out = queue[queue_at];

	queue[queue_at] = (struct queued){ f, kind, room, ref };
	queue_at = (queue_at + 1) % QUEUE;
	if (!out.ref)
		return;
	f = out.f;
	kind = out.kind;
	room = out.room;
	ref = out.ref;
#endif
	freed_rest(f, ref, kind, room);
}

/* NULL if there is none. Its head is cleared as well. */
static void *freed_take(struct freed *f, const char *kind, size_t room)
{
	struct free_head *h;
	uint64_t link;

	if (!f->top)
		return NULL;
	h = freed_at(f->top, kind, room);
	link = h->link ^ mix((uintptr_t)h, 0);
	if ((uint32_t)(link >> 32) != (uint32_t)~link)
		damaged("a list of free memory is broken", kind);
	UNPOISON(h, room);
	if (!is_zero(h + 1, cleared(room) - sizeof(*h)))
		damaged("free memory was written to", kind);
	f->top = (uint32_t)link;
	*h = (struct free_head){ 0, 0 };
	return h;
}

/* When there is no other memory left. */
static void *freed_take_resting(struct freed *f, const char *kind, size_t room)
{
	for (uint32_t i = 0; i < ARENA_REST && !f->top; i++)
		if (f->rest[i]) {
			freed_push(f, f->rest[i], kind, room);
			f->rest[i] = 0;
		}
	return freed_take(f, kind, room);
}

/* Before p is freed: was it handed out, and is it so still? */
static void free_check(const void *p, const char *kind, size_t size, size_t room)
{
	const struct free_head *h = p;

	if (!zone_has(zone_of_room(kind, room), p))
		damaged("memory is freed that is none", kind);
#ifdef ASAN_ON
	if (size && __asan_address_is_poisoned(p))
		__asan_report_error(__builtin_return_address(0), __builtin_frame_address(0),
				    (void *)&p, (void *)(uintptr_t)p, 1, 1);
	UNPOISON(p, sizeof(*h)); /* a shorter one */
#else
	(void)size;
#endif
	if (h->mark == mark_of(h))
		damaged("memory is freed twice", kind);
}

/* ---- objects ---- */

static size_t obj_room(const struct obj_type *type)
{
	return ALIGN_UP(MAX((size_t)type->size, UNIT), UNIT) + REDZONE;
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

#ifdef ARENA_TIGHT
#define TIGHT_FROM 20000u /* allocations until then are of the start */
#define TIGHT_ONE_OF 256u

static uint32_t limit_of(const struct obj_type *type)
{
	return MIN(type->limit, (uint32_t)ARENA_TIGHT);
}

/* Is there no memory this time? */
static bool is_out_of_luck(void)
{
	static uint32_t times, state = 1;

	if (times < TIGHT_FROM) {
		times++;
		return false;
	}
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % TIGHT_ONE_OF == 0;
}
#else
static uint32_t limit_of(const struct obj_type *type)
{
	return type->limit;
}

static bool is_out_of_luck(void)
{
	return false;
}
#endif

void *obj_new(struct obj_type *type)
{
	if ((type->limit && type->count >= limit_of(type)) || is_out_of_luck())
		return NULL;
	size_t room = obj_room(type);
	void *obj = freed_take(&type->freed, type->name, room);
	bool used = obj;

	if (!obj)
		obj = region_take(ZONE_OBJECTS, room, UNIT);
	if (!obj) {
		obj = freed_take_resting(&type->freed, type->name, room);
		used = obj;
	}
	if (!obj)
		return NULL;
	if (used && room > CLEAR_MAX)
		memset(obj, 0, type->size);
	POISON((char *)obj + room - REDZONE, REDZONE);
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
	free_check(obj, type->name, type->size, obj_room(type));
	type->count--;
	objects--;
	freed_put(&type->freed, obj, type->name, obj_room(type));
}

/* ---- blobs ---- */

/* The class of a blob, and how many bytes those of it have: multiples of 16, from 128 on a quarter,
 * a half and three quarters between two powers of two. A large one has a page behind it that cannot
 * be touched, and may fill its memory; the others have room for what stands behind them. */
static unsigned blob_class(size_t size, size_t *room)
{
	size_t need = size > LARGE_MIN - CANARY - REDZONE ? size : size + CANARY + REDZONE;
	unsigned shift;
	size_t quarter;

	if (need <= 8 * UNIT) {
		need = MAX(ALIGN_UP(need, UNIT), UNIT);
		*room = need;
		return (unsigned)(need / UNIT) - 1;
	}
	shift = 63 - (unsigned)__builtin_clzl(need - 1);
	quarter = (need - 1) >> (shift - 2) & 3;
	*room = (1UL << shift) + ((quarter + 1) << (shift - 2));
	return 8 + (shift - 7) * 4 + (unsigned)quarter;
}

static uint64_t canary_of(const void *blob, size_t size)
{
	return mix((uintptr_t)blob + size, 0) ^ mix(size, 1);
}

static bool canary_fits(size_t size, size_t room)
{
#ifdef ASAN_ON
	return (void)size, (void)room, false;
#else
	return room - size >= CANARY;
#endif
}

/* Of a blob that is handed out only size bytes are to be used. */
static void blob_fence(void *blob, size_t size, size_t room)
{
	uint64_t canary = canary_of(blob, size);

	UNPOISON(blob, size);
	POISON((char *)blob + size, room - size);
	if (canary_fits(size, room))
		memcpy((char *)blob + size, &canary, CANARY);
}

static void fence_check(const void *blob, size_t size, size_t room)
{
	uint64_t canary = canary_of(blob, size);

	if (canary_fits(size, room) && memcmp((const char *)blob + size, &canary, CANARY) != 0)
		damaged("memory was written past its end, or has another size", NULL);
}

static void *blob_take(unsigned class, size_t room)
{
	void *blob = freed_take(&blobs_freed[class], NULL, room);

	if (!blob && room < LARGE_MIN)
		blob = region_take(ZONE_BLOBS, room, MIN(room & -room, PAGE_SIZE));
	else if (!blob)
		blob = region_take_large(room);
	return blob ? blob : freed_take_resting(&blobs_freed[class], NULL, room);
}

void *blob_new(size_t size)
{
	size_t room;
	unsigned class;
	void *blob;

	if (size > BLOB_MAX || is_out_of_luck())
		return NULL;
	class = blob_class(size, &room);
	blob = blob_take(class, room);
	if (!blob)
		return NULL;
	blob_bytes += room;
	blob_fence(blob, size, room);
	return blob;
}

void blob_free(void *blob, size_t size)
{
	size_t room;
	unsigned class;

	if (!blob)
		return;
	if (size > BLOB_MAX)
		damaged("memory is freed that is none", NULL);
	class = blob_class(size, &room);
	free_check(blob, NULL, size, room);
	fence_check(blob, size, room);
	blob_bytes -= room;
	freed_put(&blobs_freed[class], blob, NULL, room);
}

void *blob_resize(void *blob, size_t old_size, size_t new_size)
{
	size_t old_room, new_room;

	if (new_size > BLOB_MAX || old_size > BLOB_MAX)
		return NULL;
	if (blob && blob_class(old_size, &old_room) == blob_class(new_size, &new_room)) {
		fence_check(blob, old_size, old_room);
		blob_fence(blob, new_size, new_room);
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

/* ---- figures ---- */

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
