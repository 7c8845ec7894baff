/* Writing objects: contents go to a file in the work directory and are hashed on the way; the
 * finished file is renamed to its hash. Small contents wait in memory until their hash is known, so
 * those that the store has already are never written.
 *
 * An object that no image links to (one link) may be what a crash left: it is never relied on but
 * compared or replaced. Nothing is synced here; image_publish does it once for all. */
#ifndef VIV_IMPORT_OBJECT_H
#define VIV_IMPORT_OBJECT_H

#include <sys/stat.h>

#include "base/base.h"
#include "base/err.h"
#include "base/buf.h"
#include "import/hash.h"
#include "store/store.h"

#define OBJECT_NONE UINT32_MAX
#define PYC_NONE ((int64_t)-1)
/* A kernel has a user of its own, and its cell's users read the file through it. */
#define OBJECT_MODE 0444

struct objects {
	const struct store *store;
	int work; /* directory for files that are being written */
	int dirs[256]; /* objects/XX */
	struct buf list; /* struct index_object, in the order of import */
	uint32_t *slots; /* hash table of it */
	uint32_t nslots;
	uint64_t total, max_total; /* bytes of contents, holes counted */
	/* The one that is being written: */
	struct hash hash;
	uint8_t *small;
	size_t small_len;
	int fd; /* -1: all of it is in small */
	uint64_t pos;
	bool pyc;
	int64_t pyc_time;
};

static inline bool object_readable(const struct stat *st)
{
	return (st->st_mode & OBJECT_MODE) == OBJECT_MODE;
}

void objects_init(struct objects *o, const struct store *s, int work, uint64_t max_total);
void objects_fini(struct objects *o);
/* Removes those of them that no image links to. Only for one who has the store's lock exclusively:
 * another import may have found them. */
void objects_drop(struct objects *o);

/* Starts one; size: as far as it is known, to refuse early. pyc: see object_end. */
int object_start(struct objects *o, uint64_t size, bool pyc, struct err *e);
/* Bytes at an offset that never goes back; what is left out becomes a hole. */
int object_write(struct objects *o, const void *data, size_t n, uint64_t offset, struct err *e);
/* Ends it with size bytes. number: OBJECT_NONE when it is empty. pyc_time (may be NULL): the time
 * of its source that a .pyc file had recorded before it was normalised, else PYC_NONE. */
int object_end(struct objects *o, uint64_t size, uint32_t *number, int64_t *pyc_time,
	       struct err *e);
/* An object that an image of the store has: neither copied nor hashed again. The image is kept
 * open. */
int object_take(struct objects *o, const struct index_object *object, bool pyc, uint32_t *number,
		int64_t *pyc_time, struct err *e);
/* An object from a block of memory. */
int object_add(struct objects *o, const void *data, size_t n, uint32_t *number, struct err *e);
/* Opens object number for reading; -1 with errno. */
int object_open(struct objects *o, uint32_t number);
/* Makes path in dir another name (or a copy) of the object. */
int object_link(struct objects *o, uint32_t number, int dir, const char *path, struct err *e);

#endif
