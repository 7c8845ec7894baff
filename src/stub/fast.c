/* Calls that are answered here, from the memory that the kernel shares (stub/fast.h), and how they get here.
 *
 * A place in the program's code that reads
 *     mov $nr, %eax ; syscall               (or, in libc's syscall(): mov 8(%rsp), %r9 ; syscall)
 * and that asked the kernel for what it could have found here is rewritten, when the kernel says so (SIGF_PATCH): the first
 * instruction, five bytes, becomes a jump to a few bytes of ours in the unused end of the code's last page (struct way), which do
 * what it did and go on to stub_fast (entry.S). That answers, and goes on behind the system call; or it cannot, and goes on
 * at the system call instruction, which is where it was, with all registers as they were. So restarts, unwinding and whoever
 * jumps to that instruction see what they always saw.
 *
 * Other threads may run there meanwhile: then the code stays executable while it is written, and only a place whose five bytes
 * lie in one aligned word is rewritten, by one store.
 *
 * The answering code is ordinary code on the guest's stack, in a section of its own. A guest's signal handler never sees
 * it: fast_leave() takes the context out of it first, back to the system call instruction. For that it has no effect but on
 * the caller's buffer, and keeps r15 for the frame that entry.S made.
 *
 * Guest pointers: what lies between the stack pointer and the first stack pointer of the program is there. Anything else is tried
 * by a native call that touches it and does nothing. What is not there is the kernel's business: EFAULT. */
#include "stub/fast.h"
#include "stub/sys.h"

#define PAGE 4096UL
#define UP(x) (((x) + PAGE - 1) & ~(PAGE - 1))
#define MISS (-0x7fffffffffffffffL)
#define CODE_MAX 6
#define WAY_SIZE 32
#define WAYS 16
#define STACK_SPAN (64UL << 20)

#define AT_FDCWD_ (-100)
#define AT_SYMLINK_NOFOLLOW_ 0x100U
#define AT_EACCESS_ 0x200U
#define AT_NO_AUTOMOUNT_ 0x800U
#define AT_STATX_SYNC_ 0x6000U

/* As entry.S lays it out. */
struct fast_frame {
	uint64_t rax, rcx; /* the number; where the system call instruction is */
	uint64_t rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r13, r14, r15;
};
#define FRAME_ROOM 256

#define FAST __attribute__((section("fasttext"), noinline))
#define FAST_INLINE static inline __attribute__((always_inline))

/* The compiler leaves it alone in this file. */
register struct fast_frame *frame __asm__("r15");

static uint64_t stack_top; /* the program's first stack pointer */

#define REGION ((const struct fast_region *)FAST_BASE)

/* ---- guest memory ---- */

FAST_INLINE int on_stack(uint64_t p, uint64_t n)
{
	uint64_t sp = (uint64_t)frame + FRAME_ROOM;

	return stack_top - sp < STACK_SPAN && p >= sp && p < stack_top && n <= stack_top - p;
}

/* An impossible operation: the set is read first, then refused. */
FAST_INLINE int there_to_read(uint64_t p)
{
	return native(NR_SIGPROCMASK, 99, p & ~7UL, 0, 8) == -EINVAL_;
}

/* The present mask is written there. */
FAST_INLINE int there_to_write(uint64_t p)
{
	return p && native(NR_SIGPROCMASK, 0, 0, p, 8) == 0;
}

/* n bytes (at least 8) that are about to be overwritten. */
FAST_INLINE int can_fill(uint64_t p, uint64_t n)
{
	if (on_stack(p, n))
		return 1;
	if (!there_to_write(p))
		return 0;
	return !((p ^ (p + n - 1)) & ~(PAGE - 1)) || there_to_write(p + n - 8);
}

/* Length and hash of a path; 0: none that could be answered. */
FAST_INLINE uint32_t path_scan(uint64_t path, uint32_t *ret_hash)
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
	uint32_t ctx, hash, len = path_scan(path, &hash);

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

FAST long fast_answer(void);
FAST long fast_answer(void)
{
	const struct fast_own *own = (const struct fast_own *)stub_boot_data.own;
	const struct fast_frame *a = frame;
	uint32_t flags;

	if (stub_filtered) /* the guest has a filter of its own, which is to see every call */
		return MISS;
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
	stack_top = sp;
}

/* Code ends with zeros to the end of its page: what is behind it in the file is elsewhere in memory. */
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

static int is_site(const uint8_t *b)
{
	static const uint16_t nrs[] = { 2,   4,	  6,   21,  257, 89,  102, 104,
					107, 108, 262, 267, 269, 332, 439 };

	if (b[5] != 0x0f || b[6] != 0x05)
		return 0;
	if (b[0] == 0x4c && b[1] == 0x8b && b[2] == 0x4c && b[3] == 0x24 && b[4] == 8)
		return 1;
	for (uint32_t i = 0; i < sizeof(nrs) / sizeof(nrs[0]); i++)
		if (b[0] == 0xb8 && b[1] == (nrs[i] & 0xff) && b[2] == nrs[i] >> 8 && !b[3] &&
		    !b[4])
			return 1;
	return 0;
}

static void rewrite(struct code *c, uint64_t site, int single)
{
	struct way *w = (struct way *)(c->ways + c->used * WAY_SIZE);
	int32_t jump = (int32_t)((uint64_t)w - (site + 5));
	uint64_t word, at = site & ~7UL;

	*w = (struct way){ .lea = { 0x48, 0x8d, 0x0d },
			   .back = (int32_t)(site + 5 - ((uint64_t)w + 7)),
			   .movabs = { 0x49, 0xbb },
			   .to = (uint64_t)stub_fast,
			   .jmp = { 0x41, 0xff, 0xe3 } };
	copy(w->did, (const void *)site, 5);
	c->used++;
	if ((site & 7) <= 3) {
		word = *(const uint64_t *)at;
		((uint8_t *)&word)[site & 7] = 0xe9;
		copy((uint8_t *)&word + (site & 7) + 1, &jump, 4);
		__atomic_store_n((uint64_t *)at, word, __ATOMIC_SEQ_CST);
	} else if (single) {
		*(uint8_t *)site = 0xe9;
		copy((void *)(site + 1), &jump, 4);
	}
}

void stub_rewrite(uint64_t ip, int single)
{
	uint64_t site = ip - 7;
	struct code *c = NULL;

	if (stub_filtered || __atomic_exchange_n(&rewriting, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < ncode; i++)
		if (site >= code[i].start && ip <= code[i].end - WAYS * WAY_SIZE)
			c = &code[i];
	if (c && is_site((const uint8_t *)site) && (single || (site & 7) <= 3) && ways_find(c) &&
	    c->used < WAYS &&
	    /* All of it, so that it stays one mapping. */
	    native(NR_MPROTECT, c->start, c->end - c->start, single ? 3 : 7, 0) == 0) {
		rewrite(c, site, single);
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
		else
			uc->r9 = *(const uint64_t *)(uc->rsp + 8);
		uc->rip = (uint64_t)w + 7 + (uint64_t)(int64_t)w->back;
		return;
	}
}

/* Whatever the answering code was about, the context becomes that of its caller: at the system call instruction, or behind it
 * when the answer is complete. */
void stub_fast_leave(struct k_ucontext *uc)
{
	const struct fast_frame *f = (const struct fast_frame *)uc->r15;
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
		uc->rax = f->rax;
		uc->rip = uc->rcx = f->rcx;
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
