/* Signals in the runner.
 *
 * The kernel never sends a signal that has a handler directly: it would land inside a system call
 * with the wrong result. It sends STUB_SIG to exactly one thread; stub_signal() takes the real
 * signal out of it and raises it on itself, so the host delivers it at the return from here,
 * between two instructions of the guest, with the host's own frame, mask and alternate stack. If
 * the kernel cut a parked call short for it, the call is either restarted (the host has already set
 * that up) or made to return EINTR here.
 *
 * STUB_SIG and SIGSYS are ours: a guest that sets a handler for them is told that it did. A SIGSYS
 * that is the guest's own reaches its handler by way of ours (stub/seccomp.c); it can be caught and
 * ignored, but not blocked. STUB_SIG never reaches it. */
#include "stub/sys.h"

static struct k_sigaction fake[2]; /* what the guest believes of SIGSYS and STUB_SIG */
/* Which of the two the guest has in the masks of its handlers, where the host must not have them;
 * shown back when a handler is replaced (valgrind checks that they are still there). By signal: 1
 * SIGSYS, 2 STUB_SIG. */
static uint8_t believed[STUB_SIG + 1];
#define SA_KNOWN_ 0xdc000807ull

static struct k_sigaction cont; /* what the guest does with SIGCONT, if it catches it */

/* Signals whose handler the kernel knows of, for one process: a vfork child shares our memory while
 * other threads of its parent run, so both words change in one step. */
static struct told {
	uint64_t pid, set;
} told __attribute__((aligned(16)));

/* Makes it want if it is *now; else *now is what it is. */
static int told_swap(struct told *now, struct told want)
{
	uint8_t done;

	__asm__ volatile("lock cmpxchg16b %1\n\tsetz %0"
			 : "=q"(done), "+m"(told), "+a"(now->pid), "+d"(now->set)
			 : "b"(want.pid), "c"(want.set)
			 : "cc", "memory");
	return done;
}

struct k_sigaction *stub_sigsys_action(void)
{
	return &fake[0];
}

void stub_handlers_install(void)
{
	struct k_sigaction sa = {
		.handler = (uint64_t)stub_sigsys,
		.flags = SA_SIGINFO_ | SA_ONSTACK_ | SA_RESTORER_ | SA_RESTART_,
		.restorer = (uint64_t)stub_restorer,
		.mask = ~0UL,
	};

	native(NR_SIGACTION, SIGSYS_, &sa, 0, 8);
	sa.handler = (uint64_t)stub_signal;
	native(NR_SIGACTION, STUB_SIG, &sa, 0, 8);
}

static void reraise(struct k_siginfo *si, int process_wide)
{
	long pid = native(NR_GETPID, 0, 0, 0, 0), tid = native(NR_GETTID, 0, 0, 0, 0);

	/* For the process, the host lets only its first thread use the codes of kill and of the
	 * kernel: others mark it as the kernel does (pack_direct). */
	if (process_wide && tid != pid && (si->code >= 0 || si->code == -6 /* SI_TKILL */)) {
		si->err = (int32_t)SIG_PACK(si->signo, 0, si->code);
		si->code = -1;
	}
	if (process_wide)
		sys6(NR_SIGQUEUEINFO, pid, si->signo, (long)si, 0, 0, (long)STUB_MAGIC);
	else
		sys6(NR_TGSIGQUEUEINFO, pid, tid, si->signo, (long)si, 0, (long)STUB_MAGIC);
}

void stub_reraise(struct k_siginfo *si, int process_wide)
{
	reraise(si, process_wide);
}

/* The real siginfo out of the reserved signal's. Returns its flags. */
static int unpack(const struct k_siginfo *in, struct k_siginfo *out)
{
	uint32_t pack = (uint32_t)in->err;

	zero(out, sizeof(*out));
	out->signo = pack & 0x7f;
	out->code = (int16_t)(pack >> 16);
	copy(out->payload, in->payload, 32);
	return (pack >> 8) & 0xff;
}

/* It is blocked by mask here: somebody else takes it, or it becomes pending for the process. */
static void settle(struct k_siginfo *si, uint64_t mask)
{
	if (!(mask & BIT(si->signo)))
		reraise(si, 0);
	else if (hyper(HC_REROUTE, si->signo, si, 0, 0) == 1)
		reraise(si, 1);
}

/* What is pending of set, to the kernel: a signalfd was made that reads it. */
static void collect(uint64_t set, int thread)
{
	struct k_siginfo si;
	long none[2] = { 0, 0 };

	for (int i = 0; set && i < 4096 && native(NR_SIGTIMEDWAIT, &set, &si, none, 8) > 0; i++) {
		if (si.code == -1 && si.err)
			si.code = (int16_t)((uint32_t)si.err >> 16);
		si.err = 0;
		if (hyper(HC_HOLD, si.signo, &si, thread, 0) < 0) {
			reraise(&si, !thread);
			break;
		}
	}
}

/* ---- calls that wait for long ----
 *
 * Such a call waits in stub_wait(), on nobody's stack: the guest's context itself is there. Whoever
 * interrupts it is a handler of ours, with everything blocked, and takes the context out first, so
 * no guest's handler sees it. What the context was comes from the kernel, with the result or for
 * the asking, so nothing has to be kept here. */

static int is_waiting(const struct k_ucontext *uc)
{
	return uc->rip >= (uint64_t)stub_wait && uc->rip < (uint64_t)stub_wait_end;
}

/* The call was cut short, and the host set it up to be made again. If that is not what is
 * interrupted here (SIGCONT's handler is about to run), it is made again. */
static void wait_enter(struct k_ucontext *uc, const struct stub_wait *w)
{
	if (uc->rip + 2 != w->ip || (int)uc->rax != (int)w->nr || uc->r9 != w->r9)
		return;
	uc->r9 = STUB_MAGIC;
	uc->rip = (uint64_t)stub_wait;
}

static void wait_leave(struct k_ucontext *uc, const struct stub_wait *w)
{
	uc->r9 = w->r9;
	uc->rcx = w->ip;
	uc->r11 = uc->eflags;
	if (w->ret == STUB_AGAIN) {
		uc->rip = w->ip - 2;
		uc->rax = w->nr;
	} else {
		uc->rip = w->ip;
		uc->rax = (uint64_t)w->ret;
	}
}

/* Out of the wait without having been called: the call ends, if it has not yet. True: with a
 * result, which counts more than the signal. */
static int wait_ask(struct k_ucontext *uc)
{
	struct stub_wait w;

	if (hyper(HC_WAIT_END, &w, 0, 0, 0) < 0)
		return 0;
	if (is_waiting(uc) || uc->rip + 2 == w.ip)
		wait_leave(uc, &w);
	return w.ret != STUB_AGAIN;
}

/* The kernel's wake-up when no reserved signal can be queued: SIGSYS, which arrives without a
 * word. */
void stub_nudged(struct k_ucontext *uc)
{
	struct suspend *s;

	if (is_waiting(uc)) {
		wait_ask(uc);
		return;
	}
	if (uc->rip != (uint64_t)stub_suspend_ret)
		return;
	s = (struct suspend *)uc->r12;
	s->by64 = 1;
	s->woken = 1;
}

static void nothing(void)
{
}

/* SIGCONT is the host's own signal even if it is caught (nothing else continues a process), so the
 * kernel's mark is in it: the real code, and whether it cut a call short that ends with EINTR
 * whatever the handler's flags say. */
uint64_t stub_cont(int sig, struct k_siginfo *info, struct k_ucontext *uc)
{
	const uint64_t ours = BIT(STUB_SIG);
	uint32_t pack = info->code == -1 ? (uint32_t)info->err : 0;
	uint64_t next = cont.handler;
	int answered = 0;

	(void)sig;
	stub_fast_leave(uc);
	if (pack >> 8 & SIGF_RESUME)
		next = (uint64_t)nothing;
	else if (is_waiting(uc) || (pack >> 8 & SIGF_WAIT))
		answered = wait_ask(uc);
	if (pack && next == cont.handler) {
		info->code = (int16_t)(pack >> 16);
		info->err = 0;
		if ((pack >> 8 & SIGF_EINTR) && !answered && *(const uint16_t *)uc->rip == 0x050f) {
			uc->rax = -EINTR_;
			uc->rip += 2;
		}
	}
	/* From here on as the guest wants it (see stub_sigaction). */
	native(NR_SIGPROCMASK, 1, &ours, 0, 8);
	return next;
}

void stub_signal(int sig, struct k_siginfo *info, struct k_ucontext *uc)
{
	struct suspend *s = NULL;
	struct k_sigaction sa;
	struct k_siginfo si;
	int flags = unpack(info, &si), restart, answered;

	(void)sig;
	stub_fast_leave(uc);
	if ((flags & SIGF_WAIT) && !si.signo) {
		const struct stub_wait *w = (const struct stub_wait *)info->payload;

		if (!(flags & SIGF_WAKE))
			wait_enter(uc, w);
		else if (is_waiting(uc))
			wait_leave(uc, w);
		return;
	}
	if (flags & SIGF_PATCH) {
		const struct stub_patch *what = (const struct stub_patch *)info->payload;

		if (what->post == 1)
			stub_post_open();
		else if (what->post == 2)
			stub_area_open();
		if (what->ip)
			stub_rewrite(what->ip, (int)what->single);
	}
	if (uc->rip == (uint64_t)stub_suspend_ret) {
		s = (struct suspend *)uc->r12;
		s->by64 = 1;
		if (flags & SIGF_WAKE)
			s->woken = 1;
	}
	if (!si.signo && !flags && si.code == STUB_CODE_REST) {
		/* Settling a signal makes the kernel forget the question of an armed call, and so
		 * does this. */
		if (s)
			s->woken = 1;
		if (is_waiting(uc))
			wait_ask(uc);
		stub_rest_here(s ? NULL : uc);
		return;
	}
	if (flags & SIGF_COLLECT) {
		collect(((const uint64_t *)info->payload)[0], 1);
		collect(((const uint64_t *)info->payload)[1], 0);
	}
	if (si.signo < 1 || si.signo >= STUB_SIG)
		return;
	answered = is_waiting(uc) && wait_ask(uc);
	settle(&si, flags & SIGF_THREAD ? 0 : s ? s->mask : uc->sigmask);
	/* Settling made the kernel forget the question: ask again unless a handler ran. */
	if (s)
		s->woken = 1;
	if (s || answered || (uc->sigmask & BIT(si.signo)))
		return;

	/* The host rewound the call: rip is at its syscall instruction. A native futex wait is
	 * treated like a parked call. */
	if (!(flags & (SIGF_RESTART | SIGF_EINTR)) && uc->rax != NR_FUTEX)
		return;
	if (!can_read(uc->rip & ~7UL) || *(const uint16_t *)uc->rip != 0x050f)
		return;
	if (native(NR_SIGACTION, si.signo, 0, &sa, 8) < 0 || sa.handler <= 1)
		return;
	restart = !(flags & SIGF_EINTR) && (sa.flags & SA_RESTART_);
	if (!restart) {
		uc->rax = -EINTR_;
		uc->rip += 2;
	}
}

/* Our handler of SIGCONT is shown as the guest's own, which is was. */
static void cont_show(long sig, struct k_sigaction *sa, const struct k_sigaction *was)
{
	if (sig != SIGCONT_ || sa->handler != (uint64_t)stub_cont_entry)
		return;
	sa->handler = was->handler;
	sa->mask &= ~BIT(STUB_SIG);
	sa->flags = (sa->flags & ~SA_SIGINFO_) | (was->flags & SA_SIGINFO_);
}

int stub_is_interrupted(const struct k_ucontext *uc)
{
	uint64_t pending;

	return native(NR_SIGPENDING, &pending, 8, 0, 0) == 0 && (pending & ~uc->sigmask);
}

/* sig is one that the host or fake has taken. */
static void believed_show(long sig, struct k_sigaction *sa)
{
	sa->mask |=
		(believed[sig] & 1 ? BIT(SIGSYS_) : 0) | (believed[sig] & 2 ? BIT(STUB_SIG) : 0);
}

long stub_sigaction(const struct k_ucontext *uc, long sig, uint64_t act, uint64_t old,
		    uint64_t size)
{
	struct k_sigaction sa, prev, shown;
	uint8_t wish;
	long ret;

	sig = (int)sig; /* as the host takes it */
	if (size != 8)
		return -EINVAL_;
	if (!act) { /* the filter lets the host answer for most */
		if (sig == SIGSYS_ || sig == STUB_SIG)
			prev = fake[sig == STUB_SIG];
		else if ((ret = stub_guard_sigaction(sig, 0, &prev)) < 0)
			return ret;
		cont_show(sig, &prev, &cont);
		believed_show(sig, &prev);
		if (old && (!can_write(old) || !can_write(old + 24)))
			return -EFAULT_;
		if (old)
			copy((void *)old, &prev, sizeof(prev));
		return 0;
	}
	if (!can_read(act) || !can_read(act + 24))
		return -EFAULT_;
	copy(&sa, (void *)act, sizeof(sa));
	if (old && (!can_write(old) || !can_write(old + 24)))
		return -EFAULT_;
	wish = (uint8_t)((sa.mask & BIT(SIGSYS_) ? 1 : 0) | (sa.mask & BIT(STUB_SIG) ? 2 : 0));
	sa.mask &= ~(BIT(SIGSYS_) | BIT(STUB_SIG));
	if (sig == SIGSYS_ || sig == STUB_SIG) {
		prev = fake[sig == STUB_SIG];
		fake[sig == STUB_SIG] = sa;
		if (sig == SIGSYS_) /* ignored counts as caught: only the stub can ignore it */
			hyper(HC_SIGACTION, sig, sa.handler == 1 ? 2 : sa.handler, sa.flags, 0);
	} else {
		if ((sa.handler > 1 || sig == SIGCHLD_) && sig >= 1 && sig < STUB_SIG) {
			struct told now = { 0 };
			uint64_t pid = (uint64_t)native(NR_GETPID, 0, 0, 0, 0);

			told_swap(&now, now);
			/* Of SIGCHLD the kernel must know all: it decides whether zombies are
			 * left. */
			if (now.pid != pid || !(now.set & BIT(sig)) || sig == SIGCHLD_) {
				hyper(HC_SIGACTION, sig, sa.handler, sa.flags, 0);
				while (!told_swap(&now,
						  (struct told){ pid,
								 (now.pid == pid ? now.set : 0) |
									 BIT(sig) }))
					;
			}
		}
		/* What came before the change is the old handler's. A trap takes long enough for a
		 * signal to come in the middle of it, and programs (bash, when it starts to wait
		 * for a child) count on the moment being short. */
		if (stub_is_interrupted(uc))
			return -ERESTART_;
		shown = cont;
		if (sig == SIGCONT_ && sa.handler > 1) {
			cont = sa;
			cont.flags &= SA_KNOWN_; /* the others are never shown */
			sa.handler = (uint64_t)stub_cont_entry;
			sa.flags |= SA_SIGINFO_;
			sa.mask |= BIT(STUB_SIG); /* until stub_cont() is done with the context */
		}
		ret = stub_guard_sigaction(sig, &sa, &prev);
		if (ret < 0)
			return ret;
		cont_show(sig, &prev, &shown);
	}
	believed_show(sig, &prev);
	believed[sig] = wish;
	if (old)
		copy((void *)old, &prev, sizeof(prev));
	return 0;
}

/* No call is needed to change the mask: the return from the trap applies it. */
long stub_sigprocmask(struct k_ucontext *uc, long how, uint64_t set, uint64_t old, uint64_t size)
{
	uint64_t prev = uc->sigmask, m;

	if (size != 8)
		return -EINVAL_;
	if (set) {
		if (!can_read(set))
			return -EFAULT_;
		m = *(const uint64_t *)set;
		if (how == 0)
			m |= prev;
		else if (how == 1)
			m = prev & ~m;
		else if (how != 2)
			return -EINVAL_;
		uc->sigmask = m & ~MASK_NEVER;
	}
	if (old) {
		if (!can_write(old))
			return -EFAULT_;
		*(uint64_t *)old = prev;
	}
	return 0;
}

/* CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH: without a handler they end no call. */
#define ENDS_NOTHING (BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(28))

/* Is a signal of the set one that ends a wait, by its handler or by ending us? */
static int ends_wait(uint64_t set)
{
	struct k_sigaction sa;

	for (long sig = 1; sig < STUB_SIG; sig++)
		if ((set & BIT(sig)) && native(NR_SIGACTION, sig, 0, &sa, 8) == 0 &&
		    (sa.handler > 1 || (sa.handler == 0 && !(ENDS_NOTHING & BIT(sig)))))
			return 1;
	return 0;
}

/* Waits with mask s->mask until a guest's handler ran (1) or the kernel woke the armed call (0). */
static int wait_masked(struct suspend *s)
{
	uint64_t pending, mask = s->mask & ~MASK_NEVER;

	for (;;) {
		s->by64 = 0;
		stub_suspend(&mask, s);
		if (!s->by64)
			return 1;
		/* Raised a moment ago: the next wait delivers it. One that is ignored would end no
		 * wait, and the kernel wakes us only once. */
		if (native(NR_SIGPENDING, &pending, 8, 0, 0) == 0 && ends_wait(pending & ~mask))
			continue;
		if (s->woken)
			return 0;
	}
}

long stub_sigsuspend(uint64_t set, uint64_t size)
{
	struct suspend s = { 0 };

	if (size != 8)
		return -EINVAL_;
	if (!can_read(set))
		return -EFAULT_;
	s.mask = *(const uint64_t *)set;
	do
		s.woken = 0;
	while (!wait_masked(&s));
	return -EINTR_;
}

/* ppoll and its kin with a mask: ask the kernel with everything blocked; if there is nothing yet,
 * it remembers the question and wakes us by the reserved signal while we wait with the guest's
 * mask. No moment is left in which a signal is lost. */
long stub_masked_call(struct k_ucontext *uc)
{
	uint64_t a[6] = { uc->rdi, uc->rsi, uc->rdx, uc->r10, uc->r8, uc->r9 };
	uint64_t nr = uc->rax, mask_ptr, size, pending;
	struct suspend s = { 0 };
	long ret;

	if (nr == NR_PPOLL) {
		mask_ptr = a[3];
		size = a[4];
		a[3] = 0;
	} else if (nr == NR_PSELECT6) {
		if (!can_read(a[5]) || !can_read(a[5] + 8))
			return -EFAULT_;
		mask_ptr = ((const uint64_t *)a[5])[0];
		size = ((const uint64_t *)a[5])[1];
	} else {
		mask_ptr = a[4];
		size = a[5];
		a[4] = 0;
	}
	if (mask_ptr) {
		if (size != 8)
			return -EINVAL_;
		if (!can_read(mask_ptr))
			return -EFAULT_;
		s.mask = *(const uint64_t *)mask_ptr & ~MASK_NEVER;
	} else {
		s.mask = uc->sigmask;
	}
	for (;;) {
		s.woken = 0;
		ret = sys6(nr == NR_PSELECT6 ? HC_PSELECT6 : nr, a[0], a[1], a[2], a[3], a[4],
			   (long)STUB_MAGIC);
		if (ret != STUB_ARMED)
			break;
		if (wait_masked(&s))
			return -EINTR_;
	}
	/* Linux delivers what M lets through before the call returns, even with a result. */
	if (ret == 0 && native(NR_SIGPENDING, &pending, 8, 0, 0) == 0 &&
	    ends_wait(pending & ~s.mask)) {
		wait_masked(&s);
		return -EINTR_;
	}
	return ret;
}

static long now_ns(void)
{
	long ts[2];

	native(NR_CLOCK_GETTIME, 1, ts, 0, 0);
	return ts[0] * 1000000000L + ts[1];
}

/* Natively, with the reserved signal in the set: what comes by it is either what the guest waits
 * for or is settled here. */
long stub_sigtimedwait(struct k_ucontext *uc, uint64_t set, uint64_t info, uint64_t timeout,
		       uint64_t size)
{
	struct k_siginfo raw, si;
	uint64_t want, all;
	long ts[2], ret, end = 0;
	int flags;

	if (size != 8)
		return -EINVAL_;
	if (!can_read(set))
		return -EFAULT_;
	want = *(const uint64_t *)set & ~MASK_NEVER;
	if (timeout) {
		if (!can_read(timeout) || !can_read(timeout + 8))
			return -EFAULT_;
		ts[0] = ((const long *)timeout)[0];
		ts[1] = ((const long *)timeout)[1];
		if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000L)
			return -EINVAL_;
		if (ts[0] > 4000000000L)
			ts[0] = 4000000000L;
		end = now_ns() + ts[0] * 1000000000L + ts[1];
	}
	all = want | BIT(STUB_SIG);
	for (;;) {
		ret = native(NR_SIGTIMEDWAIT, &all, &raw, timeout ? ts : 0, 8);
		if (ret == STUB_SIG) {
			flags = unpack(&raw, &si);
			if (!si.signo && !flags && si.code == STUB_CODE_REST)
				stub_rest_here(NULL);
			if (si.signo >= 1 && si.signo < STUB_SIG && (want & BIT(si.signo))) {
				hyper(HC_TAKEN, si.signo, 0, 0, 0);
				raw = si;
				ret = si.signo;
			} else if (si.signo >= 1 && si.signo < STUB_SIG) {
				settle(&si, flags & SIGF_THREAD ? 0 : uc->sigmask);
				if (!(uc->sigmask & BIT(si.signo)))
					return -EINTR_;
			}
		} else if (ret > 0 && raw.code == -1 && raw.err) {
			raw.code = (int16_t)((uint32_t)raw.err >>
					     16); /* sent while blocked: the kernel's mark */
		}
		if (ret != STUB_SIG && ret != -EINTR_)
			break;
		if (ret == -EINTR_ && native(NR_SIGPENDING, &all, 8, 0, 0) == 0 &&
		    (all & ~uc->sigmask))
			return -EINTR_;
		all = want | BIT(STUB_SIG);
		if (timeout) {
			long left = end - now_ns();

			if (left < 0)
				left = 0;
			ts[0] = left / 1000000000L;
			ts[1] = left % 1000000000L;
		}
	}
	if (ret > 0) {
		raw.err = 0;
		if (raw.code == -2) { /* SI_TIMER: what it missed is known only now */
			int *timer = (int *)raw.payload; /* id, overrun, value, which signal */
			long missed = hyper(HC_TAKEN, 0, timer[0] + 1L, (uint32_t)timer[4], 0);

			if (missed >= 0)
				timer[1] = (int)missed;
			timer[4] = 0;
		}
		if (info) {
			if (!can_write(info) || !can_write(info + 120))
				return -EFAULT_;
			copy((void *)info, &raw, sizeof(raw));
		}
	}
	return ret;
}
