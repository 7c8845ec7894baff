/* Readers that begin at a table of processes instead of the first record: they know the same. */
#include <sys/stat.h>

#include "journal/files.h"
#include "journal/journal.h"
#include "journal/key.h"
#include "journal/origin.h"
#include "journal/table.h"
#include "journalmake.h"
#include "tap.h"

static char root[] = "/tmp/test_journal_seek.XXXXXX";
static uint64_t state = 88172645463325252ull;

static uint32_t rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % n;
}

static int dir_make(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	if (mkdir(path, 0700))
		abort();
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void seal(int dir)
{
	struct err e;

	if (journal_seal(dir, SEAL_ALL, &e) < 0) {
		printf("# %s\n", err_line(&e).str);
		abort();
	}
}

/* ---- a journal of everything that a tracker follows ---- */

static struct maker m;

/* A text that does not pack, so that blocks are large. */
static struct jtext noise(char *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (char)(33 + rnd(90));
	to[0] = '/';
	return (struct jtext){ to, n };
}

static struct jtext text(char *to, size_t n, const char *format, unsigned number)
{
	int len;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	len = snprintf(to, n, format, number);
#pragma GCC diagnostic pop
	return (struct jtext){ to, (uint32_t)len };
}

static void record_make(void)
{
	static const uint8_t hash[JOURNAL_HASH] = { 7 };
	char a[256], b[256], c[256];
	int pid = 1 + (int)rnd(rnd(4) ? 40 : 400);
	uint64_t other = 1 + rnd(60);

	/* So few that all that end are in the table: TABLE_ENDED. */
	switch (rnd(40)) {
	case 0:
		maker_add(&m, J_FORK, &(struct journal_FORK){ .parent = other }, pid);
		break;
	case 1:
		maker_add(&m, J_EXEC,
			  &(struct journal_EXEC){ .path = text(a, sizeof(a), "/bin/p%u", rnd(50)),
						  .args = text(b, sizeof(b), "p%u", rnd(50)),
						  .cwd = text(c, sizeof(c), "/w/%u", rnd(9)),
						  .parent = rnd(3) ? other : 0,
						  .uid = rnd(3),
						  .hash = rnd(2) ? hash : NULL },
			  pid);
		break;
	case 2:
		maker_add(&m, J_EXIT, &(struct journal_EXIT){ .code = rnd(3) }, pid);
		break;
	case 3:
		maker_add(&m, J_COMMAND,
			  &(struct journal_COMMAND){ .number = rnd(100),
						     .args = text(b, sizeof(b), "p%u", rnd(50)) },
			  0);
		break;
	case 4:
		if (!rnd(8))
			maker_add(&m, J_SESSION,
				  &(struct journal_SESSION){
					  .session = text(a, sizeof(a), "s%u", rnd(9)),
					  .agent = text(b, sizeof(b), "agent%u", rnd(3)),
					  .root = (uint64_t)pid },
				  0);
		break;
	case 5:
		maker_add(&m, J_PROMPT,
			  &(struct journal_PROMPT){ .session = text(a, sizeof(a), "s%u", rnd(9)),
						    .number = rnd(20),
						    .text = text(b, sizeof(b), "do %u", rnd(99)) },
			  0);
		break;
	case 6:
		maker_add(&m, J_ANSWER,
			  &(struct journal_ANSWER){ .session = text(a, sizeof(a), "s%u", rnd(9)),
						    .number = rnd(20) },
			  0);
		break;
	default:
		maker_add(&m, J_WRITE, &(struct journal_WRITE){ .path = noise(a, 250) }, pid);
	}
}

static int journal_make(const char *name, unsigned blocks, unsigned records)
{
	int dir = dir_make(name);

	maker_init(&m, dir, "cell");
	maker_add(&m, J_START, &(struct journal_START){ .id = { "cell", 4 }, .name = { "web", 3 } },
		  0);
	for (unsigned b = 0; b < blocks; b++) {
		for (unsigned i = 0; i < records; i++) {
			record_make();
			if (m.frames.len > 32768)
				maker_flush(&m);
		}
		if (b + 1 < blocks)
			maker_rotate(&m);
	}
	maker_close(&m);
	seal(dir);
	return dir;
}

/* ---- what a reader knows at each record ---- */

struct known {
	struct processes processes;
	unsigned tables;
	char name[40];
};

static void name_keep(void *arg, const struct journal_entry *e)
{
	struct known *k = arg;

	snprintf(k->name, sizeof(k->name), "%.*s", (int)e->record->START.name.n,
		 e->record->START.name.p);
}

static bool table_take(void *arg, const void *data, size_t n)
{
	struct known *k = arg;

	k->tables++;
	return table_read(&k->processes, data, n, name_keep, k);
}

/* The origin of each record from `from` on, as a line of JSON; NULL before. Returns the first
 * record that the reader gave. */
static uint64_t origins(int dir, struct known *k, const struct journal_seek *seek, char **lines,
			size_t max)
{
	struct journal_reader *r;
	struct journal_entry j;
	uint64_t first = 0;
	struct err e;
	int rc;

	*k = (struct known){ 0 };
	processes_init(&k->processes, NULL, NULL);
	if (journal_reader_new(dir, 1, &r, &e) < 0)
		abort();
	if (seek) {
		struct journal_seek s = *seek;

		s.table = table_take;
		s.arg = k;
		journal_reader_seek(r, &s);
	}
	while ((rc = journal_reader_next(r, &j, &e)) > 0) {
		struct process *p = processes_follow(&k->processes, &j);
		struct origin o;
		size_t n;
		FILE *f;

		first = first ? first : j.seq;
		if (j.seq >= max)
			abort();
		f = open_memstream(&lines[j.seq], &n);
		if (!f)
			abort();
		origin_init(&o, &k->processes, p);
		origin_json(&o, f);
		if (p && p->prompt)
			fprintf(f, " began in prompt %llu", (unsigned long long)p->prompt->seq);
		origin_fini(&o, &k->processes);
		fclose(f);
	}
	if (rc < 0)
		printf("# %s\n", err_line(&e).str);
	processes_fini(&k->processes);
	journal_reader_free(r);
	return rc < 0 ? 0 : first;
}

#define RECORDS 16000

static void lines_free(char **lines)
{
	for (size_t i = 0; i < RECORDS; i++) {
		free(lines[i]);
		lines[i] = NULL;
	}
}

static void test_same(void)
{
	static char *all[RECORDS], *some[RECORDS];
	int dir = journal_make("same", 15, 1000);
	struct journal_check c = { .deep = true };
	struct known k;
	uint64_t last, jumped = 0;
	bool same = true, named = true;
	struct err e;

	eq((long long)origins(dir, &k, NULL, all, RECORDS), 1, "all of it is read");
	eq(k.tables, 0, "from the first record on");
	for (last = RECORDS - 1; !all[last];)
		last--;
	for (uint64_t from = 1; from <= last; from += 997) {
		struct journal_seek s = { .first = from,
					  .earliest = INT64_MIN,
					  .latest = INT64_MAX };
		uint64_t first = origins(dir, &k, &s, some, RECORDS);

		same = same && first && first <= from;
		for (uint64_t i = from; i <= last && same; i++) {
			same = some[i] && !strcmp(all[i], some[i]);
			if (!same)
				printf("# from %llu, record %llu\n# all:  %s\n# some: %s\n",
				       (unsigned long long)from, (unsigned long long)i, all[i],
				       some[i] ? some[i] : "(none)");
		}
		jumped += first > 1;
		named = named && (first == 1 || !strcmp(k.name, "web"));
		/* It begins near to what is wanted: at most some blocks before. */
		same = same && from - first < 5000;
		lines_free(some);
	}
	ok(same, "who begins at a table knows the same as who reads all");
	ok(named, "the cell's start is in it");
	ok(jumped >= 8, "most begin at a table");
	ok(!journal_verify(dir, &c, &e) && !c.nwrong, "a journal with tables is good");
	lines_free(all);
	close(dir);
}

/* ---- times ---- */

/* Blocks of one minute each, the clock set back by 5 minutes before the last one. */
static void test_times(void)
{
	static char *lines[RECORDS];
	int dir = dir_make("times");
	const int64_t base = 1700000000 * NSEC_PER_SEC, minute = 60 * NSEC_PER_SEC;
	struct journal_seek s = { .latest = INT64_MAX };
	struct known k;
	uint64_t first;
	char a[256];

	maker_init(&m, dir, "cell");
	for (int b = 0; b < 11; b++) {
		m.mono = b == 10 ? 5 * minute + 1 : b * minute;
		for (int i = 0; i < 1000; i++) {
			maker_add(&m, J_WRITE, &(struct journal_WRITE){ .path = noise(a, 250) }, 1);
			if (m.frames.len > 32768)
				maker_flush(&m);
		}
		if (b < 10)
			maker_rotate(&m);
	}
	maker_close(&m);
	seal(dir);
	s.earliest = base + 9 * minute;
	first = origins(dir, &k, &s, lines, RECORDS);
	ok(first > 4000 && first <= 9001, "by time: it begins near to it");
	ok(lines[9001] && lines[11000], "and has all that is behind it");
	lines_free(lines);
	s.earliest = base + 5 * minute;
	s.latest = base + 6 * minute - 1;
	first = origins(dir, &k, &s, lines, RECORDS);
	ok(first > 1 && first <= 5001 && lines[5001] && lines[6000], "a minute in the middle");
	ok(lines[10001] && lines[11000],
	   "and the records of that minute from after the clock was set back");
	ok(!lines[7500] || k.tables < 2,
	   "what lies between is passed over where a table allows it");
	eq(k.tables, 2, "twice");
	lines_free(lines);
	s.once = true;
	first = origins(dir, &k, &s, lines, RECORDS);
	ok(k.tables == 1 && lines[7500], "once: nothing is left out after the beginning");
	lines_free(lines);
	/* Nothing yet: what is not sealed comes all the same. */
	s = (struct journal_seek){ .first = 20000, .earliest = INT64_MIN, .latest = INT64_MAX };
	first = origins(dir, &k, &s, lines, RECORDS);
	ok(first > 8000, "nothing that is wanted: it ends at the last table");
	lines_free(lines);
	close(dir);
}

/* ---- what is not a table ---- */

/* A second block with such a table, well packed and signed. */
static void forge(int dir, const void *data, size_t n)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	struct buf table = { 0 }, packed = { 0 };
	struct journal_block b = { 0 };
	struct journal_tip tip;
	struct journal_key key;
	struct packer p;
	struct err e;
	int parent = openat(dir, "..", O_RDONLY | O_DIRECTORY),
	    fd = openat(dir, "00000001.vjs", O_WRONLY | O_APPEND);
	size_t size = journal_encode(J_EXIT, &(struct journal_EXIT){ 0 }, 1, 1, 1, frame);

	if (parent < 0 || fd < 0 || journal_tip_read(dir, &tip, &e) < 0 ||
	    key_open(&key, parent, false, &e) < 0)
		abort();
	packer_init(&p, tip.records + 1);
	packer_add(&p, frame, size);
	buf_add(&table, data, n);
	if (packer_finish(&p, &table, &b.head, &packed, &e) < 0)
		abort();
	b.head.number = tip.block + 1;
	memcpy(b.head.cell, tip.cell, sizeof(b.head.cell));
	memcpy(b.head.prev, tip.hash, sizeof(b.head.prev));
	if (key_sign(&key, &b, &e) < 0 || write(fd, &b, sizeof(b)) != sizeof(b) ||
	    write(fd, packed.p, packed.len) != (ssize_t)packed.len)
		abort();
	packer_fini(&p);
	key_close(&key);
	buf_free(&table);
	buf_free(&packed);
	close(parent);
	close(fd);
}

static char told[512];

static void collect(void *arg, const char *what)
{
	(void)arg;
	snprintf(told, sizeof(told), "%s", what);
}

static void test_forged(void)
{
	/* No start, programs, commands, sessions, prompts; the next id; one process that runs and
	 * is its own parent. */
	static const uint8_t own_parent[] = { 0, 0, 0, 0, 0, 9, 1, 0, 1, 1, 1,
					      0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const uint8_t zeros[9];
	static const uint8_t good[] = { 0, 0, 0, 0, 0, 9, 1, 0, 1, 1, 1,
					0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const struct {
		const char *what;
		const uint8_t *data;
		size_t n;
	} rows[] = {
		{ "a process that is its own parent", own_parent, sizeof(own_parent) },
		{ "one that is cut", good, sizeof(good) - 1 },
		{ "nothing but zeros, too many of them", zeros, sizeof(zeros) },
		{ "counts of what is not there", (const uint8_t *)"\0\377\377\177", 4 },
	};
	static char *lines[RECORDS];
	struct journal_seek s = { .first = 2, .earliest = INT64_MIN, .latest = INT64_MAX };
	struct known k;
	struct err e;

	for (unsigned i = 0; i < ARRAY_LEN(rows) + 1; i++) {
		bool forged = i < ARRAY_LEN(rows);
		struct journal_check c = { .deep = true, .wrong = collect };
		char name[40];
		int dir;

		snprintf(name, sizeof(name), "forged%u", i);
		dir = journal_make(name, 1, 0);
		forge(dir, forged ? rows[i].data : good, forged ? rows[i].n : sizeof(good));
		told[0] = 0;
		if (!forged) {
			ok(origins(dir, &k, &s, lines, RECORDS) == 2 && k.tables == 1,
			   "a table that is one is taken");
			ok(!journal_verify(dir, &c, &e) && !c.nwrong, "and verifies");
		} else {
			ok(!origins(dir, &k, &s, lines, RECORDS), rows[i].what);
			ok(!journal_verify(dir, &c, &e) && c.nwrong == 1 &&
				   strstr(told, "block 2 (00000001.vjs, byte") &&
				   strstr(told, "its table of processes is not one"),
			   "and verify --deep says so");
		}
		lines_free(lines);
		close(dir);
	}
}

/* More processes than a table can hold: there is none, and all can be read. */
static void test_too_many(void)
{
	int dir = dir_make("many");
	struct journal_seek s = { .first = 50000, .earliest = INT64_MIN, .latest = INT64_MAX };
	struct journal_reader *r;
	struct journal_entry j;
	struct known k = { 0 };
	uint64_t n = 0;
	char a[256];
	struct err e;

	maker_init(&m, dir, "cell");
	for (int b = 0; b < 4; b++) {
		for (int i = 0; i < 4000; i++) {
			maker_add(&m, J_EXEC,
				  &(struct journal_EXEC){ .path = noise(a, 250),
							  .args = { a, 250 },
							  .cwd = { a, 250 },
							  .parent = 0 },
				  1 + b * 4000 + i);
			if (m.frames.len > 32768)
				maker_flush(&m);
		}
		maker_rotate(&m);
	}
	maker_close(&m);
	seal(dir);
	processes_init(&k.processes, NULL, NULL);
	s.table = table_take;
	s.arg = &k;
	if (journal_reader_new(dir, 1, &r, &e) < 0)
		abort();
	journal_reader_seek(r, &s);
	while (journal_reader_next(r, &j, &e) > 0) {
		processes_follow(&k.processes, &j);
		n++;
	}
	ok(n > 12000 && n <= 16000 && k.processes.nrunning == 16000,
	   "processes that do not fit into a table: readers begin before them");
	processes_fini(&k.processes);
	journal_reader_free(r);
	close(dir);
}

int main(void)
{
	char command[80];

	if (!mkdtemp(root))
		abort();
	test_same();
	test_times();
	test_forged();
	test_too_many();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		printf("# cannot remove %s\n", root);
	return tap_end();
}
