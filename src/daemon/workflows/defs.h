/* Workflows that are known by name, because a project declares them. What is kept is the document
 * with all files that it names, as they were then. */
#ifndef VIV_DAEMON_WORKFLOWS_DEFS_H
#define VIV_DAEMON_WORKFLOWS_DEFS_H

#include <jansson.h>

#include "daemon/state/daemon.h"

/* Its document, by its whole name (PROJECT.NAME), or by NAME if only one project has it. The
 * caller's; NULL: an error 404 (409 for several). */
json_t *workflow_def_find(struct daemon *d, const char *name, struct err *e);
/* The document of a request: its "yaml" with "file" and "dir", or its "name". */
json_t *workflow_doc(struct daemon *d, const json_t *request, struct err *e);
/* [{name, project, inputs, steps, description}]. */
json_t *workflow_defs(struct daemon *d);
/* {NAME: the text of its document} of a project. */
json_t *workflow_defs_of(struct daemon *d, const char *project);
/* Its project; "": there is none. */
void workflow_def_project(struct daemon *d, const char *name, char ret[65]);
int must_check workflow_def_put(struct daemon *d, const char *project, const char *name,
				const json_t *doc, struct err *e);
void workflow_def_remove(struct daemon *d, const char *name);
/* A document as it is kept, to be compared; the caller's. */
char *workflow_def_text(const json_t *doc);

#endif
