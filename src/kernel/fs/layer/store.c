/* The disk below a layer: its directories, contents on the host. See store.h; sync.c has what is
 * synced when.
 *
 * Everything is opened below the descriptors that the trusted side gave; no link is followed, as
 * sealed layers of other disks were written by other kernels. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/fs.h"

#define DISK_FREE_LONG (16u << 20)
#define OPEN_LAYERS 64 /* own ones, besides the last two */

OBJ_TYPE(lstore_type, struct lstore, 64);

struct store_path store_path(uint64_t number)
{
	struct store_path p;

	snprintf(p.str, sizeof(p.str), "c/%02x/%llx", (unsigned)(number & 0xff),
		 (unsigned long long)number);
	return p;
}

/* Below its directory. */
struct store_path store_name(uint64_t number)
{
	struct store_path p;

	snprintf(p.str, sizeof(p.str), "%llx", (unsigned long long)number);
	return p;
}

void store_break(struct layer *l, const char *what, int err)
{
	if (l->store->broken)
		return;
	l->store->broken = true;
	l->fs.readonly = true;
	log_warn("a disk of the cell is read-only from now on: %s: %s", what, strerror(-err));
}

/* ---- the directories of layers ---- */

static int layer_dir_open(struct lstore *s, uint32_t number, bool make)
{
	char name[16];
	int fd, r;

	snprintf(name, sizeof(name), "%u", number);
	fd = host_open_beneath(s->data_fd, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd != -ENOENT || !make)
		return fd;
	r = host_mkdirat(s->data_fd, name, 0755);
	if (r < 0 && r != -EEXIST)
		return r;
	fd = host_open_beneath(s->data_fd, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	r = host_mkdirat(fd, "c", 0755);
	if (r < 0 && r != -EEXIST) {
		host_close(fd);
		return r;
	}
	return fd;
}

/* There may be thousands. */
static void layers_close(struct lstore *s)
{
	for (uint32_t i = 0; i < s->nchain && s->open_layers >= OPEN_LAYERS; i++) {
		struct chain_layer *c = &s->chain[s->close_next++ % s->nchain];

		if (!c->own || c->fd < 0 || c + 2 >= s->chain + s->nchain)
			continue;
		host_close(c->fd);
		c->fd = -1;
		s->open_layers--;
	}
}

int store_layer_fd(struct lstore *s, uint32_t index)
{
	struct chain_layer *c = &s->chain[index];

	if (c->fd >= 0)
		return c->fd;
	layers_close(s);
	c->fd = layer_dir_open(s, c->number, false);
	if (c->fd < 0)
		return c->fd;
	s->open_layers++;
	return c->fd;
}

/* Takes fd if that goes well; -1: opened when it is asked for. */
static int chain_add(struct lstore *s, int fd, uint32_t number, bool own)
{
	if (s->nchain == CHAIN_MAX)
		return -EMLINK;
	if (s->nchain == s->chain_room) {
		uint32_t room = s->chain_room ? MIN(s->chain_room * 2, (uint32_t)CHAIN_MAX) : 16;
		struct chain_layer *more =
			blob_resize(s->chain, s->chain_room * sizeof(*more), room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->chain = more;
		s->chain_room = room;
	}
	s->chain[s->nchain++] = (struct chain_layer){ fd, number, own };
	s->open_layers += own && fd >= 0;
	return 0;
}

/* ---- contents ---- */

int store_content_open(struct lstore *s, uint32_t where, uint64_t number, bool write)
{
	struct store_path p = store_path(number);
	struct stat st;
	int dir = store_layer_fd(s, where), fd;

	if (dir < 0)
		return dir;
	fd = host_open_beneath(dir, p.str, (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || s->chain[where].own)
		return fd;
	/* Made by somebody else: anything may be there. */
	if (host_fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	host_close(fd);
	return -EIO;
}

/* Only opening can say "no links on the way": what makes and removes names works below this. Who
 * wrote a volume last may have left links instead of directories, and they lead to the other disks
 * of this cell. */
int store_dir_open(int layer, uint64_t number)
{
	char name[8];

	snprintf(name, sizeof(name), "c/%02x", (unsigned)(number & 0xff));
	return host_open_beneath(layer, name, O_PATH | O_DIRECTORY, 0);
}

/* bytes: about as many the host has to free, which takes it long if they are many. Whoever lets go
 * of the file last does that, so it is held until the other thread does. */
static int content_unlink(int layer, uint64_t number, uint64_t bytes)
{
	int dir = store_dir_open(layer, number), held = -1, r;
	struct store_path p = store_name(number);

	if (dir < 0)
		return dir;
	if (bytes >= DISK_FREE_LONG)
		held = host_open_beneath(dir, p.str, O_PATH, 0);
	r = host_unlinkat(dir, p.str, 0);
	host_close(dir);
	if (held >= 0)
		hostwork_close(held, false);
	return r;
}

int store_content_create(struct lstore *s, uint64_t number)
{
	struct store_path p = store_path(number);
	int dir = store_layer_fd(s, store_active(s)), fd = dir;
	unsigned xx = number & 0xff;

	for (int tries = 0; tries < 4 && dir >= 0; tries++) {
		fd = host_open_beneath(dir, p.str, O_RDWR | O_CREAT | O_EXCL, 0644);
		if (fd == -ENOENT) {
			char name[8];

			snprintf(name, sizeof(name), "c/%02x", xx);
			fd = host_mkdirat(dir, name, 0755);
			if (fd < 0 && fd != -EEXIST)
				return fd;
			s->c_dirty = true;
			continue;
		}
		if (fd != -EEXIST)
			break;
		/* Left behind by a kernel that ended before it could say whose it is. */
		fd = content_unlink(dir, number, 0);
		if (fd < 0)
			return fd;
	}
	if (fd >= 0)
		s->dirs_dirty[xx / 64] |= 1ULL << xx % 64;
	return fd;
}

void store_content_unlink(struct lstore *s, uint32_t where, uint64_t number, uint64_t bytes)
{
	int dir = store_layer_fd(s, where);

	if (dir >= 0)
		(void)content_unlink(dir, number, bytes);
}

int store_content_stat(struct lstore *s, uint32_t where, uint64_t number, struct stat *st)
{
	struct store_path p = store_path(number);
	int r = store_layer_fd(s, where);

	if (r >= 0)
		r = host_fstatat(r, p.str, st, AT_SYMLINK_NOFOLLOW);
	return r < 0 ? r : S_ISREG(st->st_mode) ? 0 : -EIO;
}

/* Nobody reads it any more, but it stays for a while: that need not cost memory for which others
 * would have to wait. */
static void content_forget(struct lstore *s, uint32_t where, uint64_t number)
{
	struct store_path p = store_path(number);
	int fd = store_layer_fd(s, where);

	if (fd >= 0)
		fd = host_open_beneath(fd, p.str, O_RDONLY, 0);

	if (fd >= 0)
		hostwork_close(fd, true);
}

/* A content that may be on the host's disk is needed there until the record that drops it is there
 * too. */
void store_content_drop(struct layer *l, struct lnode *n)
{
	struct lstore *s = l->store;
	struct lcontent *c = &n->content;

	if (!list_is_empty(&c->order)) {
		list_remove(&c->order);
		s->norder--;
	}
	if (c->where != store_active(s) || s->log.fd < 0)
		return;
	if (!c->logged || (!c->synced && c->epoch == s->epoch)) {
		store_content_unlink(s, c->where, n->scratch, n->charged);
		return;
	}
	if (s->ngraves >= GRAVES_MAX / 2)
		(void)store_sync_beside(l);
	if (s->ngraves == GRAVES_MAX && log_sync(l) < 0)
		return; /* the next start finds it */
	s->graves[s->ngraves++] =
		(struct grave){ n->scratch, c->where, (uint32_t)MIN(n->charged >> 20, UINT32_MAX) };
	if (n->charged >= DISK_FREE_LONG)
		content_forget(s, c->where, n->scratch);
}

void store_bury(struct layer *l, uint32_t n)
{
	struct lstore *s = l->store;

	/* What was put in by a seal may be in a layer that is active no more: it stays there. */
	for (uint32_t i = 0; i < n; i++)
		if (s->graves[i].where == store_active(s))
			store_content_unlink(s, s->graves[i].where, s->graves[i].number,
					     (uint64_t)s->graves[i].mib << 20);
	s->ngraves -= n;
	memmove(s->graves, s->graves + n, s->ngraves * sizeof(s->graves[0]));
}

bool store_make_room(struct layer *l)
{
	bool made = l->store && l->store->ngraves && log_sync(l) == 0;

	while ((hostwork_is_closing() || (l->store && l->store->working)) && hostwork_wait())
		made = true;
	return made;
}

/* ---- to the host's disk ---- */

void store_order(struct layer *l, struct lnode *n)
{
	struct lstore *s = l->store;

	if (!s || l->replay_time || !list_is_empty(&n->content.order))
		return;
	list_append(&s->order, &n->content.order);
	s->norder++;
	s->order_bytes += n->unsynced;
}

/* ---- opening ---- */

int store_layer_add(struct layer *l, uint32_t number, struct llog *old)
{
	struct lstore *s = l->store;
	int fd = layer_dir_open(s, number, true), r;

	if (fd < 0)
		return fd;
	r = host_mkdirat(fd, "c", 0755);
	if (r == 0 || r == -EEXIST)
		r = chain_add(s, fd, number, true);
	if (r < 0) {
		host_close(fd);
		return r;
	}
	r = log_create_begin(l, store_active(s), 0, old);
	if (r < 0) {
		store_layer_drop(s);
		return r;
	}
	s->unborn = true;
	return 0;
}

void store_layer_drop(struct lstore *s)
{
	host_close(s->chain[--s->nchain].fd);
	s->open_layers--;
}

static int chain_open(struct layer *l, const struct layer_disk *d, char *why, size_t why_size)
{
	struct lstore *s = l->store;

	if (d->nsealed > LAYER_CHAIN_MAX)
		return -EMLINK;
	for (uint32_t i = 0; i < d->nsealed; i++) {
		bool own = d->sealed[i].fd < 0, last = i + 1 == d->nsealed;
		int fd = d->sealed[i].fd, r;

		/* The last one may not have been born; whether that is so is seen later. */
		if (own && last)
			fd = layer_dir_open(s, d->sealed[i].number, !d->readonly);
		r = own && last && fd < 0 ? fd : chain_add(s, fd, d->sealed[i].number, own);
		if (r < 0) {
			snprintf(why, why_size, "layer %u cannot be opened: %s",
				 d->sealed[i].number, strerror(-r));
			return r;
		}
	}
	return 0;
}

/* Whether the log of chain[i] may be missing: that of the active layer, and, as long as that is not
 * there either, that of the one below. A seal brings the layer to the disk that it seals, before it
 * makes the next one, so it was cut from its power before that: nothing was promised in the layer,
 * and it is an empty one. */
static bool log_may_miss(const struct lstore *s, uint32_t i, bool active, bool above)
{
	return active && (i == s->nchain - 1 || (i + 2 == s->nchain && !above && s->chain[i].own));
}

/* Logs from the last one on that tells everything. *ret_unborn: the sealed layer that is to have
 * one. */
static int chain_replay(struct layer *l, bool active, uint32_t *ret_unborn, char *why,
			size_t why_size)
{
	struct lstore *s = l->store;
	struct log_header h;
	uint32_t first = 0;
	bool above = false; /* there is a log of the one above */
	int r;

	*ret_unborn = CHAIN_MAX;
	for (uint32_t i = s->nchain; i-- > 0 && first == 0;) {
		r = store_log_head(s, i, &h);
		if (r < 0 &&
		    !((r == -ENOENT || r == -ENODATA) && log_may_miss(s, i, active, above))) {
			snprintf(why, why_size, "layer %u has no log that can be read: %s",
				 s->chain[i].number, strerror(-r));
			return r;
		}
		if (r < 0 && i + 1 < s->nchain)
			*ret_unborn = i;
		if (r == 0 && (h.flags & LOG_FULL))
			first = i;
		above = r == 0;
	}
	for (uint32_t i = first; i < s->nchain; i++) {
		if (i == *ret_unborn ||
		    (active && i == s->nchain - 1 && store_log_head(s, i, &h) < 0))
			continue;
		r = store_replay(l, i, why, why_size);
		if (r < 0)
			return r;
	}
	return 0;
}

static int active_open(struct lstore *s, uint32_t number, char *why, size_t why_size)
{
	struct log_header h;
	int fd = layer_dir_open(s, number, false), r;
	bool there = fd >= 0;

	if (fd == -ENOENT)
		fd = layer_dir_open(s, number, true);
	if (fd < 0) {
		snprintf(why, why_size, "layer %u cannot be made: %s", number, strerror(-fd));
		return fd;
	}
	r = chain_add(s, fd, number, true);
	if (r < 0) {
		host_close(fd);
		return r;
	}
	/* A power cut may have left the log and not this. */
	r = host_mkdirat(fd, "c", 0755);
	if (r < 0 && r != -EEXIST) {
		snprintf(why, why_size, "layer %u cannot be used: %s", number, strerror(-r));
		return r;
	}
	if (store_log_head(s, store_active(s), &h) == 0)
		memcpy(s->disk_id, h.disk_id, sizeof(s->disk_id));
	else /* it may hold files of a seal that was not completed */
		s->leftover = there;
	return 0;
}

/* The layer is new: what its directory holds is of a kernel that ended before it had said
 * anything. */
static int active_create(struct layer *l, char *why, size_t why_size)
{
	uint32_t at = store_active(l->store);
	struct llog old;
	int r;

	l->store->unborn = true;
	r = log_create_begin(l, at, 0, &old);
	if (r == 0)
		r = log_create_end(l, at, &old, 0);
	if (r == 0)
		r = store_bear(l);
	if (r < 0)
		snprintf(why, why_size, "layer %u cannot be made: %s", l->store->chain[at].number,
			 strerror(-r));
	return r;
}

/* A sealed layer that was not born: an empty one. */
static int sealed_create(struct layer *l, uint32_t index, char *why, size_t why_size)
{
	struct lstore *s = l->store;
	struct llog old;
	int r = log_create_begin(l, index, 0, &old);

	if (r == 0)
		r = log_create_end(l, index, &old, 0);
	if (r < 0) {
		snprintf(why, why_size, "layer %u cannot be made: %s", s->chain[index].number,
			 strerror(-r));
		return r;
	}
	host_close(s->log.fd);
	s->log.fd = -1;
	return 0;
}

int store_open(struct layer *l, const struct layer_disk *d, char *why, size_t why_size)
{
	struct lstore *s = obj_new(&lstore_type);
	uint32_t unborn;
	int r;

	if (!s)
		return -ENOMEM;
	l->store = s;
	s->data_fd = d->data_fd;
	s->readonly = d->readonly;
	s->log.fd = -1;
	s->clean = true;
	list_init(&s->order);
	list_init(&s->mapped);
	list_init(&s->orphans);
	list_init(&s->requests);
	host_random(s->disk_id, sizeof(s->disk_id));
	r = chain_open(l, d, why, why_size);
	if (r == 0 && !d->readonly)
		r = active_open(s, d->active, why, why_size);
	if (r == 0)
		r = chain_replay(l, !d->readonly, &unborn, why, why_size);
	if (r == 0 && unborn < s->nchain)
		r = sealed_create(l, unborn, why, why_size);
	if (r == 0 && !d->readonly && s->log.fd < 0)
		r = active_create(l, why, why_size);
	if (r == 0)
		r = store_replay_end(l, why, why_size);
	if (r < 0)
		return r;
	l->fs.readonly |= d->readonly;
	if (s->readonly)
		ids_free(&s->ids);
	else
		store_recover_start(l);
	return 0;
}

void store_close(struct layer *l)
{
	struct lstore *s = l->store;

	if (!s)
		return;
	store_recover_forget(l, NULL);
	ids_free(&s->ids);
	if (s->log.fd >= 0)
		host_close(s->log.fd);
	if (s->log.buf)
		blob_free(s->log.buf, s->log.cap);
	for (uint32_t i = 0; i < s->nchain; i++)
		if (s->chain[i].own && s->chain[i].fd >= 0)
			host_close(s->chain[i].fd);
	if (s->chain)
		blob_free(s->chain, s->chain_room * sizeof(*s->chain));
	host_close(s->data_fd);
	obj_free(&lstore_type, s);
	l->store = NULL;
}
