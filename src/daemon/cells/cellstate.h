/* The states of a cell, what leads from one to another, and when a cell that ended is started
 * again. Nothing here has a side effect.
 *
 *                start              up              pause
 *   created ───────────▶ starting ──────▶ running ◀───────▶ paused
 *                          ▲   │             │  resume         │
 *                    start │   │ stop        │ stop            │ stop
 *                          │   ▼             ▼                 │
 *    stopped, completed, ◀─┴── stopping ◀────┴─────────────────┘
 *    failed   end (from starting, running, paused, stopping), done and broke likewise
 *
 * A cell is removed from created, stopped, completed, failed or sleeping. sleeping: nothing of it
 * runs, and whoever uses it starts it. A cell that is to sleep is stopping until its keeper is gone
 * (slept); one that has no keeper sleeps at once, and stop makes it stopped. stopped: it ended
 * because it was asked to, or by itself with another exit status than 0, or it is about to be
 * started again. completed: its command ended by itself with status 0, and nobody starts it again.
 * failed: it could not start, its kernel broke down, or its keeper was lost. */
#ifndef VIV_DAEMON_CELLS_CELLSTATE_H
#define VIV_DAEMON_CELLS_CELLSTATE_H

#include "base/base.h"
#include "spec/options.h"

enum cell_state {
	CELL_NONE, /* no state: what is refused leads here */
	CELL_CREATED,
	CELL_STARTING,
	CELL_RUNNING,
	CELL_PAUSED,
	CELL_STOPPING,
	CELL_STOPPED,
	CELL_FAILED,
	CELL_REMOVED,
	CELL_SLEEPING, /* here, because the numbers are in the database */
	CELL_COMPLETED,
	CELL_STATES,
};

enum cell_input {
	/* asked for */
	IN_START,
	IN_STOP,
	IN_PAUSE,
	IN_RESUME,
	IN_REMOVE,
	IN_SLEEP,
	/* told by its keeper, or of it */
	IN_UP, /* it runs */
	IN_END, /* it ended */
	IN_BROKE, /* it could not start, or broke down */
	IN_LOST, /* its keeper is gone without a word */
	IN_SLEPT, /* it has ended, and is to sleep */
	IN_DONE, /* its command ended with status 0, and it is not started again */
	CELL_INPUTS,
};

/* Why a run ended. */
enum cell_reason {
	REASON_NONE, /* it has not */
	REASON_EXITED, /* its command did, or nothing ran in it any more */
	REASON_ASKED,
	REASON_TIMEOUT,
	REASON_IDLE, /* it was stopped after its idle time-out */
	REASON_MEMORY,
	REASON_FAILED, /* it could not start, or its kernel broke down */
	REASON_LOST, /* its keeper was killed */
	REASON_UNHEALTHY,
	REASON_SLEEP, /* it was put to sleep */
	CELL_REASONS,
};

/* "" for REASON_NONE. */
const char *cell_reason_name(enum cell_reason r);
/* What another version wrote and we do not know is REASON_FAILED. */
enum cell_reason cell_reason_parse(const char *name);
/* What the end of a run is for its state: IN_END, IN_BROKE or IN_LOST. */
enum cell_input cell_reason_input(enum cell_reason r);

const char *cell_state_name(enum cell_state s);
/* CELL_NONE: no such state. */
enum cell_state cell_state_parse(const char *name);
const char *cell_input_name(enum cell_input in);
/* The state that follows; CELL_NONE: not from this one. */
enum cell_state cell_state_next(enum cell_state s, enum cell_input in);
/* There is a keeper, or there will be at once. */
bool cell_state_is_live(enum cell_state s);

/* ---- restarts ---- */

#define RESTART_FIRST_MS 100
#define RESTART_MOST_MS 60000
/* A cell that ran as long as this begins anew with the first delay. */
#define RESTART_GOOD_MS 10000

/* After how many milliseconds a cell that ended is started again; -1: not. *row counts restarts in
 * a row: it is set to 0 when the cell ran long enough, and counted up when it is started again.
 * asked: somebody stopped it. */
int64_t restart_delay(const struct restart *r, uint32_t *row, bool asked, bool failed, int status,
		      int64_t ran_ms);

#endif
