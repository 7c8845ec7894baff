/* UTF-8 in bytes that are anybody's. */
#ifndef VIV_BASE_UTF8_H
#define VIV_BASE_UTF8_H

#include "base/base.h"

/* Length of the character at s, of at most n bytes: 0 when it is none, -1 when it is cut off. */
int utf8_length(const char *s, size_t n);
bool text_is_utf8(const char *s, size_t n);
/* How many bytes at the begin of s are whole characters. */
size_t text_utf8_head(const char *s, size_t n);
/* How many bytes at the end of s could be the begin of a character that goes on; 0 to 3. */
size_t text_utf8_tail(const char *s, size_t n);
/* Length of the character at s, of at most n bytes, if a terminal only shows it: 0 for controls of
 * both sets, marks that turn the direction of what follows, and bytes that are no UTF-8. */
unsigned text_printable(const char *s, size_t n);
/* Replaces every other byte by '?', so that anybody's text can be part of a message. */
void text_hide_controls(char *s);
/* A text of at most size bytes as a line of max bytes at most, with its end, that cannot steer a
 * terminal: other bytes are escaped. max: at least 6. */
void text_clean(const char *text, size_t size, char *line, size_t max);

#endif
