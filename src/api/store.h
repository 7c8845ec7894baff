/* What the routes of the store share. */
#ifndef VIV_API_STORE_H
#define VIV_API_STORE_H

#include "api/http/request.h"
#include "store/store.h"

/* Opens the store for a request; false: answered. */
bool request_store(struct request *r, struct store *s);
/* The hashes of images without a tag that no named cell has, as a list; NULL: an error. Those that
 * only disks use are among them. */
json_t *images_unused(const struct store *s, struct err *e);
/* Volumes that prune leaves alone, as an object with their names: those that a cell mounts, running
 * or not, or that a project made. */
json_t *volumes_kept(struct daemon *d);
/* The bytes that a disk takes. Slow. */
uint64_t disk_usage(const struct store *s, const char *disk);

#endif
