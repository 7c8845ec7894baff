/* What the cell says it is, in uname and in /proc. */
#ifndef VIV_KERNEL_PLATFORM_VERSION_H
#define VIV_KERNEL_PLATFORM_VERSION_H

#define UTS_SYSNAME "Linux"
#define UTS_RELEASE "6.1.0-vivarium"
#define UTS_VERSION "#1 SMP PREEMPT_DYNAMIC Vivarium"
#define UTS_MACHINE "x86_64"
#define UTS_DOMAIN "(none)"
/* /proc/version */
#define UTS_BANNER UTS_SYSNAME " version " UTS_RELEASE " (vivarium@localhost) (gcc) " UTS_VERSION

#endif
