/* Appending to the journal of a cell that does not run: behind raw files and rings of its last run,
 * without losing or repeating what is in both. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/journalring.h"
#include "journal/journal.h"
#include "journalmake.h"
#include "tap.h"

static char top[] = "/tmp/viv-append.XXXXXX";

static int journal_make(const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return mkdir(path, 0700) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void frame_add(struct buf *b, int pid)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	const struct journal_FORK r = { .parent = 1 };

	buf_add(b, frame, journal_encode(J_FORK, &r, pid, pid, pid, frame));
}

/* A ring with forks of these processes, as a kernel that was killed leaves it. Returns where the
 * second frame begins. */
static uint64_t ring_leave(int dir, uint64_t id, int first, int n)
{
	int fd = openat(dir, "ring.kernel", O_RDWR | O_CREAT | O_EXCL, 0600);
	struct ring_writer w = { 0 };
	uint64_t second = 0;

	if (fd < 0 || journal_ring_make(fd, id) || ring_writer_init(&w, fd, -1))
		abort();
	for (int i = 0; i < n; i++) {
		struct buf b = { 0 };

		frame_add(&b, first + i);
		ring_writer_put(&w, b.p, b.len);
		if (!i)
			second = b.len;
		buf_free(&b);
	}
	close(fd);
	return second;
}

/* The processes of all records, in their order: "3 4 5". */
static const char *all_of(int dir)
{
	static char text[1000];
	struct journal_reader *r;
	struct journal_entry j;
	struct err e;
	size_t n = 0;
	int rc = 0;

	text[0] = 0;
	if (journal_reader_new(dir, 1, &r, &e) < 0)
		return "?";
	while ((rc = journal_reader_next(r, &j, &e)) > 0 && n < sizeof(text) - 40)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d%s", n ? " " : "", j.pid,
				      j.kind == J_HOLE ? "h"
				      : j.block	       ? ""
						       : "!");
	journal_reader_free(r);
	if (rc < 0)
		snprintf(text, sizeof(text), "%s", e.message);
	return text;
}

static void is(const char *got, const char *want, const char *what)
{
	if (!ok(!strcmp(got, want), what))
		printf("# got %s\n", got);
}

static bool is_good(int dir)
{
	struct journal_check c = { .deep = true, .cell = "cell" };
	struct err e;

	return !journal_verify(dir, &c, &e) && !c.nwrong && !c.raw_files;
}

static void test_ring(void)
{
	int dir = journal_make("ring");
	struct buf frames = { 0 };
	struct err e;

	frame_add(&frames, 8);
	frame_add(&frames, 9);
	ring_leave(dir, 77, 3, 3);
	eq(journal_append(dir, "cell", &frames, &e), 0, "a journal that has a ring only");
	is(all_of(dir), "3 4 5 8 9", "what was in the ring comes first");
	ok(faccessat(dir, "ring.kernel", F_OK, 0) < 0, "the ring is gone");
	eq(journal_append(dir, "cell", &frames, &e), 0, "once more");
	is(all_of(dir), "3 4 5 8 9 8 9", "it goes on where it ended");
	frames.len = 0;
	eq(journal_append(dir, "cell", &frames, &e), 0, "nothing to add");
	is(all_of(dir), "3 4 5 8 9 8 9", "is nothing");
	ok(is_good(dir), "all of it is sealed and good");
	buf_free(&frames);
	close(dir);
}

/* The keeper died after it wrote the first frame, and before it moved the ring's tail. */
static void test_both(void)
{
	int dir = journal_make("both");
	struct journal_batch b = { .magic = JOURNAL_BATCH_MAGIC,
				   .count = 1,
				   .seq = 1,
				   .source = JOURNAL_KERNEL,
				   .ring = 78 };
	struct buf frame = { 0 }, all = { 0 }, none = { 0 };
	struct maker m;
	struct err e;

	maker_init(&m, dir, "cell");
	frame_add(&frame, 3);
	b.nbytes = (uint32_t)frame.len;
	b.position = ring_leave(dir, 78, 3, 3);
	b.crc = crc32c(crc32c(0, &b.nbytes, sizeof(b) - offsetof(struct journal_batch, nbytes)),
		       frame.p, frame.len);
	buf_add(&all, &b, sizeof(b));
	buf_add(&all, frame.p, frame.len);
	if (write(m.fd, all.p, all.len) != (ssize_t)all.len)
		abort();
	maker_close(&m);
	eq(journal_append(dir, "cell", &none, &e), 0, "a raw file and a ring");
	is(all_of(dir), "3 4 5", "what is in both comes once");
	ok(is_good(dir), "and it is good");
	buf_free(&frame);
	buf_free(&all);
	close(dir);
}

static void test_hostile(void)
{
	int dir = journal_make("hostile"), fd, lock;
	struct buf frames = { 0 };
	struct journal_ring *bad;
	struct err e;

	frame_add(&frames, 8);
	ring_leave(dir, 79, 3, 3);
	/* A captured kernel says that more is there than fits. */
	fd = openat(dir, "ring.kernel", O_RDWR);
	bad = xalloc(sizeof(*bad));
	if (pread(fd, bad, sizeof(*bad), 0) != sizeof(*bad))
		abort();
	bad->head += 1ull << 40;
	if (pwrite(fd, bad, sizeof(*bad), 0) != sizeof(*bad))
		abort();
	close(fd);
	free(bad);
	eq(journal_append(dir, "cell", &frames, &e), 0, "a ring that is damaged");
	ok(strstr(all_of(dir), "0h") && strstr(all_of(dir), " 8"), "is a hole");
	ok(is_good(dir), "in a good journal");
	frames.p[0] ^= 8;
	ok(journal_append(dir, "cell", &frames, &e) < 0 && e.kind == ERR_INVALID,
	   "frames that are none are refused");
	frames.p[0] ^= 8;
	if (symlinkat("/etc/passwd", dir, "ring.gate"))
		abort();
	ok(journal_append(dir, "cell", &frames, &e) < 0, "a ring that is a link is refused");
	unlinkat(dir, "ring.gate", 0);
	/* A keeper has it. */
	lock = openat(dir, ".", O_RDONLY | O_DIRECTORY);
	if (flock(lock, LOCK_EX))
		abort();
	ok(journal_append(dir, "cell", &frames, &e) < 0 && e.kind == ERR_BUSY,
	   "a journal that is being written is left alone");
	close(lock);
	ok(is_good(dir), "it is as it was");
	buf_free(&frames);
	close(dir);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(top))
		return 1;
	test_ring();
	test_both();
	test_hostile();
	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command))
		return 1;
	return tap_end();
}
