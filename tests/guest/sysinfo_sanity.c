/*
 * sysinfo, sysconf and /proc/meminfo tell the same story: sizes that fit each other, uptime like
 * the boot clock.
 */
#include "guest.h"
#include <sys/sysinfo.h>
#include <time.h>

int main(void)
{
	struct sysinfo si;
	struct timespec t;
	long kb = 0;

	SHOW(sysinfo(&si));
	clock_gettime(CLOCK_BOOTTIME, &t);
	CHECK(labs(si.uptime - t.tv_sec) <= 5);
	CHECK(si.mem_unit >= 1 && si.totalram > 0 && si.freeram <= si.totalram && si.procs >= 1);
	sscanf(strstr(get_file("/proc/meminfo"), "MemTotal:"), "MemTotal: %ld", &kb);
	CHECK((unsigned long)kb == si.totalram / 1024 * si.mem_unit);
	CHECK((unsigned long)sysconf(_SC_PHYS_PAGES) * 4 == (unsigned long)kb);
	CHECK(sysconf(_SC_PAGESIZE) == 4096 && getpagesize() == 4096);
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1 &&
	      sysconf(_SC_NPROCESSORS_CONF) >= sysconf(_SC_NPROCESSORS_ONLN));
	printf("ticks %ld\n", sysconf(_SC_CLK_TCK));
	double up = 0;
	sscanf(get_file("/proc/uptime"), "%lf", &up);
	CHECK(labs((long)up - t.tv_sec) <= 5);
	return 0;
}
