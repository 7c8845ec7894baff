/* The cache of host descriptors: a list in order of use. See fdcache.h. */
#include "kernel/fs/image/fdcache.h"

#include "host/host.h"

void fdref_init(struct fdref *r)
{
	list_init(&r->lru);
	r->fd = -1;
}

int fdcache_use(struct fdcache *c, struct fdref *r)
{
	if (r->fd < 0)
		return -1;
	if (c->lru.next != &r->lru) {
		list_remove(&r->lru);
		list_push(&c->lru, &r->lru);
	}
	return r->fd;
}

void fdcache_add(struct fdcache *c, struct fdref *r, int fd)
{
	fdcache_drop(c, r);
	if (c->count >= MAX(c->max, FDCACHE_MIN))
		fdcache_drop(c, list_last(&c->lru, struct fdref, lru));
	r->fd = fd;
	list_push(&c->lru, &r->lru);
	c->count++;
}

void fdcache_drop(struct fdcache *c, struct fdref *r)
{
	if (r->fd < 0)
		return;
	host_close(r->fd);
	r->fd = -1;
	list_remove(&r->lru);
	c->count--;
}
