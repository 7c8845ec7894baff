/* See block.h. Packing trusts its input, which was checked when it was read; unpacking trusts
 * nothing. */
#include "journal/block.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/leb128.h"
#include "journal/hash.h"

/* Higher levels save a few percent and cost a multiple of the time. */
#define ZSTD_LEVEL 3

enum { TIME, OFFSET, PROCESS, KIND, SIZE, COLUMNS };

bool head_is_plausible(const struct journal_head *h)
{
	return h->magic == JOURNAL_BLOCK_MAGIC && !h->zero &&
	       h->version == (h->table ? JOURNAL_BLOCK_TABLE : JOURNAL_BLOCK_VERSION) &&
	       h->table <= JOURNAL_TABLE_MAX && h->table <= h->unpacked && h->number && h->seq &&
	       h->seq <= UINT64_MAX - h->count && h->packed <= JOURNAL_BLOCK_MAX &&
	       h->unpacked <= JOURNAL_BLOCK_MAX && h->count <= h->unpacked &&
	       memchr(h->cell, '\0', sizeof(h->cell)) && *h->cell;
}

void head_hash(const struct journal_head *h, uint8_t out[JOURNAL_HASH])
{
	hash_bytes(h, sizeof(*h), out);
}

/* ---- packing ---- */

void packer_init(struct packer *p, uint64_t seq)
{
	memset(p, 0, sizeof(*p));
	p->seq = seq;
}

void packer_fini(struct packer *p)
{
	buf_free(&p->time);
	buf_free(&p->offset);
	buf_free(&p->process);
	buf_free(&p->kind);
	buf_free(&p->size);
	buf_free(&p->leaves);
	for (unsigned i = 0; i < J_KINDS; i++)
		buf_free(&p->bodies[i]);
}

static void add_number(struct buf *b, uint64_t n)
{
	uint8_t bytes[LEB128_MAX];

	buf_add(b, bytes, (size_t)(leb128_put(bytes, n) - bytes));
}

/* Times are whatever a captured kernel wrote, so differences wrap. */
static uint64_t difference(int64_t a, int64_t b)
{
	return (uint64_t)a - (uint64_t)b;
}

void packer_add(struct packer *p, const void *frame, size_t n)
{
	struct journal_frame f;
	size_t body;
	int64_t shift;

	memcpy(&f, frame, sizeof(f));
	body = n - sizeof(f) - f.pad;
	shift = (int64_t)difference(f.wall, f.mono);
	add_number(&p->time, zigzag(difference(f.mono, p->mono)));
	add_number(&p->offset, zigzag(difference(shift, p->shift)));
	add_number(&p->process, zigzag(difference(f.pid, p->pid)));
	add_number(&p->kind, f.kind);
	add_number(&p->size, body);
	buf_add(&p->bodies[f.kind], (const uint8_t *)frame + sizeof(f), body);
	merkle_leaf(p->seq + p->count, frame, n - f.pad, buf_more(&p->leaves, JOURNAL_HASH));
	if (!p->count || f.wall < p->earliest)
		p->earliest = f.wall;
	if (!p->count || f.wall > p->latest)
		p->latest = f.wall;
	p->mono = f.mono;
	p->shift = shift;
	p->pid = f.pid;
	p->count++;
}

int packer_finish(struct packer *p, const struct buf *table, struct journal_head *h,
		  struct buf *data, struct err *e)
{
	const struct buf *columns[COLUMNS] = { &p->time, &p->offset, &p->process, &p->kind,
					       &p->size };
	struct buf all = { 0 };
	size_t room, n, ntable = table->len;
	int rc = -1;

	for (unsigned i = 0; i < COLUMNS; i++) {
		uint32_t size = (uint32_t)columns[i]->len;

		buf_add(&all, &size, sizeof(size));
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		if (columns[i]->len)
			buf_add(&all, columns[i]->p, columns[i]->len);
	for (unsigned i = 0; i < J_KINDS; i++)
		if (p->bodies[i].len)
			buf_add(&all, p->bodies[i].p, p->bodies[i].len);
	if (all.len + ntable > JOURNAL_BLOCK_MAX / 2)
		ntable = 0;
	if (ntable)
		buf_add(&all, table->p, ntable);
	room = ZSTD_compressBound(all.len);
	data->len = 0;
	n = ZSTD_compress(buf_more(data, room), room, all.p, all.len, ZSTD_LEVEL);
	if (ZSTD_isError(n) || n > JOURNAL_BLOCK_MAX || all.len > JOURNAL_BLOCK_MAX) {
		err_set(e, ERR_FAILED, "cannot pack records %llu to %llu: %s",
			(unsigned long long)p->seq, (unsigned long long)(p->seq + p->count - 1),
			ZSTD_isError(n) ? ZSTD_getErrorName(n) : "they are too large");
		goto out;
	}
	data->len = n;
	*h = (struct journal_head){ .magic = JOURNAL_BLOCK_MAGIC,
				    .version = ntable ? JOURNAL_BLOCK_TABLE : JOURNAL_BLOCK_VERSION,
				    .table = (uint32_t)ntable,
				    .seq = p->seq,
				    .count = p->count,
				    .packed = (uint32_t)n,
				    .unpacked = (uint32_t)all.len,
				    .earliest = p->earliest,
				    .latest = p->latest };
	hash_bytes(data->p, n, h->data);
	merkle_root(p->leaves.p, p->count, h->root);
	rc = 0;
out:
	buf_free(&all);
	return rc;
}

/* ---- unpacking ---- */

void unpacker_init(struct unpacker *u)
{
	memset(u, 0, sizeof(*u));
	u->frame = xalloc(JOURNAL_FRAME_MAX);
}

void unpacker_fini(struct unpacker *u)
{
	buf_free(&u->data);
	free(u->frame);
}

static bool next_number(struct column *c, uint64_t *ret)
{
	const uint8_t *p = leb128_get(c->p, c->end, ret);

	if (p)
		c->p = p;
	return p;
}

/* Finds where the bodies of each kind begin. */
static bool bodies_find(struct unpacker *u, const uint8_t *p, const uint8_t *end)
{
	struct column kind = u->columns[KIND], size = u->columns[SIZE];
	size_t sizes[J_KINDS] = { 0 };
	uint64_t k, n;

	for (uint32_t i = 0; i < u->left; i++) {
		if (!next_number(&kind, &k) || !next_number(&size, &n) || k == J_PAD ||
		    k >= J_KINDS || n > JOURNAL_FRAME_MAX)
			return false;
		sizes[k] += n;
	}
	if (kind.p != kind.end || size.p != size.end)
		return false;
	for (unsigned i = 0; i < J_KINDS; i++) {
		if (sizes[i] > (size_t)(end - p))
			return false;
		u->bodies[i] = (struct column){ p, p + sizes[i] };
		p += sizes[i];
	}
	return p == end;
}

int unpacker_start(struct unpacker *u, const struct journal_head *h, const void *data)
{
	uint32_t sizes[COLUMNS];
	const uint8_t *p, *end;

	u->left = 0;
	u->data.len = 0;
	u->table = (struct column){ 0 };
	if (h->packed > JOURNAL_BLOCK_MAX || h->unpacked > JOURNAL_BLOCK_MAX ||
	    h->unpacked < sizeof(sizes) || h->count > h->unpacked ||
	    h->table > h->unpacked - sizeof(sizes))
		return -1;
	buf_more(&u->data, h->unpacked);
	if (ZSTD_decompress(u->data.p, h->unpacked, data, h->packed) != h->unpacked)
		return -1;
	p = u->data.p + sizeof(sizes);
	end = u->data.p + h->unpacked - h->table;
	memcpy(sizes, u->data.p, sizeof(sizes));
	for (unsigned i = 0; i < COLUMNS; i++) {
		if (sizes[i] > (size_t)(end - p))
			return -1;
		u->columns[i] = (struct column){ p, p + sizes[i] };
		p += sizes[i];
	}
	u->seq = h->seq;
	u->number = h->number;
	u->left = h->count;
	u->mono = u->shift = u->pid = 0;
	if (!bodies_find(u, p, end)) {
		u->left = 0;
		return -1;
	}
	u->table = (struct column){ end, end + h->table };
	return 0;
}

int unpacker_next(struct unpacker *u, struct journal_entry *ret)
{
	uint64_t time, shift, pid, kind, size;
	struct journal_frame f = { 0 };
	struct column *body;

	if (!u->left) {
		for (unsigned i = 0; i < COLUMNS; i++)
			if (u->columns[i].p != u->columns[i].end)
				return -1;
		return 0;
	}
	if (!next_number(&u->columns[TIME], &time) || !next_number(&u->columns[OFFSET], &shift) ||
	    !next_number(&u->columns[PROCESS], &pid) || !next_number(&u->columns[KIND], &kind) ||
	    !next_number(&u->columns[SIZE], &size) || kind >= J_KINDS)
		return -1;
	body = &u->bodies[kind];
	if (size > JOURNAL_FRAME_MAX - sizeof(f) || size > (size_t)(body->end - body->p))
		return -1;
	u->mono = (int64_t)((uint64_t)u->mono + unzigzag(time));
	u->shift = (int64_t)((uint64_t)u->shift + unzigzag(shift));
	u->pid = (int32_t)((uint32_t)u->pid + (uint32_t)unzigzag(pid));
	f.size = (uint32_t)ALIGN_UP(sizeof(f) + size, 8);
	f.pad = (uint16_t)(f.size - sizeof(f) - size);
	f.kind = (uint16_t)kind;
	f.pid = u->pid;
	f.mono = u->mono;
	f.wall = (int64_t)((uint64_t)u->mono + (uint64_t)u->shift);
	memcpy(u->frame, &f, sizeof(f));
	memcpy(u->frame + sizeof(f), body->p, size);
	memset(u->frame + sizeof(f) + size, 0, f.pad);
	body->p += size;
	if (!journal_decode(u->frame, f.size, &u->record))
		return -1;
	*ret = (struct journal_entry){ .seq = u->seq++,
				       .mono = f.mono,
				       .wall = f.wall,
				       .pid = f.pid,
				       .kind = (enum journal_kind)kind,
				       .record = &u->record,
				       .frame = u->frame,
				       .nframe = f.size - f.pad,
				       .block = u->number };
	u->left--;
	return 1;
}
