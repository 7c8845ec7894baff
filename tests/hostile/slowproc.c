/* Files of /proc and /sys, and calls about many processes, threads and mappings: see slow.h. */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/uio.h>

#include "slow.h"

#define PROCS (slow_scale * 1000)
#define THREADS (slow_scale * 1000)

static void read_all(const char *path)
{
	static char buf[1 << 16];
	int fd = open(path, O_RDONLY);

	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}
static void read_tree(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[512];
	struct stat st;

	while (d && (e = readdir(d))) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (e->d_name[0] == '.' || lstat(name, &st) < 0)
			continue;
		if (S_ISREG(st.st_mode) && strcmp(e->d_name, "kmsg"))
			read_all(name);
	}
	if (d)
		closedir(d);
}
static void *waits(void *arg)
{
	for (;;)
		pause();
	return arg;
}
static void many_threads(int n)
{
	pthread_attr_t a;
	pthread_t th;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 32768);
	for (int i = 0; i < n && pthread_create(&th, &a, waits, NULL) == 0; i++)
		;
}
static pid_t *own_groups; /* if they are wanted, and who leads them */
static int many_procs(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			if (own_groups) {
				setpgid(0, 0);
				own_groups[i] = getpid();
			}
			waits(NULL);
		}
	}
	return i;
}

static void mappings(void)
{
	static const char *const files[] = { "maps", "smaps", "smaps_rollup", "numa_maps", "map_files", "status", "statm", "pagemap" };
	char path[64];
	char *p = mmap(NULL, 60000L * 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (long i = 0; i < 30000; i++)
		mprotect(p + i * 8192, 4096, PROT_READ);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", files[i]);
		read_all(path);
	}
}
/* One file, mapped again and again: its path is told each time. */
static void file_mappings(void)
{
	int fd, n = 0;

	for (int i = 0; i < 200 && mkdir("d", 0700) == 0 && chdir("d") == 0; i++)
		;
	fd = open("mapped", O_CREAT | O_RDWR, 0600);
	(void)!ftruncate(fd, 1 << 20);
	while (n < 20000 && mmap(NULL, 4096, n & 1 ? PROT_READ : PROT_WRITE, MAP_SHARED, fd, (n % 200) * 4096) != MAP_FAILED)
		n++;
	read_all("/proc/self/maps");
	unlink("mapped");
	read_all("/proc/self/maps");
}
static void big_memory(void)
{
	size_t size = 1500UL << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size / 4; i += 4096)
		p[i] = 1;
	read_tree("/proc/self");
}
static void threads_files(void)
{
	char path[64];

	many_threads(THREADS);
	read_tree("/proc/self");
	read_tree("/proc/self/task");
	snprintf(path, sizeof(path), "/proc/%d/task/%d", getpid(), getpid());
	read_tree(path);
	read_tree("/proc");
	setpriority(PRIO_PROCESS, 0, 5);
}
static void threads_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	many_threads(THREADS);
	for (int i = 0; i < 50; i++)
		kill(getpid(), SIGCONT);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 20; i++)
		kill(getpid(), SIGUSR1);
	raise(SIGSTOP);
}
static void threads_exec(void)
{
	char *argv[] = { "true", NULL };

	many_threads(THREADS);
	execv("/bin/true", argv);
}
static void procs_files(void)
{
	many_procs(PROCS);
	read_tree("/proc");
	read_tree("/sys/fs/cgroup");
	read_tree("/proc/self");
}
static void procs_signals(void)
{
	many_procs(PROCS);
	for (int i = 0; i < 5; i++)
		kill(0, SIGCONT);
	kill(0, 0);
	signal(SIGUSR1, SIG_IGN);
	setpriority(PRIO_USER, 0, 1);
	getpriority(PRIO_USER, 0);
	setpriority(PRIO_PGRP, 0, 2);
	kill(0, SIGUSR1);
	usleep(300000);
	kill(0, SIGKILL);
}
static void handler(int sig) { (void)sig; }
static void procs_caught(void)
{
	signal(SIGUSR1, handler);
	many_procs(PROCS);
	for (int i = 0; i < 3; i++) {
		kill(0, SIGUSR1);
		usleep(100000);
	}
}
static void zombies(void)
{
	pid_t first = 0;

	for (int i = 0; i < PROCS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		first = first ? first : pid;
	}
	waitpid(-1, NULL, WNOHANG | WUNTRACED);
	waitpid(-getpid() - 1, NULL, WNOHANG);
	read_tree("/proc");
	/* Its end gives all of them to the kernel. */
}
static void orphans(void)
{
	if (fork() == 0) {
		many_procs(PROCS);
		_exit(0);
	}
	wait(NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fork() == 0) {
		many_procs(PROCS / 2);
		_exit(0);
	}
	wait(NULL);
}
/* Each end has to be looked at: is there somebody left who could continue its group? */
static void orphan_groups(void)
{
	own_groups = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		many_procs(PROCS);
		_exit(0);
	}
	wait(NULL);
	usleep(300000);
	for (int i = 0; i < PROCS; i++)
		if (own_groups[i])
			kill(own_groups[i], SIGKILL);
}
static void queued_signals(void)
{
	union sigval v = { 0 };
	sigset_t all;
	int fd;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	for (int i = 0; i < 20000 && sigqueue(getpid(), SIGRTMIN + i % 20, v) == 0; i++)
		;
	for (int i = 0; i < 100; i++) {
		struct signalfd_siginfo si[128];

		if (read(fd, si, sizeof(si)) <= 0)
			break;
	}
}
static void peers(void)
{
	size_t size = 512UL << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct iovec l[1024], r[1024];
	pid_t pid = fork();

	if (pid == 0)
		waits(NULL);
	for (int i = 0; i < 1024; i++)
		l[i] = r[i] = (struct iovec){ p + i * (size / 2048), size / 2048 };
	process_vm_readv(pid, l, 1024, r, 1024, 0);
	process_vm_writev(pid, l, 1024, r, 1024, 0);
	kill(pid, SIGKILL);
}
static void filters(void)
{
	static struct sock_filter code[4096];
	struct sock_fprog prog = { 4096, code };

	for (int i = 0; i < 4095; i++)
		code[i] = (struct sock_filter){ BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 };
	code[4095] = (struct sock_filter){ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < 8 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0; i++)
		;
	for (int i = 0; i < 20; i++)
		getppid();
	if (fork() == 0)
		_exit(0);
	wait(NULL);
}
static void groups(void)
{
	static gid_t list[65536];

	for (int i = 0; i < 65536; i++)
		list[i] = (gid_t)(65536 - i);
	for (int i = 0; i < 5; i++) {
		RAW(SYS_setgroups, 65536, list);
		RAW(SYS_getgroups, 65536, list);
	}
	for (int i = 0; i < 100; i++)
		(void)!access("/proc/self/status", R_OK);
	read_all("/proc/self/status");
}
static void long_args(void)
{
	static char text[100000];
	char *argv[22] = { "sleep", "0.2" };
	char path[64];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 2; i < 20; i++)
		argv[i] = i % 2 ? text : "0";
	for (int i = 0; i < 3; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execve("/bin/true", argv, argv);
			_exit(1);
		}
		snprintf(path, sizeof(path), "/proc/%d", pid);
		read_tree(path);
		waitpid(pid, NULL, 0);
	}
}
static void everything(void)
{
	read_tree("/proc");
	read_tree("/proc/sys/kernel");
	read_tree("/proc/sys/vm");
	read_tree("/proc/sys/fs");
	read_tree("/proc/net");
	read_tree("/proc/self");
	read_tree("/sys/devices/system/cpu");
	read_tree("/sys/fs/cgroup");
}

static const struct kind kinds[] = {
	{ "files of /proc and /sys", everything },
	{ "many mappings", mappings },
	{ "many mappings of one file", file_mappings },
	{ "a large process", big_memory },
	{ "many threads in /proc", threads_files },
	{ "signals for many threads", threads_signals },
	{ "an exec of many threads", threads_exec },
	{ "many processes in /proc", procs_files },
	{ "signals for many processes", procs_signals },
	{ "a caught signal for many processes", procs_caught },
	{ "many zombies", zombies },
	{ "many orphans", orphans },
	{ "many orphaned groups", orphan_groups },
	{ "20,000 queued signals", queued_signals },
	{ "copies of 512 MiB from another process", peers },
	{ "long seccomp filters", filters },
	{ "65,536 groups", groups },
	{ "long arguments", long_args },
};
SLOW_MAIN(kinds)
