/* What is to be done so that the machine is as a file says, cell by cell. Making a plan changes
 * nothing.
 *
 * The cells of a project carry its name in a label, and a keyed hash of what the file says of them:
 * keyed, because labels are shown to those who may not see the environment, and must not help them
 * to guess it. */
#ifndef VIV_DAEMON_PROJECTS_PLAN_H
#define VIV_DAEMON_PROJECTS_PLAN_H

#include "daemon/cells/family.h"
#include "daemon/cells/make.h"
#include "daemon/projects/file.h"

#define LABEL_PROJECT "vivarium.project"
#define LABEL_CELL "vivarium.cell" /* its name in the file */
#define LABEL_SPEC "vivarium.spec" /* hash of its spec */
#define LABEL_FILES "vivarium.files" /* hash of its files, once they are written */

enum plan_kind {
	PLAN_KEEP, /* it is as it is to be */
	PLAN_CREATE,
	PLAN_START, /* as it is to be, but for running */
	PLAN_CHANGE, /* without a restart */
	PLAN_RESTART, /* change it, and start it again */
	PLAN_RECREATE, /* change what a disk is made from: its files go */
	PLAN_REMOVE,
	PLAN_ORPHAN, /* of the project and not in the file: left alone */
	PLAN_LATER, /* needs a restart that was not asked for; the rest is changed */
	PLAN_REFUSED, /* needs its files to be removed, which was not asked for */
};

struct plan_action {
	enum plan_kind kind;
	char cell[CELL_NAME_LEN + 1];
	int group; /* of the file; -1: not in it */
	json_t *changes; /* names of what differs: "image", "env.PORT"; NULL: nothing */
	json_t *restart; /* those of them that need a restart */
	json_t *spec; /* what it is to be, with labels; NULL: to be removed */
	bool files; /* are to be written */
	bool prompt; /* is to be given to its agent */
	bool start; /* of PLAN_CHANGE: it does not run, and is to */
};

struct plan_options {
	bool down; /* everything of the project goes */
	bool volumes; /* with down: the volumes that it made, too */
	bool apply; /* running cells are not restarted ... */
	bool restart; /* ... unless asked to */
	bool recreate, remove_orphans;
	const json_t *only; /* a list of names; NULL or empty: all */
	const struct cell *parent; /* it is the project of a cell; NULL: of the host */
};

/* The project of a cell (docs/subcells.md): its cells are children of that cell, and are made as it
 * would make them (made_fn is of make.h). Names in the plan and in its file are those of the store;
 * what is told has those of the cell. A child is never changed, but made anew if the file says so.
 */
struct plan_family {
	char parent[CELL_ID_LEN + 1]; /* "": it is the host's */
	/* Takes spec. name: the one that the cell gives. Calls fn once. */
	void (*make)(struct daemon *d, const char *parent, const char *name, json_t *spec,
		     made_fn fn, void *arg);
};

struct plan {
	struct plan_family family;
	char project[CELL_NAME_LEN + 1];
	struct project_file file; /* empty when there is none */
	struct plan_action *actions;
	unsigned n;
	json_t *volumes; /* names: to be made, or with down, to be removed */
	/* workflows and schedules (automation.h); NULL: they are left as they are */
	json_t *automation;
	bool down;
	bool refused; /* one of the actions is, so nothing is to be done */
};

/* Takes file, also when it fails. project: for a plan without a file; else the file's. -1: an
 * error. plan_free in any case. */
int must_check plan_make(struct daemon *d, struct project_file *file, const char *project,
			 const struct plan_options *o, struct plan *ret, struct err *f);
void plan_free(struct plan *p);
/* {"project", "actions": [{"action", "cell", "changes"}], "volumes"}; no value of anything is in
 * it. */
json_t *plan_json(const struct plan *p);
/* The name of a cell as it is told. */
struct family_name plan_shown(const struct plan *p, const char *cell);
bool plan_does(const struct plan_action *a); /* something */

/* The volumes that projects made. */
int project_volume_note(struct daemon *d, const char *project, const char *volume, struct err *f);
/* All of them, as an object with their names; the caller's. */
json_t *project_volumes(struct daemon *d);
void project_volume_forget(struct daemon *d, const char *volume);

/* The project's name that a cell carries, or NULL. */
const char *cell_project(const struct cell *c);
/* It did what it was to do, and is not started again. */
bool cell_is_over(const struct cell *c);
/* Keyed hashes, as text, of a group's spec, of its files, and of its agent and prompt (which it
 * has). Made once: all of its replicas have the same. */
const char *group_spec_hash(struct daemon *d, struct project_group *g);
const char *group_files_hash(struct daemon *d, struct project_group *g);
const char *group_prompt_hash(struct daemon *d, struct project_group *g);

#endif
