/* See denials.h. The last lines are kept in a ring, which is made for the first of them. */
#include "kernel/net/denials.h"

#include <string.h>

#include "base/arena.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/task/clock.h"

#define LINES 100u
#define LINE_TEXT 488u

struct line {
	int64_t at; /* ns */
	uint32_t times;
	uint32_t len;
	char text[LINE_TEXT];
};

static struct line *lines; /* a blob of LINES */
static uint64_t count; /* of all that were added; the last is at (count - 1) % LINES */

void denials_add(const char *text, size_t n)
{
	struct line new = { .at = now_real(), .times = 1 };
	struct line *last;

	if (!lines)
		lines = blob_new(LINES * sizeof(*lines));
	if (!lines || !n)
		return;
	new.len = (uint32_t)MIN(n, (size_t)LINE_TEXT);
	for (uint32_t i = 0; i < new.len; i++)
		new.text[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
	last = count ? &lines[(count - 1) % LINES] : NULL;
	if (last && last->len == new.len && !memcmp(last->text, new.text, new.len)) {
		last->at = new.at;
		last->times += last->times < UINT32_MAX;
		return;
	}
	lines[count++ % LINES] = new;
}

/* The date of a day since 1970 (Howard Hinnant, chrono-compatible low-level date algorithms). */
static void date_put(struct textbuf *b, int64_t days)
{
	int64_t z = days + 719468, era = z / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	int64_t month = mp < 10 ? mp + 3 : mp - 9;

	text_printf(b, "%04ld-%02ld-%02ld", yoe + era * 400 + (month <= 2), month,
		    doy - (153 * mp + 2) / 5 + 1);
}

int denials_show(struct pinode *pi, struct task *t, struct textbuf *b)
{
	(void)pi, (void)t;
	for (uint64_t i = count > LINES ? count - LINES : 0; i < count; i++) {
		const struct line *l = &lines[i % LINES];
		int64_t s = MAX(l->at, (int64_t)0) / (int64_t)NSEC_PER_SEC;

		date_put(b, s / 86400);
		text_printf(b, "T%02ld:%02ld:%02ldZ ", s / 3600 % 24, s / 60 % 60, s % 60);
		text_put(b, l->text, l->len);
		if (l->times > 1)
			text_printf(b, " (%u times)", l->times);
		text_puts(b, "\n");
	}
	return 0;
}
