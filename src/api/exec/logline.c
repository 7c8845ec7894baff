/* See logline.h. */
#include "api/exec/logline.h"

#include <stdio.h>

#include "api/http/chunk.h"
#include "base/utf8.h"

ssize_t follow_line(struct follow *f, const char *head, bool cursor, char *buf, size_t size)
{
	struct log_reader *r = &f->reader;
	size_t n = r->len - r->given, room = chunk_room(size), kept;
	char whole[128];
	const char *data = r->data + r->given;

	/* A character stays in one piece if it is in one record. */
	if (n > room)
		n = room - text_utf8_tail(data, room);
	if (!n)
		return 0;
	if (cursor)
		snprintf(whole, sizeof(whole), "%s,\"cursor\":%llu", head,
			 (unsigned long long)(r->position + n));
	else
		snprintf(whole, sizeof(whole), "%s", head);
	log_reader_take(r, n);
	return (ssize_t)chunk_line(buf, size, whole, data, n, true, &kept);
}
