/*
 * getrusage and wait4: CPU time grows, a child's is counted for RUSAGE_CHILDREN only once it is
 * waited for.
 */
#include "guest.h"
#include <sys/resource.h>
#include <time.h>

static long ms(const struct rusage *r)
{
	return (r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000 +
	       (r->ru_utime.tv_usec + r->ru_stime.tv_usec) / 1000;
}

static void burn(long much)
{
	struct rusage r;

	do
		getrusage(RUSAGE_SELF, &r);
	while (ms(&r) < much);
}

int main(void)
{
	struct rusage self, children, kid = { 0 }, thread;
	siginfo_t si;

	signal(SIGCHLD, SIG_DFL);
	burn(60);
	SHOW(getrusage(RUSAGE_SELF, &self));
	CHECK(ms(&self) >= 60);
	CHECK(self.ru_maxrss > 100 && self.ru_minflt > 0);
	SHOW(getrusage(RUSAGE_THREAD, &thread));
	CHECK(ms(&thread) >= 50 && ms(&thread) <= ms(&self) + 100);
	SHOW(getrusage(RUSAGE_CHILDREN, &children));
	/* Whoever was this process before exec may have waited for children. */
	long before = ms(&children);
	pid_t pid = xfork();
	if (pid == 0) {
		burn(150);
		_exit(0);
	}
	waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("not waited for: %ld\n", ms(&children) - before);
	CHECK(wait4(pid, NULL, 0, &kid) == pid);
	CHECK(ms(&kid) >= 140);
	getrusage(RUSAGE_CHILDREN, &children);
	CHECK(ms(&children) - before >= 140 && children.ru_maxrss > 100);
	SHOW(getrusage(77, &self));
	return 0;
}
