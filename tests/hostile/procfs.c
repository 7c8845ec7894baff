/* /proc/self/mem and friends: the ways in Linux that lead through /proc to memory, descriptors,
 * roots and settings. */
#include <dirent.h>
#include <sys/sysmacros.h>

#include "hostile.h"

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags);

	return fd < 0 ? -errno : fd;
}

int main(void)
{
	static const char *const files[] = { "mem", "pagemap", "kpageflags", "environ", "auxv", "syscall", "stack", "wchan", "io",
					     "clear_refs", "coredump_filter", "personality", "uid_map", "gid_map", "setgroups",
					     "projid_map", "timens_offsets", "attr/current", "attr/exec", "ns/user", "ns/mnt",
					     "ns/pid", "ns/net", "map_files", "root", "cwd", "exe", "fd/0", "fd/1", "fdinfo/0",
					     "task/1/mem", "smaps", "maps", "seccomp_cache", "sched", "latency", "patch_state" };
	static const char *const global[] = { "/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/sysrq-trigger", "/proc/keys",
					      "/proc/1/root/etc/shadow", "/proc/1/cwd", "/proc/1/exe", "/proc/1/fd", "/proc/1/mem",
					      "/proc/1/environ", "/proc/1/maps", "/proc/1/task/1/fd", "/proc/iomem", "/proc/modules",
					      "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
					      "/proc/bus/pci", "/proc/scsi", "/proc/acpi", "/proc/mtrr", "/dev/mem", "/dev/kmem",
					      "/dev/port", "/dev/kvm", "/dev/fuse", "/dev/sda", "/dev/nvme0n1", "/dev/vda",
					      "/dev/loop0", "/dev/net/tun", "/dev/userfaultfd", "/sys/kernel/debug", "/sys/fs/cgroup/tasks",
					      "/sys/firmware", "/sys/kernel/security", "/sys/power/state", "/sys/block" };
	char path[256], buf[65536], secret[64];
	int bad = 0, fd;

	/* Our own and those of process 1 and of a child. */
	for (int who = 0; who < 3; who++)
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
			snprintf(path, sizeof(path), "/proc/%s/%s", (const char *[]){ "self", "1", "thread-self" }[who], files[i]);
			for (int fl = 0; fl < 3; fl++) {
				fd = try_open(path, (fl == 0 ? O_RDONLY : fl == 1 ? O_RDWR : O_WRONLY) | O_NONBLOCK);
				if (fd < 0)
					continue;
				(void)!pread(fd, buf, 64, 0);
				(void)!pread(fd, buf, sizeof(buf), 0x7fffffffffff0000);
				(void)!pread(fd, buf, 4096, (off_t)buf);
				if (strstr(files[i], "mem") || strstr(files[i], "map"))
					(void)!pwrite(fd, "x", 1, (off_t)buf);
				lseek(fd, -1, SEEK_END);
				ftruncate(fd, 0);
				close(fd);
			}
			(void)!readlink(path, buf, sizeof(buf));
		}
	check(cell_is_well(), "reading and writing everything in /proc/self and /proc/1");

	/* /proc/self/mem must not be a way past our own read-only pages. */
	fd = open("/proc/self/mem", O_RDWR);
	if (fd >= 0) {
		long n = pwrite(fd, "XXXX", 4, (off_t)STUB_BASE);

		check(n <= 0 || memcmp((void *)STUB_BASE, "XXXX", 4) == 0, "/proc/self/mem tells the truth about the stub");
		close(fd);
	}
	fd = open("/proc/1/mem", O_RDWR);
	check(fd < 0 || (pread(fd, buf, 4096, 0x400000) <= 0 && pwrite(fd, buf, 1, 0x400000) <= 0),
	      "the kernel's memory is not readable by /proc/1/mem");

	for (size_t i = 0; i < sizeof(global) / sizeof(global[0]); i++) {
		long n;

		fd = try_open(global[i], O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			continue;
		n = read(fd, buf, sizeof(buf));
		/* Ours may exist; they must not tell of the host's kernel. */
		if (n > 0 && (strstr(global[i], "shadow") || strstr(global[i], "kcore") || strstr(global[i], "/dev/mem") ||
			      strstr(global[i], "kmsg") || strstr(global[i], "keys"))) {
			printf("# %s is readable\n", global[i]);
			bad++;
		}
		close(fd);
		fd = try_open(global[i], O_WRONLY);
		if (fd >= 0) {
			(void)!write(fd, "c", 1);
			close(fd);
		}
	}
	check(!bad, "nothing of the host in /proc, /dev and /sys");

	/* Device nodes of our own making lead to no device of the host. */
	for (unsigned maj = 0; maj < 260; maj++) {
		snprintf(secret, sizeof(secret), "/tmp/n%u", maj);
		if (mknod(secret, (maj & 1 ? S_IFBLK : S_IFCHR) | 0600, makedev(maj, 1)) < 0)
			continue;
		fd = open(secret, O_RDWR | O_NONBLOCK);
		if (fd >= 0 && maj != 1 && maj != 5)
			bad++;
		if (fd >= 0)
			close(fd);
		unlink(secret);
	}
	mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1));
	fd = open("/tmp/mem", O_RDWR);
	check(!bad && fd < 0, "device nodes lead nowhere");

	/* Every directory of /proc, twice, while processes come and go. */
	for (int i = 0; i < 20; i++) {
		DIR *d = opendir("/proc");
		struct dirent *e;
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		while (d && (e = readdir(d))) {
			snprintf(path, sizeof(path), "/proc/%.200s/status", e->d_name);
			fd = open(path, O_RDONLY);
			if (fd >= 0) {
				(void)!read(fd, buf, sizeof(buf));
				close(fd);
			}
		}
		if (d)
			closedir(d);
		waitpid(pid, NULL, 0);
	}
	check(cell_is_well(), "/proc while processes come and go");
	return done();
}
