/* viv touched, blame, timeline, journal diff and journal export: what viv-journal answers about the
 * journal of a cell that runs or is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/journalwords.h"

int touched_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "touched", a->words[0], &j, e) < 0)
		return -1;
	option_add(&w, a, "all", false);
	option_add(&w, a, "since", true);
	option_add(&w, a, "until", true);
	return words_run(&w, e);
}

int blame_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "blame", a->words[0], &j, e) < 0)
		return -1;
	option_add(&w, a, "all", false);
	word_add(&w, "--");
	word_add(&w, a->words[1]);
	return words_run(&w, e);
}

int timeline_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "timeline", a->words[0], &j, e) < 0)
		return -1;
	option_add(&w, a, "html", true);
	option_add(&w, a, "since", true);
	option_add(&w, a, "until", true);
	return words_run(&w, e);
}

int journal_export_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "export", a->words[0], &j, e) < 0)
		return -1;
	option_add(&w, a, "format", true);
	option_add(&w, a, "to", true);
	option_add(&w, a, "since", true);
	option_add(&w, a, "until", true);
	return words_run(&w, e);
}

/* CELL@SNAPSHOT: its two halves; without a snapshot, what stands for it. */
static const char *snapshot_split(char *word, const char *without)
{
	char *at = strrchr(word, '@');

	if (!at)
		return without;
	*at = 0;
	return at + 1;
}

int journal_diff_main(struct args *a, struct err *e)
{
	char *first = xstrndup(a->words[0], strlen(a->words[0]));
	const char *word = a->words[1] ? a->words[1] : a->words[0];
	char *second = xstrndup(word, strlen(word));
	const char *from = snapshot_split(first, "start");
	const char *to = snapshot_split(second, "end");
	struct journal_place j, other;
	struct words w;
	int rc = -1;

	if (!a->words[1])
		to = "end";
	if (words_begin(&w, a, "diff", first, &j, e) < 0 || journal_find(second, &other, e) < 0)
		goto out;
	if (strcmp(j.id, other.id) != 0) {
		err_note(e, ERR_USAGE,
			 "'%s' and '%s' are different cells" REMEDY
			 "'viv diff' compares the files of two cells",
			 first, second);
		goto out;
	}
	option_add(&w, a, "all", false);
	word_add(&w, "--");
	word_add(&w, from);
	word_add(&w, to);
	rc = words_run(&w, e);
out:
	free(first);
	free(second);
	return rc;
}
