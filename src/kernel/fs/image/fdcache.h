/* A small cache of host descriptors, the least recently used one is closed first.
 *
 * A descriptor is never state: whoever owns an fdref can open it again from what it remembers. One
 * system call uses a handful of descriptors and each use moves it to the front, so with FDCACHE_MIN
 * entries or more none is closed while the call that asked for it still runs. Nothing may keep the
 * number beyond the call. */
#ifndef VIV_KERNEL_FS_IMAGE_FDCACHE_H
#define VIV_KERNEL_FS_IMAGE_FDCACHE_H

#include "base/list.h"

#define FDCACHE_MIN 32

struct fdref {
	struct list lru;
	int fd; /* -1: not open */
};

struct fdcache {
	struct list lru; /* the most recently used is first */
	uint32_t count, max;
};

#define FDCACHE_INIT(name, limit)                 \
	{                                         \
		LIST_INIT((name).lru), 0, (limit) \
	}

void fdref_init(struct fdref *r);
/* The open descriptor, marked as used now; -1 when it is not open. */
int fdcache_use(struct fdcache *c, struct fdref *r);
/* r gets fd (taken); may close the oldest of the others. */
void fdcache_add(struct fdcache *c, struct fdref *r, int fd);
/* Closes it if it is open. */
void fdcache_drop(struct fdcache *c, struct fdref *r);

#endif
