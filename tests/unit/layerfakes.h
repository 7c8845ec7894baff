/* What layers need of other parts of the kernel, for tests without those: no timer fires,
 * everything is allowed, no guest has memory. */
#ifndef VIV_TESTS_UNIT_LAYERFAKES_H
#define VIV_TESTS_UNIT_LAYERFAKES_H

#include "fakework.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/vfs/dir.h"

void ktimer_init_with(struct ktimer *timer, void (*const *fn)(struct ktimer *))
{
	(void)timer, (void)fn;
}
int ktimer_start(struct ktimer *timer, int64_t expires)
{
	(void)timer, (void)expires;
	return 0;
}
void ktimer_stop(struct ktimer *timer)
{
	(void)timer;
}
bool ktimer_is_started(const struct ktimer *timer)
{
	(void)timer;
	return false;
}
bool turn_is_long(void)
{
	return false;
}
bool cred_has_cap(const struct cred *c, int cap)
{
	(void)c, (void)cap;
	return true;
}
bool cred_in_group(const struct cred *c, uint32_t gid)
{
	(void)c, (void)gid;
	return true;
}
uint64_t file_dotdot_ino(struct file *f)
{
	return f->inode->ino;
}
int guest_read(pid_t tid, void *dst, uaddr_t src, size_t n)
{
	(void)tid, (void)dst, (void)src, (void)n;
	return -EFAULT;
}

#endif
