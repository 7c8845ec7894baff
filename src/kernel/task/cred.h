/* Credentials, and changes of them that follow from others (capabilities(7), credentials(7)). The
 * capabilities are the cell's own: they decide what our kernel allows and mean nothing to the
 * host. */
#ifndef VIV_KERNEL_TASK_CRED_H
#define VIV_KERNEL_TASK_CRED_H

#include "base/base.h"

#define NGROUPS_IN_CELL 64

struct cred {
	uint32_t uid, euid, suid, fsuid;
	uint32_t gid, egid, sgid, fsgid;
	uint32_t ngroups;
	uint32_t groups[NGROUPS_IN_CELL];
	uint64_t cap_effective, cap_permitted, cap_inheritable,
		cap_bounding; /* of the cell, not of the host */
	uint64_t cap_ambient;
	uint32_t securebits; /* SECBIT_* */
};

#define CAP_LAST 40
#define CAP_FULL ((1ULL << (CAP_LAST + 1)) - 1)
#define CAP_MASK(cap) (1ULL << (cap))

bool cred_has_cap(const struct cred *c, int cap);
bool cred_in_group(const struct cred *c, uint32_t gid);
/* uid 0 of a cell, with everything a root has there; no supplementary groups. */
void cred_init(struct cred *c, uint32_t uid, uint32_t gid);
/* The user ids of c were changed from those of old: capabilities are gained and lost with uid 0. */
void cred_follow_uids(struct cred *c, const struct cred *old);
/* Only fsuid was changed from old's. */
void cred_follow_fsuid(struct cred *c, const struct cred *old);
/* The program is replaced. euid and egid are those of the new program (set-user-ID applied by the
 * caller); saved and file system ids and capabilities follow. */
void cred_exec(struct cred *c);
/* c may act on a thing of target as its owner does (same user): kill-like rules are elsewhere. */
bool cred_is_same_user(const struct cred *c, const struct cred *target);

#endif
