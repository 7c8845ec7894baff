/* See journalwords.h. */
#include "cli/journalwords.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

void word_add(struct words *w, const char *word)
{
	if (w->n + 1 < ARRAY_LEN(w->list))
		w->list[w->n++] = xstrndup(word, strlen(word));
}

void option_add(struct words *w, const struct args *a, const char *name, bool value)
{
	char word[64];

	if (value ? !arg_value(a, name) : !arg_is_on(a, name))
		return;
	snprintf(word, sizeof(word), "--%s", name);
	word_add(w, word);
	if (value)
		word_add(w, arg_value(a, name));
}

int words_begin(struct words *w, const struct args *a, const char *verb, const char *cell,
		struct journal_place *j, struct err *e)
{
	char path[4096];

	memset(w, 0, sizeof(*w));
	if (cell && journal_find(cell, j, e) < 0)
		return -1;
	if (journal_path(cell ? j->id : NULL, path, sizeof(path), e) < 0)
		return -1;
	word_add(w, "viv-journal");
	word_add(w, verb);
	if (a->json)
		word_add(w, "--json");
	word_add(w, path);
	return 0;
}

int words_run(struct words *w, struct err *e)
{
	fflush(stdout);
	return program_run("viv-journal", w->list, e);
}
