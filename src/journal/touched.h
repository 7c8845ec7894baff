/* What a cell touched: files by what became of them, programs, hosts, denials, approvals. */
#ifndef VIV_JOURNAL_TOUCHED_H
#define VIV_JOURNAL_TOUCHED_H

#include <stdio.h>

#include "journal/hosts.h"
#include "journal/names.h"
#include "journal/tally.h"

struct touched {
	struct names names;
	struct hosts hosts;
	struct tally programs; /* path: how often it was started */
	struct tally denials; /* scope, what, rule */
	struct tally approvals; /* scope, what, answer, by */
	struct tally tools; /* name: calls, calls that failed */
	struct tally limits; /* what */
	struct tally operators; /* action, detail */
	struct tally mounts; /* path */
	struct tally inbound; /* port */
	struct tally holes; /* reason: how often, records that are missing */
	uint64_t kinds[J_KINDS], records, first, last;
	int64_t begin, end; /* wall */
	char id[48], name[80], image[160]; /* of the cell, as START has them */
};

void touched_init(struct touched *t);
void touched_fini(struct touched *t);
/* Takes a record in, in their order. Those before the first are as if they had never been: what
 * they made was there before. */
void touched_follow(struct touched *t, const struct journal_entry *e);
/* A record before the first that counts: only what names the cell is taken. */
void touched_before(struct touched *t, const struct journal_entry *e);

/* One screen for people. all: every file, and not only the first of each kind. */
void touched_show(struct touched *t, FILE *to, bool all);
/* Everything, as one object. */
void touched_json(struct touched *t, FILE *to);

#endif
