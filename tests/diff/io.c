/* Families that move bytes: reading and writing, sizes, positions, splicing, memory maps. */
#include "diff.h"

#include <linux/falloc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static const struct sym offsets[] = { S(0),    S(1),	 S(5),	S(13),		S(4095),     S(4096), S(4097), S(10000),
				      S(-1),   S(-4096), S(70000), S(0x7fffffff), S(1L << 40), S(0x7fffffffffffffff), S(0x7ffffffffffff000) };
static const struct sym lengths[] = { S(0), S(1), S(5), S(13), S(100), S(4096), S(4097), S(9000), S(65536), S(-1), S(0x7ffff000) };
static char buf[1 << 17], got[1 << 17];

/* f: 13 bytes. sparse: data, a hole of 32 KiB, data. */
static void sparse_make(void)
{
	int fd = open("sparse", O_RDWR | O_CREAT, 0666);

	if (pwrite(fd, "begin", 5, 0) < 0 || pwrite(fd, "end", 3, 40960) < 0)
		perror("sparse");
	close(fd);
}
static void content_note(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return;
	note(" size %lld blocks %lld", (long long)st.st_size, (long long)st.st_blocks);
	n = pread(fd, got, sizeof(got), 0);
	digest(got, n > 0 ? (size_t)n : 0);
	close(fd);
}
static int thing(const char **name)
{
	static const char *const names[] = { "f", "f", "sparse", "sparse", "d", "pipe", "/dev/null", "/dev/zero", "opath", "append", "rdonly",
					     "wronly", "bad", "/dev/full", "eventfd", "socket" };
	int p[2];

	*name = names[rnd(COUNT(names))];
	if (!strcmp(*name, "pipe")) {
		if (pipe2(p, O_NONBLOCK))
			return -1;
		return p[rnd(2)];
	}
	if (!strcmp(*name, "opath"))
		return open("f", O_PATH);
	if (!strcmp(*name, "append"))
		return open("f", O_RDWR | O_APPEND);
	if (!strcmp(*name, "rdonly"))
		return open("f", O_RDONLY);
	if (!strcmp(*name, "wronly"))
		return open("f", O_WRONLY);
	if (!strcmp(*name, "bad"))
		return 77;
	if (!strcmp(*name, "eventfd"))
		return (int)sys(SYS_eventfd2, 3, O_NONBLOCK);
	if (!strcmp(*name, "socket")) {
		if (sys(SYS_socketpair, 1, 1 | O_NONBLOCK, 0, p))
			return -1;
		return p[0];
	}
	return open(*name, **name == 'd' ? O_RDONLY : O_RDWR);
}

static void fam_lseek(void)
{
	static const struct sym whence[] = { S(SEEK_SET), S(SEEK_CUR), S(SEEK_END), S(SEEK_DATA), S(SEEK_HOLE), S(5), S(-1) };
	const char *name;
	int fd;

	sparse_make();
	fd = thing(&name);
	for (int i = 0; i < 3; i++) {
		const struct sym *w = pick(whence), *o = pick(offsets);

		call("lseek(%s, %s, %s)", name, o->name, w->name);
		res(sys(SYS_lseek, fd, o->v, w->v));
		if (*name == 'd')
			break; /* positions in a directory are the file system's own */
	}
}

static int iov_make(struct iovec *v, char *base, char *text, size_t size)
{
	int n = (int)rnd(5);
	size_t len = 0, at = 0;

	text[0] = 0;
	for (int i = 0; i < n; i++) {
		size_t one = chance(25) ? 0 : chance(5) ? (size_t)-1 : rnd(chance(30) ? 6000 : 9);
		bool bad = chance(6);

		v[i].iov_base = bad ? BAD_PTR : base + at;
		v[i].iov_len = one;
		if (one != (size_t)-1)
			at += one;
		len += (size_t)snprintf(text + len, size - len, "%s%ld%s", i ? "," : "", (long)one, bad ? "!" : "");
	}
	if (chance(3)) {
		n = chance(50) ? -1 : 1025;
		snprintf(text, size, "%d", n);
	}
	return n;
}

/* The largest file is the file system's: tmpfs has the end of what can be told. */
static const struct sym *in_file(const struct sym *o, bool reg)
{
	return reg && o->v == 0x7ffffffffffff000 ? &offsets[7] : o;
}

static void fam_rw(void)
{
	static const struct sym rwf[] = { S(0), S(0), S(0), S(0), S(RWF_HIPRI), S(RWF_DSYNC), S(RWF_SYNC), S(RWF_NOWAIT), S(RWF_APPEND), S(0x8000) };
	static struct iovec v[1200];
	const char *name;
	char text[300];
	int fd;

	sparse_make();
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char)(i * 7 + i / 256);
	fd = thing(&name);
	if (chance(50) && *name != 'd')
		lseek(fd, (long)rnd(20), SEEK_SET);
	for (int i = 0; i < 3; i++) {
		const struct sym *o = pick(offsets), *l = pick(lengths), *f = pick(rwf);
		bool reg = !strcmp(name, "f") || !strcmp(name, "sparse") || !strcmp(name, "append") || !strcmp(name, "rdonly") || !strcmp(name, "wronly");
		bool zero = !strcmp(name, "/dev/zero") || !strcmp(name, "/dev/null") || !strcmp(name, "/dev/full");
		long size = l->v > (long)sizeof(buf) ? (long)sizeof(buf) : l->v, r;
		int n;
		char *to = chance(4) ? BAD_PTR : got;

		/* Files of the host's tmpfs do not know it, those of other file systems do. */
		if (reg && f->v == RWF_NOWAIT)
			f = &rwf[0];
		memset(got, 0x55, sizeof(got));
		memset(v, 0, sizeof(v));
		errno = 0;
		switch (rnd(8)) {
		case 0:
			call("read(%s, %s, %s)", name, to == got ? "buf" : "bad", l->name);
			res(sys(SYS_read, fd, to, size));
			break;
		case 1:
			call("write(%s, %s, %s)", name, to == got ? "buf" : "bad", l->name);
			res(sys(SYS_write, fd, to == got ? buf : to, size));
			break;
		case 2:
			call("pread64(%s, %s, %s)", name, l->name, o->name);
			res(sys(SYS_pread64, fd, got, size, o->v));
			break;
		case 3:
			o = in_file(o, reg);
			call("pwrite64(%s, %s, %s)", name, l->name, o->name);
			res(sys(SYS_pwrite64, fd, buf, size, o->v));
			break;
		case 4:
			n = iov_make(v, got, text, sizeof(text));
			call("readv(%s, {%s})", name, text);
			res(sys(SYS_readv, fd, v, n));
			break;
		case 5:
			n = iov_make(v, buf, text, sizeof(text));
			call("writev(%s, {%s})", name, text);
			res(sys(SYS_writev, fd, v, n));
			break;
		case 6:
			n = iov_make(v, got, text, sizeof(text));
			call("preadv2(%s, {%s}, %s, %s)", name, text, o->name, f->name);
			res(sys(SYS_preadv2, fd, v, n, o->v, 0, f->v));
			break;
		default:
			o = in_file(o, reg);
			n = iov_make(v, buf, text, sizeof(text));
			call("pwritev2(%s, {%s}, %s, %s)", name, text, o->name, f->name);
			res(sys(SYS_pwritev2, fd, v, n, o->v, 0, f->v));
			break;
		}
		digest(got, sizeof(got));
		if (*name == 'd' || zero)
			continue;
		/* How far a write got before a bad pointer is the file system's own. */
		if (errno == EFAULT)
			break;
		r = lseek(fd, 0, SEEK_CUR);
		note(" pos %ld", r);
		content_note("f");
		content_note("sparse");
	}
}

static void fam_size(void)
{
	static const struct sym falloc[] = { S(FALLOC_FL_KEEP_SIZE), S(FALLOC_FL_PUNCH_HOLE), S(FALLOC_FL_COLLAPSE_RANGE), S(FALLOC_FL_ZERO_RANGE),
					     S(FALLOC_FL_INSERT_RANGE), S(FALLOC_FL_UNSHARE_RANGE), S(FALLOC_FL_NO_HIDE_STALE), S(0x100) };
	static const struct sym small[] = { S(0), S(1), S(13), S(4096), S(8192), S(5000), S(40960), S(-1), S(0x7fffffffffffffff) };
	const char *name;
	char text[200];
	int fd;

	sparse_make();
	fd = thing(&name);
	for (int i = 0; i < 3; i++) {
		const struct sym *o = pick(small), *l = pick(small);
		long mode;

		if (chance(40)) {
			call("ftruncate(%s, %s)", name, l->name);
			res(sys(SYS_ftruncate, fd, l->v));
		} else {
			mode = pick_flags(falloc, COUNT(falloc), 14, text, sizeof(text));
			if (chance(25)) {
				mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
				strcpy(text, "PUNCH|KEEP");
			}
			call("fallocate(%s, %s, %s, %s)", name, text, o->name, l->name);
			res(sys(SYS_fallocate, fd, mode, o->v, l->v));
			if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE)) /* not on every file system: contents may differ now */
				break;
		}
		content_note("f");
		content_note("sparse");
	}
}

static void fam_splice(void)
{
	static const struct sym flags[] = { S(SPLICE_F_MOVE), S(SPLICE_F_NONBLOCK), S(SPLICE_F_MORE), S(SPLICE_F_GIFT), S(0x10) };
	static const struct sym small[] = { S(0), S(1), S(5), S(100), S(4096), S(20000), S(-1) };
	const char *na, *nb;
	char text[100];
	int a, b, p[2];

	sparse_make();
	a = thing(&na);
	b = thing(&nb);
	if (!pipe2(p, O_NONBLOCK) && write(p[1], "in the pipe", 11) == 11 && chance(60)) {
		if (chance(50))
			a = p[0], na = "fullpipe";
		else
			b = p[1], nb = "pipein";
	}
	for (int i = 0; i < 2; i++) {
		const struct sym *l = pick(small), *o = pick(small), *o2 = pick(small);
		loff_t oa = o->v, ob = o2->v;
		bool ha = chance(40), hb = chance(40);
		long f = pick_flags(flags, COUNT(flags), 12, text, sizeof(text)) | SPLICE_F_NONBLOCK, left = -1;
		int avail = -1;

		switch (rnd(4)) {
		case 0:
			call("splice(%s, %s, %s, %s, %s, %s)", na, ha ? o->name : "-", nb, hb ? o2->name : "-", l->name, text);
			res(sys(SYS_splice, a, ha ? &oa : NULL, b, hb ? &ob : NULL, l->v, f));
			break;
		case 1:
			call("tee(%s, %s, %s, %s)", na, nb, l->name, text);
			res(sys(SYS_tee, a, b, l->v, f));
			break;
		case 2:
			call("sendfile(%s, %s, %s, %s)", nb, na, ha ? o->name : "-", l->name);
			res(sys(SYS_sendfile, b, a, ha ? &oa : NULL, l->v));
			break;
		default:
			call("copy_file_range(%s, %s, %s, %s, %s)", na, ha ? o->name : "-", nb, hb ? o2->name : "-", l->name);
			res(sys(SYS_copy_file_range, a, ha ? &oa : NULL, b, hb ? &ob : NULL, l->v, chance(5)));
			break;
		}
		note(" %lld %lld", (long long)oa, (long long)ob);
		ioctl(p[0], FIONREAD, &avail);
		left = *na == 'd' ? 0 : lseek(a, 0, SEEK_CUR);
		note(" pipe %d pos %ld", avail, left);
		content_note("f");
		content_note("sparse");
	}
}

#define PAGE 4096L
#define PAGES 32

/* The region's mappings, merged by permission, as page counts: what /proc/self/maps says of it. */
static void region_note(char *base)
{
	FILE *m = fopen("/proc/self/maps", "r");
	char text[600];
	unsigned long a, b;
	char perm[8];

	while (m && fgets(text, sizeof(text), m)) {
		if (sscanf(text, "%lx-%lx %7s", &a, &b, perm) != 3 || b <= (unsigned long)base ||
		    a >= (unsigned long)base + PAGES * PAGE)
			continue;
		if (a < (unsigned long)base)
			a = (unsigned long)base;
		if (b > (unsigned long)base + PAGES * PAGE)
			b = (unsigned long)base + PAGES * PAGE;
		note(" %ld+%ld%s", (long)(a - (unsigned long)base) / PAGE, (long)(b - a) / PAGE, perm);
	}
	if (m)
		fclose(m);
}

static void fam_mmap(void)
{
	static const struct sym prots[] = { S(PROT_NONE), S(PROT_READ), S(PROT_READ | PROT_WRITE), S(PROT_READ | PROT_WRITE), S(PROT_READ | PROT_EXEC),
					    S(PROT_WRITE), S(7), S(0x10), S(PROT_GROWSDOWN | PROT_READ) };
	static const struct sym flags[] = { S(MAP_PRIVATE), S(MAP_PRIVATE), S(MAP_SHARED), S(MAP_SHARED), S(MAP_SHARED_VALIDATE), S(0) };
	static const struct sym more[] = { S(MAP_ANONYMOUS), S(MAP_NORESERVE), S(MAP_POPULATE), S(MAP_STACK), S(MAP_DENYWRITE), S(MAP_FIXED_NOREPLACE),
					   S(MAP_SYNC), S(MAP_LOCKED) };
	static const struct sym advice[] = { S(MADV_NORMAL), S(MADV_RANDOM), S(MADV_SEQUENTIAL), S(MADV_WILLNEED), S(MADV_DONTNEED), S(MADV_FREE),
					     S(MADV_REMOVE), S(MADV_DONTFORK), S(MADV_DOFORK), S(MADV_DONTDUMP), S(MADV_DODUMP), S(MADV_WIPEONFORK),
					     S(MADV_COLD), S(MADV_PAGEOUT), S(MADV_POPULATE_READ), S(99), S(-1) };
	static const struct sym remap[] = { S(0), S(MREMAP_MAYMOVE), S(MREMAP_MAYMOVE | MREMAP_FIXED), S(MREMAP_FIXED),
					    S(MREMAP_MAYMOVE | MREMAP_DONTUNMAP), S(8) };
	char *base = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *name;
	char text[200];
	int fd;

	sparse_make();
	/* Nothing of the allocator's may change inside of the region's neighbours while it is
	 * watched. */
	mprotect(base, PAGE, PROT_NONE);
	fd = thing(&name);
	for (int i = 0; i < 3; i++) {
		long at = 2 + (long)rnd(20), len = (long)rnd(9), odd = chance(10) ? 100 : 0;
		const struct sym *p = pick(prots), *f = pick(flags), *a = pick(advice), *m = pick(remap);
		long fl, r, off, to, nlen;
		unsigned char vec[PAGES];

		switch (rnd(7)) {
		case 0:
		case 1:
		case 2:
			fl = pick_flags(more, 6, 22, text, sizeof(text)) | f->v | MAP_FIXED;
			if (fl & MAP_FIXED_NOREPLACE)
				fl &= ~MAP_FIXED;
			/* A socket says no after Linux has emptied the place for it; nobody wants
			 * that. */
			if (!strcmp(name, "socket"))
				fl &= ~MAP_FIXED;
			off = chance(70) ? 0 : chance(60) ? PAGE * (long)rnd(12) : chance(50) ? 100 : -PAGE;
			call("mmap(%ld+%ld, %ld, %s, %s|%s, %s, %ld)", at, odd, len, p->name, f->name, text, name, off);
			r = sys(SYS_mmap, base + at * PAGE + odd, len * PAGE, p->v, fl, fl & MAP_ANONYMOUS && chance(90) ? -1 : fd, off);
			if (r == -1)
				res(r);
			else
				note(" = +%ld", (r - (long)base) / PAGE);
			break;
		case 3:
			call("mprotect(%ld+%ld, %ld, %s)", at, odd, len, p->name);
			res(sys(SYS_mprotect, base + at * PAGE + odd, len * PAGE, p->v));
			break;
		case 4:
			call("madvise(%ld+%ld, %ld, %s)", at, odd, len, a->name);
			res(sys(SYS_madvise, base + at * PAGE + odd, len * PAGE, a->v));
			break;
		case 5:
			to = 2 + (long)rnd(20), nlen = (long)rnd(9);
			call("mremap(%ld+%ld, %ld, %ld, %s, %ld)", at, odd, len, nlen, m->name, to);
			r = sys(SYS_mremap, base + at * PAGE + odd, len * PAGE, nlen * PAGE, m->v, base + to * PAGE);
			if (r == -1)
				res(r);
			else
				note(" = %s", r >= (long)base && r < (long)base + PAGES * PAGE ? "in" : "out");
			break;
		default:
			if (chance(50)) {
				call("munmap(%ld+%ld, %ld)", at, odd, len);
				res(sys(SYS_munmap, base + at * PAGE + odd, len * PAGE));
			} else if (chance(50)) {
				call("msync(%ld+%ld, %ld, %d)", at, odd, len, 7 & (int)at);
				res(sys(SYS_msync, base + at * PAGE + odd, len * PAGE, 7 & (int)at));
			} else {
				call("mincore(%ld+%ld, %ld)", at, odd, len);
				res(sys(SYS_mincore, base + at * PAGE + odd, len * PAGE, vec));
			}
			break;
		}
		region_note(base);
	}
	munmap(base, PAGES * PAGE);
}

const struct family io_families[] = {
	{ "lseek", fam_lseek, FIX, 60 },   { "rw", fam_rw, FIX, 200 },	  { "size", fam_size, FIX, 100 },
	{ "splice", fam_splice, FIX, 120 }, { "mmap", fam_mmap, FIX | OWN, 100 }, { NULL, NULL, 0, 0 },
};
