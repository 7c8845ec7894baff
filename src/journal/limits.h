/* How many journals are kept, how long, and how much disk they may take together. vivd and the
 * sealer of the store (sweep.c) go by it; journals that are being written are not looked at. */
#ifndef VIV_JOURNAL_LIMITS_H
#define VIV_JOURNAL_LIMITS_H

#include "base/base.h"
#include "base/err.h"

struct journal_limits {
	int64_t age; /* nanoseconds since it was written last; 0: any */
	uint64_t bytes; /* of all together; 0: any */
};
#define JOURNAL_DAY (86400 * NSEC_PER_SEC)
#define JOURNAL_LIMITS                       \
	(struct journal_limits)              \
	{                                    \
		30 * JOURNAL_DAY, 4ull << 30 \
	}
/* Looking at all of them must not take long: of more, the oldest go. */
#define JOURNALS_MAX 10000u

/* A word for them: a number of days, or a size like 4G; 0: any. False: it is not one. */
bool limit_days(const char *text, struct journal_limits *l);
bool limit_space(const char *text, struct journal_limits *l);
/* VIV_JOURNAL_DAYS and VIV_JOURNAL_SPACE of the environment, where they are set. -1 with an error:
 * one of them is wrong. */
int must_check limits_environment(struct journal_limits *l, struct err *e);

/* The file that says when journals were looked through last, and by which limits: those that vivd
 * was started with count for others, too. */
#define JOURNAL_LIMITS_FILE ".limits"
/* False: there is none. *ret_at: when that was, nanoseconds since 1970. */
bool limits_read(int journals, struct journal_limits *ret, int64_t *ret_at);
void limits_write(int journals, const struct journal_limits *l);

/* One that may be removed. */
struct journal_aged {
	size_t index; /* the caller's */
	int64_t written; /* nanoseconds since 1970 */
	uint64_t bytes;
};
/* Sorts them, the oldest first; how many of the first are to go. */
size_t limits_exceeded(struct journal_aged *list, size_t n, const struct journal_limits *l,
		       int64_t now);

#endif
