/* See view.h. */
#include "keeper/disk/view.h"

#include <string.h>

int view_open(struct view *v, const struct store *s, const struct cell_ref *ref,
	      enum disk_lock lock, struct err *e)
{
	struct rootfs *p = &v->rootfs;
	const struct disk_layer *l;
	int err;

	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < ARRAY_LEN(p->volumes); i++)
		p->volumes[i] = (struct disk){ .dir = -1, .lock = -1 };
	p->store = *s;
	if (cell_open(s, ref->name, lock, &p->cell, &p->disk, e) < 0)
		return -1;
	p->kept = true;
	v->layer = p->disk.active;
	if (ref->snapshot[0]) {
		l = disk_snapshot_find(&p->disk, ref->snapshot);
		if (!l) {
			disk_close(&p->disk);
			return snapshot_missing(ref->name, ref->snapshot, e);
		}
		v->layer = l->n;
	}
	err = disk_chain_with(s->fd, &p->disk, v->layer, &p->chain);
	if (err) {
		disk_close(&p->disk);
		return err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read: %s", ref->name,
			       strerror(-err));
	}
	if (strcmp(p->cell.image, "host")) {
		if (image_open(s, p->cell.image, &p->image, e) < 0) {
			disk_chain_close(&p->chain);
			disk_close(&p->disk);
			return -1;
		}
		p->stored = true;
	}
	return 0;
}

void view_close(struct view *v)
{
	disk_chain_close(&v->rootfs.chain);
	disk_close(&v->rootfs.disk);
	if (v->rootfs.stored)
		image_close(&v->rootfs.image);
}
