/* See cellstate.h. */
#include "daemon/cells/cellstate.h"

#include <string.h>

static const char *const state_names[CELL_STATES] = {
	[CELL_CREATED] = "created",	[CELL_STARTING] = "starting", [CELL_RUNNING] = "running",
	[CELL_PAUSED] = "paused",	[CELL_STOPPING] = "stopping", [CELL_STOPPED] = "stopped",
	[CELL_FAILED] = "failed",	[CELL_REMOVED] = "removed",   [CELL_SLEEPING] = "sleeping",
	[CELL_COMPLETED] = "completed",
};

static const char *const input_names[CELL_INPUTS] = {
	[IN_START] = "start",	[IN_STOP] = "stop",   [IN_PAUSE] = "pause", [IN_RESUME] = "resume",
	[IN_REMOVE] = "remove", [IN_SLEEP] = "sleep", [IN_UP] = "up",	    [IN_END] = "end",
	[IN_BROKE] = "break",	[IN_LOST] = "lose",   [IN_SLEPT] = "sleep", [IN_DONE] = "complete",
};

static const uint8_t table[CELL_STATES][CELL_INPUTS] = {
	[CELL_CREATED] = { [IN_START] = CELL_STARTING,
			   [IN_REMOVE] = CELL_REMOVED,
			   [IN_SLEEP] = CELL_SLEEPING },
	[CELL_STARTING] = { [IN_STOP] = CELL_STOPPING,
			    [IN_SLEEP] = CELL_STOPPING,
			    [IN_SLEPT] = CELL_SLEEPING,
			    [IN_UP] = CELL_RUNNING,
			    [IN_END] = CELL_STOPPED,
			    [IN_DONE] = CELL_COMPLETED,
			    [IN_BROKE] = CELL_FAILED,
			    [IN_LOST] = CELL_FAILED },
	[CELL_RUNNING] = { [IN_STOP] = CELL_STOPPING,
			   [IN_SLEEP] = CELL_STOPPING,
			   [IN_PAUSE] = CELL_PAUSED,
			   [IN_END] = CELL_STOPPED,
			   [IN_DONE] = CELL_COMPLETED,
			   [IN_BROKE] = CELL_FAILED,
			   [IN_LOST] = CELL_FAILED },
	[CELL_PAUSED] = { [IN_STOP] = CELL_STOPPING,
			  [IN_SLEEP] = CELL_STOPPING,
			  [IN_RESUME] = CELL_RUNNING,
			  [IN_END] = CELL_STOPPED,
			  [IN_DONE] = CELL_COMPLETED,
			  [IN_BROKE] = CELL_FAILED,
			  [IN_LOST] = CELL_FAILED },
	[CELL_STOPPING] = { [IN_STOP] = CELL_STOPPING,
			    [IN_SLEEP] = CELL_STOPPING,
			    [IN_SLEPT] = CELL_SLEEPING,
			    [IN_END] = CELL_STOPPED,
			    [IN_DONE] = CELL_COMPLETED,
			    [IN_BROKE] = CELL_FAILED,
			    [IN_LOST] = CELL_FAILED },
	[CELL_STOPPED] = { [IN_START] = CELL_STARTING,
			   [IN_REMOVE] = CELL_REMOVED,
			   [IN_SLEEP] = CELL_SLEEPING },
	[CELL_COMPLETED] = { [IN_START] = CELL_STARTING,
			     [IN_REMOVE] = CELL_REMOVED,
			     [IN_SLEEP] = CELL_SLEEPING },
	[CELL_FAILED] = { [IN_START] = CELL_STARTING,
			  [IN_REMOVE] = CELL_REMOVED,
			  [IN_SLEEP] = CELL_SLEEPING },
	[CELL_SLEEPING] = { [IN_START] = CELL_STARTING,
			    [IN_STOP] = CELL_STOPPED,
			    [IN_REMOVE] = CELL_REMOVED,
			    [IN_SLEEP] = CELL_SLEEPING },
};

static const char *const reason_names[CELL_REASONS] = {
	[REASON_NONE] = "",	      [REASON_EXITED] = "exited", [REASON_ASKED] = "asked",
	[REASON_TIMEOUT] = "timeout", [REASON_IDLE] = "idle",	  [REASON_MEMORY] = "memory",
	[REASON_FAILED] = "failed",   [REASON_LOST] = "lost",	  [REASON_UNHEALTHY] = "unhealthy",
	[REASON_SLEEP] = "sleep",
};

const char *cell_reason_name(enum cell_reason r)
{
	return reason_names[r < CELL_REASONS ? r : REASON_FAILED];
}

enum cell_reason cell_reason_parse(const char *name)
{
	for (unsigned i = 0; i < CELL_REASONS; i++)
		if (!strcmp(name, reason_names[i]))
			return (enum cell_reason)i;
	return REASON_FAILED;
}

enum cell_input cell_reason_input(enum cell_reason r)
{
	return r == REASON_FAILED ? IN_BROKE : r == REASON_LOST ? IN_LOST : IN_END;
}

const char *cell_state_name(enum cell_state s)
{
	return s < CELL_STATES && state_names[s] ? state_names[s] : "none";
}

enum cell_state cell_state_parse(const char *name)
{
	for (unsigned i = 1; i < CELL_STATES; i++)
		if (!strcmp(name, state_names[i]))
			return (enum cell_state)i;
	return CELL_NONE;
}

const char *cell_input_name(enum cell_input in)
{
	return input_names[in];
}

enum cell_state cell_state_next(enum cell_state s, enum cell_input in)
{
	if (s >= CELL_STATES || in >= CELL_INPUTS)
		return CELL_NONE;
	return (enum cell_state)table[s][in];
}

bool cell_state_is_live(enum cell_state s)
{
	return s >= CELL_STARTING && s <= CELL_STOPPING;
}

/* ---- restarts ---- */

int64_t restart_delay(const struct restart *r, uint32_t *row, bool asked, bool failed, int status,
		      int64_t ran_ms)
{
	int64_t delay = RESTART_FIRST_MS;

	if (ran_ms >= RESTART_GOOD_MS)
		*row = 0;
	if (asked || r->policy == RESTART_NO ||
	    (r->policy == RESTART_ON_FAILURE && !failed && status == 0))
		return -1;
	if (r->max && *row >= r->max)
		return -1;
	for (uint32_t i = 0; i < *row && delay < RESTART_MOST_MS; i++)
		delay *= 2;
	++*row;
	return MIN(delay, (int64_t)RESTART_MOST_MS);
}
