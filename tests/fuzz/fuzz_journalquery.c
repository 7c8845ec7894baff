/* What a journal answers, on records that a captured kernel made up: any kind, any process number,
 * any time, paths that are moved into each other. The tracker of processes, the tree of names and
 * everything that is shown: nothing reaches a terminal or a page but text, and JSON stays JSON. */
/* objects: src/journal/blame.c src/journal/hosts.c src/journal/names.c src/journal/origin.c src/journal/processes.c src/journal/show.c src/journal/story.c src/journal/table.c src/journal/tally.c src/journal/timeline.c src/journal/timelinehtml.c src/journal/timeline_blob.S src/journal/touched.c src/wire/journal.c src/base/json.c src/base/safetext.c src/base/utf8.c src/base/base64.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/siphash.c src/base/log.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "journal/blame.h"
#include "journal/show.h"
#include "journal/story.h"
#include "journal/table.h"
#include "journal/touched.h"

const char fuzz_name[] = "journalquery";
const size_t fuzz_max = 1200;

void fuzz_init(void)
{
}

/* ---- records from bytes ---- */

struct bytes {
	const uint8_t *p, *end;
};

static uint8_t take(struct bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

static const char *const paths[] = { "/",  "/a",      "/a/b",	"/a/b/c", "/a/b/c/d",
				     "/x", "/x/a",    "/x/a/b", "//x//y", "relative",
				     "",   "/a/../b", "/a/." };

static struct jtext text_make(struct bytes *b)
{
	uint8_t how = take(b);
	struct jtext t;

	if (how < 200)
		return text_of(paths[how % ARRAY_LEN(paths)]);
	t.n = (uint32_t)MIN((size_t)(how - 200), (size_t)(b->end - b->p));
	t.p = (const char *)b->p;
	b->p += t.n;
	return t;
}

static uint64_t number_make(struct bytes *b)
{
	uint8_t how = take(b);

	return how < 240 ? how % 8 : how < 250 ? UINT64_MAX - how : (uint64_t)how << 56;
}

static int64_t time_make(struct bytes *b, int64_t before)
{
	uint8_t how = take(b);

	if (how < 240)
		return before < INT64_MAX - how * 1000000ll ? before + how * 1000000ll : before;
	return how & 1 ? INT64_MIN + how : INT64_MAX - how;
}

static void entry_make(struct bytes *b, struct journal_entry *e, union journal_record *r)
{
	static const uint8_t hash[JOURNAL_HASH] = { 1 };
	const struct journal_desc *d;

	e->seq++;
	e->kind = 1 + take(b) % (J_KINDS - 1);
	e->pid = take(b);
	e->pid = e->pid < 200 ? e->pid % 6 : e->pid < 220 ? -e->pid : INT32_MAX - e->pid;
	e->mono = time_make(b, e->mono);
	e->wall = time_make(b, e->wall);
	e->record = r;
	memset(r, 0, sizeof(*r));
	d = &journal_kinds[e->kind];
	for (unsigned i = 0; i < d->nfields; i++) {
		char *at = (char *)r + d->fields[i].offset;
		const uint8_t *h = take(b) & 1 ? hash : NULL;
		struct jtext t;
		uint64_t n;

		switch ((enum journal_type)d->fields[i].type) {
		case JT_NUMBER:
		case JT_SIGNED:
			n = number_make(b);
			memcpy(at, &n, sizeof(n));
			break;
		case JT_TEXT:
		case JT_WORDS:
			t = text_make(b);
			memcpy(at, &t, sizeof(t));
			break;
		case JT_HASH:
			memcpy(at, &h, sizeof(h));
			break;
		}
	}
}

/* ---- what must hold ---- */

static char *made;
static size_t nmade;

static FILE *begin(void)
{
	FILE *f;

	free(made);
	made = NULL;
	f = open_memstream(&made, &nmade);
	FUZZ_CHECK(f);
	return f;
}

static void clean_check(FILE *f)
{
	fclose(f);
	for (size_t i = 0; i < nmade;) {
		unsigned n = text_printable(made + i, nmade - i);

		FUZZ_CHECK(n || made[i] == '\n');
		i += n ? n : 1;
	}
}

static void json_check(const char *text, size_t n)
{
	struct json_doc d;
	struct err e = { 0 };

	FUZZ_CHECK(json_parse_any(&d, text, n, 64u << 20, &e) == 0);
	json_free(&d);
}

static void page_check(const struct story *s)
{
	const char *data, *end;
	FILE *f = begin();

	timeline_html(s, f);
	clean_check(f);
	data = strstr(made, "id=\"data\">");
	FUZZ_CHECK(data);
	data += 10;
	end = strstr(data, "</script>");
	FUZZ_CHECK(end && !memchr(data, '<', (size_t)(end - data)));
	json_check(data, (size_t)(end - data));
}

static void processes_check(const struct processes *t)
{
	size_t n = 0;

	for (const struct process *p = t->running_first; p; p = p->list_next) {
		FUZZ_CHECK(!p->ended && p->refs && p->pid > 0);
		FUZZ_CHECK(!p->parent || p->parent->id < p->id);
		n++;
	}
	FUZZ_CHECK(n == t->nrunning);
	for (const struct process *p = t->ended_first; p; p = p->list_next, n++)
		FUZZ_CHECK(p->ended);
	FUZZ_CHECK(n == t->nrunning + t->nended && n == t->count);
}

/* A tracker that is made of its table has the same table. */
static void table_check(struct processes *t)
{
	struct buf start = { 0 }, once = { 0 }, twice = { 0 };
	struct processes other;

	processes_init(&other, NULL, NULL);
	FUZZ_CHECK(table_write(t, &start, &once));
	FUZZ_CHECK(table_read(&other, once.p, once.len, NULL, NULL));
	processes_check(&other);
	FUZZ_CHECK(other.nrunning == t->nrunning);
	FUZZ_CHECK(table_write(&other, &start, &twice));
	FUZZ_CHECK(once.len == twice.len && !memcmp(once.p, twice.p, once.len));
	processes_fini(&other);
	buf_free(&once);
	buf_free(&twice);
}

static void names_check(const struct names *t)
{
	for (uint32_t i = 1; i < names_count(t); i++) {
		char path[NAMES_PATH];
		struct name_story s;

		FUZZ_CHECK(name_at(t, i)->dir &&
			   name_at(t, i)->dir < BUF_COUNT(&t->files, struct file));
		name_story(t, i, &s);
		FUZZ_CHECK(s.effect < NAME_EFFECTS);
		FUZZ_CHECK(s.effect != NAME_RENAMED || s.from);
		FUZZ_CHECK(name_path(t, i, false, path) < NAMES_PATH);
		FUZZ_CHECK(name_path(t, i, true, path) < NAMES_PATH);
	}
}

static void blame_one(const uint8_t *data, size_t size, const char *path, bool all)
{
	struct bytes b = { data, data + size };
	struct journal_entry e = { 0 };
	union journal_record r;
	struct blame x;
	FILE *f;

	blame_init(&x, path, all);
	while (b.p < b.end) {
		entry_make(&b, &e, &r);
		blame_files(&x, &e);
	}
	if (blame_find(&x)) {
		b.p = data;
		e = (struct journal_entry){ 0 };
		do {
			entry_make(&b, &e, &r);
		} while (blame_processes(&x, &e) && b.p < b.end);
	}
	f = begin();
	blame_show(&x, f);
	clean_check(f);
	f = begin();
	blame_json(&x, f);
	clean_check(f);
	json_check(made, nmade);
	blame_fini(&x);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct bytes b = { data, data + size };
	struct journal_entry e = { 0 };
	union journal_record r;
	static struct touched t;
	struct story s;
	FILE *f;

	touched_init(&t);
	story_init(&s);
	while (b.p < b.end) {
		entry_make(&b, &e, &r);
		touched_follow(&t, &e);
		story_follow(&s, &e);
	}
	processes_check(&s.processes);
	table_check(&s.processes);
	story_end(&s);
	f = begin();
	touched_show(&t, f, size & 1);
	clean_check(f);
	names_check(&t.names);
	f = begin();
	touched_json(&t, f);
	clean_check(f);
	json_check(made, nmade);
	f = begin();
	timeline_show(&s, f);
	clean_check(f);
	if (size % 4 == 0)
		page_check(&s);
	touched_fini(&t);
	story_fini(&s);
	blame_one(data, size, paths[size % ARRAY_LEN(paths)], size & 2);
}
