/*
 * sched_getaffinity and setaffinity: a process may restrict itself to one of its CPUs; a child
 * inherits; no CPU is EINVAL.
 */
#include "guest.h"
#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
	cpu_set_t all, one, got;
	int cpu = 0;
	char *volatile bad = (char *)8;

	signal(SIGCHLD, SIG_DFL);
	SHOW(sched_getaffinity(0, sizeof(all), &all));
	CHECK(CPU_COUNT(&all) >= 1 && CPU_COUNT(&all) <= sysconf(_SC_NPROCESSORS_ONLN));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	SHOW(sched_setaffinity(0, sizeof(one), &one));
	sched_getaffinity(0, sizeof(got), &got);
	CHECK(CPU_EQUAL(&got, &one));
	/* Always the same one. Which number it has is the host's affair: a cell's are counted from
	 * 0. */
	cpu = sched_getcpu();
	for (int i = 0; i < 100; i++) {
		sched_yield();
		CHECK(sched_getcpu() == cpu);
	}
	pid_t pid = xfork();
	if (pid == 0) {
		sched_getaffinity(0, sizeof(got), &got);
		_exit(CPU_EQUAL(&got, &one) ? 1 : 2);
	}
	show_status("child", xwait(pid));
	CPU_ZERO(&one);
	SHOW(sched_setaffinity(0, sizeof(one), &one));
	SHOW(sched_getaffinity(0x3fffffff, sizeof(got), &got));
	SHOW(syscall(SYS_sched_getaffinity, 0, 1, &got));
	SHOW(syscall(SYS_sched_getaffinity, 0, sizeof(got), bad));
	SHOW(sched_setaffinity(0, sizeof(all), &all));
	return 0;
}
