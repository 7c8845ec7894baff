/* Times and timers as they lie in guest memory (x86-64). */
#ifndef VIV_KERNEL_ABI_TIME_H
#define VIV_KERNEL_ABI_TIME_H

#include <stdint.h>

struct linux_timespec {
	int64_t sec, nsec;
};

struct linux_timeval {
	int64_t sec, usec;
};

struct linux_itimerspec {
	struct linux_timespec interval, value;
};
_Static_assert(sizeof(struct linux_itimerspec) == 32, "itimerspec");

struct linux_itimerval {
	struct linux_timeval interval, value;
};
_Static_assert(sizeof(struct linux_itimerval) == 32, "itimerval");

struct linux_sigevent {
	uint64_t value;
	int32_t signo, notify, tid;
	int32_t pad[11];
};
_Static_assert(sizeof(struct linux_sigevent) == 64, "sigevent");

#define LINUX_SIGEV_SIGNAL 0
#define LINUX_SIGEV_NONE 1
#define LINUX_SIGEV_THREAD 2
#define LINUX_SIGEV_THREAD_ID 4

struct linux_tms {
	int64_t utime, stime, cutime, cstime;
};

#endif
