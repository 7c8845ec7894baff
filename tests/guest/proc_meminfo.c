/* /proc/meminfo and sysinfo: well-formed lines and amounts that fit each other. */
#include "guest.h"
#include <sys/sysinfo.h>

static long long get(const char *name)
{
	char line[256], key[64];
	long long value = -1, v;
	FILE *f = fopen("/proc/meminfo", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^:]: %lld kB", key, &v) == 2 && !strcmp(key, name))
			value = v;
	if (f)
		fclose(f);
	return value;
}

int main(void)
{
	char line[256], key[64], unit[16];
	long long v;
	int lines = 0, bad = 0;
	FILE *f = fopen("/proc/meminfo", "r");
	while (f && fgets(line, sizeof(line), f)) {
		lines++;
		bad += sscanf(line, "%63[^:]: %lld %15s", key, &v, unit) < 2 || v < 0;
	}
	CHECK(lines >= 5);
	SHOW(bad);
	CHECK(get("MemTotal") > 16384);
	CHECK(get("MemFree") > 0 && get("MemFree") <= get("MemTotal"));
	CHECK(get("MemAvailable") > 0 && get("MemAvailable") <= get("MemTotal"));
	CHECK(get("Buffers") >= 0 && get("Cached") >= 0);
	CHECK(get("SwapTotal") >= get("SwapFree") && get("SwapFree") >= 0);
	struct sysinfo si;
	SHOW(sysinfo(&si));
	CHECK((long long)(si.totalram / 1024 * si.mem_unit) == get("MemTotal"));
	CHECK(si.freeram <= si.totalram && si.uptime > 0 && si.procs > 0);
	CHECK(sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 1024) <= get("MemTotal"));
	return 0;
}
