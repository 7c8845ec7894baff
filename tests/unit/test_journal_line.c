/* Records as lines: every kind, with hostile texts, for a terminal and as JSON; and the filters. */
#include "journal/line.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "journal/filter.h"
#include "tap.h"

#define HOSTILE "/a\x1b[2J\x9b\xc2\x9b\r\n\"<\xff\xe2\x80\xae"

/* All fields of a kind are hostile texts. */
static struct journal_entry entry_make(enum journal_kind kind, union journal_record *r)
{
	static const char words[] = HOSTILE "\0" HOSTILE;
	static uint8_t hash[JOURNAL_HASH];
	const struct journal_desc *d = &journal_kinds[kind];

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < d->nfields; i++) {
		void *at = (char *)r + d->fields[i].offset;

		switch ((enum journal_type)d->fields[i].type) {
		case JT_NUMBER:
		case JT_SIGNED:
			*(uint64_t *)at = UINT64_MAX;
			break;
		case JT_TEXT:
			*(struct jtext *)at = (struct jtext){ HOSTILE, sizeof(HOSTILE) - 1 };
			break;
		case JT_WORDS:
			*(struct jtext *)at = (struct jtext){ words, sizeof(words) - 1 };
			break;
		case JT_HASH:
			*(const uint8_t **)at = hash;
		}
	}
	return (struct journal_entry){ .seq = 7,
				       .kind = kind,
				       .pid = 3,
				       .wall = INT64_MIN,
				       .mono = INT64_MIN,
				       .record = r };
}

static char *line_of(void (*print)(FILE *, const struct journal_entry *, struct jtext),
		     const struct journal_entry *j, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	print(f, j, (struct jtext){ HOSTILE, sizeof(HOSTILE) - 1 });
	fclose(f);
	return text;
}

/* One line, of characters that a terminal only shows. */
static bool is_safe(const char *s, size_t n)
{
	if (!n || s[n - 1] != '\n')
		return false;
	for (size_t i = 0; i + 1 < n;) {
		unsigned len = text_printable(s + i, n - i);

		if (!len)
			return false;
		i += len;
	}
	return true;
}

/* The bytes of a text survive. */
static bool bytes_survive(const struct json *v, const char *name)
{
	char twin[64], bytes[256];
	const char *text;
	ssize_t n;

	snprintf(twin, sizeof(twin), "%s_base64", name);
	text = json_get_text(v, twin);
	n = text && strlen(text) < 256 ? base64_decode(bytes, text, strlen(text)) : -1;
	return n == sizeof(HOSTILE) - 1 && !memcmp(bytes, HOSTILE, (size_t)n);
}

static void test_lines(void)
{
	bool safe = true, parsed = true, survive = true;

	for (unsigned k = 1; k < J_KINDS; k++) {
		const struct journal_desc *d = &journal_kinds[k];
		union journal_record r;
		struct journal_entry j = entry_make(k, &r);
		struct json_doc doc = { 0 };
		struct err e;
		size_t n, m;
		char *text = line_of(line_print, &j, &n), *json = line_of(line_json, &j, &m);

		safe &= is_safe(text, n) && is_safe(json, m);
		if (json_parse(&doc, json, m, &e) < 0) {
			printf("# %s: %s\n", d->name, err_line(&e).str);
			parsed = false;
		} else {
			for (unsigned i = 0; i < d->nfields; i++)
				if (d->fields[i].type == JT_TEXT)
					survive &= bytes_survive(doc.root, d->fields[i].name);
			survive &= bytes_survive(doc.root, "program");
			json_free(&doc);
		}
		free(text);
		free(json);
	}
	ok(safe, "no line of any kind can steer a terminal");
	ok(parsed, "every line of JSON is JSON");
	ok(survive, "bytes that are not UTF-8 survive in it");
}

static bool takes(const struct filter *f, enum journal_kind kind, const char *path)
{
	struct journal_READ r = { .path = { path, (uint32_t)strlen(path) } };
	struct journal_entry j = { .seq = 5,
				   .kind = kind,
				   .pid = 3,
				   .wall = 100,
				   .record = (const union journal_record *)(const void *)&r };
	const char *program = "/usr/bin/cc1";

	return filter_takes(f, &j, (struct jtext){ program, (uint32_t)strlen(program) });
}

static void test_filters(void)
{
	struct filter f;
	struct err e;

	filter_init(&f);
	ok(takes(&f, J_READ, "/a"), "without a filter every record is taken");
	ok(!filter_kinds(&f, "net,read", &e) && takes(&f, J_READ, "/a"), "by kind");
	ok(!filter_kinds(&f, "exec", &e) && !takes(&f, J_READ, "/a"), "by group");
	eq(filter_kinds(&f, "exec,fil", &e), -1, "a kind that there is not");
	eq(filter_kinds(&f, "", &e), -1, "nor is nothing one");
	filter_init(&f);
	ok(!filter_path(&f, "/work/**", &e) && takes(&f, J_READ, "/work/a/b") &&
		   !takes(&f, J_READ, "/wor/a"),
	   "by path");
	ok(!filter_path(&f, "/work/*", &e) && takes(&f, J_READ, "/work/a") &&
		   !takes(&f, J_READ, "/work/a/b"),
	   "a star is a part of a name");
	filter_init(&f);
	ok(!filter_process(&f, "cc1", &e) && takes(&f, J_READ, "/a"), "by program");
	ok(!filter_process(&f, "/usr/bin/cc1", &e) && takes(&f, J_READ, "/a"), "by its path");
	ok(!filter_process(&f, "cc", &e) && !takes(&f, J_READ, "/a"), "by another program");
	filter_init(&f);
	ok(!filter_process(&f, "3", &e) && takes(&f, J_READ, "/a"), "by process");
	ok(!filter_process(&f, "4", &e) && !takes(&f, J_READ, "/a"), "by another process");
	filter_init(&f);
	ok(!filter_since(&f, "5", &e) && !filter_until(&f, "5", &e) && takes(&f, J_READ, "/a"),
	   "by number");
	ok(!filter_since(&f, "6", &e) && !takes(&f, J_READ, "/a"), "by a later one");
	filter_init(&f);
	ok(!filter_since(&f, "1970-01-01T00:00:01Z", &e) && !takes(&f, J_READ, "/a"), "by time");
	eq(filter_since(&f, "yesterday", &e), -1, "not a time");
}

int main(void)
{
	test_lines();
	test_filters();
	return tap_end();
}
