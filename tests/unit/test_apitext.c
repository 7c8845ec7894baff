/* Paths, escapes, numbers, base64 and UTF-8 as they come from the network. */
/* objects: src/api/http/chunk.c src/api/http/text.c src/base/base64.c src/base/utf8.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/chunk.h"
#include "api/http/text.h"
#include "tap.h"

static bool unescapes(const char *from, const char *want)
{
	char s[64];

	strcpy(s, from);
	return text_unescape(s) && !strcmp(s, want);
}

static bool refuses(const char *from)
{
	char s[64];

	strcpy(s, from);
	return !text_unescape(s);
}

static void escapes(void)
{
	ok(unescapes("a%20b", "a b"), "an escape");
	ok(unescapes("%2f%2F", "//"), "both cases");
	ok(unescapes("", ""), "nothing");
	ok(unescapes("%25%34%31", "%41"), "decoded once");
	ok(unescapes("%c3%a9", "\xc3\xa9"), "UTF-8");
	ok(refuses("%"), "an escape that is cut off");
	ok(refuses("a%2"), "and after a digit");
	ok(refuses("%zz"), "no digits");
	ok(refuses("a%00b"), "a NUL");
	ok(refuses("%ff"), "no UTF-8");
	ok(refuses("%c0%af"), "UTF-8 that is too long");
	ok(refuses("%ed%a0%80"), "a surrogate");
	ok(refuses("%f4%90%80%80"), "above the last character");
}

static int split(const char *path, int max, const char *want)
{
	static char s[64], joined[64];
	char *parts[4];
	int n;

	strcpy(s, path);
	n = text_split_path(s, parts, max);
	joined[0] = '\0';
	for (int i = 0; i < n; i++) {
		strcat(joined, parts[i]);
		strcat(joined, "|");
	}
	return n < 0 || strcmp(joined, want) ? -1 : n;
}

static void paths(void)
{
	eq(split("/v1/cells", 4, "v1|cells|"), 2, "two parts");
	eq(split("/", 4, ""), 0, "none");
	eq(split("/a/", 4, "a|"), 1, "a slash at the end");
	eq(split("/a//b", 4, "a||b|"), 3, "an empty part is one");
	eq(split("/a/b/c/d/e", 4, ""), -1, "too many");
	eq(split("a/b", 4, ""), -1, "no slash first");
}

static void numbers(void)
{
	uint64_t v = 7;

	ok(text_number("0", 10, &v) && v == 0, "zero");
	ok(text_number("10", 10, &v) && v == 10, "the largest");
	ok(!text_number("11", 10, &v), "one more");
	ok(!text_number("", 10, &v), "nothing");
	ok(!text_number("-1", 10, &v), "a sign");
	ok(!text_number("1 ", 10, &v), "a space");
	ok(text_number("18446744073709551615", UINT64_MAX, &v) && v == UINT64_MAX, "all bits");
	ok(!text_number("18446744073709551616", UINT64_MAX, &v), "one bit more");
	ok(!text_number("99999999999999999999999", UINT64_MAX, &v), "far too much");
	ok(!text_number("7", 5, &v), "one digit above");
}

static void item_is(const char *list, const char *word, const char *want)
{
	char *got = text_list_find(list, word);

	ok(want ? got && !strcmp(got, want) : !got, list);
	free(got);
}

static void encodings(void)
{
	char text[16];
	uint8_t data[16];
	bool same = true;

	for (size_t n = 0; n <= 6; n++) {
		base64_encode(text, "\0\xff" "abcd", n);
		same &= base64_decode(data, text, BASE64_SIZE(n)) == (ssize_t)n &&
			!memcmp(data, "\0\xff" "abcd", n);
	}
	ok(same, "base64 there and back");
	base64_encode(text, "foobar", 6);
	ok(!memcmp(text, "Zm9vYmFy", 8), "as the RFC has it");
	eq(base64_decode(data, "Zm9", 3), -1, "cut off");
	eq(base64_decode(data, "Zm9!", 4), -1, "another character");
	eq(base64_decode(data, "Z===", 4), -1, "too much padding");
	eq(base64_decode(data, "=m9v", 4), -1, "padding first");
	eq((long long)text_utf8_tail("a\xe2\x82", 3), 2, "a character that is cut off");
	eq((long long)text_utf8_tail("a\xe2\x82\xac", 4), 0, "a whole one");
	eq((long long)text_utf8_tail("\x82\x82\x82\x82", 4), 0, "what cannot become one");
	ok(!strcmp(text_bearer("bearer  x"), "x"), "Bearer in any case");
	ok(!text_bearer("Basic x"), "no Bearer");
	item_is("a, websocket ,b", "WebSocket", "websocket");
	item_is("keep-alive,\tUpgrade", "upgrade", "Upgrade");
	item_is("websockets", "websocket", NULL);
	item_is(",,, ", "x", NULL);
	item_is("", "x", NULL);
	item_is("v1, bearer.viv_x , bearer.y", "bearer.", "bearer.viv_x");
	item_is("bearer.", "bearer.", NULL);
}

/* As simple as can be, to compare with. */
static size_t line_plain(char *out, const char *data, size_t n)
{
	char *p = out + sprintf(out, "{,\"text\":\"");

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c == '\n')
			p += sprintf(p, "\\n");
		else if (c == '"' || c == '\\')
			p += sprintf(p, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			p += sprintf(p, "\\u%04x", c);
		else
			*p++ = (char)c;
	}
	memcpy(p, "\"}\n", 3);
	return (size_t)(p + 3 - out);
}

static void lines(void)
{
	char data[600], out[1200], want[4000], back[600];
	size_t bad = 0, kept, texts = 0;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t n = 1 + (size_t)rand() % sizeof(data), len, plain;
		int odd = 1 + rand() % 40;

		for (size_t i = 0; i < n; i++)
			data[i] = rand() % odd ? (char)(' ' + rand() % 95) : (char)(rand() % 128);
		len = chunk_line(out, sizeof(out), "{", data, n, true, &kept);
		plain = line_plain(want, data, n);
		if (!memcmp(out, "{,\"text", 7)) {
			texts++;
			bad += len != plain || memcmp(out, want, len) != 0;
		} else {
			bad += plain - 13 <= MAX(BASE64_SIZE(n), 256u) ||
			       base64_decode(back, out + 12, len - 15) != (ssize_t)n ||
			       memcmp(back, data, n) != 0;
		}
		bad += kept != 0 || len > sizeof(out);
	}
	eq((long long)bad, 0, "lines of output have what was written");
	ok(texts > 5000 && texts < 20000, "as text and as base64");
	chunk_line(out, sizeof(out), "{", "ab\xe2\x82", 4, false, &kept);
	ok(kept == 2 && !memcmp(out, "{,\"text\":\"ab\"}\n", 15), "without half a character");
}

static bool hides(const char *from, const char *want)
{
	char s[64];

	strcpy(s, from);
	text_hide_controls(s);
	return !strcmp(s, want);
}

static void terminals(void)
{
	ok(hides("a\xc3\xa9\xe2\x82\xac", "a\xc3\xa9\xe2\x82\xac"), "letters");
	ok(hides("\x1b[31m\n\x7f", "?[31m??"), "controls");
	ok(hides("\x9b[31m", "?[31m"), "a byte that starts a sequence on some terminals");
	ok(hides("\xc2\x9b[31m", "??[31m"), "the same as UTF-8");
	ok(hides("x\xc2", "x?") && hides("x\xe2\x82", "x??"), "what is cut off");
	ok(hides("x\xe2\x80\xae[\xe2\x81\xa6", "x???[???"), "marks of direction");
	eq(text_printable("\xe2\x82\xac", 2), 0, "not behind the end");
	eq(text_printable("\xe2\x82\xac", 3), 3, "a whole character");
	eq(text_printable("", 0), 0, "nothing");
}

int main(void)
{
	terminals();
	escapes();
	lines();
	paths();
	numbers();
	encodings();
	return tap_end();
}
