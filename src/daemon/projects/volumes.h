/* The volumes of a project, made and removed by a thread. */
#ifndef VIV_DAEMON_PROJECTS_VOLUMES_H
#define VIV_DAEMON_PROJECTS_VOLUMES_H

#include "daemon/projects/plan.h"

/* Called later for each volume, f NULL: it is done; and at last with NULL. */
typedef void (*volumes_fn)(void *arg, const char *volume, const struct err *f);

/* list: their names; copied. drop: removes them, else makes them. */
void project_volumes_change(struct daemon *d, const char *project, const json_t *list, bool drop,
			    volumes_fn fn, void *arg);

#endif
