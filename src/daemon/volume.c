/* See volume.h. */
#include "daemon/volume.h"

#include <errno.h>
#include <unistd.h>

#include "keeper/named.h"

int volume_make(const struct store *s, const char *name, struct err *e)
{
	const struct layer_ref ground = { 0 };
	struct named n;
	struct disk d;

	if (named_make(s, NAMED_VOLUME, name, DISK_NO_IMAGE, &ground, &n, &d, e) < 0)
		return -1;
	disk_close(&d);
	return 0;
}

int volume_drop(const struct store *s, const char *name, struct err *e)
{
	struct named n;
	struct disk d;
	int err = named_find(s->fd, NAMED_VOLUME, name, &n), lock;

	if (err)
		return named_failed("volume", name, err, e);
	err = disk_open(s->fd, n.disk, DISK_EXCLUSIVE, &d);
	if (err == -EBUSY)
		return disk_failed("volume", name, err, e);
	if (!err)
		disk_close(&d);
	err = named_remove(s->fd, NAMED_VOLUME, name);
	if (err)
		return named_failed("volume", name, err, e);
	lock = store_lock(s, true, NULL, e);
	if (lock < 0)
		return -1;
	named_collect(s->fd);
	close(lock);
	return 0;
}
