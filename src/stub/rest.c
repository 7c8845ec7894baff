/* Coming to rest, and going on in another cell (docs/decisions/0056-freeze.md).
 *
 * A cell is frozen when each of its threads is in stub_rest(): wherever the reserved signal found
 * it, its context is on its stack, and what the host alone knows of it is put there as well. A
 * thawed thread is one that the host has just made, in a process whose memory is the frozen one's.
 * It goes on as if stub_rest() had returned, puts what belongs to it into the host's hands again
 * and then returns from the handler, as it would have done.
 *
 * stub_thaw() is the other side: a fork of the seed that replaces its memory by the frozen one's,
 * by calls that the kernel names. They are calls that every guest can make. */
#include "stub/sys.h"

#include <stddef.h>

#define ARCH_SET_GS_ 0x1001
#define ARCH_SET_FS_ 0x1002
#define ARCH_GET_FS_ 0x1003
#define ARCH_GET_GS_ 0x1004
#define PR_GET_TID_ADDRESS_ 40
#define TIMER_ABSTIME_ 1
#define CLONE_FLAGS (0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000) /* a thread */

/* glibc's: it lies in the block that the fs register points to. */
#define RSEQ_LEN 32
#define RSEQ_SIG 0x53053053
#define RSEQ_UNREGISTER 1
#define RSEQ_SPAN 4096

#define PENDING 4 /* signals that are kept; with more of them the kernel does not freeze */

/* What the host knows of a thread and no call of the guest's told the kernel. */
struct thread {
	uint64_t fs, gs, robust, robust_len, tid_address, rseq;
	int npending;
	struct k_siginfo pending[PENDING];
};

static struct k_sigaction actions[STUB_SIG]; /* of the process; all of its threads say the same */
static struct stub_work work;

/* Unregistering with a wrong signature has no effect, and tells where the area is. */
static uint64_t rseq_find(uint64_t fs)
{
	for (uint64_t at = fs & ~31UL; fs && at < fs + RSEQ_SPAN; at += 32)
		if (native(NR_RSEQ, at, RSEQ_LEN, RSEQ_UNREGISTER, ~RSEQ_SIG) == -EPERM_)
			return at;
	for (uint64_t at = (fs & ~31UL) - 32; fs && at > fs - RSEQ_SPAN; at -= 32)
		if (native(NR_RSEQ, at, RSEQ_LEN, RSEQ_UNREGISTER, ~RSEQ_SIG) == -EPERM_)
			return at;
	return 0;
}

/* Signals that the guest blocks, out of the host's hands and back into them. Whether one was meant
 * for the thread alone is not told: most are meant for the process. */
static void pending_take(struct thread *t)
{
	const uint64_t set = ~(MASK_NEVER | BIT(SIGCONT_));
	const long none[2] = { 0, 0 };

	t->npending = 0;
	while (t->npending < PENDING &&
	       native(NR_SIGTIMEDWAIT, &set, &t->pending[t->npending], none, 8) > 0)
		t->npending++;
}

static void pending_give(struct thread *t)
{
	for (int i = 0; i < t->npending; i++)
		stub_reraise(&t->pending[i], 1);
}

static void thread_get(struct thread *t)
{
	zero(t, offsetof(struct thread, pending));
	native(NR_ARCH_PRCTL, ARCH_GET_FS_, &t->fs, 0, 0);
	native(NR_ARCH_PRCTL, ARCH_GET_GS_, &t->gs, 0, 0);
	native(NR_GET_ROBUST_LIST, 0, &t->robust, &t->robust_len, 0);
	native(NR_PRCTL, PR_GET_TID_ADDRESS_, &t->tid_address, 0, 0);
	t->rseq = rseq_find(t->fs);
}

static void thread_set(const struct thread *t)
{
	native(NR_ARCH_PRCTL, ARCH_SET_FS_, t->fs, 0, 0);
	if (t->gs)
		native(NR_ARCH_PRCTL, ARCH_SET_GS_, t->gs, 0, 0);
	if (t->robust)
		native(NR_SET_ROBUST_LIST, t->robust, t->robust_len, 0, 0);
	native(NR_SET_TID_ADDRESS, t->tid_address, 0, 0, 0);
	if (t->rseq)
		native(NR_RSEQ, t->rseq, RSEQ_LEN, 0, RSEQ_SIG);
}

/* A sleep that the host has ended for the handler's sake: the host makes it EINTR where it knows a
 * time, whatever the flags of the handler say. The place tells which call it was. It goes on with
 * the time that is left, if the host wrote that anywhere, or to its own end. */
static void sleep_again(struct k_ucontext *uc)
{
	const uint8_t *at = (const uint8_t *)uc->rip - 7;
	uint32_t nr;

	if ((long)uc->rax != -EINTR_ || !can_read((uint64_t)at & ~7UL) ||
	    !can_read((uc->rip - 8) & ~7UL) || at[0] != 0xb8 || at[5] != 0x0f || at[6] != 0x05)
		return;
	copy(&nr, at + 1, sizeof(nr));
	if (nr == NR_NANOSLEEP && uc->rsi)
		uc->rdi = uc->rsi;
	else if (nr == NR_CLOCK_NANOSLEEP && !(uc->rsi & TIMER_ABSTIME_) && uc->r10)
		uc->rdx = uc->r10;
	else if (nr != NR_NANOSLEEP && nr != NR_CLOCK_NANOSLEEP && nr != NR_FUTEX)
		return;
	uc->rax = nr;
	uc->rip -= 2;
}

void stub_rest_here(struct k_ucontext *uc)
{
	struct thread t;

	/* Its filters would have to let all of this through. The kernel does not freeze it. */
	if (stub_filtered) {
		stub_rest();
		return;
	}
	if (uc)
		sleep_again(uc);
	thread_get(&t);
	for (long sig = 1; sig <= STUB_SIG; sig++)
		native(NR_SIGACTION, sig, 0, &actions[sig - 1], 8);
	pending_take(&t);
	if (stub_rest() == 0) {
		pending_give(&t);
		return;
	}
	thread_set(&t);
	if (native(NR_GETTID, 0, 0, 0, 0) == native(NR_GETPID, 0, 0, 0, 0)) {
		for (long sig = 1; sig <= STUB_SIG; sig++)
			native(NR_SIGACTION, sig, &actions[sig - 1], 0, 8);
		stub_post_forked();
	}
	if (hyper(HC_THAWED, 0, 0, 0, 0) != 0)
		for (;;)
			native(NR_EXIT_GROUP, 126, 0, 0, 0);
	pending_give(&t);
}

_Noreturn void stub_thaw(void)
{
	long ret = 0;

	for (;;) {
		long n = hyper(HC_THAW, &work, &stub_boot_data, ret, 0);

		if (n == THAW_LEAVE)
			stub_thaw_wait();
		ret = 0;
		if (n == THAW_CLONE)
			ret = stub_thaw_clone(CLONE_FLAGS);
		for (long i = 0; i < n && i < THAW_CALLS; i++) {
			ret = sys6((long)work.call[i].nr, (long)work.call[i].a[0],
				   (long)work.call[i].a[1], (long)work.call[i].a[2],
				   (long)work.call[i].a[3], (long)work.call[i].a[4],
				   (long)work.call[i].a[5]);
			if (ret < 0 && ret > -4096)
				break;
			ret = 0;
		}
	}
}
