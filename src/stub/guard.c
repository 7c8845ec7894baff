/* A copy that survives a bad address (guard_copy() in entry.S), for what is too large to be tried
 * page by page.
 *
 * For as long as the guest leaves SIGSEGV and SIGBUS at their default, which is to die of them,
 * they are caught here instead. A fault of that copy ends the copy. Any other is the guest's, and
 * so is a signal that was sent: the default is put back, and it happens again, or is sent again, to
 * end the process as it would have.
 *
 * A program that has a handler of its own for one of the two, or blocks one, has no guard: its
 * faults never come here. What it is shown of the two signals is the default. */
#include "stub/fastpath.h"

/* the process that has it; 0: none. A vfork child has signals of its own, and our memory */
static uint64_t guarded;
static int busy; /* the signals are being changed */

#define GUARDS (BIT(SIGBUS_) | BIT(SIGSEGV_))

/* Between threads that have all signals blocked. Who was killed in the middle is not waited for. */
static void lock(void)
{
	for (int i = 0; __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) && i < 1000; i++)
		native(NR_SCHED_YIELD, 0, 0, 0, 0);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static int is_ours(const struct k_sigaction *sa)
{
	return sa->handler == (uint64_t)stub_fault;
}

static int is_default(long sig)
{
	struct k_sigaction sa;

	return native(NR_SIGACTION, sig, 0, &sa, 8) == 0 && (!sa.handler || is_ours(&sa));
}

void stub_guard_open(void)
{
	struct k_sigaction sa = {
		.handler = (uint64_t)stub_fault,
		.flags = SA_SIGINFO_ | SA_ONSTACK_ | SA_RESTORER_,
		.restorer = (uint64_t)stub_restorer,
		.mask = ~0UL,
	};

	lock();
	/* What a fork copied can be of a process that its parent had nothing but memory in common
	 * with. */
	guarded = 0;
	if (is_default(SIGBUS_) && is_default(SIGSEGV_) &&
	    native(NR_SIGACTION, SIGBUS_, &sa, 0, 8) == 0 &&
	    native(NR_SIGACTION, SIGSEGV_, &sa, 0, 8) == 0)
		guarded = (uint64_t)native(NR_GETPID, 0, 0, 0, 0);
	unlock();
	/* From now on it is sent as one with a handler is, so that it comes also in the middle of a
	 * call. */
	if (guarded) {
		hyper(HC_SIGACTION, SIGBUS_, sa.handler, sa.flags, 1);
		hyper(HC_SIGACTION, SIGSEGV_, sa.handler, sa.flags, 1);
	}
}

void stub_guard_forked(void)
{
	if (guarded)
		guarded = (uint64_t)native(NR_GETPID, 0, 0, 0, 0);
	busy = 0;
}

long stub_guard_sigaction(long sig, const struct k_sigaction *sa, struct k_sigaction *prev)
{
	int mine = sa && (sig == SIGBUS_ || sig == SIGSEGV_);
	long ret;

	if (mine)
		lock();
	if (mine && guarded) {
		hyper(HC_SIGACTION, sig, sa->handler, sa->flags, 0);
		if (guarded == (uint64_t)native(NR_GETPID, 0, 0, 0, 0))
			guarded = 0;
	}
	ret = native(NR_SIGACTION, sig, sa, prev, 8);
	if (mine)
		unlock();
	if (ret == 0 && is_ours(prev))
		zero(prev, sizeof(*prev));
	return ret;
}

FAST int guard_is_on(void)
{
	uint64_t mask;

	return guarded && native(NR_SIGPROCMASK, 0, 0, &mask, 8) == 0 && !(mask & GUARDS);
}

void stub_fault(int sig, struct k_siginfo *info, struct k_ucontext *uc)
{
	struct k_sigaction none = { 0 };

	if (info->code > 0 && uc->rip == (uint64_t)guard_copy_at) {
		uc->rip = (uint64_t)guard_copy_end;
		return;
	}
	if (guarded == (uint64_t)native(NR_GETPID, 0, 0, 0, 0))
		guarded = 0;
	native(NR_SIGACTION, sig, &none, 0, 8);
	if (info->code <= 0)
		stub_reraise(info, 0);
}
