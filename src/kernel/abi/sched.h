/* Scheduling structures as they lie in guest memory, and what glibc's headers do not name. */
#ifndef VIV_KERNEL_ABI_SCHED_H
#define VIV_KERNEL_ABI_SCHED_H

#include <stdint.h>

struct linux_sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};
_Static_assert(sizeof(struct linux_sched_attr) == 56, "sched_attr");
#define LINUX_SCHED_ATTR_SIZE_VER0 48

#define LINUX_SCHED_DEADLINE 6
#define LINUX_SCHED_FLAG_RESET_ON_FORK 0x01u
#define LINUX_SCHED_FLAG_KEEP_POLICY 0x08u
#define LINUX_SCHED_FLAG_KEEP_PARAMS 0x10u
#define LINUX_SCHED_FLAG_ALL 0x7fu

#define LINUX_IOPRIO_CLASS_SHIFT 13
#define LINUX_IOPRIO_CLASS_NONE 0
#define LINUX_IOPRIO_CLASS_RT 1
#define LINUX_IOPRIO_CLASS_BE 2
#define LINUX_IOPRIO_CLASS_IDLE 3
#define LINUX_IOPRIO_WHO_PROCESS 1
#define LINUX_IOPRIO_WHO_PGRP 2
#define LINUX_IOPRIO_WHO_USER 3

#endif
