/* What all answers of a journal need to be shown: texts of the guest on a terminal and in JSON,
 * times, numbers, hashes, command lines. */
#ifndef VIV_JOURNAL_SHOW_H
#define VIV_JOURNAL_SHOW_H

#include <stdio.h>

#include "base/base.h"
#include "wire/journal.h"

/* ---- for people ---- */

/* A text in one line, that cannot steer a terminal; at most max characters and "..."; 0: all. */
void show_text(FILE *to, struct jtext text, size_t max);
/* The words of a command, quoted as a shell wants them. */
void show_words(FILE *to, struct jtext words, size_t max);
/* 12,345 */
const char *show_number(uint64_t n, char out[32]);
/* 1.2 MB */
const char *show_bytes(uint64_t n, char out[32]);
/* 2026-11-18 03:54:23 in UTC; with ms and Z for programs. */
const char *show_time(int64_t wall, char out[40]);
const char *show_time_iso(int64_t wall, char out[40]);
/* 38 ms, 2.31 s, 4 min 10 s, 3 h 2 min */
const char *show_duration(int64_t ns, char out[32]);
void show_hash(FILE *to, const uint8_t *hash);

/* ---- JSON ---- */

/* A text with its quotes. Bytes that are not UTF-8 are replaced; controls and marks that turn the
 * direction of writing are escaped, '<', '>' and '&' as well, so that it can stand in a page. */
void json_put(FILE *to, struct jtext text);
void json_put_inner(FILE *to, struct jtext text); /* without the quotes */
/* ,"name":"text", and ,"name_base64" if it is not UTF-8, so that nothing is lost. Nothing at all if
 * the text is empty. */
void json_put_member(FILE *to, const char *name, struct jtext text);
void json_put_list(FILE *to, const char *name, struct jtext words); /* ,"name":["a","b"] */
void json_put_hash(FILE *to, const char *name, const uint8_t *hash); /* NULL: nothing */

static inline struct jtext text_of(const char *s)
{
	return (struct jtext){ s, (uint32_t)__builtin_strlen(s) };
}

/* The next of the words, which need not end with a NUL. False: there is none. */
bool words_next(struct jtext *rest, struct jtext *word);

/* Does the text equal s? */
bool text_equals(struct jtext text, const char *s);

#endif
