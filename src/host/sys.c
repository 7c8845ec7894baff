/* Memory, clocks and random numbers of the host. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "host/host.h"

/* The pages are reserved, not used: the host gives them at the first touch.
 * #syscalls: mmap */
void *host_map_anon(void *fixed_addr, size_t n)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *p;

	if (fixed_addr)
		flags |= MAP_FIXED_NOREPLACE;
	p = mmap(fixed_addr, n, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (fixed_addr && p != fixed_addr) {
		munmap(p, n);
		return NULL;
	}
	return p;
}

/* #syscalls: mmap */
void *host_map_file(int fd, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* #syscalls: mmap */
void *host_map_shared(int fd, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static cpu_set_t all; /* the processors that we had before we left one; none: we did not */

/* #syscalls: sched_getaffinity sched_setaffinity getcpu */
void host_cpu_leave(bool on)
{
	cpu_set_t others;
	int cpu;

	if (!on) {
		if (CPU_COUNT(&all))
			(void)sched_setaffinity(0, sizeof(all), &all);
		CPU_ZERO(&all);
		return;
	}
	cpu = sched_getcpu();
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) < 0)
		return;
	others = all;
	CPU_CLR((size_t)cpu, &others);
	if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof(others), &others) < 0)
		CPU_ZERO(&all);
}

/* #syscalls: sched_getaffinity */
int host_cpus_get(uint64_t *mask, size_t bytes)
{
	cpu_set_t now = all;

	if (!CPU_COUNT(&now) && sched_getaffinity(0, sizeof(now), &now) < 0)
		return -errno;
	memset(mask, 0, bytes);
	memcpy(mask, &now, MIN(bytes, sizeof(now)));
	return 0;
}

/* #syscalls: sched_setaffinity */
int host_cpus_set(const uint64_t *mask, size_t bytes)
{
	cpu_set_t now;

	CPU_ZERO(&now);
	memcpy(&now, mask, MIN(bytes, sizeof(now)));
	if (CPU_COUNT(&all))
		all = now; /* we stay away from none of these, and keep them */
	return sched_setaffinity(0, sizeof(now), &now) < 0 ? -errno : 0;
}

/* #syscalls: sched_setaffinity */
void host_cpu_unbind(pid_t tid)
{
	if (CPU_COUNT(&all))
		(void)sched_setaffinity(tid, sizeof(all), &all);
}

/* #syscalls: getcpu */
int host_cpu(void)
{
	return sched_getcpu();
}

/* #syscalls: sched_yield */
void host_yield(void)
{
	sched_yield();
}

/* #syscalls: munmap */
void host_unmap(void *p, size_t n)
{
	munmap(p, n);
}

/* #syscalls: madvise */
void host_discard(void *p, size_t n)
{
	madvise(p, n, MADV_DONTNEED);
}

/* Usually answered by the vDSO without a call.
 * #syscalls: clock_gettime */
int64_t host_clock(int clock_id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock_id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* #syscalls: getrandom */
void host_random(void *buf, size_t n)
{
	char *p = buf;

	while (n > 0) {
		ssize_t r = getrandom(p, n, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			log_die("the host gives no random numbers (errno %d)", errno);
		p += r;
		n -= (size_t)r;
	}
}

/* #syscalls: geteuid */
uint32_t host_uid(void)
{
	return geteuid();
}

/* #syscalls: getrusage */
int64_t host_own_cputime(void)
{
	struct rusage self, children;

	if (getrusage(RUSAGE_SELF, &self) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0)
		return 0;
	return (self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec +
		children.ru_stime.tv_sec) *
		       NSEC_PER_SEC +
	       (self.ru_utime.tv_usec + self.ru_stime.tv_usec + children.ru_utime.tv_usec +
		children.ru_stime.tv_usec) *
		       1000L;
}
