/* Times that have come.
 *
 * A schedule has one next time, due, and the moment at which it fires, which jitter makes later.
 * When that has come, all of its times up to now are looked at: the last one is on time if it is
 * less than a minute ago (vivd may have been restarted just then), and the others were missed. What
 * becomes of those depends on the schedule's catch_up. Runs, the next time and events are one
 * transaction.
 *
 * A clock that is set forward makes times pass: they are missed, like those of a time without vivd.
 * A clock that is set back repeats none: a schedule's times after the last that fired are what is
 * to come. Only if that one is more than BACK_NS in the future, the clock was wrong before, and
 * times are counted from now on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/schedules/clock.h"
#include "daemon/schedules/private.h"

#define LATE_NS (60 * NSEC_PER_SEC)
#define BACK_NS (3 * 3600 * NSEC_PER_SEC)
#define RETRY_NS (5 * NSEC_PER_SEC)
#define BATCH 64
#define MISSED_COUNT 1000 /* then it is "at least" */

/* ---- the next time ---- */

static int64_t jitter(const struct schedule *s)
{
	int64_t most = spec_ns(s->spec, "jitter");
	uint64_t v = 0;
	char hex[17];

	if (!most)
		return 0;
	random_hex(hex, 8);
	v = strtoull(hex, NULL, 16);
	return (int64_t)(v % (uint64_t)most);
}

void schedule_next(struct schedule *s, int64_t t)
{
	struct cron_expr x;
	struct tz z;
	int64_t next = -1;

	if (spec_times(s->spec, &x, &z))
		next = when_next(&x, &z, t / NSEC_PER_SEC);
	s->due = next < 0 ? 0 : next * NSEC_PER_SEC;
	s->fire = s->due ? s->due + jitter(s) : 0;
}

void schedules_arm(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT min(fire) FROM schedules WHERE fire>0", "");
	int64_t first = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	clock_arm(first);
}

/* ---- missed times ---- */

/* Times after from up to until, newest last, at most n of them in ret. How many there are, up to
 * MISSED_COUNT. */
struct missed {
	int64_t at[SCHEDULE_CATCH_UP_MAX];
	unsigned n;
	int64_t count; /* more than n: the others are older */
	bool more; /* than that */
};

static void missed_find(const struct cron_expr *x, const struct tz *z, int64_t from, int64_t until,
			struct missed *m)
{
	int64_t window = 3600, start = until, t;

	*m = (struct missed){ 0 };
	for (t = from; m->count < MISSED_COUNT; m->count++) {
		t = when_next(x, z, t);
		if (t < 0 || t > until)
			break;
	}
	m->more = m->count == MISSED_COUNT;
	/* The newest: from as far back as is needed for so many. */
	while (start > from) {
		unsigned n = 0;

		start = until - from > window ? until - window : from;
		for (t = when_next(x, z, start); t >= 0 && t <= until; t = when_next(x, z, t))
			m->at[n++ % ARRAY_LEN(m->at)] = t;
		m->n = (unsigned)MIN(n, ARRAY_LEN(m->at));
		if (n >= ARRAY_LEN(m->at)) { /* in the order of time */
			int64_t sorted[ARRAY_LEN(m->at)];

			for (unsigned i = 0; i < ARRAY_LEN(sorted); i++)
				sorted[i] = m->at[(n + i) % ARRAY_LEN(sorted)];
			memcpy(m->at, sorted, sizeof(sorted));
			return;
		}
		window *= 8;
	}
}

/* ---- firing ---- */

static void skip(struct schedule *s, int64_t due, int64_t n, bool more, const char *reason)
{
	json_t *o = json_pack("{s:s,s:s,s:s,s:I}", "schedule", s->name, "reason", reason, "due",
			      time_text(due).str, "count", (json_int_t)n);

	if (more)
		json_object_set_new(o, "more", json_true());
	s->skipped += n;
	event_add(s->d, "cron.skipped", *s->cell ? s->cell : NULL, o);
}

/* By the rule for overlaps. */
static void fire(struct schedule *s, int64_t due, bool late, bool in_turn)
{
	const char *reason = late ? "late" : "time", *why = NULL;
	int64_t queued, begun;

	runs_count(s->d, s->row, &queued, &begun);
	switch (spec_overlap(s->spec)) {
	case OVERLAP_SKIP:
		if (queued + begun && !in_turn)
			why = "overlap";
		break;
	case OVERLAP_ALLOW:
		if (queued + begun >= SCHEDULE_OVERLAP_MAX && !in_turn)
			why = "overlap";
		break;
	case OVERLAP_QUEUE:
		if (queued + begun && queued >= spec_queue(s->spec) && !in_turn)
			why = "queue_full";
		break;
	}
	if (why) {
		skip(s, due, 1, false, why);
		return;
	}
	run_add(s, reason, due);
	s->fired++;
}

/* Times before the last one were missed. */
static void fire_missed(struct schedule *s, const struct missed *m, bool last_too)
{
	enum catch_up how = spec_catch_up(s->spec);
	unsigned runs = how == CATCH_UP_ALL ? m->n : how == CATCH_UP_ONE && last_too ? 1 : 0;

	if (m->count > runs)
		skip(s, m->at[m->n - 1] * NSEC_PER_SEC, m->count - runs, m->more, "missed");
	for (unsigned i = m->n - runs; i < m->n; i++)
		fire(s, m->at[i] * NSEC_PER_SEC, true, how == CATCH_UP_ALL);
}

/* A one-shot. */
static void fire_once(struct schedule *s, int64_t now)
{
	bool late = now - s->fire > LATE_NS;

	if (late && spec_catch_up(s->spec) == CATCH_UP_NONE)
		skip(s, s->due, 1, false, "missed");
	else
		fire(s, s->due, late, true);
	s->state = SCHEDULE_FINISHED;
	s->base = s->due;
	s->due = s->fire = 0;
}

static void fire_due(struct schedule *s, int64_t now)
{
	int64_t due = s->due, last;
	struct cron_expr x;
	struct missed m;
	struct tz z;
	bool late, in_turn = false;

	if (json_text(s->spec, "at")) {
		fire_once(s, now);
		return;
	}
	if (!spec_times(s->spec, &x, &z)) {
		log_warn("schedule %s has no next time: its time zone is gone", s->name);
		s->due = s->fire = 0;
		s->state = SCHEDULE_PAUSED;
		return;
	}
	/* Up to now, with the one that is due. */
	missed_find(&x, &z, due / NSEC_PER_SEC - 1, now / NSEC_PER_SEC, &m);
	last = m.n ? m.at[m.n - 1] * NSEC_PER_SEC : due;
	/* The last one has its own jitter. */
	if (last != due) {
		s->due = last;
		s->fire = last + jitter(s);
	}
	late = now - s->fire > LATE_NS;
	if (m.count > 1 || late) {
		if (!late && m.n) { /* it is not one of those that were missed */
			m.n--;
			m.count--;
		}
		in_turn = m.n && spec_catch_up(s->spec) == CATCH_UP_ALL;
		if (m.n)
			fire_missed(s, &m, late);
	}
	s->base = last;
	if (!late && s->fire > now) { /* in a moment */
		s->base = m.n ? m.at[m.n - 1] * NSEC_PER_SEC : s->base - 1;
		return;
	}
	if (!late)
		fire(s, last, false, in_turn); /* behind those */
	schedule_next(s, MAX(last, now));
}

/* -1: it could not be written. */
static int schedule_fire(struct daemon *d, int64_t row, int64_t now)
{
	struct schedule s;
	int r = 0;

	if (schedule_load(d, row, &s) && s.fire && s.fire <= now) {
		db_begin(&d->db);
		fire_due(&s, now);
		schedule_save(&s);
		r = db_end(&d->db, NULL);
	}
	schedule_fini(&s);
	return r;
}

static unsigned rows_due(struct daemon *d, int64_t now, int64_t rows[BATCH])
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT row FROM schedules WHERE fire>0 AND fire<=? ORDER BY "
				   "fire,row LIMIT 64",
				   "i", now);
	unsigned n = 0;

	while (n < BATCH && db_next(q))
		rows[n++] = db_int(q, 0);
	db_done(q);
	return n;
}

static void schedules_due(struct daemon *d)
{
	int64_t rows[BATCH], now = schedule_now();
	unsigned n;

	while ((n = rows_due(d, now, rows))) {
		for (unsigned i = 0; i < n; i++)
			if (schedule_fire(d, rows[i], now) < 0) {
				/* There may be room on the disk later. */
				runs_kick(d);
				clock_arm(now + RETRY_NS);
				return;
			}
	}
	runs_kick(d);
	schedules_arm(d);
}

/* ---- the clock was set, or vivd starts ---- */

/* The next time of a schedule that is not due, by this clock and the zone as it is now. */
static void settle(struct schedule *s, int64_t now)
{
	int64_t due = s->due, fire_at = s->fire;

	schedule_next(s, s->base > now + BACK_NS ? now : MAX(s->base, now));
	if (s->due == due) {
		s->fire = fire_at;
		return;
	}
	if (s->base > now)
		s->base = now;
	schedule_save(s);
}

static void schedules_settle(struct daemon *d)
{
	sqlite3_stmt *q;
	struct buf rows = { 0 };
	int64_t now = schedule_now();

	q = db_query(&d->db, "SELECT row FROM schedules WHERE due>? AND state=0", "i", now);
	while (db_next(q)) {
		int64_t row = db_int(q, 0);

		buf_add(&rows, &row, sizeof(row));
	}
	db_done(q);
	db_begin(&d->db);
	for (size_t i = 0; i < BUF_COUNT(&rows, int64_t); i++) {
		struct schedule s;

		if (schedule_load(d, *BUF_ITEM(&rows, int64_t, i), &s) && !json_text(s.spec, "at"))
			settle(&s, now);
		schedule_fini(&s);
	}
	db_end(&d->db, NULL);
	buf_free(&rows);
}

static void on_clock(struct daemon *d, bool jumped)
{
	if (jumped)
		schedules_settle(d);
	schedules_due(d);
}

/* ---- @reboot ---- */

void boot_read(char ret[BOOT_ID_SIZE])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(ret, BOOT_ID_SIZE, f))
		ret[0] = '\0';
	if (f)
		fclose(f);
	ret[strcspn(ret, "\n")] = '\0';
}

/* The host has started since the last vivd: those for that fire, with the note of it. */
static void boot_check(struct daemon *d)
{
	sqlite3_stmt *q;
	char id[BOOT_ID_SIZE], known[BOOT_ID_SIZE];
	struct buf rows = { 0 };
	bool first;

	boot_read(id);
	q = db_query(&d->db, "SELECT value FROM settings WHERE name='schedules.boot'", "");
	first = !db_next(q);
	snprintf(known, sizeof(known), "%s", first ? "" : db_text(q, 0));
	db_done(q);
	if (!*id || !strcmp(id, known))
		return;
	q = db_query(&d->db, "SELECT row FROM schedules WHERE state=0 AND due=0", "");
	while (!first && db_next(q)) {
		int64_t row = db_int(q, 0);

		buf_add(&rows, &row, sizeof(row));
	}
	db_done(q);
	db_begin(&d->db);
	for (size_t i = 0; i < BUF_COUNT(&rows, int64_t); i++) {
		struct schedule s;
		struct cron_expr x;
		struct tz z;

		if (schedule_load(d, *BUF_ITEM(&rows, int64_t, i), &s) &&
		    spec_times(s.spec, &x, &z) && x.at_boot) {
			run_add(&s, "boot", schedule_now());
			s.fired++;
			schedule_save(&s);
		}
		schedule_fini(&s);
	}
	db_run(&d->db, NULL,
	       "INSERT OR REPLACE INTO settings(name,value) VALUES('schedules.boot',?)", "t", id);
	db_end(&d->db, NULL);
	buf_free(&rows);
}

int schedules_begin(struct daemon *d, struct err *e)
{
	if (clock_open(d, on_clock, e) < 0)
		return -1;
	runs_resume(d);
	boot_check(d);
	schedules_settle(d);
	schedules_due(d);
	return 0;
}

void schedules_close(struct daemon *d)
{
	runs_close(d);
	clock_close();
}
