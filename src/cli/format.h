/* --format of 'viv ps': docker's templates, as far as they consist of fields. Literal text, "\t",
 * "\n" and {{.FIELD}}; "table TEMPLATE" puts headings above the rows and aligns the columns, which
 * tabs separate. Conditions, loops and functions are not supported. */
#ifndef VIV_CLI_FORMAT_H
#define VIV_CLI_FORMAT_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/args.h"

struct format {
	const char *template; /* NULL: none was given */
	bool table;
	struct buf rows; /* of a table: printed at its end, when the widths are known */
};

/* The verb's --format. "json" and "{{json .}}" turn a->json on. 0 or -1. */
int must_check format_read(struct format *f, struct args *a, struct err *e);
/* One cell; NULL: the headings. */
void format_row(struct format *f, const struct json *cell);
void format_end(struct format *f);

#endif
