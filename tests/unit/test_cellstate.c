/* The state machine of cells and the delays of restarts. */
/* objects: src/daemon/cells/cellstate.c */
#include "daemon/cells/cellstate.h"

#include <string.h>

#include "tap.h"

static void states(void)
{
	unsigned live_without_end = 0, removable = 0, startable = 0, odd = 0;

	for (unsigned s = CELL_CREATED; s < CELL_STATES; s++) {
		if (s == CELL_REMOVED)
			continue;
		bool live = cell_state_is_live(s);

		for (unsigned in = 0; in < CELL_INPUTS; in++) {
			enum cell_state next = cell_state_next(s, in);

			odd += next >= CELL_STATES || (next && cell_state_parse(cell_state_name(next)) != next);
		}
		live_without_end += live && (cell_state_next(s, IN_END) != CELL_STOPPED ||
					     cell_state_next(s, IN_DONE) != CELL_COMPLETED ||
					     cell_state_next(s, IN_LOST) != CELL_FAILED ||
					     cell_state_next(s, IN_STOP) != CELL_STOPPING);
		removable += cell_state_next(s, IN_REMOVE) == CELL_REMOVED;
		startable += cell_state_next(s, IN_START) == CELL_STARTING;
		odd += live && (cell_state_next(s, IN_REMOVE) || cell_state_next(s, IN_START));
	}
	eq(live_without_end, 0, "every cell with a keeper can end, be lost and be stopped");
	eq(removable, 5, "created, stopped, completed, failed and sleeping ones can be removed");
	eq(startable, 5, "and started");
	eq(odd, 0, "a live one neither, and no input leads to nowhere");
	eq(cell_state_next(CELL_RUNNING, IN_PAUSE), CELL_PAUSED, "pause");
	eq(cell_state_next(CELL_PAUSED, IN_RESUME), CELL_RUNNING, "resume");
	eq(cell_state_next(CELL_PAUSED, IN_PAUSE), CELL_NONE, "not twice");
	eq(cell_state_next(CELL_STARTING, IN_UP), CELL_RUNNING, "up");
	eq(cell_state_next(CELL_STOPPED, IN_UP), CELL_NONE, "not out of nothing");
	for (unsigned in = 0; in < CELL_INPUTS; in++)
		odd += cell_state_next(CELL_REMOVED, in) || cell_state_next(CELL_NONE, in) ||
		       cell_state_next(CELL_STATES, in);
	eq(odd, 0, "nothing leads out of removed");
	eq(cell_state_next(CELL_RUNNING, CELL_INPUTS), CELL_NONE, "no such input");
	eq(cell_state_parse("asleep"), CELL_NONE, "no such name");
}

/* Sleep: what has a keeper stops first, what has none sleeps at once; only a stop, a start and its
 * removal lead out of it. */
static void sleeping(void)
{
	unsigned odd = 0;

	for (unsigned s = CELL_CREATED; s < CELL_STATES; s++) {
		bool live = cell_state_is_live(s), over = s == CELL_STARTING || s == CELL_STOPPING;

		if (s == CELL_REMOVED)
			continue;
		odd += cell_state_next(s, IN_SLEEP) != (live ? CELL_STOPPING : CELL_SLEEPING);
		odd += cell_state_next(s, IN_SLEPT) != (over ? CELL_SLEEPING : CELL_NONE);
	}
	for (unsigned in = 0; in < CELL_INPUTS; in++) {
		enum cell_state next = cell_state_next(CELL_SLEEPING, in),
				is = in == IN_START    ? CELL_STARTING
				     : in == IN_STOP   ? CELL_STOPPED
				     : in == IN_REMOVE ? CELL_REMOVED
				     : in == IN_SLEEP  ? CELL_SLEEPING
						       : CELL_NONE;

		odd += next != is;
	}
	eq(odd, 0, "every cell can sleep, and wakes only by a start");
	ok(!cell_state_is_live(CELL_SLEEPING), "a sleeping cell has no keeper");
	eq(CELL_SLEEPING, 9, "and a number that rows of the database have");
	eq(CELL_COMPLETED, 10, "and so has a completed one, which a migration writes");
	eq(cell_reason_input(REASON_SLEEP), IN_END, "its last run has ended");
}

static void reasons(void)
{
	unsigned odd = 0;

	for (unsigned r = 0; r < CELL_REASONS; r++) {
		enum cell_input in = cell_reason_input(r);

		odd += cell_reason_parse(cell_reason_name(r)) != r;
		for (unsigned s = CELL_STARTING; s <= CELL_STOPPING; s++)
			odd += cell_state_next(s, in) !=
			       (r == REASON_FAILED || r == REASON_LOST ? CELL_FAILED : CELL_STOPPED);
	}
	eq(odd, 0, "each reason has a name, and ends every cell that runs");
	ok(!*cell_reason_name(REASON_NONE), "one that has not ended has none");
	eq(cell_reason_parse("bored"), REASON_FAILED, "one of another version");
}

/* The rules of restarts as the manual has them, against all that can be asked of them. */
static int64_t restart_model(const struct restart *r, uint32_t *row, bool asked, bool failed, int status,
			     int64_t ran_ms)
{
	bool good = ran_ms >= RESTART_GOOD_MS, wanted = r->policy == RESTART_ALWAYS ||
						       (r->policy == RESTART_ON_FAILURE && (failed || status));
	uint32_t before = good ? 0 : *row;

	*row = before;
	if (asked || !wanted || (r->max && before >= r->max))
		return -1;
	++*row;
	return before > 9 ? RESTART_MOST_MS : MIN((int64_t)RESTART_FIRST_MS << before, (int64_t)RESTART_MOST_MS);
}

static void restarts_by_model(void)
{
	static const int64_t ran[] = { 0, RESTART_GOOD_MS - 1, RESTART_GOOD_MS };
	unsigned wrong = 0, tried = 0;

	for (unsigned i = 0; i < 3 * 5 * 2 * 2 * 2 * 3 * 14; i++) {
		unsigned n = i;
		struct restart r = { (enum restart_policy)(n % 3), n / 3 % 5 };
		uint32_t row, model_row;
		bool asked, failed;
		int status;
		int64_t ran_ms;

		n /= 15;
		asked = n % 2;
		failed = n / 2 % 2;
		status = n / 4 % 2;
		ran_ms = ran[n / 8 % 3];
		row = model_row = n / 24 % 14;
		wrong += restart_delay(&r, &row, asked, failed, status, ran_ms) !=
				 restart_model(&r, &model_row, asked, failed, status, ran_ms) ||
			 row != model_row;
		tried++;
	}
	eq(wrong, 0, "restarts are as the model has them");
	eq(tried, 5040, "in all cases");
}

static void restarts(void)
{
	struct restart always = { RESTART_ALWAYS, 0 }, failure = { RESTART_ON_FAILURE, 3 },
		       never = { RESTART_NO, 0 };
	uint32_t row = 0;
	int64_t last = 0, delay = 0;
	bool grows = true;

	for (int i = 0; i < 40; i++) {
		delay = restart_delay(&always, &row, false, false, 0, 1);
		grows &= delay >= last && delay <= RESTART_MOST_MS;
		last = delay;
	}
	ok(grows && delay == RESTART_MOST_MS, "the delay grows to its bound");
	eq(row, 40, "restarts are counted");
	eq(restart_delay(&always, &row, false, false, 0, RESTART_GOOD_MS), RESTART_FIRST_MS,
	   "after a good run it begins anew");
	eq(restart_delay(&always, &row, true, false, 0, 1), -1, "not after it was stopped");
	row = 0;
	eq(restart_delay(&failure, &row, false, false, 0, 1), -1, "success is no failure");
	eq(restart_delay(&failure, &row, false, false, 1, 1), RESTART_FIRST_MS, "a status is one");
	eq(restart_delay(&failure, &row, false, true, 0, 1), 2 * RESTART_FIRST_MS,
	   "and a broken kernel");
	ok(restart_delay(&failure, &row, false, false, 1, 1) > 0, "the third");
	eq(restart_delay(&failure, &row, false, false, 1, 1), -1, "no more than the most");
	row = 0;
	eq(restart_delay(&never, &row, false, true, 1, 1), -1, "never");
}

int main(void)
{
	states();
	sleeping();
	reasons();
	restarts();
	restarts_by_model();
	return tap_end();
}
