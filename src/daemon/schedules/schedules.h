/* Schedules: actions that vivd starts by the clock (docs/cron.md, docs/decisions/0052).
 *
 * A schedule is a row with its next time. When that has come, one transaction writes a row for the
 * run and the schedule's next time; only then the action begins. A run goes through QUEUED,
 * STARTING, RUNNING to DONE or FAILED, each written before what follows from it is done. So a vivd
 * that is killed at any moment leaves rows from which the next one goes on: no time is fired twice,
 * and none is lost.
 *
 * What is due is found by an index of the table, and one timer waits for the first (clock.h). */
#ifndef VIV_DAEMON_SCHEDULES_SCHEDULES_H
#define VIV_DAEMON_SCHEDULES_SCHEDULES_H

#include <jansson.h>

#include "daemon/state/daemon.h"
#include "daemon/state/fields.h"

#define SCHEDULES_MAX 1000
#define SCHEDULE_SPEC_MAX (64 << 10) /* bytes of JSON */
#define SCHEDULE_HISTORY_MAX 100 /* runs that one keeps */
#define SCHEDULE_RUNS_MAX 10000 /* that all of them keep */
#define SCHEDULE_OUTPUT_MAX 16384 /* bytes that are kept of a run's output: the last ones */
#define SCHEDULE_QUEUE_MAX 100
#define SCHEDULE_CATCH_UP_MAX 100 /* runs for times that were missed */
#define SCHEDULE_OVERLAP_MAX 16 /* runs of one schedule at a time */
#define SCHEDULE_ACTIVE_MAX 256 /* of all: others wait */

/* At the start, with the cells known: runs that were under way go on, times that have passed are
 * dealt with. */
int must_check schedules_begin(struct daemon *d, struct err *e);
/* vivd ends; what runs goes on. */
void schedules_close(struct daemon *d);

extern const struct field schedule_fields[];
extern const unsigned nschedule_fields;

/* A new one. Takes spec, which was checked by schedule_fields. Its description; NULL: an error. */
json_t *schedule_add(struct daemon *d, json_t *spec, struct err *e);
/* One that a project declares: a new one, or the one of that name is changed, and keeps its runs. A
 * paused one stays so. Takes spec, and keeps source, what the file says of it. */
int must_check schedule_declare(struct daemon *d, const char *project, json_t *spec,
				const char *source, struct err *e);
/* What the project has declared: {NAME: source}. The caller's. */
json_t *schedules_declared(struct daemon *d, const char *project);
/* The project that has declared it; "": nobody has, or there is none. */
void schedule_project(struct daemon *d, const char *name, char ret[65], bool *exists);
/* The others take the name of one, and a cell (an id; "": any) whose it has to be. */
json_t *schedule_get(struct daemon *d, const char *name, const char *cell, struct err *e);
/* By name. */
json_t *schedules_list(struct daemon *d, const char *cell);
/* force: also if it runs, which is ended. */
int must_check schedule_remove(struct daemon *d, const char *name, const char *cell, bool force,
			       struct err *e);
/* Times that pass while it is paused are not missed. */
int must_check schedule_pause(struct daemon *d, const char *name, const char *cell, bool pause,
			      struct err *e);
/* A run now. Its description; NULL: an error. */
json_t *schedule_run_now(struct daemon *d, const char *name, const char *cell, struct err *e);
/* Runs, the newest first, without their output. */
json_t *schedule_runs(struct daemon *d, const char *name, const char *cell, struct err *e);
/* One run with its output; id 0: the newest. */
json_t *schedule_run_get(struct daemon *d, const char *name, const char *cell, int64_t id,
			 struct err *e);

#endif
