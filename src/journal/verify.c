/* Verifying a journal (journal.h). Every block is looked at alone (hash of the data, signature,
 * cell; deep: its records and their tree) and put on a list. Then the list is looked at: whether
 * the numbers are complete and in order, whether each block has the hash of the one before it, and
 * whether raw files go on where it ends. So a block that is missing is told from one that stands
 * elsewhere, and one that is changed does not hide the others. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "journal/files.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/keys.h"
#include "journal/table.h"

struct seen {
	uint64_t number, seq, count;
	uint64_t segment;
	off_t at;
	size_t place; /* in the order of the files */
	uint8_t hash[JOURNAL_HASH], prev[JOURNAL_HASH];
};

struct verifier {
	struct journal_check *c;
	int dir;
	struct journal_key key;
	struct journal_keys keys; /* that it replaced */
	const struct key_head *pinned; /* the journal's end when the key was replaced; NULL: none */
	struct journal_names names;
	struct buf seen; /* struct seen */
	struct buf data, leaves;
	struct unpacker unpacker;
	char cell[JOURNAL_CELL];
	bool torn; /* the last segment ends with a part of a block */
};

typedef unsigned long long ull;

static void wrong(struct verifier *v, const char *fmt, ...) printf_like(2, 3);
static void wrong(struct verifier *v, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_hide_controls(text);
	v->c->nwrong++;
	if (v->c->wrong)
		v->c->wrong(v->c->arg, text);
}

/* ---- one block ---- */

static bool table_check(const struct unpacker *u)
{
	struct processes t;
	bool good;

	processes_init(&t, NULL, NULL);
	good = table_read(&t, u->table.p, (size_t)(u->table.end - u->table.p), NULL, NULL);
	processes_fini(&t);
	return good;
}

/* Its records and their tree. */
static void records_check(struct verifier *v, const struct journal_head *h, const char *where)
{
	int64_t earliest = 0, latest = 0;
	struct journal_entry j;
	uint8_t root[JOURNAL_HASH];
	uint32_t n = 0;
	int rc = unpacker_start(&v->unpacker, h, v->data.p);

	v->leaves.len = 0;
	while (!rc && (rc = unpacker_next(&v->unpacker, &j)) > 0) {
		merkle_leaf(j.seq, j.frame, j.nframe, buf_more(&v->leaves, JOURNAL_HASH));
		earliest = !n || j.wall < earliest ? j.wall : earliest;
		latest = !n || j.wall > latest ? j.wall : latest;
		v->c->holes += j.kind == J_HOLE;
		n++;
		rc = 0;
	}
	if (rc < 0) {
		wrong(v, "block %llu%s: its record %llu cannot be decoded", (ull)h->number, where,
		      (ull)(h->seq + n));
		return;
	}
	merkle_root(v->leaves.p, n, root);
	if (memcmp(root, h->root, sizeof(root)) != 0 || earliest != h->earliest ||
	    latest != h->latest)
		wrong(v, "block %llu%s: its records are not those that its head is about",
		      (ull)h->number, where);
	if (h->table && !table_check(&v->unpacker))
		wrong(v, "block %llu%s: its table of processes is not one", (ull)h->number, where);
}

/* Which key may have signed a block; NULL: none that is known. */
static const struct journal_key *key_of(struct verifier *v, const struct journal_block *b)
{
	const struct key_old *old = keys_find(&v->keys, b->key);

	if (!memcmp(b->key, v->key.id, sizeof(b->key)))
		return &v->key;
	if (!v->pinned)
		v->pinned = keys_head(&v->keys, v->cell);
	return old && v->pinned && b->head.number <= v->pinned->block ? &old->key : NULL;
}

static int block_check(struct verifier *v, int fd, uint64_t segment, off_t at,
		       const struct journal_block *b, struct err *e)
{
	const struct journal_head *h = &b->head;
	struct seen s = { .number = h->number,
			  .seq = h->seq,
			  .count = h->count,
			  .segment = segment,
			  .at = at,
			  .place = BUF_COUNT(&v->seen, struct seen) };
	char where[80], hex[2 * JOURNAL_KEY_ID + 1];
	const struct journal_key *key;
	int rc = block_data_at(fd, at, h, &v->data);

	snprintf(where, sizeof(where), " (" SEGMENT_NAME ", byte %lld)", (ull)segment,
		 (long long)at);
	if (rc < 0)
		return err_set(e, ERR_FAILED, "cannot read the journal's " SEGMENT_NAME ": %s",
			       (ull)segment, strerror(errno));
	if (!*v->cell)
		memcpy(v->cell, h->cell, sizeof(v->cell));
	if (strcmp(h->cell, v->cell) != 0)
		wrong(v, "block %llu%s is of another cell: %s", (ull)h->number, where, h->cell);
	hash_hex(b->key, sizeof(b->key), hex);
	key = key_of(v, b);
	if (!key)
		wrong(v, "block %llu%s is signed by another key: %s", (ull)h->number, where, hex);
	else if (!key_verify(key, b))
		wrong(v, "block %llu%s: its head was changed: the signature does not fit",
		      (ull)h->number, where);
	if (!rc)
		wrong(v, "block %llu%s: its data was changed: the hash does not fit",
		      (ull)h->number, where);
	else if (v->c->deep)
		records_check(v, h, where);
	head_hash(h, s.hash);
	memcpy(s.prev, h->prev, sizeof(s.prev));
	buf_add(&v->seen, &s, sizeof(s));
	v->c->blocks++;
	v->c->records += h->count;
	return 0;
}

/* Where the next block begins behind something that is none; -1: nowhere. */
static off_t block_search(struct verifier *v, int fd, off_t at, off_t size)
{
	const uint64_t magic = JOURNAL_BLOCK_MAGIC;

	for (at++; at < size; at += (1 << 20)) {
		/* Each piece reaches into the next. */
		size_t n = (size_t)MIN(size - at, (1 << 20) + 7);
		const uint8_t *found;

		v->data.len = 0;
		if (read_at(fd, buf_more(&v->data, n), n, at) != (ssize_t)n)
			return -1;
		found = memmem(v->data.p, n, &magic, sizeof(magic));
		if (found)
			return at + (found - v->data.p);
	}
	return -1;
}

static int segment_check(struct verifier *v, uint64_t first, bool last, struct err *e)
{
	int fd = journal_numbered_open(v->dir, SEGMENT_NAME, first, O_RDONLY, e), rc = 0;
	struct journal_block b;
	struct stat st;
	off_t at = 0;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		goto out_failed;
	v->c->bytes += (uint64_t)st.st_size;
	while (at >= 0 && !rc) {
		switch (block_head_at(fd, at, &b)) {
		case BLOCK_HERE:
			if (!at && b.head.number != first)
				wrong(v, "the segment " SEGMENT_NAME " begins with block %llu",
				      (ull)first, (ull)b.head.number);
			rc = block_check(v, fd, first, at, &b, e);
			at += BLOCK_SIZE(&b.head);
			continue;
		case BLOCK_NONE:
			goto out;
		case BLOCK_TORN:
			/* Whether its raw file is there is looked at later. */
			v->torn = last;
			if (!last)
				wrong(v, "the segment " SEGMENT_NAME " is cut at byte %lld",
				      (ull)first, (long long)st.st_size);
			goto out;
		case BLOCK_WRONG:
			wrong(v,
			      "the segment " SEGMENT_NAME " was changed at byte %lld: there is "
			      "no head of a block",
			      (ull)first, (long long)at);
			at = block_search(v, fd, at, st.st_size);
			continue;
		case BLOCK_FAILED:
			goto out_failed;
		}
	}
	goto out;
out_failed:
	rc = err_set(e, ERR_FAILED, "cannot read the journal's " SEGMENT_NAME ": %s", (ull)first,
		     strerror(errno));
out:
	close(fd);
	return rc;
}

/* ---- all of them ---- */

static int seen_compare(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void missing(struct verifier *v, uint64_t first, uint64_t last)
{
	if (first == last)
		wrong(v, "block %llu is missing", (ull)first);
	else
		wrong(v, "blocks %llu to %llu are missing", (ull)first, (ull)last);
}

/* Two blocks whose numbers follow each other. before NULL: there is none. */
static void link_check(struct verifier *v, const struct seen *before, const struct seen *s)
{
	static const uint8_t zeros[JOURNAL_HASH];

	if (memcmp(s->prev, before ? before->hash : zeros, JOURNAL_HASH) != 0)
		wrong(v,
		      "block %llu (" SEGMENT_NAME ", byte %lld) does not follow block %llu: one "
		      "of the two was replaced",
		      (ull)s->number, (ull)s->segment, (long long)s->at, (ull)s->number - 1);
	else if (s->seq != (before ? before->seq + before->count : 1))
		wrong(v, "block %llu begins with record %llu; records before it are missing",
		      (ull)s->number, (ull)s->seq);
}

static void order_check(struct verifier *v)
{
	struct seen *s = BUF_ITEM(&v->seen, struct seen, 0);
	size_t n = BUF_COUNT(&v->seen, struct seen);

	for (size_t i = 1; i < n; i++)
		if (s[i].number < s[i - 1].number)
			wrong(v,
			      "block %llu (" SEGMENT_NAME
			      ", byte %lld) stands behind block %llu: blocks were reordered",
			      (ull)s[i].number, (ull)s[i].segment, (long long)s[i].at,
			      (ull)s[i - 1].number);
	if (n)
		qsort(s, n, sizeof(*s), seen_compare);
	for (size_t i = 0; i < n; i++) {
		uint64_t before = i ? s[i - 1].number : 0;

		if (s[i].number == before)
			wrong(v, "block %llu is there twice", (ull)before);
		else if (s[i].number > before + 1)
			missing(v, before + 1, s[i].number - 1);
		else
			link_check(v, i ? &s[i - 1] : NULL, &s[i]);
	}
	if (n) {
		v->c->tip.block = s[n - 1].number;
		v->c->tip.records = s[n - 1].seq + s[n - 1].count - 1;
		memcpy(v->c->tip.hash, s[n - 1].hash, JOURNAL_HASH);
	}
	memcpy(v->c->tip.cell, v->cell, sizeof(v->cell));
}

/* A head that is certain: the journal must have it. whose: in words. */
static void head_check(struct verifier *v, uint64_t block, const uint8_t hash[JOURNAL_HASH],
		       const char *whose)
{
	const struct journal_check *c = v->c;

	if (block > c->tip.block) {
		wrong(v,
		      "the journal ends with block %llu, but the head that %s is of block %llu: "
		      "its "
		      "end was cut off",
		      (ull)c->tip.block, whose, (ull)block);
		return;
	}
	for (size_t i = 0; i < BUF_COUNT(&v->seen, struct seen); i++) {
		const struct seen *s = BUF_ITEM(&v->seen, struct seen, i);

		if (s->number != block)
			continue;
		if (memcmp(s->hash, hash, JOURNAL_HASH) != 0)
			wrong(v,
			      "block %llu has another hash than the head that %s: the journal was "
			      "replaced",
			      (ull)s->number, whose);
		return;
	}
}

/* ---- raw files ---- */

static int raws_check(struct verifier *v, struct err *e)
{
	struct raw r = RAW_INIT;
	uint64_t next = v->c->tip.block + 1, seq = v->c->tip.records + 1;
	bool found_torn = false;

	for (size_t i = 0; i < BUF_COUNT(&v->names.raws, uint64_t); i++) {
		uint64_t number = *BUF_ITEM(&v->names.raws, uint64_t, i);
		enum raw_rc rc;

		if (number < next)
			continue; /* its block is there already */
		found_torn |= number == v->c->tip.block + 1;
		if (number > next)
			missing(v, next, number - 1);
		next = number + 1;
		rc = raw_open(&r, v->dir, number, e);
		if (rc == RAW_FAILED) {
			wrong(v, "%s", e->message);
			continue;
		}
		if (rc != RAW_BATCH)
			continue;
		if (*v->cell && strcmp(r.head.cell, v->cell) != 0)
			wrong(v, RAW_NAME " is of another cell: %s", (ull)number, r.head.cell);
		if (r.head.seq != seq)
			wrong(v, RAW_NAME " begins with record %llu, not %llu", (ull)number,
			      (ull)r.head.seq, (ull)seq);
		while ((rc = raw_next(&r, e)) == RAW_BATCH)
			v->c->raw_records += r.batch.count;
		if (rc == RAW_FAILED)
			wrong(v, "%s", e->message);
		if (rc == RAW_DAMAGED)
			wrong(v, RAW_NAME " was changed at byte %lld", (ull)number,
			      (long long)r.at);
		seq = r.seq;
		v->c->raw_files++;
	}
	raw_close(&r);
	if (v->torn && !found_torn)
		wrong(v, "block %llu, the last one, is cut", (ull)v->c->tip.block + 1);
	return 0;
}

/* ---- */

static int verify_key(struct verifier *v, struct err *e)
{
	int journals = openat(v->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	struct err unused;

	if (journals < 0 && !v->c->key)
		return err_set(e, ERR_FAILED, "cannot open the directory of journals: %s",
			       strerror(errno));
	rc = v->c->key ? key_public(&v->key, v->c->key, e) : key_open(&v->key, journals, false, e);
	/* Without the list only the key itself counts: then its blocks are by another key. */
	if (!rc && journals >= 0 && keys_read(&v->keys, journals, &v->key, &unused) < 0)
		v->keys = (struct journal_keys){ 0 };
	if (journals >= 0)
		close(journals);
	return rc;
}

/* While it is held nobody seals. A copy of a journal may have none. */
static int seal_hold(int dir)
{
	int fd = openat(dir, "seal.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	while (fd >= 0 && flock(fd, LOCK_SH) < 0 && errno == EINTR)
		;
	return fd;
}

int journal_verify(int dir, struct journal_check *c, struct err *e)
{
	struct verifier v = { .c = c, .dir = dir };
	int rc, hold = seal_hold(dir);
	size_t n;

	unpacker_init(&v.unpacker);
	if (c->cell)
		snprintf(v.cell, sizeof(v.cell), "%s", c->cell);
	rc = journal_names_read(&v.names, dir, e);
	n = BUF_COUNT(&v.names.segments, uint64_t);
	/* Without a block there may be no key yet. */
	if (!rc && n)
		rc = verify_key(&v, e);
	for (size_t i = 0; i < n && !rc; i++)
		rc = segment_check(&v, *BUF_ITEM(&v.names.segments, uint64_t, i), i + 1 == n, e);
	if (!rc) {
		order_check(&v);
		if (c->head_block)
			head_check(&v, c->head_block, c->head_hash, "was kept");
		/* Also if no block is left that an old key has signed. */
		v.pinned = n ? keys_head(&v.keys, v.cell) : NULL;
		if (v.pinned)
			head_check(&v, v.pinned->block, v.pinned->hash,
				   "was signed when the key was replaced");
		rc = raws_check(&v, e);
	}
	if (hold >= 0)
		close(hold);
	key_close(&v.key);
	keys_free(&v.keys);
	journal_names_free(&v.names);
	buf_free(&v.seen);
	buf_free(&v.data);
	buf_free(&v.leaves);
	unpacker_fini(&v.unpacker);
	return rc;
}
