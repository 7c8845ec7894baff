/* Texts of agents on a terminal, in Markdown and in HTML. An agent's text is anybody's: control
 * characters, escape sequences and marks that turn the direction of writing are shown as \x1b and
 * the like and never reach a terminal as they are. */
#ifndef VIV_BASE_SAFETEXT_H
#define VIV_BASE_SAFETEXT_H

#include <stdio.h>

#include "base/base.h"

#define SAFE_LINE 1 /* one line: line ends and tabs are shown as \n and \t */
#define SAFE_SEEN 2 /* characters that take no room are shown as \u200b: a person decides by it */

/* Returns how many bytes of s were shown. max: at most so many characters are; 0: all. */
size_t safe_print(FILE *to, const char *s, size_t n, unsigned flags, size_t max);
/* Names and contents of files, which need not be text: of what cannot be shown, each byte is \x1b
 * and the like, but for those of allowed. */
void safe_bytes(FILE *to, const char *s, size_t n, const char *allowed);
/* As safe_print, with &, <, >, " and ' escaped, for HTML. */
void safe_html(FILE *to, const char *s, size_t n, unsigned flags);
/* What safe_print shows as a text of JSON, with its quotes; <, > and & are escaped, so that it can
 * stand in a page. */
void safe_json_text(FILE *to, const char *s, size_t n, unsigned flags);
/* JSON as it was read, but controls that JSON allows in texts are written as \u009b. */
void safe_json(FILE *to, const char *line, size_t n);

#endif
