/* Raw system calls and the kernel's signal frame, for the freestanding stub. */
#ifndef VIV_STUB_SYS_H
#define VIV_STUB_SYS_H

#include <stddef.h>
#include <stdint.h>

#include "stub/stub.h"

#define NR_MMAP 9
#define NR_MUNMAP 11
#define NR_MPROTECT 10
#define NR_CLOSE 3
#define NR_SIGACTION 13
#define NR_SIGPROCMASK 14
#define NR_SHMAT 30
#define NR_GETPID 39
#define NR_CLONE 56
#define NR_FORK 57
#define NR_VFORK 58
#define NR_EXECVE 59
#define NR_SHMDT 67
#define NR_SIGPENDING 127
#define NR_SIGTIMEDWAIT 128
#define NR_SIGQUEUEINFO 129
#define NR_SIGSUSPEND 130
#define NR_EXIT 60
#define NR_NANOSLEEP 35
#define NR_PRCTL 157
#define NR_ARCH_PRCTL 158
#define NR_GETTID 186
#define NR_FUTEX 202
#define NR_IO_SETUP 206
#define NR_IO_DESTROY 207
#define NR_SET_TID_ADDRESS 218
#define NR_CLOCK_GETTIME 228
#define NR_CLOCK_NANOSLEEP 230
#define NR_EXIT_GROUP 231
#define NR_PSELECT6 270
#define NR_PPOLL 271
#define NR_SET_ROBUST_LIST 273
#define NR_GET_ROBUST_LIST 274
#define NR_EPOLL_PWAIT 281
#define NR_TGSIGQUEUEINFO 297
#define NR_SECCOMP 317
#define NR_MEMBARRIER 324
#define NR_EXECVEAT 322
#define NR_RSEQ 334
#define NR_EPOLL_PWAIT2 441
#define NR_MSEAL 462

#define EPERM_ 1
#define ENOENT_ 2
#define EINTR_ 4
#define EAGAIN_ 11
#define ENOMEM_ 12
#define EFAULT_ 14
#define EBADF_ 9
#define EEXIST_ 17
#define EINVAL_ 22
#define ENOSYS_ 38
/* Not for the guest: the call is made again after the signals that wait have been delivered. */
#define ERESTART_ 513

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
/* Marked as the stub's own. */
#define native(nr, a, b, c, d) \
	sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, (long)STUB_MAGIC)
/* Anonymous memory: six arguments, so the mark is in the descriptor that is not used. */
#define anon(addr, len, prot, flags) \
	sys6(NR_MMAP, (long)(addr), (long)(len), prot, (flags) | 0x20, STUB_MAP_FD(0xffffffffU), 0)
#define hyper(nr, a, b, c, d) sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

struct k_sigaction {
	uint64_t handler, flags, restorer, mask;
};

struct k_siginfo {
	int32_t signo, err, code, pad;
	uint8_t payload[112];
};

struct k_ucontext {
	uint64_t flags, link;
	uint64_t ss_sp;
	int32_t ss_flags, ss_pad;
	uint64_t ss_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
	uint64_t eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate;
	uint64_t reserved[8];
	uint64_t sigmask;
};

/* As the host pushes it; the extended state lies above. */
struct k_frame {
	uint64_t ret;
	struct k_ucontext uc;
	struct k_siginfo info;
};

#define SA_NOCLDSTOP_ 1UL
#define SA_SIGINFO_ 4UL
#define SA_ONSTACK_ 0x08000000UL
#define SA_RESTART_ 0x10000000UL
#define SA_RESTORER_ 0x04000000UL
#define SIGSYS_ 31
#define SIGBUS_ 7
#define SIGKILL_ 9
#define SIGSEGV_ 11
#define SIGCHLD_ 17
#define SIGCONT_ 18
#define SIGSTOP_ 19
#define BIT(sig) (1UL << ((sig)-1))
/* What a guest can never block. */
#define MASK_NEVER (BIT(SIGSYS_) | BIT(STUB_SIG) | BIT(SIGKILL_) | BIT(SIGSTOP_))

/* A call with a mask waits here; the reserved signal's handler finds it in r12. */
struct suspend {
	uint64_t mask; /* M, what the guest asked for */
	volatile int by64; /* the reserved signal came */
	volatile int woken;
};

/* Hidden: addressed relative to rip, without a global offset table. */
#pragma GCC visibility push(hidden)

/* entry.S */
_Noreturn void stub_jump(uint64_t sp, uint64_t entry);
void stub_restorer(void);
_Noreturn void stub_sigreturn(struct k_ucontext *uc);
void stub_cont_entry(void);
long stub_clone_thread(uint64_t flags, uint64_t sp, uint64_t ptid, uint64_t ctid, uint64_t tls,
		       uint64_t token);
_Noreturn void stub_vfork(uint64_t flags, uint64_t sp, uint64_t ptid, uint64_t ctid, uint64_t tls,
			  uint64_t token, void *stack_top, void *slot);
long stub_suspend(const uint64_t *mask, struct suspend *s);
void stub_wait(void);
extern char stub_wait_end[];
long stub_rest(void);
long stub_thaw_clone(uint64_t flags);
_Noreturn void stub_thaw_wait(void);
extern char stub_suspend_ret[];

/* Where a rewritten call arrives: rax is its number, rcx the address of its system call instruction
 * (fast.c). */
void stub_fast(void);
extern char stub_fast_in[], stub_fast_out[], stub_fast_end[];
extern char __start_fasttext[], __stop_fasttext[];

/* C side */
extern struct stub_boot stub_boot_data;
void stub_code_note(uint64_t start, uint64_t len);
void stub_stack_note(uint64_t sp);
void stub_rewrite(uint64_t ip, int single);
/* The box: asked for; not there for a child that has a copy of our memory. The second thread is
 * about to be made. */
void stub_post_open(void);
void stub_post_forked(void);
void stub_post_threads(void);
/* More memory for it. */
void stub_area_open(void);
void stub_area_forked(void);
/* Faults of the stub's own (guard.c). stub_guard_sigaction is a native sigaction that shows nothing
 * of it. */
void stub_guard_open(void);
void stub_guard_forked(void);
long stub_guard_sigaction(long sig, const struct k_sigaction *sa, struct k_sigaction *prev);
void stub_fault(int sig, struct k_siginfo *info, struct k_ucontext *uc);
/* Raises it on this thread, or for the process. */
void stub_reraise(struct k_siginfo *si, int process_wide);
void stub_fast_leave(struct k_ucontext *uc);
_Noreturn void stub_main(uint64_t *sp);
void stub_sigsys(int sig, struct k_siginfo *info, struct k_ucontext *uc);
void stub_nudged(struct k_ucontext *uc);
void stub_signal(int sig, struct k_siginfo *info, struct k_ucontext *uc);
void stub_handlers_install(void);
uint64_t stub_cont(int sig, struct k_siginfo *info, struct k_ucontext *uc);
uint64_t stub_vfork_parent(void *slot, long ret);
/* A child with a copy of the memory; the kernel is its parent. */
long stub_fork(void);
_Noreturn void stub_seed(uint64_t token);
/* rest.c. uc: the guest's context, whose interrupted sleep is made to go on; NULL: it is in no
 * sleep. */
void stub_rest_here(struct k_ucontext *uc);
_Noreturn void stub_thaw(void);
long stub_clone(struct k_frame *f, uint64_t flags, uint64_t stack, uint64_t ptid, uint64_t ctid,
		uint64_t tls);
/* A signal waits that is delivered as soon as the trap returns. */
int stub_is_interrupted(const struct k_ucontext *uc);
long stub_sigaction(const struct k_ucontext *uc, long sig, uint64_t act, uint64_t old,
		    uint64_t size);
long stub_sigprocmask(struct k_ucontext *uc, long how, uint64_t set, uint64_t old, uint64_t size);
long stub_sigsuspend(uint64_t set, uint64_t size);
long stub_sigtimedwait(struct k_ucontext *uc, uint64_t set, uint64_t info, uint64_t timeout,
		       uint64_t size);
long stub_masked_call(struct k_ucontext *uc);
/* This process (or one that shared its memory) has a seccomp filter of its own: the host's trap is
 * not the last word on a call, and whatever answers calls without asking must not. May be set
 * without need, never the other way. */
extern int stub_filtered;
long stub_seccomp(long op, long flags, uint64_t arg);
/* What the guest's filters say of a trapped call: 1 it goes on; 0 it has its result in uc, or a
 * handler runs at the return. */
int stub_seccomp_pass(struct k_frame *f);
/* Runs the guest's handler of SIGSYS on the frame that the host made for ours. Returns only if it
 * is ignored. */
void stub_guest_sigsys(struct k_frame *f, int forced);
size_t stub_frame_size(const struct k_frame *f);
struct k_sigaction *stub_sigsys_action(void);

#pragma GCC visibility pop

/* Guest pointers are tried with a call that has no effect while everything is blocked: a bad one
 * gives EFAULT and not a fault in the stub. Both try eight bytes. */
static inline int can_read(uint64_t p)
{
	return native(NR_SIGPROCMASK, 0, p, 0, 8) == 0;
}
static inline int can_write(uint64_t p)
{
	return native(NR_SIGPROCMASK, 0, 0, p, 8) == 0;
}

static inline void copy(void *d, const void *s, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}
static inline void zero(void *d, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
}

#endif
