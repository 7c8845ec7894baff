/* Which journals are removed when they are too old or too large. */
#include <stdlib.h>
#include <string.h>

#include "daemon/journal/heads.h"
#include "tap.h"

#define DAY (86400 * NSEC_PER_SEC)

static struct journal_info info(const char *id, int64_t written, uint64_t bytes, bool running)
{
	struct journal_info j = { .written = written, .space = bytes, .running = running };

	strcpy(j.id, id);
	return j;
}

int main(void)
{
	struct journal_info list[] = { info("a", 50 * DAY, 100, false),
				       info("b", 10 * DAY, 5000, true),
				       info("c", 20 * DAY, 100, false),
				       info("d", 99 * DAY, 100, false) };
	size_t gone[4], n;
	struct journal_limits none = { 0 }, age = { .age = 40 * DAY }, size = { .bytes = 250 },
			      tiny = { .bytes = 1 }, set = { 0 };
	struct journal_aged *many;
	struct err e;

	n = journals_expired(list, 4, &none, 100 * DAY, gone);
	ok(n == 0, "without limits all stay");
	n = journals_expired(list, 4, &age, 100 * DAY, gone);
	ok(n == 2 && gone[0] == 2 && gone[1] == 0, "the old ones go, the oldest first");
	n = journals_expired(list, 4, &size, 100 * DAY, gone);
	ok(n == 1 && gone[0] == 2,
	   "no more than are too much, and none for what a running cell writes");
	n = journals_expired(list, 4, &tiny, 100 * DAY, gone);
	ok(n == 3, "that of a cell that runs stays");
	many = calloc(JOURNALS_MAX + 5, sizeof(*many));
	for (size_t i = 0; i < JOURNALS_MAX + 5; i++)
		many[i] = (struct journal_aged){ i, (int64_t)((i * 7919) % (JOURNALS_MAX + 5)), 1 };
	n = limits_exceeded(many, JOURNALS_MAX + 5, &none, 100);
	ok(n == 5 && many[0].written == 0 && many[4].written == 4, "the oldest of too many go");
	free(many);
	ok(limit_days("0", &set) && !set.age && limit_days("7", &set) && set.age == 7 * DAY &&
		   !limit_days("7d", &set) && !limit_days("-1", &set) &&
		   !limit_days("99999", &set) && !limit_days("", &set),
	   "days");
	ok(limit_space("0", &set) && !set.bytes && limit_space("2G", &set) &&
		   set.bytes == 2ull << 30 && !limit_space("x", &set) && !limit_space("-1", &set),
	   "a size");
	setenv("VIV_JOURNAL_DAYS", "3", 1);
	ok(limits_environment(&set, &e) == 0 && set.age == 3 * DAY && set.bytes == 2ull << 30,
	   "what is set counts, and nothing else");
	setenv("VIV_JOURNAL_SPACE", "much", 1);
	ok(limits_environment(&set, &e) < 0, "a wrong value is one");
	ok(journal_id_is_valid("0123456789abcdef0123456789abcdef"), "an id");
	ok(!journal_id_is_valid("../x") && !journal_id_is_valid("") &&
		   !journal_id_is_valid(".removed") &&
		   !journal_id_is_valid("0123456789abcdef0123456789abcdef0"),
	   "no ids");
	return tap_end();
}
