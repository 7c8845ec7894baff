/* The runners' filter, and the kernel's own and the gate's as far as they look at arguments, tried by a small
 * interpreter: which calls are native, trapped, notified or fatal. libseccomp, which makes the
 * kernel's, does not go back from a branch that fails; and the runners' is made of jumps over
 * counted instructions. So every combination of the arguments that rules look at is tried. */
/* objects: src/base/log.c */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "host/openhow.h"
#include "host/worker.h"
#include "stub/fast.h"
#include "tap.h"

#define M STUB_MAGIC
#define P 0x7fff00001000UL

enum verdict { ALLOW, TRAP, NOTIFY, KILL, NOSYS, NOMEM, OTHER };

static const struct sock_filter runner_prog[] = {
#include "runner_filter.h"
};
static const struct sock_filter kernel_prog[] = {
#include "kernel_filter.h"
};
static const struct sock_filter gate_prog[] = {
#include "gate_filter.h"
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
		return (ret & SECCOMP_RET_DATA) == ENOSYS ? NOSYS : (ret & SECCOMP_RET_DATA) == ENOMEM ? NOMEM : OTHER;
	default:
		return OTHER;
	}
}

static enum verdict run(uint32_t arch, int nr, const uint64_t *args)
{
	struct seccomp_data d = { .nr = nr, .arch = arch, .instruction_pointer = 0x1234 };
	uint32_t acc = 0, x = 0, mem[16] = { 0 };

	memcpy(d.args, args, sizeof(d.args));
	for (size_t pc = 0; pc < prog_len;) {
		const struct sock_filter *f = &prog[pc++];
		bool yes = false;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			if (BPF_MODE(f->code) == BPF_MEM)
				acc = mem[f->k];
			else
				memcpy(&acc, (const char *)&d + f->k, 4);
			break;
		case BPF_ST:
			mem[f->k] = acc;
			break;
		case BPF_MISC:
			x = acc; /* the only one there is */
			break;
		case BPF_ALU: /* a mask, or a sum */
			if (BPF_OP(f->code) == BPF_AND)
				acc &= f->k;
			else
				acc += BPF_SRC(f->code) == BPF_X ? x : f->k;
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
				yes = acc >= (BPF_SRC(f->code) == BPF_X ? x : f->k);
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
	/* Something in the upper half, and how it looks to the rules beside it. */
	for (uint64_t sig = 0; sig < 70; sig++) {
		bool plain = sig < 18 && sig != SIGBUS && sig != SIGSEGV;

		want(mark == M || plain ? ALLOW : TRAP, SYS_rt_sigaction, sig, 0, 0, 0, 0, mark);
		want(mark == M ? ALLOW : TRAP, SYS_rt_sigaction, sig, 1, 0, 0, 0, mark);
		want(mark == M ? ALLOW : TRAP, SYS_rt_sigaction, sig, 1UL << 32, 0, 0, 0, mark);
		want(mark == M ? ALLOW : TRAP, SYS_rt_sigaction, sig | 1UL << 32, 0, 0, 0, 0, mark);
		want(mark == M || sig == 1 ? ALLOW : TRAP, SYS_rt_sigprocmask, sig, 1, 0, 0, 0, mark);
		want(mark == M ? ALLOW : TRAP, SYS_rt_sigprocmask, sig | 1UL << 32, 1UL << 32, 0, 0, 0, mark);
	}
	want(mark == M ? ALLOW : TRAP, SYS_rt_sigsuspend, P, 8, 0, 0, 0, mark);
	want(mark == M ? ALLOW : NOTIFY, SYS_pause, 0, 0, 0, 0, 0, mark);
	want(mark == M ? ALLOW : NOTIFY, SYS_pause, P, 1, P, P, 8, mark);
	want(mark == M ? ALLOW : TRAP, SYS_rt_sigtimedwait, P, P, 0, 8, 0, mark);
	want(mark == M ? ALLOW : TRAP, 462 /* mseal */, P, 4096, 0, 0, 0, mark);
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
		want(mark == M && i < 3 ? ALLOW : TRAP, SYS_clone, flags[i], P, 0, 0, 0, mark);
	for (uint64_t fd = STUB_FD - 1; fd <= STUB_FD + 1; fd++)
		for (uint64_t fl = 0; fl <= 0x1000; fl += 0x1000)
			want(mark == M && fd == STUB_FD && fl ? ALLOW : TRAP, SYS_execveat, fd, P, P, P, fl, mark);
	want(TRAP, SYS_execve, P, P, P, 0, 0, mark);
	want(TRAP, SYS_fork, 0, 0, 0, 0, 0, mark);
	want(TRAP, SYS_io_setup, 1, P, 0, 0, 0, mark);
	want(TRAP, SYS_io_destroy, P, 0, 0, 0, 0, mark);
	want(TRAP, SYS_shmat, 1, P, 0, 0, 0, mark);
	want(TRAP, SYS_shmdt, P, 0, 0, 0, 0, mark);
	want(TRAP, SYS_vfork, 0, 0, 0, 0, 0, mark);
	want(mark == M ? ALLOW : NOTIFY, SYS_close, 5, 0, 0, 0, 0, mark);
	want(TRAP, SYS_close, STUB_FD, 0, 0, 0, 0, mark);
	want(TRAP, SYS_close, STUB_FD | 1UL << 32, 0, 0, 0, 0, mark);
	for (uint64_t op = 0; op < 80; op++)
		want(op == 22 || op == 0 || op > 61 ? TRAP : mark == M && (op == 15 || op == 35 || op == 40) ? ALLOW : NOTIFY, SYS_prctl, op, P, 0,
		     0, 0, mark);
	want(NOTIFY, SYS_prctl, 0x53564d41, 0, P, 4096, P, mark);
	want(TRAP, SYS_prctl, 22 | 1UL << 32, 2, P, 0, 0, mark);
	for (uint64_t op = 0; op < 4; op++)
		for (uint64_t fl = 0; fl < 64; fl++)
			want(mark == M && op == 1 && !(fl & ~0x11UL) ? NOTIFY : TRAP, SYS_seccomp, op, fl, P, 0, 0, mark);
	want(NOSYS, SYS_clone3, P, 88, 0, 0, 0, mark);
}

static void try_mmap(void)
{
	static const uint64_t flags[] = { 0x22, 0x21, 0x32, 2, 1, 0x12 };
	static const uint64_t fds[] = { ~0UL, 0xffffffff, 3, 64, STUB_MAP_HI | 64, STUB_MAP_HI | 0xffffffff,
					STUB_MAP_HI - 1, STUB_MAP_HI + 0x100000000 };

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 8; j++) {
			bool marked = j == 4 || j == 5;

			want((flags[i] & 0x20) || marked ? ALLOW : TRAP, SYS_mmap, 0, 4096, 3, flags[i], fds[j], 0);
			/* The host's huge pages, of any size. */
			for (uint64_t size = 0; size < 64; size += 21)
				want(flags[i] & 0x20 ? NOMEM : marked ? ALLOW : TRAP, SYS_mmap, 0, 4096, 3,
				     flags[i] | 0x40000 | size << 26, fds[j], 0);
		}
	for (uint64_t advice = 0; advice < 128; advice++) {
		bool good = advice <= 4 || (advice >= 8 && advice <= 11) || (advice >= 14 && advice <= 25) || advice == 102 ||
			    advice == 103;

		want(good ? ALLOW : TRAP, SYS_madvise, P, 4096, advice, 0, 0, 0);
		want(good ? ALLOW : TRAP, SYS_madvise, P, 4096, advice | 1UL << 40, 0, 0, M);
		/* No advice but DONTFORK can take what the host reads filters from out of a
		 * child. */
		if (advice != 10)
			want(good ? ALLOW : TRAP, SYS_madvise, FILTER_BASE, FILTER_SIZE, advice, 0, 0, M);
	}
}

static void try_dontfork(void)
{
	static const uint64_t edges[] = { 0, 1UL << 12, 1UL << 31, 1UL << 32, 0x7e9fUL << 32, 0x7ea0UL << 32, 0x7ea1UL << 32, STUB_BASE,
					  FAST_BASE, FILTER_BASE, FILTER_BASE + FILTER_SIZE, P };
	const size_t n = sizeof(edges) / sizeof(edges[0]);

	for (size_t i = 0; i < n * 3; i++)
		for (size_t j = 0; j < n * 3; j++) {
			uint64_t a = edges[i / 3] + (i % 3 - 1UL) * 4096, end = edges[j / 3] + (j % 3 - 1UL) * 4096;
			bool hits = a < FILTER_BASE + FILTER_SIZE && end > FILTER_BASE;

			if (end > a && end < 1UL << 62)
				want(hits ? TRAP : ALLOW, SYS_madvise, a, end - a, 10, 0, 0, j % 2 ? M : 0);
		}
}

/* Modes: with a set-id bit a call does not go to the kernel, which could let it through. */
static void try_modes(uint64_t mark)
{
	static const struct {
		int nr, arg;
	} calls[] = { { SYS_open, 2 },	{ SYS_openat, 3 },  { SYS_creat, 1 },  { SYS_mkdir, 1 },    { SYS_mkdirat, 2 },
		      { SYS_mknod, 1 }, { SYS_mknodat, 2 }, { SYS_chmod, 1 },  { SYS_fchmod, 1 },   { SYS_fchmodat, 2 },
		      { 452, 2 } };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int bit = -1; bit < 64; bit++) {
			uint64_t a[5] = { P, P, P, P, P };

			a[calls[i].arg] = 0755 | (bit < 0 ? 0 : 1UL << bit);
			want(bit == 10 || bit == 11 ? TRAP : NOTIFY, calls[i].nr, a[0], a[1], a[2], a[3], a[4], mark);
		}
	want(TRAP, SYS_openat2, 3, P, P, 24, 0, mark);
}

/* What goes to the kernel at once is what it could let through without harm; everything else has to
 * come by the stub, or by a number that no Linux has. */
static void try_default(void)
{
	static const int plain[] = { SYS_read, SYS_write, SYS_stat, SYS_newfstatat, SYS_sendmsg, SYS_kill, SYS_tgkill, SYS_wait4,
				     SYS_process_vm_readv, SYS_getppid };
	static const int never[] = {
		SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_setsockopt, SYS_ptrace, SYS_mount, SYS_umount2,
		SYS_pivot_root, SYS_chroot, SYS_bpf, SYS_unshare, SYS_setns, SYS_keyctl, SYS_add_key, SYS_request_key,
		SYS_memfd_create, SYS_io_uring_setup, SYS_userfaultfd, SYS_perf_event_open, SYS_open_tree, SYS_move_mount,
		SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_open_by_handle_at, SYS_name_to_handle_at,
		SYS_fanotify_init, SYS_pidfd_getfd, SYS_pidfd_open, SYS_kcmp, SYS_personality, SYS_setuid, SYS_setresuid,
		SYS_setgroups, SYS_capset, SYS_sethostname, SYS_chown, SYS_fchownat, SYS_setxattr, SYS_fsetxattr, SYS_pipe2,
		SYS_eventfd2, SYS_epoll_create1, SYS_inotify_init1, SYS_timer_create, SYS_timerfd_create, SYS_signalfd4, SYS_mq_open,
		SYS_shmget, SYS_semget, SYS_msgget, SYS_splice, SYS_vmsplice, SYS_tee, SYS_sync, SYS_sched_setscheduler,
		SYS_sched_setattr, SYS_ioprio_set, SYS_modify_ldt, SYS_syslog, SYS_reboot, SYS_init_module, SYS_quotactl,
		SYS_process_madvise, SYS_move_pages, SYS_mbind, SYS_landlock_create_ruleset, 447 /* memfd_secret */
	};
	static const uint64_t terminal[] = { 0x5401, 0x5402, 0x5413, 0x541b, 0x5421, 0x540f, 0x5410 };

	for (size_t i = 0; i < sizeof(plain) / sizeof(int); i++) {
		want(NOTIFY, plain[i], 0, 0, 0, 0, 0, 0);
		want(NOTIFY, plain[i], P, P, P, P, P, M);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(int); i++) {
		want(TRAP, never[i], 0, 0, 0, 0, 0, 0);
		want(TRAP, never[i], P, P, P, P, P, M);
	}
	for (size_t i = 0; i < sizeof(terminal) / sizeof(terminal[0]); i++)
		want(NOTIFY, SYS_ioctl, 0, terminal[i] | 1UL << 32, P, 0, 0, 0);
	want(TRAP, SYS_ioctl, 0, 0x5412 /* TIOCSTI */, P, 0, 0, M);
	want(TRAP, SYS_ioctl, 0, 0x540e /* TIOCSCTTY */, P, 0, 0, M);
	for (int nr = 463; nr < HC_BASE; nr += 7)
		want(TRAP, nr, P, P, P, P, P, M);
	for (int nr = HC_BASE; nr < 0x20000; nr += 7)
		want(NOTIFY, nr, P, P, P, P, P, M);
	want(NOTIFY, 0xffffff, P, P, P, P, P, M);
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
	/* A connection is led nowhere else: no address, no TCP fast open. */
	want(ALLOW, SYS_sendto, 9, P, 1, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
	want(TRAP, SYS_sendto, 9, P, 1, MSG_FASTOPEN, 0, 0);
	want(TRAP, SYS_sendto, 9, P, 1, 0, P, 16);
	want(TRAP, SYS_sendto, 9, P, 1, MSG_FASTOPEN, P, 16);
	want(ALLOW, SYS_sendmsg, 9, P, MSG_NOSIGNAL, 0, 0, 0);
	want(TRAP, SYS_sendmsg, 9, P, MSG_FASTOPEN | MSG_NOSIGNAL, 0, 0, 0);
	for (uint64_t fd = 0; fd < 64; fd++)
		want(fd == 3 || fd == 6 ? ALLOW : TRAP, SYS_recvmsg, fd, P, 0, 0, 0, 0);
	want(KILL, SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0);
	want(KILL, SYS_connect, 9, P, 16, 0, 0, 0);
	want(TRAP, SYS_setsockopt, 9, SOL_SOCKET, SO_BINDTODEVICE, P, 4, 0);
	want(TRAP, SYS_setsockopt, 9, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, P, 4, 0);
}

/* Memory: openat2 reads from one page, which is out of reach for the calls that change memory. No
 * huge pages. */
static void try_kernel_memory(void)
{
	static const uint64_t low[] = { 0, 1, 0x1000, 0x10000, OPENHOW_BASE - 0x1000, OPENHOW_BASE, OPENHOW_BASE + 0xfff };
	static const uint64_t high[] = { OPENHOW_END, 0x400000, P, 0xffffffff00000000 };

	for (size_t i = 0; i < sizeof(low) / sizeof(low[0]); i++)
		for (int prot = 0; prot < 8; prot++) {
			want(!low[i] && prot < 4 ? ALLOW : TRAP, SYS_mmap, low[i], ~0UL, (uint64_t)prot, 0x22, ~0UL, 0);
			want(TRAP, SYS_mmap, low[i], ~0UL, (uint64_t)prot, 0x32, ~0UL, 0);
			want(TRAP, SYS_mmap, low[i], ~0UL, (uint64_t)prot, 0x40022, ~0UL, 0);
			want(TRAP, SYS_mprotect, low[i], ~0UL, (uint64_t)prot, 0, 0, 0);
			want(TRAP, SYS_munmap, low[i], ~0UL, (uint64_t)prot, 0, 0, 0);
			want(TRAP, SYS_madvise, low[i], ~0UL, (uint64_t)prot, 0, 0, 0);
		}
	for (size_t i = 0; i < sizeof(high) / sizeof(high[0]); i++)
		for (int prot = 0; prot < 8; prot++) {
			want(prot < 4 ? ALLOW : TRAP, SYS_mmap, high[i], ~0UL, (uint64_t)prot, 0x32, ~0UL, 0);
			want(TRAP, SYS_mmap, high[i], ~0UL, (uint64_t)prot, 0x40032, ~0UL, 0);
			want(prot < 4 ? ALLOW : TRAP, SYS_mprotect, high[i], ~0UL, (uint64_t)prot, 0, 0, 0);
			want(ALLOW, SYS_munmap, high[i], ~0UL, (uint64_t)prot, 0, 0, 0);
		}
	/* Advice that frees memory, not pages of a file that others read. */
	for (size_t i = 0; i < sizeof(high) / sizeof(high[0]); i++)
		for (uint64_t advice = 0; advice < 128; advice++) {
			bool good = advice == 0 || advice == 4 || advice == 8 || (advice >= 14 && advice <= 17);

			want(good ? ALLOW : TRAP, SYS_madvise, high[i], ~0UL, advice, 0, 0, 0);
			want(good ? ALLOW : TRAP, SYS_madvise, high[i], ~0UL, advice | 1UL << 32, 0, 0, 0);
		}
	want(TRAP, SYS_mremap, P, 4096, 4096, 3, OPENHOW_BASE, 0);
	for (uint64_t at = OPENHOW_BASE - 64; at < OPENHOW_END + 64; at++) {
		bool good = at >= OPENHOW_BASE && at < OPENHOW_END && at % OPENHOW_STEP == 0;

		want(good ? ALLOW : TRAP, SYS_openat2, 3, P, at, OPENHOW_SIZE, 0, 0);
		want(TRAP, SYS_openat2, 3, P, at | 1UL << 32, OPENHOW_SIZE, 0, 0);
		want(TRAP, SYS_openat2, 3, P, at, OPENHOW_SIZE + 8, 0, 0);
	}
	want(ALLOW, SYS_memfd_create, P, 3, 0, 0, 0, 0);
	want(TRAP, SYS_memfd_create, P, 4, 0, 0, 0, 0);
}

/* No set-id bit, whatever else is in the register. */
static void try_kernel_modes(void)
{
	static const struct {
		int nr, arg;
	} calls[] = { { SYS_openat, 3 }, { SYS_mkdirat, 2 }, { SYS_mknodat, 2 }, { SYS_fchmod, 1 }, { 452, 2 } };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int bit = 0; bit < 64; bit++) {
			uint64_t a[5] = { P, P, P, P, P };

			a[calls[i].arg] = 0755 | 1UL << bit;
			want(bit == 10 || bit == 11 ? TRAP : ALLOW, calls[i].nr, a[0], a[1], a[2], a[3], a[4], 0);
		}
	want(TRAP, SYS_chmod, P, 0755, 0, 0, 0, 0);
	want(TRAP, SYS_fchown, 5, 0, 0, 0, 0, 0);
	want(TRAP, SYS_fchownat, 5, P, 0, 0, 0, 0);
}

/* The gate uses the network in a few ways, and makes no other socket. */
static void try_gate_sockets(void)
{
	for (int family = 0; family < 46; family++)
		for (int type = 0; type < 12; type++)
			for (int protocol = 0; protocol < 300; protocol++) {
				bool inet = family == AF_INET || family == AF_INET6;
				bool good = inet && ((type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP)) ||
						     (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP)));
				bool pair = family == AF_UNIX && !protocol && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
				uint64_t f = (uint64_t)family, t = (uint64_t)type, p = (uint64_t)protocol;

				want(good ? ALLOW : TRAP, SYS_socket, f, t, p, 0, 0, 0);
				want(good ? ALLOW : TRAP, SYS_socket, f | 1UL << 32, t | SOCK_NONBLOCK | SOCK_CLOEXEC, p, 0, 0, 0);
				want(TRAP, SYS_socket, f, t | 0x10, p, 0, 0, 0);
				want(pair ? ALLOW : TRAP, SYS_socketpair, f, t | SOCK_CLOEXEC, p, P, 0, 0);
			}
	for (uint64_t fd = 0; fd < 64; fd++) {
		want(fd == 3 || fd == 5 ? ALLOW : TRAP, SYS_sendmsg, fd, P, 0, 0, 0, 0);
		want(fd == 3 || fd == 5 ? ALLOW : TRAP, SYS_recvmsg, fd, P, 0, 0, 0, 0);
	}
	want(ALLOW, SYS_setsockopt, 7, SOL_SOCKET, SO_KEEPALIVE, P, 4, 0);
	want(TRAP, SYS_setsockopt, 7, SOL_SOCKET, 25 /* SO_BINDTODEVICE */, P, 4, 0);
	want(TRAP, SYS_setsockopt, 7, SOL_SOCKET, 26 /* SO_ATTACH_FILTER */, P, 4, 0);
	want(TRAP, SYS_setsockopt, 7, SOL_SOCKET, 36 /* SO_MARK */, P, 4, 0);
	want(TRAP, SYS_setsockopt, 7, 0, 19 /* IP_TRANSPARENT */, P, 4, 0);
	want(TRAP, SYS_setsockopt, 7, 6, 31 /* TCP_ULP */, P, 4, 0);
}

static void try_gate(void)
{
	static const int deadly[] = { SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_execve, SYS_execveat, SYS_ptrace,
				      SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_bind, SYS_listen, SYS_accept,
				      SYS_accept4, SYS_unshare, SYS_setns, SYS_mount, SYS_chroot, SYS_bpf, SYS_io_uring_setup,
				      SYS_userfaultfd, SYS_perf_event_open, SYS_keyctl, SYS_memfd_create, SYS_seccomp, SYS_kill,
				      SYS_setresuid, SYS_open_by_handle_at };
	static const int files[] = { SYS_open, SYS_openat, SYS_openat2, SYS_stat, SYS_newfstatat, SYS_readlink, SYS_unlink, SYS_renameat2 };
	static const int none[] = { SYS_prctl, SYS_prlimit64, SYS_shmctl, SYS_sendmmsg, SYS_recvmmsg, SYS_fchmod, SYS_getdents64, SYS_tkill,
				    SYS_timer_create, SYS_inotify_init1, SYS_getxattr, SYS_fsetxattr, SYS_vmsplice };

	prog = gate_prog;
	prog_len = sizeof(gate_prog) / sizeof(gate_prog[0]);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(int); i++)
		want(KILL, deadly[i], P, P, P, 0, 0, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(int); i++)
		want(OTHER, files[i], (uint64_t)-100, P, 0, 0, 0, 0); /* ENOENT */
	for (size_t i = 0; i < sizeof(none) / sizeof(int); i++)
		want(TRAP, none[i], 0, 0, 0, 0, 0, 0);
	for (uint64_t prot = 0; prot < 8; prot++) {
		want(prot < 4 ? ALLOW : TRAP, SYS_mmap, 0, 4096, prot, 0x22, ~0UL, 0);
		want(TRAP, SYS_mmap, 0, 4096, prot, 0x21, ~0UL, 0); /* shared */
		want(TRAP, SYS_mmap, 0, 4096, prot, 0x02, 7, 0); /* a file */
		want(TRAP, SYS_mmap, 0, 4096, prot, 0x40022, ~0UL, 0);
		want(prot < 4 ? ALLOW : TRAP, SYS_mprotect, P, 4096, prot, 0, 0, 0);
	}
	for (uint64_t op = 0; op < 64; op++)
		want(op == F_GETFD || op == F_SETFD || op == F_GETFL || op == F_SETFL ? ALLOW : TRAP, SYS_fcntl, 7, op, 0, 0, 0, 0);
	want(TRAP, SYS_fcntl, 7, F_SETFL, 0x2000 /* O_ASYNC */, 0, 0, 0);
	want(TRAP, SYS_ioctl, 7, 0x8914 /* SIOCSIFFLAGS */, P, 0, 0, 0);
	want(TRAP, SYS_ioctl, 7, 0x5412 /* TIOCSTI */, P, 0, 0, 0);
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
	try_dontfork();
	ok(!wrong, "mmap and madvise");
	for (int i = 0; i < 4; i++)
		try_modes(marks[i]);
	ok(!wrong, "modes");
	try_default();
	ok(!wrong, "the kernel gets what it may let through, the stub the rest");
	ok(run(AUDIT_ARCH_I386, SYS_getpid, none) == KILL, "int 0x80 kills");
	ok(run(AUDIT_ARCH_X86_64, (int)(0x40000000 | SYS_getpid), none) == NOSYS &&
		   run(AUDIT_ARCH_X86_64, 0x7fffffff, none) == NOSYS && run(AUDIT_ARCH_X86_64, -1, none) == NOSYS,
	   "x32 is not there");
	ok(run(AUDIT_ARCH_X86_64, SYS_getpid, none) == ALLOW, "getpid is native");
	try_kernel();
	ok(!wrong, "the kernel's own: threads and no processes, nothing executable");
	try_kernel_memory();
	ok(!wrong, "the kernel's own: memory");
	try_kernel_modes();
	ok(!wrong, "the kernel's own: no set-id bits");
	try_gate();
	ok(!wrong, "the gate's: no programs, no files, nothing executable");
	try_gate_sockets();
	ok(!wrong, "the gate's: TCP and UDP, pairs, and no other socket");
	return tap_end();
}
