/* Bytes from the network and back: percent-encoding, lists, numbers. Nothing here trusts its
 * input. */
#ifndef VIV_API_HTTP_TEXT_H
#define VIV_API_HTTP_TEXT_H

#include <sys/types.h>

#include "base/base64.h"
#include "base/utf8.h"

/* Decodes %XX in place. False: a broken escape, a NUL, or a result that is not UTF-8. */
bool text_unescape(char *s);
/* The same for bytes that need not be UTF-8, such as names of files. */
bool text_decode(char *s);
/* The parts of a path between its slashes, in place: how many, or -1 when there are more than max.
 * "/" has none. */
int text_split_path(char *path, char **parts, int max);
/* A whole number that is all of s, not above max. */
bool text_number(const char *s, uint64_t max, uint64_t *ret);
/* "Bearer TOKEN" as HTTP has it: where TOKEN begins, or NULL. */
const char *text_bearer(const char *header);

/* The item of a list with commas, as headers have them, that is word; a word that ends with a dot
 * is the begin of one. Case does not count. A copy, or NULL: none (or no memory). */
char *text_list_find(const char *list, const char *word);

#endif
