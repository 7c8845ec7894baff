/* The little of HTTP/1.1 that a client of vivd needs: a request with a known body, and a reply
 * whose body has a length, comes in chunks, or ends with the connection. */
#ifndef VIV_CLIENT_HTTP_H
#define VIV_CLIENT_HTTP_H

#include <sys/types.h>

#include "base/base.h"

#define HTTP_HEAD_MAX 16384

struct http {
	int fd;
	char in[65536];
	size_t at, len; /* what was read and not used yet: in[at, len) */
	/* of the reply that is being read */
	int status;
	bool chunked, until_end, close;
	bool nowait; /* reads return -EAGAIN instead of waiting, and can be repeated */
	uint64_t left; /* of the body, or of the chunk */
	bool body_done;
};

/* 0 or -errno. */
int must_check http_send(struct http *h, const char *method, const char *path, const char *body,
			 size_t size);
/* Bytes as they are: 0 or -errno. */
int must_check http_send_bytes(struct http *h, const char *data, size_t size);
/* The head of the reply. -EPROTO: that is no HTTP; -EPIPE: the connection ended. */
int must_check http_head(struct http *h);
/* Some bytes of the body: how many, 0 at its end, or -errno. */
ssize_t must_check http_body(struct http *h, char *buf, size_t size);

#endif
