/* signalfd and signalfd4. */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "kernel/abi/signal.h"
#include "kernel/fs/signalfd/signalfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"

static int64_t signalfd_do(struct task *t, const struct sysargs *a, unsigned flags)
{
	int fd = ARG_INT(a, 0);
	struct file *f;
	uint64_t mask;
	int64_t ret;

	if (a->a[2] != sizeof(mask))
		return -EINVAL;
	if (guest_get(t->tid, &mask, a->a[1]) < 0)
		return -EFAULT;
	if (flags & ~(unsigned)(SFD_CLOEXEC | SFD_NONBLOCK))
		return -EINVAL;
	mask &= ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
	if (fd != -1) {
		f = fd_file(t, fd);
		if (!f)
			return -EBADF;
		if (!file_is_signalfd(f))
			return -EINVAL;
		signalfd_set_mask(f, t, mask);
		signal_collect(t, mask);
		return fd;
	}
	ret = signalfd_make(mask, flags, &f);
	if (ret == 0)
		ret = fd_give(t, f, flags & SFD_CLOEXEC);
	if (ret >= 0) {
		signalfd_recount(t);
		signal_collect(t, mask);
	}
	return ret;
}

int64_t sys_signalfd(struct task *t, const struct sysargs *a)
{
	return signalfd_do(t, a, 0);
}

int64_t sys_signalfd4(struct task *t, const struct sysargs *a)
{
	return signalfd_do(t, a, ARG_UINT(a, 3));
}
