/* Questions about the scheduling and the limits of a process that has ended and was not waited
 * for. */
#include "guest.h"

#include <sched.h>
#include <sys/resource.h>

int main(void)
{
	struct sched_param sp = { 0 };
	struct rlimit rl;
	siginfo_t si;
	cpu_set_t cpus;
	int base = getpriority(PRIO_PROCESS, 0);
	pid_t pid = xfork();

	if (pid == 0)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) == 0);
	SHOW(sched_getscheduler(pid));
	SHOW(sched_getparam(pid, &sp));
	SHOW(sched_setscheduler(pid, SCHED_OTHER, &sp));
	SHOW(sched_getaffinity(pid, sizeof(cpus), &cpus) >= 0);
	SHOW(sched_setaffinity(pid, sizeof(cpus), &cpus));
	SHOW(getpriority(PRIO_PROCESS, (id_t)pid) - base);
	SHOW(setpriority(PRIO_PROCESS, (id_t)pid, base + 3));
	SHOW(prlimit(pid, RLIMIT_NOFILE, NULL, &rl));
	SHOW(getpgid(pid) == getpgrp());
	SHOW(getsid(pid) == getsid(0));
	SHOW(kill(pid, 0));
	SHOW(kill(pid, SIGKILL));
	xwait(pid);
	SHOW(sched_getscheduler(pid));
	SHOW(kill(pid, 0));
	return 0;
}
