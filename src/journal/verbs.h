/* The commands of viv-journal. Each gets the words behind its name and returns the exit status. */
#ifndef VIV_JOURNAL_VERBS_H
#define VIV_JOURNAL_VERBS_H

#include "base/err.h"

int verb_seal(int argc, char **argv);
int verb_tend(int argc, char **argv);
int verb_append(int argc, char **argv);
int verb_print(int argc, char **argv);
int verb_verify(int argc, char **argv);
int verb_head(int argc, char **argv);
int verb_key(int argc, char **argv);
int verb_prove(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_touched(int argc, char **argv);
int verb_blame(int argc, char **argv);
int verb_timeline(int argc, char **argv);
int verb_diff(int argc, char **argv);
int verb_export(int argc, char **argv);

/* ---- words ---- */

/* An option of a command: --NAME, with a value or not. */
struct word_opt {
	const char *name; /* without the dashes */
	const char **value; /* where its value goes; NULL: it has none */
	bool *on; /* set if it was given; may be NULL if value is not */
};

/* Takes the options out of argv, wherever they stand; "--" ends them. What is left stands in its
 * order at the begin of argv. How many; -1: unknown option, or a value is missing. */
int must_check words_take(int argc, char **argv, const struct word_opt *opts, unsigned nopts,
			  struct err *e);

/* 1, 2, ... False: it is not a number of a record or block. */
bool number_parse(const char *text, uint64_t *ret);
/* A public key: 64 digits, or a file that has them. */
int must_check public_parse(const char *text, uint8_t public[32], struct err *e);

#endif
