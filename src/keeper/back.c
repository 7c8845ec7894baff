/* What a client asks of the snapshots of a cell that runs. The keeper has its disk locked, so nobody else can do it.
 *
 * One is forgotten by taking its name out of the tree file. Its layer stays: the kernel stands on it, or a collector finds it when the disk is
 * free. */
#include <stdio.h>
#include <string.h>

#include "keeper/keeper.h"

/* The snapshot that is named, if something can be done with it now; NULL: answered. */
static const struct disk_layer *snapshot_find(struct client *c, const struct keep_msg *in)
{
	const struct place *p = keeper.place;
	const struct disk_layer *l = p->kept ? disk_snapshot_find(&p->disk, in->text) : NULL;
	struct err e;

	if (!p->kept) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell keeps no files; snapshots are for cells with --name");
	} else if (keeper.ended) {
		client_fail(c, in->id, ERR_CONFLICT, 0, "the cell is just ending; try again");
	} else if (!l) {
		snapshot_missing(p->cell.name, in->text, &e);
		client_fail(c, in->id, e.kind, 0, "%s", e.text);
	} else if (keeper.seal_runs && l->n == keeper.seal_layer) {
		client_fail(c, in->id, ERR_CONFLICT, 0, "the snapshot is being made; try again");
	} else {
		return l;
	}
	return NULL;
}

void forget_request(struct client *c, const struct keep_msg *in)
{
	struct place *p = keeper.place;
	struct err e;
	int err;

	if (!snapshot_find(c, in))
		return;
	err = disk_snapshot_remove(&p->disk, in->text);
	if (err) {
		disk_failed("cell", p->cell.name, err, &e);
		client_fail(c, in->id, e.kind, 0, "%s", e.text);
	} else {
		client_ok(c, in->id, 0);
	}
}
