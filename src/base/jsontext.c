/* See jsontext.h. */
#include "base/jsontext.h"

#include <string.h>

#include "base/utf8.h"

void json_bytes(FILE *to, const char *text, size_t len)
{
	fputc('"', to);
	while (len) {
		int n = utf8_length(text, len);
		unsigned char c = (unsigned char)*text;

		if (n <= 0)
			fputs("\\ufffd", to);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else
			fwrite(text, 1, (size_t)n, to);
		n = n > 0 ? n : 1;
		text += n;
		len -= (size_t)n;
	}
	fputc('"', to);
}

void json_quoted(FILE *to, const char *text)
{
	json_bytes(to, text, strlen(text));
}

/* ---- into memory ---- */

void json_text_add(struct buf *b, const char *text)
{
	buf_add(b, "\"", 1);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char esc[8];

		if (c == '"' || c == '\\') {
			buf_add(b, "\\", 1);
			buf_add(b, text, 1);
		} else if (c < ' ' || c == 0x7f) {
			snprintf(esc, sizeof(esc), "\\u%04x", c);
			buf_add(b, esc, 6);
		} else {
			buf_add(b, text, 1);
		}
	}
	buf_add_text(b, "\"");
}

void json_member_add(struct buf *b, const char *name, const char *value)
{
	/* buf_add_text's NUL is not counted. */
	if (b->len && b->p[b->len - 1] != '{' && b->p[b->len - 1] != '[')
		buf_add_text(b, ",");
	if (name) {
		json_text_add(b, name);
		buf_add_text(b, ":");
	}
	if (value)
		buf_add_text(b, value);
}

void json_member_text(struct buf *b, const char *name, const char *text)
{
	if (!text)
		return;
	json_member_add(b, name, NULL);
	json_text_add(b, text);
}

void json_member_number(struct buf *b, const char *name, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	json_member_add(b, name, text);
}

void json_member_seconds(struct buf *b, const char *name, int64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%.9g", (double)ns / NSEC_PER_SEC);
	json_member_add(b, name, text);
}
