/* The words of a viv-journal that a verb runs on a cell's journal. */
#ifndef VIV_CLI_JOURNALWORDS_H
#define VIV_CLI_JOURNALWORDS_H

#include "cli/args.h"
#include "cli/journaldir.h"

struct words {
	char *list[40];
	unsigned n;
};

void word_add(struct words *w, const char *word);
/* An option as it was given; nothing if it was not. */
void option_add(struct words *w, const struct args *a, const char *name, bool value);
/* viv-journal VERB WORD, where WORD is the directory of a cell's journal or of all. */
int must_check words_begin(struct words *w, const struct args *a, const char *verb,
			   const char *cell, struct journal_place *j, struct err *e);
/* Runs it with this process's streams; its exit status. */
int must_check words_run(struct words *w, struct err *e);

#endif
