/* Answers of a journal whose texts are hostile: nothing of them steers a terminal, ends a text of
 * JSON or becomes HTML. With a file as argument, the page of the timeline goes there. */
/* objects: src/journal/blame.c src/journal/hosts.c src/journal/names.c src/journal/origin.c src/journal/processes.c src/journal/show.c src/journal/story.c src/journal/tally.c src/journal/timeline.c src/journal/timelinehtml.c src/journal/timeline_blob.S src/journal/touched.c src/wire/journal.c src/base/json.c src/base/safetext.c src/base/utf8.c src/base/base64.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/siphash.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "journal/blame.h"
#include "journal/show.h"
#include "journal/story.h"
#include "journal/touched.h"
#include "tap.h"

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"</script><script>document.title='owned'</script>",
	"<!--<script>",
	"</title><img src=x onerror=document.title='owned'>",
	"\x1b]0;owned\x07\x1b[31mred\x1b[0m",
	"line\nbreak\r\ttab",
	"\xff\xfe not utf-8 \xc3",
	"\xe2\x80\xaegnp.exe",
	"\xe2\x81\xa6isolate\xe2\x81\xa9",
	"\xc2\x9b"
	"31m c1",
	"quote\" back\\slash ' `${1}`",
	"zero\xe2\x80\x8bwidth",
	"\xe2\x80\xa8line separator",
	"&lt;amp&#60;",
	"\xf0\x9f\x98\x80 smile",
};
#define WORDS(s)             \
	{                    \
		s, sizeof(s) \
	}
#define H(i) hostile[(i) % ARRAY_LEN(hostile)]

struct sink {
	struct touched touched;
	struct story story;
	struct blame blame;
};

static struct buf frames, offsets;

static void put(enum journal_kind kind, const void *record, int32_t pid)
{
	static _Alignas(8) uint8_t frame[JOURNAL_FRAME_MAX];
	static int64_t now;
	size_t n, at;

	now += 7000000;
	n = journal_encode(kind, record, pid, now, 1700000000 * NSEC_PER_SEC + now, frame);
	at = buf_add(&frames, frame, n);
	buf_add(&offsets, &at, sizeof(at));
}
#define PUT(KIND, pid, ...) put(J_##KIND, &(struct journal_##KIND){ __VA_ARGS__ }, pid)

static bool entry_get(uint64_t seq, struct journal_entry *e)
{
	static union journal_record record;
	const struct journal_frame *f;

	if (seq > BUF_COUNT(&offsets, size_t))
		return false;
	f = (const void *)(frames.p + *BUF_ITEM(&offsets, size_t, seq - 1));
	if (!journal_decode(f, f->size, &record))
		abort();
	*e = (struct journal_entry){ .seq = seq, .mono = f->mono, .wall = f->wall, .pid = f->pid };
	e->kind = f->kind;
	e->record = &record;
	return true;
}

static struct jtext path_of(unsigned i)
{
	static char path[4][300];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "/work/%s-%u", H(i), i);
	return text_of(p);
}

static void work(int32_t pid, unsigned i)
{
	char args[200];
	int n = snprintf(args, sizeof(args), "%s%c%s%c-o", H(i), 0, H(i + 3), 0);

	PUT(FORK, pid, .parent = 1);
	PUT(EXEC, pid, .path = text_of(i % 3 ? "/usr/bin/cc" : H(i)),
	    .args = { args, (uint32_t)n + 1 }, .cwd = text_of(H(i + 1)), .parent = 1);
	for (unsigned k = 0; k < 4; k++)
		PUT(READ, pid, .path = path_of(i + k));
	PUT(CREATE, pid, .path = path_of(i), .mode = 0100644);
	PUT(WRITE, pid, .path = path_of(i), .size = i);
	PUT(RENAME, pid, .path = path_of(i), .to = path_of(i + 100));
	if (i % 4 == 0) {
		PUT(NAME, pid, .name = text_of(H(i)), .decision = text_of("allow"));
		PUT(CONNECT, pid, .connection = i, .protocol = text_of("tcp"),
		    .name = text_of(H(i)), .address = text_of("192.0.2.1"), .port = 443,
		    .decision = text_of("allow"));
		PUT(REQUEST, pid, .connection = i, .method = text_of("GET"),
		    .url = text_of(H(i + 1)), .status = 200, .decision = text_of("allow"));
		PUT(CLOSE, pid, .protocol = text_of("tcp"), .address = text_of("192.0.2.1"),
		    .port = 443, .in = 1000 * i, .out = 10);
	}
	if (i % 5 == 0)
		PUT(DENIAL, pid, .scope = text_of("net"), .what = text_of(H(i)),
		    .rule = text_of(H(i + 2)));
	PUT(EXIT, pid, .code = i % 7 == 0);
}

static void journal_make(void)
{
	PUT(START, 0, .id = text_of("a1b2c3"), .name = text_of(H(1)), .image = text_of(H(3)),
	    .level = text_of("all"), .version = text_of("0.1.0"));
	PUT(COMMAND, 0, .number = 1, .args = WORDS("sh\0-c\0make\n\x1b[2J"));
	PUT(EXEC, 1, .path = text_of("/bin/sh"), .args = WORDS("sh\0-c\0make\n\x1b[2J"),
	    .parent = 0);
	PUT(SESSION, 0, .session = text_of(H(2)), .agent = text_of(H(4)), .root = 1);
	PUT(PROMPT, 0, .session = text_of(H(2)), .number = 1, .text = text_of(H(0)));
	for (unsigned i = 0; i < 60; i++)
		work(100 + (int32_t)(i % 20), i);
	PUT(APPROVAL, 0, .id = text_of("q1"), .scope = text_of("net"), .what = text_of(H(0)),
	    .answer = text_of("allow"), .by = text_of(H(4)));
	PUT(TOOL, 0, .tool = text_of(H(2)), .args = text_of("{}"), .status = 1);
	PUT(LIMIT, 0, .what = text_of(H(4)));
	PUT(OPERATOR, 0, .action = text_of("snapshot"), .detail = text_of(H(5)));
	PUT(HOLE, 0, .reason = text_of(H(6)), .count = 3);
	PUT(POLICY, 0, .rules = WORDS("allow <b>\0deny \x1b"));
	PUT(INBOUND, 0, .peer = text_of(H(0)), .port = 80);
	PUT(MOUNT, 1, .path = path_of(7));
	PUT(ANSWER, 0, .session = text_of(H(2)), .number = 1, .reason = text_of(H(7)));
	PUT(STOP, 0, .status = 0, .reason = text_of("ended"));
}

/* ---- checks ---- */

static char *made;
static size_t nmade;

static FILE *begin(void)
{
	free(made);
	return open_memstream(&made, &nmade);
}

static bool is_clean(void)
{
	for (size_t i = 0; i < nmade;) {
		unsigned n = text_printable(made + i, nmade - i);

		if (!n && made[i] != '\n') {
			printf("# at %zu: %02x\n", i, (unsigned char)made[i]);
			return false;
		}
		i += n ? n : 1;
	}
	return nmade;
}

static bool is_json(void)
{
	struct json_doc d;
	struct err e = { 0 };
	bool good = json_parse_any(&d, made, nmade, 64u << 20, &e) == 0;

	if (!good)
		printf("# %s\n", e.message);
	else
		json_free(&d);
	return good;
}

static unsigned count_of(const char *what)
{
	unsigned n = 0;

	for (const char *p = made; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void page_test(struct story *s)
{
	FILE *f = begin();
	const char *block, *end;
	struct json_doc d;
	struct err e = { 0 };

	timeline_html(s, f);
	fclose(f);
	ok(is_clean(), "the page has no controls and no marks of direction");
	eq(count_of("<script"), 2, "the page has its two scripts");
	eq(count_of("</script"), 2, "and both end once");
	eq(count_of("<img"), 0, "no name became an element");
	eq(count_of("Content-Security-Policy"), 1, "it has a policy");
	block = strstr(made, "id=\"data\">");
	end = block ? strstr(block, "</script>") : NULL;
	ok(end && json_parse_any(&d, block + 10, (size_t)(end - block - 10), 64u << 20, &e) == 0,
	   "its data are JSON");
	ok(end && !memchr(block + 10, '<', (size_t)(end - block - 10)), "without <");
	if (end)
		json_free(&d);
}

int main(int argc, char **argv)
{
	static struct sink s;
	struct journal_entry e;
	FILE *f;

	journal_make();
	touched_init(&s.touched);
	story_init(&s.story);
	for (uint64_t i = 1; entry_get(i, &e); i++) {
		touched_follow(&s.touched, &e);
		story_follow(&s.story, &e);
	}
	story_end(&s.story);
	if (argc > 1) {
		f = fopen(argv[1], "w");
		if (!f)
			return 1;
		timeline_html(&s.story, f);
		fclose(f);
		timeline_show(&s.story, stdout);
		touched_show(&s.touched, stdout, false);
		return 0;
	}
	f = begin();
	touched_show(&s.touched, f, false);
	fclose(f);
	ok(is_clean(), "touched on a terminal");
	f = begin();
	touched_show(&s.touched, f, true);
	fclose(f);
	ok(is_clean(), "all of it");
	f = begin();
	touched_json(&s.touched, f);
	fclose(f);
	ok(is_clean() && is_json(), "touched as JSON");
	eq(count_of("\"path_base64\""), 9, "names that are not UTF-8 are there as base64, too");
	f = begin();
	timeline_show(&s.story, f);
	fclose(f);
	ok(is_clean(), "the timeline on a terminal");
	page_test(&s.story);
	for (unsigned i = 100; i < 100 + ARRAY_LEN(hostile); i++) {
		char path[300];

		snprintf(path, sizeof(path), "/work/%s-%u", H(i), i);
		blame_init(&s.blame, path, i % 2);
		for (uint64_t k = 1; entry_get(k, &e); k++)
			blame_files(&s.blame, &e);
		ok(blame_find(&s.blame), "the file is found by its name");
		for (uint64_t k = 1; entry_get(k, &e) && blame_processes(&s.blame, &e); k++)
			;
		f = begin();
		blame_show(&s.blame, f);
		fclose(f);
		ok(is_clean() && count_of("prompt  1"), "blame on a terminal");
		f = begin();
		blame_json(&s.blame, f);
		fclose(f);
		ok(is_clean() && is_json(), "blame as JSON");
		blame_fini(&s.blame);
	}
	touched_fini(&s.touched);
	story_fini(&s.story);
	free(made);
	buf_free(&frames);
	buf_free(&offsets);
	return tap_end();
}
