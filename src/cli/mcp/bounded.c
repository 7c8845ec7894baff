/* Bytes of cells, which may be many: see mcp.h. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

void bounded_init(struct bounded *b, size_t max)
{
	*b = (struct bounded){ .max = MAX(max / 2, (size_t)1) };
	b->head = xalloc(b->max);
	b->tail = xalloc(b->max);
}

void bounded_add(struct bounded *b, const char *data, size_t n)
{
	size_t some = MIN(n, b->max - b->nhead);

	memcpy(b->head + b->nhead, data, some);
	b->nhead += some;
	b->total += n;
	data += some;
	n -= some;
	/* Of more than it holds, only the end counts. */
	if (n > b->max) {
		b->ntail += n - b->max;
		data += n - b->max;
		n = b->max;
	}
	for (size_t i = 0; i < n; i++)
		b->tail[b->ntail++ % b->max] = data[i];
}

bool bounded_is_cut(const struct bounded *b)
{
	return b->ntail > b->max;
}

char *bounded_text(const struct bounded *b, size_t *ret_len)
{
	size_t kept = (size_t)MIN(b->ntail, (uint64_t)b->max);
	uint64_t missing = b->ntail - kept;
	char *text = xalloc(b->nhead + kept + 128);
	size_t n = b->nhead, at, lost = 0;

	memcpy(text, b->head, n);
	/* No half of a character before the note, and none after it. */
	if (missing) {
		lost = text_utf8_tail(text, n);
		n -= lost;
		while (kept && ((unsigned char)b->tail[(b->ntail - kept) % b->max] & 0xc0) == 0x80)
			kept--;
		missing = b->ntail - kept + lost;
		n += (size_t)sprintf(text + n, "\n[... %llu bytes left out ...]\n",
				     (unsigned long long)missing);
	}
	for (at = 0; at < kept; at++)
		text[n++] = b->tail[(b->ntail - kept + at) % b->max];
	text[n] = '\0';
	*ret_len = n;
	return text;
}

void bounded_fini(struct bounded *b)
{
	free(b->head);
	free(b->tail);
}

const char *entry_bytes(const struct json *entry, size_t *ret_len)
{
	const struct json *coded = json_get(entry, "base64", JSON_TEXT),
			  *text = json_get(entry, "text", JSON_TEXT);
	ssize_t n;

	*ret_len = 0;
	if (coded) {
		n = base64_decode(coded->text, coded->text, strlen(coded->text));
		*ret_len = (size_t)MAX(n, 0);
		return coded->text;
	}
	*ret_len = text ? strlen(text->text) : 0;
	return text ? text->text : "";
}

int bytes_get(const char *path, uint64_t skip, size_t max, struct buf *b, bool *ret_more,
	      struct err *e)
{
	struct viv_client *c;
	struct viv_error error;
	char data[65536];
	long n;

	*ret_more = false;
	if (vivd_get(path, &c, e) < 0)
		return -1;
	while ((n = viv_get_data(c, data, sizeof(data), &error)) > 0) {
		uint64_t gone = MIN(skip, (uint64_t)n);
		size_t some = (size_t)n - (size_t)gone, room = max - b->len;

		skip -= gone;
		buf_add(b, data + gone, MIN(some, room));
		*ret_more = some > room;
		if (*ret_more) {
			vivd_disconnect(); /* of the rest, nothing is wanted */
			return 0;
		}
	}
	return n < 0 ? viv_error_get(&error, e) : 0;
}
