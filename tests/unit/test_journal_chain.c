/* What verifying finds: every change to a sealed journal, and what it calls it. And proofs. */
#include <errno.h>
#include <sys/stat.h>

#include "base/json.h"
#include "journal/files.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/key.h"
#include "journalmake.h"
#include "tap.h"

static char root[] = "/tmp/test_journal_chain.XXXXXX";

/* ---- journals ---- */

#define BLOCKS 5
#define SEG "00000001.vjs"

static int dir_make(const char *parent, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", parent, name);
	if (mkdir(path, 0700))
		abort();
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* BLOCKS sealed blocks of 30 records. */
static int journal_make(const char *parent, const char *name, const char *cell)
{
	int dir = dir_make(parent, name);
	struct maker m;
	struct err e;

	maker_init(&m, dir, cell);
	for (unsigned b = 0; b < BLOCKS; b++) {
		for (unsigned i = 0; i < 30; i++) {
			char path[64];
			struct journal_WRITE w = { .size = i };

			w.path = (struct jtext){ path, (uint32_t)snprintf(path, sizeof(path),
									  "/b%u/%u", b, i) };
			maker_add(&m, J_WRITE, &w, (int)i + 1);
		}
		if (b + 1 < BLOCKS)
			maker_rotate(&m);
	}
	maker_close(&m);
	if (journal_seal(dir, SEAL_ALL, &e) < 0) {
		printf("# %s\n", err_line(&e).str);
		abort();
	}
	return dir;
}

/* A segment as its blocks. */
struct segment {
	struct buf all;
	size_t at[BLOCKS + 1];
};

static struct segment segment_load(int dir)
{
	struct segment s = { 0 };
	int fd = openat(dir, SEG, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		abort();
	if (read(fd, buf_more(&s.all, (size_t)st.st_size), (size_t)st.st_size) != st.st_size)
		abort();
	close(fd);
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct journal_head h;

		memcpy(&h, s.all.p + s.at[i], sizeof(h));
		s.at[i + 1] = s.at[i] + (size_t)BLOCK_SIZE(&h);
	}
	return s;
}

static void segment_begin(int dir)
{
	int fd = openat(dir, SEG, O_WRONLY | O_TRUNC);

	close(fd);
}

static void segment_add(int dir, const void *data, size_t n)
{
	int fd = openat(dir, SEG, O_WRONLY | O_APPEND);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void block_add(int dir, const struct segment *s, unsigned i)
{
	segment_add(dir, s->all.p + s->at[i], s->at[i + 1] - s->at[i]);
}

/* ---- what is found ---- */

static char found[8192];

static void collect(void *arg, const char *what)
{
	(void)arg;
	snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s\n", what);
}

static bool verifies(int dir, struct journal_check *c)
{
	struct err e;

	found[0] = '\0';
	c->wrong = collect;
	if (journal_verify(dir, c, &e) < 0) {
		printf("# %s\n", err_line(&e).str);
		return false;
	}
	return !c->nwrong;
}

/* It is not good, and says so with these words, and only so many times. */
static void finds(int dir, unsigned times, const char *words, const char *what)
{
	struct journal_check c = { 0 };
	bool good = !verifies(dir, &c) && strstr(found, words) && c.nwrong == times;

	if (!ok(good, what))
		printf("# found %u: %s\n", c.nwrong, found);
}

static void test_tampering(void)
{
	int dir = journal_make(root, "a", "cell-a"), other = journal_make(root, "b", "cell-b");
	struct segment s = segment_load(dir), t = segment_load(other);
	struct journal_check c = { 0 };
	struct journal_tip tip;
	unsigned caught = 0, tried = 0;
	struct err e;

	ok(verifies(dir, &c) && c.blocks == BLOCKS && c.records == BLOCKS * 30, "a good journal");
	c = (struct journal_check){ .deep = true };
	ok(verifies(dir, &c), "deep");
	if (journal_tip_read(dir, &tip, &e) < 0)
		abort();
	ok(c.tip.block == tip.block && !memcmp(c.tip.hash, tip.hash, JOURNAL_HASH), "its head");

	/* One byte, anywhere. */
	for (size_t i = 0; i < s.all.len; i += 1 + i % 7) {
		struct segment u = { .all = { 0 } };

		buf_add(&u.all, s.all.p, s.all.len);
		u.all.p[i] ^= 0x10;
		segment_begin(dir);
		segment_add(dir, u.all.p, u.all.len);
		buf_free(&u.all);
		c = (struct journal_check){ 0 };
		caught += !verifies(dir, &c);
		tried++;
	}
	ok(tried > 500 && caught == tried, "a changed byte is found wherever it is");
	printf("# %u places\n", tried);

	segment_begin(dir);
	segment_add(dir, s.all.p, s.at[2] + 300);
	segment_add(dir, "x", 1);
	segment_add(dir, s.all.p + s.at[2] + 301, s.all.len - s.at[2] - 301);
	finds(dir, 1, "block 3 (" SEG, "data of a block was changed: which one is said");

	segment_begin(dir);
	block_add(dir, &s, 0);
	block_add(dir, &s, 1);
	block_add(dir, &s, 3);
	block_add(dir, &s, 4);
	finds(dir, 1, "block 3 is missing", "a block was taken out");

	segment_begin(dir);
	block_add(dir, &s, 0);
	block_add(dir, &s, 2);
	block_add(dir, &s, 1);
	block_add(dir, &s, 3);
	block_add(dir, &s, 4);
	finds(dir, 1, "block 2 (", "blocks were reordered");
	ok(strstr(found, "reordered"), "and it says so");

	segment_begin(dir);
	block_add(dir, &s, 0);
	block_add(dir, &s, 1);
	block_add(dir, &t, 2);
	block_add(dir, &s, 3);
	block_add(dir, &s, 4);
	finds(dir, 3, "block 3 (" SEG, "a block of another cell, signed by the same key");
	ok(strstr(found, "is of another cell: cell-b"), "and it says so");

	segment_begin(dir);
	block_add(dir, &s, 0);
	block_add(dir, &s, 1);
	block_add(dir, &s, 2);
	block_add(dir, &s, 2);
	block_add(dir, &s, 3);
	block_add(dir, &s, 4);
	finds(dir, 1, "block 3 is there twice", "a block was repeated");

	segment_begin(dir);
	for (unsigned i = 0; i < BLOCKS; i++)
		block_add(dir, &t, i);
	c = (struct journal_check){ .cell = "cell-a" };
	ok(!verifies(dir, &c) && c.nwrong == BLOCKS, "another cell's journal as a whole");

	segment_begin(dir);
	for (unsigned i = 0; i < 3; i++)
		block_add(dir, &s, i);
	c = (struct journal_check){ 0 };
	ok(verifies(dir, &c), "a journal whose end was cut off between blocks looks good");
	c = (struct journal_check){ .head_block = tip.block };
	memcpy(c.head_hash, tip.hash, sizeof(c.head_hash));
	ok(!verifies(dir, &c) && strstr(found, "cut off"), "unless its head was kept");
	segment_add(dir, s.all.p + s.at[3], 200);
	finds(dir, 1, "block 4, the last one, is cut", "a block was cut");

	segment_begin(dir);
	for (unsigned i = 1; i < BLOCKS; i++)
		block_add(dir, &s, i);
	finds(dir, 2, "block 1 is missing", "the first block was taken out");

	c = (struct journal_check){ .head_block = tip.block };
	memcpy(c.head_hash, tip.hash, sizeof(c.head_hash));
	ok(!verifies(other, &c) && strstr(found, "another hash"),
	   "a head that was kept is another's");
	buf_free(&s.all);
	buf_free(&t.all);
	close(dir);
	close(other);
}

/* Somebody has another key and makes the journal anew from a place on. */
static void test_key(void)
{
	int mine = dir_make(root, "mine"), theirs = dir_make(root, "theirs");
	char parent[160];
	struct journal_check c = { 0 };
	struct segment s, t;
	struct journal_key k;
	struct err e;
	int dir, other;

	snprintf(parent, sizeof(parent), "%s/mine", root);
	dir = journal_make(parent, "j", "cell");
	snprintf(parent, sizeof(parent), "%s/theirs", root);
	other = journal_make(parent, "j", "cell");
	s = segment_load(dir);
	t = segment_load(other);
	segment_begin(dir);
	for (unsigned i = 0; i < BLOCKS; i++)
		block_add(dir, i < 3 ? &s : &t, i);
	finds(dir, 2, "block 4 (" SEG, "blocks by another key");
	ok(strstr(found, "is signed by another key") && strstr(found, "block 4"), "which they are");
	/* The same with the key that the others have put in the place of ours. */
	if (renameat(theirs, "journal.key", mine, "journal.key"))
		abort();
	c = (struct journal_check){ 0 };
	ok(!verifies(dir, &c), "a swapped key does not fit the blocks that were there");
	if (key_open(&k, mine, false, &e) < 0)
		abort();
	c = (struct journal_check){ .key = k.public };
	ok(!verifies(dir, &c) && strstr(found, "block 1 ("), "nor by its public half");
	key_close(&k);
	if (fchmodat(mine, "journal.key", 0640, 0))
		abort();
	eq(key_open(&k, mine, false, &e), -1, "a key that others can read is refused");
	if (renameat(mine, "journal.key", mine, "k") || fchmodat(mine, "k", 0600, 0) ||
	    symlinkat("k", mine, "journal.key"))
		abort();
	eq(key_open(&k, mine, true, &e), -1, "a key that is a link is refused");
	buf_free(&s.all);
	buf_free(&t.all);
	close(dir);
	close(other);
	close(mine);
	close(theirs);
}

static void test_proofs(void)
{
	int dir = journal_make(root, "p", "cell-p"), journals = open(root, O_RDONLY | O_DIRECTORY);
	bool good = true, refused = true;
	struct journal_entry j;
	union journal_record r;
	struct journal_key k;
	struct buf text = { 0 }, hold = { 0 };
	char cell[40];
	struct err e;

	if (key_open(&k, journals, false, &e) < 0)
		abort();
	for (uint64_t seq = 1; seq <= BLOCKS * 30; seq++) {
		char path[64];
		int n = snprintf(path, sizeof(path), "/b%u/%u", (unsigned)(seq - 1) / 30,
				 (unsigned)(seq - 1) % 30);

		text.len = hold.len = 0;
		good &= !journal_prove(dir, seq, &text, &e) &&
			!journal_proof_check((char *)text.p, text.len, k.public, &j, &r, cell,
					     &hold, &e) &&
			j.seq == seq && j.kind == J_WRITE && !strcmp(cell, "cell-p") &&
			r.WRITE.path.n == (uint32_t)n && !memcmp(r.WRITE.path.p, path, (size_t)n);
	}
	ok(good, "every record can be proved");
	text.len = 0;
	eq(journal_prove(dir, BLOCKS * 30 + 1, &text, &e), -1, "one that there is not cannot");
	text.len = 0;
	if (journal_prove(dir, 77, &text, &e) < 0)
		abort();
	/* Every byte of the document but those that mean nothing: the last digit of base64 has bits
	 * that are not used, the key's id is only a hint. */
	for (size_t i = 0; i < text.len; i++) {
		uint8_t before = text.p[i];
		const char *key = strstr((char *)text.p, "\"key\"");
		struct journal_entry was;

		if (!key || i >= (size_t)(key - (char *)text.p) - 1 || before == ',')
			continue;
		text.p[i] = before == '7' ? '8' : '7';
		hold.len = 0;
		if (!journal_proof_check((char *)text.p, text.len, k.public, &was, &r, cell, &hold,
					 &e) &&
		    (was.seq != 77 || was.kind != J_WRITE || r.WRITE.size != 16)) {
			printf("# byte %zu\n", i);
			refused = false;
		}
		text.p[i] = before;
	}
	ok(refused, "a changed proof proves nothing else");
	k.public[0] ^= 1;
	hold.len = 0;
	ok(journal_proof_check((char *)text.p, text.len, k.public, &j, &r, cell, &hold, &e) < 0,
	   "another key does not fit");
	k.public[0] ^= 1;
	for (size_t n = 0; n < text.len - 3; n += 5)
		refused &= journal_proof_check((char *)text.p, n, k.public, &j, &r, cell, &hold,
					       &e) < 0;
	ok(refused, "a cut one is refused");
	key_close(&k);
	buf_free(&text);
	buf_free(&hold);
	close(dir);
	close(journals);
}

/* RFC 6962 gives no vectors; these are of its reference implementation (certificate-transparency,
 * merkle_tree_test): the tree over eight known inputs. */
static void test_tree(void)
{
	static const struct {
		const char *data;
		size_t n;
	} inputs[] = { { "", 0 },
		       { "\x00", 1 },
		       { "\x10", 1 },
		       { "\x20\x21", 2 },
		       { "\x30\x31", 2 },
		       { "\x40\x41\x42\x43", 4 },
		       { "\x50\x51\x52\x53\x54\x55\x56\x57", 8 },
		       { "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16 } };
	static const char *const roots[] = {
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	};
	uint8_t leaves[8 * JOURNAL_HASH], hash[JOURNAL_HASH];
	bool good = true, paths = true;

	for (unsigned i = 0; i < 8; i++) {
		uint8_t leaf[32] = { 0 };

		memcpy(leaf + 1, inputs[i].data, inputs[i].n);
		hash_bytes(leaf, 1 + inputs[i].n, leaves + i * JOURNAL_HASH);
	}
	for (unsigned n = 0; n <= 8; n++) {
		char hex[HASH_HEX];

		merkle_root(leaves, n, hash);
		hash_hex(hash, sizeof(hash), hex);
		good &= !strcmp(hex, roots[n]);
		for (unsigned i = 0; i < n; i++) {
			struct buf path = { 0 };
			uint8_t top[JOURNAL_HASH];

			merkle_path(leaves, n, i, &path);
			paths &= merkle_climb(leaves + i * JOURNAL_HASH, i, n, path.p,
					      path.len / JOURNAL_HASH, top) &&
				 !memcmp(top, hash, sizeof(top));
			paths &= !merkle_climb(leaves + i * JOURNAL_HASH, i, n, path.p,
					       path.len / JOURNAL_HASH + 1, top);
			buf_free(&path);
		}
	}
	ok(good, "roots are those of RFC 6962");
	ok(paths, "paths lead to them");
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(root))
		return 1;
	test_tree();
	test_tampering();
	test_key();
	test_proofs();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	if (system(cmd))
		return 1;
	return tap_end();
}
