/* Taking records out of the rings (journal.h).
 *
 * When a writer rings, more records are waited for, GATHER long, unless its ring is half full:
 * then all of them are one batch, written by one call, and only after that the writer may use their
 * room again. So what is not in a file is in the ring, whichever process is killed.
 *
 * The kernel has its ring for life, each gate has one of its own: the one before is empty by then.
 * Both are read in the order of their records' times, up to the moment at which that begins: so
 * what a process did is before the connection that it asked for, and that before its end. Times
 * are claims; one ring can never hold up the other for longer than a turn.
 *
 * Everything in a ring is a claim of a process that may have been broken into (host/journalring.h).
 *
 * On a disk that is full the last batch stays in memory, and in its ring, and is tried again each
 * second: the cell's calls wait as soon as the ring is full. With --journal-full continue, batches
 * are counted instead, and the count is a hole record when there is room again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"
#include "host/journalring.h"
#include "keeper/gate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define GATHER (20 * 1000000LL)
#define RETRY NSEC_PER_SEC
#define HOLE_FULL "the disk was full, or --journal-max was reached"
#define ROUNDS 16 /* batches, before others have their turn */

struct ring {
	struct ring_reader reader;
	int fd; /* -1: not needed any more */
	bool named; /* in the journal's directory */
	uint64_t id;
	struct source bell;
	bool gathers; /* it has rung, and more is waited for */
};
#define RINGS JOURNAL_KEEPER /* enum journal_source below it */

static struct {
	bool on, named, started;
	bool follows; /* the loop runs */
	bool go_on; /* --journal-full continue */
	uint32_t level;
	struct jfile file;
	struct ring rings[RINGS];
	struct jbatch *batch; /* the one that is written, or waits for that */
	bool stuck; /* it does */
	enum journal_source stuck_from; /* ... and comes from there */
	bool gate_waits; /* ... and a gate is to be started after that */
	bool told; /* ... which was said */
	uint64_t missing; /* records that were not written */
	int64_t drain_at, retry_at;
} j = { .file = { .dirs = -1, .dir = -1, .raw = -1 },
	.rings = { { .fd = -1, .bell = { .fd = -1 } }, { .fd = -1, .bell = { .fd = -1 } } } };

bool journal_is_on(void)
{
	return j.on && j.named;
}

/* The kernel's own word for it: one that lies has its cell killed. */
bool journal_waits(void)
{
	return journal_is_on() && j.stuck &&
	       __atomic_load_n(&j.rings[JOURNAL_KERNEL].reader.ring->waiting, __ATOMIC_RELAXED);
}

void journal_tell(const char *text)
{
	if (!keeper.o->quiet)
		text_tell(false, text, strlen(text));
	event_add(KEEP_EV_LOG, NULL, 0, 0, text);
}

/* ---- writing ---- */

static void rotate_if_due(void)
{
	bool due = j.file.bytes >= JOURNAL_RAW_MAX ||
		   (j.file.since && clock_mono() >= j.file.since + (int64_t)JOURNAL_RAW_AGE);

	/* A disk without room for the next one: this one goes on. */
	if (due && jfile_rotate(&j.file) == 0)
		sealer_start(&j.file);
	else if (due)
		j.file.since = clock_mono();
}

/* A batch of one hole at the place of what is missing. */
static int hole_write(const char *reason, uint64_t count)
{
	static struct {
		struct journal_batch head;
		uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	} b;
	const struct journal_HOLE r = { .reason = jtext_of(reason), .count = count };

	b.head = (struct journal_batch){ .source = JOURNAL_KEEPER, .count = 1 };
	b.head.nbytes =
		(uint32_t)journal_encode(J_HOLE, &r, 0, clock_mono(), clock_real(), b.frame);
	return jfile_write(&j.file, (struct jbatch *)(void *)&b);
}

static const char *why_text(int err)
{
	return err == -EDQUOT && j.file.max ? "it has reached --journal-max" : strerror(-err);
}

/* Writes j.batch. False: it stays, for later. */
static bool batch_write(void)
{
	int err = 0;

	/* Not again and again at the limit. */
	if (!jfile_has_room(&j.file, sizeof(j.batch->head) + j.batch->head.nbytes))
		err = -EDQUOT;
	else if (j.missing)
		err = hole_write(HOLE_FULL, j.missing);
	if (!err) {
		j.missing = 0;
		err = jfile_write(&j.file, j.batch);
	}
	if (!err) {
		if (j.told)
			journal_tell("the cell's journal can be written again");
		j.stuck = j.told = false;
		j.retry_at = 0;
		return true;
	}
	if (!j.told) {
		char line[200];

		j.told = true;
		snprintf(line, sizeof(line), "the cell's journal cannot be written (%s): %s",
			 why_text(err),
			 j.go_on ? "the cell goes on, and what is missing is counted"
				 : "the cell waits until it can");
		journal_tell(line);
	}
	if (j.go_on) {
		j.missing += j.batch->head.count;
		j.stuck = false;
		return true;
	}
	j.stuck = true;
	j.retry_at = clock_mono() + RETRY;
	return false;
}

static void drain(void);

int journal_frame_put(const void *frame, size_t n)
{
	static struct jbatch *b;

	if (!journal_is_on())
		return 0;
	/* What the others said before comes before, but not before the start. */
	if (j.follows && !j.stuck)
		drain();
	if (!b)
		b = malloc(sizeof(b->head) + JOURNAL_FRAME_MAX);
	if (!b)
		return -ENOMEM;
	b->head = (struct journal_batch){ .source = JOURNAL_KEEPER,
					  .count = 1,
					  .nbytes = (uint32_t)n };
	memcpy(b->frames, frame, n);
	return jfile_write(&j.file, b);
}

/* ---- draining ---- */

/* The writer of a batch may use its room again; only then the file may be left behind, which says
 * up to where the ring was taken. */
static void batch_done(struct ring *r)
{
	ring_reader_done(&r->reader);
	rotate_if_due();
}

/* The next batch of a ring, not later than until, written; false: there is nothing, or it waits for
 * the disk. */
static bool ring_take(struct ring *r, enum journal_source source, int64_t until)
{
	const char *damage;
	uint32_t count;
	size_t n;

	if (!r->reader.ring)
		return false;
	n = ring_reader_take(&r->reader, j.batch->frames, JOURNAL_RING_DATA, until, &count,
			     &damage);
	if (!n && !damage)
		return false;
	if (damage) {
		char reason[128];
		struct journal_HOLE h;

		snprintf(reason, sizeof(reason), "%s: %s", ring_sources[source].file, damage);
		h = (struct journal_HOLE){ .reason = jtext_of(reason) };
		n += journal_encode(J_HOLE, &h, 0, clock_mono(), clock_real(), j.batch->frames + n);
		count++;
	}
	j.batch->head = (struct journal_batch){ .nbytes = (uint32_t)n,
						.count = count,
						.source = source,
						.position = r->reader.position,
						.ring = r->id };
	/* Not what an earlier run has left. */
	if (r == &j.rings[source])
		gate_figures_count(source, j.batch->frames, n);
	if (!batch_write()) {
		j.stuck_from = source;
		return false;
	}
	batch_done(r);
	return true;
}

/* The next batch of either, in the order of their times, up to limit. */
static bool rings_step(struct ring *rings, int64_t limit, bool *took)
{
	int64_t next[RINGS];
	enum journal_source first;

	for (unsigned i = 0; i < RINGS; i++) {
		next[i] = ring_reader_next(&rings[i].reader);
		if (next[i] != INT64_MAX && next[i] > limit && !ring_is_later(next[i], limit))
			next[i] = INT64_MIN; /* that cannot be true */
	}
	first = next[JOURNAL_GATE] < next[JOURNAL_KERNEL] ? JOURNAL_GATE : JOURNAL_KERNEL;
	if (next[first] == INT64_MAX || (limit != INT64_MAX && next[first] > limit) ||
	    !ring_take(&rings[first], first,
		       MIN(next[JOURNAL_KERNEL + JOURNAL_GATE - first], limit)))
		return false;
	took[first] = true;
	return true;
}

/* Up to rounds batches; true: there may be more. */
static bool rings_take(struct ring *rings, unsigned rounds, int64_t limit)
{
	bool took[RINGS] = { false };
	unsigned i = 0;

	while (i < rounds && !j.stuck && rings_step(rings, limit, took))
		i++;
	/* Whatever times one claims, the other has its turn. */
	for (unsigned k = 0; i == rounds && k < RINGS && !j.stuck; k++)
		if (!took[k])
			(void)ring_take(&rings[k], (enum journal_source)k, limit);
	return i == rounds;
}

static bool unstick(void)
{
	if (clock_mono() < j.retry_at || !batch_write())
		return false;
	batch_done(&j.rings[j.stuck_from]);
	if (j.gate_waits)
		gate_retry();
	j.gate_waits = false;
	return true;
}

static void drain_soon(int64_t ns)
{
	int64_t at = clock_mono() + ns;

	j.drain_at = j.drain_at ? MIN(j.drain_at, at) : at;
}

static void drain(void)
{
	/* One alone is in order. */
	int64_t limit = j.rings[JOURNAL_GATE].reader.ring ? clock_mono() : INT64_MAX;
	bool more;

	j.drain_at = 0;
	if (j.stuck && !unstick())
		return;
	more = rings_take(j.rings, ROUNDS, limit);
	for (unsigned i = 0; i < RINGS && !j.stuck; i++) {
		struct ring *r = &j.rings[i];

		if (!r->reader.ring)
			continue;
		r->gathers = !ring_reader_wait(&r->reader, RING_ASLEEP);
		if (!r->gathers)
			continue;
		(void)ring_reader_wait(&r->reader, RING_GATHERS);
		drain_soon(more ? 0 : GATHER);
	}
}

static void bell_rang(struct source *s, uint32_t events)
{
	struct ring *r = container_of(s, struct ring, bell);
	uint64_t n;

	(void)events;
	(void)!read(s->fd, &n, sizeof(n));
	if (j.stuck)
		return;
	if (r->gathers) { /* the ring is half full */
		drain();
		return;
	}
	r->gathers = true;
	(void)ring_reader_wait(&r->reader, RING_GATHERS);
	drain_soon(GATHER);
}

void journal_flush(void)
{
	if (journal_is_on() && j.follows && !j.stuck)
		drain();
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a && b ? MIN(a, b) : a ? a : b;
}

int64_t journal_deadline(void)
{
	int64_t next = sooner(j.drain_at, j.retry_at);

	if (!journal_is_on())
		return 0;
	next = sooner(next, sealer_deadline());
	return j.stuck || !j.file.since ? next
					: sooner(next, j.file.since + (int64_t)JOURNAL_RAW_AGE);
}

void journal_time(void)
{
	int64_t now = clock_mono();

	if (!journal_is_on())
		return;
	sealer_time(now);
	j.follows = true;
	if ((j.drain_at && now >= j.drain_at) || (j.retry_at && now >= j.retry_at))
		drain();
	if (!j.stuck)
		rotate_if_due();
}

/* ---- what an earlier keeper left ---- */

/* A ring whose writer and reader were killed. 0, or -errno: a hole cannot be written. */
static int ring_find(struct ring *r, enum journal_source source)
{
	const struct jplace *place = &j.file.places[source];
	int fd = openat(j.file.dir, ring_sources[source].file, O_RDWR | O_CLOEXEC | O_NOFOLLOW),
	    err;

	bool used = fd >= 0 && journal_ring_is_made(fd);

	if (fd < 0)
		return 0;
	err = ring_reader_init(&r->reader, fd, ring_sources[source].kinds);
	close(fd);
	/* Its keeper died before it had a writer. */
	if (!used) {
		ring_reader_fini(&r->reader);
		return 0;
	}
	if (err)
		return hole_write("a ring that an earlier run left is damaged", 0);
	r->id = r->reader.ring->id;
	/* It died after it wrote, and before it said so. */
	if (place->ring == r->id)
		r->reader.position = place->position & ~7ull;
	return 0;
}

static int rings_recover(struct err *e)
{
	struct ring old[RINGS] = { 0 };
	int err = 0;

	for (unsigned i = 0; i < RINGS && !err; i++)
		err = ring_find(&old[i], (enum journal_source)i);
	while (!err && rings_take(old, ROUNDS, INT64_MAX))
		;
	if (j.stuck)
		err = j.file.max ? -EDQUOT : -ENOSPC;
	j.stuck = false;
	for (unsigned i = 0; i < RINGS; i++)
		ring_reader_fini(&old[i].reader);
	if (err)
		return err_set(
			e, ERR_NO_SPACE,
			"cannot write the cell's journal: %s" REMEDY
			"make room, raise --journal-max, or start the cell with --journal off",
			why_text(err));
	for (unsigned i = 0; i < RINGS; i++)
		if (unlinkat(j.file.dir, ring_sources[i].file, 0) < 0 && errno != ENOENT)
			return err_set(e, ERR_FAILED,
				       "cannot remove an old ring of the cell's journal: %s",
				       strerror(errno));
	return 0;
}

/* ---- begin and end ---- */

/* The one that a spare journal has, which nobody has written to; -1: there is none. */
static int spare_ring(void)
{
	const char *name = ring_sources[JOURNAL_KERNEL].file;
	int fd = openat(j.file.dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && journal_ring_is_made(fd) && fstat(fd, &st) == 0 && st.st_nlink == 1)
		return fd;
	if (fd >= 0)
		close(fd);
	(void)!unlinkat(j.file.dir, name, 0);
	return -1;
}

/* A new one, in the journal's directory or in that of all journals without a name yet, and what its
 * writer rings. -errno: what was made is the caller's to close. */
static int ring_make(enum journal_source source, bool named)
{
	struct ring *r = &j.rings[source];
	bool spare = named && source == JOURNAL_KERNEL && j.file.spare;
	int err, bell;

	r->fd = spare ? spare_ring() : -1;
	spare = r->fd >= 0;
	if (!spare)
		r->fd = named ? openat(j.file.dir, ring_sources[source].file,
				       O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)
			      : openat(j.file.dirs, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	err = r->fd < 0 ? -errno : 0;
	r->named = named && !err;
	if (!err && !spare && getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id))
		err = -EIO;
	if (!err && !spare)
		err = journal_ring_make(r->fd, r->id);
	if (!err)
		err = ring_reader_init(&r->reader, r->fd, ring_sources[source].kinds);
	if (err)
		return err;
	r->id = r->reader.ring->id;
	r->gathers = false;
	(void)ring_reader_wait(&r->reader, RING_ASLEEP);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell < 0)
		return -errno;
	if (source_add(&r->bell, bell, EPOLLIN, bell_rang) < 0) {
		close(bell);
		r->bell.fd = -1;
		return -EMFILE;
	}
	return 0;
}

/* For its writer; our own descriptor goes, unless the file has no name yet. 0 or -errno. */
static int ring_give(struct ring *r, int *ret_ring, int *ret_bell)
{
	*ret_ring = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	*ret_bell = fcntl(r->bell.fd, F_DUPFD_CLOEXEC, 0);
	if (*ret_ring < 0 || *ret_bell < 0) {
		if (*ret_ring >= 0)
			close(*ret_ring);
		*ret_ring = -1;
		return -EMFILE;
	}
	if (r->named) {
		close(r->fd);
		r->fd = -1;
	}
	return 0;
}

/* Its name in the cell's journal, which has a directory by now. 0 or -errno. */
static int ring_name(enum journal_source source)
{
	struct ring *r = &j.rings[source];
	char path[32];

	if (r->fd < 0)
		return 0;
	/* Not that of a spare journal: a kernel has this one already. */
	if (source == JOURNAL_KERNEL && j.file.spare)
		(void)!unlinkat(j.file.dir, ring_sources[source].file, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
	if (linkat(AT_FDCWD, path, j.file.dir, ring_sources[source].file, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	r->named = true;
	close(r->fd);
	r->fd = -1;
	return 0;
}

/* empty: nothing is left in it, and its file goes. */
static void ring_close(enum journal_source source, bool empty)
{
	struct ring *r = &j.rings[source];

	if (empty && r->named)
		(void)!unlinkat(j.file.dir, ring_sources[source].file, 0);
	r->named = false;
	if (r->bell.fd >= 0)
		source_close(&r->bell);
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	ring_reader_fini(&r->reader);
}

static int make_failed(int err, struct err *e)
{
	return err_set(e, err == -ENOSPC ? ERR_NO_SPACE : ERR_FAILED,
		       "cannot make the cell's journal: %s" REMEDY
		       "make room, or start the cell with --journal off",
		       strerror(-err));
}

/* The id is known: its directory, and what an earlier run left there. */
static int directory_make(struct err *e)
{
	if (jfile_open(&j.file, keeper.id, e) < 0)
		return -1;
	return j.file.fresh ? 0 : rings_recover(e);
}

static void named(void)
{
	j.named = true;
	jfile_meta(&j.file, false);
	if (!j.file.fresh)
		sealer_start(&j.file);
}

int journal_name(struct err *e)
{
	int err = 0;

	if (!j.on || j.named)
		return 0;
	if (directory_make(e) < 0)
		return -1;
	for (unsigned i = 0; i < RINGS && !err; i++)
		err = ring_name((enum journal_source)i);
	if (err)
		return make_failed(err, e);
	named();
	return 0;
}

static int prepare(const struct run_options *o, const struct rootfs *p, int *ret_ring,
		   int *ret_bell, struct err *e)
{
	int err;

	j.on = true;
	j.batch = malloc(sizeof(*j.batch));
	if (!j.batch)
		return err_set(e, ERR_FAILED, "out of memory");
	if (jfile_store(&j.file, p, e) < 0 || (keeper.id[0] && directory_make(e) < 0))
		return -1;
	err = ring_make(JOURNAL_KERNEL, keeper.id[0]);
	if (!err)
		err = ring_give(&j.rings[JOURNAL_KERNEL], ret_ring, ret_bell);
	if (err)
		return make_failed(err, e);
	j.file.max = o->journal_max;
	jfile_measure(&j.file);
	if (keeper.id[0])
		named();
	return 0;
}

int journal_prepare(const struct run_options *o, const struct rootfs *p, int *ret_ring,
		    int *ret_bell, struct err *e)
{
	char text[400];

	*ret_ring = *ret_bell = -1;
	j.level = run_journal(o);
	if (j.level == JOURNAL_OFF || o->tell.mode != MODE_RUN || o->visit)
		return 0;
	j.go_on = run_journal_full(o) == JOURNAL_FULL_CONTINUE;
	if (prepare(o, p, ret_ring, ret_bell, e) == 0)
		return 0;
	/* Nobody asked for it: the cell runs all the same. One that waits in a pool does not, so
	 * that the one that is started instead of it says so to its user. */
	if (run_is_given(o, SET_JOURNAL) || o->pool)
		return -1;
	journal_drop();
	snprintf(text, sizeof(text), "the cell runs without a journal: %.300s", err_line(e).str);
	journal_tell(text);
	e->kind = ERR_NONE;
	return 0;
}

/* ---- the gate's ring ---- */

void journal_gate_end(void)
{
	if (!journal_is_on() || !j.rings[JOURNAL_GATE].reader.ring)
		return;
	if (!j.stuck)
		drain();
	/* It writes no more: this has an end. */
	while (!j.stuck && ring_take(&j.rings[JOURNAL_GATE], JOURNAL_GATE, INT64_MAX))
		;
}

int journal_gate_begin(int *ret_ring, int *ret_bell)
{
	int err;

	*ret_ring = *ret_bell = -1;
	if (!j.on)
		return 0;
	journal_gate_end();
	if (j.stuck) {
		j.gate_waits = true;
		return -EAGAIN;
	}
	ring_close(JOURNAL_GATE, true);
	err = ring_make(JOURNAL_GATE, j.named);
	if (!err)
		err = ring_give(&j.rings[JOURNAL_GATE], ret_ring, ret_bell);
	if (!err)
		return 0;
	for (unsigned i = 0; i < 2; i++)
		if (*(i ? ret_bell : ret_ring) >= 0)
			close(*(i ? ret_bell : ret_ring));
	*ret_ring = *ret_bell = -1;
	ring_close(JOURNAL_GATE, true);
	return err;
}

void journal_follow(void)
{
	const struct rootfs *p = keeper.rootfs;
	const struct journal_START r = {
		.id = jtext_of(keeper.id),
		.name = jtext_of(p->kept ? p->cell.name : ""),
		.image = jtext_of(p->stored ? p->image.hash : "host"),
		.level = jtext_of(j.level == JOURNAL_ALL ? "all" : "changes"),
		.version = jtext_of(VIV_VERSION),
	};

	if (j.started || !journal_is_on())
		return;
	j.started = true;
	journal_record(J_START, &r, 0);
	if (keeper.o->policy)
		journal_policy(keeper.o->policy);
}

int journal_begin(struct err *e)
{
	if (journal_name(e) < 0)
		return -1;
	journal_follow();
	return 0;
}

/* empty: what was in the rings is in files, and theirs go. */
static void all_close(bool empty)
{
	for (unsigned i = 0; i < RINGS; i++)
		ring_close((enum journal_source)i, empty);
	free(j.batch);
	j.batch = NULL;
	j.on = j.named = false;
}

void journal_drop(void)
{
	if (!j.on)
		return;
	all_close(true);
	jfile_drop(&j.file);
}

static const char *reason_of(enum keep_reason reason)
{
	switch (reason) {
	case KEEP_ENDED:
		return "ended";
	case KEEP_ASKED:
		return "asked";
	case KEEP_TIME_UP:
		return "timeout";
	case KEEP_OUT_OF_MEMORY:
		return "memory";
	default:
		return "failed";
	}
}

void journal_stop(int status, enum keep_reason reason)
{
	const struct journal_STOP r = { .status = status, .reason = jtext_of(reason_of(reason)) };
	bool waits = j.stuck;

	if (!journal_is_on()) {
		journal_drop();
		return;
	}
	/* Nobody writes any more: it has an end. */
	j.retry_at = 0;
	if (!waits || batch_write()) {
		if (waits)
			batch_done(&j.rings[j.stuck_from]);
		while (rings_take(j.rings, ROUNDS, INT64_MAX))
			;
	}
	/* On a disk that is full the rings stay as they are, for the next run. */
	if (!j.stuck) {
		if (j.missing && hole_write(HOLE_FULL, j.missing) == 0)
			j.missing = 0;
		journal_record(J_STOP, &r, 0);
	}
	jfile_meta(&j.file, true);
	all_close(!j.stuck);
	sealer_leave(&j.file);
	jfile_close(&j.file);
}
