/* Calls that are answered here, from the memory that the kernel shares (stub/fast.h), and how they
 * get here.
 *
 * A place in the program's code that reads
 *     mov $nr, %eax ; syscall               (or, in libc's syscall(): mov 8(%rsp), %r9 ; syscall)
 * and that asked the kernel for what it could have found here, or often, is rewritten, when the
 * kernel says so (SIGF_PATCH): the first instruction, five bytes, becomes a jump to a few bytes of
 * ours in the unused end of the code's last page (struct way), which do what it did and go on to
 * stub_fast (entry.S). That answers, and goes on behind the system call; or it cannot, and goes on
 * at the system call instruction, which is where it was, with all registers as they were. So
 * restarts, unwinding and whoever jumps to that instruction see what they always saw.
 *
 * read() has xor %eax, %eax, two bytes, in the place of the first: they become a short jump to the
 * unused bytes behind the function (pad_find), where there is a long one.
 *
 * Other threads may run there meanwhile: then the code stays executable while it is written, word
 * by word (code_change).
 *
 * The answering code is ordinary code on the guest's stack, in a section of its own. A guest's
 * signal handler never sees it: fast_leave() takes the context out of it first, back to the system
 * call instruction. For that it has no effect but on the caller's buffer, and keeps r15 for the
 * frame that entry.S made. */
#include "stub/fast.h"
#include "stub/fastpath.h"

#define UP(x) (((x) + PAGE - 1) & ~(PAGE - 1))
#define CODE_MAX 6
#define WAY_SIZE 32
#define WAYS 16

#define AT_FDCWD_ (-100)
#define AT_SYMLINK_NOFOLLOW_ 0x100U
#define AT_EACCESS_ 0x200U
#define AT_NO_AUTOMOUNT_ 0x800U
#define AT_STATX_SYNC_ 0x6000U

uint64_t stub_stack_top;

#define REGION ((const struct fast_region *)FAST_BASE)

/* ---- guest memory ---- */

/* n bytes (at least 8) that are about to be overwritten. */
FAST_INLINE int can_fill(uint64_t p, uint64_t n)
{
	if (on_stack(p, n))
		return 1;
	if (!there_to_write(p))
		return 0;
	return !((p ^ (p + n - 1)) & ~(PAGE - 1)) || there_to_write(p + n - 8);
}

FAST uint32_t fast_path_scan(uint64_t path, uint32_t *ret_hash)
{
	const uint8_t *s = (const uint8_t *)path;
	uint32_t h = FAST_HASH_START, n;

	if (!on_stack(path, FAST_PATH + 1) && !there_to_read(path))
		return 0;
	for (n = 0; n <= FAST_PATH; n++) {
		if (n && !((path + n) & (PAGE - 1)) && !on_stack(path + n, 1) &&
		    !there_to_read(path + n))
			return 0;
		if (!s[n]) {
			*ret_hash = h;
			return n;
		}
		h = fast_hash_byte(h, s[n]);
	}
	return 0;
}

/* ---- answers ---- */

struct k_stat {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad;
	uint64_t rdev, size, blksize, blocks;
	uint64_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
	uint64_t unused[3];
};
_Static_assert(sizeof(struct k_stat) == 144, "stat");

struct k_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, pad;
	uint64_t ino, size, blocks, attributes_mask;
	struct {
		int64_t sec;
		uint32_t nsec, pad;
	} atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint64_t spare[13];
};
_Static_assert(sizeof(struct k_statx) == 256, "statx");

FAST_INLINE void stat_fill(struct k_stat *o, const struct fast_stat *st)
{
	o->dev = st->dev;
	o->ino = st->ino;
	o->nlink = st->nlink;
	o->mode = st->mode;
	o->uid = st->uid;
	o->gid = st->gid;
	o->pad = 0;
	o->rdev = st->rdev;
	o->size = st->size;
	o->blksize = 4096;
	o->blocks = st->blocks;
	o->atime = (uint64_t)st->atime.sec;
	o->atime_nsec = st->atime.nsec;
	o->mtime = (uint64_t)st->mtime.sec;
	o->mtime_nsec = st->mtime.nsec;
	o->ctime = (uint64_t)st->ctime.sec;
	o->ctime_nsec = st->ctime.nsec;
	o->unused[0] = o->unused[1] = o->unused[2] = 0;
}

#define MAJOR(d) ((uint32_t)((((d) >> 8) & 0xfff) | (((d) >> 32) & ~0xfffUL)))
#define MINOR(d) ((uint32_t)(((d)&0xff) | (((d) >> 12) & ~0xffUL)))

FAST_INLINE void statx_fill(struct k_statx *o, const struct fast_stat *st)
{
	zero(o, sizeof(*o));
	o->mask = 0x7ff /* STATX_BASIC_STATS */ | (st->has_btime ? 0x800 : 0) | 0x1000 /* MNT_ID */;
	o->blksize = 4096;
	o->attributes = st->attributes;
	o->attributes_mask = 0x2000; /* STATX_ATTR_MOUNT_ROOT */
	o->nlink = st->nlink;
	o->uid = st->uid;
	o->gid = st->gid;
	o->mode = (uint16_t)st->mode;
	o->ino = st->ino;
	o->size = st->size;
	o->blocks = st->blocks;
	o->atime.sec = st->atime.sec;
	o->atime.nsec = st->atime.nsec;
	o->btime.sec = st->btime.sec;
	o->btime.nsec = st->btime.nsec;
	o->ctime.sec = st->ctime.sec;
	o->ctime.nsec = st->ctime.nsec;
	o->mtime.sec = st->mtime.sec;
	o->mtime.nsec = st->mtime.nsec;
	o->rdev_major = MAJOR(st->rdev);
	o->rdev_minor = MINOR(st->rdev);
	o->dev_major = MAJOR((uint64_t)st->dev);
	o->dev_minor = MINOR((uint64_t)st->dev);
	o->mnt_id = st->mnt_id;
}

/* A record that counts, and the epoch it was found in. */
FAST_INLINE int look_up(uint64_t dfd, uint64_t path, uint32_t kind, struct fast_found *f,
			uint32_t *ret_epoch)
{
	const struct fast_own *own = (const struct fast_own *)stub_boot_data.own;
	uint32_t ctx, hash, len = fast_path_scan(path, &hash);

	if (!len)
		return 0;
	if (*(const char *)path == '/')
		ctx = own->abs;
	else if ((int32_t)dfd == AT_FDCWD_)
		ctx = own->rel;
	else
		return 0;
	*ret_epoch = fast_load(&REGION->epoch);
	if (!ctx || (*ret_epoch & 1))
		return 0;
	return fast_find(REGION, fast_hash_end(hash, ctx, kind), ctx, kind, (const char *)path, len,
			 f) &&
	       fast_is_valid(REGION, f);
}

FAST_INLINE int is_same_epoch(uint32_t epoch)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return fast_load(&REGION->epoch) == epoch;
}

FAST static long answer_stat(uint64_t dfd, uint64_t path, uint64_t buf, int nofollow, int x)
{
	struct fast_found f;
	struct fast_stat st;
	uint32_t epoch;

	if (!look_up(dfd, path, nofollow ? FAST_LSTAT : FAST_STAT, &f, &epoch))
		return MISS;
	if (f.result == 0)
		copy(&st, fast_said(f.rec, f.ndeps), sizeof(st));
	if (!is_same_epoch(epoch))
		return MISS;
	if (f.result)
		return f.result;
	if (!can_fill(buf, x ? sizeof(struct k_statx) : sizeof(struct k_stat)))
		return MISS;
	if (x)
		statx_fill((struct k_statx *)buf, &st);
	else
		stat_fill((struct k_stat *)buf, &st);
	return 0;
}

/* Only that there is nothing: 0x40 is O_CREAT, 0x400000 of O_TMPFILE, 0x20000 O_NOFOLLOW. */
FAST static long answer_open(uint64_t dfd, uint64_t path, uint32_t flags)
{
	struct fast_found f;
	uint32_t epoch;

	if ((flags & 0x400040) || !((const struct fast_own *)stub_boot_data.own)->opens)
		return MISS;
	if (!look_up(dfd, path, flags & 0x20000 ? FAST_LSTAT : FAST_STAT, &f, &epoch) ||
	    f.result != -ENOENT_ || !is_same_epoch(epoch))
		return MISS;
	return f.result;
}

FAST static long answer_access(uint64_t dfd, uint64_t path, uint64_t mode, uint32_t flags)
{
	struct fast_found f;
	uint32_t epoch;

	if ((mode & 0xffffffff) > 7)
		return MISS;
	if (!look_up(dfd, path, FAST_ACCESS | (uint32_t)mode | flags, &f, &epoch) ||
	    !is_same_epoch(epoch))
		return MISS;
	return f.result;
}

FAST static long answer_readlink(uint64_t dfd, uint64_t path, uint64_t buf, int32_t size)
{
	uint8_t text[FAST_TEXT], *out = (uint8_t *)buf;
	struct fast_found f;
	uint32_t epoch, n;

	if (size <= 0 || !look_up(dfd, path, FAST_READLINK, &f, &epoch))
		return MISS;
	if (f.result > 0)
		copy(text, fast_said(f.rec, f.ndeps), (uint32_t)f.result);
	if (!is_same_epoch(epoch))
		return MISS;
	if (f.result <= 0)
		return f.result;
	n = f.result < size ? (uint32_t)f.result : (uint32_t)size;
	/* Trying a page writes eight bytes, and there must be none behind the text that change. */
	if (n < 8 ? !on_stack(buf, n) : !can_fill(buf, n))
		return MISS;
	copy(out, text, n);
	return n;
}

FAST static long answer_id(uint32_t id)
{
	return ((const struct fast_own *)stub_boot_data.own)->ids ? (long)id : MISS;
}

FAST static long answer(void)
{
	const struct fast_own *own = (const struct fast_own *)stub_boot_data.own;
	const struct fast_frame *a = frame;
	uint32_t flags;

	switch (a->rax) {
	case 4: /* stat */
		return answer_stat((uint64_t)AT_FDCWD_, a->rdi, a->rsi, 0, 0);
	case 6: /* lstat */
		return answer_stat((uint64_t)AT_FDCWD_, a->rdi, a->rsi, 1, 0);
	case 262: /* newfstatat */
		flags = (uint32_t)a->r10;
		if (flags & ~(AT_SYMLINK_NOFOLLOW_ | AT_NO_AUTOMOUNT_))
			return MISS;
		return answer_stat(a->rdi, a->rsi, a->rdx, !!(flags & AT_SYMLINK_NOFOLLOW_), 0);
	case 332: /* statx */
		flags = (uint32_t)a->rdx;
		if ((flags & ~(AT_SYMLINK_NOFOLLOW_ | AT_NO_AUTOMOUNT_ | AT_STATX_SYNC_)) ||
		    (flags & AT_STATX_SYNC_) == AT_STATX_SYNC_ || (a->r10 & 0x80000000))
			return MISS;
		return answer_stat(a->rdi, a->rsi, a->r8, !!(flags & AT_SYMLINK_NOFOLLOW_), 1);
	case 2: /* open */
		return answer_open((uint64_t)AT_FDCWD_, a->rdi, (uint32_t)a->rsi);
	case 257: /* openat */
		return answer_open(a->rdi, a->rsi, (uint32_t)a->rdx);
	case 21: /* access */
		return answer_access((uint64_t)AT_FDCWD_, a->rdi, a->rsi, 0);
	case 269: /* faccessat */
		return answer_access(a->rdi, a->rsi, a->rdx, 0);
	case 439: /* faccessat2 */
		flags = (uint32_t)a->r10;
		if (flags & ~(AT_SYMLINK_NOFOLLOW_ | AT_EACCESS_))
			return MISS;
		return answer_access(a->rdi, a->rsi, a->rdx,
				     (flags & AT_EACCESS_ ? FAST_EACCESS : 0) |
					     (flags & AT_SYMLINK_NOFOLLOW_ ? FAST_NOFOLLOW : 0));
	case 89: /* readlink */
		return answer_readlink((uint64_t)AT_FDCWD_, a->rdi, a->rsi, (int32_t)a->rdx);
	case 267: /* readlinkat */
		return answer_readlink(a->rdi, a->rsi, a->rdx, (int32_t)a->r10);
	case 102:
		return answer_id(own->uid);
	case 107:
		return answer_id(own->euid);
	case 104:
		return answer_id(own->gid);
	case 108:
		return answer_id(own->egid);
	default:
		return MISS;
	}
}

FAST long fast_answer(void);
FAST long fast_answer(void)
{
	long ret;

	if (stub_filtered) /* the guest has a filter of its own, which is to see every call */
		return MISS;
	ret = answer();
	return ret == MISS ? post_call() : ret;
}

/* ---- rewriting ---- */

/* From a rewritten place to stub_fast. */
struct way {
	uint8_t lea[3]; /* lea site + 5(%rip), %rcx */
	int32_t back;
	uint8_t did[5]; /* the instruction that was there */
	uint8_t movabs[2]; /* movabs $stub_fast, %r11 */
	uint64_t to;
	uint8_t jmp[3]; /* jmp *%r11 */
	uint8_t pad[7];
} __attribute__((packed));
_Static_assert(sizeof(struct way) == WAY_SIZE, "way");

static struct code {
	uint64_t start, end; /* whole pages */
	uint64_t ways; /* 0: not looked at yet, 1: there is no room */
	uint32_t used;
} code[CODE_MAX];
static uint32_t ncode;
static int rewriting;

void stub_code_note(uint64_t start, uint64_t len)
{
	if (ncode == CODE_MAX)
		return;
	code[ncode].start = start;
	code[ncode].end = UP(start + len);
	ncode++;
}

void stub_stack_note(uint64_t sp)
{
	stub_stack_top = sp;
}

/* Code ends with zeros to the end of its page: what is behind it in the file is elsewhere in
 * memory. */
static int ways_find(struct code *c)
{
	const uint64_t *p = (const uint64_t *)(c->end - WAYS * WAY_SIZE);

	if (c->ways)
		return c->ways > 1;
	c->ways = 1;
	for (int i = 0; i < WAYS * WAY_SIZE / 8; i++)
		if (p[i])
			return 0;
	c->ways = (uint64_t)p;
	return 1;
}

/* Bytes of the instruction before the system call, if it is one that can make room for a jump; else
 * 0. */
static uint32_t site_size(const uint8_t *ip)
{
	const uint8_t *b = ip - 7;

	if (ip[-2] != 0x0f || ip[-1] != 0x05)
		return 0;
	if (b[0] == 0x4c && b[1] == 0x8b && b[2] == 0x4c && b[3] == 0x24 && b[4] == 8)
		return 5; /* mov 8(%rsp), %r9 */
	if (b[0] == 0xb8 && b[2] < 2 && !b[3] && !b[4])
		return 5; /* mov $nr, %eax */
	return ip[-4] == 0x31 && ip[-3] == 0xc0 ? 2 : 0; /* xor %eax, %eax: read() */
}

static int is_same(const uint8_t *b, const uint8_t *what, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (b[i] != what[i])
			return 0;
	return 1;
}

/* A jump of two bytes reaches a place near by, where a longer one has to be. Five bytes that are no
 * instruction anybody gets to: what fills up behind the end of libc's read(), read instruction by
 * instruction from the system call on. 0: it is another read(). */
static uint64_t pad_find(const uint8_t *ip)
{
	/* cmp $-4096, %rax ; ja ... ; ret */
	static const uint8_t cmp[] = { 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0x77 };
	/* ... mov %r8d, %edi ; mov %rax, 8(%rsp) ; call ... ; mov 8(%rsp), %rax ; add $40, %rsp ;
	 * ret */
	static const uint8_t mov[] = { 0x44, 0x89, 0xc7, 0x48, 0x89, 0x44, 0x24, 0x08, 0xe8 };
	static const uint8_t end[] = { 0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x28, 0xc3 };
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const uint8_t nop10[] = {
		0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	};

	if (!is_same(ip, cmp, sizeof(cmp)))
		return 0;
	ip += sizeof(cmp) + 1;
	if (*ip == 0xc3) {
		ip++;
	} else {
		if (!is_same(ip, mov, sizeof(mov)))
			return 0;
		ip += sizeof(mov) + 4;
		if (!is_same(ip, end, sizeof(end)))
			return 0;
		ip += sizeof(end);
	}
	return is_same(ip, nop5, sizeof(nop5)) || is_same(ip, nop10, sizeof(nop10)) ? (uint64_t)ip
										    : 0;
}

static void jump_write(uint8_t *at, uint64_t to)
{
	int32_t d = (int32_t)(to - ((uint64_t)at + 5));

	at[0] = 0xe9;
	copy(at + 1, &d, 4);
}

/* Bytes of code that lie in one aligned word: whoever runs there sees all of them change at
 * once. */
static void code_swap(uint64_t at, const uint8_t *bytes, uint32_t n)
{
	uint64_t *word = (uint64_t *)(at & ~7UL), w = *word;

	copy((uint8_t *)&w + (at & 7), bytes, n);
	__atomic_store_n(word, w, __ATOMIC_SEQ_CST);
}

/* All other threads have seen what was written. False: the host does not do that. */
static int code_sync(void)
{
	static int registered;

	if (!registered &&
	    native(NR_MEMBARRIER, 64 /* REGISTER_PRIVATE_EXPEDITED_SYNC_CORE */, 0, 0, 0) < 0)
		return 0;
	registered = 1;
	return native(NR_MEMBARRIER, 32 /* PRIVATE_EXPEDITED_SYNC_CORE */, 0, 0, 0) == 0;
}

/* The instruction becomes a jump while others may run it. If it lies in two words, the second comes
 * first: until the first follows, it loads a number that is no system call's, and the kernel knows
 * what is meant by where it is asked from. */
static int code_change(uint64_t site, const uint8_t *jump, uint32_t size, int single)
{
	uint32_t first = 8 - (site & 7);

	if (first >= size) {
		code_swap(site, jump, size);
		return 1;
	}
	if (single) {
		copy((void *)site, jump, size);
		return 1;
	}
	if (size != 5 || (jump[3] | jump[4]) == 0 || jump[4] || *(const uint8_t *)site != 0xb8 ||
	    !code_sync())
		return 0;
	code_swap(site + first, jump + first, size - first);
	if (!code_sync()) /* it never fails once it has not */
		return 0;
	code_swap(site, jump, first);
	return 1;
}

static void rewrite(struct code *c, uint64_t ip, uint32_t size, int single)
{
	struct way *w = (struct way *)(c->ways + c->used * WAY_SIZE);
	uint64_t site = ip - 2 - size;
	uint8_t jump[5];

	*w = (struct way){ .lea = { 0x48, 0x8d, 0x0d },
			   .back = (int32_t)(ip - 2 - ((uint64_t)w + 7)),
			   .did = { 0, 0, 0x0f, 0x1f, 0x00 }, /* what is shorter, and nothing */
			   .movabs = { 0x49, 0xbb },
			   .to = (uint64_t)stub_fast,
			   .jmp = { 0x41, 0xff, 0xe3 } };
	copy(w->did, (const void *)site, size);
	if (size == 5) {
		int32_t d = (int32_t)((uint64_t)w - (site + 5));

		jump[0] = 0xe9;
		copy(jump + 1, &d, 4);
	} else {
		uint64_t pad = pad_find((const uint8_t *)ip);

		jump_write((uint8_t *)pad, (uint64_t)w);
		jump[0] = 0xeb;
		jump[1] = (uint8_t)(pad - (site + 2));
	}
	if (code_change(site, jump, size, single))
		c->used++;
}

void stub_rewrite(uint64_t ip, int single)
{
	struct code *c = NULL;
	uint32_t size;

	if (stub_filtered || __atomic_exchange_n(&rewriting, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < ncode; i++)
		if (ip - 7 >= code[i].start && ip <= code[i].end - WAYS * WAY_SIZE - 64)
			c = &code[i];
	size = c ? site_size((const uint8_t *)ip) : 0;
	if (size && (size == 5 || pad_find((const uint8_t *)ip)) && ways_find(c) &&
	    c->used < WAYS &&
	    /* All of it, so that it stays one mapping. */
	    native(NR_MPROTECT, c->start, c->end - c->start, single ? 3 : 7, 0) == 0) {
		rewrite(c, ip, size, single);
		native(NR_MPROTECT, c->start, c->end - c->start, 5, 0);
	}
	__atomic_store_n(&rewriting, 0, __ATOMIC_RELEASE);
}

/* ---- signals ---- */

static void leave_way(struct k_ucontext *uc)
{
	for (uint32_t i = 0; i < ncode; i++) {
		const struct code *c = &code[i];
		const struct way *w;

		if (c->ways <= 1 || uc->rip < c->ways || uc->rip >= c->ways + c->used * WAY_SIZE)
			continue;
		w = (const struct way *)(c->ways + (uc->rip - c->ways) / WAY_SIZE * WAY_SIZE);
		if (w->did[0] == 0xb8)
			uc->rax = w->did[1] | (uint64_t)w->did[2] << 8;
		else if (w->did[0] == 0x31)
			uc->rax = 0;
		else
			uc->r9 = *(const uint64_t *)(uc->rsp + 8);
		uc->rip = (uint64_t)w + 7 + (uint64_t)(int64_t)w->back;
		return;
	}
}

/* Whatever the answering code was about, the context becomes that of its caller: at the system call
 * instruction, or behind it when the answer is complete. */
void stub_fast_leave(struct k_ucontext *uc)
{
	struct fast_frame *f = (struct fast_frame *)uc->r15;
	uint64_t ip = uc->rip;

	if (ip < STUB_BASE || ip >= STUB_BASE + STUB_SPAN) {
		leave_way(uc);
		return;
	}
	if (ip >= (uint64_t)stub_fast && ip < (uint64_t)stub_fast_in) {
		if (ip != (uint64_t)stub_fast)
			uc->rsp += FRAME_ROOM;
		uc->rip = uc->rcx;
	} else if (ip >= (uint64_t)stub_fast_out && ip < (uint64_t)stub_fast_end) {
		if (ip == (uint64_t)stub_fast_out)
			uc->rsp += FRAME_ROOM;
		uc->rip = uc->rcx;
	} else if ((ip >= (uint64_t)stub_fast_in && ip < (uint64_t)stub_fast_out) ||
		   (ip >= (uint64_t)__start_fasttext && ip < (uint64_t)__stop_fasttext)) {
		stub_post_leave(f);
		uc->rax = f->answered ? f->ret : f->rax;
		uc->rip = uc->rcx = f->rcx + (f->answered ? 2 : 0);
		uc->rdi = f->rdi;
		uc->rsi = f->rsi;
		uc->rdx = f->rdx;
		uc->r10 = f->r10;
		uc->r8 = f->r8;
		uc->r9 = f->r9;
		uc->rbx = f->rbx;
		uc->rbp = f->rbp;
		uc->r12 = f->r12;
		uc->r13 = f->r13;
		uc->r14 = f->r14;
		uc->r15 = f->r15;
		uc->rsp = (uint64_t)f + FRAME_ROOM;
	}
}
