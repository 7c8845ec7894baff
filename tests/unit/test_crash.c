/* A disk under a random workload, killed, cut from its power, or refused by the host, at every host
 * call in turn; then opened again and compared with a model. See fakehost.h. Of the power cuts,
 * some leave nothing but what was synced.
 *   test_crash                    some seeds and some of the points
 *   test_crash SEEDS [FIRST [STEP]]  every STEP-th point of these seeds ('make crash')
 * Each seed is run with all syncs at once, and with syncs that are on their way while others go
 * on. */
/* objects: src/base/arena.c src/base/program.c src/base/crc32c.c src/base/log.c src/kernel/platform/cell.c src/kernel/platform/fastmem.c src/kernel/platform/gueststream.c src/kernel/platform/uio.c src/kernel/vfs/inode.c src/kernel/vfs/hostfile.c src/kernel/fs/image/fdcache.c src/kernel/fs/layer/ */
#include "diskmodel.h"
#include "tap.h"

#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* Syncs that are on their way while others go on: some of the operations are made by tasks that may
 * wait, and the other thread makes some of its steps after each operation. */
#define WAITING_MAX 6

static bool later;
static struct {
	struct task t;
	unsigned k; /* the operation */
	bool has_file; /* it keeps one, and does so until it ends */
} waiting[WAITING_MAX];
static struct file kept_file;

static bool is_waiting(int i)
{
	return waiting[i].t.call.kept.kind == KEPT_SYNC;
}

/* It has ended: what it kept before is there. */
static void waiting_end(int i)
{
	struct call_kept *k = &waiting[i].t.call.kept;

	if (k->kind != (waiting[i].has_file ? KEPT_FILE : KEPT_NOTHING) ||
	    (waiting[i].has_file && k->file != &kept_file))
		_exit(98);
	k->kind = KEPT_NOTHING;
}

static uint64_t mix(uint64_t seed, uint64_t k)
{
	uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL ^ (k + 1) * 0xbf58476d1ce4e5b9ULL;

	return x ^ x >> 29;
}

static bool is_sync(enum kind kind)
{
	return kind == OP_FSYNC || kind == OP_FSYNCDIR || kind == OP_SYNCFS;
}

static bool changes_content(enum kind kind)
{
	return kind == OP_WRITE || kind == OP_TRUNCATE || kind == OP_MAP || kind == OP_RENAME;
}

/* WAITING: it waits. */
static int64_t sync_later(struct fs *fs, const struct op *o, unsigned k, uint64_t dice)
{
	struct layer *l = (struct layer *)fs;
	struct lnode *n;
	int64_t r;
	int i;

	for (i = 0; i < WAITING_MAX && is_waiting(i); i++)
		;
	if (i == WAITING_MAX)
		return real_apply(fs, o);
	/* It is taken for a long one, and sometimes for one with many bytes. */
	l->store->long_row = UINT32_MAX;
	if (dice % 3 == 0)
		l->store->order_bytes = 1 << 30;
	if (dice % 3 == 1)
		list_for_each (n, &l->nodes, all_link)
			n->unsynced = 1 << 30;
	waiting[i].k = k;
	waiting[i].has_file = dice & 8;
	waiting[i].t.call.may_wait = true;
	if (waiting[i].has_file)
		waiting[i].t.call.kept =
			(struct call_kept){ .kind = KEPT_FILE, .file = &kept_file };
	task_current = &waiting[i].t;
	r = real_apply(fs, o);
	task_current = NULL;
	if (r == WAITING)
		fake->waits[k] = 1;
	else
		waiting_end(i);
	return r;
}

/* A change that the other thread is asked to make a part of, which is waited for before the next
 * operation: with what else is on its way. */
static int64_t change_later(struct fs *fs, const struct op *o)
{
	static struct task t;
	int64_t r;

	memset(&t, 0, sizeof(t));
	t.call.may_wait = true;
	for (;;) {
		t.call.parked = false;
		task_current = &t;
		r = real_apply(fs, o);
		task_current = NULL;
		if (r != WAITING)
			break;
		fake->besides++;
		(void)hostwork_wait();
	}
	if (t.call.kept.kind == KEPT_SYNC)
		layer_sync_drop(t.call.kept.sync.request);
	return r;
}

/* A seal that begins with a sync of everything, while others go on: k is the operation, 0 none is
 * on its way. As the trusted side does, the new layer is written down first. */
static struct {
	unsigned k;
	bool on, synced;
} sealing;

static void seal_told(void)
{
	sealing.synced = true;
}

static int64_t seal_later(struct fs *fs, unsigned k)
{
	fake->active++;
	fake->waits[k] = 1;
	sealing.k = k;
	sealing.on = true;
	sealing.synced = !layer_sync_beside(fs, CALLBACK(seal_told));
	return WAITING;
}

static void seal_finish(struct fs *fs)
{
	int r;

	if (!sealing.on)
		return;
	sealing.on = false;
	r = layer_seal(fs, fake->active, true);
	fake->waits[sealing.k] = 0;
	fake->failed[sealing.k] = r < 0;
	if (r < 0)
		fake->active--;
	else
		fake->synced = MAX(fake->synced, sealing.k + 1);
	if (r < 0 && !fake->fail_at)
		_exit(96);
	if (r == 0 && sealing.k % 2)
		layer_seal_end(fs);
}

/* What has come to its end. false: the disk is read-only from now on. */
static bool sync_ended(struct fs *fs, unsigned acked)
{
	for (int i = 0; i < WAITING_MAX; i++) {
		int r;

		if (!is_waiting(i))
			continue;
		task_current = &waiting[i].t;
		r = layer_sync_again();
		task_current = NULL;
		if (r == WAITING)
			continue;
		waiting_end(i);
		fake->waits[waiting[i].k] = 0;
		fake->failed[waiting[i].k] = r < 0;
		if (r < 0 && !fake->fail_at)
			_exit(97);
		if (r == 0)
			fake->synced = MAX(fake->synced, waiting[i].k + 1);
	}
	if (fs->readonly) {
		fake->broken_at = acked;
		fake->acked = acked;
	}
	return !fs->readonly;
}

/* Some steps; now and then a task is killed. */
static bool others_go_on(struct fs *fs, unsigned acked, uint64_t dice)
{
	for (unsigned n = dice % 4; n > 0 && hostwork_wait(); n--)
		;
	if (sealing.on && sealing.synced && dice % 3)
		seal_finish(fs);
	if (!sync_ended(fs, acked))
		return false;
	for (int i = 0; dice % 23 == 0 && i < WAITING_MAX; i++)
		if (is_waiting(i)) {
			struct call_kept *k = &waiting[i].t.call.kept;

			layer_sync_drop(k->sync.request);
			if (k->sync.file != (waiting[i].has_file ? &kept_file : NULL))
				_exit(98);
			k->kind = KEPT_NOTHING;
			break;
		}
	return true;
}

static int workload(uint64_t seed)
{
	struct fs *fs = disk_open_fs();

	if (!fs)
		return fake->fail_at ? 0 : 1;
	model_init();
	fakework_on = later;
	if (later)
		content_limits = (struct content_limits){ .piece = 200, .copy = 700, .cut = 1 };
	op_rng = seed * 0x2545f4914f6cdd1dULL + 7;
	for (unsigned k = 0; k < OPS; k++) {
		struct op o = op_make();
		if (getenv("CRASH_TRACE"))
			fprintf(stderr, "call %u op %u %s %s/%s %s/%s %zu+%zu\n", fake->calls, k,
				kind_names[o.kind], o.dir, o.name, o.dir2, o.name2, o.off, o.len);
		uint64_t dice = mix(seed, k);

		if (o.kind == OP_SEAL)
			seal_finish(fs);
		int64_t r = o.kind == OP_NONE			   ? 0
			    : later && is_sync(o.kind) && dice % 5 ? sync_later(fs, &o, k, dice / 5)
			    : later && changes_content(o.kind)	   ? change_later(fs, &o)
			    : later && o.kind == OP_SEAL && dice % 4 ? seal_later(fs, k)
								     : real_apply(fs, &o);

		if (r == WAITING)
			r = 0;
		if (r < 0 && !fake->fail_at) {
			printf("# seed %llu op %u %s %s/%s %s/%s: %s\n", (unsigned long long)seed,
			       k, kind_names[o.kind], o.dir, o.name, o.dir2, o.name2,
			       strerror((int)-r));
			return 1;
		}
		if (r < 0) {
			int target = op_target(&o);

			fake->failed[k] = 1;
			if (target)
				nodes[target].unknown = true;
			if (fs->readonly) {
				fake->broken_at = k + 1;
				fake->acked = k;
				return 0;
			}
		} else {
			model_apply(&o);
			if (((is_sync(o.kind) || o.kind == OP_SEAL) && !fake->waits[k]) ||
			    o.kind == OP_COMPACT)
				fake->synced = k + 1;
		}
		fake->acked = k + 1;
		if (later && !others_go_on(fs, k + 1, dice / 97))
			return 0;
	}
	while (hostwork_wait())
		;
	seal_finish(fs);
	while (hostwork_wait())
		;
	if (later && !sync_ended(fs, OPS))
		return 0;
	/* What is in memory is what was answered. */
	bool failing = fake->fail_at;

	fake->fail_at = 0;
	real_text(fs->root, "", true, text_real);
	text_of_model(1, "", true, 0, text_model);
	if (!same_text(text_real, text_model)) {
		printf("# seed %llu: the tree in memory is wrong\n# real:\n%s\n# model:\n%s",
		       (unsigned long long)seed, text_real, text_model);
		return 1;
	}
	if (!failing && fake->rng % 2)
		layer_finish(fs);
	return 0;
}

/* Model at operation upto. */
static void model_run(uint64_t seed, unsigned upto, struct op *ret_last)
{
	model_init();
	op_rng = seed * 0x2545f4914f6cdd1dULL + 7;
	for (unsigned k = 0; k <= upto; k++) {
		struct op o = op_make();
		int target = op_target(&o);

		if (k == upto) {
			*ret_last = o;
			return;
		}
		if (fake->failed[k] && target)
			nodes[target].unknown = true;
		/* All that a sync does to the model is a promise. */
		if (!fake->failed[k] && !fake->waits[k])
			model_apply(&o);
	}
}

static bool recovered(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;
	unsigned found = 0, used = 0;
	const char *last = "";
	struct lnode *n;

	/* After an end in peace nothing is looked for; a power cut then may have undone a
	 * removal. */
	if (!l->store->recovering)
		return true;
	while (store_recover_step(l))
		;
	list_for_each (n, &l->nodes, all_link)
		used += (n->names || n->held) && n->scratch &&
			n->content.where == store_active(l->store);
	struct fino *d = fake_dir(l->store->chain[store_active(l->store)].fd);
	struct fent *c = fent_find(d->ents, "c");
	for (struct fent *e = c->ino->ents; e; e = e->next)
		for (struct fent *f = e->ino->dir ? e->ino->ents : NULL; f; f = f->next)
			found++, last = f->name;
	if (found != used)
		printf("# %u files of content for %u nodes: %s\n", found, used, last);
	return found == used;
}

static int verify_killed(uint64_t seed)
{
	struct fs *fs = disk_open_fs();
	struct op last;
	bool same;

	if (!fs)
		return 1;
	content_error = NULL;
	real_text(fs->root, "", true, text_real);
	model_run(seed, fake->acked, &last);
	text_of_model(1, "", true, op_target(&last), text_model);
	same = same_text(text_real, text_model);
	if (!same && last.kind != OP_NONE) {
		int masked = op_target(&last);

		model_apply(&last);
		text_model[0] = '\0';
		text_of_model(1, "", true, masked, text_model);
		same = same_text(text_real, text_model);
	}
	if (!same || content_error)
		printf("# seed %llu, %u operations, then %s %s/%s %s/%s (%s)\n# real:\n%s# model "
		       "(with it):\n%s",
		       (unsigned long long)seed, fake->acked, kind_names[last.kind], last.dir,
		       last.name, last.dir2, last.name2, content_error ? content_error : "",
		       text_real, text_model);
	return same && !content_error && recovered(fs) ? 0 : 1;
}

/* The contents that were synced, of the files that model j has. final: the last state. */
static bool contents_are_synced(struct fs *fs, const struct mnode *final, int in_flight)
{
	static char buf[DATA_MAX];

	places_collect();
	for (int k = 0; k < nplaces; k++) {
		const struct mnode *m = &final[places[k].node];
		char path[160];
		struct inode *i;
		size_t n;

		if (nodes[places[k].node].type != 'f')
			continue;
		snprintf(path, sizeof(path), "%.120s%s%s", places[k].path,
			 places[k].path[0] ? "/" : "", places[k].name);
		i = walk(fs, path);
		if (!i) {
			printf("# no %s\n", path);
			return false;
		}
		content_error = NULL;
		n = content_read(i, buf);
		inode_put(i);
		if (content_error) {
			printf("# %s: %s\n", path, content_error);
			return false;
		}
		/* What replaced another file is there, if the log was synced with that: nobody
		 * finds an empty one. */
		if (fake->bare && nodes[places[k].node].replaced &&
		    nodes[places[k].node].replaced == m->version && places[k].node != in_flight &&
		    !m->unknown && (n != m->size || memcmp(buf, m->data, n))) {
			printf("# %s has replaced another and is different: %zu bytes, not %zu\n",
			       path, n, m->size);
			return false;
		}
		if (m->version == m->synced && places[k].node != in_flight && !m->unknown &&
		    (n != m->size || memcmp(buf, m->data, n))) {
			printf("# %s was synced and is different: %zu bytes, not %zu\n", path, n,
			       m->size);
			return false;
		}
	}
	return true;
}

static int verify_power(uint64_t seed)
{
	struct fs *fs = disk_open_fs();
	static struct mnode final[NODES];
	struct op last;
	int in_flight;

	if (!fs)
		return 1;
	real_text(fs->root, "", false, text_real);
	model_run(seed, fake->acked, &last);
	in_flight = op_target(&last);
	if (last.kind != OP_NONE)
		model_apply(&last);
	memcpy(final, nodes, sizeof(final));
	/* What the interrupted call would have made durable is not promised. */
	model_run(seed, fake->acked, &last);
	for (int i = 1; i <= nnodes; i++)
		final[i].synced = nodes[i].synced;
	for (unsigned j = fake->acked + 1; j-- > fake->synced || j == fake->synced;) {
		struct op o;

		model_run(seed, j, &o);
		for (int with = 1; with >= 0; with--) {
			if (with && o.kind != OP_NONE && j == fake->acked)
				model_apply(&o);
			else if (with)
				continue;
			else
				model_run(seed, j, &o);
			text_model[0] = '\0';
			text_of_model(1, "", false, 0, text_model);
			if (same_text(text_real, text_model) &&
			    contents_are_synced(fs, final, in_flight))
				return recovered(fs) ? 0 : 1;
		}
		if (j == 0)
			break;
	}
	printf("# seed %llu: %u operations, %u synced, none of the states between\n# real:\n%s# "
	       "model at the last sync:\n%s",
	       (unsigned long long)seed, fake->acked, fake->synced, text_real, text_model);
	return 1;
}

/* One file replaces another while a sync is on its way, which brings the log to the disk with the
 * record of that. */
static const struct op replace_ops[] = {
	{ .kind = OP_CREATE, .name = "x", .mode = 0644 },
	{ .kind = OP_WRITE, .name = "x", .len = 300, .fill = 'A' },
	{ .kind = OP_FSYNC, .name = "x" },
	{ .kind = OP_CREATE, .name = "y", .mode = 0644 },
	{ .kind = OP_WRITE, .name = "y", .len = 200, .fill = 'B' },
	{ .kind = OP_CREATE, .name = "z", .mode = 0644 },
	{ .kind = OP_WRITE, .name = "z", .len = 100, .fill = 'C' },
};

static int replace_run(uint64_t steps)
{
	const struct op sync = { .kind = OP_FSYNC, .name = "z" };
	const struct op rename = { .kind = OP_RENAME, .name = "y", .name2 = "x" };
	struct fs *fs = disk_open_fs();

	if (!fs)
		return 1;
	fakework_on = true;
	for (size_t i = 0; i < ARRAY_LEN(replace_ops); i++)
		if (real_apply(fs, &replace_ops[i]) < 0)
			return 2;
	if (sync_later(fs, &sync, 100, 2) != WAITING)
		return 3;
	while (steps-- > 0 && hostwork_wait())
		;
	if (change_later(fs, &rename) < 0)
		return 4;
	while (hostwork_wait())
		;
	return 0;
}

static int replace_look(uint64_t unused)
{
	static char buf[DATA_MAX];
	struct fs *fs = disk_open_fs();
	struct inode *i = fs ? walk(fs, "x") : NULL;
	size_t n = i ? content_read(i, buf) : 0;

	(void)unused;
	return (n == 300 && buf[0] == 'A') || (n == 200 && buf[0] == 'B') ? 0 : 1;
}

/* A file is cut by the other thread, or copied after a seal, when something else happens to it. */
static const struct op meanwhile[] = {
	{ .kind = OP_SEAL },
	{ .kind = OP_COMPACT },
	{ .kind = OP_SYNCFS },
	{ .kind = OP_FSYNC, .name = "x" },
	{ .kind = OP_WRITE, .name = "x", .off = 50, .len = 10, .fill = 'D' },
	{ .kind = OP_TRUNCATE, .name = "x", .len = 70 },
	{ .kind = OP_MAP, .name = "x" },
	{ .kind = OP_UNLINK, .name = "x" },
};

static int working_run(uint64_t k)
{
	static const struct op first[] = {
		{ .kind = OP_CREATE, .name = "x", .mode = 0644 },
		{ .kind = OP_WRITE, .name = "x", .len = 5000, .fill = 'A' },
		{ .kind = OP_FSYNC, .name = "x" },
	};
	const struct op seal = { .kind = OP_SEAL }, *other = &meanwhile[k / 2];
	const struct op cut = { .kind = OP_TRUNCATE, .name = "x", .len = 100 };
	const struct op change = { .kind = OP_WRITE, .name = "x", .len = 10, .fill = 'E' };
	static struct task t = { .call.may_wait = true };
	struct fs *fs = disk_open_fs();
	int64_t r;

	if (!fs)
		return 1;
	fakework_on = true;
	content_limits = (struct content_limits){ .piece = 200, .copy = 700, .cut = 1 };
	for (size_t i = 0; i < ARRAY_LEN(first); i++)
		if (real_apply(fs, &first[i]) < 0)
			return 2;
	if (k % 2 && real_apply(fs, &seal) < 0)
		return 3;
	task_current = &t;
	r = real_apply(fs, k % 2 ? &change : &cut);
	task_current = NULL;
	if (r != WAITING)
		return 4;
	/* Made by somebody who cannot wait. */
	content_limits.piece = 1 << 30;
	if (real_apply(fs, other) < 0)
		return 5;
	while (hostwork_wait())
		;
	if (other->kind != OP_UNLINK && change_later(fs, k % 2 ? &change : &cut) < 0)
		return 6;
	while (hostwork_wait())
		;
	if (((struct layer *)fs)->store->working)
		return 7;
	real_text(fs->root, "", true, text_model);
	return 0;
}

static int working_look(uint64_t k)
{
	const size_t size = k % 2 ? 5000 : 100;
	const enum kind other = meanwhile[k / 2].kind;
	struct fs *fs = disk_open_fs();
	struct inode *i = fs ? walk(fs, "x") : NULL;

	if (!fs)
		return 1;
	real_text(fs->root, "", true, text_real);
	if (strcmp(text_real, text_model))
		return 2;
	if (other == OP_UNLINK)
		return i || !recovered(fs) ? 3 : 0;
	if (!i || i->ops->getattr(i) < 0)
		return 4;
	return i->size == size || (other == OP_TRUNCATE && i->size == 70) ? 0 : 5;
}

static unsigned points, bad, besides;

static void working(void)
{
	for (uint64_t k = 0; k < 2 * ARRAY_LEN(meanwhile); k++) {
		run_start(1);
		eq(in_child(working_run, k), 0, kind_names[meanwhile[k / 2].kind]);
		fake_reboot(false);
		eq(in_child(working_look, k), 0, "what is there is what was answered");
	}
}

static void replace(void)
{
	for (uint64_t steps = 0; steps < 8; steps++) {
		run_start(1);
		fake->bare = true;
		eq(in_child(replace_run, steps), 0, "a file is replaced");
		fake_reboot(true);
		eq(in_child(replace_look, 0), 0, "one of the two is there");
	}
}

static void one(uint64_t seed, unsigned at, bool power, bool bare)
{
	int r;

	run_start(seed);
	fake->bare = bare;
	fake->die_at = at;
	r = in_child(workload, seed);
	points++;
	if (r != FAKE_DIED && r != 0) {
		printf("# seed %llu point %u: status %d\n", (unsigned long long)seed, at, r);
		bad++;
		return;
	}
	fake->rng ^= at * 77777;
	fake_reboot(power);
	text_real[0] = text_model[0] = '\0';
	r = in_child(power ? verify_power : verify_killed, seed);
	if (r) {
		printf("# seed %llu%s, %s at call %u: status %d\n", (unsigned long long)seed,
		       later ? " (later)" : "", power ? "power cut" : "killed", at, r);
		bad++;
	}
}

static void one_error(uint64_t seed, unsigned at, int err, bool on)
{
	int r;

	run_start(seed);
	fake->fail_at = at;
	fake->fail_with = err;
	fake->fail_on = on;
	r = in_child(workload, seed);
	points++;
	if (r == 0) {
		bool broken = fake->broken_at;

		fake_reboot(false);
		text_real[0] = text_model[0] = '\0';
		fake->failed[fake->acked] = 0;
		if (!broken && fake->acked) /* 0: it could not be opened at all */
			fake->acked = OPS;
		r = in_child(verify_killed, seed);
	}
	if (r) {
		printf("# seed %llu%s, call %u answers %s%s: status %d\n", (unsigned long long)seed,
		       later ? " (later)" : "", at, strerror(-err), on ? " from then on" : "", r);
		bad++;
	}
}

/* How many host calls the whole workload makes. */
static unsigned calls_of(uint64_t seed)
{
	run_start(seed);
	if (in_child(workload, seed)) {
		bad++;
		return 0;
	}
	besides += fake->besides;
	return fake->calls;
}

int main(int argc, char **argv)
{
	static const int errors[] = { -ENOSPC, -EIO, -EROFS };
	unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
	unsigned first = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	unsigned step = argc > 3 ? (unsigned)atoi(argv[3]) : argc > 1 ? 1 : 17;

	if (argc > 4) {
		unsigned at = (unsigned)atoi(argv[4]);

		later = getenv("CRASH_LATER");
		if (argc > 5 && argv[5][0] == 'e')
			one_error(first, at, errors[at % 3], at % 2);
		else
			one(first, at, argc > 5, argc > 5 && argv[5][0] == 'b');
		return bad != 0;
	}
	for (uint64_t i = 0; i < 2 * (uint64_t)seeds && bad < 3; i++) {
		uint64_t seed = first + i / 2;

		later = i % 2;
		unsigned calls = calls_of(seed);

		for (unsigned at = 1 + (unsigned)seed % step; at <= calls && bad < 3; at += step) {
			one(seed, at, false, false);
			one(seed, at, true, false);
			one(seed, at, true, false);
			one(seed, at, true, true);
			one_error(seed, at, errors[at % 3], at % 2);
		}
		one(seed, 0, false, false);
		one(seed, 0, true, false);
	}
	/* Three seals, the last two with hardly anything between: a layer that is sealed before it
	 * was born. */
	later = false;
	for (unsigned at = 160; argc == 1 && at < 190 && bad < 3; at++)
		one(902, at, true, false);
	replace();
	working();
	printf("# %u points, %u waits for a content\n", points, besides);
	ok(points > 100, "there were points to look at");
	ok(argc > 1 || besides > 10, "some contents were copied and cut beside the loop");
	eq(bad, 0, "the disk is what was answered, and what was synced");
	return tap_end();
}
