/* See journal.h.
 *
 * Encoder and decoder go through the fields of a kind by its table, so that a record that is added
 * there needs nothing here. A number has one form only: what is decoded and encoded again is the
 * same bytes, but for fields that were added later, and a hash over them means the record. */
#include "wire/journal.h"

#include <string.h>

#include "base/leb128.h"

#define RECORD(ID, name, group, meaning) static const struct journal_field fields_##ID[] = {
#define FIELD(ID, type, name, meaning) \
	{ #name, meaning, JT_##type, false, offsetof(struct journal_##ID, name) },
#define LATER(ID, type, name, meaning) \
	{ #name, meaning, JT_##type, true, offsetof(struct journal_##ID, name) },
#define END(ID) \
	}       \
	;
/* clang-format off */
#include "wire/journal.tbl.h"
/* clang-format on */

const struct journal_desc journal_kinds[J_KINDS] = {
#define RECORD(ID, NAME, GROUP, MEANING)                  \
	[J_##ID] = { .name = NAME,                        \
		     .group = GROUP,                      \
		     .meaning = MEANING,                  \
		     .size = sizeof(struct journal_##ID), \
		     .nfields = ARRAY_LEN(fields_##ID),   \
		     .fields = fields_##ID },
#define FIELD(ID, type, name, meaning)
#define END(ID)
#include "wire/journal.tbl.h"
};

bool journal_field_is_path(const struct journal_field *f)
{
	return f->type == JT_TEXT &&
	       (!strcmp(f->name, "path") || !strcmp(f->name, "to") || !strcmp(f->name, "cwd"));
}

/* ---- encoding ---- */

static struct jtext text_of(const void *record, const struct journal_field *f)
{
	struct jtext t;

	memcpy(&t, (const char *)record + f->offset, sizeof(t));
	if (!t.p)
		t.n = 0;
	return t;
}

/* The room that the texts of a record take if none is longer than limit. */
static size_t texts_size(const struct journal_desc *d, const void *record, uint32_t limit)
{
	size_t size = 0;

	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *f = &d->fields[i];

		if (f->type == JT_TEXT || f->type == JT_WORDS)
			size += 2 + MIN(text_of(record, f).n, limit);
	}
	return size;
}

/* How long a text of this record may be, so that the frame is not too large: what is left by the
 * short ones is shared by the others. */
static uint32_t text_limit(const struct journal_desc *d, const void *record)
{
	size_t room = JOURNAL_FRAME_MAX - sizeof(struct journal_frame) - 8, size;
	uint32_t limit = JOURNAL_TEXT_MAX;

	for (unsigned i = 0; i < d->nfields; i++)
		if (d->fields[i].type != JT_TEXT && d->fields[i].type != JT_WORDS)
			room -= d->fields[i].type == JT_HASH ? 1 + JOURNAL_HASH : 10;
	/* All together never take off more than is too much. */
	while ((size = texts_size(d, record, limit)) > room)
		limit -= (uint32_t)((size - room + d->nfields - 1) / d->nfields);
	return limit;
}

static uint8_t *put_text(uint8_t *p, struct jtext t, uint32_t limit, bool end)
{
	uint32_t n = MIN(t.n, limit);

	p = leb128_put(p, n);
	if (n)
		memcpy(p, t.p + (end ? t.n - n : 0), n);
	return p + n;
}

static uint8_t *put_field(uint8_t *p, const struct journal_field *f, const void *record,
			  uint32_t limit)
{
	const char *at = (const char *)record + f->offset;
	const uint8_t *hash;
	uint64_t n;

	switch ((enum journal_type)f->type) {
	case JT_NUMBER:
		memcpy(&n, at, sizeof(n));
		return leb128_put(p, n);
	case JT_SIGNED:
		memcpy(&n, at, sizeof(n));
		return leb128_put(p, zigzag(n));
	case JT_TEXT:
	case JT_WORDS:
		return put_text(p, text_of(record, f), limit, journal_field_is_path(f));
	case JT_HASH:
		memcpy(&hash, at, sizeof(hash));
		*p++ = hash ? JOURNAL_HASH : 0;
		if (hash)
			memcpy(p, hash, JOURNAL_HASH);
		return p + (hash ? JOURNAL_HASH : 0);
	}
	return p;
}

size_t journal_encode(enum journal_kind kind, const void *record, int32_t pid, int64_t mono,
		      int64_t wall, void *out)
{
	struct journal_frame head = {
		.kind = (uint16_t)kind, .pid = pid, .mono = mono, .wall = wall
	};
	const struct journal_desc *d;
	uint8_t *p = (uint8_t *)out + sizeof(head);
	uint32_t limit;
	size_t n;

	if ((unsigned)kind <= J_PAD || (unsigned)kind >= J_KINDS)
		return 0;
	d = &journal_kinds[kind];
	limit = text_limit(d, record);
	for (unsigned i = 0; i < d->nfields; i++)
		p = put_field(p, &d->fields[i], record, limit);
	n = (size_t)(p - (uint8_t *)out);
	head.size = (uint32_t)ALIGN_UP(n, 8);
	head.pad = (uint16_t)(head.size - n);
	memset(p, 0, head.pad);
	memcpy(out, &head, sizeof(head));
	return head.size;
}

/* ---- decoding ---- */

static const uint8_t *get_field(const uint8_t *p, const uint8_t *end, const struct journal_field *f,
				void *record)
{
	char *at = (char *)record + f->offset;
	const uint8_t *hash = NULL;
	struct jtext t;
	uint64_t n;

	if (f->type == JT_HASH) {
		if (p == end || (*p != 0 && *p != JOURNAL_HASH) || *p > end - p - 1)
			return NULL;
		n = *p++;
		if (n)
			hash = p;
		memcpy(at, &hash, sizeof(hash));
		return p + n;
	}
	p = leb128_get(p, end, &n);
	if (!p)
		return NULL;
	if (f->type == JT_TEXT || f->type == JT_WORDS) {
		if (n > JOURNAL_TEXT_MAX || n > (uint64_t)(end - p))
			return NULL;
		t = (struct jtext){ (const char *)p, (uint32_t)n };
		memcpy(at, &t, sizeof(t));
		return p + n;
	}
	if (f->type == JT_SIGNED)
		n = unzigzag(n);
	memcpy(at, &n, sizeof(n));
	return p;
}

/* What the rest of a record is if its frame ends here. */
static const uint8_t *get_missing(const uint8_t *end, const struct journal_field *f, void *record)
{
	char *at = (char *)record + f->offset;

	if (f->type == JT_TEXT || f->type == JT_WORDS)
		memcpy(at, &(const struct jtext){ (const char *)end, 0 }, sizeof(struct jtext));
	else
		memset(at, 0, sizeof(uint64_t));
	return end;
}

bool journal_decode(const void *frame, size_t n, union journal_record *record)
{
	struct journal_frame head;
	const struct journal_desc *d;
	const uint8_t *p, *end;

	if (n < sizeof(head) || n > JOURNAL_FRAME_MAX || n % 8)
		return false;
	memcpy(&head, frame, sizeof(head));
	if (head.size != n || head.kind == J_PAD || head.kind >= J_KINDS || head.pad > 7 ||
	    head.pad > n - sizeof(head) || head.pid < 0 || head.zero)
		return false;
	d = &journal_kinds[head.kind];
	p = (const uint8_t *)frame + sizeof(head);
	end = (const uint8_t *)frame + n - head.pad;
	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *f = &d->fields[i];

		p = f->later && p == end ? get_missing(end, f, record)
					 : get_field(p, end, f, record);
		if (!p)
			return false;
	}
	if (p != end)
		return false;
	for (unsigned i = 0; i < head.pad; i++)
		if (end[i])
			return false;
	return true;
}
