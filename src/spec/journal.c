/* What a cell's journal is if its settings do not say: decided by whoever starts the cell, viv or
 * vivd, with VIV_JOURNAL in its environment. */
#include <stdlib.h>
#include <string.h>

#include "spec/options.h"

static bool level_parse(const char *text, uint32_t *ret)
{
	const char *const *names = setting_choices(SET_JOURNAL);

	for (uint32_t i = 0; names[i]; i++)
		if (!strcmp(names[i], text)) {
			*ret = i;
			return true;
		}
	return false;
}

uint32_t journal_default(void)
{
	const char *text = getenv("VIV_JOURNAL");
	uint32_t level = JOURNAL_DEFAULT;

	/* A word that is none (journal_default_check()) turns nothing off. */
	if (text && *text)
		(void)level_parse(text, &level);
	return level;
}

int journal_default_check(struct err *e)
{
	const char *text = getenv("VIV_JOURNAL");
	uint32_t unused;

	if (!text || !*text || level_parse(text, &unused))
		return 0;
	return err_set(e, ERR_USAGE,
		       "VIV_JOURNAL '%.40s' in the environment is not a level of journals" REMEDY
		       "set it to all, changes or off",
		       text);
}

uint32_t run_journal(const struct run_options *o)
{
	return run_is_given(o, SET_JOURNAL) ? o->journal : journal_default();
}

uint32_t run_journal_full(const struct run_options *o)
{
	if (run_is_given(o, SET_JOURNAL_FULL))
		return o->journal_full;
	return run_is_given(o, SET_JOURNAL) ? JOURNAL_FULL_WAIT : JOURNAL_FULL_CONTINUE;
}
