/* The inside of schedules, which the files of this folder share:
 *   cronexpr.c, tzif.c, when.c   times; they know nothing of the rest
 *   clock.c       the timer
 *   rows.c        schedules in the database
 *   spec.c        what a schedule may say
 *   fire.c        times that have come: overlap, missed times, jitter
 *   runs.c        runs, from their row to their end
 *   actions.c     the table of what can be run: command.c, prompt.c, newcell.c,
 *                 workflow.c */
#ifndef VIV_DAEMON_SCHEDULES_PRIVATE_H
#define VIV_DAEMON_SCHEDULES_PRIVATE_H

#include "base/buf.h"
#include "daemon/cells/cells.h"
#include "daemon/schedules/schedules.h"
#include "daemon/schedules/when.h"
#include "daemon/sessions/sessions.h"

#define SCHEDULE_NAME_MAX CELL_NAME_LEN

enum schedule_state { SCHEDULE_ACTIVE, SCHEDULE_PAUSED, SCHEDULE_FINISHED };

/* A row, as it was read. */
struct schedule {
	struct daemon *d;
	int64_t row;
	char name[SCHEDULE_NAME_MAX + 1];
	char cell[CELL_ID_LEN + 1]; /* "": none, each run makes one */
	char project[CELL_NAME_LEN + 1]; /* that declares it; "": none */
	json_t *spec;
	enum schedule_state state;
	int64_t created, base, due, fire; /* nanoseconds */
	int64_t fired, skipped;
};

/* ---- rows.c ---- */
bool schedule_load(struct daemon *d, int64_t row, struct schedule *ret);
void schedule_fini(struct schedule *s);
/* Its times, within the caller's transaction. */
void schedule_save(const struct schedule *s);

/* ---- spec.c ---- */
enum overlap { OVERLAP_SKIP, OVERLAP_ALLOW, OVERLAP_QUEUE };
enum catch_up { CATCH_UP_NONE, CATCH_UP_ONE, CATCH_UP_ALL };
/* Checks and completes it: the zone, the cell. */
int must_check spec_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e);
enum overlap spec_overlap(const json_t *spec);
int64_t spec_queue(const json_t *spec);
enum catch_up spec_catch_up(const json_t *spec);
int64_t spec_history(const json_t *spec);
/* Seconds of a field in nanoseconds; 0: not given. */
int64_t spec_ns(const json_t *spec, const char *field);
/* Its expression and zone. False: it is a one-shot, or (a zone that is gone) it has no next time.
 */
bool spec_times(const json_t *spec, struct cron_expr *x, struct tz *z);

/* ---- fire.c ---- */
/* Sets due and fire to its first time after t. */
void schedule_next(struct schedule *s, int64_t t);
/* The timer is set for the first that is due. */
void schedules_arm(struct daemon *d);
/* Which start of the machine this is; "": not known. */
#define BOOT_ID_SIZE 64
void boot_read(char ret[BOOT_ID_SIZE]);

/* ---- runs.c ---- */
enum run_state { RUN_QUEUED, RUN_STARTING, RUN_RUNNING, RUN_DONE, RUN_FAILED };

struct action;

/* A run that has begun, while vivd runs. */
struct cron_run {
	struct list link;
	struct daemon *d;
	int64_t id, schedule;
	char name[SCHEDULE_NAME_MAX + 1], cell[CELL_ID_LEN + 1];
	json_t *spec; /* of its schedule */
	json_t *live; /* what its action has to know after a restart */
	enum run_state state;
	int64_t started;
	const struct action *action;
	uv_timer_t *timer; /* of its time-out, or of another try; NULL: none */
	void (*timer_fn)(struct cron_run *r);
	bool timed_out; /* it is being ended for that */
	unsigned stops; /* how often it was asked to end */
	bool stopping; /* it is being ended, for that or because its schedule is removed */
	json_t *result; /* it has ended, and that could not be written yet */
	struct buf output;
	/* ---- of actions ---- */
	struct cell_wait wait; /* for a cell */
	bool waits, holds; /* holds: it must not fall asleep */
	bool asked; /* an answer of a keeper is waited for */
	bool tried; /* the cell was started for it */
	struct keeper_link *keeper; /* whose answers are waited for; NULL: none */
	struct session_watch watch;
	bool watches;
	int64_t seq; /* of the session's last event that was read */
	void *workflow; /* its end is waited for (workflow.c); NULL: it is not */
};

/* Within a transaction: a new run that is queued. 0: it could not be written. */
int64_t run_add(const struct schedule *s, const char *reason, int64_t due);
/* Begins those that wait, in a moment. */
void runs_kick(struct daemon *d);
/* Those that were under way when the last vivd ended go on. */
void runs_resume(struct daemon *d);
/* How many are not over: waiting, and begun. */
void runs_count(struct daemon *d, int64_t schedule, int64_t *ret_queued, int64_t *ret_begun);
/* Ends what runs for a schedule that is removed. */
void runs_end(struct daemon *d, int64_t schedule);
void runs_close(struct daemon *d);
json_t *runs_json(struct daemon *d, int64_t schedule, int64_t id, bool output);

/* For actions. Writes state and live. -1: it could not be written, and the action tries again when
 * it is called with run_later. */
int must_check run_save(struct cron_run *r, enum run_state state);
void run_later(struct cron_run *r);
/* It is over. exit_code -1: none. e NULL: nothing went wrong besides. True: that is written, and r
 * is freed; else it is tried again. */
bool run_end(struct cron_run *r, int exit_code, const struct err *e);
/* Adds to its output, of which the end is kept. */
void run_output(struct cron_run *r, const char *data, size_t n);
/* The same with what a process of a cell wrote, as far as it is kept. */
void run_output_log(struct cron_run *r, const char *cell, uint32_t proc);
/* The time that is left before its time-out, from now on; 0: none was given. */
int64_t run_left(const struct cron_run *r);
/* Whether its cell runs; else it is being started, and the action is called again, or the run has
 * ended with the reason, and is gone. */
struct cell *run_cell(struct cron_run *r, bool start);
void run_wait_end(struct cron_run *r);

/* ---- actions ---- */
struct action {
	const char *field; /* of a schedule's spec: which of them it has decides */
	/* Checks what the spec says of it, and sets s->cell. */
	int (*check)(struct daemon *d, json_t *spec, struct schedule *s, struct err *e);
	/* Begins it, or goes on with it: called at first, when its cell has changed, when it was to
	 * be tried again, and by a vivd that comes later; r->state and r->live say how far it is.
	 */
	void (*step)(struct cron_run *r);
	/* Ends it: it ran too long, or its schedule is removed. */
	void (*stop)(struct cron_run *r);
	/* Reads what it has written so far into its output. NULL: that is there already */
	void (*peek)(struct cron_run *r);
	/* Nobody is to call back any more; what runs goes on. */
	void (*forget)(struct cron_run *r);
};
extern const struct action *const actions[];
extern const unsigned nactions;
const struct action *action_of(const json_t *spec);

extern const struct action action_command, action_prompt, action_cell, action_workflow;

#endif
