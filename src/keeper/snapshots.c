/* What a client asks of the snapshots of a cell that runs. The keeper has its disk locked, so
 * nobody else can do it.
 *
 * One is made in two parts: the tree file gets a new active layer, and the kernel goes on in that.
 *
 * One is forgotten by taking its name out of the tree file. Its layer stays: the kernel stands on
 * it, or a collector finds it when the disk is free.
 *
 * Going back to one ends the cell, because no process can go on with another tree under it: as
 * KEEP_STOP does, once it is known that there is such a snapshot. When the kernel is gone, the
 * active layer is exchanged, and only then is the disk let go, so nobody starts the cell in
 * between. Whether it is started again is the business of who started it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keeper/journal.h"
#include "keeper/keeper.h"

/* ---- making one ---- */

/* e NULL: it is made. */
static void seal_answer(const struct err *e)
{
	keeper.seal_runs = false;
	if (e)
		client_err(keeper.sealing, keeper.seal_id, 0, e);
	else
		client_ok(keeper.sealing, keeper.seal_id, keeper.seal_layer);
	keeper.sealing = NULL;
}

/* What the tree file says comes first: a layer that it names and nobody made yet is an empty one,
 * but one that it does not name is lost. */
void seal_request(struct client *c, const struct keep_msg *in)
{
	struct rootfs *p = keeper.rootfs;
	struct ctl_msg m = { .type = CTL_SEAL, .text = "sync" };
	struct err e;
	int err;

	if (!p->kept) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell keeps no files" REMEDY "a snapshot needs a cell with --name");
		return;
	}
	if (keeper.seal_runs) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "a snapshot is being made" REMEDY "try again");
		return;
	}
	if (in->text[0] && !disk_name_is_valid(in->text)) {
		client_fail(c, in->id, ERR_USAGE, 0, "'%.64s' is not a valid name for a snapshot",
			    in->text);
		return;
	}
	keeper.sealing = c;
	keeper.seal_runs = true;
	keeper.seal_id = in->id;
	keeper.seal_layer = p->disk.active;
	snprintf(keeper.seal_name, sizeof(keeper.seal_name), "%.*s", DISK_NAME_MAX, in->text);
	err = disk_seal_start(p->store.fd, &p->disk, in->text);
	if (err) {
		if (err == -EEXIST)
			err_set(&e, ERR_CONFLICT, "cell '%s' has a snapshot '%.64s' already",
				p->cell.name, in->text);
		else if (err == -ELOOP)
			err_set(&e, ERR_FAILED,
				"the cell has as many layers of snapshots on top of each other as "
				"there can be" REMEDY "stop and start it, which makes one of them");
		else
			err_set(&e, ERR_FAILED, "cannot make a snapshot of cell '%s': %s",
				p->cell.name, strerror(-err));
		seal_answer(&e);
		return;
	}
	m.a = (int32_t)p->disk.active;
	if (!control_put(&m, NULL, 0)) {
		disk_unseal(&p->disk);
		err_set(&e, ERR_FAILED, "the cell does not answer");
		seal_answer(&e);
	}
}

void seal_end(int err)
{
	struct err e;

	if (!keeper.seal_runs)
		return;
	if (err)
		disk_unseal(&keeper.rootfs->disk);
	else
		err = disk_seal_end(&keeper.rootfs->disk);
	if (err)
		err_set(&e, ERR_FAILED, "cannot make a snapshot of cell '%s': %s",
			keeper.rootfs->cell.name, strerror(-err));
	else
		journal_operator("snapshot", keeper.seal_name);
	seal_answer(err ? &e : NULL);
}

/* ---- forgetting one, and going back to one ---- */

/* The snapshot that is named, if something can be done with it now; NULL: answered. */
static const struct disk_layer *snapshot_find(struct client *c, const struct keep_msg *in)
{
	const struct rootfs *p = keeper.rootfs;
	const struct disk_layer *l = p->kept ? disk_snapshot_find(&p->disk, in->text) : NULL;
	struct err e;

	if (!p->kept) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell keeps no files" REMEDY "snapshots are for cells with --name");
	} else if (keeper.stay.ended) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell is just ending" REMEDY "try again");
	} else if (!l) {
		snapshot_missing(p->cell.name, in->text, &e);
		client_err(c, in->id, 0, &e);
	} else if (keeper.seal_runs && l->n == keeper.seal_layer) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the snapshot is being made" REMEDY "try again");
	} else {
		return l;
	}
	return NULL;
}

void forget_request(struct client *c, const struct keep_msg *in)
{
	struct rootfs *p = keeper.rootfs;
	struct err e;
	int err;

	if (!snapshot_find(c, in))
		return;
	if (!strcmp(keeper.rollback, in->text)) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell's files are being set back to this snapshot");
		return;
	}
	err = disk_snapshot_remove(&p->disk, in->text);
	if (err) {
		disk_failed("cell", p->cell.name, err, &e);
		client_err(c, in->id, 0, &e);
	} else {
		client_ok(c, in->id, 0);
	}
}

void rollback_request(struct client *c, const struct keep_msg *in)
{
	const struct disk_layer *l = snapshot_find(c, in);

	if (!l)
		return;
	if (keeper.rollback[0]) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell's files are being set back to snapshot '%s'",
			    keeper.rollback);
		return;
	}
	journal_operator("rollback", l->name);
	strcpy(keeper.rollback, l->name);
	keeper.rolling = c;
	keeper.rollback_id = in->id;
	cell_stop(keep_grace(in));
}

void rollback_end(void)
{
	struct rootfs *p = keeper.rootfs;
	struct err e;
	int err;

	if (!keeper.rollback[0])
		return;
	err = disk_rollback(p->store.fd, &p->disk, keeper.rollback);
	if (err) {
		disk_failed("cell", p->cell.name, err, &e);
		client_err(keeper.rolling, keeper.rollback_id, 1, &e);
	} else {
		client_ok(keeper.rolling, keeper.rollback_id, 0);
	}
	keeper.rolling = NULL;
	/* Who sits there sees his command end, and did not ask for it. */
	if (!keeper.detached && !keeper.o->quiet)
		warn(err ? "the cell was ended to set its files back to snapshot '%s', which failed"
			 : "the cell was ended, and its files were set back to snapshot '%s'",
		     keeper.rollback);
}
