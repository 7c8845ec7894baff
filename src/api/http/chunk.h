/* Output of processes as lines of JSON: bytes that are UTF-8 as "text", others as "base64". */
#ifndef VIV_API_HTTP_CHUNK_H
#define VIV_API_HTTP_CHUNK_H

#include <sys/types.h>

#include "base/base.h"

/* How many bytes can be read for a line that must fit into size bytes; 0: none. */
size_t chunk_room(size_t size);
/* Writes HEAD,"text":"..."}\n (or "base64") to out, which has room for size bytes, chunk_room(size)
 * >= n. head begins the object: {"type":"stdout". How many bytes. *ret_kept: how many bytes at the
 * end of data are the begin of a character and were left out; 0 when last. */
size_t chunk_line(char *out, size_t size, const char *head, const char *data, size_t n, bool last,
		  size_t *ret_kept);

#endif
