/* See output.h. */
#include "daemon/state/output.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

json_t *output_text(const char *p, size_t n, size_t max)
{
	struct buf b = { 0 };
	json_t *v;

	n = MIN(n, max);
	while (n) {
		size_t good = text_utf8_head(p, n);

		buf_add(&b, p, good);
		p += good;
		n -= good;
		if (n) {
			buf_add(&b, "?", 1);
			p++;
			n--;
		}
	}
	v = json_stringn(b.len ? (char *)b.p : "", b.len);
	buf_free(&b);
	return v ? v : json_string("");
}

/* Whether readers with bounds of their own (jq, viv) take it. */
static bool is_shallow(const json_t *v, unsigned depth)
{
	const json_t *item;
	const char *key;
	size_t i;

	if (depth > OUTPUT_DEPTH)
		return false;
	json_array_foreach(v, i, item)
		if (!is_shallow(item, depth + 1))
			return false;
	json_object_foreach((json_t *)(uintptr_t)v, key, item)
		if (!is_shallow(item, depth + 1))
			return false;
	return true;
}

json_t *output_value(char *p, size_t n)
{
	json_t *v = NULL;

	while (n && (p[n - 1] == '\n' || p[n - 1] == '\r'))
		n--;
	if (n && strchr("{[\"-0123456789tfn", p[0]))
		v = json_loadb(p, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	if (v && !is_shallow(v, 0)) {
		json_decref(v);
		v = NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (!p[i])
			p[i] = '?';
	return v ? v : output_text(n ? p : "", n, n);
}
