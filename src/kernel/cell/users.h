/* Users of the cell, as its own /etc/passwd and /etc/group name them. */
#ifndef VIV_KERNEL_CELL_USERS_H
#define VIV_KERNEL_CELL_USERS_H

#include "kernel/task/cred.h"

struct task;

struct user {
	uint32_t uid, gid;
	uint32_t groups[NGROUPS_IN_CELL];
	uint32_t ngroups;
	char name[64], home[256];
};

struct groups {
	uint32_t v[NGROUPS_IN_CELL];
	uint32_t n;
};

/* text is NAME, UID, NAME:GROUP ... as for docker's --user. t walks the paths. 0, -ENOENT: no such
 * user, -ESRCH: no such group. */
int must_check user_find(struct task *t, const char *text, struct user *ret);
/* list is names and numbers of groups with commas between them. 0, -ESRCH: there is no group
 * *wrong. */
int must_check groups_find_all(struct task *t, const char *list, struct groups *ret,
			       const char **wrong);
void groups_add(struct cred *c, const struct groups *more);

#endif
