/* See show.h. */
#include "journal/show.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/safetext.h"
#include "base/utf8.h"

void show_text(FILE *to, struct jtext text, size_t max)
{
	if (text.n && safe_print(to, text.p, text.n, SAFE_LINE | SAFE_SEEN, max) < text.n)
		fputs("...", to);
}

bool words_next(struct jtext *rest, struct jtext *word)
{
	const char *end;

	if (!rest->n)
		return false;
	end = memchr(rest->p, 0, rest->n);
	word->p = rest->p;
	word->n = end ? (uint32_t)(end - rest->p) : rest->n;
	rest->p += MIN(word->n + 1, rest->n);
	rest->n -= MIN(word->n + 1, rest->n);
	return true;
}

bool text_equals(struct jtext text, const char *s)
{
	return text.n == strlen(s) && !memcmp(text.p, s, text.n);
}

static bool is_plain(struct jtext word)
{
	for (uint32_t i = 0; i < word.n; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "+,-./:=@_%^",
			    word.p[i]) ||
		    !word.p[i])
			return false;
	return word.n;
}

/* In quotation marks, those in it as a shell wants them. */
static void quoted_show(FILE *to, struct jtext word, size_t max)
{
	fputc('\'', to);
	for (;;) {
		const char *mark = word.n ? memchr(word.p, '\'', word.n) : NULL;
		struct jtext part = { word.p, mark ? (uint32_t)(mark - word.p) : word.n };

		show_text(to, part, max);
		if (!mark || (max && part.n >= max))
			break;
		fputs("'\\''", to);
		max -= max ? part.n : 0;
		word.p += part.n + 1;
		word.n -= part.n + 1;
	}
	fputc('\'', to);
}

void show_words(FILE *to, struct jtext words, size_t max)
{
	struct jtext word;
	size_t shown = 0;

	for (bool first = true; words_next(&words, &word); first = false) {
		if (!first)
			fputc(' ', to);
		if (max && shown >= max) {
			fputs("...", to);
			break;
		}
		if (is_plain(word))
			show_text(to, word, max ? max - shown : 0);
		else
			quoted_show(to, word, max ? max - shown : 0);
		shown += word.n + 1;
	}
}

const char *show_number(uint64_t n, char out[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), k = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[k++] = ',';
		out[k++] = digits[i];
	}
	out[k] = 0;
	return out;
}

const char *show_bytes(uint64_t n, char out[32])
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
	double x = (double)n;
	unsigned u = 0;

	for (; x >= 999.5 && u + 1 < ARRAY_LEN(units); u++)
		x /= 1000;
	snprintf(out, 32, u && x < 9.95 ? "%.1f %s" : "%.0f %s", x, units[u]);
	return out;
}

static struct tm tm_of(int64_t wall)
{
	time_t s = (time_t)(wall / NSEC_PER_SEC);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	return tm;
}

const char *show_time(int64_t wall, char out[40])
{
	struct tm tm = tm_of(wall);

	if (!strftime(out, 40, "%Y-%m-%d %H:%M:%S", &tm))
		strcpy(out, "?");
	return out;
}

const char *show_time_iso(int64_t wall, char out[40])
{
	struct tm tm = tm_of(MAX(wall, 0));
	char ms[8];

	if (!strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(out, "1970-01-01T00:00:00");
	snprintf(ms, sizeof(ms), ".%03uZ",
		 (unsigned)(MAX(wall, 0) % NSEC_PER_SEC / 1000000) % 1000);
	strcat(out, ms);
	return out;
}

const char *show_duration(int64_t ns, char out[32])
{
	int64_t s = MAX(ns, 0) / NSEC_PER_SEC;

	if (s < 1)
		snprintf(out, 32, "%d ms", (int)(MAX(ns, 0) / 1000000));
	else if (s < 60)
		snprintf(out, 32, "%.2f s", (double)ns / NSEC_PER_SEC);
	else if (s < 3600)
		snprintf(out, 32, "%d min %d s", (int)(s / 60), (int)(s % 60));
	else
		snprintf(out, 32, "%" PRId64 " h %d min", s / 3600, (int)(s % 3600 / 60));
	return out;
}

void show_hash(FILE *to, const uint8_t *hash)
{
	for (unsigned i = 0; i < JOURNAL_HASH; i++)
		fprintf(to, "%02x", hash[i]);
}

/* ---- JSON ---- */

/* Characters that stand for themselves: most of what there is. */
static uint32_t plain_run(const char *s, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' && s[i] != '<' &&
	       s[i] != '>' && s[i] != '&')
		i++;
	return i;
}

void json_put_inner(FILE *to, struct jtext text)
{
	for (uint32_t i = 0; i < text.n;) {
		uint32_t run = plain_run(text.p + i, text.n - i);
		const char *s = text.p + i + run;
		unsigned char c;
		unsigned len;
		int whole;

		if (run)
			fwrite(text.p + i, 1, run, to);
		i += run;
		if (i == text.n)
			break;
		c = (unsigned char)*s;
		len = text_printable(s, text.n - i);
		if (len == 1 && strchr("\"\\", c)) {
			fprintf(to, "\\%c", c);
		} else if (len == 1 && strchr("<>&", c)) {
			fprintf(to, "\\u%04x", c);
		} else if (len) {
			fwrite(s, 1, len, to);
		} else if ((whole = utf8_length(s, text.n - i)) > 0) {
			/* Controls: both sets are below U+100, the marks have three bytes. */
			len = (unsigned)whole;
			fprintf(to, "\\u%04x",
				len == 1   ? c
				: len == 2 ? (c & 31u) << 6 | ((unsigned char)s[1] & 63u)
					   : (c & 15u) << 12 | ((unsigned char)s[1] & 63u) << 6 |
						     ((unsigned char)s[2] & 63u));
		} else {
			fputs("\\ufffd", to);
			len = 1;
		}
		i += len;
	}
}

void json_put(FILE *to, struct jtext text)
{
	fputc('"', to);
	json_put_inner(to, text);
	fputc('"', to);
}

static void base64_put(FILE *to, struct jtext text)
{
	char out[BASE64_SIZE(768)];

	while (text.n) {
		uint32_t n = MIN(text.n, 768u);

		base64_encode(out, text.p, n);
		fwrite(out, 1, BASE64_SIZE(n), to);
		text.p += n;
		text.n -= n;
	}
}

void json_put_member(FILE *to, const char *name, struct jtext text)
{
	if (!text.n)
		return;
	fprintf(to, ",\"%s\":", name);
	json_put(to, text);
	if (!text_is_utf8(text.p, text.n)) {
		fprintf(to, ",\"%s_base64\":\"", name);
		base64_put(to, text);
		fputc('"', to);
	}
}

void json_put_list(FILE *to, const char *name, struct jtext words)
{
	struct jtext word;

	fprintf(to, ",\"%s\":[", name);
	for (bool first = true; words_next(&words, &word); first = false) {
		if (!first)
			fputc(',', to);
		json_put(to, word);
	}
	fputc(']', to);
}

void json_put_hash(FILE *to, const char *name, const uint8_t *hash)
{
	if (!hash)
		return;
	fprintf(to, ",\"%s\":\"", name);
	show_hash(to, hash);
	fputc('"', to);
}
