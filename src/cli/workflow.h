/* Between the files of viv workflow. */
#ifndef VIV_CLI_WORKFLOW_H
#define VIV_CLI_WORKFLOW_H

#include "base/json.h"
#include "cli/args.h"

/* Writes the page of a run, as the API gives it, to a file ("-": standard output). */
int must_check workflow_html(const struct json *run, const char *file, struct err *e);

/* Members of a request: the text of a file, and what --input gives. */
int must_check workflow_file_add(struct buf *b, const char *file, struct err *e);
/* A file, or the name of a workflow that a project declares. */
int must_check workflow_ref_add(struct buf *b, const char *word, struct err *e);
int must_check workflow_inputs_add(const struct args *a, struct buf *b, struct err *e);

#endif
