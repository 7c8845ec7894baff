/* Seccomp notifications. The structs are zeroed each time, as the host demands. */
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>

#include "host/notify.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1UL

static int listener = -1;

/* #syscalls: ioctl */
void notify_init(int fd)
{
	listener = fd;
	notify_hand_over(true);
}

/* Linux 6.6.
 * #syscalls: ioctl */
void notify_hand_over(bool on)
{
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, on ? SYNC_WAKE_UP : 0);
}

int notify_fd(void)
{
	return listener;
}

/* #syscalls: ioctl */
int notify_recv(struct host_call *out)
{
	struct seccomp_notif n;

	memset(&n, 0, sizeof(n));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return -errno;
	out->id = n.id;
	out->tid = (pid_t)n.pid;
	out->nr = n.data.nr;
	out->ip = n.data.instruction_pointer;
	memcpy(out->args, n.data.args, sizeof(out->args));
	return 0;
}

static int respond(uint64_t id, int64_t ret, uint32_t flags)
{
	struct seccomp_notif_resp r = { .id = id, .flags = flags };

	if (ret < 0 && ret >= -4095)
		r.error = (int)ret;
	else
		r.val = ret;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0 ? -errno : 0;
}

int notify_answer(uint64_t id, int64_t ret)
{
	return respond(id, ret, 0);
}

int notify_continue(uint64_t id)
{
	return respond(id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int notify_addfd(uint64_t id, int fd, int at)
{
	struct seccomp_notif_addfd a = {
		.id = id,
		.flags = at >= 0 ? SECCOMP_ADDFD_FLAG_SETFD : 0,
		.srcfd = (uint32_t)fd,
		.newfd = at >= 0 ? (uint32_t)at : 0,
	};
	int ret = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a);

	return ret < 0 ? -errno : ret;
}

bool notify_is_valid(uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}
