/* What the stub and the kernel say to each other.
 *
 * The stub is the few kilobytes of our code at STUB_BASE in every runner. It asks the kernel by
 * system calls: under the guest's own number where the kernel's handler does the work, or under the
 * HC_ numbers below, which no Linux has. The stub is a convenience, never a boundary: the guest can
 * make every one of these calls with any argument, so the kernel checks them like any other call,
 * and what the filter lets through natively is harmless from anywhere.
 *
 * Calls that the stub needs done natively although the filter would trap them are marked by
 * STUB_MAGIC in the sixth argument, which those calls do not have. Every native call of the stub
 * carries it, also those that need it not: a guest's own seccomp filter lets them through by it
 * (src/kernel/task/seccomp.c has the list). */
#ifndef VIV_STUB_STUB_H
#define VIV_STUB_STUB_H

#define STUB_BASE 0x7ea000000000
/* hidden from /proc/PID/maps: stub/fast.h from 1 MiB on, stub/post.h's area from 4 MiB on */
#define STUB_SPAN 0x600000
#define STUB_MAGIC 0x7669766172697576

/* mmap has six arguments: there the mark is in the upper half of the descriptor, which the host
 * ignores. */
#define STUB_MAP_HI 0x7669766100000000
#define STUB_MAP_FD(fd) ((long)(STUB_MAP_HI | (unsigned long)(fd)))

/* Descriptor numbers in a runner. Below STUB_FD there are only files on their way to being
 * mapped. */
#define STUB_FD 63 /* the stub itself, for execveat */
#define STUB_SLOT_FD 64 /* 64..191: immutable image files that stay open */
#define STUB_SLOTS 128

/* A call that the filter traps, and that is the kernel's to do: the stub has it made again, by the
 * program's own instruction, under its number and this (trap.c). No Linux has such a number, so the
 * kernel alone can answer it. */
#define HC_FORWARD 0x8000
#define HC_FORWARD_END (HC_FORWARD + HC_BASE)

#define HC_BASE 0x7600
/* (flags, exit_signal, where a pidfd is to go) -> token > 0, or -errno */
#define HC_CLONE_PREP 0x7601
#define HC_CHILD 0x7602 /* (token): the child announces itself */
#define HC_CLONE_CANCEL 0x7603 /* (token, 0: the host refused; 1: a signal comes first) */
#define HC_EXEC_PREP 0x7604 /* (dirfd, path, flags, signal mask) -> 0 or -errno */
#define HC_EXEC_CANCEL 0x7605 /* the host refused (E2BIG, ENOMEM) */
/* (struct stub_boot *, after a STUB_SPLIT what the fork gave): first words of a new program */
#define HC_EXEC_BOOT 0x7606
#define HC_EXEC_DONE 0x7607 /* (struct stub_done *): what the memory looks like now */
#define HC_MMAP 0x7608 /* (addr, len, prot, flags, fd, off) -> descriptor | STUB_FD_KEEP */
/* (sig, handler, flags, 1: the stub's, for the guest it is the default): is set from now on */
#define HC_SIGACTION 0x7609
/* (sig, siginfo *): blocked here -> 0 taken over, 1 make it pending yourself */
#define HC_REROUTE 0x760a
/* (sig, 0): it was consumed by sigtimedwait; (0, timer + 1, which signal of it) -> the overrun to
 * show */
#define HC_TAKEN 0x760b
/* pselect6 with a mask: its own sixth argument has no room for the mark */
#define HC_PSELECT6 0x760c
#define HC_SHMAT 0x760d /* (id, addr, flags, struct stub_shm *) -> descriptor to map */
#define HC_SHMAT_DONE 0x760e /* (addr): it is mapped there; 0: it could not be */
#define HC_SHMDT 0x760f /* (addr) -> bytes to unmap */
/* (op, flags, argument) -> which slot has the program to install, from 1 on (stub/fast.h), 0, or
 * -errno */
#define HC_SECCOMP 0x7610
#define HC_SECCOMP_DONE 0x7611 /* (what the host answered to that) */
#define HC_SECCOMP_ASK 0x7612 /* (struct stub_call *) -> what the guest's filters say */
#define HC_SIGSYS_DIE 0x7613 /* a SIGSYS without a handler */
/* (sig, siginfo *, 1: of this thread alone): taken out of what is pending, for a signalfd -> 0,
 * -errno */
#define HC_HOLD 0x7614
#define HC_IO_SETUP 0x7615 /* (events, where the name goes, a page that is the name) */
#define HC_IO_DESTROY 0x7616 /* (name) */
#define HC_POST 0x7617 /* (0: box, 1: area) -> descriptor of memory to map (stub/post.h) */
/* (struct stub_order *, token that it was given as a new seed): waits until a process is wanted ->
 * 0 */
#define HC_SEED 0x7618
#define HC_SEED_FILL 0x7619 /* (token, address of room for the words) -> 0, or -errno */
#define HC_SEED_BORN 0x761a /* (token): who becomes the process -> 0, or it ends */
#define HC_SEED_FAIL 0x761b /* (token, -errno): there was no room, or the host does not fork */
/* (struct stub_wait *): what became of the call that waits in stub_wait() -> 0, or -EINVAL: none
 * does */
#define HC_WAIT_END 0x761c
/* (stack pointer of stub_rest()): the thread is at rest -> 0: it goes on. See stub/rest.c */
#define HC_REST 0x761d
/* (struct stub_work *, address of the stub's data, result of the last work): a process that is
 * being thawed asks for work -> THAW_*, or how many calls to make */
#define HC_THAW 0x761e
#define HC_THAW_WAIT 0x761f /* a thread of it that has nothing more to do -> its stack pointer */
#define HC_THAWED 0x7620 /* what belongs to the thread is as it was -> 0, when all are there */
#define HC_LAST 0x7620

/* Answers to HC_EXEC_BOOT other than 0. */
#define STUB_BE_SEED 1 /* this runner is the seed (stub/seed.c) */
/* first fork a seed, with the token in the first words of struct stub_boot, then ask again, with
 * what the fork gave */
#define STUB_SPLIT 2

#define STUB_FD_KEEP 0x10000 /* the descriptor stays open: do not close it */
#define STUB_FD_CODE 0x20000 /* a C library: its calls may be rewritten (stub/fast.c) */
/* answer to a call with a mask: nothing yet, wait for the wake-up signal */
#define STUB_ARMED 0x7654321

/* HC_SECCOMP: TSYNC failed for this thread; its number is added. */
#define STUB_SYNC_FAILED 0x10000000

/* The one reserved signal. Its siginfo carries the real one: si_errno packs what SIG_PACK says,
 * bytes 16..47 are the real payload. */
#define STUB_SIG 64
#define SIG_PACK(sig, flags, code) \
	((unsigned)(sig) | (unsigned)(flags) << 8 | (unsigned)((code)&0xffff) << 16)
#define SIGF_RESTART 1 /* your parked call was cut short; it may be restarted */
#define SIGF_EINTR 2 /* the same, but it gives EINTR after any handler */
#define SIGF_THREAD 8 /* meant for this thread alone */
#define SIGF_WAKE 4 /* no signal: the armed call has something to say */
#define SIGF_PATCH 16 /* no signal: struct stub_patch says which call to rewrite */
/* no signal: give what is pending of two sets (payload: thread's, process's) to HC_HOLD */
#define SIGF_COLLECT 32
#define SIGF_RESUME 64 /* a SIGCONT that only continues what was paused: no handler runs */
/* About a call that waits in the stub (docs/decisions/0032-long-waits.md). Without a signal: leave
 * your call, which was cut short, and wait in stub_wait(); with SIGF_WAKE: that call has ended.
 * Both have a struct stub_wait as payload. In a SIGCONT: ask for it. */
#define SIGF_WAIT 128
#define STUB_AGAIN (-512) /* a result: the call is made again */
/* The code of a reserved signal without a signal in it and without flags: come to rest. */
#define STUB_CODE_REST 1

/* Answers to HC_THAW; above 0: make so many calls of the work. */
#define THAW_CLONE 0 /* make a thread */
#define THAW_LEAVE (-1) /* go to HC_THAW_WAIT */
#define THAW_CALLS 48 /* at once */

#ifndef __ASSEMBLER__
#include <stdint.h>

#define STUB_MAX_SEGS 24
#define STUB_MAX_EXTRA 2048 /* bytes of #! strings and the execfn */

struct stub_seg {
	uint64_t addr; /* page aligned, relative to the object's base */
	uint64_t file_len, mem_len; /* file part (from addr), and whole with zeros */
	uint64_t off;
	uint32_t prot;
	uint32_t obj; /* 0 program, 1 interpreter */
};

struct stub_obj {
	int32_t fd;
	uint32_t keep; /* do not close fd */
	uint64_t hint; /* where it goes: fixed for the program, 0 anywhere for an interpreter */
	uint32_t fixed; /* hint is not negotiable (ET_EXEC) */
	uint32_t present;
	uint64_t span; /* bytes from base */
	uint64_t vaddr; /* lowest address in the file: what base stands for */
	uint64_t entry; /* as in the file */
};

/* In the payload of a signal with SIGF_PATCH. */
struct stub_patch {
	uint64_t ip; /* behind the system call instruction; 0: none is rewritten */
	uint32_t single; /* nobody else runs in this address space */
	uint32_t post; /* a box is to be had: 1; an area: 2 */
};

/* A call that waits in stub_wait(): what the guest's context was changed for, and its result. */
struct stub_wait {
	uint64_t ip; /* behind the system call instruction */
	uint64_t r9;
	int64_t ret; /* or STUB_AGAIN */
	uint64_t nr; /* what rax was */
};

/* See stub/fast.h; it is the first thing in struct stub_boot, which stays where it is for as long
 * as the program runs. */
struct fast_own;

struct stub_boot {
	uint32_t own[9]; /* struct fast_own */
	struct stub_obj obj[2];
	uint32_t nseg;
	uint32_t nprefix; /* strings that replace argv[0] (#!): 0 none */
	struct stub_seg seg[STUB_MAX_SEGS];
	uint64_t phdr; /* address of program headers as in the file */
	uint64_t phnum;
	uint64_t brk_gap; /* random distance of the heap from the program's end */
	uint64_t start_code, end_code, start_data, end_data; /* as in the file */
	uint32_t uid, euid, gid, egid;
	uint32_t filtered; /* it has seccomp filters of its own */
	uint32_t pad;
	uint64_t sigmask;
	uint32_t extra_len;
	char comm[16];
	char extra[STUB_MAX_EXTRA]; /* execfn, then the prefix strings, each NUL-terminated */
};

/* A call as a seccomp filter sees it. */
struct stub_call {
	uint64_t nr, ip, a[6];
};

/* A process that is wanted of the seed. */
struct stub_order {
	uint64_t token; /* whose it is */
	uint64_t seed_token; /* with split: what the new seed shows */
	uint64_t size; /* of the words: argv, at envp bytes behind it envp, then the strings */
	uint64_t envp;
	uint64_t split; /* the parent becomes the process, the child the seed */
	uint64_t thaw; /* the child is a process that is being thawed: nothing else counts */
};

/* What a process that is being thawed is to do: calls of the host on its own memory, one after the
 * other, up to the first that fails. */
struct stub_work {
	struct {
		uint64_t nr, a[6];
	} call[THAW_CALLS];
	uint64_t data[16]; /* that a call may point to */
};

/* How to map an attachment. */
struct stub_shm {
	uint64_t addr, len;
	uint64_t prot, flags;
};

struct stub_done {
	uint64_t start_code, end_code, start_brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t auxv, auxv_size;
};
#endif

#endif
