/* After a kernel that did not end in peace: counting again what is used, and removing contents that
 * nobody refers to.
 *
 * Both need a look at every file, so they are done in small steps between other events, while the
 * cell already runs. Until then the quota lacks what was not counted yet. Numbers that the log does
 * not know may have been given to files without a name: a start goes on far beyond them, so that
 * what lies there is known to be old. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/task/clock.h"
#include "kernel/task/timer.h"

#define STEP_NODES 256
#define STEP_NS (5 * NSEC_PER_SEC / 1000)
#define ID_GAP (1ULL << 20)

struct recovery {
	struct ktimer timer;
	struct layer *l;
};

OBJ_TYPE(recovery_type, struct recovery, 64);

static void timer_fired(struct ktimer *t)
{
	struct recovery *rec = container_of(t, struct recovery, timer);

	if (store_recover_step(rec->l))
		(void)ktimer_start(t, now_mono() + STEP_NS);
}

static void recovery_end(struct layer *l)
{
	struct lstore *s = l->store;

	if (s->recovery) {
		ktimer_stop(&s->recovery->timer);
		obj_free(&recovery_type, s->recovery);
	}
	s->recovery = NULL;
	s->recovering = false;
	s->recount_at = NULL;
	ids_free(&s->ids);
}

void store_recover_start(struct layer *l)
{
	struct lstore *s = l->store;

	if (!s->recovering) {
		ids_free(&s->ids);
		return;
	}
	l->next_id = MIN(l->next_id + ID_GAP, IMAGE_INO_END - 1);
	if (log_begin(l) == 0) {
		log_next(l);
		/* Without it a file may be left over, which costs space only. */
		if (log_commit(l, true) < 0)
			log_debug("the next number could not be noted");
	}
	s->first_id = l->next_id;
	s->recount_at =
		list_is_empty(&l->nodes) ? NULL : list_first(&l->nodes, struct lnode, all_link);
	s->orphan_dir = 0;
	s->recovery = obj_new(&recovery_type);
	if (!s->recovery)
		return; /* layer_finish does it */
	s->recovery->l = l;
	ktimer_init(&s->recovery->timer, timer_fired);
	(void)ktimer_start(&s->recovery->timer, now_mono() + STEP_NS);
}

static struct lnode *node_after(struct layer *l, struct lnode *n)
{
	return n->all_link.next == &l->nodes ? NULL
					     : list_entry(n->all_link.next, struct lnode, all_link);
}

struct lnode *store_recount_next(struct layer *l)
{
	struct lstore *s = l->store;
	struct lnode *n = s->recount_at;

	s->recount_at = n ? node_after(l, n) : NULL;
	return n;
}

void store_recover_forget(struct layer *l, struct lnode *n)
{
	struct lstore *s = l->store;

	if (!n)
		recovery_end(l);
	else if (s->recount_at == n)
		s->recount_at = node_after(l, n);
}

static bool is_grave(const struct lstore *s, uint64_t number)
{
	for (uint32_t i = 0; i < s->ngraves; i++)
		if (s->graves[i].number == number)
			return true;
	return false;
}

static void orphan_check(struct layer *l, int dir, const char *name)
{
	struct lstore *s = l->store;
	char *end;
	uint64_t number = strtoull(name, &end, 16);
	const struct lnode *n = ids_find(&s->ids, number);

	if (name[0] == '.' || number >= l->next_id)
		return;
	if (!*end && n && n->scratch == number && n->own_content &&
	    n->content.where == store_active(s))
		return;
	if (!*end && (number >= s->first_id || is_grave(s, number)))
		return;
	(void)host_unlinkat(dir, name, 0);
}

/* One directory of the 256. */
static void orphans_remove(struct layer *l, unsigned xx)
{
	static union {
		char bytes[32768];
		struct dirent64 align;
	} buf;
	char name[8];
	int64_t n;
	int fd;

	snprintf(name, sizeof(name), "c/%02x", xx);
	fd = host_open_beneath(store_layer_fd(l->store, store_active(l->store)), name,
			       O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return;
	while ((n = host_getdents(fd, &buf, sizeof(buf))) > 0)
		for (int64_t at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(buf.bytes + at);

			orphan_check(l, fd, d->d_name);
			at += d->d_reclen;
		}
	host_close(fd);
}

bool store_recover_step(struct layer *l)
{
	struct lstore *s = l->store;

	if (!s || !s->recovering || s->broken)
		return false;
	for (int i = 0; i < STEP_NODES && s->recount_at; i++) {
		struct lnode *n = store_recount_next(l);

		/* What cannot be counted is not; whoever opens it gets the error. */
		if (n->unloaded && lnode_load(n) < 0)
			continue;
	}
	if (s->recount_at)
		return true;
	/* What the log says is to be on the disk before anything is removed because of it. */
	if (s->orphan_dir == 0 && log_sync(l) < 0)
		return false;
	orphans_remove(l, s->orphan_dir);
	if (++s->orphan_dir < 256)
		return true;
	recovery_end(l);
	return false;
}
