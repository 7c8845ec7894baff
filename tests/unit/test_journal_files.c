/* Journals on disk: sealing, reading, following while raw files become blocks, and a sealer that is
 * killed at every step. */
#include <errno.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "journal/files.h"
#include "journal/journal.h"
#include "journalmake.h"
#include "tap.h"

static char root[] = "/tmp/test_journal.XXXXXX";

/* ---- a sealer that dies ---- */

static int die_after = -1; /* calls that change something */
static bool die_half; /* in the middle of a write */

static bool dies(void)
{
	return die_after >= 0 && die_after-- == 0;
}

/* These take the place of the C library's. */
ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");

	if (dies()) {
		if (die_half)
			(void)!real(fd, data, n / 2, at);
		_exit(9);
	}
	return real(fd, data, n, at);
}

#define DYING(type, name, params, args)                       \
	type name params                                      \
	{                                                     \
		type(*real) params = dlsym(RTLD_NEXT, #name); \
                                                              \
		if (dies())                                   \
			_exit(9);                             \
		return real args;                             \
	}
DYING(int, fdatasync, (int fd), (fd))
DYING(int, fsync, (int fd), (fd))
DYING(int, ftruncate, (int fd, off_t n), (fd, n))
DYING(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))
DYING(int, linkat, (int a, const char *b, int c, const char *d, int e), (a, b, c, d, e))

/* ---- directories ---- */

static int journal_make(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	if (mkdir(path, 0700))
		abort();
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void add_read(struct maker *m, uint64_t i)
{
	char path[64];
	struct journal_READ r = { .path = { path, (uint32_t)snprintf(path, sizeof(path), "/f/%llu",
								     (unsigned long long)i) } };

	maker_add(m, J_READ, &r, 5);
}

/* Adds n records, in batches of at most 7. */
static void add_some(struct maker *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		add_read(m, m->seq + m->count);
		if (m->count == 7)
			maker_flush(m);
	}
	maker_flush(m);
}

/* Reads what there is: records follow each other and are the ones that were added. */
static uint64_t read_more(struct journal_reader *r, uint64_t next, bool *good, uint64_t *sealed)
{
	struct journal_entry j;
	struct err e;
	int rc;

	while ((rc = journal_reader_next(r, &j, &e)) > 0) {
		char path[64];
		int n = snprintf(path, sizeof(path), "/f/%llu", (unsigned long long)j.seq);

		*good &= j.seq == next && j.kind == J_READ && j.pid == 5 &&
			 j.record->READ.path.n == (uint32_t)n &&
			 !memcmp(j.record->READ.path.p, path, (size_t)n);
		*sealed += j.block != 0;
		next++;
	}
	if (rc < 0) {
		printf("# %s\n", err_line(&e).str);
		*good = false;
	}
	return next;
}

static uint64_t read_all(int dir, uint64_t from, bool *good, uint64_t *sealed)
{
	struct journal_reader *r;
	struct err e;
	uint64_t next;

	*good = true;
	*sealed = 0;
	if (journal_reader_new(dir, from, &r, &e) < 0)
		return 0;
	next = read_more(r, MAX(from, 1), good, sealed);
	journal_reader_free(r);
	return next;
}

static void test_seal(void)
{
	int dir = journal_make("seal");
	uint64_t sealed;
	struct journal_tip tip;
	struct maker m;
	struct err e;
	bool good;

	maker_init(&m, dir, "cell1");
	add_some(&m, 100);
	eq(read_all(dir, 1, &good, &sealed), 101, "records in a raw file are read");
	ok(good && !sealed, "all of them, as not sealed");
	eq(journal_seal(dir, SEAL_COMPLETE, &e), 0, "seal without --all");
	ok(journal_numbered_exists(dir, RAW_NAME, 1), "leaves the last raw file");
	maker_rotate(&m);
	add_some(&m, 50);
	eq(journal_seal(dir, SEAL_COMPLETE, &e), 0, "seal what is complete");
	ok(!journal_numbered_exists(dir, RAW_NAME, 1) && journal_numbered_exists(dir, RAW_NAME, 2),
	   "the raw file is gone");
	eq(read_all(dir, 1, &good, &sealed), 151, "blocks and raw files are read");
	ok(good && sealed == 100, "each record once");
	eq(read_all(dir, 90, &good, &sealed), 151, "from the middle of a block");
	ok(good && sealed == 11, "each record once");
	eq(read_all(dir, 120, &good, &sealed), 151, "from the middle of a raw file");
	ok(good && sealed == 0, "without those before");
	maker_close(&m);
	eq(journal_seal(dir, SEAL_ALL, &e), 0, "seal all");
	ok(!journal_numbered_exists(dir, RAW_NAME, 2), "the last raw file is gone");
	eq(read_all(dir, 1, &good, &sealed), 151, "all is sealed");
	ok(good && sealed == 150, "each record once");
	ok(!journal_tip_read(dir, &tip, &e) && tip.block == 2 && tip.records == 150 &&
		   !strcmp(tip.cell, "cell1"),
	   "the tip is the last block");
	close(dir);
}

static void test_follow(void)
{
	int dir = journal_make("follow");
	struct journal_reader *r;
	uint64_t next = 1, sealed = 0;
	bool good = true, kept_up = true;
	struct maker m;
	struct err e;

	maker_init(&m, dir, "cell1");
	if (journal_reader_new(dir, 1, &r, &e) < 0)
		abort();
	srand(1);
	for (unsigned i = 0; i < 3000; i++) {
		switch (rand() % 6) {
		case 0:
		case 1:
		case 2:
			add_some(&m, (unsigned)rand() % 20);
			break;
		case 3:
			maker_rotate(&m);
			break;
		case 4:
			if (journal_seal(dir, SEAL_COMPLETE, &e) < 0)
				good = false;
			break;
		default:
			next = read_more(r, next, &good, &sealed);
			kept_up &= next == m.seq;
		}
	}
	maker_close(&m);
	next = read_more(r, next, &good, &sealed);
	ok(good, "following a journal that is sealed shows each record once");
	ok(kept_up && next == m.seq, "and all that there are");
	journal_reader_free(r);
	if (journal_seal(dir, SEAL_ALL, &e) < 0)
		good = false;
	ok(read_all(dir, 1, &good, &sealed) == m.seq && good && sealed == m.seq - 1,
	   "they are the same when all is sealed");
	close(dir);
}

static void test_torn_raw(void)
{
	int dir = journal_make("tornraw");
	uint64_t sealed;
	struct maker m;
	struct err e;
	bool good;

	maker_init(&m, dir, "cell1");
	add_some(&m, 20);
	if (write(m.fd, "BTCHxxxxxxxxxx", 14) != 14)
		abort();
	eq(read_all(dir, 1, &good, &sealed), 21, "a torn batch is the end of a raw file");
	maker_rotate(&m);
	add_some(&m, 5);
	eq(read_all(dir, 1, &good, &sealed), 26, "the next file goes on");
	ok(good, "with the next record");
	maker_close(&m);
	eq(journal_seal(dir, SEAL_ALL, &e), 0, "it is sealed");
	ok(read_all(dir, 1, &good, &sealed) == 26 && good && sealed == 25, "and read");
	close(dir);
}

static void test_damaged_raw(void)
{
	int dir = journal_make("damagedraw");
	struct journal_reader *r;
	struct journal_entry j;
	struct maker m;
	struct err e;
	int rc, n = 0, wrong = 0;

	maker_init(&m, dir, "cell1");
	add_some(&m, 21);
	if (pwrite(openat(dir, "raw.00000001", O_WRONLY), "x", 1, 500) != 1)
		abort();
	maker_rotate(&m);
	add_some(&m, 5);
	maker_close(&m);
	eq(journal_seal(dir, SEAL_ALL, &e), 0, "a raw file that was changed is sealed up to there");
	ok(!faccessat(dir, "damaged.00000001", F_OK, 0), "and kept");
	if (journal_reader_new(dir, 1, &r, &e) < 0)
		abort();
	while ((rc = journal_reader_next(r, &j, &e)) != 0) {
		wrong += rc < 0;
		n += rc > 0;
	}
	journal_reader_free(r);
	ok(wrong == 1 && n == 12, "the reader says that records are missing, and goes on");
	close(dir);
}

/* A sealer that dies at its n-th change, at every n, and the one after it. */
static void test_killed(void)
{
	bool all_good = true, same = true;
	unsigned tries = 0;

	for (int half = 0; half < 2; half++) {
		for (int n = 0;; n++) {
			char name[32];
			uint64_t sealed;
			struct maker m;
			struct err e;
			bool good;
			int status, dir;
			pid_t pid;

			snprintf(name, sizeof(name), "kill%d.%d", half, n);
			dir = journal_make(name);
			maker_init(&m, dir, "cell1");
			for (int i = 0; i < 3; i++) {
				add_some(&m, 30);
				maker_rotate(&m);
			}
			maker_close(&m);
			fflush(stdout);
			pid = fork();
			if (!pid) {
				die_half = half;
				die_after = n;
				_exit(journal_seal(dir, SEAL_ALL, &e) < 0 ? 1 : 0);
			}
			waitpid(pid, &status, 0);
			tries++;
			same &= read_all(dir, 1, &good, &sealed) == 91 && good;
			if (journal_seal(dir, SEAL_ALL, &e) < 0) {
				printf("# at %d: %s\n", n, err_line(&e).str);
				all_good = false;
			}
			all_good &= read_all(dir, 1, &good, &sealed) == 91 && good && sealed == 90;
			close(dir);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				break;
		}
	}
	ok(same, "whenever a sealer dies, nothing is missing for a reader");
	ok(all_good && tries > 20, "and the next sealer finishes it");
	printf("# killed at %u places\n", tries - 2);
}

static void test_links(void)
{
	char path[128], other[128];
	int dir = journal_make("links");
	struct maker m;
	struct err e;

	maker_init(&m, dir, "cell1");
	add_some(&m, 3);
	maker_close(&m);
	snprintf(path, sizeof(path), "%s/links", root);
	snprintf(other, sizeof(other), "%s/links2", root);
	if (symlink(path, other))
		abort();
	eq(journal_dir_open(other, &e), -1, "a journal that is a link is refused");
	if (chmod(path, 0770))
		abort();
	eq(journal_dir_open(path, &e), -1, "one that others can write to is refused");
	if (chmod(path, 0700) || linkat(dir, "raw.00000001", dir, "x", 0))
		abort();
	eq(journal_seal(dir, SEAL_ALL, &e), -1, "a raw file with a second name is refused");
	if (unlinkat(dir, "x", 0) || renameat(dir, "raw.00000001", dir, "y") ||
	    symlinkat("y", dir, "raw.00000001"))
		abort();
	eq(journal_seal(dir, SEAL_ALL, &e), -1, "one that is a symbolic link is refused");
	close(dir);
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(root))
		return 1;
	test_seal();
	test_follow();
	test_torn_raw();
	test_damaged_raw();
	test_killed();
	test_links();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	if (system(cmd))
		return 1;
	return tap_end();
}
