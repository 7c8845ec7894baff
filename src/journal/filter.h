/* Which records 'viv journal' shows. */
#ifndef VIV_JOURNAL_FILTER_H
#define VIV_JOURNAL_FILTER_H

#include "base/err.h"
#include "journal/journal.h"

struct filter {
	bool kinds[J_KINDS]; /* that are wanted */
	const char *path; /* a glob as rules of a policy have it; NULL: any */
	size_t fixed; /* its beginning without special characters */
	int32_t pid; /* 0: any */
	const char *program; /* path, the last part of one, or a glob; NULL: any */
	uint64_t first, last; /* sequence numbers */
	int64_t earliest, latest; /* wall clock */
};

void filter_init(struct filter *f);
/* Kinds and groups, separated by commas. */
int must_check filter_kinds(struct filter *f, const char *words, struct err *e);
/* A glob; a directory stands for all below it, too, if it ends with '/'. */
int must_check filter_path(struct filter *f, const char *glob, struct err *e);
/* A process number or a program. */
int must_check filter_process(struct filter *f, const char *text, struct err *e);
/* A sequence number, or an instant: 2026-01-31T12:00:00Z, or 10m ago. */
int must_check filter_since(struct filter *f, const char *text, struct err *e);
int must_check filter_until(struct filter *f, const char *text, struct err *e);

/* program (p may be NULL): what its process runs. */
bool filter_takes(const struct filter *f, const struct journal_entry *j, struct jtext program);

#endif
