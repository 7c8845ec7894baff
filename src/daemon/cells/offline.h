/* Using the files of a named cell that does not run. For that time a kernel runs on its disk, with
 * nothing in it but what the visitors start; the cell's state stays what it is, and nobody but vivd
 * can reach that kernel, which ends with its last visitor, or with vivd.
 *
 * A cell that is to be started meanwhile waits for that, and after VISIT_SECONDS its visitors are
 * sent away. */
#ifndef VIV_DAEMON_CELLS_OFFLINE_H
#define VIV_DAEMON_CELLS_OFFLINE_H

#include "daemon/cells/cells.h"
#include "daemon/keepers/link.h"

#define VISIT_SECONDS 10

struct visitor {
	struct list link;
	struct visit *v; /* NULL: it is not there, or has left */
	/* Once, later: the kernel runs; or it cannot (l NULL), and the visit is over. */
	void (*ready)(struct visitor *w, struct keeper_link *l, const struct err *f);
	void (*left)(struct visitor *w);
};

/* Of a cell with a name that has no keeper. w stays the caller's. */
void visit_begin(struct cell *c, struct visitor *w,
		 void (*ready)(struct visitor *w, struct keeper_link *l, const struct err *f));
/* It needs the kernel no more. True: that was all, because others use it, or it is gone already.
 * False: left is called when the disk is free; left NULL: nobody waits for that. */
bool visit_end(struct visitor *w, void (*left)(struct visitor *w));
/* Calls then when the visit is over: the cell is to be started. */
void visit_before(struct cell *c, void (*then)(struct cell *c));
/* What the cell's disk keeps and nobody needs is removed; as long as that takes, it is as if
 * somebody visited it. Only if nobody does. left is called in any case. */
void visit_merge(struct cell *c, struct visitor *w, void (*left)(struct visitor *w));
/* vivd ends. */
void visit_close(struct cell *c);

#endif
