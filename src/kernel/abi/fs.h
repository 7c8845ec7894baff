/* Arguments of file calls that lie in guest memory: openat2, fcntl locks and owners, epoll,
 * sockets. */
#ifndef VIV_KERNEL_ABI_FS_H
#define VIV_KERNEL_ABI_FS_H

#include <stdint.h>

struct linux_utimbuf {
	int64_t actime, modtime;
};

struct linux_open_how {
	uint64_t flags, mode, resolve;
};
#define LINUX_OPEN_HOW_SIZE_VER0 24
_Static_assert(sizeof(struct linux_open_how) == LINUX_OPEN_HOW_SIZE_VER0, "open_how");

struct linux_flock {
	int16_t type, whence;
	int32_t pad0;
	int64_t start, len;
	int32_t pid, pad1;
};
_Static_assert(sizeof(struct linux_flock) == 32, "flock");

struct linux_f_owner_ex {
	int32_t type, pid;
};
#define LINUX_F_OWNER_TID 0
#define LINUX_F_OWNER_PID 1
#define LINUX_F_OWNER_PGRP 2

struct linux_pollfd {
	int32_t fd;
	int16_t events, revents;
};
_Static_assert(sizeof(struct linux_pollfd) == 8, "pollfd");

struct linux_epoll_event {
	uint32_t events;
	uint64_t data;
} __attribute__((packed));
_Static_assert(sizeof(struct linux_epoll_event) == 12, "epoll_event");

struct linux_msghdr {
	uint64_t name;
	int32_t namelen, pad0;
	uint64_t iov, iovlen, control, controllen;
	uint32_t flags, pad1;
};
_Static_assert(sizeof(struct linux_msghdr) == 56, "msghdr");

struct linux_cmsghdr {
	uint64_t len;
	int32_t level, type;
};
_Static_assert(sizeof(struct linux_cmsghdr) == 16, "cmsghdr");

struct linux_ucred {
	int32_t pid;
	uint32_t uid, gid;
};
_Static_assert(sizeof(struct linux_ucred) == 12, "ucred");

#endif
