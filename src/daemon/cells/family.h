/* Families of cells: a cell that was made from inside another one is its child
 * (docs/decisions/0051-subcells.md).
 *
 * Who is whose child is a column of the cell's row, written with it and never changed, so there are
 * no loops. All that is counted here (cells, memory, processors, processes, disk) is summed up from
 * the cells that there are, each time it is needed: what a child has is taken when its row says
 * that it runs and is given back when the row says that it does not, whoever was killed meanwhile.
 *
 * A child's limits are taken out of its parent's: while the child runs, the parent's keeper
 * enforces what is left. So are sealed layers of its disk, for as long as there are any. A parent that has no limit of a kind passes none on; the number of its
 * descendants and their depth are bounded in any case. */
#ifndef VIV_DAEMON_CELLS_FAMILY_H
#define VIV_DAEMON_CELLS_FAMILY_H

#include "daemon/cells/cells.h"

/* Below a cell whose rules have no bounds ("max", "depth"). */
#define FAMILY_CELLS 16
#define FAMILY_DEPTH 3
/* Of a child's name the last part, a dot and so much of its parent's id, is not the child's own. */
#define FAMILY_TAG 16
/* Of the cells below one without a parent: so many that have no name and have ended are kept for
 * whoever asks how. */
#define FAMILY_ENDED 32

/* The cell that made it; NULL: none, or it is gone. Borrowed. */
struct cell *family_parent(const struct cell *c);
/* Was it made by this ancestor, or by a cell that was? */
bool family_is_below(const struct cell *c, const char *ancestor);
/* How many cells are below it: those that run or are to, and those that have files. */
unsigned family_count(const struct cell *c);

/* Bounds of what cells can have vivd do are those of a group: the first cell of a family is one by
 * itself, and all below it are another. Many cells get no more than one, and the first one can act
 * whatever those below it do. */
struct family_group {
	char str[CELL_ID_LEN + 2];
};
struct family_group family_group(const struct cell *c);

bool family_has_children(const struct cell *c);
/* Does a child of it run? */
bool family_has_running(const struct cell *c);

/* A child is known by its name to its parent alone: names are kept for each parent. The name as
 * vivd and the store have it. */
int family_name(const struct cell *parent, const char *name, char ret[CELL_NAME_LEN + 1],
		struct err *f);
struct family_name {
	char str[CELL_NAME_LEN + 1];
};
/* The name that its parent gave it; "": none. */
struct family_name family_name_shown(const struct cell *c);

/* What a cell means by a text: itself, or a descendant by its id, the beginning of one, or the name
 * of a child. Nothing else exists for it. Borrowed; NULL: an error 404. */
struct cell *family_find(struct daemon *d, const char *caller, const char *text, struct err *f);
/* What a cell is told of itself or of a descendant: nothing of the host, and nothing of who made
 * it. */
json_t *family_json(const struct cell *c, const char *caller);
/* Adds "parent" and "children", a list of ids, and what is reserved, to what is told of a cell. */
void family_describe(const struct cell *c, json_t *o);

/* May the parent have a child with these limits? Those that are missing are filled in: half of what
 * is left. The spec is changed. */
int family_admit(struct cell *parent, json_t *spec, struct err *f);
/* May this cell run? Checked for each start of a child. */
int family_may_start(const struct cell *c, struct err *f);
/* Its parent's keeper is told to do with what is left, and then next is called; or the cell has
 * failed to start. For a cell without a parent next is called at once. */
void family_take(struct cell *c, void (*next)(struct cell *c),
		 void (*failed)(struct cell *c, const struct err *f));
/* Tells the keeper of a parent what is left for it, after a change. */
void family_limits_tell(struct cell *parent);

/* ---- layers of disks (familydisk.c) ---- */

/* Of the disk of a child: snapshots that a cell may make, and layers that its forks and snapshots
 * may leave it with. */
#define FAMILY_SNAPSHOTS 32
#define FAMILY_LAYERS 128

/* The sealed layers of a disk and of those that it stands on, as cell->layers; for a thread. */
json_t *family_layers(const char *disk);
/* That was found of a child's disk. Takes layers. */
void family_layers_set(struct cell *c, json_t *layers);
/* Has it found, if the cell is a child with a disk. */
void family_layers_count(struct cell *c);
/* What the children of a cell have of them, or are about to. */
void family_layers_sum(const struct cell *parent, uint64_t *ret_bytes, uint64_t *ret_files);
/* The layers of a child are to be changed for a cell; seals: one more is sealed, and what it can
 * take is taken out of the parent's budget from now on. -1: not now. */
int must_check family_layers_begin(struct cell *c, bool seals, struct err *f);
/* They were; layers: what there are now, NULL: as before. Takes it. late: the cell has not answered
 * and may still seal; what that can take stays taken until it ends. */
void family_layers_end(struct daemon *d, const char *id, json_t *layers, bool late);
/* Can this disk have one more layer, and (ret_snapshots: how many there are) a snapshot? */
struct disk;
int must_check family_layers_room(const struct disk *d, unsigned *ret_snapshots, struct err *e);
/* As uv_queue_work, for what a cell asked for that waits for kernels of cells. */
void family_work(struct daemon *d, uv_work_t *w, uv_work_cb fn, uv_after_work_cb done);
/* For family_layers_begin: notes in c what one more layer may take (familybudget.c). */
int must_check family_layer_admit(const struct cell *parent, struct cell *c, struct err *f);
/* For a fork of a child: its limits, or half of what its parent has left if that is less. */
json_t *family_fork_limits(const struct cell *parent, const struct cell *from);
/* What is told to the parent's keeper, as family_take does for the start of a child, for arg; done
 * is called once, with an error if the parent cannot do with what is left. */
void family_take_for(struct cell *c, void (*done)(void *arg, const struct err *f), void *arg);

/* Before a start: it has the rules that its parent has now, whatever happened since it was made. */
int must_check family_policy_renew(struct cell *c, struct err *f);
/* The rules of a cell are others: its children's follow (familypolicy.c). */
void family_policy_follow(struct cell *parent);

/* A run of the cell is over: its children end, and its parent has more. */
void family_over(struct cell *c);
/* A cell has ended: of those of its family that have no name and ended, too, the first one after
 * this (NULL: of all) that is kept no longer, as there are too many. NULL: none. Borrowed. */
struct cell *family_surplus(struct cell *c, const struct cell *after);
/* The cell was removed: so are its children. */
void family_gone(struct daemon *d, const char *id);
/* Its parent is not there any more: the cell is not kept either. */
bool family_is_orphan(const struct cell *c);

#endif
