/* links: libviv.a */
/* Stands in for viv-kernel as one that was taken over, in the place that viv made for it: the same
 * namespaces, mounts, limits and filters. It tries to leave something of the owner's on the host
 * that runs with the owner's rights, first by calls of its own, then by a runner whose calls it
 * lets through (SECCOMP_USER_NOTIF_FLAG_CONTINUE). It wants one mount, read-write. Started by
 * run.sh, which looks at the directory afterwards. */
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <ucontext.h>

#include "hostile.h"

#include <poll.h>

#include "host/host.h"
#include "host/isolate.h"
#include "host/notify.h"

static const struct sock_filter runner_filter[] = {
#include "runner_filter.h"
};

static int mount_fd;
static volatile int *listener_at;

/* A refused call goes on with an error: who took the kernel over has no use for its handler. */
static void refused(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)si;
	uc->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

static void handler_set(void)
{
	struct sigaction sa = { .sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSYS, &sa, NULL);
}

static bool has_set_id(const char *name)
{
	struct stat st;

	return RAW(SYS_newfstatat, mount_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 06000);
}

static const char *who;

static void no_set_id(const char *name, const char *how)
{
	check(!has_set_id(name), "%s: no set-id file by %s", who, how);
	RAW(SYS_unlinkat, mount_fd, name, 0);
}

static void by_mode(void)
{
	struct open_how how = { .flags = O_CREAT | O_RDWR, .mode = 06755 };
	long fd;

	for (int bit = 0; bit < 3; bit++) {
		static const unsigned modes[] = { 04755, 02755, 06755 };

		fd = RAW(SYS_openat, mount_fd, "open", O_CREAT | O_RDWR, modes[bit]);
		no_set_id("open", "openat");
		RAW(SYS_close, fd);
		how.mode = modes[bit];
		fd = RAW(SYS_openat2, mount_fd, "open2", &how, sizeof(how));
		no_set_id("open2", "openat2");
		RAW(SYS_close, fd);
		fd = RAW(SYS_openat, mount_fd, ".", O_TMPFILE | O_RDWR, modes[bit]);
		RAW(SYS_linkat, fd, "", mount_fd, "tmpfile", AT_EMPTY_PATH);
		no_set_id("tmpfile", "O_TMPFILE");
		RAW(SYS_close, fd);
		RAW(SYS_mknodat, mount_fd, "node", S_IFREG | modes[bit], 0);
		no_set_id("node", "mknodat");
		fd = RAW(SYS_openat, mount_fd, "plain", O_CREAT | O_RDWR, 0755);
		if (bit == 0)
			check(fd >= 0, "%s: an ordinary file can be made", who);
		RAW(SYS_fchmod, fd, modes[bit]);
		RAW(SYS_fchmod, fd, modes[bit] | 0xffffffff00000000);
		RAW(SYS_fchmod, fd, modes[bit] | 0xffff0000);
		RAW(452 /* fchmodat2 */, mount_fd, "plain", modes[bit], 0);
		RAW(452, fd, "", modes[bit], AT_EMPTY_PATH);
		no_set_id("plain", "fchmod");
		RAW(SYS_close, fd);
	}
}

/* The memory that openat2 may read from is replaced, if it can be found. */
static void by_memory(void)
{
	struct open_how how = { .flags = O_CREAT | O_RDWR, .mode = 06755 };

	for (unsigned long at = 0; at < 0x200000; at += 0x1000) {
		struct open_how *p = (struct open_how *)at;
		long map;

		RAW(SYS_mprotect, at, 0x1000, PROT_READ | PROT_WRITE);
		RAW(SYS_munmap, at, 0x1000);
		RAW(SYS_mremap, at, 0x1000, 0x1000, 1, 0);
		map = RAW(SYS_mmap, at, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
		if (map != (long)at || at == 0)
			continue;
		for (unsigned i = 0; i < 0x1000 / sizeof(how); i++) {
			p[i] = how;
			RAW(SYS_openat2, mount_fd, "mapped", &p[i], sizeof(how));
		}
	}
	RAW(SYS_munmap, 0, 0x200000);
	no_set_id("mapped", "openat2 from other memory");
}

/* Rights of a program's own: its capabilities, and what else attributes can say. Not
 * security.selinux, which the owner of a file may set where the host's policy does not object. */
static void by_attribute(void)
{
	static const char *const names[] = { "security.capability", "security.evm", "security.ima", "trusted.x",
					     "system.posix_acl_access" };
	struct vfs_ns_cap_data cap = { .magic_etc = VFS_CAP_REVISION_3 | VFS_CAP_FLAGS_EFFECTIVE,
				       .data = { { .permitted = ~0u }, { .permitted = ~0u } } };
	struct vfs_cap_data cap2 = { .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
				     .data = { { .permitted = ~0u }, { .permitted = ~0u } } };
	/* user::rwx user:0:rwx user:4711:rwx group::rwx mask::rwx other::rwx, by ids that are not
	 * the cell's */
	static const uint32_t acl[] = { 2,	   0x70001, ~0u,      0x70002, 4711,	0x70004,
					~0u, 0x70010, ~0u, 0x70020, ~0u };
	long fd = RAW(SYS_openat, mount_fd, "attributes", O_CREAT | O_RDWR, 0755), n;
	char list[4096];

	RAW(SYS_fsetxattr, fd, names[0], &cap, sizeof(cap), 0);
	RAW(SYS_fsetxattr, fd, names[0], &cap2, sizeof(cap2), 0);
	for (int i = 1; i < 4; i++)
		RAW(SYS_fsetxattr, fd, names[i], "x", 2, 0);
	RAW(SYS_fsetxattr, fd, names[4], acl, sizeof(acl), 0);
	n = RAW(SYS_flistxattr, fd, list, sizeof(list));
	for (long i = 0; n > 0 && i < n; i += (long)strlen(list + i) + 1)
		check(0, "%s: the file has the attribute %s", who, list + i);
	check(n <= 0, "%s: no attributes that give rights", who);
	RAW(SYS_close, fd);
}

static void memory(void)
{
	check(RAW(SYS_memfd_create, "x", 4 /* MFD_HUGETLB */) < 0, "%s: no huge pages of the host's by memfd_create", who);
	check(RAW(SYS_mmap, 0, 2 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1) < 0,
	      "%s: no huge pages of the host's by mmap", who);
}

/* In a runner: nothing is trapped that the kernel lets through, so each of these is made if the
 * filter has no say. */
static void runner(void)
{
	static const struct {
		const char *name;
		long nr, v[5];
	} calls[] = {
		{ "unshare", SYS_unshare, { CLONE_NEWUSER } },
		{ "socket", SYS_socket, { AF_UNIX, SOCK_STREAM } },
		{ "socket of a hypervisor", SYS_socket, { 40 /* AF_VSOCK */, SOCK_STREAM } },
		{ "socketpair", SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0, 0x10000 } },
		{ "userfaultfd", SYS_userfaultfd, { 1 } },
		{ "io_uring_setup", SYS_io_uring_setup, { 8, 0x10000 } },
		{ "ptrace", SYS_ptrace, { 0 } },
		{ "keyctl", SYS_keyctl, { 0, -3, 1 } },
		{ "add_key", SYS_add_key, { 0x10000, 0x10000, 0, 0, -3 } },
		{ "personality", SYS_personality, { 0xffffffff } },
		{ "clone with a namespace", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
		{ "clone3", SYS_clone3, { 0x10000, 88 } },
		{ "open_tree", SYS_open_tree, { -100, 0x10000, 1 } },
		{ "fsopen", SYS_fsopen, { 0x10000, 0 } },
		{ "open_by_handle_at", SYS_open_by_handle_at, { 3, 0x10000, 0 } },
		{ "perf_event_open", SYS_perf_event_open, { 0x10000, 0, -1, -1, 0 } },
		{ "bpf", SYS_bpf, { 0, 0x10000, 64 } },
		{ "mq_open", SYS_mq_open, { 0x10000, O_CREAT, 0600 } },
		{ "memfd_create", SYS_memfd_create, { 0x10000, 0 } },
		{ "inotify_init1", SYS_inotify_init1, { 0 } },
		{ "timer_create", SYS_timer_create, { 0, 0x10000, 0x10000 } },
		{ "shmget", SYS_shmget, { 0, 4096, 0600 | 04000 } },
		{ "modify_ldt", SYS_modify_ldt, { 0, 0x10000, 16 } },
		{ "sync", SYS_sync, { 0 } },
		{ "TIOCSTI", SYS_ioctl, { 0, 0x5412, 0x10000 } },
		{ "a number that comes later", 1000, { 0 } },
	};

	who = "runner";
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const long *v = calls[i].v;
		long ret = RAW(calls[i].nr, v[0], v[1], v[2], v[3], v[4]),
		     marked = MARKED(calls[i].nr, v[0], v[1], v[2], v[3], v[4]);

		/* Reached, it would be done or find its arguments wrong. */
		check((ret == -EPERM || ret == -ENOSYS) && (marked == -EPERM || marked == -ENOSYS),
		      "runner: %s does not reach the host (%ld, %ld)", calls[i].name, ret, marked);
	}
	by_mode();
	by_attribute();
	memory();
}

static _Noreturn void runner_main(void)
{
	struct sock_fprog prog = { sizeof(runner_filter) / sizeof(runner_filter[0]), (struct sock_filter *)runner_filter };
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);

	*listener_at = fd < 0 ? -2 : (int)fd;
	if (fd < 0)
		_exit(2);
	runner();
	fflush(stdout);
	RAW(SYS_exit_group, failures != 0);
	__builtin_unreachable();
}

static void say(uint32_t type, int32_t a)
{
	struct ctl_msg m = { .type = type, .a = a };

	(void)!send(FD_CONTROL, &m, sizeof(m), 0);
}

int main(void)
{
	struct bootspec spec;
	struct isolate_result iso;
	struct host_call in;
	siginfo_t si;
	long pid;

	if (bootspec_read(FD_SPEC, &spec) < 0 || isolate_enter(&spec, &iso) < 0 || host_open_prepare() < 0)
		return 125;
	for (uint32_t i = 0; i < spec.nmounts; i++)
		if (!strcmp(spec.mounts[i].kind, "host"))
			mount_fd = spec.mounts[i].fd;
	listener_at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*listener_at = -1;
	/* Whoever has the kernel's descriptors can give them to a runner: it has them all. */
	handler_set();
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		runner_main();
	while (*listener_at == -1)
		naptime(1);
	if (*listener_at < 0 || isolate_seal() < 0)
		return 125;
	notify_init(*listener_at);
	handler_set();
	say(CTL_READY, 0);
	for (;;) {
		memset(&si, 0, sizeof(si));
		if (RAW(SYS_waitid, P_PID, pid, &si, WEXITED | WNOHANG, 0) == 0 && si.si_pid == pid)
			break;
		if (host_poll(&(struct pollfd){ .fd = *listener_at, .events = POLLIN }, 1, 100000000) > 0 &&
		    notify_recv(&in) == 0)
			(void)notify_continue(in.id);
	}
	check(si.si_code == CLD_EXITED && si.si_status == 0, "the runner came to its end (%d, %d)", si.si_code, si.si_status);
	who = "kernel";
	by_mode();
	by_memory();
	by_attribute();
	memory();
	fflush(stdout);
	say(CTL_EXIT, failures ? 1 << 8 : 0);
	for (;;)
		naptime(1000);
}
