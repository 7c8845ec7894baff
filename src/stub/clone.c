/* fork, vfork, posix_spawn and threads: native clones inside the trap handler.
 *
 * Two questions each: HC_CLONE_PREP before (limits, a copy of the tables; the answer is a token),
 * HC_CHILD(token) by the child.
 *   own memory (fork)       the child returns through this handler
 *   shared, with a stack    (threads) the signal frame is copied to the new stack and the child
 *                           returns from it: registers, mask and floating point state in one
 *                           step
 *   shared, parent waits    (vfork) the frame and the stack below it belong to the child
 *                           meanwhile, so the parent keeps a copy of the frame in a slot of its
 *                           own and waits on the slot's stack */
#include "stub/sys.h"

#define CLONE_VM_ 0x100UL
#define CLONE_PIDFD_ 0x1000UL
#define CLONE_VFORK_ 0x4000UL
#define CLONE_PARENT_ 0x8000UL
#define CLONE_THREAD_ 0x10000UL

#define SLOTS 8
#define FRAME_MAX 16384

#define SLOT_SIZE 0x5000 /* at least; entry.S knows it */

struct vfork_slot {
	int busy; /* first: entry.S clears it */
	int mapped; /* second: entry.S unmaps it instead */
	uint32_t size;
	long token; /* of the birth */
	struct k_frame *frame; /* where the copy belongs */
	uint8_t save[FRAME_MAX];
	uint8_t stack[4096] __attribute__((aligned(64)));
};

static struct vfork_slot slots[SLOTS];
_Static_assert(sizeof(struct vfork_slot) > SLOT_SIZE - 4096 &&
		       sizeof(struct vfork_slot) <= SLOT_SIZE + 4096,
	       "entry.S unmaps SLOT_SIZE + 4096 bytes");

/* Bytes from the frame's start to the end of its extended state; 0: not a shape that we know. */
size_t stub_frame_size(const struct k_frame *f)
{
	const uint8_t *fp = (const uint8_t *)f->uc.fpstate;
	size_t n = 512;
	uint64_t end;

	if (!fp)
		return sizeof(*f);
	if (*(const uint32_t *)(fp + 464) ==
	    0x46505853) /* FP_XSTATE_MAGIC1: extended_size follows */
		n = *(const uint32_t *)(fp + 468);
	end = (uint64_t)fp + n;
	if (end <= (uint64_t)f || end - (uint64_t)f > FRAME_MAX || n > FRAME_MAX)
		return 0;
	return end - (uint64_t)f;
}

uint64_t stub_vfork_parent(void *arg, long ret)
{
	struct vfork_slot *s = arg;

	if (ret < 0)
		hyper(HC_CLONE_CANCEL, s->token, 0, 0, 0);
	copy(s->frame, s->save, s->size);
	s->frame->uc.rax = ret;
	return (uint64_t)s->frame + 8;
}

/* One of ours, or a fresh mapping when many threads are in vfork at once. */
static struct vfork_slot *slot_take(void)
{
	struct vfork_slot *s;
	long p;

	for (int i = 0; i < SLOTS; i++)
		if (!__atomic_exchange_n(&slots[i].busy, 1, __ATOMIC_ACQUIRE))
			return &slots[i];
	p = anon(0, sizeof(*s), 3, 2 /* MAP_PRIVATE */);
	if (p < 0 && p > -4096)
		return NULL;
	s = (struct vfork_slot *)p;
	s->mapped = 1;
	return s;
}

/* A new thread has no alternate stack; nor has a child that shares our memory on a stack of its
 * own: its traps would overwrite what we have on ours. */
static void no_altstack(struct k_ucontext *uc)
{
	uc->ss_flags = 2; /* SS_DISABLE */
	uc->ss_sp = 0;
	uc->ss_size = 0;
}

static long clone_thread(struct k_frame *f, size_t size, uint64_t flags, uint64_t stack,
			 uint64_t ptid, uint64_t ctid, uint64_t tls, uint64_t token)
{
	/* Of the extended state only what every processor has: a stack may be smaller than the
	 * rest, and no program that clones counts on the upper halves of vector registers. */
	uint64_t fp = f->uc.fpstate - (uint64_t)f, at;
	struct k_frame *nf;

	if (f->uc.fpstate && fp + 512 < size)
		size = fp + 512;
	/* The copy keeps its distance to a 64-byte boundary, as the extended state needs it. */
	at = ((stack - size - 128) & ~63UL) | ((uint64_t)f & 63);
	nf = (struct k_frame *)at;

	if (!can_write(at) || !can_write(at + size - 8))
		return -EFAULT_;
	copy(nf, f, size);
	nf->uc.rax = 0;
	nf->uc.rsp = stack;
	if (f->uc.fpstate) {
		nf->uc.fpstate = at + fp;
		*(uint32_t *)(at + fp + 464) = 0; /* FP_XSTATE_MAGIC1: nothing follows */
	}
	no_altstack(&nf->uc);
	return stub_clone_thread(flags, at + 8, ptid, ctid, tls, token);
}

long stub_clone(struct k_frame *f, uint64_t flags, uint64_t stack, uint64_t ptid, uint64_t ctid,
		uint64_t tls)
{
	size_t size = stub_frame_size(f);
	struct vfork_slot *slot = NULL;
	int before = 0, pidfd;
	long token, ret;

	flags = (uint32_t)flags;
	if ((flags & CLONE_VM_) && !size)
		return -EINVAL_;
	if ((flags & CLONE_VM_) && !(flags & CLONE_VFORK_) && !stack)
		return -EINVAL_;
	pidfd = (flags & CLONE_PIDFD_) && can_read(ptid & ~7UL);
	if (pidfd)
		before = *(const int *)ptid;
	/* A pidfd is the kernel's business. */
	token = hyper(HC_CLONE_PREP, flags, flags & 0xff, ptid, 0);
	if (token < 0)
		return token;
	/* A signal that came before the kernel knew of the child is not sent to it, so it is seen
	 * to first: it may be our end, and then there is to be no child. Those that come later
	 * reach both. */
	if (stub_is_interrupted(&f->uc)) {
		hyper(HC_CLONE_CANCEL, token, 1, 0, 0);
		if (pidfd)
			*(int *)ptid = before;
		return -ERESTART_;
	}
	/* The signal at its end and the parent are the kernel's business; the host is to make it
	 * the kernel's child. */
	flags = (flags & ~(0xffUL | CLONE_PIDFD_)) | 17;
	if (!(flags & CLONE_THREAD_))
		flags |= CLONE_PARENT_;
	else
		flags &= ~0xffUL;

	if ((flags & CLONE_VM_) && (flags & CLONE_VFORK_)) {
		slot = slot_take();
		/* a plain fork has the same meaning for a program that obeys vfork's rules */
		if (!slot)
			flags &= ~CLONE_VM_;
	}
	if (slot) {
		slot->token = token;
		slot->frame = f;
		slot->size = size;
		copy(slot->save, f, size);
		f->uc.rax = 0;
		if (stack) {
			f->uc.rsp = stack;
			no_altstack(&f->uc);
		}
		stub_vfork(flags, (uint64_t)f + 8, ptid, ctid, tls, token,
			   slot->stack + sizeof(slot->stack), slot);
	}
	if (flags & CLONE_VM_) {
		stub_post_threads();
		ret = clone_thread(f, size, flags, stack, ptid, ctid, tls, token);
	} else {
		ret = sys6(NR_CLONE, flags, 0, ptid, ctid, tls, (long)STUB_MAGIC);
		if (ret == 0) {
			/* From when it is known it can be signalled: the first that ends it does so
			 * when it is sent, as on Linux, and not when we get to run. What the guest
			 * catches is not sent before we are gone. */
			uint64_t mask =
				f->uc.sigmask | BIT(SIGSYS_) | BIT(STUB_SIG) | BIT(SIGCONT_);

			stub_post_forked();
			native(NR_SIGPROCMASK, 2, &mask, 0, 8);
			if (hyper(HC_CHILD, token, 0, 0, 0) != 0)
				for (;;) /* it is nobody's child: see entry.S */
					native(NR_EXIT_GROUP, 1, 0, 0, 0);
			if (pidfd) /* the copy of the parent's memory does not have it */
				*(int *)ptid = before;
			if (stack)
				f->uc.rsp = stack;
		}
	}
	if (ret < 0)
		hyper(HC_CLONE_CANCEL, token, 0, 0, 0);
	return ret;
}
