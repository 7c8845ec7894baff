/* Proofs for single records (journal.h): a document of JSON with the record's frame, the path to
 * the root of its block's tree, and the block's head and signature.
 *
 *   {"type":"vivarium-journal-proof","version":1,"seq":N,"frame":BASE64,"path":[HEX, ...],
 *    "head":BASE64,"signature":BASE64,"key":HEX}
 *
 * It has no form of the record that people read: such a one could say something else than what was
 * signed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/jsontext.h"
#include "journal/files.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/key.h"

#define TYPE "vivarium-journal-proof"

typedef unsigned long long ull;

/* ---- making ---- */

static void member_base64(struct buf *out, const char *name, const void *data, size_t n)
{
	char *text = xalloc(BASE64_SIZE(n) + 1);

	base64_encode(text, data, n);
	text[BASE64_SIZE(n)] = '\0';
	json_member_text(out, name, text);
	free(text);
}

static void proof_write(struct buf *out, uint64_t seq, const struct buf *frame,
			const struct buf *path, const struct journal_block *b)
{
	char hex[HASH_HEX];

	buf_add_text(out, "{");
	json_member_text(out, "type", TYPE);
	json_member_number(out, "version", 1);
	json_member_number(out, "seq", seq);
	member_base64(out, "frame", frame->p, frame->len);
	json_member_add(out, "path", "[");
	for (size_t i = 0; i < path->len; i += JOURNAL_HASH) {
		hash_hex(path->p + i, JOURNAL_HASH, hex);
		if (i)
			buf_add_text(out, ",");
		json_text_add(out, hex);
	}
	buf_add_text(out, "]");
	member_base64(out, "head", &b->head, sizeof(b->head));
	member_base64(out, "signature", b->signature, sizeof(b->signature));
	hash_hex(b->key, sizeof(b->key), hex);
	json_member_text(out, "key", hex);
	buf_add_text(out, "}\n");
}

static int block_damaged(const struct journal_head *h, struct err *e)
{
	return err_set(e, ERR_FAILED,
		       "block %llu of the journal is damaged" REMEDY
		       "'viv journal verify --deep' says what is wrong",
		       (ull)h->number);
}

static int prove_in(int fd, off_t at, const struct journal_block *b, uint64_t seq, struct buf *out,
		    struct err *e)
{
	struct buf data = { 0 }, leaves = { 0 }, frame = { 0 }, path = { 0 };
	uint8_t root[JOURNAL_HASH];
	struct journal_entry j;
	struct unpacker u;
	int rc;

	unpacker_init(&u);
	rc = block_data_at(fd, at, &b->head, &data) == 1 ? 0 : -1;
	if (!rc)
		rc = unpacker_start(&u, &b->head, data.p);
	while (!rc && (rc = unpacker_next(&u, &j)) > 0) {
		merkle_leaf(j.seq, j.frame, j.nframe, buf_more(&leaves, JOURNAL_HASH));
		if (j.seq == seq)
			buf_add(&frame, j.frame, j.nframe);
		rc = 0;
	}
	if (!rc) {
		merkle_root(leaves.p, b->head.count, root);
		rc = memcmp(root, b->head.root, sizeof(root)) ? -1 : 0;
	}
	if (rc < 0) {
		block_damaged(&b->head, e);
	} else {
		merkle_path(leaves.p, b->head.count, (size_t)(seq - b->head.seq), &path);
		proof_write(out, seq, &frame, &path, b);
	}
	unpacker_fini(&u);
	buf_free(&data);
	buf_free(&leaves);
	buf_free(&frame);
	buf_free(&path);
	return rc;
}

int journal_prove(int dir, uint64_t seq, struct buf *out, struct err *e)
{
	struct journal_names names;
	int rc = 1;

	if (journal_names_read(&names, dir, e) < 0)
		return -1;
	for (size_t i = 0; i < BUF_COUNT(&names.segments, uint64_t) && rc > 0; i++) {
		struct journal_block b;
		int fd =
			journal_numbered_open(dir, SEGMENT_NAME,
					      *BUF_ITEM(&names.segments, uint64_t, i), O_RDONLY, e);

		if (fd < 0)
			rc = -1;
		for (off_t at = 0; rc > 0 && block_head_at(fd, at, &b) == BLOCK_HERE;
		     at += BLOCK_SIZE(&b.head))
			if (seq >= b.head.seq && seq - b.head.seq < b.head.count)
				rc = prove_in(fd, at, &b, seq, out, e);
		if (fd >= 0)
			close(fd);
	}
	journal_names_free(&names);
	if (rc > 0)
		return err_set(
			e, ERR_NOT_FOUND,
			"there is no sealed record %llu in the journal" REMEDY
			"records are sealed some seconds after they were made; 'viv journal' "
			"lists them",
			(ull)seq);
	return rc;
}

/* ---- checking ---- */

static int not_good(struct err *e, const char *why)
{
	return err_set(e, ERR_FAILED, "the proof is not good: %s", why);
}

/* Exactly n bytes (max, if n is 0, at least 1) of a member. How many; -1. */
static ssize_t bytes_get(const struct json *v, const char *name, void *to, size_t n, size_t max)
{
	const char *text = json_get_text(v, name);
	size_t len = text ? strlen(text) : 0;
	uint8_t *bytes;
	ssize_t got;

	if (!len || len > BASE64_SIZE(n ? n : max))
		return -1;
	bytes = xalloc(len);
	got = base64_decode(bytes, text, len);
	if (got > 0 && (size_t)got <= (n ? n : max) && (!n || (size_t)got == n))
		memcpy(to, bytes, (size_t)got);
	else
		got = -1;
	free(bytes);
	return got;
}

static bool path_get(const struct json *v, struct buf *path)
{
	const struct json *list = json_get(v, "path", JSON_LIST);

	if (!list)
		return false;
	for (const struct json *i = list->first; i; i = i->next) {
		uint8_t hash[JOURNAL_HASH];

		if (i->type != JSON_TEXT || path->len >= 64 * JOURNAL_HASH ||
		    !hash_unhex(i->text, hash, sizeof(hash)))
			return false;
		buf_add(path, hash, sizeof(hash));
	}
	return true;
}

/* Puts the frame into hold, padded, and reads it. */
static bool frame_read(const uint8_t *bytes, size_t n, struct journal_entry *ret,
		       union journal_record *record, struct buf *hold)
{
	struct journal_frame f;

	if (n < sizeof(f) || n > JOURNAL_FRAME_MAX)
		return false;
	buf_add(hold, bytes, n);
	buf_more(hold, ALIGN_UP(n, 8) - n);
	memcpy(&f, bytes, sizeof(f));
	if (f.pad != ALIGN_UP(n, 8) - n || !journal_decode(hold->p, hold->len, record))
		return false;
	*ret = (struct journal_entry){ .mono = f.mono,
				       .wall = f.wall,
				       .pid = f.pid,
				       .kind = (enum journal_kind)f.kind,
				       .record = record,
				       .frame = hold->p,
				       .nframe = n };
	return true;
}

static int proof_check(const struct json *v, const struct journal_key *key,
		       struct journal_entry *ret, union journal_record *record, char cell[40],
		       struct buf *hold, struct err *e)
{
	uint8_t *frame = xalloc(JOURNAL_FRAME_MAX), leaf[JOURNAL_HASH], root[JOURNAL_HASH];
	struct journal_block b = { 0 };
	struct buf path = { 0 };
	uint64_t version = 0, seq = 0;
	const char *type = json_get_text(v, "type");
	ssize_t n = bytes_get(v, "frame", frame, 0, JOURNAL_FRAME_MAX);
	int rc;

	memcpy(b.key, key->id, sizeof(b.key));
	if (!type || strcmp(type, TYPE) != 0 || !json_get_u64(v, "version", &version) ||
	    version != 1 || !json_get_u64(v, "seq", &seq) || n < 0 ||
	    bytes_get(v, "head", &b.head, sizeof(b.head), 0) < 0 ||
	    bytes_get(v, "signature", b.signature, sizeof(b.signature), 0) < 0 ||
	    !path_get(v, &path) || !head_is_plausible(&b.head)) {
		rc = not_good(e, "it is not a proof of a record of a journal");
		goto out;
	}
	merkle_leaf(seq, frame, (size_t)n, leaf);
	if (!key_verify(key, &b))
		rc = not_good(e, "the signature is not by this key");
	else if (seq < b.head.seq ||
		 !merkle_climb(leaf, seq - b.head.seq, b.head.count, path.p,
			       path.len / JOURNAL_HASH, root) ||
		 memcmp(root, b.head.root, sizeof(root)) != 0)
		rc = not_good(e, "the record is not in the block that was signed");
	else if (!frame_read(frame, (size_t)n, ret, record, hold))
		rc = not_good(e, "the record cannot be decoded");
	else
		rc = 0;
	if (!rc) {
		ret->seq = seq;
		ret->block = b.head.number;
		memcpy(cell, b.head.cell, JOURNAL_CELL);
	}
out:
	free(frame);
	buf_free(&path);
	return rc;
}

int journal_proof_check(const char *text, size_t n, const uint8_t *key, struct journal_entry *ret,
			union journal_record *record, char cell[40], struct buf *hold,
			struct err *e)
{
	struct json_doc d = { 0 };
	struct journal_key k;
	int rc;

	if (key_public(&k, key, e) < 0)
		return -1;
	rc = json_parse(&d, text, n, e);
	if (!rc) {
		rc = proof_check(d.root, &k, ret, record, cell, hold, e);
		json_free(&d);
	} else {
		rc = err_wrap(e, "the proof is not good");
	}
	key_close(&k);
	return rc;
}
