/* Where SEEK_END leads in files of /proc and /sys, and what reading after a seek gives. */
#include "guest.h"

static void look(const char *path)
{
	char a[64] = "", b[64] = "";
	off_t end;
	int fd = open(path, O_RDONLY);

	printf("%s", path);
	if (fd < 0) {
		printf(": open %s\n", ename(errno));
		return;
	}
	errno = 0;
	end = lseek(fd, 0, SEEK_END);
	printf(": end %ld %s", (long)end, end < 0 ? ename(errno) : "");
	errno = 0;
	end = lseek(fd, -1, SEEK_END);
	printf(", before %ld %s", (long)end, end < 0 ? ename(errno) : "");
	end = lseek(fd, 1, SEEK_SET);
	ssize_t n = read(fd, a, sizeof(a) - 1), m = pread(fd, b, sizeof(b) - 1, 1);
	printf(", set %ld, same %d, rest %d", (long)end,
	       n == m && !memcmp(a, b, (size_t)(n > 0 ? n : 0)), n > 0);
	end = lseek(fd, 1, SEEK_CUR);
	printf(", cur %d", end == n + 2);
	end = lseek(fd, -1, SEEK_SET);
	printf(", negative %s", end < 0 ? ename(errno) : "ok");
	end = lseek(fd, 0, SEEK_DATA);
	printf(", data %s", end < 0 ? ename(errno) : "ok");
	end = lseek(fd, 0, 77);
	printf(", odd %s\n", end < 0 ? ename(errno) : "ok");
	close(fd);
}

int main(void)
{
	static const char *const files[] = {
		"/proc/self/maps",
		"/proc/self/status",
		"/proc/self/stat",
		"/proc/self/cmdline",
		"/proc/self/comm",
		"/proc/self/mounts",
		"/proc/self/limits",
		"/proc/self/auxv",
		"/proc/self/oom_score",
		"/proc/self/oom_score_adj",
		"/proc/meminfo",
		"/proc/uptime",
		"/proc/loadavg",
		"/proc/version",
		"/proc/cpuinfo",
		"/proc/stat",
		"/proc/filesystems",
		"/proc/net/tcp",
		"/proc/net/dev",
		"/proc/sys/kernel/ostype",
		"/proc/self/coredump_filter",
		"/sys/devices/system/cpu/online",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/proc/self/cgroup",
		"/proc/self/environ",
		"/proc/self/statm",
		"/proc/self/mountinfo",
		"/proc/self/smaps",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		look(files[i]);
	return 0;
}
