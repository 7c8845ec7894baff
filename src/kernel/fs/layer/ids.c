/* Nodes by the number that the log has for them: a hash table that is there while a log is read and while what a crash left is looked
 * for. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/store.h"
#include "kernel/platform/cell.h"

#define IDS_MIN 1024

/* Numbers that follow each other lie side by side, which is how logs use them; where a run of them lies is no log's to choose. */
static uint32_t ids_slot(const struct lstore *s, uint64_t id)
{
	uint64_t key;

	memcpy(&key, cell.random_id, sizeof(key));
	return (uint32_t)(id + (((id >> 12) ^ key) * 0x9e3779b97f4a7c15ULL >> 24)) &
	       (s->ids_size - 1);
}

struct lnode *ids_find(const struct lstore *s, uint64_t id)
{
	struct lnode *n;

	if (!s->ids)
		return NULL;
	if (s->ids_last && s->ids_last->id == id)
		return s->ids_last;
	n = s->ids[ids_slot(s, id)];
	while (n && n->id != id)
		n = n->id_next;
	return n;
}

static int ids_grow(struct lstore *s)
{
	uint32_t size = s->ids_size ? s->ids_size * 2 : IDS_MIN, old_size = s->ids_size;
	struct lnode **old = s->ids, **ids;

	if (size * sizeof(*ids) > BLOB_MAX)
		return old ? 0 : -ENOMEM;
	ids = blob_new(size * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	memset(ids, 0, size * sizeof(*ids));
	s->ids = ids;
	s->ids_size = size;
	for (uint32_t i = 0; i < old_size; i++)
		while (old[i]) {
			struct lnode *n = old[i];
			uint32_t slot = ids_slot(s, n->id);

			old[i] = n->id_next;
			n->id_next = ids[slot];
			ids[slot] = n;
		}
	if (old)
		blob_free(old, old_size * sizeof(*old));
	return 0;
}

int ids_add(struct lstore *s, struct lnode *n)
{
	uint32_t slot;

	if (s->ids_count >= s->ids_size && ids_grow(s) < 0)
		return -ENOMEM;
	slot = ids_slot(s, n->id);
	n->id_next = s->ids[slot];
	s->ids[slot] = n;
	s->ids_count++;
	s->ids_last = n;
	return 0;
}

void ids_remove(struct lstore *s, struct lnode *n)
{
	struct lnode **at;

	if (s->ids_last == n)
		s->ids_last = NULL;
	if (s->ids_dir == n)
		s->ids_dir = NULL;
	if (!s->ids)
		return;
	for (at = &s->ids[ids_slot(s, n->id)]; *at; at = &(*at)->id_next)
		if (*at == n) {
			*at = n->id_next;
			s->ids_count--;
			return;
		}
}

void ids_free(struct lstore *s)
{
	if (s->ids)
		blob_free(s->ids, s->ids_size * sizeof(*s->ids));
	s->ids = NULL;
	s->ids_last = s->ids_dir = NULL;
	s->ids_size = s->ids_count = 0;
}
