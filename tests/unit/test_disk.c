/* Disks, their layers and names: in a directory of its own. What a kernel would write is written by
 * hand. */
/* objects: src/base/limit.c src/store/disk.c src/store/disktree.c src/store/chain.c src/store/collect.c src/store/files.c src/store/named.c src/host/isolate.c src/host/filter.c src/base/log.c */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/files.h"
#include "store/named.h"
#include "tap.h"

static int store;
static struct disk_chain chain;

/* The kernel's part: a directory for the layer with something in it. */
static void layer_fill(const struct disk *d, uint32_t n)
{
	char path[32];

	snprintf(path, sizeof(path), "data/%u", n);
	mkdirat(d->dir, path, 0755);
	snprintf(path, sizeof(path), "data/%u/log", n);
	close(openat(d->dir, path, O_CREAT | O_WRONLY, 0644));
}

static bool layer_is_there(const char *disk, uint32_t n)
{
	char path[128];

	snprintf(path, sizeof(path), "disks/%s/data/%u", disk, n);
	return faccessat(store, path, F_OK, 0) == 0;
}

static void test_life(void)
{
	const struct layer_ref ground = { 0 };
	struct disk d, again;
	char id[DISK_ID_LEN + 1];

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk is made");
	strcpy(id, d.id);
	ok(d.active == 1 && d.nlayers == 1, "it has one layer, the active one");
	ok(disk_open(store, id, DISK_EXCLUSIVE, &again) == -EBUSY, "it is locked");
	ok(disk_open(store, id, DISK_PEEK, &again) == 0, "one may look at it all the same");
	ok(!strcmp(again.image, "host") && again.active == 1, "and sees what was written");
	disk_close(&again);
	ok(disk_chain(store, &d, 1, &chain) == 0 && chain.n == 0, "the first layer has no chain");
	disk_close(&d);
	ok(disk_open(store, id, DISK_SHARED, &d) == 0, "opened again, to read");
	ok(disk_open(store, id, DISK_SHARED, &again) == 0, "by two at once");
	disk_close(&again);
	ok(disk_open(store, id, DISK_EXCLUSIVE, &again) == -EBUSY, "but then not to write");
	disk_close(&d);
	ok(disk_open(store, "0123", DISK_PEEK, &d) == -ENOENT, "a bad id is no disk");
	ok(disk_open(store, "../../../../../etc/aaaaaaaaaaaaa", DISK_PEEK, &d) == -ENOENT,
	   "nor is a path");
	ok(disk_open(store, id, DISK_EXCLUSIVE, &d) == 0 && disk_remove(store, &d) == 0,
	   "it can be removed");
	ok(disk_open(store, id, DISK_PEEK, &d) == -ENOENT, "and is gone");
}

static void test_snapshots(void)
{
	const struct layer_ref ground = { 0 };
	struct disk d, e;

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk for snapshots");
	layer_fill(&d, 1);
	ok(disk_seal(store, &d, "one") == 0 && d.active == 2, "sealed as 'one'");
	layer_fill(&d, 2);
	ok(disk_seal(store, &d, "one") == -EEXIST, "a name is used once");
	ok(disk_seal(store, &d, "two") == 0 && d.active == 3, "sealed as 'two'");
	layer_fill(&d, 3);
	ok(disk_chain(store, &d, 3, &chain) == 0 && chain.n == 2 && chain.links[0].ref.n == 1 &&
		   chain.links[1].ref.n == 2,
	   "the chain is in order, from the ground up");
	ok(disk_open(store, d.id, DISK_PEEK, &e) == 0 && e.nlayers == 3 &&
		   disk_snapshot_find(&e, "two")->n == 2,
	   "all of it is on disk");
	disk_close(&e);
	ok(disk_rollback(store, &d, "none") == -ENOENT, "no such snapshot");
	ok(disk_rollback(store, &d, "one") == 0 && d.active == 4, "rolled back to 'one'");
	ok(!layer_is_there(d.id, 3), "what was active is gone");
	ok(disk_chain(store, &d, d.active, &chain) == 0 && chain.n == 1, "one layer is below now");
	ok(disk_rollback(store, &d, "two") == 0, "and forward again to 'two'");
	ok(disk_chain(store, &d, d.active, &chain) == 0 && chain.n == 2, "with two below");
	ok(disk_seal(store, &d, "") == 0 && disk_unseal(&d) == 0, "a seal can be taken back");
	ok(disk_chain(store, &d, d.active, &chain) == 0 && chain.n == 2, "as if it had not been");
	disk_close(&d);
}

static void test_forks(void)
{
	const struct layer_ref ground = { 0 };
	struct layer_ref base = { 0 };
	struct named n = { .name = "child", .image = "host" };
	struct disk parent, child;
	char parent_id[DISK_ID_LEN + 1];

	ok(disk_create(store, "host", &ground, &parent) == 0, "a parent");
	strcpy(parent_id, parent.id);
	layer_fill(&parent, 1);
	ok(disk_seal(store, &parent, "base") == 0, "with a snapshot");
	layer_fill(&parent, 2);
	strcpy(base.disk, parent.id);
	base.n = 2;
	ok(disk_create(store, "host", &base, &child) == 0,
	   "a child of an active layer can be named");
	ok(disk_chain(store, &child, 1, &chain) == -EBADMSG, "but not used");
	ok(disk_remove(store, &child) == 0, "away with it");
	base.n = 1;
	ok(disk_create(store, "host", &base, &child) == 0, "a child of the snapshot");
	ok(disk_chain(store, &child, 1, &chain) == 0 && chain.n == 1 && chain.links[0].fd >= 0,
	   "its chain is the parent's layer");
	disk_chain_close(&chain);
	strcpy(n.disk, child.id);
	layer_fill(&child, 1);
	disk_close(&parent);
	disk_close(&child);
	ok(named_add(store, NAMED_CELL, &n) == 0, "the child gets a name");
	ok(named_add(store, NAMED_CELL, &n) == -EEXIST, "which is used once");
	ok(named_collect(store) == 0, "garbage is collected");
	ok(layer_is_there(parent_id, 1), "the layer that the child stands on stays");
	ok(!layer_is_there(parent_id, 2), "the parent's own is gone: nobody has its name");
	ok(layer_is_there(n.disk, 1), "the child's is there");
	ok(disk_open(store, n.disk, DISK_EXCLUSIVE, &child) == 0 &&
		   disk_chain(store, &child, 1, &chain) == 0 && chain.n == 1,
	   "the child can still be used");
	disk_chain_close(&chain);
	disk_close(&child);
	ok(named_rename(store, NAMED_CELL, "child", "kid") == 0 &&
		   named_find(store, NAMED_CELL, "child", &n) == -ENOENT &&
		   named_find(store, NAMED_CELL, "kid", &n) == 0,
	   "a name can be changed");
	ok(named_remove(store, NAMED_CELL, "kid") == 0 && named_collect(store) == 0,
	   "the child is removed");
	ok(!layer_is_there(parent_id, 1), "and with it what only it used");
}

static void test_damage(void)
{
	const struct layer_ref ground = { 0 };
	static const char *const bad[] = {
		"",
		"vivarium-disk 2\n",
		"vivarium-disk 1\nimage host\nuid 0\nactive 7\nlayer 1 - 0 -\n",
		"vivarium-disk 1\nimage host\nuid 0\nactive 1\nlayer 1 - 0 -\nlayer 1 - 0 -\n",
		"vivarium-disk 1\nimage host\nuid 0\nactive 1\nlayer 1 ../../x/1 0 -\n",
		"vivarium-disk 1\nimage host\nuid 0\nactive 1\nlayer 1 - 0 ../x\n",
		"vivarium-disk 1\nimage host\nactive 1\nlayer 1 - 0 -\n",
		"vivarium-disk 1\nimage host\nuid 0\nactive 1\nlayer 1 - 0 -\nwhat is this\n",
	};
	struct disk d, e;
	char id[DISK_ID_LEN + 1], text[256];

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk to damage");
	strcpy(id, d.id);
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		ok(file_replace(d.dir, "tree", bad[i], strlen(bad[i])) == 0 &&
			   disk_open(store, id, DISK_PEEK, &e) == -EBADMSG,
		   "damage is noticed");
	}
	snprintf(
		text, sizeof(text),
		"vivarium-disk 1\nimage host\nuid 0\nactive 2\nlayer 1 %s/3 0 -\nlayer 2 %s/1 0 -\n"
		"layer 3 %s/1 0 -\n",
		id, id, id);
	ok(file_replace(d.dir, "tree", text, strlen(text)) == 0 &&
		   disk_open(store, id, DISK_PEEK, &e) == 0 &&
		   disk_chain(store, &e, 2, &chain) == -ELOOP,
	   "a circle of layers ends");
	disk_close(&e);
	disk_close(&d);
}

/* However often it is sealed, it can be opened, and what is in it read. */
static void test_limit(void)
{
	const struct layer_ref ground = { 0 };
	const unsigned there = DISK_MAX_CHAIN - 5;
	char id[DISK_ID_LEN + 1], *text = NULL;
	unsigned seals = 0;
	struct disk d;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err;

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk to seal");
	strcpy(id, d.id);
	fprintf(f, "vivarium-disk 1\nimage host\nuid 0\nactive %u\nlayer 1 - 0 s1\n", there);
	for (unsigned i = 2; i <= there; i++)
		fprintf(f, "layer %u %s/%u 0 -\n", i, id, i - 1);
	fclose(f);
	for (unsigned i = 1; i < there; i++)
		layer_fill(&d, i);
	err = file_replace(d.dir, "tree", text, size);
	free(text);
	disk_close(&d);
	ok(!err && disk_open(store, id, DISK_EXCLUSIVE, &d) == 0, "many layers");
	do {
		layer_fill(&d, d.active);
		err = disk_seal_start(store, &d, "");
	} while (!err && ++seals <= DISK_MAX_CHAIN);
	ok(err == -ELOOP && seals + there == DISK_MAX_CHAIN, "there is an end to sealing");
	ok(disk_chain(store, &d, d.active, &chain) == 0 && chain.n == DISK_MAX_CHAIN - 1,
	   "and the cell can be opened then");
	ok(disk_chain_with(store, &d, d.active, &chain) == 0 && chain.n == DISK_MAX_CHAIN,
	   "and read");
	disk_close(&d);
}

/* The layer of a snapshot; 0: there is none. */
static uint32_t snapshot_layer(const struct disk *d, const char *name)
{
	const struct disk_layer *l = disk_snapshot_find(d, name);

	return l ? l->n : 0;
}

static const struct disk_layer *layer_of(const struct disk *d, uint32_t n)
{
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == n)
			return &d->layers[i];
	return NULL;
}

/* Who removed a layer has taken it out of the file and ended before its directory was gone. */
static void test_number_again(void)
{
	const struct layer_ref ground = { 0 };
	struct disk d;

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk");
	layer_fill(&d, 1);
	layer_fill(&d, 2);
	ok(disk_seal(store, &d, "one") == 0 && d.active == 2 &&
		   faccessat(d.dir, "data/2", F_OK, 0) < 0,
	   "a new layer has nothing of an old one of its number");
	layer_fill(&d, 3);
	ok(disk_rollback(store, &d, "one") == 0 && d.active == 3 &&
		   faccessat(d.dir, "data/3", F_OK, 0) < 0,
	   "nor after a rollback");
	ok(disk_remove(store, &d) == 0, "removed");
}

/* Which layers a merge would set free, and what becomes of those that stood on them. */
static void test_merge(void)
{
	const struct layer_ref ground = { 0 };
	struct layer_ref two = { .n = 2 };
	struct merge_plan plan;
	struct disk d, fork;
	uint32_t n;
	char names[4][8] = { "one", "two", "three", "four" };

	ok(disk_create(store, "host", &ground, &d) == 0, "a disk with snapshots");
	for (unsigned i = 0; i < 4; i++) {
		layer_fill(&d, d.active);
		if (disk_seal(store, &d, names[i]))
			ok(false, "sealed");
	}
	layer_fill(&d, d.active);
	ok(disk_merge_find(store, &d, &plan) == -ENOENT, "all are needed");
	ok(disk_snapshot_remove(&d, "one") == 0 && disk_merge_find(store, &d, &plan) == 0 &&
		   plan.instead == 2 && plan.top == 5 && plan.frees == 2,
	   "the next snapshot can take in the layer of one that is gone");
	strcpy(two.disk, d.id);
	ok(mkdirat(store, "disks/new-draft", 0755) == 0 && disk_merge_find(store, &d, &plan) == 0 &&
		   unlinkat(store, "disks/new-draft", AT_REMOVEDIR) == 0,
	   "who looks for one leaves a disk alone that somebody is making");
	ok(disk_create(store, "host", &two, &fork) == 0 &&
		   disk_merge_find(store, &d, &plan) == -ENOENT,
	   "not while a fork stands on it");
	ok(disk_remove(store, &fork) == 0 && disk_merge_find(store, &d, &plan) == 0,
	   "but after that");
	ok(disk_layer_reserve(&d, &n) == 0 && n == 6 && disk_layer_forget(&d, n) == 0 &&
		   !layer_of(&d, n) && disk_layer_reserve(&d, &n) == 0 && n == 6,
	   "a layer is reserved, given back, and reserved");
	layer_fill(&d, n);
	ok(disk_stand_on(&d, n, 2) == 0 && snapshot_layer(&d, "two") == n &&
		   layer_of(&d, 3)->parent.n == n && !layer_of(&d, n)->parent.n,
	   "it takes the place of the snapshot");
	ok(disk_chain(store, &d, d.active, &chain) == 0 && chain.n == 3 && chain.links[0].ref.n == n &&
		   chain.links[1].ref.n == 3,
	   "and is where chains begin");
	ok(!strcmp(d.layers[1].name, "two") && disk_collect(store, &d.id, 1) == 0, "in the same order");
	ok(layer_is_there(d.id, 1), "nothing goes while the disk is locked");
	for (unsigned i = 1; i < 4; i++)
		if (disk_snapshot_remove(&d, names[i]))
			ok(false, "forgotten");
	ok(disk_merge_find(store, &d, &plan) == 0 && plan.instead == 4 && plan.top == 5 && plan.frees == 3,
	   "without snapshots the active layer needs one");
	ok(disk_layer_reserve(&d, &n) == 0 && n == 7, "a further one");
	layer_fill(&d, n);
	layer_fill(&d, 20);
	ok(disk_stand_on(&d, n, 0) == 0 && layer_of(&d, 5)->parent.n == n &&
		   disk_merge_find(store, &d, &plan) == -ENOENT,
	   "for the active layer alone");
	disk_close(&d);
	ok(disk_collect(store, (char(*)[DISK_ID_LEN + 1])two.disk, 1) == 0 &&
		   !layer_is_there(two.disk, 1) && !layer_is_there(two.disk, 6) &&
		   layer_is_there(two.disk, 5) && layer_is_there(two.disk, 7),
	   "what nothing leads to goes");
	ok(!layer_is_there(two.disk, 20), "so does what the tree file does not name");
}

/* A child that was forked while a disk was open has its lock's descriptor, too. */
static void test_forked(void)
{
	const struct layer_ref ground = { 0 };
	char id[DISK_ID_LEN + 1], byte;
	int pipes[2];
	struct disk d;
	pid_t pid;

	if (!ok(disk_create(store, "host", &ground, &d) == 0 && pipe(pipes) == 0, "a disk"))
		return;
	strcpy(id, d.id);
	pid = fork();
	if (pid == 0) {
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(pipes[0]);
	disk_close(&d);
	ok(disk_open(store, id, DISK_EXCLUSIVE, &d) == 0, "closed, it is free, whoever was forked meanwhile");
	disk_close(&d);
	close(pipes[1]);
	ok(waitpid(pid, NULL, 0) == pid, "the child ends");
}

/* A tree that is deeper than descriptors and paths go. */
static void test_remove_deep(void)
{
	int at = openat(store, ".", O_RDONLY | O_DIRECTORY), next;

	mkdirat(at, "deep", 0755);
	next = openat(at, "deep", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 3000 && next >= 0; i++) {
		close(at);
		at = next;
		mkdirat(at, "d", 0755);
		symlinkat("/", at, "root");
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
	}
	close(at);
	close(next);
	ok(tree_remove(store, "deep") == 0, "3,000 directories deep");
	ok(faccessat(store, "deep", F_OK, 0) < 0, "is gone");
	ok(tree_remove(store, "deep") == -ENOENT, "nothing is nothing");
}

int main(void)
{
	char dir[] = "/tmp/viv-test-disk-XXXXXX";

	if (!mkdtemp(dir))
		return 1;
	store = open(dir, O_RDONLY | O_DIRECTORY);
	test_life();
	test_snapshots();
	test_forks();
	test_damage();
	test_limit();
	test_number_again();
	test_merge();
	test_forked();
	test_remove_deep();
	ok(disk_name_is_valid("a.b-c_9") && !disk_name_is_valid("") && !disk_name_is_valid(".x") &&
		   !disk_name_is_valid("a/b") && !disk_name_is_valid("-x") &&
		   !disk_name_is_valid("a b"),
	   "names");
	ok(tree_remove(AT_FDCWD, dir) == 0, "all is cleared away");
	return tap_end();
}
