/* Credentials: questions about them, and what follows from a change of user.
 *
 * Root of a cell has every capability inside it. Leaving uid 0 loses them as on Linux: the
 * effective set with the effective uid, all sets when no uid is 0 any more (unless PR_SET_KEEPCAPS
 * kept the permitted one), and the capabilities over files with fsuid. File capabilities do not
 * exist. */
#include <linux/capability.h>
#include <linux/securebits.h>

#include "kernel/task/cred.h"

#define CAP_FS_SET                                                                          \
	(CAP_MASK(CAP_CHOWN) | CAP_MASK(CAP_DAC_OVERRIDE) | CAP_MASK(CAP_DAC_READ_SEARCH) | \
	 CAP_MASK(CAP_FOWNER) | CAP_MASK(CAP_FSETID) | CAP_MASK(CAP_LINUX_IMMUTABLE) |      \
	 CAP_MASK(CAP_MKNOD) | CAP_MASK(CAP_MAC_OVERRIDE))

bool cred_has_cap(const struct cred *c, int cap)
{
	return cap >= 0 && cap <= CAP_LAST && (c->cap_effective & CAP_MASK(cap));
}

bool cred_in_group(const struct cred *c, uint32_t gid)
{
	if (gid == c->fsgid)
		return true;
	for (uint32_t i = 0; i < c->ngroups && i < NGROUPS_IN_CELL; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

bool cred_is_same_user(const struct cred *c, const struct cred *target)
{
	return c->euid == target->euid || c->euid == target->uid;
}

void cred_init(struct cred *c, uint32_t uid, uint32_t gid)
{
	*c = (struct cred){ 0 };
	c->uid = c->euid = c->suid = c->fsuid = uid;
	c->gid = c->egid = c->sgid = c->fsgid = gid;
	c->cap_bounding = CAP_FULL;
	if (uid == 0)
		c->cap_permitted = c->cap_effective = CAP_FULL;
}

void cred_follow_uids(struct cred *c, const struct cred *old)
{
	bool had_root = old->uid == 0 || old->euid == 0 || old->suid == 0;
	bool has_root = c->uid == 0 || c->euid == 0 || c->suid == 0;

	if (c->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (had_root && !has_root) {
		if (!(c->securebits & SECBIT_KEEP_CAPS)) {
			c->cap_permitted = 0;
			c->cap_effective = 0;
		}
		c->cap_ambient = 0;
	}
	if (old->euid == 0 && c->euid != 0)
		c->cap_effective = 0;
	if (old->euid != 0 && c->euid == 0)
		c->cap_effective = c->cap_permitted;
}

void cred_follow_fsuid(struct cred *c, const struct cred *old)
{
	if (c->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (old->fsuid == 0 && c->fsuid != 0)
		c->cap_effective &= ~CAP_FS_SET;
	if (old->fsuid != 0 && c->fsuid == 0)
		c->cap_effective |= c->cap_permitted & CAP_FS_SET;
}

void cred_exec(struct cred *c)
{
	bool root_matters = !(c->securebits & SECBIT_NOROOT);

	c->suid = c->fsuid = c->euid;
	c->sgid = c->fsgid = c->egid;
	/* A set-user-ID or set-group-ID program gets no ambient capabilities. */
	if (c->uid != c->euid || c->gid != c->egid)
		c->cap_ambient = 0;
	if (root_matters && (c->euid == 0 || c->uid == 0)) {
		c->cap_permitted = c->cap_inheritable | c->cap_bounding;
		c->cap_effective = c->euid == 0 ? c->cap_permitted : 0;
	} else {
		c->cap_permitted = c->cap_ambient;
		c->cap_effective = c->cap_ambient;
	}
	c->securebits &= ~(uint32_t)SECBIT_KEEP_CAPS;
}
