/* /proc's files about the kernel agree with uname and the clocks. */
#include "guest.h"
#include <sys/utsname.h>
#include <time.h>

static bool line_is(const char *path, const char *text)
{
	const char *got = get_file(path);
	size_t n = strlen(text);
	return !strncmp(got, text, n) && !strcmp(got + n, "\n");
}

int main(void)
{
	struct utsname u;
	struct timespec ts;
	double up, idle, a, b, c;
	int running, total, last;
	SHOW(uname(&u));
	printf("%s %s\n", u.sysname, u.machine);
	CHECK(line_is("/proc/sys/kernel/ostype", u.sysname));
	CHECK(line_is("/proc/sys/kernel/osrelease", u.release));
	CHECK(line_is("/proc/sys/kernel/hostname", u.nodename));
	CHECK(!strncmp(get_file("/proc/version"), "Linux version ", 14) &&
	      strstr(get_file("/proc/version"), u.release));
	CHECK(sscanf(get_file("/proc/uptime"), "%lf %lf", &up, &idle) == 2);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	CHECK(up > ts.tv_sec - 5 && up < ts.tv_sec + 5);
	CHECK(sscanf(get_file("/proc/loadavg"), "%lf %lf %lf %d/%d %d", &a, &b, &c, &running,
		     &total, &last) == 6);
	CHECK(a >= 0 && running >= 1 && total >= 1 && last >= 1);
	CHECK(atoi(get_file("/proc/sys/kernel/pid_max")) > getpid());
	CHECK(strstr(get_file("/proc/filesystems"), "nodev\tproc\n") &&
	      strstr(get_file("/proc/filesystems"), "nodev\ttmpfs\n"));
	CHECK(strlen(get_file("/proc/sys/kernel/random/boot_id")) == 37);
	CHECK(atoi(get_file("/proc/sys/fs/file-max")) != 0);
	CHECK(atoi(get_file("/proc/sys/fs/pipe-max-size")) >= 65536);
	return 0;
}
