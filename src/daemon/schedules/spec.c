/* What a schedule may say, checked once when it is added, and read from its row later. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedules/clock.h"
#include "daemon/schedules/private.h"
#include "spec/options.h"

#define YEAR (366.0 * 86400)
#define QUEUE_USUAL 1
#define HISTORY_USUAL 20
#define PAST_NS (60 * NSEC_PER_SEC) /* a one-shot may be so late when it is added */

const struct field schedule_fields[] = {
	{ "name", FIELD_TEXT, true },	     { "schedule", FIELD_TEXT, false },
	{ "at", FIELD_TEXT, false },	     { "in", FIELD_NUMBER, false },
	{ "tz", FIELD_TEXT, false },	     { "cell", FIELD_TEXT, false },
	{ "command", FIELD_TEXTS, false },   { "env", FIELD_MAP, false },
	{ "workdir", FIELD_TEXT, false },    { "user", FIELD_TEXT, false },
	{ "session", FIELD_TEXT, false },    { "prompt", FIELD_TEXT, false },
	{ "workflow", FIELD_OBJECT, false }, { "run", FIELD_OBJECT, false },
	{ "overlap", FIELD_TEXT, false },    { "queue", FIELD_INT, false },
	{ "catch_up", FIELD_TEXT, false },   { "jitter", FIELD_NUMBER, false },
	{ "timeout", FIELD_NUMBER, false },  { "history", FIELD_INT, false },
};
const unsigned nschedule_fields = ARRAY_LEN(schedule_fields);

static const char *const overlaps[] = { "skip", "allow", "queue" };
static const char *const catch_ups[] = { "none", "one", "all" };

/* The place of a word in a list; 0: it is not given. */
static int word_find(const json_t *spec, const char *field, const char *const *words, unsigned n)
{
	const char *text = json_text(spec, field);

	for (unsigned i = 0; text && i < n; i++)
		if (!strcmp(words[i], text))
			return (int)i;
	return text ? -1 : 0;
}

enum overlap spec_overlap(const json_t *spec)
{
	return (enum overlap)MAX(word_find(spec, "overlap", overlaps, ARRAY_LEN(overlaps)), 0);
}

enum catch_up spec_catch_up(const json_t *spec)
{
	/* A one-shot that was missed is still wanted. */
	if (!json_text(spec, "catch_up") && json_text(spec, "at"))
		return CATCH_UP_ONE;
	return (enum catch_up)MAX(word_find(spec, "catch_up", catch_ups, ARRAY_LEN(catch_ups)), 0);
}

static int64_t count_of(const json_t *spec, const char *field, int64_t usual)
{
	const json_t *v = json_object_get(spec, field);

	return v ? json_integer_value(v) : usual;
}

int64_t spec_queue(const json_t *spec)
{
	return count_of(spec, "queue", QUEUE_USUAL);
}

int64_t spec_history(const json_t *spec)
{
	return count_of(spec, "history", HISTORY_USUAL);
}

int64_t spec_ns(const json_t *spec, const char *field)
{
	double seconds = json_number_value(json_object_get(spec, field));

	return seconds > 0 && seconds <= 10 * YEAR ? (int64_t)(seconds * NSEC_PER_SEC) : 0;
}

bool spec_times(const json_t *spec, struct cron_expr *x, struct tz *z)
{
	const char *text = json_text(spec, "schedule"), *zone = json_text(spec, "tz");
	struct err e;

	return text && zone && cron_parse(text, x, &e) == 0 && tz_load(zone, z, &e) == 0;
}

/* ---- checking ---- */

static int number_check(const json_t *spec, const char *field, double low, double high,
			struct err *e)
{
	const json_t *v = json_object_get(spec, field);

	if (v && !(json_number_value(v) >= low && json_number_value(v) <= high))
		return err_set(e, ERR_INVALID, "'%s' is a number from %g to %g", field, low, high);
	return 0;
}

static int choices_check(const json_t *spec, struct err *e)
{
	if (word_find(spec, "overlap", overlaps, ARRAY_LEN(overlaps)) < 0)
		return err_set(e, ERR_INVALID, "'overlap' is skip, allow or queue");
	if (word_find(spec, "catch_up", catch_ups, ARRAY_LEN(catch_ups)) < 0)
		return err_set(e, ERR_INVALID, "'catch_up' is none, one or all");
	if (json_object_get(spec, "queue") && spec_overlap(spec) != OVERLAP_QUEUE)
		return err_set(e, ERR_INVALID, "'queue' is for the overlap \"queue\"");
	if (number_check(spec, "queue", 1, SCHEDULE_QUEUE_MAX, e) < 0 ||
	    number_check(spec, "history", 1, SCHEDULE_HISTORY_MAX, e) < 0 ||
	    number_check(spec, "jitter", 0, 86400, e) < 0 ||
	    number_check(spec, "timeout", 0, YEAR, e) < 0)
		return -1;
	return 0;
}

/* The zone, and the time of a one-shot, which becomes "at". */
static int times_check(json_t *spec, struct schedule *s, struct err *e)
{
	const char *text = json_text(spec, "schedule"), *at = json_text(spec, "at");
	const json_t *in = json_object_get(spec, "in");
	char host[TZ_NAME_MAX + 1];
	int64_t now = schedule_now(), t;
	struct cron_expr x;
	struct tz z;

	if (!!text + !!at + !!in != 1)
		return err_set(e, ERR_INVALID, "give one of 'schedule', 'at' and 'in'");
	if (!json_text(spec, "tz")) {
		tz_host_name(host);
		json_object_set_new(spec, "tz", json_string(host));
	}
	if (tz_load(json_text(spec, "tz"), &z, e) < 0)
		return -1;
	if (text)
		return cron_parse(text, &x, e);
	if (in) {
		if (number_check(spec, "in", 0, 10 * YEAR, e) < 0)
			return -1;
		s->due = now + (int64_t)(json_number_value(in) * NSEC_PER_SEC);
		json_object_del(spec, "in");
	} else {
		if (when_parse(at, &z, &t, e) < 0)
			return -1;
		if (t > now / NSEC_PER_SEC + (int64_t)(100 * YEAR))
			return err_set(e, ERR_INVALID, "'%.40s' is too far in the future", at);
		s->due = t * NSEC_PER_SEC;
		if (s->due < now - PAST_NS)
			return err_set(e, ERR_INVALID, "'%.40s' is in the past", at);
	}
	json_object_set_new(spec, "at", json_string(when_text(&z, s->due / NSEC_PER_SEC).str));
	return 0;
}

static int action_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	const struct action *a = NULL;

	for (unsigned i = 0; i < nactions; i++) {
		if (!json_object_get(spec, actions[i]->field))
			continue;
		if (a)
			return err_set(e, ERR_INVALID,
				       "give one of 'command', 'prompt', 'run' and 'workflow'");
		a = actions[i];
	}
	if (!a)
		return err_set(
			e, ERR_MISSING_FIELD,
			"the schedule has nothing to do" REMEDY
			"give 'command' with 'cell', 'prompt' with 'session', 'run' or 'workflow'");
	return a->check(d, spec, s, e);
}

int spec_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	const char *name = json_text(spec, "name");
	char *text;
	size_t n;

	if (!cell_name_is_valid(name))
		return err_set(e, ERR_INVALID,
			       "'%.64s' is not a name for a schedule" REMEDY
			       "use letters, digits, '.', '-' and '_'",
			       name);
	strcpy(s->name, name);
	if (choices_check(spec, e) < 0 || times_check(spec, s, e) < 0 ||
	    action_check(d, spec, s, e) < 0)
		return -1;
	text = json_dumps(spec, JSON_COMPACT);
	n = text ? strlen(text) : SIZE_MAX;
	free(text);
	if (n > SCHEDULE_SPEC_MAX)
		return err_set(e, ERR_TOO_LARGE,
			       "the schedule has more than %d bytes" REMEDY
			       "put what it needs into a file of the cell",
			       SCHEDULE_SPEC_MAX);
	return 0;
}
