/* Records for the journal of a cell that does not run, and what its last run left (journal.h).
 *
 * Whoever has the journal's lock is its one writer, as a keeper is. In this order: raw files are
 * read, for how far they go and how much of each ring is in them; they are sealed; what is left in
 * rings is written to the next raw file, and the rings are removed; the new records follow; all of
 * it is sealed. So a process that is killed anywhere leaves a journal that the next one can go on
 * with. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "host/journalring.h"
#include "journal/files.h"
#include "journal/journal.h"

#define LOCK_WAIT_MS 3000

struct appender {
	int dir, fd; /* fd: the raw file; -1: there is none yet */
	struct journal_raw head;
	off_t end;
	uint64_t seq; /* of the next record */
	struct {
		uint64_t ring, position;
	} places[JOURNAL_KEEPER];
	struct {
		struct journal_batch head;
		uint8_t frames[JOURNAL_BATCH_MAX];
	} * batch;
};

/* ---- the lock ---- */

static int lock_take(int dir, struct err *e)
{
	for (unsigned ms = 0; flock(dir, LOCK_EX | LOCK_NB) < 0; ms += 10) {
		if (errno == EINTR || (errno == EWOULDBLOCK && ms < LOCK_WAIT_MS)) {
			usleep(10000);
			continue;
		}
		return err_set(e, ERR_BUSY,
			       "the journal is being written" REMEDY
			       "wait until its cell has ended");
	}
	return 0;
}

/* ---- writing ---- */

static int write_failed(int err, struct err *e)
{
	return err_set(e, err == ENOSPC || err == EDQUOT ? ERR_NO_SPACE : ERR_FAILED,
		       "cannot write the journal: %s", strerror(err));
}

static int raw_make(struct appender *a, struct err *e)
{
	if (a->fd >= 0)
		return 0;
	a->head.seq = a->seq;
	a->fd = journal_numbered_open(a->dir, RAW_NAME, a->head.number, O_RDWR | O_CREAT | O_EXCL,
				      e);
	if (a->fd < 0)
		return -1;
	if (pwrite(a->fd, &a->head, sizeof(a->head), 0) != sizeof(a->head))
		return write_failed(errno ? errno : ENOSPC, e);
	a->end = sizeof(a->head);
	return 0;
}

/* Writes a->batch, whose frames, count and place are filled in. */
static int batch_write(struct appender *a, struct err *e)
{
	struct journal_batch *b = &a->batch->head;
	size_t n = sizeof(*b) + b->nbytes;
	ssize_t put;

	if (raw_make(a, e) < 0)
		return -1;
	b->magic = JOURNAL_BATCH_MAGIC;
	b->seq = a->seq;
	b->crc =
		crc32c(crc32c(0, (const char *)b + 8, sizeof(*b) - 8), a->batch->frames, b->nbytes);
	put = pwrite(a->fd, a->batch, n, a->end);
	if (put != (ssize_t)n) {
		int err = put < 0 ? errno : ENOSPC;

		(void)!ftruncate(a->fd, a->end);
		return write_failed(err, e);
	}
	a->end += put;
	a->seq += b->count;
	return 0;
}

static size_t hole_put(uint8_t *to, const char *reason)
{
	const struct journal_HOLE h = { .reason = { reason, (uint32_t)strlen(reason) } };
	struct timespec mono, wall;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &wall);
	return journal_encode(J_HOLE, &h, 0, mono.tv_sec * NSEC_PER_SEC + mono.tv_nsec,
			      wall.tv_sec * NSEC_PER_SEC + wall.tv_nsec, to);
}

/* ---- what the last run left ---- */

/* How far each ring is in raw files. */
static int places_read(struct appender *a, struct err *e)
{
	struct journal_names names;
	struct raw r = RAW_INIT;
	int rc = 0;

	if (journal_names_read(&names, a->dir, e) < 0)
		return -1;
	for (size_t i = 0; i < BUF_COUNT(&names.raws, uint64_t) && !rc; i++) {
		enum raw_rc got = raw_open(&r, a->dir, *BUF_ITEM(&names.raws, uint64_t, i), e);

		while (got == RAW_BATCH && (got = raw_next(&r, e)) == RAW_BATCH)
			if (r.batch.source < JOURNAL_KEEPER) {
				a->places[r.batch.source].ring = r.batch.ring;
				a->places[r.batch.source].position = r.batch.position;
			}
		rc = got == RAW_FAILED ? -1 : 0;
		raw_close(&r);
	}
	journal_names_free(&names);
	return rc;
}

/* The next batch of a ring: 1; 0: it is empty. */
static int ring_take(struct appender *a, struct ring_reader *r, enum journal_source source,
		     struct err *e)
{
	const char *damage;
	uint32_t count;
	size_t n = ring_reader_take(r, a->batch->frames, JOURNAL_RING_DATA, INT64_MAX, &count,
				    &damage);
	char reason[128];

	if (!n && !damage)
		return 0;
	if (damage) {
		snprintf(reason, sizeof(reason), "%s: %s", ring_sources[source].file, damage);
		n += hole_put(a->batch->frames + n, reason);
		count++;
	}
	a->batch->head = (struct journal_batch){ .nbytes = (uint32_t)n,
						 .count = count,
						 .source = source,
						 .position = r->position,
						 .ring = r->ring->id };
	return batch_write(a, e) < 0 ? -1 : 1;
}

static int ring_recover(struct appender *a, enum journal_source source, struct err *e)
{
	int fd = journal_file_open(a->dir, ring_sources[source].file, O_RDWR, e), rc;
	struct ring_reader r = { 0 };
	bool made;

	if (fd < 0)
		return e->kind == ERR_NOT_FOUND ? 0 : -1;
	made = journal_ring_is_made(fd);
	rc = ring_reader_init(&r, fd, ring_sources[source].kinds);
	close(fd);
	if (!made) {
		rc = 0; /* its keeper died before it had a kernel */
		ring_reader_fini(&r);
	} else if (rc) {
		a->batch->head = (struct journal_batch){ .count = 1, .source = JOURNAL_KEEPER };
		a->batch->head.nbytes =
			(uint32_t)hole_put(a->batch->frames,
					   "a ring that an earlier run left is damaged");
		rc = batch_write(a, e);
	} else {
		if (a->places[source].ring == r.ring->id)
			r.position = a->places[source].position & ~7ull;
		while ((rc = ring_take(a, &r, source, e)) > 0)
			ring_reader_done(&r);
		ring_reader_fini(&r);
	}
	if (!rc && unlinkat(a->dir, ring_sources[source].file, 0) < 0)
		rc = err_set(e, ERR_FAILED, "cannot remove the journal's %s: %s",
			     ring_sources[source].file, strerror(errno));
	return rc;
}

/* ---- all of it ---- */

static int frames_write(struct appender *a, const struct buf *frames, struct err *e)
{
	for (size_t at = 0; at < frames->len;) {
		struct journal_batch *b = &a->batch->head;

		*b = (struct journal_batch){ .source = JOURNAL_KEEPER };
		while (at < frames->len) {
			struct journal_frame f = frame_at(frames, at);

			if (b->nbytes + f.size > JOURNAL_RING_DATA)
				break;
			memcpy(a->batch->frames + b->nbytes, frames->p + at, f.size);
			b->nbytes += f.size;
			b->count++;
			at += f.size;
		}
		if (batch_write(a, e) < 0)
			return -1;
	}
	return 0;
}

/* Each is a whole frame that can be decoded. */
static bool frames_are_good(const struct buf *frames)
{
	union journal_record unused;
	struct journal_frame f;

	for (size_t at = 0; at < frames->len; at += f.size) {
		if (frames->len - at < sizeof(f))
			return false;
		f = frame_at(frames, at);
		if (f.size > frames->len - at || !journal_decode(frames->p + at, f.size, &unused))
			return false;
	}
	return true;
}

int journal_append(int dir, const char *cell, const struct buf *frames, struct err *e)
{
	struct appender a = { .dir = dir, .fd = -1, .head = { .magic = JOURNAL_RAW_MAGIC } };
	struct journal_tip tip;
	int rc = -1;

	if (!frames_are_good(frames))
		return err_set(e, ERR_INVALID, "the records for the journal are damaged");
	if (lock_take(dir, e) < 0)
		return -1;
	a.batch = xalloc(sizeof(*a.batch));
	if (places_read(&a, e) < 0 || journal_seal(dir, SEAL_ALL, e) < 0 ||
	    journal_tip_read(dir, &tip, e) < 0)
		goto out;
	a.seq = tip.records + 1;
	a.head.number = tip.block + 1;
	snprintf(a.head.cell, sizeof(a.head.cell), "%s", tip.block ? tip.cell : cell);
	if (ring_recover(&a, JOURNAL_KERNEL, e) < 0 || ring_recover(&a, JOURNAL_GATE, e) < 0 ||
	    frames_write(&a, frames, e) < 0)
		goto out;
	rc = journal_seal(dir, SEAL_ALL, e);
out:
	if (a.fd >= 0)
		close(a.fd);
	free(a.batch);
	flock(dir, LOCK_UN);
	return rc;
}
