/* Writes the seccomp filter of the runners as a C array, from the system call table and the rules below.
 * It runs at build time with libseccomp, so that a cell neither links the library nor spends time on it.
 *
 * Three answers. NATIVE rows of the table: allowed, in the forms below. Calls that go to our kernel at once (notify): those in
 * "notified", and the numbers that no Linux has (HC_). A kernel that was taken over can answer a notification with "go on", and
 * then the host makes the call for the runner; so only calls are in there that give such a kernel nothing that it could not do
 * itself (docs/security.md, "What breaking one kernel gives"). Everything else is trapped: the stub does it, or asks for it under a
 * number that no Linux has (HC_FORWARD). What the stub's mark opens is harmless from anywhere (docs/security.md lists each). */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/stub.h"

#define BAD_CLONE 0x7e023000UL /* every CLONE_NEW*, CLONE_PTRACE, CLONE_PIDFD */
#define CLONE_PARENT_ 0x8000UL
#define CLONE_THREAD_ 0x10000UL
#define MAP_ANON_ 0x20UL
#define MAP_HUGETLB_ 0x40000UL
#define X32_BIT 0x40000000U
#define MARKED SCMP_CMP(5, SCMP_CMP_EQ, STUB_MAGIC)
#define UNMARKED SCMP_CMP(5, SCMP_CMP_NE, STUB_MAGIC)

static scmp_filter_ctx ctx;

static void rule(uint32_t action, int nr, unsigned n, ...)
{
	struct scmp_arg_cmp cmp[4];
	__builtin_va_list ap;
	int ret;

	__builtin_va_start(ap, n);
	for (unsigned i = 0; i < n; i++)
		cmp[i] = __builtin_va_arg(ap, struct scmp_arg_cmp);
	__builtin_va_end(ap);
	ret = seccomp_rule_add_exact_array(ctx, action, nr, n, cmp);
	if (ret < 0) {
		fprintf(stderr, "gen-runner-filter: rule for call %d: %s\n", nr, strerror(-ret));
		exit(1);
	}
}

/* Rows that are native only in some forms are below, not here. */
static bool is_special(int nr)
{
	return nr == SYS_mmap || nr == SYS_get_robust_list || nr == SYS_madvise;
}

/* clang-format off */
static const int notified[] = {
	/* Descriptors: a runner has those that the kernel gives it. */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2,
	SYS_lseek, SYS_dup, SYS_dup2, SYS_dup3, SYS_close_range, SYS_fcntl, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_syncfs,
	SYS_sync_file_range, SYS_readahead, SYS_fadvise64, SYS_ftruncate, SYS_fallocate, SYS_copy_file_range, SYS_getdents,
	SYS_getdents64, SYS_fstat, SYS_fstatfs, SYS_poll, SYS_select, SYS_epoll_wait, SYS_epoll_ctl,
	SYS_timerfd_settime, SYS_timerfd_gettime, SYS_inotify_rm_watch, SYS_io_submit, SYS_io_getevents, SYS_io_cancel,
	/* Paths: they start at an empty root, or at such a descriptor. */
	SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
	SYS_readlinkat, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_rmdir, SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat,
	SYS_renameat2, SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat, SYS_truncate, SYS_utime, SYS_utimes, SYS_utimensat,
	SYS_futimesat, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
	/* Sockets: there are only those that were given to the cell as streams. */
	SYS_accept, SYS_accept4, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
	SYS_getsockname, SYS_getpeername, SYS_getsockopt,
	/* Processes of the cell's PID namespace. */
	SYS_exit, SYS_wait4, SYS_waitid, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pause,
	SYS_pidfd_send_signal, SYS_getppid, SYS_getpgid, SYS_getpgrp, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_process_vm_readv,
	SYS_process_vm_writev, SYS_getpriority, SYS_setpriority, SYS_sched_getaffinity, SYS_sched_setaffinity,
	SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
	SYS_sched_rr_get_interval, SYS_sched_getattr, SYS_getrlimit, SYS_setrlimit, SYS_prlimit64, SYS_getrusage,
	/* The caller's own state, and facts. */
	SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_capget, SYS_umask,
	SYS_times, SYS_uname, SYS_sysinfo, SYS_alarm, SYS_getitimer, SYS_setitimer, SYS_msync,
	/* Objects that only trapped calls make. */
	SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_semop, SYS_semtimedop, SYS_semctl,
	SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_shmctl, SYS_mq_timedsend, SYS_mq_timedreceive,
};

/* Calls whose mode must have no set-id bit: which argument it is. */
static const struct {
	int nr, arg;
} with_mode[] = {
	{ SYS_open, 2 }, { SYS_openat, 3 }, { SYS_creat, 1 }, { SYS_mkdir, 1 }, { SYS_mkdirat, 2 }, { SYS_mknod, 1 },
	{ SYS_mknodat, 2 }, { SYS_chmod, 1 }, { SYS_fchmod, 1 }, { SYS_fchmodat, 2 }, { 452 /* fchmodat2 */, 2 },
};

/* What the kernel's own filter allows as well, and what is without effect on a terminal that is not the caller's own. */
static const unsigned long ioctls[] = {
	TCGETS, TCSETS, TCSETSW, TCSETSF, TCXONC, TCFLSH, TIOCGWINSZ, TIOCSWINSZ, TIOCGETD, TIOCOUTQ, FIONREAD, FIONBIO,
	FIOCLEX, FIONCLEX, TIOCGPGRP, TIOCSPGRP, TIOCGSID, FICLONE,
};

/* Advice about the own memory. Not: MERGEABLE and UNMERGEABLE, which have the host compare it with everybody's; HWPOISON and
 * SOFT_OFFLINE, which take pages from the host; what will be invented. */
static const unsigned advice[] = {
	0 /* NORMAL */, 1 /* RANDOM */, 2 /* SEQUENTIAL */, 3 /* WILLNEED */, 4 /* DONTNEED */, 8 /* FREE */, 9 /* REMOVE */,
	10 /* DONTFORK */, 11 /* DOFORK */, 14 /* HUGEPAGE */, 15 /* NOHUGEPAGE */, 16 /* DONTDUMP */, 17 /* DODUMP */,
	18 /* WIPEONFORK */, 19 /* KEEPONFORK */, 20 /* COLD */, 21 /* PAGEOUT */, 22 /* POPULATE_READ */,
	23 /* POPULATE_WRITE */, 24 /* DONTNEED_LOCKED */, 25 /* COLLAPSE */, 102 /* GUARD_INSTALL */, 103 /* GUARD_REMOVE */,
};
/* clang-format on */

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void rules_notified(void)
{
	const uint32_t notify = SCMP_ACT_NOTIFY;

	for (size_t i = 0; i < LEN(notified); i++)
		rule(notify, notified[i], 0);
	for (size_t i = 0; i < LEN(with_mode); i++)
		rule(notify, with_mode[i].nr, 1,
		     SCMP_CMP((unsigned)with_mode[i].arg, SCMP_CMP_MASKED_EQ, 06000, 0));
	for (size_t i = 0; i < LEN(ioctls); i++)
		rule(notify, SYS_ioctl, 1, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffffffff, ioctls[i]));
	/* The process's own settings. Not those of core scheduling (62) and of merging memory (67), and nothing new. */
	for (unsigned op = 1; op <= 61; op++)
		if (op != 15 && op != 22 && op != 35)
			rule(notify, SYS_prctl, 1, SCMP_CMP(0, SCMP_CMP_EQ, op));
	rule(notify, SYS_prctl, 1, SCMP_CMP(0, SCMP_CMP_EQ, 0x53564d41 /* PR_SET_VMA */));
	rule(notify, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 15), UNMARKED);
	rule(notify, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 35), UNMARKED);
	rule(notify, SYS_get_robust_list, 1, SCMP_CMP(0, SCMP_CMP_NE, 0));
	rule(notify, SYS_close, 1, UNMARKED);
	/* Without a mask these go straight to the kernel. */
	rule(notify, SYS_ppoll, 1, SCMP_CMP(3, SCMP_CMP_EQ, 0));
	rule(notify, SYS_pselect6, 1, SCMP_CMP(5, SCMP_CMP_EQ, 0));
	rule(notify, SYS_epoll_pwait, 1, SCMP_CMP(4, SCMP_CMP_EQ, 0));
	rule(notify, 441 /* epoll_pwait2 */, 1, SCMP_CMP(4, SCMP_CMP_EQ, 0));
	/* A filter of the guest's own can only narrow what this one lets through. The kernel sees to it that it is one that it
	 * wrapped. No listener: there is one already. No log: it would be the host's. */
	rule(notify, SYS_seccomp, 3, SCMP_CMP(0, SCMP_CMP_EQ, 1), SCMP_CMP(1, SCMP_CMP_MASKED_EQ, ~0x11UL, 0), MARKED);
}

static void rules_native(void)
{
	const uint32_t allow = SCMP_ACT_ALLOW;

#define NATIVE 1
#define KERNEL 0
#define STUB 0
#define REFUSED 0
#define NONE 0
#define SYSCALL(nr, name, status, format)                                                          \
	if (status && !is_special(nr))                                                             \
		rule(allow, nr, 0);
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL

	for (size_t i = 0; i < LEN(advice); i++)
		rule(allow, SYS_madvise, 1, SCMP_CMP(2, SCMP_CMP_MASKED_EQ, 0xffffffff, advice[i]));
	rule(allow, SYS_get_robust_list, 1, SCMP_CMP(0, SCMP_CMP_EQ, 0));
	rule(allow, SYS_close, 1, MARKED);
	rule(allow, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 35), MARKED);
	rule(allow, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 15), MARKED);

	/* Huge pages are the host's own: a cell has none, and says so as Linux does. */
	rule(allow, SYS_mmap, 1, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, MAP_ANON_ | MAP_HUGETLB_, MAP_ANON_));
	rule(SCMP_ACT_ERRNO(ENOMEM), SYS_mmap, 1,
	     SCMP_CMP(3, SCMP_CMP_MASKED_EQ, MAP_ANON_ | MAP_HUGETLB_, MAP_ANON_ | MAP_HUGETLB_));
	rule(allow, SYS_mmap, 2, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, MAP_ANON_, 0),
	     SCMP_CMP(4, SCMP_CMP_MASKED_EQ, 0xffffffff00000000, STUB_MAP_HI));

	/* A thread, or a child of the kernel: nobody else learns of its end. */
	rule(allow, SYS_clone, 2, SCMP_CMP(0, SCMP_CMP_MASKED_EQ, BAD_CLONE | CLONE_THREAD_, CLONE_THREAD_), MARKED);
	rule(allow, SYS_clone, 2,
	     SCMP_CMP(0, SCMP_CMP_MASKED_EQ, BAD_CLONE | CLONE_THREAD_ | CLONE_PARENT_, CLONE_PARENT_), MARKED);
	rule(SCMP_ACT_ERRNO(ENOSYS), SYS_clone3, 0); /* libc falls back to clone */
	rule(allow, SYS_execveat, 3, SCMP_CMP(0, SCMP_CMP_EQ, STUB_FD), SCMP_CMP(4, SCMP_CMP_EQ, 0x1000),
	     MARKED);

	/* libseccomp does not go back from a branch that fails: the rules of one call form a decision tree, each argument either
	 * equal or not. tests/unit/test_filter tries every combination. */
	for (unsigned sig = 0; sig < SIGCONT; sig++) {
		if (sig == SIGBUS || sig == SIGSEGV) { /* the stub may have them (stub/guard.c) */
			rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_EQ, sig), MARKED);
			continue;
		}
		rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_EQ, sig), SCMP_CMP(1, SCMP_CMP_EQ, 0));
		rule(allow, SYS_rt_sigaction, 3, SCMP_CMP(0, SCMP_CMP_EQ, sig), SCMP_CMP(1, SCMP_CMP_NE, 0), MARKED);
	}
	rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_GE, SIGCONT), MARKED);
	rule(allow, SYS_rt_sigprocmask, 1, SCMP_CMP(0, SCMP_CMP_EQ, 1));
	rule(allow, SYS_rt_sigprocmask, 2, SCMP_CMP(0, SCMP_CMP_NE, 1), SCMP_CMP(1, SCMP_CMP_EQ, 0));
	rule(allow, SYS_rt_sigprocmask, 3, SCMP_CMP(0, SCMP_CMP_NE, 1), SCMP_CMP(1, SCMP_CMP_NE, 0), MARKED);
	rule(allow, SYS_rt_sigsuspend, 1, MARKED);
	rule(allow, SYS_rt_sigtimedwait, 1, MARKED);
}

/* Before libseccomp's tree: what it has no words for. Other architectures end the process. */
static const struct sock_filter before[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	/* Numbers of x32, which the host may have: as a Linux without them. */
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, HC_BASE, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	/* The stub's descriptor stays: what execveat executes is the stub. The host looks at the lower half only. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STUB_FD, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
};

int main(void)
{
	struct sock_filter f[4096];
	FILE *tmp = tmpfile();
	ssize_t n;

	ctx = seccomp_init(SCMP_ACT_TRAP);
	if (!ctx || !tmp)
		return 1;
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	rules_native();
	rules_notified();
	if (seccomp_export_bpf(ctx, fileno(tmp)) < 0)
		return 1;
	n = pread(fileno(tmp), f, sizeof(f), 0);
	if (n <= 0 || n % sizeof(f[0]) != 0 || (size_t)n == sizeof(f))
		return 1;
	printf("/* Made by tools/gen-runner-filter.c. */\n");
	for (size_t i = 0; i < LEN(before); i++)
		printf("{ %#x, %u, %u, %#x },\n", before[i].code, before[i].jt, before[i].jf, before[i].k);
	for (size_t i = 0; i < n / sizeof(f[0]); i++)
		printf("{ %#x, %u, %u, %#x },\n", f[i].code, f[i].jt, f[i].jf, f[i].k);
	seccomp_release(ctx);
	return 0;
}
