/* The arena: one region at a fixed address that holds every kernel object.
 *
 * Two kinds of memory come from it:
 *   objects  of a fixed size, by type; counted, with a limit for each type;
 *   blobs    of any size up to BLOB_MAX, in powers of two; counted as bytes, with one limit.
 * Freed memory is kept for its own kind. Nothing here calls the host except to map more of the region,
 * which is reserved once at boot. Single-threaded by design. */
#ifndef VIV_BASE_ARENA_H
#define VIV_BASE_ARENA_H

#include "base/base.h"

#define ARENA_BASE 0x200000000000UL
#define ARENA_SIZE (4UL << 30)
#define BLOB_MAX (64UL << 20)

struct obj_type {
	const char *name;
	uint32_t size;
	uint32_t limit; /* how many may live at once; 0: only the arena's own size limits them */
	uint32_t count, peak;
	bool warned; /* the 80 % warning of this type was given */
	void *free;
	struct obj_type *next; /* all types that were ever used */
};

#define OBJ_TYPE(var, type, type_limit)                      \
	static struct obj_type var = { .name = &(#type)[7],  \
				       .size = sizeof(type), \
				       .limit = type_limit }

/* Maps the region. Returns 0 or a negative errno. */
int must_check arena_init(void);
/* As many bytes will be needed soon, all of them: the host may give them in large pages, so that it is not asked for each small one. */
void arena_expect(size_t bytes);

/* A zeroed object, or NULL when the type's limit or the arena is used up. */
void *must_check obj_new(struct obj_type *type);
void obj_free(struct obj_type *type, void *obj);

/* Memory of size bytes (not zeroed), 16-byte aligned, or NULL. The caller gives the same size back. */
void *must_check blob_new(size_t size);
void blob_free(void *blob, size_t size);
/* Grows or shrinks, keeps the content; on failure returns NULL and the old blob stays. */
void *must_check blob_resize(void *blob, size_t old_size, size_t new_size);

/* A copy of len bytes and a NUL; freed with blob_free(s, len + 1). */
char *must_check blob_strndup(const char *s, size_t len);

struct arena_stats {
	uint64_t used_bytes; /* of the region, ever touched */
	uint64_t blob_bytes; /* in live blobs */
	uint32_t objects; /* live objects of all types */
};
void arena_stats_get(struct arena_stats *out);

/* Walks the types that were ever used: pass NULL first. */
const struct obj_type *obj_type_next(const struct obj_type *after);
/* A type by name, NULL if it was never used. */
struct obj_type *obj_type_find(const char *name);

/* Called once for each type when it passes 80 % of its limit; may be NULL. */
extern void (*arena_warn)(const struct obj_type *type);

#endif
