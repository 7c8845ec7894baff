/* See safetext.h. */
#include "base/safetext.h"

#include <string.h>

#include "base/utf8.h"

static uint32_t code_of(const char *text, unsigned len)
{
	const unsigned char *s = (const unsigned char *)text;

	switch (len) {
	case 1:
		return s[0];
	case 2:
		return (s[0] & 31u) << 6 | (s[1] & 63u);
	case 3:
		return (s[0] & 15u) << 12 | (s[1] & 63u) << 6 | (s[2] & 63u);
	default:
		return (s[0] & 7u) << 18 | (s[1] & 63u) << 12 | (s[2] & 63u) << 6 | (s[3] & 63u);
	}
}

/* Nobody sees these: soft hyphen, zero-width spaces and joiners, word joiner and invisible
 * operators, fillers of Hangul, variation selectors, the byte order mark, interlinear marks, tags.
 */
static bool is_unseen(uint32_t c)
{
	return c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f || c == 0x1160 ||
	       (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200d) || c == 0x2028 ||
	       c == 0x2029 || (c >= 0x2060 && c <= 0x206f) || c == 0x3164 ||
	       (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || c == 0xffa0 ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

/* How one character is shown: as it is (the length), or 0 and its escape. */
static unsigned shown_as(const char *s, size_t n, unsigned flags, char escape[16], unsigned *used)
{
	unsigned len = text_printable(s, n);
	int whole;

	*used = len ? len : 1;
	if (len && (!(flags & SAFE_SEEN) || !is_unseen(code_of(s, len))))
		return len;
	if ((*s == '\n' || *s == '\t') && !(flags & SAFE_LINE))
		return 1;
	if (*s == '\n' || *s == '\t' || *s == '\r') {
		snprintf(escape, 16, "\\%c", *s == '\n' ? 'n' : *s == '\t' ? 't' : 'r');
		return 0;
	}
	whole = utf8_length(s, n);
	if (whole > 1) {
		*used = (unsigned)whole;
		snprintf(escape, 16, "\\u%04x", code_of(s, (unsigned)whole));
	} else {
		snprintf(escape, 16, "\\x%02x", (unsigned char)*s);
	}
	return 0;
}

size_t safe_print(FILE *to, const char *s, size_t n, unsigned flags, size_t max)
{
	size_t i = 0, shown = 0;
	char escape[16];
	unsigned used, len;

	while (i < n && (!max || shown < max)) {
		/* A line that ends as on other systems. */
		if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n' && !(flags & SAFE_LINE)) {
			i++;
			continue;
		}
		len = shown_as(s + i, n - i, flags, escape, &used);
		if (len)
			fwrite(s + i, 1, len, to);
		else
			fputs(escape, to);
		i += used;
		shown++;
	}
	return i;
}

void safe_bytes(FILE *to, const char *s, size_t n, const char *allowed)
{
	const char *end = s + n;
	unsigned len;

	for (; s < end; s += len ? len : 1) {
		len = text_printable(s, (size_t)(end - s));
		if (len || (*s && strchr(allowed, *s)))
			fwrite(s, 1, len ? len : 1, to);
		else
			fprintf(to, "\\x%02x", (unsigned char)*s);
	}
}

void safe_html(FILE *to, const char *s, size_t n, unsigned flags)
{
	char escape[16];
	unsigned used, len;

	for (size_t i = 0; i < n; i += used) {
		len = shown_as(s + i, n - i, flags, escape, &used);
		if (!len)
			fputs(escape, to);
		else if (len == 1 && strchr("&<>\"'", s[i]))
			fprintf(to, "&#%d;", s[i]);
		else
			fwrite(s + i, 1, len, to);
	}
}

void safe_json_text(FILE *to, const char *s, size_t n, unsigned flags)
{
	char escape[16];
	unsigned used, len;

	fputc('"', to);
	for (size_t i = 0; i < n; i += used) {
		len = shown_as(s + i, n - i, flags, escape, &used);
		if (!len)
			fprintf(to, "\\%s", escape); /* all escapes begin with a backslash */
		else if (len == 1 && (s[i] == '"' || s[i] == '\\'))
			fprintf(to, "\\%c", s[i]);
		else if (len == 1 && (s[i] == '\n' || s[i] == '\t'))
			fputs(s[i] == '\n' ? "\\n" : "\\t", to);
		else if (len == 1 && strchr("<>&", s[i]))
			fprintf(to, "\\u%04x", (unsigned char)s[i]);
		else
			fwrite(s + i, 1, len, to);
	}
	fputc('"', to);
}

void safe_json(FILE *to, const char *line, size_t n)
{
	unsigned len;
	int whole;

	for (size_t i = 0; i < n; i += len) {
		len = text_printable(line + i, n - i);
		if (len) {
			fwrite(line + i, 1, len, to);
			continue;
		}
		whole = utf8_length(line + i, n - i);
		len = whole > 0 ? (unsigned)whole : 1;
		/* What is not UTF-8 is no JSON; it must not be a control either. */
		if (whole > 0)
			fprintf(to, "\\u%04x", code_of(line + i, len));
		else
			fputs("\\ufffd", to);
	}
}
