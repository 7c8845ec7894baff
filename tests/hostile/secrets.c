/* Looks for what belongs to the host: files, sockets, processes. usage: secrets MARK HOST_PID
 * TCP_PORT ABSTRACT_NAME MOUNT PATH... MARK: text that stands in every decoy. PATH: decoys of the
 * host, files and sockets. MOUNT: a directory with a host's socket. */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hostile.h"

static const char *mark;
static int leaks;

static void look(const char *path)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	long n;

	if (fd < 0)
		return;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n > 0 && memmem(buf, (size_t)n, mark, strlen(mark))) {
		printf("# %s is the host's\n", path);
		leaks++;
	}
}

static void look_everywhere(const char *path)
{
	static const char *const before[] = { "", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/..", "/proc/2/root/..",
					      "/../../..", "/mnt/../..", "/proc/self/fd/3/../../../..", "/dev/fd/3/../..",
					      "/proc/thread-self/root", "/proc/1/cwd", "/proc/1/fd/3", "/proc/1/fd/4", "/proc/1/fd/5",
					      "/proc/1/fd/6", "/proc/1/task/1/root", "/usr/..", "/usr/local/../.." };
	char p[4096];

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		snprintf(p, sizeof(p), "%s%s", before[i], path);
		look(p);
		unlink("/tmp/l");
		(void)!symlink(p, "/tmp/l");
		look("/tmp/l");
	}
}

static int can_connect_unix(const char *name, int abstract, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, type, 0), ok;
	size_t len = strlen(name);

	if (s < 0)
		return 0;
	memcpy(a.sun_path + abstract, name, len);
	ok = connect(s, (void *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + len + !abstract)) == 0;
	close(s);
	return ok;
}

int main(int argc, char **argv)
{
	static const int families[] = { AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG, AF_BLUETOOTH, AF_KEY, AF_XDP, AF_TIPC, AF_CAN, AF_RDS };
	struct sockaddr_in in = { .sin_family = AF_INET };
	pid_t host_pid;
	int n = 0, s, status;
	char path[300];
	DIR *d;
	struct dirent *e;

	signal(SIGPIPE, SIG_IGN);
	if (argc < 6)
		return 2;
	mark = argv[1];
	host_pid = atoi(argv[2]);
	open("/usr", O_RDONLY); /* descriptor 3 */
	for (int i = 6; i < argc; i++)
		look_everywhere(argv[i]);
	look_everywhere("/etc/shadow");
	check(!leaks, "no secret of the host can be read");

	/* Whatever directories there are at the top, none is the host's own. */
	d = opendir("/");
	while ((e = readdir(d))) {
		DIR *sub;
		struct dirent *f;

		if (!strcmp(e->d_name, "proc") || !strcmp(e->d_name, "usr") || !strcmp(e->d_name, "sys") || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/%s", e->d_name);
		sub = opendir(path);
		while (sub && (f = readdir(sub))) {
			snprintf(path, sizeof(path), "/%.100s/%.150s", e->d_name, f->d_name);
			look(path);
		}
		if (sub)
			closedir(sub);
	}
	check(!leaks, "no decoy lies anywhere near the root");

	for (int i = 6; i < argc; i++)
		n += can_connect_unix(argv[i], 0, SOCK_STREAM) + can_connect_unix(argv[i], 0, SOCK_DGRAM) +
		     can_connect_unix(argv[i], 0, SOCK_SEQPACKET);
	snprintf(path, sizeof(path), "%s/host.sock", argv[5]);
	n += can_connect_unix(path, 0, SOCK_STREAM);
	check(!n, "no socket file of the host can be reached, not even in a mount");
	check(open(path, O_RDWR) < 0, "nor opened");
	check(!can_connect_unix(argv[4], 1, SOCK_STREAM), "no abstract socket of the host can be reached");
	n = 0;
	for (int type = 1; type < 6; type++) {
		const char *const addr[] = { "127.0.0.1", "0.0.0.0", "10.0.2.2", "169.254.169.254", "172.17.0.1" };

		for (int k = 0; k < 5; k++) {
			s = socket(AF_INET, type, 0);
			in.sin_port = htons((uint16_t)atoi(argv[3]));
			inet_pton(AF_INET, addr[k], &in.sin_addr);
			if (s >= 0) {
				fcntl(s, F_SETFL, O_NONBLOCK);
				if (connect(s, (void *)&in, sizeof(in)) == 0 && type == SOCK_STREAM)
					n++;
				if (type == SOCK_STREAM) {
					naptime(20);
					n += write(s, "x", 1) == 1;
				}
				close(s);
			}
		}
	}
	check(!n, "no TCP port of the host can be reached");
	n = 0;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (int type = 1; type < 6; type++)
			if (families[i] != AF_NETLINK)
				n += socket(families[i], type, 0) >= 0;
	check(!n, "no sockets of other families");

	/* Processes: numbers here are the cell's own. */
	n = 0;
	for (pid_t pid = 100; pid < 40000; pid += pid < 5000 ? 1 : 97)
		n += kill(pid, SIGKILL) == 0;
	n += kill(host_pid, SIGKILL) == 0 || kill(-host_pid, SIGKILL) == 0;
	n += RAW(SYS_tgkill, host_pid, host_pid, SIGKILL) == 0 || RAW(SYS_tkill, host_pid, SIGKILL) == 0;
	n += RAW(434, host_pid, 0) >= 0;
	n += RAW(SYS_rt_sigqueueinfo, host_pid, SIGKILL, path) == 0;
	n += MARKED(SYS_rt_sigqueueinfo, host_pid, SIGKILL, path, 0, 0) == 0;
	n += MARKED(SYS_rt_tgsigqueueinfo, host_pid, host_pid, SIGKILL, path, 0) == 0;
	n += RAW(SYS_sched_setaffinity, host_pid, 8, path) == 0 || RAW(SYS_setpriority, 0, host_pid, 10) == 0;
	n += RAW(SYS_prlimit64, host_pid, 7, 0, path) == 0;
	check(!n, "no process of the host can be signalled or changed");
	n = 0;
	d = opendir("/proc");
	while ((e = readdir(d)))
		if (atoi(e->d_name) > 0)
			n++;
	closedir(d);
	snprintf(path, sizeof(path), "/proc/%d", host_pid);
	check(n >= 1 && n < 8 && access(path, F_OK) < 0, "only the cell's processes are in /proc (%d)", n);
	(void)status;
	check(cell_is_well(), "the kernel goes on");
	return done();
}
