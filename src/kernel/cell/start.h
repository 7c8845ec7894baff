/* Putting a process that no guest forked into the tables, ready to execute its program. */
#ifndef VIV_KERNEL_CELL_START_H
#define VIV_KERNEL_CELL_START_H

#include <sys/types.h>

#include "kernel/cell/users.h"

struct file;
struct proc;

struct start {
	const char *program; /* a path, or a name that is searched for in search */
	/* the program itself, of which program is only the name; NULL: none. borrowed */
	struct file *given;
	const char *search; /* a value of PATH; NULL: the usual places */
	const char *cwd;
	const struct cred *cred;
	struct file *files[3]; /* borrowed */
};

/* What to say when it fails. status is what a shell would give: 125, 126, 127. */
struct start_failure {
	int status, err;
	char text[256];
};

/* Process pid, in a session of its own. NULL: it failed, and nothing of it is left. */
struct proc *must_check start_proc(pid_t pid, const struct start *s, struct start_failure *f);
/* text as docker's --user has it. 0, or -errno with f filled. */
int must_check start_user(const char *text, struct user *ret, struct start_failure *f);
/* list as docker's --group-add has them, with commas between them. 0, or -errno with f filled. */
int must_check start_groups(const char *list, struct groups *ret, struct start_failure *f);
/* Of u, with the groups that every process of the cell has. */
void start_cred(const struct user *u, struct cred *out);

#endif
