/* /proc/cpuinfo, /proc/stat and the affinity mask speak of the same processors. */
#include "guest.h"
#include <cpuid.h>
#include <sched.h>

/* A flag is there if and only if the instruction says so. */
static const struct {
	unsigned leaf, reg, bit;
	const char *name;
} said[] = {
	{ 1, 2, 0, " pni " },	  { 1, 2, 9, " ssse3 " },   { 1, 2, 13, " cx16 " },
	{ 1, 2, 19, " sse4_1 " }, { 1, 2, 20, " sse4_2 " }, { 1, 2, 23, " popcnt " },
	{ 1, 2, 25, " aes " },	  { 1, 2, 28, " avx " },    { 7, 1, 5, " avx2 " },
	{ 7, 1, 8, " bmi2 " },	  { 7, 1, 29, " sha_ni " }, { 0x80000001, 3, 29, " lm " },
};

static int flags_wrong(const char *flags)
{
	unsigned r[4];
	int wrong = 0;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!__get_cpuid_count(said[i].leaf, 0, &r[0], &r[1], &r[2], &r[3]))
			memset(r, 0, sizeof(r));
		wrong += (strstr(flags, said[i].name) != NULL) !=
			 (r[said[i].reg] >> said[i].bit & 1);
	}
	return wrong;
}

int main(void)
{
	char line[4096], flags[4096] = "";
	int processors = 0, models = 0, inorder = 1, number, cpus = 0, total = 0, btime = 0;
	int family = 0, model = 0;
	unsigned sig = 0, b_, c_, d_;
	FILE *f = fopen("/proc/cpuinfo", "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %d", &number) == 1)
			inorder &= number == processors++;
		models += !strncmp(line, "model name", 10);
		if (!strncmp(line, "flags", 5))
			strcpy(flags, line);
		if (sscanf(line, "cpu family : %d", &number) == 1)
			family = number;
		if (sscanf(line, "model : %d", &number) == 1)
			model = number;
	}
	CHECK(processors >= 1 && models == processors && inorder);
	CHECK(strstr(flags, " sse2") && strstr(flags, " fpu"));
	flags[strcspn(flags, "\n")] = ' ';
	SHOW(flags_wrong(flags));
	CHECK(__get_cpuid(1, &sig, &b_, &c_, &d_));
	CHECK((family < 15 ? family : 15) == (int)(sig >> 8 & 15));
	CHECK((model & 15) == (int)(sig >> 4 & 15));
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
