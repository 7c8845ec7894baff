/* The memory that runners answer look-ups from: it cannot be written by any of them, by no way of
 * mapping it; who changes his own copy, his own contexts or the rewritten code fools himself and
 * nobody else. usage: fastmem */
#include "hostile.h"

#include "../../src/stub/fast.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static struct fast_region *const region = (struct fast_region *)FAST_BASE;
static volatile sig_atomic_t faults;

static void on_fault(int sig)
{
	faults++;
	(void)sig;
	_exit(42);
}

static long map_stub(long prot, long flags, long off)
{
	return RAW(SYS_mmap, 0, 65536, prot, flags, STUB_MAP_HI | STUB_FD, off);
}

static void write_it(void *arg)
{
	(void)arg;
	signal(SIGSEGV, on_fault);
	region->epoch = 1;
}

/* A private copy: mprotect makes it, and only here. */
static void wreck_own(void *arg)
{
	struct stat st;

	(void)arg;
	if (RAW(SYS_mprotect, region, FAST_SIZE, PROT_READ | PROT_WRITE) != 0)
		_exit(9);
	for (uint32_t i = 0; i < FAST_INDEX; i++)
		region->index[i] = (uint32_t)rnd();
	memset(region->area, 0x41, 1 << 20);
	for (int i = 0; i < 1000; i++)
		stat("/usr/bin/env", &st);
	for (size_t i = 0; i < FAST_SIZE; i += 4)
		((uint32_t *)region)[i / 4] = (uint32_t)rnd() & 0x1ffff;
	region->epoch = 2;
	for (int i = 0; i < 1000; i++)
		stat("/usr/bin/env", &st);
	_exit(7);
}

static void unmap_it(void *arg)
{
	struct stat st;

	(void)arg;
	RAW(SYS_munmap, region, FAST_SIZE);
	for (int i = 0; i < 100; i++)
		stat("/usr/bin/env", &st);
	_exit(7);
}

static int looks_right(void)
{
	struct stat a, b;

	for (int i = 0; i < 50; i++)
		if (stat("/tmp/fm", &a) || a.st_size != 5 || stat("/usr/bin/env", &b) || !S_ISREG(b.st_mode) ||
		    stat("/tmp/fm/x", &b) != -1 || errno != ENOTDIR)
			return 0;
	return 1;
}

/* Every aligned word of the stub's own data becomes something else: contexts too. */
static void scribble(void *arg)
{
	uint32_t *w = (uint32_t *)(STUB_BASE + (uintptr_t)arg);
	struct stat st;

	signal(SIGSEGV, on_fault);
	for (int i = 0; i < 1024; i++) {
		uint32_t was = w[i];

		w[i] = (uint32_t)below(200);
		stat("/tmp/fm", &st);
		stat("fm", &st);
		access("/root/secret", F_OK);
		w[i] = was;
	}
	_exit(7);
}

/* The payload of the reserved signal, sent to oneself: rewrite anything. */
static void rewrite_anything(void *arg)
{
	static const uint64_t where[] = { 0, 7, 4096, STUB_BASE + 0x1100, FAST_BASE + 64, 0x7ffffffff000, ~0UL };
	struct {
		int32_t signo, err, code, pad;
		uint64_t ip, single;
		char rest[96];
	} si = { .signo = STUB_SIG, .code = -1 };

	(void)arg;
	signal(SIGSEGV, on_fault);
	si.err = (int)SIG_PACK(0, SIGF_PATCH, 0);
	for (unsigned i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		si.ip = where[i];
		MARKED(SYS_rt_tgsigqueueinfo, getpid(), getpid(), STUB_SIG, &si, 0);
	}
	si.ip = (uint64_t)stat + 10;
	MARKED(SYS_rt_tgsigqueueinfo, getpid(), getpid(), STUB_SIG, &si, 0);
	_exit(looks_right() ? 7 : 8);
}

int main(void)
{
	int fd = open("/tmp/fm", O_WRONLY | O_CREAT | O_TRUNC, 0644), st;
	long m, wrote = 0;

	write(fd, "hello", 5);
	close(fd);
	check(looks_right() && looks_right(), "look-ups are right");
	check(region->epoch != 0 && !(region->epoch & 1), "the memory is there");
	st = in_child(write_it, NULL, 1000);
	check(WIFEXITED(st) && WEXITSTATUS(st) == 42, "it cannot be written");
	for (long off = 0; off < 0x320000; off += 65536) {
		m = map_stub(PROT_READ | PROT_WRITE, MAP_SHARED, off);
		wrote += m > 0;
		m = map_stub(PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE, off);
		wrote += m > 0;
		m = map_stub(PROT_READ, MAP_SHARED, off);
		if (m > 0) {
			wrote += RAW(SYS_mprotect, m, 65536, PROT_READ | PROT_WRITE) == 0;
			wrote += RAW(SYS_madvise, m, 65536, MADV_REMOVE) == 0;
			wrote += RAW(SYS_madvise, m, 65536, MADV_POPULATE_WRITE) == 0;
			wrote += RAW(SYS_mremap, m, 65536, 131072, MREMAP_MAYMOVE) < 0 ? 0 :
				 RAW(SYS_mprotect, m, 65536, PROT_READ | PROT_WRITE) == 0;
		}
	}
	check(wrote == 0, "no mapping of it can be written");
	st = in_child(wreck_own, NULL, 3000);
	check(st != -2 && looks_right(), "a copy full of nonsense is its owner's own");
	st = in_child(unmap_it, NULL, 1000);
	check(st != -2 && looks_right(), "without it");
	for (long page = 5; page < 9; page++)
		in_child(scribble, (void *)(page * 4096), 3000);
	check(looks_right(), "contexts and other words of the stub made up");
	in_child(rewrite_anything, NULL, 1000);
	check(looks_right() && cell_is_well(), "orders to rewrite code, made up");
	unlink("/tmp/fm");
	return done();
}
