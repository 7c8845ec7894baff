/* What a journal answers, compared with a model that knows what happened: a random workload of
 * processes and files on flat lists of whole paths, from a seed. Every record goes through its form
 * in bytes. */
/* objects: src/journal/blame.c src/journal/hosts.c src/journal/names.c src/journal/origin.c src/journal/processes.c src/journal/show.c src/journal/tally.c src/journal/touched.c src/wire/journal.c src/base/safetext.c src/base/utf8.c src/base/base64.c src/base/buf.c src/base/siphash.c src/base/log.c */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "journal/blame.h"
#include "journal/touched.h"
#include "journal/show.h"
#include "tap.h"

/* ---- a journal in memory ---- */

static struct buf frames, offsets;

static void put(enum journal_kind kind, const void *record, int32_t pid)
{
	static _Alignas(8) uint8_t frame[JOURNAL_FRAME_MAX];
	uint64_t seq = BUF_COUNT(&offsets, size_t) + 1;
	size_t n = journal_encode(kind, record, pid, (int64_t)seq * 1000,
				  1700000000 * NSEC_PER_SEC + (int64_t)seq * 1000000, frame);
	size_t at = buf_add(&frames, frame, n);

	buf_add(&offsets, &at, sizeof(at));
}
#define PUT(KIND, pid, ...) put(J_##KIND, &(struct journal_##KIND){ __VA_ARGS__ }, pid)

static uint64_t last_seq(void)
{
	return BUF_COUNT(&offsets, size_t);
}

static bool entry_get(uint64_t seq, struct journal_entry *e)
{
	static union journal_record record;
	const struct journal_frame *f;

	if (!seq || seq > last_seq())
		return false;
	f = (const void *)(frames.p + *BUF_ITEM(&offsets, size_t, seq - 1));
	if (!journal_decode(f, f->size, &record))
		abort();
	*e = (struct journal_entry){ .seq = seq, .mono = f->mono, .wall = f->wall, .pid = f->pid };
	e->kind = f->kind;
	e->record = &record;
	e->frame = (const uint8_t *)f;
	e->nframe = f->size - f->pad;
	return true;
}

static void journal_clear(void)
{
	frames.len = offsets.len = 0;
}

/* ---- the model ---- */

#define PATHS 600
#define INODES 4096
#define PROCS 400

struct inode {
	bool dir, existed, read, changed;
	uint64_t writer; /* the record that wrote it last */
	int32_t pid;
	char who[200]; /* program<its parent's<... */
	uint64_t command;
	unsigned writers, last; /* how many, one after the other; what of the last one */
};
struct named {
	char path[200];
	int inode;
};
struct pair { /* a name in a directory */
	int dir;
	char name[40];
};
struct proc {
	int32_t pid;
	bool alive;
	char program[24], from[176];
	uint64_t command;
	unsigned id; /* of the process and its program */
};

static struct inode inodes[INODES];
static struct named begin[PATHS], now[PATHS];
static struct pair pairs[PATHS * 8];
static struct proc procs[PROCS];
static int ninodes, nbegin, nnow, npairs, nprocs, ncommands;
static uint64_t rng;
static unsigned next_id;

static unsigned r(unsigned n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (unsigned)(rng >> 20) % n;
}

static int find(const char *path)
{
	for (int i = 0; i < nnow; i++)
		if (!strcmp(now[i].path, path))
			return i;
	return -1;
}

static int dir_of(const char *path)
{
	char dir[200];
	int i;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = 0;
	i = find(dir);
	return i < 0 ? -1 : now[i].inode;
}

/* The name in the directory that is there now was once. */
static void pair_note(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	int dir = dir_of(path);

	for (int i = 0; i < npairs; i++)
		if (pairs[i].dir == dir && !strcmp(pairs[i].name, name))
			return;
	if (npairs == PATHS * 8)
		abort();
	pairs[npairs].dir = dir;
	snprintf(pairs[npairs++].name, sizeof(pairs[0].name), "%s", name);
}

static int add(const char *path, bool dir)
{
	if (ninodes == INODES || nnow == PATHS)
		abort();
	inodes[ninodes] = (struct inode){ .dir = dir };
	snprintf(now[nnow].path, sizeof(now[nnow].path), "%s", path);
	now[nnow++].inode = ninodes++;
	pair_note(path);
	return nnow - 1;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

static bool has_children(const char *dir)
{
	for (int i = 0; i < nnow; i++)
		if (is_below(now[i].path, dir))
			return true;
	return false;
}

static void take_out(int i)
{
	now[i] = now[--nnow];
}

/* A new path in a random directory that is there. */
static bool new_path(char *path, size_t size)
{
	for (int tries = 0; tries < 20; tries++) {
		int i = (int)r((unsigned)nnow);

		if (!inodes[now[i].inode].dir || strlen(now[i].path) > 100)
			continue;
		snprintf(path, size, "%.120s/n%u", now[i].path, r(60));
		return find(path) < 0;
	}
	return false;
}

static int any(bool dir)
{
	for (int tries = 0; tries < 50; tries++) {
		int i = 1 + (int)r((unsigned)nnow - 1); /* never the top */

		if (inodes[now[i].inode].dir == dir)
			return i;
	}
	return -1;
}

static struct proc *any_proc(void)
{
	for (;;) {
		struct proc *p = &procs[r((unsigned)nprocs)];

		if (p->alive)
			return p;
	}
}

static void wrote(int inode, struct proc *p)
{
	struct inode *n = &inodes[inode];

	n->writer = last_seq();
	n->pid = p->pid;
	n->command = p->command;
	n->changed = true;
	n->writers += n->last != p->id;
	n->last = p->id;
	snprintf(n->who, sizeof(n->who), "%s%s", p->program, p->from);
}

/* ---- what processes do ---- */

static int32_t free_pid(void)
{
	for (;;) {
		int32_t pid = 2 + (int32_t)r(40);
		bool used = false;

		for (int i = 0; i < nprocs; i++)
			used = used || (procs[i].alive && procs[i].pid == pid);
		if (!used)
			return pid;
	}
}

static void do_exec(struct proc *p, bool outside)
{
	static char args[64];
	int n;

	p->id = ++next_id;
	snprintf(p->program, sizeof(p->program), "/bin/p%u", r(30));
	n = snprintf(args, sizeof(args), "%s%c-x%c", p->program, 0, 0);
	PUT(EXEC, p->pid, .path = text_of(p->program), .args = { args, (uint32_t)n },
	    .cwd = text_of("/w"), .parent = outside ? 0 : 1, .uid = 0);
}

static void do_command(void)
{
	struct proc *p;
	char args[32];

	for (p = procs; p < procs + nprocs && p->alive;)
		p++;
	if (p == procs + PROCS)
		return;
	nprocs = MAX(nprocs, (int)(p - procs) + 1);
	*p = (struct proc){ .pid = free_pid(), .alive = true, .command = (uint64_t)++ncommands };
	snprintf(args, sizeof(args), "command");
	PUT(COMMAND, 0, .number = (uint64_t)ncommands, .args = { args, 8 });
	do_exec(p, true);
}

static void do_process(void)
{
	struct proc *parent = any_proc(), *p;
	unsigned what = r(10), alive = 0;

	for (int i = 0; i < nprocs; i++)
		alive += procs[i].alive;
	if (what < 4 && alive < 30) {
		for (p = procs; p < procs + nprocs && p->alive;)
			p++;
		if (p == procs + PROCS)
			return;
		nprocs = MAX(nprocs, (int)(p - procs) + 1);
		*p = (struct proc){ .pid = free_pid(), .alive = true, .id = ++next_id };
		p->command = parent->command;
		memcpy(p->program, parent->program, sizeof(p->program));
		snprintf(p->from, sizeof(p->from), "<%s%.140s", parent->program, parent->from);
		PUT(FORK, p->pid, .parent = (uint64_t)parent->pid);
	} else if (what < 7) {
		do_exec(parent, false);
	} else if (what < 9 && alive > 2) {
		PUT(EXIT, parent->pid, .code = r(3));
		parent->alive = false;
	} else if (alive < 30) {
		do_command();
	}
}

static void do_create(void)
{
	struct proc *p = any_proc();
	char path[200];
	bool dir = r(4) == 0;
	int i;

	if (!new_path(path, sizeof(path)))
		return;
	i = add(path, dir);
	PUT(CREATE, p->pid, .path = text_of(path), .mode = dir ? 0040755 : 0100644);
	wrote(now[i].inode, p);
}

static void do_write(void)
{
	struct proc *p = any_proc();
	int i = any(false);
	uint8_t hash[32];

	if (i < 0)
		return;
	if (r(2))
		PUT(OPEN, p->pid, .path = text_of(now[i].path), .flags = 1);
	PUT(WRITE, p->pid, .path = text_of(now[i].path), .size = r(1000));
	wrote(now[i].inode, p);
	memset(hash, (int)last_seq(), sizeof(hash));
	if (r(2))
		PUT(CONTENT, p->pid, .path = text_of(now[i].path), .size = r(1000), .hash = hash);
}

static void do_read(void)
{
	int i = any(false);

	if (i < 0)
		return;
	PUT(READ, any_proc()->pid, .path = text_of(now[i].path));
	inodes[now[i].inode].read = true;
}

static void do_remove(void)
{
	int i = any(r(3) == 0);

	if (i < 0 || has_children(now[i].path))
		return;
	PUT(REMOVE, any_proc()->pid, .path = text_of(now[i].path));
	take_out(i);
}

static void move_below(const char *from, const char *to)
{
	char path[400];

	for (int i = 0; i < nnow; i++)
		if (is_below(now[i].path, from)) {
			snprintf(path, sizeof(path), "%s%s", to, now[i].path + strlen(from));
			if (strlen(path) >= sizeof(now[i].path))
				abort();
			strcpy(now[i].path, path);
		}
}

static void do_rename(void)
{
	int i = any(r(3) == 0), k;
	char from[200], to[200];
	uint64_t replaced = 0;

	if (i < 0)
		return;
	strcpy(from, now[i].path);
	if (r(2)) {
		if (!new_path(to, sizeof(to)) || is_below(to, from) || strlen(to) > 90)
			return;
	} else {
		/* Over another file: the record says so, or it is of an older journal, and the
		 * file was read before. */
		k = any(false);
		if (k < 0 || k == i || inodes[now[i].inode].dir || now[i].inode == now[k].inode)
			return;
		strcpy(to, now[k].path);
		if (r(2)) {
			replaced = 0100644;
		} else {
			PUT(READ, any_proc()->pid, .path = text_of(to));
			inodes[now[k].inode].read = true;
		}
		take_out(k);
	}
	PUT(RENAME, any_proc()->pid, .path = text_of(from), .to = text_of(to),
	    .replaced = replaced);
	strcpy(now[find(from)].path, to);
	move_below(from, to);
	pair_note(to);
}

static void do_exchange(void)
{
	int i = any(r(2)), k = any(r(2));
	char a[200], b[200];

	if (i < 0 || k < 0 || i == k || now[i].inode == now[k].inode)
		return;
	strcpy(a, now[i].path);
	strcpy(b, now[k].path);
	if (is_below(a, b) || is_below(b, a) || strlen(a) > 80 || strlen(b) > 80)
		return;
	PUT(RENAME, any_proc()->pid, .path = text_of(a), .to = text_of(b), .exchange = 1);
	move_below(a, "/!");
	move_below(b, a);
	move_below("/!", b);
	strcpy(now[i].path, b);
	strcpy(now[k].path, a);
}

static void do_link(void)
{
	int i = any(false);
	char to[200];

	if (i < 0 || !new_path(to, sizeof(to)) || nnow == PATHS)
		return;
	PUT(LINK, any_proc()->pid, .path = text_of(now[i].path), .to = text_of(to));
	strcpy(now[nnow].path, to);
	now[nnow++].inode = now[i].inode;
	pair_note(to);
}

static void workload(uint64_t seed, int steps)
{
	char path[200];

	rng = seed * 0x9e3779b97f4a7c15ull + 1;
	ninodes = nnow = nprocs = npairs = ncommands = 0;
	journal_clear();
	/* The top is not a directory that anybody changes. */
	strcpy(now[0].path, "");
	inodes[0] = (struct inode){ .dir = true, .existed = true };
	now[0].inode = 0;
	ninodes = nnow = 1;
	for (int i = 0; i < 60; i++)
		if (new_path(path, sizeof(path)))
			add(path, r(3) == 0);
	for (int i = 0; i < ninodes; i++)
		inodes[i].existed = true;
	memcpy(begin, now, sizeof(now));
	nbegin = nnow;
	PUT(START, 0, .id = text_of("cell"), .name = text_of("model"));
	do_command();
	while (steps--) {
		static void (*const what[])(void) = {
			do_process, do_process, do_create, do_create, do_write, do_write,
			do_read,    do_remove,	do_rename, do_rename, do_link,	do_exchange
		};
		void (*f)(void) = what[r(ARRAY_LEN(what))];

		if (nnow < PATHS - 20 || f == do_remove || f == do_process || f == do_rename)
			f();
	}
}

/* ---- the comparison ---- */

static struct touched touched;

/* Where a path of the beginning is at the end, by what touched says. "": nowhere. */
static void path_map(const char *path, char *to)
{
	char from[NAMES_PATH];
	struct name_story s;
	size_t best = 0;

	strcpy(to, path);
	for (uint32_t i = 1; i < names_count(&touched.names); i++) {
		name_story(&touched.names, i, &s);
		if (s.effect == NAME_REMOVED) {
			name_path(&touched.names, i, true, from);
			if (!strcmp(from, path)) {
				*to = 0;
				return;
			}
		} else if (s.effect == NAME_RENAMED) {
			size_t n = name_path(&touched.names, s.from, true, from);

			if (n > best && (!strcmp(from, path) || is_below(path, from))) {
				best = n;
				name_path(&touched.names, i, false, to);
				strcat(to, path + n);
			}
		}
	}
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool end_is_right(void)
{
	static char got[PATHS * 4][400], path[NAMES_PATH];
	int n = 0, unique = 0;
	struct name_story s;
	bool good = true;

	for (int i = 1; i < nbegin; i++) {
		path_map(begin[i].path, path);
		if (*path)
			snprintf(got[n++], sizeof(got[0]), "%.399s", path);
	}
	for (uint32_t i = 1; i < names_count(&touched.names); i++) {
		name_story(&touched.names, i, &s);
		if (s.effect == NAME_CREATED || s.effect == NAME_WRITTEN ||
		    s.effect == NAME_RENAMED) {
			name_path(&touched.names, i, false, path);
			snprintf(got[n++], sizeof(got[0]), "%.399s", path);
		}
	}
	qsort(got, (size_t)n, sizeof(got[0]), compare_paths);
	for (int i = 0; i < n; i++)
		if (!i || strcmp(got[i], got[i - 1])) {
			unique++;
			if (find(got[i]) < 0) {
				printf("# not there at the end: %s\n", got[i]);
				good = false;
			}
		}
	if (unique != nnow - 1)
		printf("# %d paths, want %d\n", unique, nnow - 1);
	return good && unique == nnow - 1;
}

/* Content of what is there at the end: other than at the beginning? */
static bool contents_are_right(void)
{
	for (int i = 1; i < nnow; i++) {
		const struct inode *n = &inodes[now[i].inode];
		uint32_t name = names_find(&touched.names, now[i].path, strlen(now[i].path));
		uint32_t file = name ? name_at(&touched.names, name)->now : 0;
		bool changed = file &&
			       file_at(&touched.names, file)->flags & (FILE_WRITTEN | FILE_CREATED);

		if (changed != (n->changed || !n->existed)) {
			printf("# %s: %s\n", now[i].path, changed ? "changed" : "not changed");
			return false;
		}
	}
	return true;
}

static int pairs_temporary(void)
{
	int count = 0;

	for (int i = 0; i < npairs; i++) {
		bool was = false, is = false;

		for (int k = 1; k < nnow && !is; k++)
			is = dir_of(now[k].path) == pairs[i].dir &&
			     !strcmp(strrchr(now[k].path, '/') + 1, pairs[i].name);
		for (int k = 1; k < nbegin && !was; k++) {
			char dir[200];

			if (strcmp(strrchr(begin[k].path, '/') + 1, pairs[i].name))
				continue;
			strcpy(dir, begin[k].path);
			*strrchr(dir, '/') = 0;
			for (int d = 0; d < nbegin; d++)
				was = was || (!strcmp(begin[d].path, dir) &&
					      begin[d].inode == pairs[i].dir);
		}
		count += !was && !is;
	}
	return count;
}

static void who_of(const struct origin *o, char *out, size_t size)
{
	const struct process *p = o->process;
	const struct program *g = o->program;
	size_t n = 0;

	out[0] = 0;
	for (; p && g && n < size; g = p->born, p = p->parent)
		n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? "<" : "", (int)g->path.n,
				      g->path.p);
}

static bool blame_is_right(int i)
{
	const struct inode *n = &inodes[now[i].inode];
	struct journal_entry e;
	struct blame b;
	char who[200];
	bool good = true, all = r(2);
	size_t count;

	blame_init(&b, now[i].path, all);
	for (uint64_t s = 1; entry_get(s, &e); s++)
		blame_files(&b, &e);
	if (blame_find(&b))
		for (uint64_t s = 1; entry_get(s, &e) && blame_processes(&b, &e); s++)
			;
	count = BUF_COUNT(&b.writers, struct blame_writer);
	if (!n->writer) {
		good = count == 0;
	} else if (count != (all ? n->writers : 1)) {
		printf("# %s: %zu writers, want %u\n", now[i].path, count, n->writers);
		good = false;
	} else {
		const struct blame_writer *w = BUF_ITEM(&b.writers, struct blame_writer, count - 1);
		const struct command *c = process_command(w->origin.process);

		who_of(&w->origin, who, sizeof(who));
		good = w->seq == n->writer && w->origin.process->pid == n->pid &&
		       !strncmp(who, n->who, 140) && c && c->number == n->command;
		if (!good)
			printf("# %s: record %" PRIu64 " by %s, want %" PRIu64
			       " by %s, command %" PRIu64 " want %" PRIu64 "\n",
			       now[i].path, w->seq, who, n->writer, n->who, c ? c->number : 0,
			       n->command);
	}
	blame_fini(&b);
	return good;
}

static void model_test(uint64_t seed)
{
	struct journal_entry e;
	int temporary = 0, read = 0, want = 0;
	char what[80];
	bool good = true;

	workload(seed, 500);
	touched_init(&touched);
	for (uint64_t s = 1; entry_get(s, &e); s++)
		touched_follow(&touched, &e);
	names_settle(&touched.names);
	for (uint32_t i = 1; i < names_count(&touched.names); i++) {
		struct name_story s;

		name_story(&touched.names, i, &s);
		temporary += s.effect == NAME_TEMPORARY;
		read += s.read;
	}
	for (int i = 1; i < nbegin; i++)
		want += inodes[begin[i].inode].read;
	snprintf(what, sizeof(what), "seed %" PRIu64 ": the files at the end", seed);
	ok(end_is_right(), what);
	snprintf(what, sizeof(what), "seed %" PRIu64 ": which have other content", seed);
	ok(contents_are_right(), what);
	snprintf(what, sizeof(what), "seed %" PRIu64 ": temporary names", seed);
	eq(temporary, pairs_temporary(), what);
	snprintf(what, sizeof(what), "seed %" PRIu64 ": files that were read", seed);
	eq(read, want, what);
	for (int i = 0; i < 20 && nnow > 1; i++)
		good = blame_is_right(1 + (int)r((unsigned)nnow - 1)) && good;
	snprintf(what, sizeof(what), "seed %" PRIu64 ": who wrote them", seed);
	ok(good, what);
	touched_fini(&touched);
}

/* ---- a process that forks and ends, and its child, for ever ---- */

static void count_gone(void *arg, struct process *p)
{
	(void)p;
	++*(uint64_t *)arg;
}

static void chain_test(void)
{
	uint64_t gone = 0, made = 0, most = 0;
	struct processes t;
	struct journal_entry e;
	struct process *p = NULL;
	unsigned parents = 0;
	char session[] = "s1";

	journal_clear();
	PUT(COMMAND, 0, .number = 5, .args = { "sh", 3 });
	PUT(EXEC, 2, .path = { "/bin/sh", 7 }, .args = { "sh", 3 });
	PUT(SESSION, 0, .session = { session, 2 }, .agent = { "a", 1 }, .root = 2);
	PUT(PROMPT, 0, .session = { session, 2 }, .number = 1, .text = { "go", 2 });
	for (int32_t i = 3; i < 50000; i++) {
		PUT(FORK, i % 9000 + 2,
		    .parent = (uint64_t)((i - 1) % 9000 + 2) * (i > 3) + 2 * (uint64_t)(i == 3));
		PUT(EXIT, i == 3 ? 2 : (i - 1) % 9000 + 2, .code = 0);
	}
	processes_init(&t, count_gone, &gone);
	for (uint64_t s = 1; entry_get(s, &e); s++) {
		struct process *q = processes_follow(&t, &e);

		if (e.kind == J_FORK)
			p = q;
		made = t.next_id - 1;
		most = MAX(most, made - gone);
	}
	ok(made > 49000, "a long chain of forks");
	ok(most < PROCESSES_ENDED + 2 * PROCESSES_PARENTS + 100, "what is kept of it is bounded");
	for (const struct process *q = p; q && q->parent; q = q->parent)
		parents++;
	ok(parents >= PROCESSES_PARENTS && parents <= 2 * PROCESSES_PARENTS,
	   "the nearest parents are known");
	ok(p && process_command(p) && process_command(p)->number == 5,
	   "the command is that of the first");
	ok(p && process_session(&t, p) && process_prompt(&t, p), "so are session and prompt");
	processes_fini(&t);
	eq((int)(made - gone), 0, "all are freed");
}

int main(int argc, char **argv)
{
	int seeds = argc > 1 ? atoi(argv[1]) : 40;

	for (int i = 1; i <= seeds; i++)
		model_test((uint64_t)i);
	chain_test();
	return tap_end();
}
