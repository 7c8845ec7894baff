/* How many bytes a layer may still take, where others than the kernel can make them grow.
 *
 * used_bytes is what the host says that the files of content have. On a disk with a limit, two
 * things count besides, which a mapping can do without any call of ours. A hole in a file that is
 * mapped shared and writable can be filled at any time, so it counts as filled; a mapping for which
 * there is no room that way is refused, where Linux would let the writer die of SIGBUS later. And a
 * file that lost its last name and descriptor while it is mapped keeps its blocks on the host: it
 * stays counted (an orphan) until nobody has it mapped. Whether that is so is asked only when room
 * is short.
 *
 * Files in the scratch directory are bounded by the size of that file system. */
#include <errno.h>
#include <fcntl.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/inode.h"

#define ORPHANS_MAX 512u /* each has a descriptor; the bytes of further ones stay counted */

struct orphan {
	struct list link;
	int fd;
	uint64_t bytes; /* counted in used_bytes */
};

OBJ_TYPE(orphan_type, struct orphan, 8);

bool layer_counts_maps(const struct layer *l)
{
	return l->store && l->max_bytes && !l->store->readonly;
}

/* Bytes that could be added without its growing. */
static uint64_t holes(const struct lnode *n)
{
	uint64_t all = ALIGN_UP(n->inode.size, PAGE_SIZE);

	return all - MIN(n->charged, all);
}

static uint64_t room_now(const struct layer *l)
{
	uint64_t taken = l->used_bytes;
	const struct lnode *n;

	if (layer_counts_maps(l))
		list_for_each(n, &l->store->mapped, mapped_link)
			taken += MIN(holes(n), UINT64_MAX - taken);
	return taken < l->max_bytes ? l->max_bytes - taken : 0;
}

static void orphan_free(struct layer *l, struct orphan *o)
{
	list_remove(&o->link);
	l->store->norphans--;
	layer_uncharge_bytes(l, o->bytes);
	host_close(o->fd);
	obj_free(&orphan_type, o);
}

/* Does nobody have the file any more but for this descriptor, which is for reading? */
static bool is_alone(int fd)
{
	if (host_fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return false;
	(void)host_fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

static void orphans_sort_out(struct layer *l)
{
	struct orphan *o, *tmp;

	list_for_each_safe(o, tmp, &l->store->orphans, link)
		if (is_alone(o->fd))
			orphan_free(l, o);
}

void layer_orphan_add(struct layer *l, int fd, uint64_t bytes)
{
	struct orphan *o = NULL;

	if (is_alone(fd)) {
		host_close(fd);
		return;
	}
	if (l->store->norphans >= ORPHANS_MAX)
		orphans_sort_out(l);
	if (l->store->norphans < ORPHANS_MAX)
		o = obj_new(&orphan_type);
	l->used_bytes += bytes;
	if (!o) {
		host_close(fd);
		return;
	}
	o->fd = fd;
	o->bytes = bytes;
	list_append(&l->store->orphans, &o->link);
	l->store->norphans++;
}

uint64_t layer_room(struct layer *l, uint64_t want)
{
	uint64_t room;

	if (!l->max_bytes)
		return UINT64_MAX;
	room = room_now(l);
	if (room >= want || !layer_counts_maps(l))
		return room;
	store_mapped_sort_out(l);
	orphans_sort_out(l);
	return room_now(l);
}

static bool fits(struct layer *l, uint64_t bytes)
{
	if (bytes <= layer_room(l, bytes))
		return true;
	l->bytes_refused++;
	return false;
}

bool lnode_map_begins(struct lnode *n)
{
	lnode_recount(n);
	return fits(layer_of(n), holes(n));
}

bool lnode_map_fits(struct lnode *n, uint64_t size)
{
	if (!n->mapped_shared || size <= n->inode.size || !layer_counts_maps(layer_of(n)))
		return true;
	return fits(layer_of(n), ALIGN_UP(size, PAGE_SIZE) - ALIGN_UP(n->inode.size, PAGE_SIZE));
}

uint64_t layer_write_room(struct lnode *n, uint64_t pos, uint64_t len, bool *ret_grows)
{
	struct layer *l = layer_of(n);
	uint64_t have = ALIGN_UP(n->inode.size, PAGE_SIZE);
	uint64_t end = ALIGN_UP(pos + len, PAGE_SIZE);
	uint64_t at = ALIGN_DOWN(pos, PAGE_SIZE), from, room;

	if (n->mapped_shared && layer_counts_maps(l))
		from = have; /* all up to there is counted; a hole that is left behind it will be */
	else
		from = n->charged < have ? at : MAX(have, at);
	*ret_grows = end > from;
	if (end <= from || !l->max_bytes)
		return len;
	room = ALIGN_DOWN(layer_room(l, end - from), PAGE_SIZE);
	if (end - from <= room)
		return len;
	l->bytes_refused++;
	return from + room > pos ? from + room - pos : 0;
}
