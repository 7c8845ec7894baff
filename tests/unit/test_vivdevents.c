/* The stream of events: random sequences of adding, undoing, reading and opening again, against a
 * model that is a list of all events that were not undone. */
#include "daemon/state/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define SEEDS 12
#define STEPS 1500
#define READERS 6
#define MOST 60000

static struct daemon d;
static char dir[] = "/tmp/viv-events.XXXXXX";
static const char *wrong;

/* The model: number i + 1 is event i, whatever became of others. */
static struct {
	unsigned cell; /* 0: none */
	int value;
} list[MOST];
static int64_t length, undone;

static struct {
	int64_t seq;
	unsigned cell; /* 0: of all */
} readers[READERS];

static unsigned gaps, given, rollbacks, news;

static void expect(bool good, const char *what)
{
	if (!good && !wrong)
		wrong = what;
}

static const char *cell_name(unsigned cell)
{
	static const char *const names[] = { "", "aaaa", "bbbb", "cccc" };

	return names[cell];
}

static const char *type_name(int value)
{
	static const char *const names[] = { "cell.state", "limit", "process.exited" };

	return names[value % 3];
}

static void add(unsigned cell, int value)
{
	event_add(&d, type_name(value), cell ? cell_name(cell) : NULL,
		  value % 5 ? json_pack("{s:i}", "value", value) : NULL);
}

static void one_add(void)
{
	unsigned cell = (unsigned)random() % 4;

	list[length].cell = cell;
	list[length].value = (int)random() % 1000;
	add(cell, list[length].value);
	length++;
}

/* A change with events in it: written, written later, or undone with all its events. */
static void change(unsigned events)
{
	int64_t before = length;
	bool fails = random() % 3 == 0, later = random() % 2;

	db_begin(&d.db);
	for (unsigned i = 0; i < events; i++)
		one_add();
	d.db.failed |= fails; /* as when one of its statements fails */
	if (later)
		db_end_later(&d.db);
	else
		expect(!!db_end(&d.db, NULL) == fails, "a change that fails");
	if (fails) {
		undone += length - before;
		rollbacks++;
		length = before;
	}
}

/* As the sweeps leave them: at each number that 256 divides, all but the last EVENTS_KEPT go. */
static int64_t model_oldest(void)
{
	return MAX((int64_t)0, length / 256 * 256 - EVENTS_KEPT) + 1;
}

static bool line_is(const char *line, int64_t seq)
{
	json_t *o = json_loads(line, 0, NULL), *data = json_object_get(o, "data");
	const char *cell = json_string_value(json_object_get(o, "cell"));
	unsigned want = list[seq - 1].cell;
	int value = list[seq - 1].value;
	bool same = json_integer_value(json_object_get(o, "seq")) == seq &&
		    json_is_string(json_object_get(o, "time")) &&
		    !strcmp(json_string_value(json_object_get(o, "type")), type_name(value)) &&
		    (want ? cell && !strcmp(cell, cell_name(want)) : !cell) &&
		    (value % 5 ? json_integer_value(json_object_get(data, "value")) == value
			       : json_is_object(data) && !json_object_size(data));

	json_decref(o);
	return same;
}

static bool line_is_gap(const char *line, int64_t from, int64_t to)
{
	char want[100];

	snprintf(want, sizeof(want), "{\"type\":\"gap\",\"from\":%lld,\"to\":%lld}",
		 (long long)from, (long long)to);
	return !strcmp(line, want);
}

/* What the reader should get: 0 nothing, else the number of the event; *ret_gap: that up to there
 * nothing is kept. */
static int64_t model_next(unsigned r, bool *ret_gap)
{
	int64_t seq = readers[r].seq;

	*ret_gap = seq < length && seq + 1 < model_oldest();
	if (*ret_gap)
		return model_oldest() - 1;
	while (++seq <= length)
		if (!readers[r].cell || list[seq - 1].cell == readers[r].cell)
			return seq;
	return 0;
}

static void read_some(unsigned r, unsigned most)
{
	while (most-- && !wrong) {
		bool gap;
		int64_t before = readers[r].seq, want = model_next(r, &gap);
		char *line = event_next(&d, &readers[r].seq, cell_name(readers[r].cell));

		expect(!!line == !!want, "is there one?");
		if (line && want && gap)
			expect(line_is_gap(line, before + 1, want), "a gap");
		else if (line && want)
			expect(line_is(line, want), "an event");
		/* Without an event it moves at most to what it has looked at. */
		expect(want ? readers[r].seq == want
			    : readers[r].seq >= before && readers[r].seq <= MAX(before, length),
		       "where a reader stands");
		gaps += line && gap;
		given += line && !gap;
		free(line);
		if (!want)
			return;
	}
}

static void reopen(void)
{
	struct err e;

	db_close(&d.db);
	expect(db_open(&d.db, dir, -1, &e) == 0, "the database is opened again");
	events_open(&d);
}

static void on_news(struct event_watch *w)
{
	(void)w;
	news++;
}

static void on_hold(struct db *db)
{
	(void)db;
}

static void step(unsigned seed, bool many)
{
	unsigned r = (unsigned)random() % READERS;

	switch (random() % 12) {
	case 0:
		change((unsigned)random() % (many ? 700 : 4));
		break;
	case 1:
		change(1);
		break;
	case 2:
		one_add();
		break;
	case 3: /* somebody new: from the begin, from now on, from anywhere, or from the future */
		readers[r].cell = (unsigned)random() % 4;
		readers[r].seq = random() % 3 ? (random() % 2 ? events_last(&d) : 0)
					      : (int64_t)random() % (length + 3);
		break;
	case 4:
		if (random() % 20 == 0)
			reopen();
		d.db.hold = seed % 2 ? on_hold : NULL;
		break;
	case 5:
		read_some(r, 100);
		break;
	default:
		read_some(r, 1 + (unsigned)random() % 5);
	}
	expect(events_last(&d) == length, "the newest number");
}

static void sequences(void)
{
	for (unsigned seed = 1; seed <= SEEDS && !wrong; seed++) {
		srandom(seed);
		for (unsigned i = 0; i < STEPS && !wrong && length < MOST - 1000; i++) {
			step(seed, seed > SEEDS / 2 && i % 12 == 0);
			if (wrong)
				printf("# seed %u, step %u: %s\n", seed, i, wrong);
		}
	}
	ok(!wrong, "random sequences are as the model has them");
	ok(rollbacks > 100 && undone > 1000 && given > 10000 && gaps > 20 && length > 20000,
	   "and had changes that were undone, and gaps");
	printf("# %lld events, %lld undone, %u read, %u gaps\n", (long long)length,
	       (long long)undone, given, gaps);
}

static void watches(void)
{
	struct event_watch a, b;
	unsigned before;

	event_watch_add(&d, &a, on_news);
	event_watch_add(&d, &b, on_news);
	before = news;
	one_add();
	eq(news - before, 2, "each who watches is told");
	event_watch_remove(&a);
	one_add();
	eq(news - before, 3, "who does not watch any more is not");
	event_watch_remove(&b);
}

static void bounds(void)
{
	int64_t seq = INT64_MAX;
	char *line = event_next(&d, &seq, "");

	ok(!line && seq == INT64_MAX, "nothing comes after the last number that there can be");
	seq = 0;
	line = event_next(&d, &seq, "aaaa");
	ok(line && line_is_gap(line, 1, model_oldest() - 1), "what is not kept is a gap");
	free(line);
	seq = model_oldest() - 2;
	line = event_next(&d, &seq, "");
	ok(line && line_is_gap(line, seq, seq) && seq == model_oldest() - 1, "if it is only one");
	free(line);
	line = event_next(&d, &seq, "");
	ok(line && line_is(line, model_oldest()), "the oldest follows without one");
	free(line);
	ok(length - model_oldest() + 1 >= EVENTS_KEPT &&
		   length - model_oldest() + 1 < EVENTS_KEPT + 256,
	   "as many are kept as the header has it");
	db_begin(&d.db);
	add(0, 1);
	db_end(&d.db, NULL);
	length++;
	db_run(&d.db, NULL, "DELETE FROM events", "");
	seq = length - 3;
	line = event_next(&d, &seq, "");
	ok(line && line_is_gap(line, length - 2, length) && seq == length,
	   "when none is kept, a gap leads to the newest");
	free(line);
	reopen();
	add(0, 1);
	eq(events_last(&d), length + 1, "and numbers go on behind it");
}

int main(void)
{
	char path[64];
	struct err e;

	if (!mkdtemp(dir) || db_open(&d.db, dir, -1, &e) < 0)
		return 1;
	events_open(&d);
	eq(events_last(&d), 0, "there is none yet");
	sequences();
	watches();
	bounds();
	db_close(&d.db);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	return system(path) || tap_end();
}
