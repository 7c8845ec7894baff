/* Seccomp filters of the guest's own, and its SIGSYS.
 *
 * The kernel keeps a copy of each filter and shows us the form that the host is to have; the host
 * then judges every call by it. What comes here as a trap is either ours (execve, clone, mmap of a
 * file ...) or the guest's filter's, or both: the kernel says which. The mark lets our own calls
 * pass; the list of them is in src/kernel/task/seccomp.c.
 *
 * The guest's handler gets the very frame that the host made for ours: it holds the guest's
 * registers after the call, as on Linux. */
#include "stub/fast.h"
#include "stub/sys.h"

#define RET_ACTION 0xffff0000U
#define RET_KILL_THREAD 0U
#define RET_TRAP 0x30000U
#define RET_ERRNO 0x50000U
#define RET_LOG 0x7ffc0000U
#define RET_ALLOW 0x7fff0000U
#define SS_DISABLE_ 2
#define SA_RESETHAND_ 0x80000000UL

int stub_filtered;

long stub_seccomp(long op, long flags, uint64_t arg)
{
	long n, ret, tries = 16;

	/* Before the kernel knows of it: from then on it wants to be asked. */
	if (op <= 1)
		stub_filtered = 1;
	do {
		n = ret = hyper(HC_SECCOMP, op, flags, arg, 0);
		if (n > STUB_SYNC_FAILED) {
			ret = n - STUB_SYNC_FAILED;
		} else if (n > 0) {
			ret = native(NR_SECCOMP, 1, flags & 0x11,
				     FILTER_BASE + (n - 1) * FILTER_ROOM, 0);
			hyper(HC_SECCOMP_DONE, ret, 0, 0, 0);
		}
	} while (ret == -EAGAIN_ && --tries); /* somebody else has the slot by now */
	return ret == -EAGAIN_ ? -ENOMEM_ : ret;
}

static int is_within(uint64_t p, const struct k_ucontext *uc)
{
	return !(uc->ss_flags & SS_DISABLE_) && p >= uc->ss_sp && p - uc->ss_sp < uc->ss_size;
}

/* Our handler runs on the alternate stack where there is one; the guest's only if it asked for
 * it. */
static struct k_frame *frame_move(struct k_frame *f)
{
	size_t size = stub_frame_size(f);
	uint64_t at = ((f->uc.rsp - 128 - size) & ~63UL) | ((uint64_t)f & 63);
	struct k_frame *nf = (struct k_frame *)at;

	if (!size || !can_write(at & ~7UL) || !can_write(at + size - 8))
		return NULL;
	copy(nf, f, size);
	if (f->uc.fpstate)
		nf->uc.fpstate = f->uc.fpstate - (uint64_t)f + at;
	return nf;
}

void stub_guest_sigsys(struct k_frame *f, int forced)
{
	struct k_sigaction *sa = stub_sigsys_action();
	struct k_ucontext go;

	if (sa->handler == 1 && !forced)
		return;
	stub_fast_leave(&f->uc);
	if (sa->handler > 1 && !(sa->flags & SA_ONSTACK_) && is_within((uint64_t)f, &f->uc) &&
	    !is_within(f->uc.rsp, &f->uc))
		f = frame_move(f);
	if (sa->handler <= 1 || !f)
		for (;;)
			hyper(HC_SIGSYS_DIE, 0, 0, 0, 0);
	/* One step for stack, registers and mask: a return into the handler, whose own return is
	 * the guest's. */
	go = f->uc;
	go.rip = sa->handler;
	go.rsp = (uint64_t)f;
	go.rdi = SIGSYS_;
	go.rsi = (uint64_t)&f->info;
	go.rdx = (uint64_t)&f->uc;
	go.rax = 0;
	go.eflags &= ~0x10500UL; /* RF, DF, TF */
	go.sigmask = (f->uc.sigmask | sa->mask) & ~MASK_NEVER;
	f->ret = sa->restorer;
	if (sa->flags & SA_RESETHAND_)
		sa->handler = 0;
	stub_sigreturn(&go);
}

int stub_seccomp_pass(struct k_frame *f)
{
	struct k_ucontext *uc = &f->uc;
	struct stub_call c = { uc->rax,
			       uc->rip,
			       { uc->rdi, uc->rsi, uc->rdx, uc->r10, uc->r8, uc->r9 } };
	long ret = hyper(HC_SECCOMP_ASK, &c, 0, 0, 0);

	switch (ret < 0 ? RET_ERRNO : (uint32_t)ret & RET_ACTION) {
	case RET_ALLOW:
	case RET_LOG:
		return 1;
	case RET_TRAP:
		f->info.err = (int32_t)((uint32_t)ret & 0xffff);
		stub_guest_sigsys(f, 1);
		return 0;
	case RET_KILL_THREAD:
		for (;;)
			native(NR_EXIT, SIGSYS_, 0, 0, 0);
	case RET_ERRNO:
		ret = ret < 0 ? ret : -(long)((uint32_t)ret & 0xffff);
		uc->rax = ret < -4095 ? -4095 : ret;
		return 0;
	default: /* a tracer or a listener that is not there */
		uc->rax = -ENOSYS_;
		return 0;
	}
}
