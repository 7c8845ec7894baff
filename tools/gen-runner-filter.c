/* Writes the seccomp filter of the runners as a C array, from the system call table and the rules below.
 * It runs at build time with libseccomp, so that a cell neither links the library nor spends time on it.
 *
 * Default: to our kernel (notify). NATIVE rows of the table: allowed. Calls that the stub handles: trapped, unless they
 * carry the stub's mark; what the mark opens is harmless from anywhere (docs/security.md lists each). */
#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/stub.h"

#define BAD_CLONE 0x7e023000UL /* every CLONE_NEW*, CLONE_PTRACE, CLONE_PIDFD */
#define CLONE_PARENT_ 0x8000UL
#define CLONE_THREAD_ 0x10000UL
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
	return nr == SYS_mmap || nr == SYS_get_robust_list;
}

static void rules(void)
{
	const uint32_t allow = SCMP_ACT_ALLOW, trap = SCMP_ACT_TRAP;

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

	rule(allow, SYS_get_robust_list, 1, SCMP_CMP(0, SCMP_CMP_EQ, 0));
	rule(allow, SYS_close, 1, MARKED);
	rule(allow, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 35), MARKED);
	rule(allow, SYS_prctl, 2, SCMP_CMP(0, SCMP_CMP_EQ, 15), MARKED);

	rule(allow, SYS_mmap, 1, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, 0x20, 0x20));
	rule(allow, SYS_mmap, 2, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, 0x20, 0),
	     SCMP_CMP(4, SCMP_CMP_MASKED_EQ, 0xffffffff00000000, STUB_MAP_HI));
	rule(trap, SYS_mmap, 2, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, 0x20, 0),
	     SCMP_CMP(4, SCMP_CMP_LT, STUB_MAP_HI));
	rule(trap, SYS_mmap, 2, SCMP_CMP(3, SCMP_CMP_MASKED_EQ, 0x20, 0),
	     SCMP_CMP(4, SCMP_CMP_GT, STUB_MAP_HI | 0xffffffff));

	/* A thread, or a child of the kernel: nobody else learns of its end. */
	rule(allow, SYS_clone, 2, SCMP_CMP(0, SCMP_CMP_MASKED_EQ, BAD_CLONE | CLONE_THREAD_, CLONE_THREAD_), MARKED);
	rule(allow, SYS_clone, 2,
	     SCMP_CMP(0, SCMP_CMP_MASKED_EQ, BAD_CLONE | CLONE_THREAD_ | CLONE_PARENT_, CLONE_PARENT_), MARKED);
	rule(trap, SYS_clone, 1, UNMARKED);
	rule(trap, SYS_shmat, 0);
	rule(trap, SYS_shmdt, 0);
	rule(trap, SYS_fork, 0);
	rule(trap, SYS_vfork, 0);
	rule(SCMP_ACT_ERRNO(ENOSYS), SYS_clone3, 0); /* libc falls back to clone */
	rule(trap, SYS_execve, 0);
	rule(allow, SYS_execveat, 3, SCMP_CMP(0, SCMP_CMP_EQ, STUB_FD), SCMP_CMP(4, SCMP_CMP_EQ, 0x1000),
	     MARKED);
	rule(trap, SYS_execveat, 1, UNMARKED);

	rule(trap, SYS_io_setup, 0);
	rule(trap, SYS_io_destroy, 0);
	/* A filter of the guest's own can only narrow what this one lets through. No listener: there is one already. No log: it
	 * would be the host's. */
	rule(trap, SYS_prctl, 1, SCMP_CMP(0, SCMP_CMP_EQ, 22 /* PR_SET_SECCOMP */));
	rule(allow, SYS_seccomp, 3, SCMP_CMP(0, SCMP_CMP_EQ, 1), SCMP_CMP(1, SCMP_CMP_MASKED_EQ, ~0x11UL, 0), MARKED);
	rule(trap, SYS_seccomp, 1, UNMARKED);

	/* libseccomp does not go back from a branch that fails: the rules of one call form a decision tree, each argument either
	 * equal or not. tests/unit/test_filter tries every combination. */
	for (unsigned sig = 0; sig < SIGCONT; sig++) {
		if (sig == SIGBUS || sig == SIGSEGV) { /* the stub may have them (stub/guard.c) */
			rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_EQ, sig), MARKED);
			rule(trap, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_EQ, sig), UNMARKED);
			continue;
		}
		rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_EQ, sig), SCMP_CMP(1, SCMP_CMP_EQ, 0));
		rule(allow, SYS_rt_sigaction, 3, SCMP_CMP(0, SCMP_CMP_EQ, sig), SCMP_CMP(1, SCMP_CMP_NE, 0), MARKED);
		rule(trap, SYS_rt_sigaction, 3, SCMP_CMP(0, SCMP_CMP_EQ, sig), SCMP_CMP(1, SCMP_CMP_NE, 0), UNMARKED);
	}
	rule(allow, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_GE, SIGCONT), MARKED);
	rule(trap, SYS_rt_sigaction, 2, SCMP_CMP(0, SCMP_CMP_GE, SIGCONT), UNMARKED);
	rule(allow, SYS_rt_sigprocmask, 1, SCMP_CMP(0, SCMP_CMP_EQ, 1));
	rule(allow, SYS_rt_sigprocmask, 2, SCMP_CMP(0, SCMP_CMP_NE, 1), SCMP_CMP(1, SCMP_CMP_EQ, 0));
	rule(allow, SYS_rt_sigprocmask, 3, SCMP_CMP(0, SCMP_CMP_NE, 1), SCMP_CMP(1, SCMP_CMP_NE, 0), MARKED);
	rule(trap, SYS_rt_sigprocmask, 3, SCMP_CMP(0, SCMP_CMP_NE, 1), SCMP_CMP(1, SCMP_CMP_NE, 0), UNMARKED);
	rule(allow, SYS_rt_sigsuspend, 1, MARKED);
	rule(trap, SYS_rt_sigsuspend, 1, UNMARKED);
	rule(allow, SYS_rt_sigtimedwait, 1, MARKED);
	rule(trap, SYS_rt_sigtimedwait, 1, UNMARKED);

	/* Without a mask these go straight to the kernel. */
	rule(trap, SYS_ppoll, 1, SCMP_CMP(3, SCMP_CMP_NE, 0));
	rule(trap, SYS_pselect6, 1, SCMP_CMP(5, SCMP_CMP_NE, 0));
	rule(trap, SYS_epoll_pwait, 1, SCMP_CMP(4, SCMP_CMP_NE, 0));
	rule(trap, 441 /* epoll_pwait2 */, 1, SCMP_CMP(4, SCMP_CMP_NE, 0));
}

int main(void)
{
	struct sock_filter f[4096];
	FILE *tmp = tmpfile();
	ssize_t n;

	ctx = seccomp_init(SCMP_ACT_NOTIFY);
	if (!ctx || !tmp)
		return 1;
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	rules();
	if (seccomp_export_bpf(ctx, fileno(tmp)) < 0)
		return 1;
	n = pread(fileno(tmp), f, sizeof(f), 0);
	if (n <= 0 || n % sizeof(f[0]) != 0 || (size_t)n == sizeof(f))
		return 1;
	printf("/* Made by tools/gen-runner-filter.c. */\n");
	for (size_t i = 0; i < n / sizeof(f[0]); i++)
		printf("{ %#x, %u, %u, %#x },\n", f[i].code, f[i].jt, f[i].jf, f[i].k);
	seccomp_release(ctx);
	return 0;
}
