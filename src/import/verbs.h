/* The verbs of viv-store, which are those of 'viv image'. Each returns the exit status. */
#ifndef VIV_IMPORT_VERBS_H
#define VIV_IMPORT_VERBS_H

#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/report.h"
#include "base/jsontext.h"
#include "store/store.h"

struct verb {
	const char *name;
	int (*main)(struct store *s, int argc, char **argv);
};

int verb_import(struct store *s, int argc, char **argv);
int verb_ls(struct store *s, int argc, char **argv);
int verb_inspect(struct store *s, int argc, char **argv);
int verb_export(struct store *s, int argc, char **argv);
int verb_tag(struct store *s, int argc, char **argv);
int verb_rm(struct store *s, int argc, char **argv);
int verb_gc(struct store *s, int argc, char **argv);
int verb_verify(struct store *s, int argc, char **argv);

/* What the caller wants new files of his to be; ours are made with another. */
mode_t caller_umask(void);

/* Prints "viv: MESSAGE" and returns the exit status for it. */

/* One import from its start to its end: fill puts everything into the tree; tag may be NULL. */
struct import;
struct import_options;
int image_import(struct store *s, const struct import_options *o, const char *tag, char *hash,
		 int (*fill)(struct import *im, const void *arg, struct err *e), const void *arg,
		 struct err *e);

/* ---- options (options.c) ---- */

struct option {
	const char *name; /* without its "--" */
	char letter; /* 0: none */
	const char **value; /* an option with a value */
	bool *flag; /* one without */
};

/* Takes the options out of argv and leaves the others: their number, from 1 on, or -1 with the
 * message printed. Between min and max arguments must be left. */
int options_parse(int argc, char **argv, const struct option *options, unsigned n, int min,
		  int max);
/* 64M, 1G, 1.5g, 4096: bytes. */
bool size_parse(const char *s, uint64_t *ret);

/* ---- output ---- */

/* Whether --json was given: objects, one for each line, also for failures. */
/* What an import made: its hash. */
void image_made(const char *hash, const char *tag);
/* 12.3 MB */
const char *size_text(uint64_t size, char *to, size_t n);
/* 2026-01-31T12:00:00Z */
const char *time_text(int64_t seconds, char *to, size_t n);

#endif
