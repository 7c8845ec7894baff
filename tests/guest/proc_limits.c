/* /proc/self/limits shows what getrlimit says, also after a change. */
#include "guest.h"
#include <sys/resource.h>

static void show(const char *name, int which)
{
	char line[256], soft[32], hard[32], unit[32], want[32];
	struct rlimit rl;
	getrlimit(which, &rl);
	FILE *f = fopen("/proc/self/limits", "r");
	bool found = false;
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)))
			continue;
		unit[0] = '\0';
		sscanf(line + 25, "%31s %31s %31s", soft, hard, unit);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)rl.rlim_cur);
		bool s = !strcmp(soft, rl.rlim_cur == RLIM_INFINITY ? "unlimited" : want);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)rl.rlim_max);
		bool h = !strcmp(hard, rl.rlim_max == RLIM_INFINITY ? "unlimited" : want);
		printf("%s: soft %s, hard %s, %s\n", name, s ? "agrees" : "differs",
		       h ? "agrees" : "differs", unit);
		found = true;
	}
	if (!found)
		printf("%s: missing\n", name);
	if (f)
		fclose(f);
}

int main(void)
{
	char line[256];
	int lines = 0;
	FILE *f = fopen("/proc/self/limits", "r");
	while (fgets(line, sizeof(line), f))
		if (lines++ == 0)
			printf("%s", line);
	SHOW(lines);
	show("Max open files", RLIMIT_NOFILE);
	show("Max cpu time", RLIMIT_CPU);
	show("Max file size", RLIMIT_FSIZE);
	show("Max stack size", RLIMIT_STACK);
	show("Max processes", RLIMIT_NPROC);
	show("Max locked memory", RLIMIT_MEMLOCK);
	show("Max address space", RLIMIT_AS);
	struct rlimit rl;
	getrlimit(RLIMIT_NOFILE, &rl);
	rl.rlim_cur = 77;
	SHOW(setrlimit(RLIMIT_NOFILE, &rl));
	show("Max open files", RLIMIT_NOFILE);
	rl.rlim_cur = rl.rlim_max = 0;
	SHOW(setrlimit(RLIMIT_CORE, &rl));
	show("Max core file size", RLIMIT_CORE);
	return 0;
}
