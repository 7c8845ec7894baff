/* One sync of a disk: what sync.c and sync_work.c share. See there. */
#ifndef VIV_KERNEL_FS_LAYER_SYNC_H
#define VIV_KERNEL_FS_LAYER_SYNC_H

#include "kernel/fs/layer/store.h"

#define ORDER_MAX 64 /* more are cheaper all together */
#define SHARED_MAX 16 /* requests of one flight */
#define STEPS_MAX (SHARED_MAX * 3 + ORDER_MAX * 2 + 8)

enum step_kind { STEP_CONTENT, STEP_NAME, STEP_ORDERED, STEP_WHOLE, STEP_BIRTH, STEP_LOG };

struct step {
	uint8_t kind, op; /* op: WORK_ */
	uint8_t who; /* of STEP_CONTENT and STEP_NAME: whose; the others are everybody's */
	int fd;
	int result;
};

struct flight {
	struct hostwork work; /* first */
	struct layer *l; /* counted while it is on its way */
	struct list requests;
	bool here; /* the steps are made as they are found */
	bool whole, bears;
	uint64_t dirs[4]; /* whose names are among the steps ... */
	bool c;
	uint64_t log_end;
	uint32_t graves;
	int64_t ns; /* that the host took for the steps */
	uint32_t nsteps, left;
	struct step steps[STEPS_MAX];
};

/* ---- sync.c ---- */
/* The node's own content has to be synced: what was sealed does not change, so that once is
 * enough. */
bool sync_content_is_due(const struct lstore *s, const struct lnode *n);
/* The steps for a node's own content, for who. */
int must_check sync_gather_node(struct flight *y, uint8_t who, struct lnode *n, bool data_only);
/* Those for the log, and for what has to be there before it. *ret_kind: what failed. */
int must_check sync_gather_log(struct flight *y, enum step_kind *ret_kind);
/* Names that are not there after all. */
void sync_names_are_due(struct flight *y);
/* All steps that are everybody's are done (r 0), or one failed. */
void sync_settle(struct flight *y, enum step_kind kind, int r);
extern const char *const sync_broke[]; /* what a failed step of everybody's means */
/* All of it, now. */
int must_check sync_here(struct layer *l, struct lnode *n_or_NULL, bool data_only, bool whole);

/* How long the host took for one. */
void sync_took(struct lstore *s, int64_t ns);
/* after so many long ones the next is expected to be one: a single one may be chance */
#define LONG_ROW 2

/* ---- sync_work.c ---- */
/* What waits is on its way, if it can be and nothing is yet. */
void flight_start(struct layer *l);

#endif
