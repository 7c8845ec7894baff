/* See merge.h.
 *
 * A kernel writes the log of the new layer and says which contents it needs; they are linked here.
 * Before the disk stands on it, a second kernel reads the new chain and looks for every content:
 * what a file without a name at that time keeps, for example, is in no tree. */
#include "keeper/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "keeper/disk_kernel.h"
#include "store/merge.h"

#define CONTENTS_MAX (16u << 20)
#define WORTH_BYTES 1024 /* that are to be freed for each content that is linked */
#define COPY_MAX (256ULL << 20) /* for a chain that becomes short */
/* What a kernel may take; a start waits for it, and it reads what a guest has made. 50,000 files
 * take it one second. */
#define MOST_NS (600 * NSEC_PER_SEC)

struct contents {
	struct merge_content *list;
	size_t n, room;
};

static bool contents_add(struct contents *c, uint32_t index, uint64_t number)
{
	struct merge_content *more;

	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 256;
		more = c->room > CONTENTS_MAX ? NULL : realloc(c->list, c->room * sizeof(*more));
		if (!more)
			return false;
		c->list = more;
	}
	c->list[c->n++] = (struct merge_content){ index, number };
	return true;
}

static bool contents_read(int fd, struct contents *c)
{
	FILE *f = fdopen(fd, "r");
	char line[64];
	bool ok = f;

	while (ok && fgets(line, sizeof(line), f)) {
		unsigned long long number;
		unsigned index;
		int end = -1;

		ok = sscanf(line, "%x %llx%n", &index, &number, &end) == 2 && end > 0 &&
		     !strcmp(line + end, "\n") && contents_add(c, index, number);
	}
	if (f)
		fclose(f);
	else
		close(fd);
	return ok;
}

/* A kernel has said why: the host may be full, or the disk damaged. */
static int merge_failed(const struct rootfs *p, struct err *e)
{
	return err_wrap(e, "the layers of cell '%s' cannot be made one", p->cell.name);
}

/* The log of the new layer, which has the tree of the first n of the chain, and which contents it
 * needs. 1: the host's image has changed meanwhile, so that the layers stay as they are. */
static int merge_tell(struct rootfs *p, unsigned n, const struct merged *m, struct contents *c,
		      struct err *e)
{
	const struct run_tell what = {
		.mode = MODE_MERGE,
		.from_layers = n,
		.log = m->log,
		.number = m->n,
		.most_ns = MOST_NS,
	};
	struct disk_kernel t;
	int status;
	bool ok;

	if (disk_kernel_start(p, &what, &t, e) < 0)
		return -1;
	ok = contents_read(t.fd, c);
	t.fd = -1;
	err_set(e, ERR_FAILED, "what the kernel says about its files makes no sense");
	status = ok ? disk_kernel_end(&t, e) : disk_kernel_stop(&t);
	if (ok && status == 1)
		return 1;
	ok &= status == 0;
	merge_sort(c->list, c->n);
	return ok ? 0 : merge_failed(p, e);
}

static bool merge_is_worth(const struct rootfs *p, unsigned n, const struct merge_plan *plan,
			   const struct contents *c)
{
	struct disk_chain first = p->chain;
	uint64_t cost = merge_cost(&p->disk, &p->chain, c->list, c->n);

	first.n = n;
	if (!plan->instead)
		return cost <= COPY_MAX;
	return merge_gain(&p->disk, &first, plan->frees, c->list, c->n) >=
	       WORTH_BYTES * (c->n + 1) + cost;
}

/* Fills the new layer. 1: it is not worth it. */
static int merge_fill(struct rootfs *p, unsigned n, const struct merge_plan *plan, struct merged *m,
		      struct err *e)
{
	struct contents c = { 0 };
	int err, r = merge_tell(p, n, m, &c, e);

	if (r == 0 && !merge_is_worth(p, n, plan, &c)) {
		r = 1;
	} else if (r == 0) {
		err = merge_link(m, &p->disk, &p->chain, c.list, c.n);
		r = err ? disk_failed("cell", p->cell.name, err, e) : 0;
	}
	free(c.list);
	return r;
}

/* The new layer is in the place of the first n. */
static int chain_shorten(struct disk_chain *c, unsigned n, const struct disk *d, uint32_t layer)
{
	struct disk_link first = { .fd = -1, .ref.n = layer };
	struct disk_chain was = *c;
	int err;

	strcpy(first.ref.disk, d->id);
	*c = (struct disk_chain){ 0 };
	err = disk_chain_add(c, &first);
	for (unsigned i = n; i < was.n && !err; i++) {
		err = disk_chain_add(c, &was.links[i]);
		if (!err)
			was.links[i].fd = -1;
	}
	disk_chain_close(&was);
	return err;
}

/* Whether all that the chain needs is there. */
static int merge_check(struct rootfs *p, struct err *e)
{
	const struct run_tell what = { .mode = MODE_CHECK, .most_ns = MOST_NS };
	struct disk_kernel t;

	if (disk_kernel_start(p, &what, &t, e) < 0)
		return -1;
	return disk_kernel_end(&t, e) ? merge_failed(p, e) : 0;
}

static int merge_try(struct rootfs *p, unsigned n, const struct merge_plan *plan, struct merged *m,
		     struct err *e)
{
	int err, r = merge_fill(p, n, plan, m, e);

	if (r)
		return r;
	err = chain_shorten(&p->chain, n, &p->disk, m->n);
	return err ? disk_failed("cell", p->cell.name, err, e) : merge_check(p, e);
}

/* The disk stands on the new layer. 1: done; 0: somebody has made a fork, which would lose what it
 * stands on while it runs. Whoever forks has the store locked from his look at the layers on. */
static int merge_end(struct rootfs *p, const struct merge_plan *plan, uint32_t n, struct err *e)
{
	int lock = plan->instead ? store_lock_try(&p->store) : -1, err = 0;
	struct merge_plan now = *plan;

	if (plan->instead && lock < 0)
		return err_set(e, ERR_CONFLICT, "others use the store for long");
	if (plan->instead)
		err = disk_merge_find(p->store.fd, &p->disk, &now);
	if (!err && now.instead == plan->instead && now.top == plan->top) {
		err = disk_stand_on(&p->disk, n, plan->instead);
		/* Whichever tree the host has now, it needs no more than is there. */
		err = err ? disk_failed("cell", p->cell.name, err, e) : 1;
	} else {
		err = err && err != -ENOENT ? disk_failed("cell", p->cell.name, err, e) : 0;
	}
	if (lock >= 0)
		close(lock);
	return err;
}

/* One layer in the place of plan->instead and all that it stands on; 0: of all that the active
 * layer stands on. The chain of the place is of no use after it. 1: done; 0: it is not worth it. */
static int merge_do(struct rootfs *p, const struct merge_plan *plan, struct err *e)
{
	struct disk *d = &p->disk;
	struct merged m;
	unsigned n;
	int r, err = plan->instead ? disk_chain_with(p->store.fd, d, plan->instead, &p->chain)
				   : disk_chain(p->store.fd, d, d->active, &p->chain);

	n = p->chain.n;
	err = err ? err : disk_chain_with(p->store.fd, d, plan->top, &p->chain);
	err = err ? err : merge_start(d, &m);
	if (err)
		return disk_failed("cell", p->cell.name, err, e);
	r = merge_try(p, n, plan, &m, e);
	err = r ? 0 : merge_sync(&m);
	if (err)
		r = disk_failed("cell", p->cell.name, err, e);
	if (r) {
		merge_drop(&m, d);
		return r < 0 ? -1 : 0;
	}
	r = merge_end(p, plan, m.n, e);
	if (r == 0 || (r < 0 && e->kind == ERR_CONFLICT))
		merge_drop(&m, d);
	return r;
}

int place_shorten(struct rootfs *p, struct err *e)
{
	int err;

	if (p->chain.n < MERGE_AT)
		return 0;
	if (merge_do(p, &(struct merge_plan){ .top = p->disk.active }, e) < 0)
		log_warn("%s; it starts as it is", err_line(e).str);
	err = disk_chain(p->store.fd, &p->disk, p->disk.active, &p->chain);
	return err ? disk_failed("cell", p->cell.name, err, e) : 0;
}

int cell_merge(const struct store *s, const char *cell, struct err *e)
{
	static struct rootfs p;
	struct merge_plan plan;
	int r;

	p = (struct rootfs){ .store = *s, .kept = true };
	if (cell_open(s, cell, DISK_EXCLUSIVE, &p.cell, &p.disk, e) < 0)
		return e->kind == ERR_CONFLICT ? 0 : -1;
	r = disk_merge_find(s->fd, &p.disk, &plan);
	if (r < 0) {
		disk_close(&p.disk);
		return r == -ENOENT ? 0 : disk_failed("cell", cell, r, e);
	}
	p.stored = strcmp(p.cell.image, "host") != 0;
	r = p.stored && image_open(s, p.cell.image, &p.image, e) < 0 ? -1 : merge_do(&p, &plan, e);
	disk_chain_close(&p.chain);
	if (p.stored && p.image.dir >= 0)
		image_close(&p.image);
	disk_close(&p.disk);
	return r > 0 ? disks_collect(s, "cell", cell, e) : r;
}
