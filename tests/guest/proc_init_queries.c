/*
 * Questions about process 1, which everybody may ask: scheduling, affinity, capabilities. None of
 * the changes is for a process without privileges.
 */
/* needs: root */
#include "guest.h"
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
	struct sched_param prio = { 7 };
	struct timespec slice;
	cpu_set_t set;
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 1 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	SHOW(sched_getscheduler(1));
	SHOW(sched_getparam(1, &prio));
	printf("priority %d\n", prio.sched_priority);
	SHOW(sched_getaffinity(1, sizeof(set), &set));
	CHECK(CPU_COUNT(&set) > 0);
	SHOW(sched_rr_get_interval(1, &slice));
	SHOW(syscall(SYS_ioprio_get, 1, 1));
	SHOW(syscall(SYS_capget, &h, d));
	printf("setuid %d, net_admin %d\n", (int)(d[0].effective >> CAP_SETUID & 1), (int)(d[0].permitted >> CAP_NET_ADMIN & 1));
	SHOW(syscall(SYS_capget, &h, NULL));
	CHECK(setuid(65534) == 0);
	SHOW(sched_getscheduler(1));
	SHOW(syscall(SYS_capget, &h, d));
	prio.sched_priority = 0;
	SHOW(sched_setscheduler(1, SCHED_BATCH, &prio));
	SHOW(sched_setaffinity(1, sizeof(set), &set));
	SHOW(syscall(SYS_ioprio_set, 1, 1, 2 << 13 | 4));
	return 0;
}
