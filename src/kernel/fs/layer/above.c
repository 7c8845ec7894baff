/* What the layers above a merge need of those that it is made of, besides the tree that they stand
 * on.
 *
 * A file without a name is in no tree, and may get one in a later layer (O_TMPFILE). Then the log
 * of that layer says where its content is. It is looked for in the logs and not in the tree at
 * their end, because the file may have lost its name again by then, and there are snapshots in
 * between; and of logs that tell everything (compact.c) those below them count as well. */
#include <errno.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/layer/record.h"
#include "kernel/vfs/inode.h"

struct above {
	struct lstore *s;
	const struct lids *merged; /* the nodes whose contents are known already */
	uint32_t layers;
	int (*content)(void *arg, uint32_t index, uint64_t number);
	void *arg;
};

static int record_look(const struct above *a, uint32_t index, struct cursor *c)
{
	uint64_t id;
	uint32_t back, where;
	struct stat st;
	int r;

	if (take_u8(c) != REC_CONTENT)
		return 0;
	id = take_u64(c);
	back = take_u32(c);
	if (take_u8(c) & CONTENT_EMPTY || c->bad)
		return 0;
	where = index - MIN(back, index);
	if (where >= a->layers || ids_find(a->merged, id))
		return 0;
	r = store_content_stat(a->s, where, id, &st);
	/* A copy that a power cut kept from the host's disk. */
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : a->content(a->arg, where, id);
}

static int log_look(const struct above *a, uint32_t index)
{
	struct reader rd = { .off = sizeof(struct log_header) };
	struct log_header h;
	struct cursor c;
	int r = store_log_head(a->s, index, &h);

	/* The last one may be one that was not written yet. */
	if (r == -ENODATA || r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	rd.fd = store_log_open(a->s, index, false);
	if (rd.fd < 0)
		return rd.fd;
	rd.crc = h.crc;
	rd.buf = blob_new(RECORD_WINDOW);
	r = rd.buf ? 0 : -ENOMEM;
	while (r == 0 && record_next(&rd, &c))
		r = record_look(a, index, &c);
	if (r == 0)
		r = rd.error;
	if (rd.buf)
		blob_free(rd.buf, RECORD_WINDOW);
	host_close(rd.fd);
	return r;
}

int layer_contents(struct fs *fs, uint32_t layers, struct fs *merged,
		   int (*content)(void *arg, uint32_t index, uint64_t number), void *arg)
{
	struct layer *l = (struct layer *)fs, *m = (struct layer *)merged;
	struct above a = { l->store, &m->store->ids, layers, content, arg };
	struct lnode *n;
	int r = 0;

	list_for_each(n, &m->nodes, all_link)
		if (r == 0 && inode_is_reg(&n->inode) && n->own_content && n->scratch)
			r = ids_add(&m->store->ids, n);
	for (uint32_t i = layers; i < l->store->nchain && r == 0; i++)
		r = log_look(&a, i);
	ids_free(&m->store->ids);
	return r;
}
