/* Writes the seccomp filter of the runners as a C array, from the system call table and the rules
 * below. It runs at build time, so that a cell spends no time on it.
 *
 * Three answers. NATIVE rows of the table: allowed, in the forms below. Calls that go to our kernel
 * at once (notify): those in "notified", and the numbers that no Linux has (HC_). A kernel that was
 * taken over can answer a notification with "go on", and then the host makes the call for the
 * runner; so only calls are in there that give such a kernel nothing that it could not do itself
 * (docs/security.md, "What breaking one kernel gives"). Everything else is trapped: the stub does
 * it, or asks for it under a number that no Linux has (HC_FORWARD). What the stub's mark opens is
 * harmless from anywhere (docs/security.md lists each).
 *
 * The program is a tree over ranges of numbers with the same answer, then a few instructions for
 * each call whose arguments matter. Installing it takes the host as long as it is (translation), so
 * answers are shared. Native calls without a look at arguments are in the host's bitmap and cost
 * nothing; for that only loads, masks, jumps and returns are used. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "stub/fast.h"

#define BAD_CLONE 0x7e023000UL /* every CLONE_NEW*, CLONE_PTRACE, CLONE_PIDFD */
#define CLONE_PARENT_ 0x8000UL
#define CLONE_THREAD_ 0x10000UL
#define MAP_ANON_ 0x20UL
#define MAP_HUGETLB_ 0x40000UL
#define SET_ID 06000
#define FILTER_END ((unsigned long)FILTER_BASE + FILTER_SIZE)
#define X32_BIT 0x40000000U
#define NRS 512 /* numbers of calls are below it */

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
	SYS_exit, SYS_wait4, SYS_waitid, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
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

/* What the kernel's own filter allows as well, and what is without effect on a terminal that is not
 * the caller's own. */
static const unsigned long ioctls[] = {
	TCGETS, TCSETS, TCSETSW, TCSETSF, TCXONC, TCFLSH, TIOCGWINSZ, TIOCSWINSZ, TIOCGETD, TIOCOUTQ, FIONREAD, FIONBIO,
	FIOCLEX, FIONCLEX, TIOCGPGRP, TIOCSPGRP, TIOCGSID, FICLONE,
};
/* clang-format on */


#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- instructions ---- */

static struct sock_filter out[1024];
static unsigned nout;

static void put(uint16_t code, unsigned jt, unsigned jf, uint64_t k)
{
	if (nout == LEN(out) || jt > 255 || jf > 255) {
		fprintf(stderr, "gen-runner-filter: too long\n");
		exit(1);
	}
	out[nout++] = (struct sock_filter){ code, (uint8_t)jt, (uint8_t)jf, (uint32_t)k };
}

static void load(unsigned arg) /* its lower half */
{
	put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args) + 8 * arg);
}
static void load_high(unsigned arg)
{
	put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args) + 8 * arg + 4);
}
static void mask(uint64_t m)
{
	put(BPF_ALU | BPF_AND | BPF_K, 0, 0, m);
}
/* Each skips so many instructions if it is so, or if it is not. */
static void if_eq(uint64_t k, unsigned yes, unsigned no)
{
	put(BPF_JMP | BPF_JEQ | BPF_K, yes, no, k);
}
static void if_ge(uint64_t k, unsigned yes, unsigned no)
{
	put(BPF_JMP | BPF_JGE | BPF_K, yes, no, k);
}
static void answer(uint32_t k)
{
	put(BPF_RET | BPF_K, 0, 0, k);
}
#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define TRAP SECCOMP_RET_TRAP

/* Marked as the stub's: allowed; else the other. Six instructions. */
static void allow_marked(uint32_t other)
{
	load(5);
	if_eq(STUB_MAGIC & 0xffffffff, 0, 2);
	load_high(5);
	if_eq(STUB_MAGIC >> 32, 1, 0);
	answer(other);
	answer(ALLOW);
}

/* ---- calls whose arguments matter ---- */

/* The stub's descriptor stays, so what execveat executes is the stub. The host looks at the lower
 * half only. */
static void rule_close(void)
{
	load(0);
	if_eq(STUB_FD, 0, 1);
	answer(TRAP);
	allow_marked(NOTIFY);
}

static void rule_marked(void)
{
	allow_marked(TRAP);
}

/* The stub's own wait (stub_wait in stub/entry.S). */
static void rule_pause(void)
{
	allow_marked(NOTIFY);
}

/* Without a new action: what it says is right, but for those that the stub may have (stub/guard.c)
 * and from SIGCONT on. */
static void rule_sigaction(void)
{
	load_high(0);
	if_eq(0, 0, 8);
	load(0);
	if_ge(SIGCONT, 6, 0);
	if_eq(SIGBUS, 5, 0);
	if_eq(SIGSEGV, 4, 0);
	load(1);
	if_eq(0, 0, 2);
	load_high(1);
	if_eq(0, 5, 0); /* the last of: */
	allow_marked(TRAP);
}

/* Unblocking, or only asking. */
static void rule_sigprocmask(void)
{
	load_high(0);
	if_eq(0, 0, 2);
	load(0);
	if_eq(1, 10, 0);
	load(1);
	if_eq(0, 0, 2);
	load_high(1);
	if_eq(0, 6, 0);
	allow_marked(TRAP);
	answer(ALLOW);
}

/* The process's own settings. Not those of core scheduling (62) and of merging memory (67), and
 * nothing new. */
static void rule_prctl(void)
{
	load(0);
	if_eq(15 /* PR_SET_NAME */, 8, 0);
	if_eq(35 /* PR_SET_MM */, 7, 0);
	if_eq(40 /* PR_GET_TID_ADDRESS */, 6, 0);
	if_eq(0x53564d41 /* PR_SET_VMA */, 4, 0);
	if_eq(22 /* PR_SET_SECCOMP */, 2, 0);
	if_eq(0, 1, 0);
	if_ge(62, 0, 1);
	answer(TRAP);
	answer(NOTIFY);
	allow_marked(NOTIFY);
}

/* Huge pages are the host's own: a cell has none, and says so as Linux does. */
static void rule_mmap(void)
{
	load(3);
	mask(MAP_ANON_ | MAP_HUGETLB_);
	if_eq(MAP_ANON_, 5, 0);
	if_eq(MAP_ANON_ | MAP_HUGETLB_, 3, 0);
	load_high(4);
	if_eq(STUB_MAP_HI >> 32, 2, 0);
	answer(TRAP);
	answer(SECCOMP_RET_ERRNO | ENOMEM);
	answer(ALLOW);
}

/* A thread, or a child of the kernel: nobody else learns of its end. */
static void rule_clone(void)
{
	load(0);
	mask(BAD_CLONE | CLONE_THREAD_ | CLONE_PARENT_);
	if_eq(CLONE_THREAD_, 3, 0);
	if_eq(CLONE_THREAD_ | CLONE_PARENT_, 2, 0);
	if_eq(CLONE_PARENT_, 1, 0);
	answer(TRAP);
	allow_marked(TRAP);
}

static void rule_execveat(void)
{
	load(0);
	if_eq(STUB_FD, 0, 2);
	load(4);
	if_eq(0x1000 /* AT_EMPTY_PATH */, 1, 0);
	answer(TRAP);
	allow_marked(TRAP);
}

/* Advice about the own memory. Not: MERGEABLE and UNMERGEABLE (12, 13), which have the host compare
 * it with everybody's; HWPOISON and SOFT_OFFLINE (100, 101), which take pages from the host; what
 * will be invented. */
static void rule_madvise(void)
{
	load(2);
	if_eq(10 /* DONTFORK */, 10, 0);
	if_ge(104, 7, 0);
	if_ge(102 /* GUARD_INSTALL, GUARD_REMOVE */, 7, 0);
	if_ge(26, 5, 0);
	if_ge(14 /* HUGEPAGE to COLLAPSE */, 5, 0);
	if_ge(12, 3, 0);
	if_ge(8 /* FREE to DOFORK */, 3, 0);
	if_ge(5, 1, 0);
	if_ge(0 /* NORMAL to DONTNEED */, 1, 0);
	answer(TRAP);
	answer(ALLOW);
	/* Where the host reads filters from (stub/fast.h), no child may have something else: not if
	 * the range begins before the end of that and ends behind its begin. */
	load_high(0);
	if_ge((FILTER_END >> 32) + 1, 23, 0);
	if_eq(FILTER_END >> 32, 0, 2);
	load(0);
	if_ge(FILTER_END & 0xffffffff, 20, 0);
	load(1);
	put(BPF_MISC | BPF_TAX, 0, 0, 0);
	load(0);
	put(BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
	put(BPF_ST, 0, 0, 0); /* the lower half of the end, and whether it carries: */
	put(BPF_JMP | BPF_JGE | BPF_X, 5, 0, 0);
	load_high(1);
	put(BPF_MISC | BPF_TAX, 0, 0, 0);
	load_high(0);
	put(BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1);
	put(BPF_JMP | BPF_JA, 0, 0, 3);
	load_high(1);
	put(BPF_MISC | BPF_TAX, 0, 0, 0);
	load_high(0);
	put(BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
	if_ge((FILTER_BASE >> 32) + 1, 3, 0);
	if_eq(FILTER_BASE >> 32, 0, 3);
	put(BPF_LD | BPF_MEM, 0, 0, 0);
	if_ge((FILTER_BASE & 0xffffffff) + 1, 0, 1);
	answer(TRAP);
	answer(ALLOW);
}

static void rule_robust_list(void)
{
	load(0);
	if_eq(0, 0, 2);
	load_high(0);
	if_eq(0, 1, 0);
	answer(NOTIFY);
	answer(ALLOW);
}

/* A filter of the guest's own can only narrow what this one lets through. The kernel sees to it
 * that it is one that it wrapped. No listener: there is one already. No log: it would be the
 * host's. */
static void rule_seccomp(void)
{
	load(0);
	if_eq(1, 0, 8);
	load(1);
	mask(0xffffffff & ~0x11UL); /* TSYNC, TSYNC_ESRCH */
	if_eq(0, 0, 5);
	load(5);
	if_eq(STUB_MAGIC & 0xffffffff, 0, 3);
	load_high(5);
	if_eq(STUB_MAGIC >> 32, 0, 1);
	answer(NOTIFY);
	answer(TRAP);
}

static void rule_ioctl(void)
{
	load(1);
	for (size_t i = 0; i < LEN(ioctls); i++)
		if_eq(ioctls[i], LEN(ioctls) - i, 0);
	answer(TRAP);
	answer(NOTIFY);
}

/* Calls with a signal mask: without one they go straight to the kernel. */
static void unmasked(unsigned arg)
{
	load(arg);
	if_eq(0, 0, 3);
	load_high(arg);
	if_eq(0, 0, 1);
	answer(NOTIFY);
	answer(TRAP);
}
static void rule_mask3(void)
{
	unmasked(3);
}
static void rule_mask4(void)
{
	unmasked(4);
}
static void rule_mask5(void)
{
	unmasked(5);
}

/* Modes without a set-id bit. */
static void mode_in(unsigned arg)
{
	load(arg);
	put(BPF_JMP | BPF_JSET | BPF_K, 1, 0, SET_ID);
	answer(NOTIFY);
	answer(TRAP);
}
static void rule_mode1(void)
{
	mode_in(1);
}
static void rule_mode2(void)
{
	mode_in(2);
}
static void rule_mode3(void)
{
	mode_in(3);
}

static void rule_missing(void)
{
	answer(SECCOMP_RET_ERRNO | ENOSYS);
}

static const struct {
	int nr;
	void (*rule)(void);
} special[] = {
	{ SYS_close, rule_close },
	{ SYS_rt_sigsuspend, rule_marked },
	{ SYS_rt_sigtimedwait, rule_marked },
	{ SYS_pause, rule_pause },
	{ 462 /* mseal */, rule_marked },
	{ SYS_rt_sigaction, rule_sigaction },
	{ SYS_rt_sigprocmask, rule_sigprocmask },
	{ SYS_prctl, rule_prctl },
	{ SYS_mmap, rule_mmap },
	{ SYS_clone, rule_clone },
	{ SYS_clone3, rule_missing }, /* libc falls back to clone */
	{ SYS_execveat, rule_execveat },
	{ SYS_madvise, rule_madvise },
	{ SYS_get_robust_list, rule_robust_list },
	{ SYS_seccomp, rule_seccomp },
	{ SYS_ioctl, rule_ioctl },
	{ SYS_ppoll, rule_mask3 },
	{ SYS_epoll_pwait, rule_mask4 },
	{ 441 /* epoll_pwait2 */, rule_mask4 },
	{ SYS_pselect6, rule_mask5 },
	{ SYS_creat, rule_mode1 },
	{ SYS_mkdir, rule_mode1 },
	{ SYS_mknod, rule_mode1 },
	{ SYS_chmod, rule_mode1 },
	{ SYS_fchmod, rule_mode1 },
	{ SYS_open, rule_mode2 },
	{ SYS_mkdirat, rule_mode2 },
	{ SYS_mknodat, rule_mode2 },
	{ SYS_fchmodat, rule_mode2 },
	{ 452 /* fchmodat2 */, rule_mode2 },
	{ SYS_openat, rule_mode3 },
};

/* ---- by number ---- */

/* What each number has: one of these, or FIRST_RULE and the place of its rule in rules. */
enum { TRAPPED, ALLOWED, NOTIFIED, FIRST_RULE };
static uint8_t answers[NRS];
static void (*rules[LEN(special)])(void);
static unsigned nrules;

static uint8_t rule_number(void (*rule)(void))
{
	unsigned i = 0;

	while (i < nrules && rules[i] != rule)
		i++;
	if (i == nrules)
		rules[nrules++] = rule;
	return (uint8_t)(FIRST_RULE + i);
}

static void answers_fill(void)
{
#define NATIVE ALLOWED
#define KERNEL TRAPPED
#define STUB TRAPPED
#define REFUSED TRAPPED
#define NONE TRAPPED
#define SYSCALL(nr, name, status, format) answers[nr] = status;
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
	for (size_t i = 0; i < LEN(notified); i++)
		answers[notified[i]] = NOTIFIED;
	for (size_t i = 0; i < LEN(special); i++)
		answers[special[i].nr] = rule_number(special[i].rule);
}

/* The tree over ranges of numbers, first[lo] ... first[hi] - 1. Its nodes lie one behind the other,
 * a node's lower half right behind it; behind all of them one instruction for each answer. So no
 * jump is longer than all of it. */
static unsigned node_target(const unsigned *first, unsigned lo, unsigned hi, unsigned node, unsigned answers_at)
{
	return hi - lo == 1 ? answers_at + answers[first[lo]] : node;
}

static void tree(const unsigned *first, unsigned lo, unsigned hi, unsigned answers_at)
{
	unsigned mid = (lo + hi) / 2, at = nout, next = at + 1, other = next + (mid - lo - 1);

	if (hi - lo == 1)
		return;
	if_ge(first[mid], node_target(first, mid, hi, other, answers_at) - next,
	      node_target(first, lo, mid, next, answers_at) - next);
	tree(first, lo, mid, answers_at);
	tree(first, mid, hi, answers_at);
}

static void program(void)
{
	unsigned first[NRS + 1], n = 0, rules_at;

	/* Other architectures end the process. */
	put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	if_eq(AUDIT_ARCH_X86_64, 1, 0);
	answer(SECCOMP_RET_KILL_PROCESS);
	put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	/* Numbers of x32, which the host may have: as on a Linux without them. Our own. Those that
	 * no call has. */
	if_ge(NRS, 0, 5);
	if_ge(X32_BIT, 0, 1);
	answer(SECCOMP_RET_ERRNO | ENOSYS);
	if_ge(HC_BASE, 0, 1);
	answer(NOTIFY);
	answer(TRAP);
	for (unsigned nr = 0; nr < NRS; nr++)
		if (!nr || answers[nr] != answers[nr - 1])
			first[n++] = nr;
	first[n] = NRS;
	tree(first, 0, n, nout + n - 1);
	answer(TRAP);
	answer(ALLOW);
	answer(NOTIFY);
	rules_at = nout;
	for (unsigned i = 0; i < nrules; i++)
		put(BPF_JMP | BPF_JA, 0, 0, 0);
	for (unsigned i = 0; i < nrules; i++) {
		out[rules_at + i].k = nout - (rules_at + i) - 1;
		rules[i]();
	}
}

int main(void)
{
	answers_fill();
	program();
	printf("/* Made by tools/gen-runner-filter.c. */\n");
	for (unsigned i = 0; i < nout; i++)
		printf("{ %#x, %u, %u, %#x },\n", out[i].code, out[i].jt, out[i].jf, out[i].k);
	return 0;
}
