/* seccomp(2) from a guest: refused, as a Linux built without filters does.
 *
 * A filter of the guest's would have to see every call before it is made. Many run natively and never reach this kernel, and one
 * installed in the runner would also judge the stub's own calls. A filter that is accepted and not enforced would be worse than
 * none, so modes give EINVAL (prctl(PR_SET_SECCOMP) too) and no action is available. */
#include <errno.h>
#include <linux/seccomp.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"

int64_t sys_seccomp(struct task *t, const struct sysargs *a)
{
	uint32_t action;

	if ((unsigned)a->a[0] != SECCOMP_GET_ACTION_AVAIL || (unsigned)a->a[1])
		return -EINVAL;
	return guest_get(t->tid, &action, a->a[2]) < 0 ? -EFAULT : -EOPNOTSUPP;
}
