/* Workflows and schedules that a project's file declares. They belong to the project by a column of
 * their rows, and are called PROJECT.NAME. Like cells they are compared with the file each time;
 * those that are no longer in it go, because nothing is lost with them.
 *
 * Workflows are read with the keys of cells, and schedules name workflows: both are layers above
 * this one. So what is declared here is in src/daemon/automation, which is above them. */
#ifndef VIV_DAEMON_PROJECTS_AUTOMATION_H
#define VIV_DAEMON_PROJECTS_AUTOMATION_H

#include "daemon/projects/plan.h"

/* What is to be done, into p->automation: [{"action", "workflow" or "schedule"}], where action is
 * create, change, keep or remove. -1: one of them is another's. */
int must_check automation_plan(struct daemon *d, struct plan *p, struct err *f);
/* Does it, with the cells as they are now. tell: takes a line for the reader. */
void automation_do(struct daemon *d, struct plan *p, void (*tell)(void *arg, json_t *o), void *arg,
		   unsigned *changed, unsigned *failed);

#endif
