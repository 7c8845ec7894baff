/* The runner's side of posted calls (stub/post.h).
 *
 * Which thread posts is asked of the host, unless there has never been but one. A fork's child
 * starts without a box.
 *
 * What a call reads is copied into its slot, and what it writes from there, with ordinary
 * instructions: so the addresses are tried before, and where they are bad, or the call has more of
 * them than we look at, the kernel moves the bytes itself.
 *
 * The wait is short by nature: the kernel is at work or about to be. If it is not, as the host lets
 * somebody else run in its place, we stop waiting and make the call. */
#include "stub/post.h"
#include "stub/fast.h"
#include "stub/fastpath.h"

#define SPINS 400 /* some ten microseconds */
#define FUTEX_WAKE_OP_ (5 | 128)
#define OP_ADD_0 (1 << 28)
#define AT_EMPTY_PATH_ 0x1000

#define BOX ((struct post_box *)POST_BASE)
#define REGION ((const struct fast_region *)FAST_BASE)

static int opened; /* the box is mapped */
static int several; /* there have been threads */
static uint32_t only; /* while there have not: the number of the one there is */

/* ---- threads ---- */

FAST_INLINE uint32_t thread_self(void)
{
	uint32_t tid;

	if (!several && only)
		return only;
	tid = (uint32_t)native(NR_GETTID, 0, 0, 0, 0);
	if (!several)
		only = tid;
	return tid;
}

void stub_post_threads(void)
{
	several = 1;
}

void stub_post_forked(void)
{
	opened = 0;
	stub_area_forked();
	several = 0;
	only = 0;
}

void stub_post_open(void)
{
	long fd, p;

	if (opened)
		return;
	fd = hyper(HC_POST, 0, 0, 0, 0);
	if (fd < 0)
		return;
	p = sys6(NR_MMAP, POST_BASE, POST_SIZE, 3, 0x11 /* MAP_SHARED | MAP_FIXED */,
		 STUB_MAP_FD(fd), 0);
	native(NR_CLOSE, fd, 0, 0, 0);
	if (p != (long)POST_BASE)
		return;
	/* A child that had it could write our calls. */
	if (native(NR_MADVISE, POST_BASE, POST_SIZE, MADV_DONTFORK_, 0) < 0) {
		native(NR_MUNMAP, POST_BASE, POST_SIZE, 0, 0);
		return;
	}
	opened = 1;
}

/* ---- the call's memory ---- */

FAST_INLINE int is_one_page(uint64_t p, uint64_t n)
{
	return !((p ^ (p + n - 1)) & ~(PAGE - 1));
}

FAST_INLINE int can_be_read(uint64_t p, uint64_t n)
{
	return on_stack(p, n) ||
	       (there_to_read(p) && (is_one_page(p, n) || there_to_read(p + n - 1)));
}

/* An atomic operation of the host's that adds nothing. */
FAST_INLINE int there_to_change(uint64_t p)
{
	uint64_t nobody;

	return sys6(NR_FUTEX, (long)&nobody & ~3L, FUTEX_WAKE_OP_, 0, 0, (long)(p & ~3UL),
		    OP_ADD_0) >= 0;
}

FAST_INLINE int can_be_changed(uint64_t p, uint64_t n)
{
	return on_stack(p, n) ||
	       (there_to_change(p) && (is_one_page(p, n) || there_to_change(p + n - 1)));
}

struct plan {
	struct post_in in[POST_INS];
	uint32_t nin, used;
	uint64_t out;
	uint32_t out_room;
};

/* False: it stays the kernel's to move. */
FAST_INLINE int plan_in(struct plan *p, uint64_t addr, uint64_t len)
{
	if (p->nin == POST_INS || !len || len > POST_ROOM - p->used || !can_be_read(addr, len))
		return 0;
	p->in[p->nin++] = (struct post_in){ addr, (uint32_t)len, p->used };
	p->used += (uint32_t)len;
	return 1;
}

FAST_INLINE void plan_out(struct plan *p, uint64_t addr, uint64_t len)
{
	if (len > POST_ROOM)
		len = POST_ROOM;
	if (!len || !can_be_changed(addr, len))
		return;
	p->out = addr;
	p->out_room = (uint32_t)len;
}

FAST_INLINE void plan_path(struct plan *p, uint64_t path)
{
	uint32_t hash, n = fast_path_scan(path, &hash);

	if (n)
		plan_in(p, path, n + 1);
}

struct vec {
	uint64_t base, len;
};

FAST_INLINE void plan_vec(struct plan *p, uint64_t at, uint64_t count)
{
	const struct vec *v = (const struct vec *)at;

	if (count >= POST_INS || !plan_in(p, at, count * sizeof(*v)))
		return;
	for (uint64_t i = 0; i < count; i++)
		plan_in(p, v[i].base, v[i].len);
}

/* False: a call that is not posted. The kernel has a list of its own (kernel/sys/post.c). */
FAST static int plan_make(struct plan *p)
{
	const struct fast_frame *a = frame;

	switch (a->rax) {
	case 0: /* read */
	case 17: /* pread64 */
	case 45: /* recvfrom */
		if (a->rdx > POST_LEN_MAX)
			return 0;
		plan_out(p, a->rsi, a->rdx);
		return 1;
	case 1: /* write */
	case 18: /* pwrite64 */
	case 44: /* sendto */
		if (a->rdx > POST_LEN_MAX)
			return 0;
		plan_in(p, a->rsi, a->rdx);
		return 1;
	case 20: /* writev */
		plan_vec(p, a->rsi, a->rdx);
		return 1;
	case 232: /* epoll_wait */
		plan_out(p, a->rsi, (a->rdx & 0x7fffffff) * 12);
		return 1;
	case 233: /* epoll_ctl */
		plan_in(p, a->r10, 12);
		return 1;
	case 257: /* openat */
		plan_path(p, a->rsi);
		return 1;
	case 262: /* newfstatat */
		if ((uint32_t)a->r10 & AT_EMPTY_PATH_)
			plan_in(p, a->rsi, 1);
		else
			plan_path(p, a->rsi);
		plan_out(p, a->rdx, 144);
		return 1;
	case 332: /* statx */
		if ((uint32_t)a->rdx & AT_EMPTY_PATH_)
			plan_in(p, a->rsi, 1);
		else
			plan_path(p, a->rsi);
		plan_out(p, a->r8, 256);
		return 1;
	case 267: /* readlinkat */
		plan_path(p, a->rsi);
		plan_out(p, a->rdx, a->r10 & 0x7fffffff);
		return 1;
	case 82: /* rename */
	case 83: /* mkdir */
	case 87: /* unlink */
	case 191: /* getxattr */
	case 192: /* lgetxattr */
		plan_path(p, a->rdi);
		return 1;
	case 258: /* mkdirat */
	case 260: /* fchownat */
	case 263: /* unlinkat */
	case 268: /* fchmodat */
	case 280: /* utimensat */
	case 316: /* renameat2 */
		plan_path(p, a->rsi);
		return 1;
	case 217: /* getdents64 */
		if (a->rdx > POST_LEN_MAX)
			return 0;
		plan_out(p, a->rsi, a->rdx & 0x7fffffff);
		return 1;
	case 5: /* fstat */
		plan_out(p, a->rsi, 144);
		return 1;
	case 3: /* close */
	case 8: /* lseek */
	case 19: /* readv */
	case 46: /* sendmsg */
	case 47: /* recvmsg */
	case 54: /* setsockopt */
	case 72: /* fcntl */
	case 77: /* ftruncate */
	case 91: /* fchmod */
	case 93: /* fchown */
	case 288: /* accept4 */
		return 1;
	default:
		return 0;
	}
}

/* ---- posting ---- */

/* On another processor than this thread. The host keeps our processor's number in the limit of a
 * segment. */
FAST_INLINE int kernel_is_awake(void)
{
	uint32_t there = fast_load(&REGION->awake), here;

	if (!there)
		return 0;
	__asm__ volatile("lsl %1, %0" : "=r"(here) : "r"(0x7b));
	return (here & 0xfff) + 1 != there;
}

FAST_INLINE int state_swap(uint32_t *at, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(at, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* It was made: what it wrote is put where it belongs, but for the first bytes of a stream that are
 * there already, and what it gave into the frame. */
FAST_INLINE void take_result(struct fast_frame *f, const struct post_slot *s, uint32_t copied)
{
	uint32_t n = s->out_len < s->out_room ? s->out_len : s->out_room;

	if (n)
		copy((void *)s->out, s->room, n);
	if (s->stream == STREAM_OUT && s->filled > copied && s->filled <= s->stream_len)
		copy((void *)(s->a[1] + copied), (const void *)(AREA_BASE + s->stream_at + copied),
		     s->filled - copied);
	f->ret = (uint64_t)s->ret;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	f->answered = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The kind of stream that suits the call. */
FAST_INLINE uint32_t stream_kind(const struct fast_frame *f)
{
	if (f->rdx < STREAM_MIN || (f->rax > 1 && f->rax != 17 && f->rax != 18))
		return STREAM_NONE;
	return f->rax == 0 || f->rax == 17 ? STREAM_OUT : STREAM_IN;
}

FAST static long call_post(struct stream *st, struct plan *p, uint32_t tid)
{
	struct fast_frame *f = frame;
	struct post_slot *s;
	uint32_t *state, i, now;

	for (i = 0;; i++) {
		if (i == 3)
			return MISS;
		f->slot = (tid + i) % POST_SLOTS + 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		state = &BOX->state[f->slot - 1];
		if (state_swap(state, 0, POST_STATE(tid, POST_TAKEN)))
			break;
	}
	s = &BOX->slot[f->slot - 1];
	s->nr = f->rax;
	s->ip = f->rcx + 2;
	s->a[0] = f->rdi;
	s->a[1] = f->rsi;
	s->a[2] = f->rdx;
	s->a[3] = f->r10;
	s->a[4] = f->r8;
	s->a[5] = f->r9;
	s->nin = p->nin;
	for (i = 0; i < p->nin; i++) {
		s->in[i] = p->in[i];
		copy(s->room + p->in[i].at, (const void *)p->in[i].addr, p->in[i].len);
	}
	s->out = p->out;
	s->out_room = p->out_room;
	s->out_len = 0;
	s->stream = st->kind;
	s->stream_len = (uint32_t)st->len;
	s->stream_at = st->at;
	s->ready = s->filled = 0;
	s->far = st->far;
	__atomic_store_n(state, POST_STATE(tid, POST_POSTED), __ATOMIC_SEQ_CST);
	/* If it has just gone to sleep, it looked before that. */
	i = __atomic_load_n(&REGION->awake, __ATOMIC_SEQ_CST) ? 0 : SPINS;
	for (;; i++) {
		now = __atomic_load_n(state, __ATOMIC_ACQUIRE);
		if (POST_STEP(now) >= POST_DONE)
			break;
		if (st->kind && i < SPINS && stream_step(st, s, POST_STEP(now) == POST_WORKED)) {
			i = 0;
			continue;
		}
		if (i >= SPINS) {
			if (state_swap(state, POST_STATE(tid, POST_POSTED), 0)) {
				f->slot = 0;
				return MISS;
			}
			native(NR_SCHED_YIELD, 0, 0, 0, 0);
			i = 0;
		}
		__asm__ volatile("pause");
	}
	if (POST_STEP(now) == POST_DONE)
		take_result(f, s, st->copied);
	else if (stream_kind(f))
		stream_refused(f->rdi);
	__atomic_store_n(state, 0, __ATOMIC_RELEASE);
	f->slot = 0;
	return f->answered ? (long)f->ret : MISS;
}

FAST long post_call(void)
{
	const struct fast_own *own = (const struct fast_own *)stub_boot_data.own;
	struct fast_frame *f = frame;
	struct stream st = { .addr = f->rsi, .len = f->rdx };
	struct plan p = { .nin = 0 };
	uint32_t tid, kind = stream_kind(f);
	long ret;

	if (!own->post || !opened || !kernel_is_awake())
		return MISS;
	tid = thread_self();
	if (kind && stream_begin(&st, tid, f->rdi, kind)) {
		ret = call_post(&st, &p, tid);
		stream_end(tid);
		return ret;
	}
	return plan_make(&p) ? call_post(&st, &p, tid) : MISS;
}

static void slot_leave(struct fast_frame *f, uint32_t tid)
{
	uint32_t now, *state;

	if (f->slot < 1 || f->slot > POST_SLOTS)
		return;
	state = &BOX->state[f->slot - 1];
	for (;;) {
		now = __atomic_load_n(state, __ATOMIC_ACQUIRE);
		if (POST_TID(now) != tid)
			return;
		if (POST_STEP(now) == POST_POSTED && state_swap(state, now, 0))
			return;
		if (POST_STEP(now) != POST_POSTED && POST_STEP(now) != POST_WORKED)
			break;
		native(NR_SCHED_YIELD, 0, 0, 0, 0);
	}
	if (POST_STEP(now) == POST_DONE && !f->answered)
		take_result(f, &BOX->slot[f->slot - 1], 0);
	__atomic_store_n(state, 0, __ATOMIC_RELEASE);
	f->slot = 0;
}

void stub_post_leave(struct fast_frame *f)
{
	uint32_t tid = (uint32_t)native(NR_GETTID, 0, 0, 0, 0);

	if (!opened)
		return;
	slot_leave(f, tid);
	stream_end(tid);
}
