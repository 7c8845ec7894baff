/* Sealing the active layer of a disk: it never changes again, and a new one above it takes what
 * comes. Nothing is copied, so it takes the same time for a small tree and for a large one, with
 * one exception: a file that is mapped shared and writable changes without our doing. The mapped
 * file moves into the new layer, and the sealed one gets a copy.
 *
 * The order leaves a whole layer at each instant, whichever of the two the trusted side takes for
 * the active one after a crash: the mapped file first gets a second name in the new layer, then the
 * copy replaces the first one. The trusted side writes down that the new layer is the active one
 * before it asks for it: a layer that is not there yet is an empty one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/inode.h"

#define COPY_NAME "tmp"

/* Does anybody but us have it open for writing? A mapping counts as an open file. */
static bool is_mapped(struct lnode *n)
{
	int fd = layer_hostfd(&n->inode, false);

	if (fd < 0 || host_fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return true;
	(void)host_fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* A copy of the node's content in a directory of the layer that is being sealed, under a name of
 * its own. */
static int copy_make(struct lnode *n, int dir)
{
	int in = layer_hostfd(&n->inode, false), out, r;
	struct stat st;

	if (in < 0)
		return in;
	r = host_fstat(in, &st);
	if (r < 0)
		return r;
	(void)host_unlinkat(dir, COPY_NAME, 0);
	out = host_open_beneath(dir, COPY_NAME, O_RDWR | O_CREAT | O_EXCL, 0644);
	if (out < 0)
		return out;
	r = copy_content(in, out, 0, (uint64_t)st.st_size, true);
	if (r == 0)
		r = host_ftruncate(out, st.st_size);
	if (r == 0)
		r = host_utimensat(out, NULL, (struct timespec[]){ st.st_atim, st.st_mtim }, 0);
	if (r == 0)
		r = host_fsync(out, false);
	host_close(out);
	return r;
}

/* Both are directories of contents. */
static int mapped_swap(struct lnode *n, int from, int to)
{
	struct store_path p = store_name(n->scratch);
	int r = copy_make(n, from);

	if (r < 0)
		return r;
	(void)host_unlinkat(to, p.str, 0);
	r = host_linkat(from, p.str, to, p.str, 0);
	if (r < 0)
		return r;
	r = host_renameat2(from, COPY_NAME, from, p.str, 0);
	if (r < 0)
		(void)host_unlinkat(to, p.str, 0);
	return r;
}

/* The mapped file goes on in the new layer. */
static int mapped_move(struct layer *l, struct lnode *n, int from, int to)
{
	char name[8];
	int r, fdir, tdir;

	snprintf(name, sizeof(name), "c/%02x", (unsigned)(n->scratch & 0xff));
	r = host_mkdirat(to, name, 0755);
	if (r < 0 && r != -EEXIST)
		return r;
	fdir = store_dir_open(from, n->scratch);
	if (fdir < 0)
		return fdir;
	tdir = store_dir_open(to, n->scratch);
	r = tdir < 0 ? tdir : mapped_swap(n, fdir, tdir);
	host_close(fdir);
	if (tdir >= 0)
		host_close(tdir);
	if (r < 0)
		return r;
	log_content(l, n, store_active(l->store), false, 0);
	return log_flush(l, 1 << 20);
}

void store_mapped_sort_out(struct layer *l)
{
	struct lnode *n, *tmp;

	list_for_each_safe(n, tmp, &l->store->mapped, mapped_link)
		if (!n->scratch || n->content.where != store_active(l->store) || !is_mapped(n)) {
			list_remove(&n->mapped_link);
			n->mapped_shared = false;
			n->wrote = true; /* what it wrote last is yet to be seen */
			/* What cannot be looked at stays counted as it was. */
			if (layer_counts_maps(l) && lnode_load(n) < 0)
				n->wrote = true;
		}
}

/* Those before end go back to where they were. */
static void mapped_move_back(struct layer *l, const struct lnode *end, int from, int to)
{
	struct lnode *n;

	list_for_each(n, &l->store->mapped, mapped_link) {
		struct store_path p = store_path(n->scratch);
		int r;

		if (n == end)
			break;
		r = host_renameat2(to, p.str, from, p.str, 0);
		if (r < 0)
			store_break(l, "a file could not be moved back", r);
	}
}

static int mapped_move_all(struct layer *l, int from, int to)
{
	struct lnode *n;
	int r = 0;

	list_for_each(n, &l->store->mapped, mapped_link) {
		r = mapped_move(l, n, from, to);
		if (r < 0)
			break;
	}
	if (r < 0)
		mapped_move_back(l, n, from, to);
	return r;
}

/* The last word of the sealed log, so that whoever stands on it need not count. Not needed for
 * anything else. */
static void sealed_clean(struct layer *l, struct llog *sealed)
{
	struct lstore *s = l->store;
	struct llog active = s->log;

	sealed->buf = active.buf;
	sealed->cap = active.cap;
	s->log = *sealed;
	s->log.no_reserve = true;
	if (!s->recovering && log_begin(l) == 0) {
		log_clean(l);
		(void)!log_commit(l, true);
	}
	active.buf = s->log.buf;
	active.cap = s->log.cap;
	s->log = active;
	host_close(sealed->fd);
}

static int seal(struct layer *l, uint32_t number, bool sync)
{
	struct lstore *s = l->store;
	struct llog old, sealed;
	struct lnode *n;
	bool moved;
	int from, to, r;

	if (s->broken || s->log.fd < 0)
		return -EROFS;
	for (uint32_t i = 0; i < s->nchain; i++)
		if (s->chain[i].own && s->chain[i].number == number)
			return -EEXIST;
	/* First, so that the sync is for that, too. */
	(void)host_ftruncate(s->log.fd, (int64_t)s->log.end);
	s->log.reserved = s->log.end;
	r = sync ? store_sync_all_here(l) : log_sync(l);
	if (r < 0)
		return r;
	/* None for writing may stay open. */
	layer_content_forget();
	store_mapped_sort_out(l);
	from = store_layer_fd(s, store_active(s));
	if (from < 0)
		return from;
	r = store_layer_add(l, number, &old);
	if (r < 0)
		return r;
	s->log.group = UINT32_MAX;
	s->log.len = 0;
	s->log.buf_crc = s->log.crc;
	to = s->chain[store_active(s)].fd; /* just opened */
	r = mapped_move_all(l, from, to);
	moved = r == 0;
	if (r == 0)
		r = log_flush(l, 0);
	s->log.group = 0;
	sealed = old;
	old.fd = -1; /* stays open */
	r = log_create_end(l, store_active(s), &old, r);
	layer_content_forget();
	if (r < 0) {
		if (moved)
			mapped_move_back(l, NULL, from, to);
		s->log.fd = sealed.fd;
		s->unborn = false;
		store_layer_drop(s);
		return r;
	}
	sealed_clean(l, &sealed);
	s->compact_at = 0;
	s->clean = false;
	for (int i = 0; i < 4; i++)
		s->dirs_dirty[i] = list_is_empty(&s->mapped) ? 0 : UINT64_MAX;
	s->c_dirty = true;
	list_for_each(n, &s->mapped, mapped_link) {
		n->content.before = n->content.where;
		n->content.where = store_active(s);
		n->content.hint = 0;
		n->content.logged = true;
	}
	return 0;
}

int layer_seal(struct fs *fs, uint32_t number, bool sync)
{
	struct layer *l = (struct layer *)fs;
	int r;

	if (!l->store)
		return -EINVAL;
	content_settle_all(l);
	store_sync_hold(l);
	r = seal(l, number, sync);
	store_sync_release(l);
	return r;
}

void layer_seal_end(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;

	/* What fails here makes the layer read-only. */
	if (l->store && l->store->unborn && !store_sync_beside(l))
		(void)!store_bear(l);
}
