/* Nodes by a number: a hash table. By the number that the log has for them, while a log is read and
 * while what a crash left is looked for; by the number that a file has in the image, for those that
 * have several names there (links.c). */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/node.h"
#include "kernel/platform/cell.h"
#include "kernel/vfs/inode.h"

#define IDS_MIN 256

static uint64_t key_of(const struct lids *t, const struct lnode *n)
{
	return t->by == IDS_BY_IMAGE ? n->inode.ino : n->id;
}

/* Numbers that follow each other lie side by side, which is how logs use them; where a run of them
 * lies is no log's to choose. */
static uint32_t ids_slot(const struct lids *t, uint64_t id)
{
	uint64_t key;

	memcpy(&key, cell.random_id, sizeof(key));
	return (uint32_t)(id + (((id >> 12) ^ key) * 0x9e3779b97f4a7c15ULL >> 24)) & (t->size - 1);
}

struct lnode *ids_find(const struct lids *t, uint64_t id)
{
	struct lnode *n;

	if (!t->slots)
		return NULL;
	if (t->last && key_of(t, t->last) == id)
		return t->last;
	n = t->slots[ids_slot(t, id)];
	while (n && key_of(t, n) != id)
		n = n->id_next[t->by];
	return n;
}

static int ids_grow(struct lids *t)
{
	uint32_t size = t->size ? t->size * 2 : IDS_MIN, old_size = t->size;
	struct lnode **old = t->slots, **slots;

	if (size * sizeof(*slots) > BLOB_MAX)
		return old ? 0 : -ENOMEM;
	slots = blob_new(size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots, 0, size * sizeof(*slots));
	t->slots = slots;
	t->size = size;
	for (uint32_t i = 0; i < old_size; i++)
		while (old[i]) {
			struct lnode *n = old[i];
			uint32_t slot = ids_slot(t, key_of(t, n));

			old[i] = n->id_next[t->by];
			n->id_next[t->by] = slots[slot];
			slots[slot] = n;
		}
	if (old)
		blob_free(old, old_size * sizeof(*old));
	return 0;
}

int ids_add(struct lids *t, struct lnode *n)
{
	uint32_t slot;

	if (t->count >= t->size && ids_grow(t) < 0)
		return -ENOMEM;
	slot = ids_slot(t, key_of(t, n));
	n->id_next[t->by] = t->slots[slot];
	t->slots[slot] = n;
	t->count++;
	t->last = n;
	return 0;
}

void ids_remove(struct lids *t, struct lnode *n)
{
	struct lnode **at;

	if (t->last == n)
		t->last = NULL;
	if (!t->slots)
		return;
	for (at = &t->slots[ids_slot(t, key_of(t, n))]; *at; at = &(*at)->id_next[t->by])
		if (*at == n) {
			*at = n->id_next[t->by];
			t->count--;
			return;
		}
}

void ids_free(struct lids *t)
{
	if (t->slots)
		blob_free(t->slots, t->size * sizeof(*t->slots));
	*t = (struct lids){ .by = t->by };
}
