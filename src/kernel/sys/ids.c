/* Users, groups and capabilities of a thread. As on Linux they belong to the thread; libc changes
 * all threads of a process one by one. A change of an effective or file system id makes the process
 * undumpable and forgets the parent-death signal. A cell keeps at most NGROUPS_IN_CELL
 * supplementary groups. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/target.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define NOBODY ((uint32_t)-1) /* "leave as it is" in the set calls, invalid elsewhere */

static void cred_commit(struct task *t, const struct cred *c)
{
	struct cred *old = &t->cred;

	if (c->euid != old->euid || c->egid != old->egid || c->fsuid != old->fsuid ||
	    c->fsgid != old->fsgid || (c->cap_permitted & ~old->cap_permitted)) {
		t->proc->dumpable = 0;
		t->pdeathsig = 0;
	}
	t->cred = *c;
	fast_changed(t);
}

int64_t sys_getuid(struct task *t, const struct sysargs *a)
{
	(void)a;
	fast_id_told(t);
	return t->cred.uid;
}

int64_t sys_geteuid(struct task *t, const struct sysargs *a)
{
	(void)a;
	fast_id_told(t);
	return t->cred.euid;
}

int64_t sys_getgid(struct task *t, const struct sysargs *a)
{
	(void)a;
	fast_id_told(t);
	return t->cred.gid;
}

int64_t sys_getegid(struct task *t, const struct sysargs *a)
{
	(void)a;
	fast_id_told(t);
	return t->cred.egid;
}

static int64_t put_three(struct task *t, const struct sysargs *a, uint32_t x, uint32_t y,
			 uint32_t z)
{
	if (guest_put(t->tid, a->a[0], &x) < 0 || guest_put(t->tid, a->a[1], &y) < 0 ||
	    guest_put(t->tid, a->a[2], &z) < 0)
		return -EFAULT;
	return 0;
}

int64_t sys_getresuid(struct task *t, const struct sysargs *a)
{
	return put_three(t, a, t->cred.uid, t->cred.euid, t->cred.suid);
}

int64_t sys_getresgid(struct task *t, const struct sysargs *a)
{
	return put_three(t, a, t->cred.gid, t->cred.egid, t->cred.sgid);
}

/* ---- user ids ---- */

int64_t sys_setuid(struct task *t, const struct sysargs *a)
{
	uint32_t uid = (uint32_t)a->a[0];
	struct cred c = t->cred;

	if (uid == NOBODY)
		return -EINVAL;
	if (cred_has_cap(&c, CAP_SETUID))
		c.uid = c.suid = uid;
	else if (uid != c.uid && uid != c.suid)
		return -EPERM;
	c.euid = c.fsuid = uid;
	cred_follow_uids(&c, &t->cred);
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setreuid(struct task *t, const struct sysargs *a)
{
	uint32_t ruid = (uint32_t)a->a[0], euid = (uint32_t)a->a[1];
	const struct cred *old = &t->cred;
	struct cred c = *old;
	bool cap = cred_has_cap(old, CAP_SETUID);

	if (ruid != NOBODY) {
		if (!cap && ruid != old->uid && ruid != old->euid)
			return -EPERM;
		c.uid = ruid;
	}
	if (euid != NOBODY) {
		if (!cap && euid != old->uid && euid != old->euid && euid != old->suid)
			return -EPERM;
		c.euid = euid;
	}
	if (ruid != NOBODY || (euid != NOBODY && euid != old->uid))
		c.suid = c.euid;
	c.fsuid = c.euid;
	cred_follow_uids(&c, old);
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setresuid(struct task *t, const struct sysargs *a)
{
	const struct cred *old = &t->cred;
	struct cred c = *old;
	bool cap = cred_has_cap(old, CAP_SETUID);
	uint32_t *field[3] = { &c.uid, &c.euid, &c.suid };

	for (int i = 0; i < 3; i++) {
		uint32_t uid = (uint32_t)a->a[i];

		if (uid == NOBODY)
			continue;
		if (!cap && uid != old->uid && uid != old->euid && uid != old->suid)
			return -EPERM;
		*field[i] = uid;
	}
	if (c.uid == old->uid && c.euid == old->euid && c.suid == old->suid)
		return 0; /* not even fsuid follows */
	c.fsuid = c.euid;
	cred_follow_uids(&c, old);
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setfsuid(struct task *t, const struct sysargs *a)
{
	uint32_t uid = (uint32_t)a->a[0], was = t->cred.fsuid;
	const struct cred *old = &t->cred;
	struct cred c = *old;

	if (uid == NOBODY || uid == was)
		return was;
	if (uid == old->uid || uid == old->euid || uid == old->suid ||
	    cred_has_cap(old, CAP_SETUID)) {
		c.fsuid = uid;
		cred_follow_fsuid(&c, old);
		cred_commit(t, &c);
	}
	return was;
}

/* ---- group ids ---- */

int64_t sys_setgid(struct task *t, const struct sysargs *a)
{
	uint32_t gid = (uint32_t)a->a[0];
	struct cred c = t->cred;

	if (gid == NOBODY)
		return -EINVAL;
	if (cred_has_cap(&c, CAP_SETGID))
		c.gid = c.sgid = gid;
	else if (gid != c.gid && gid != c.sgid)
		return -EPERM;
	c.egid = c.fsgid = gid;
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setregid(struct task *t, const struct sysargs *a)
{
	uint32_t rgid = (uint32_t)a->a[0], egid = (uint32_t)a->a[1];
	const struct cred *old = &t->cred;
	struct cred c = *old;
	bool cap = cred_has_cap(old, CAP_SETGID);

	if (rgid != NOBODY) {
		if (!cap && rgid != old->gid && rgid != old->egid)
			return -EPERM;
		c.gid = rgid;
	}
	if (egid != NOBODY) {
		if (!cap && egid != old->gid && egid != old->egid && egid != old->sgid)
			return -EPERM;
		c.egid = egid;
	}
	if (rgid != NOBODY || (egid != NOBODY && egid != old->gid))
		c.sgid = c.egid;
	c.fsgid = c.egid;
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setresgid(struct task *t, const struct sysargs *a)
{
	const struct cred *old = &t->cred;
	struct cred c = *old;
	bool cap = cred_has_cap(old, CAP_SETGID);
	uint32_t *field[3] = { &c.gid, &c.egid, &c.sgid };

	for (int i = 0; i < 3; i++) {
		uint32_t gid = (uint32_t)a->a[i];

		if (gid == NOBODY)
			continue;
		if (!cap && gid != old->gid && gid != old->egid && gid != old->sgid)
			return -EPERM;
		*field[i] = gid;
	}
	if (c.gid == old->gid && c.egid == old->egid && c.sgid == old->sgid)
		return 0;
	c.fsgid = c.egid;
	cred_commit(t, &c);
	return 0;
}

int64_t sys_setfsgid(struct task *t, const struct sysargs *a)
{
	uint32_t gid = (uint32_t)a->a[0], was = t->cred.fsgid;
	const struct cred *old = &t->cred;
	struct cred c = *old;

	if (gid == NOBODY || gid == was)
		return was;
	if (gid == old->gid || gid == old->egid || gid == old->sgid ||
	    cred_has_cap(old, CAP_SETGID)) {
		c.fsgid = gid;
		cred_commit(t, &c);
	}
	return was;
}

int64_t sys_getgroups(struct task *t, const struct sysargs *a)
{
	int size = (int)a->a[0];
	uint32_t n = t->cred.ngroups;

	if (size < 0)
		return -EINVAL;
	if (size) {
		if (n > (uint32_t)size)
			return -EINVAL;
		if (guest_write(t->tid, a->a[1], t->cred.groups, n * sizeof(uint32_t)) < 0)
			return -EFAULT;
	}
	return n;
}

int64_t sys_setgroups(struct task *t, const struct sysargs *a)
{
	uint32_t size = (uint32_t)a->a[0], groups[NGROUPS_IN_CELL], g;
	uint32_t j;

	if (!cred_has_cap(&t->cred, CAP_SETGID))
		return -EPERM;
	if (size > NGROUPS_IN_CELL)
		return -EINVAL;
	if (guest_read(t->tid, groups, a->a[1], size * sizeof(uint32_t)) < 0)
		return -EFAULT;
	for (uint32_t i = 0; i < size; i++) {
		g = groups[i];
		if (g == NOBODY)
			return -EINVAL;
		for (j = i; j > 0 && groups[j - 1] > g;
		     j--) /* Linux keeps them sorted, and shows it */
			groups[j] = groups[j - 1];
		groups[j] = g;
	}
	memcpy(t->cred.groups, groups, size * sizeof(uint32_t));
	t->cred.ngroups = size;
	fast_changed(t);
	return 0;
}

/* ---- capabilities ---- */

/* Checks the version in the header: the number of 32-bit words of each set, or -EINVAL with the
 * version we like best written back. */
static int cap_words(struct task *t, uaddr_t header, struct __user_cap_header_struct *h)
{
	uint32_t best = _LINUX_CAPABILITY_VERSION_3;

	if (guest_get(t->tid, h, header) < 0)
		return -EFAULT;
	switch (h->version) {
	case _LINUX_CAPABILITY_VERSION_1:
		return 1;
	case _LINUX_CAPABILITY_VERSION_2:
	case _LINUX_CAPABILITY_VERSION_3:
		return 2;
	default:
		return guest_put(t->tid, header, &best) < 0 ? -EFAULT : -EINVAL;
	}
}

int64_t sys_capget(struct task *t, const struct sysargs *a)
{
	static const struct cred init_cred = { .cap_effective = CAP_FULL,
					       .cap_permitted = CAP_FULL };
	struct __user_cap_header_struct h;
	struct __user_cap_data_struct d[2];
	struct task *target;
	const struct cred *c;
	int64_t err;
	int words = cap_words(t, a->a[0], &h);

	if (words < 0) /* without data this is how the version is asked for */
		return words == -EINVAL && !a->a[1] ? 0 : words;
	if (h.pid < 0)
		return -EINVAL;
	if (h.pid == INIT_PID) {
		c = &init_cred;
	} else {
		err = target_task(t, h.pid, &target);
		if (err)
			return err;
		c = &target->cred;
	}
	if (!a->a[1])
		return 0;
	for (int i = 0; i < words; i++) {
		d[i].effective = (uint32_t)(c->cap_effective >> (32 * i));
		d[i].permitted = (uint32_t)(c->cap_permitted >> (32 * i));
		d[i].inheritable = (uint32_t)(c->cap_inheritable >> (32 * i));
	}
	return guest_write(t->tid, a->a[1], d, (size_t)words * sizeof(d[0]));
}

int64_t sys_capset(struct task *t, const struct sysargs *a)
{
	struct __user_cap_header_struct h;
	struct __user_cap_data_struct d[2] = { 0 };
	struct cred c = t->cred;
	uint64_t e, p, i;
	int words = cap_words(t, a->a[0], &h);

	if (words < 0)
		return words;
	if (h.pid != 0 && h.pid != t->tid)
		return -EPERM;
	if (guest_read(t->tid, d, a->a[1], (size_t)words * sizeof(d[0])) < 0)
		return -EFAULT;
	e = (d[0].effective | (uint64_t)d[1].effective << 32) & CAP_FULL;
	p = (d[0].permitted | (uint64_t)d[1].permitted << 32) & CAP_FULL;
	i = (d[0].inheritable | (uint64_t)d[1].inheritable << 32) & CAP_FULL;
	if (!cred_has_cap(&c, CAP_SETPCAP) && (i & ~(c.cap_inheritable | c.cap_permitted)))
		return -EPERM;
	if (i & ~(c.cap_inheritable | c.cap_bounding))
		return -EPERM;
	if ((p & ~c.cap_permitted) || (e & ~p))
		return -EPERM;
	c.cap_effective = e;
	c.cap_permitted = p;
	c.cap_inheritable = i;
	c.cap_ambient &= p & i;
	cred_commit(t, &c);
	return 0;
}
