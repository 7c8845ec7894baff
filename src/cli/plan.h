/* Printing what vivd does for a file: the plan, each step, the end. */
#ifndef VIV_CLI_PLAN_H
#define VIV_CLI_PLAN_H

#include "base/err.h"

struct plan_print {
	bool json, dry_run, down, colour;
	bool planned, ended; /* the plan, the end came */
	unsigned work; /* things that are to be done */
	bool later, refused; /* something needs a restart; or to be made anew */
	uint64_t changed, same, failed;
};

void plan_print_init(struct plan_print *p, bool json, bool dry_run, bool down);
/* A line of the answer; for viv_stream. */
int plan_line(void *arg, const char *line, size_t size);
/* After the last line: says what it came to. The exit status, or -1. */
int plan_print_end(struct plan_print *p, struct err *e);

#endif
