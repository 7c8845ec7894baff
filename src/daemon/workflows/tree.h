/* The nodes of a run: making, finding and reading them, and what their expressions see. */
#ifndef VIV_DAEMON_WORKFLOWS_TREE_H
#define VIV_DAEMON_WORKFLOWS_TREE_H

#include "daemon/workflows/engine.h"

/* A new one, with its number. NULL: the run has too many. def: borrowed; NULL: a part of its
 * parent. */
struct wf_node *node_new(struct wf_run *r, struct wf_node *parent, const char *path,
			 enum wf_kind kind, const json_t *def, int64_t index);
/* The same for the child of a node with this index, by its definition. */
struct wf_node *node_child(struct wf_node *n, int64_t index);
/* How many children it will have. */
int64_t node_total(const struct wf_node *n);
/* A workflow by the name that a step has for it, or the main one. */
const json_t *workflow_def(const struct wf_run *r, const char *key);
/* The steps that are a node's own: of an if the branch that was taken. */
void node_steps(struct wf_node *n);
/* A number of the step's, or 0. */
double def_number(const json_t *def, const char *key);
/* Nodes that are done and have steps that undo them, the last one first: r->undo. */
void undo_collect(struct wf_run *r);
/* What a node has given: the output of its last step, of its items, of its branches. The caller's;
 * NULL: it is too large. */
json_t *node_output(const struct wf_node *n);
void node_set(json_t **to, json_t *v); /* takes v */

#endif
