/* The arena: one region that holds every kernel object, at an address that differs from cell to
 * cell.
 *
 * Two kinds of memory come from it:
 *   objects  of a fixed size, by type; counted, with a limit for each type;
 *   blobs    of any size up to BLOB_MAX, in classes; counted as bytes, with one limit.
 * Freed memory is kept for its own kind. Nothing here calls the host except to map more of the
 * region, which is reserved once at boot. Single-threaded by design.
 *
 * Mistakes of the caller end the program (memory_damaged() in base/program.h) as soon as they are
 * noticed: memory that is freed twice, or was never handed out; free memory that was written to; a
 * blob that was written past its end, or is given back with another size. */
#ifndef VIV_BASE_ARENA_H
#define VIV_BASE_ARENA_H

#include "base/base.h"

#define ARENA_SIZE (4UL << 30)
#define BLOB_MAX (64UL << 20)

/* Where a region lies, and what its free memory is marked with. Memory that outlives its process
 * can only be used at the same place, with the same keys. */
struct arena_place {
	uint64_t base; /* at a page */
	uint64_t key[2];
};

/* Free memory of one kind. The last that were freed rest, each as long as chance will have it; the
 * others are a list, which is used first. As numbers (of 16 bytes each, from the region's start), 0
 * for none. */
#define ARENA_REST 16u
struct freed {
	uint32_t top;
	uint32_t rest[ARENA_REST];
};

struct obj_type {
	const char *name;
	uint32_t size;
	uint32_t limit; /* how many may live at once; 0: only the arena's own size limits them */
	uint32_t count, peak;
	bool warned; /* the 80 % warning of this type was given */
	struct freed freed;
	struct obj_type *next; /* all types that were ever used */
};

#define OBJ_TYPE(var, type, type_limit)                      \
	static struct obj_type var = { .name = &(#type)[7],  \
				       .size = sizeof(type), \
				       .limit = type_limit }

/* Reserves the region at a place of its own choice. Returns 0 or a negative errno. */
int must_check arena_init(void);
/* The same at a given place: -EEXIST if something else is there. */
int must_check arena_init_at(const struct arena_place *place);
void arena_place_get(struct arena_place *out);
/* As many bytes will be needed soon, all of them: the host may give them in large pages, so that it
 * is not asked for each small one. */
void arena_expect(size_t bytes);

/* A zeroed object, or NULL when the type's limit or the arena is used up. */
void *must_check obj_new(struct obj_type *type);
void obj_free(struct obj_type *type, void *obj);

/* Memory of size bytes (not zeroed), 16-byte aligned, or NULL. The caller gives the same size
 * back. */
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
