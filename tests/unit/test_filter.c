/* The runners' filter, and the kernel's own as far as it looks at arguments, tried by a small interpreter: which calls are native, trapped, notified or fatal. libseccomp turns rules into a
 * tree and does not go back from a branch that fails, so every combination of the arguments that rules look at is tried. */
/* objects: src/base/log.c */
#include <signal.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "host/worker.h"
#include "stub/stub.h"
#include "tap.h"

#define M STUB_MAGIC
#define P 0x7fff00001000UL

enum verdict { ALLOW, TRAP, NOTIFY, KILL, NOSYS, OTHER };

static const struct sock_filter runner_prog[] = {
#include "runner_filter.h"
};
static const struct sock_filter kernel_prog[] = {
#include "kernel_filter.h"
};
static const struct sock_filter *prog = runner_prog;
static size_t prog_len = sizeof(runner_prog) / sizeof(runner_prog[0]);

static enum verdict verdict_of(uint32_t ret)
{
	switch (ret & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		return ALLOW;
	case SECCOMP_RET_TRAP:
		return TRAP;
	case SECCOMP_RET_USER_NOTIF:
		return NOTIFY;
	case SECCOMP_RET_KILL_PROCESS:
		return KILL;
	case SECCOMP_RET_ERRNO:
		return (ret & SECCOMP_RET_DATA) == 38 ? NOSYS : OTHER;
	default:
		return OTHER;
	}
}

static enum verdict run(uint32_t arch, int nr, const uint64_t *args)
{
	struct seccomp_data d = { .nr = nr, .arch = arch, .instruction_pointer = 0x1234 };
	uint32_t acc = 0;

	memcpy(d.args, args, sizeof(d.args));
	for (size_t pc = 0; pc < prog_len;) {
		const struct sock_filter *f = &prog[pc++];
		bool yes = false;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			memcpy(&acc, (const char *)&d + f->k, 4);
			break;
		case BPF_ALU:
			acc &= f->k; /* the only operation libseccomp emits */
			break;
		case BPF_JMP:
			switch (BPF_OP(f->code)) {
			case BPF_JA:
				pc += f->k;
				continue;
			case BPF_JEQ:
				yes = acc == f->k;
				break;
			case BPF_JGT:
				yes = acc > f->k;
				break;
			case BPF_JGE:
				yes = acc >= f->k;
				break;
			case BPF_JSET:
				yes = acc & f->k;
				break;
			default:
				return OTHER;
			}
			pc += yes ? f->jt : f->jf;
			break;
		case BPF_RET:
			return verdict_of(f->k);
		default:
			return OTHER;
		}
	}
	return OTHER;
}

static int wrong;

static void want(enum verdict v, int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t args[6] = { a, b, c, d, e, f };
	enum verdict got = run(AUDIT_ARCH_X86_64, nr, args);

	if (got != v && wrong++ < 20)
		printf("# call %d(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx): %d, not %d\n", nr, a, b, c, d, e, f, got, v);
}

static void try_signals(uint64_t mark)
{
	static const uint64_t hows[] = { 0, 1, 2, 7 }, sigs[] = { 0, 1, 6, 7, 8, 11, 12, 17, 18, 30, 31, 32, 64, 100 }, ptrs[] = { 0, P };

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 2; j++)
			want(!ptrs[j] || hows[i] == 1 || mark == M ? ALLOW : TRAP, SYS_rt_sigprocmask, hows[i], ptrs[j],
			     P, 8, 0, mark);
	for (int i = 0; i < 14; i++)
		for (int j = 0; j < 2; j++)
			want(mark == M || (!ptrs[j] && sigs[i] < 18 && sigs[i] != SIGBUS && sigs[i] != SIGSEGV) ? ALLOW : TRAP, SYS_rt_sigaction, sigs[i], ptrs[j],
			     P, 8, 0, mark);
	want(mark == M ? ALLOW : TRAP, SYS_rt_sigsuspend, P, 8, 0, 0, 0, mark);
	want(mark == M ? ALLOW : TRAP, SYS_rt_sigtimedwait, P, P, 0, 8, 0, mark);
	want(mark ? TRAP : NOTIFY, SYS_pselect6, 1, P, P, P, P, mark);
	for (int j = 0; j < 2; j++) {
		want(ptrs[j] ? TRAP : NOTIFY, SYS_ppoll, P, 1, P, ptrs[j], 8, mark);
		want(ptrs[j] ? TRAP : NOTIFY, SYS_epoll_pwait, 3, P, 1, 0, ptrs[j], mark);
		want(ptrs[j] ? TRAP : NOTIFY, 441, 3, P, 1, 0, ptrs[j], mark);
	}
}

static void try_processes(uint64_t mark)
{
	/* Three good forms: a child of the kernel's, the same by vfork, a thread. */
	static const uint64_t flags[] = { 0x8011,     0xc111,	  0x3d0f00,  17,	0x4111,	   0x9011,	0x28011,
					  0x0a011,    0x2008011, 0x4008011, 0x8008011, 0x10008011, 0x20008011, 0x40008011 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		want(mark != M ? TRAP : i < 3 ? ALLOW : NOTIFY, SYS_clone, flags[i], P, 0, 0, 0, mark);
	for (uint64_t fd = STUB_FD - 1; fd <= STUB_FD + 1; fd++)
		for (uint64_t fl = 0; fl <= 0x1000; fl += 0x1000)
			want(mark != M ? TRAP : fd == STUB_FD && fl ? ALLOW : NOTIFY, SYS_execveat, fd, P, P, P, fl, mark);
	want(TRAP, SYS_execve, P, P, P, 0, 0, mark);
	want(TRAP, SYS_fork, 0, 0, 0, 0, 0, mark);
	want(TRAP, SYS_io_setup, 1, P, 0, 0, 0, mark);
	want(TRAP, SYS_io_destroy, P, 0, 0, 0, 0, mark);
	want(TRAP, SYS_shmat, 1, P, 0, 0, 0, mark);
	want(TRAP, SYS_shmdt, P, 0, 0, 0, 0, mark);
	want(TRAP, SYS_vfork, 0, 0, 0, 0, 0, mark);
	want(mark == M ? ALLOW : NOTIFY, SYS_close, 5, 0, 0, 0, 0, mark);
	for (uint64_t op = 0; op < 80; op++)
		want(op == 22 ? TRAP : mark == M && (op == 15 || op == 35) ? ALLOW : NOTIFY, SYS_prctl, op, P, 0, 0, 0, mark);
	for (uint64_t op = 0; op < 4; op++)
		for (uint64_t fl = 0; fl < 64; fl++)
			want(mark != M ? TRAP : op == 1 && !(fl & ~0x11UL) ? ALLOW : NOTIFY, SYS_seccomp, op, fl, P, 0, 0, mark);
	want(NOSYS, SYS_clone3, P, 88, 0, 0, 0, mark);
}

static void try_mmap(void)
{
	static const uint64_t flags[] = { 0x22, 0x21, 0x32, 2, 1, 0x12 };
	static const uint64_t fds[] = { ~0UL, 0xffffffff, 3, 64, STUB_MAP_HI | 64, STUB_MAP_HI | 0xffffffff,
					STUB_MAP_HI - 1, STUB_MAP_HI + 0x100000000 };

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 8; j++)
			want((flags[i] & 0x20) || j == 4 || j == 5 ? ALLOW : TRAP, SYS_mmap, 0, 4096, 3, flags[i], fds[j],
			     0);
}

/* What is not native, trapped or answered by the filter goes to the kernel, whatever its arguments. */
static void try_default(void)
{
	static const int never_native[] = { SYS_open,	 SYS_openat,  SYS_socket, SYS_connect, SYS_ptrace, SYS_kill,
					    SYS_tgkill,	 SYS_mount,   SYS_bpf,	  SYS_ioctl,   SYS_read,   SYS_write,
					    SYS_sendmsg, SYS_unshare, SYS_setns,  SYS_keyctl,  SYS_memfd_create,
					    SYS_process_vm_readv, SYS_io_uring_setup, SYS_userfaultfd };

	for (size_t i = 0; i < sizeof(never_native) / sizeof(int); i++) {
		want(NOTIFY, never_native[i], 0, 0, 0, 0, 0, 0);
		want(NOTIFY, never_native[i], P, P, P, P, P, M);
	}
	for (int nr = 500; nr < 0x8000; nr += 7)
		want(NOTIFY, nr, P, P, P, P, P, M);
}

/* A thread of its own is all that a sealed kernel can make. */
static void try_kernel(void)
{
	prog = kernel_prog;
	prog_len = sizeof(kernel_prog) / sizeof(kernel_prog[0]);
	want(ALLOW, SYS_clone, WORKER_CLONE_FLAGS, P, 0, P, 0, 0);
	for (int bit = 0; bit < 64; bit++)
		want(KILL, SYS_clone, WORKER_CLONE_FLAGS ^ 1UL << bit, P, 0, P, 0, 0);
	want(KILL, SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
	want(KILL, SYS_clone3, P, 88, 0, 0, 0, 0);
	want(KILL, SYS_fork, 0, 0, 0, 0, 0, 0);
	want(KILL, SYS_execve, P, P, P, 0, 0, 0);
	want(ALLOW, SYS_mmap, 0, 4096, 3, 0x22, UINT64_MAX, 0);
	want(TRAP, SYS_mmap, 0, 4096, 7, 0x22, UINT64_MAX, 0);
}

int main(void)
{
	static const uint64_t marks[] = { 0, 1, P, M };
	const uint64_t none[6] = { 0 };

	for (int i = 0; i < 4; i++)
		try_signals(marks[i]);
	ok(!wrong, "signal calls");
	for (int i = 0; i < 4; i++)
		try_processes(marks[i]);
	ok(!wrong, "process calls");
	try_mmap();
	ok(!wrong, "mmap");
	try_default();
	ok(!wrong, "everything else goes to the kernel");
	ok(run(AUDIT_ARCH_I386, SYS_getpid, none) == KILL, "int 0x80 kills");
	ok(run(AUDIT_ARCH_X86_64, (int)(0x40000000 | SYS_getpid), none) == KILL, "x32 kills");
	ok(run(AUDIT_ARCH_X86_64, SYS_getpid, none) == ALLOW, "getpid is native");
	try_kernel();
	ok(!wrong, "the kernel's own: threads and no processes, nothing executable");
	return tap_end();
}
