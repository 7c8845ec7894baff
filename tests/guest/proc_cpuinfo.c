/* /proc/cpuinfo, /proc/stat and the affinity mask speak of the same processors. */
#include "guest.h"
#include <sched.h>

int main(void)
{
	char line[4096], flags[4096] = "";
	int processors = 0, models = 0, inorder = 1, number, cpus = 0, total = 0, btime = 0;
	FILE *f = fopen("/proc/cpuinfo", "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %d", &number) == 1)
			inorder &= number == processors++;
		models += !strncmp(line, "model name", 10);
		if (!strncmp(line, "flags", 5))
			strcpy(flags, line);
	}
	CHECK(processors >= 1 && models == processors && inorder);
	CHECK(strstr(flags, " sse2") && strstr(flags, " fpu"));
	cpu_set_t set;
	SHOW(sched_getaffinity(0, sizeof(set), &set));
	CHECK(CPU_COUNT(&set) >= 1 && CPU_COUNT(&set) <= processors);
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) == processors);
	f = fopen("/proc/stat", "r");
	while (f && fgets(line, sizeof(line), f)) {
		long long a, b, c, d;
		if (line[3] != ' ' &&
		    sscanf(line, "cpu%d %lld %lld %lld %lld", &number, &a, &b, &c, &d) == 5)
			cpus++;
		total += line[3] == ' ' &&
			 sscanf(line, "cpu %lld %lld %lld %lld", &a, &b, &c, &d) == 4;
		btime += sscanf(line, "btime %lld", &a) == 1 && a > 1500000000;
	}
	CHECK(cpus == processors && total == 1 && btime == 1);
	return 0;
}
