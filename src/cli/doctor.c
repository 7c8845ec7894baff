/* viv doctor: what cells need of this machine, one line for each: ok; warn, something is slower or
 * not kept; fail, cells do not run. What to do about it follows. Each check tries the thing itself
 * where that leaves nothing behind, and the last one runs a cell. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/color.h"
#include "cli/doctor.h"
#include "cli/list.h"
#include "cli/vivd.h"
#include "host/cgroup.h"
#include "keeper/client.h"
#include "store/store.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define CELL_MS 30000
#define FREE_LOW (1UL << 30)
#define FREE_NONE (64UL << 20)

void found(struct finding *f, enum level level, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	f->level = level;
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

/* A number of a file of /proc/sys; -1: it is not there. */
static long sysctl_get(const char *name)
{
	char path[128], text[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return atol(text);
}

/* ---- the host's kernel ---- */

static void kernel_check(struct finding *f)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (strcmp(u.machine, "x86_64"))
		found(f, FAIL, "cells run on x86-64 only", "Linux %s on %s", u.release, u.machine);
	else if (major < 5 || (major == 5 && minor < 19))
		found(f, FAIL, "Linux 5.19 or newer is needed", "Linux %s", u.release);
	else
		found(f, OK, "", "Linux %s on %s", u.release, u.machine);
}

/* With a filter that is nowhere, EFAULT tells that the flags are known. */
static void seccomp_check(struct finding *f)
{
	uint32_t action = SECCOMP_RET_USER_NOTIF;
	const char *remedy =
		"Linux 5.19 or newer with CONFIG_SECCOMP_FILTER is needed; in a container, "
		"allow seccomp(2) (docker: --security-opt seccomp=unconfined)";

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
		found(f, FAIL, remedy, "no user notification: %s", strerror(errno));
	else if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			 NULL) == 0 ||
		 errno != EFAULT)
		found(f, FAIL, remedy, "no listener with killable waits: %s", strerror(errno));
	else
		found(f, OK, "", "user notification, killable waits");
}

/* In a child, whose end undoes it; errno of what failed. */
static int child_try(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn() & 0xff);
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int namespaces_make(void)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
		       CLONE_NEWUTS) < 0
		       ? errno
		       : 0;
}

/* As for a cell (host/isolate.c). */
static int proc_mount(void)
{
	int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	return syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID) < 0 ? errno : 0;
}

/* It is of the namespace of processes that the child of this one is in. */
static int private_proc_make(void)
{
	int err = namespaces_make();

	return err ? err : child_try(proc_mount);
}

static void private_proc_check(struct finding *f)
{
	int err = child_try(private_proc_make);

	if (!err)
		found(f, OK, "", "a private /proc for each cell");
	else
		found(f, WARN,
		      "cells run without: memory maps and processor times in their /proc are "
		      "missing, and without a control group --memory is not enforced. In a "
		      "container, leave its /proc unmasked (docker: --security-opt "
		      "systempaths=unconfined)",
		      "no private /proc for cells: %s", strerror(err));
}

static void namespaces_check(struct finding *f)
{
	int err = child_try(namespaces_make);

	if (!err)
		found(f, OK, "", "user, mount, process, network, IPC and UTS namespaces");
	else if (sysctl_get("kernel/unprivileged_userns_clone") == 0 && geteuid())
		found(f, FAIL, "as root: sysctl kernel.unprivileged_userns_clone=1",
		      "this host does not let users make namespaces");
	else if (sysctl_get("user/max_user_namespaces") == 0)
		found(f, FAIL, "as root: sysctl user.max_user_namespaces=15000",
		      "user namespaces are switched off");
	else if (sysctl_get("kernel/apparmor_restrict_unprivileged_userns") == 1 && geteuid())
		found(f, FAIL, "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
		      "AppArmor forbids user namespaces");
	else
		found(f, FAIL,
		      "in a container, allow user namespaces (docker: --security-opt "
		      "seccomp=unconfined)",
		      "cannot make namespaces: %s", strerror(err));
}

static void memfd_check(struct finding *f)
{
	int fd = (int)syscall(SYS_memfd_create, "viv-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r = fd < 0 ? -1 : ftruncate(fd, 4096);

	if (r == 0)
		r = fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	if (r < 0)
		found(f, FAIL, "allow memfd_create(2), which containers sometimes forbid",
		      "no sealed memory files: %s", strerror(errno));
	else
		found(f, OK, "", "memory files with seals");
	if (fd >= 0)
		close(fd);
}

static void ptrace_check(struct finding *f)
{
	long scope = sysctl_get("kernel/yama/ptrace_scope");

	if (access("/proc/self/exe", R_OK) < 0)
		found(f, FAIL, "mount proc at /proc", "/proc cannot be read: %s", strerror(errno));
	else if (scope >= 3)
		found(f, FAIL,
		      "set kernel.yama.ptrace_scope to 0 or 1, and start the machine again",
		      "kernel.yama.ptrace_scope is %ld: no process may read another process's "
		      "memory",
		      scope);
	else if (scope == 2 && geteuid())
		found(f, WARN, "as root: sysctl kernel.yama.ptrace_scope=1",
		      "kernel.yama.ptrace_scope is 2");
	else
		found(f, OK, "",
		      scope < 0 ? "/proc; no limit by Yama"
				: "/proc; kernel.yama.ptrace_scope is %ld",
		      scope);
}

/* A group with all limits is made, as for a cell, and removed. */
static void cgroup_check(struct finding *f)
{
	static const char *const names[] = {
		[CGROUP_MEMORY] = "memory", [CGROUP_CPU] = "cpu", [CGROUP_PIDS] = "pids"
	};
	const struct cgroup_limits limits = { .memory = 64 << 20, .cpu_milli = 500, .pids = 64 };
	char have[64] = "", miss[64] = "";
	struct cgroup cg;

	cgroup_create(&cg, &limits);
	for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++)
		strcat(strcat(cg.enforced[i] ? have : miss, " "), names[i]);
	if (*miss)
		found(f, WARN,
		      "cells run without. --memory is then enforced by counting every 20 ms: a "
		      "process can exceed it in between, and pages of files and of descriptors "
		      "that nothing maps are not counted. --cpus gives whole processors. With "
		      "systemd: Delegate=yes for the user's slice; as root: a writable "
		      "/sys/fs/cgroup",
		      "no control group for%s", miss);
	else
		found(f, OK, "", "control groups (%s) for%s", cg.v2[0] ? "v2" : "v1", have);
	cgroup_remove(&cg);
}

/* ---- limits ---- */

static void limit_check(struct finding *f, int which, const char *what, rlim_t least, rlim_t good,
			const char *remedy)
{
	struct rlimit l;

	if (getrlimit(which, &l) < 0)
		found(f, WARN, "", "the limit of %s is not known: %s", what, strerror(errno));
	else if (l.rlim_max == RLIM_INFINITY)
		found(f, OK, "", "no limit of %s", what);
	else
		found(f,
		      l.rlim_max < least  ? FAIL
		      : l.rlim_max < good ? WARN
					  : OK,
		      l.rlim_max < good ? remedy : "", "at most %llu %s",
		      (unsigned long long)l.rlim_max, what);
}

static void files_check(struct finding *f)
{
	limit_check(f, RLIMIT_NOFILE, "open files", 200, 4096,
		    "raise the hard limit: 'ulimit -Hn 65536', LimitNOFILE= of a unit, or "
		    "/etc/security/limits.conf");
}

static void processes_check(struct finding *f)
{
	if (!geteuid()) {
		found(f, OK, "", "no limit of processes for root");
		return;
	}
	limit_check(f, RLIMIT_NPROC, "processes", 64, 1024,
		    "raise the hard limit: 'ulimit -Hu 8192', LimitNPROC= of a unit, or "
		    "/etc/security/limits.conf");
}

static void clock_check(struct finding *f)
{
	struct timespec now, step = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	clock_getres(CLOCK_MONOTONIC, &step);
	if (now.tv_sec < 1704067200) /* 2024 */
		found(f, WARN, "set the clock: certificates and times of events are wrong",
		      "the clock says that it is before 2024");
	else if (step.tv_sec || step.tv_nsec > 1000000)
		found(f, WARN, "time-outs are not exact without a clock of the processor's",
		      "the clock counts in steps of %ld ns", step.tv_nsec);
	else
		found(f, OK, "", "the clock is set, in steps of %ld ns", step.tv_nsec);
}

/* ---- places ---- */

static const char *fs_name(long type)
{
	static const struct {
		long type;
		const char *name;
	} names[] = {
		{ 0xef53, "ext4" },	   { 0x58465342, "xfs" },
		{ 0x9123683e, "btrfs" },   { 0x01021994, "tmpfs" },
		{ 0x794c7630, "overlay" }, { 0x6969, "nfs" },
		{ 0x65735546, "fuse" },	   { 0x2fc12fc1, "zfs" },
		{ 0xf2f52010, "f2fs" },	   { (long)0xca451a4e, "bcachefs" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return "a file system of another kind";
}

static void store_check(struct finding *f)
{
	struct statfs st;
	const char *fs;
	struct store s;
	struct err e;
	uint64_t left;

	if (store_open(&s, &e) < 0) {
		found(f, FAIL, "set HOME or XDG_DATA_HOME to a directory that you may write", "%s",
		      e.message);
		return;
	}
	if (fstatfs(s.fd, &st) < 0) {
		found(f, WARN, "", "%s: %s", s.path, strerror(errno));
	} else {
		fs = fs_name((long)st.f_type);
		left = (uint64_t)st.f_bavail * (uint64_t)st.f_bsize;
		if (faccessat(s.fd, ".", W_OK, 0) < 0)
			found(f, FAIL, "set XDG_DATA_HOME to a directory that you may write",
			      "%.300s cannot be written", s.path);
		else if (left < FREE_NONE)
			found(f, FAIL, "'viv prune' and 'viv image rm' make room",
			      "%.300s has %s left", s.path, size_text(left).str);
		else if (left < FREE_LOW)
			found(f, WARN, "'viv prune' and 'viv image rm' make room",
			      "%.300s has %s left", s.path, size_text(left).str);
		else if (!strcmp(fs, "tmpfs"))
			found(f, WARN, "set XDG_DATA_HOME to a directory that stays",
			      "%.300s is in memory, and gone when the machine is started again",
			      s.path);
		else if (!strcmp(fs, "nfs") || !strcmp(fs, "fuse"))
			found(f, WARN, "a local file system is faster, and its locks are certain",
			      "%.300s is on %s", s.path, fs);
		else
			found(f, OK, "", "%.300s (%s, %s left)", s.path, fs, size_text(left).str);
	}
	store_close(&s);
}

static void run_check(struct finding *f)
{
	struct err e;
	int dir = keep_cells_dir(&e);
	char path[4096] = "";

	if (dir < 0 || store_run_path(path, sizeof(path), &e) < 0)
		found(f, FAIL, "set XDG_RUNTIME_DIR to a directory of your own", "%s", e.message);
	else if (faccessat(dir, ".", W_OK | X_OK, 0) < 0)
		found(f, FAIL, "set XDG_RUNTIME_DIR to a directory of your own",
		      "%.300s cannot be written", path);
	else
		found(f, OK, "", "%.300s for sockets and logs", path);
	if (dir >= 0)
		close(dir);
}

static void programs_check(struct finding *f)
{
	static const char *const names[] = { "viv-kernel", "viv-keeper",  "viv-store", "viv-s3",
					     "viv-gate",   "viv-journal", "vivd" };
	static const char *const places[] = { "", "../libexec/vivarium/", "../bin/" };
	char dir[3900], path[4096], miss[128] = "";
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char *slash;

	dir[MAX(n, 0)] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		slash[1] = '\0';
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		bool there = false;

		for (unsigned k = 0; k < ARRAY_LEN(places) && !there; k++) {
			snprintf(path, sizeof(path), "%s%s%s", dir, places[k], names[i]);
			there = access(path, R_OK | X_OK) == 0;
		}
		if (!there)
			strcat(strcat(miss, " "), names[i]);
	}
	if (*miss)
		found(f, FAIL, "install Vivarium again: 'make install', or put them beside viv",
		      "not beside viv, or not readable:%s", miss);
	else
		found(f, OK, "", "viv %s and the programs it needs", VIV_VERSION);
}

/* ---- vivd, and a cell ---- */

static void vivd_check(struct finding *f)
{
	struct viv_error error = { 0 };
	struct viv_client *c = viv_open(NULL, 0, &error);
	struct viv_reply reply;
	struct json_doc d;
	struct err e;

	if (!c && (error.code == ENOENT || error.code == ECONNREFUSED)) {
		found(f, OK, "", "vivd does not run; the first command that needs it starts it");
	} else if (!c || viv_call(c, "GET", "/v1/version", NULL, &reply, &error) < 0) {
		found(f, FAIL, "'viv daemon restart', or check which user runs it", "%s",
		      error.text);
	} else {
		if (reply.status != 200 || json_parse(&d, reply.body, reply.size, &e) < 0) {
			found(f, FAIL, "end what listens there, or set VIVARIUM_SOCKET",
			      "what answers is not vivd");
		} else {
			const char *version = json_show(d.root, "version");

			if (strcmp(version, VIV_VERSION))
				found(f, WARN,
				      "'viv daemon restart' starts the new one; cells go on",
				      "vivd is version %s, viv is %s", version, VIV_VERSION);
			else
				found(f, OK, "", "vivd %s runs (process %s)", version,
				      json_show(d.root, "pid"));
			json_free(&d);
		}
		viv_reply_free(&reply);
	}
	viv_close(c);
}

/* The last line that a cell's start printed. */
static void said_read(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;
	char *nl;

	while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	nl = strrchr(text, '\n');
	nl = nl ? nl + 1 : text;
	nl = strncmp(nl, "viv: ", 5) ? nl : nl + 5;
	memmove(text, nl, strlen(nl) + 1);
}

static void cell_check(struct finding *f)
{
	char said[400] = "";
	struct pollfd p;
	int fds[2], status = 0;
	double begin, took;
	struct timespec t;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		found(f, FAIL, "", "no pipe: %s", strerror(errno));
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	begin = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl("/proc/self/exe", "viv", "run", "--quiet", "--", "/bin/true", (char *)NULL);
		_exit(126);
	}
	close(fds[1]);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	/* It writes nothing, so what comes first is its end. */
	if (pid > 0 && poll(&p, 1, CELL_MS) == 0)
		kill(pid, SIGKILL);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	said_read(fds[0], said, sizeof(said));
	close(fds[0]);
	clock_gettime(CLOCK_MONOTONIC, &t);
	took = (double)t.tv_sec + (double)t.tv_nsec / 1e9 - begin;
	if (pid < 0)
		found(f, FAIL, "raise the limit of processes", "cannot fork: %s", strerror(errno));
	else if (WIFEXITED(status) && !WEXITSTATUS(status))
		found(f, OK, "", "a cell ran, in %.0f ms", took * 1000);
	else
		found(f, FAIL, "see above", "a cell did not run: %s",
		      *said ? said : "it said nothing");
}

static const struct {
	const char *name;
	void (*fn)(struct finding *f);
} checks[] = {
	{ "kernel", kernel_check },
	{ "seccomp", seccomp_check },
	{ "namespaces", namespaces_check },
	{ "memory-files", memfd_check },
	{ "proc", ptrace_check },
	{ "private-proc", private_proc_check },
	{ "control-groups", cgroup_check },
	{ "open-files", files_check },
	{ "processes", processes_check },
	{ "clock", clock_check },
	{ "store", store_check },
	{ "runtime-dir", run_check },
	{ "programs", programs_check },
	{ "name-servers", resolvers_check },
	{ "ca-bundle", bundle_check },
	{ "vivd", vivd_check },
	{ "cell", cell_check },
};

static void finding_print(const char *name, const struct finding *f, bool json)
{
	static const char *const levels[] = { [OK] = "ok", [WARN] = "warn", [FAIL] = "fail" };
	static const enum color colors[] = {
		[OK] = COLOR_GOOD, [WARN] = COLOR_WARN, [FAIL] = COLOR_BAD
	};

	if (!json) {
		printf("%s%-4s%s  %-14s %s\n", color_on(stdout, colors[f->level]), levels[f->level],
		       color_off(stdout, colors[f->level]), name, f->text);
		if (*f->remedy)
			printf("      %-14s -> %s\n", "", f->remedy);
	} else {
		printf("{\"check\":\"%s\",\"status\":\"%s\",\"message\":", name, levels[f->level]);
		json_quoted(stdout, f->text);
		if (*f->remedy) {
			printf(",\"remedy\":");
			json_quoted(stdout, f->remedy);
		}
		printf("}\n");
	}
	fflush(stdout);
}

int doctor_main(struct args *a, struct err *e)
{
	unsigned failed = 0, warned = 0;

	(void)e;
	for (unsigned i = 0; i < ARRAY_LEN(checks); i++) {
		struct finding f = { 0 };

		checks[i].fn(&f);
		finding_print(checks[i].name, &f, a->json);
		failed += f.level == FAIL;
		warned += f.level == WARN;
	}
	if (!a->json)
		printf("%s\n", failed	? "Something that cells need is missing."
			       : warned ? "Cells run here; what is marked could be better."
					: "Cells run here.");
	return failed ? ERR_FAILED : 0;
}
