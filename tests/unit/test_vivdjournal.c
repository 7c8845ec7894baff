/* Which journals are removed when they are too old or too large. */
#include <string.h>

#include "daemon/journal/heads.h"
#include "tap.h"

#define DAY (86400 * NSEC_PER_SEC)

static struct journal_info info(const char *id, int64_t written, uint64_t bytes, bool running)
{
	struct journal_info j = { .written = written, .bytes = bytes, .running = running };

	strcpy(j.id, id);
	return j;
}

int main(void)
{
	struct journal_info list[] = { info("a", 50 * DAY, 100, false), info("b", 10 * DAY, 5000, true),
				       info("c", 20 * DAY, 100, false), info("d", 99 * DAY, 100, false) };
	size_t gone[4], n;
	struct journal_limits none = { 0 }, age = { .age = 40 * DAY }, size = { .bytes = 250 },
			      tiny = { .bytes = 1 };

	n = journals_expired(list, 4, &none, 100 * DAY, gone);
	ok(n == 0, "without limits all stay");
	n = journals_expired(list, 4, &age, 100 * DAY, gone);
	ok(n == 2 && gone[0] == 2 && gone[1] == 0, "the old ones go, the oldest first");
	n = journals_expired(list, 4, &size, 100 * DAY, gone);
	ok(n == 1 && gone[0] == 2,
	   "no more than are too much, and none for what a running cell writes");
	n = journals_expired(list, 4, &tiny, 100 * DAY, gone);
	ok(n == 3, "that of a cell that runs stays");
	ok(journal_id_is_valid("0123456789abcdef0123456789abcdef"), "an id");
	ok(!journal_id_is_valid("../x") && !journal_id_is_valid("") && !journal_id_is_valid(".removed") &&
		   !journal_id_is_valid("0123456789abcdef0123456789abcdef0"),
	   "no ids");
	return tap_end();
}
