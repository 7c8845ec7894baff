/* libvivarium: answers and bodies of any size; see vivarium.h. A body goes in chunks, so that its
 * size need not be known. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/inner.h"
#include "client/start.h"

int viv_get_begin(struct viv_client *c, const char *path, struct viv_reply *reply,
		  struct viv_error *error)
{
	*reply = (struct viv_reply){ 0 };
	if (client_ready(c, error) < 0 ||
	    client_head(c, http_send(&c->http, "GET", path, NULL, 0), error) < 0)
		return -1;
	if (c->http.status != 200)
		return client_reply(c, reply, error);
	reply->status = 200;
	return 0;
}

long viv_get_data(struct viv_client *c, void *buf, size_t size, struct viv_error *error)
{
	ssize_t n = http_body(&c->http, buf, size);

	if (n >= 0)
		return n;
	client_drop(c);
	return viv_error_set(error, (int)-n, "vivd broke the answer off");
}

int viv_put_begin(struct viv_client *c, const char *path, struct viv_error *error)
{
	char head[HTTP_HEAD_MAX];
	int n = snprintf(head, sizeof(head),
			 "PUT %s HTTP/1.1\r\nHost: vivd\r\nTransfer-Encoding: chunked\r\n\r\n",
			 path),
	    err;

	if (n >= (int)sizeof(head))
		return viv_error_set(error, ENAMETOOLONG, "the path is too long");
	if (client_ready(c, error) < 0)
		return -1;
	c->cut = false;
	err = http_send_bytes(&c->http, head, (size_t)n);
	return err ? viv_error_set(error, -err, "the connection to vivd broke") : 0;
}

int viv_put_data(struct viv_client *c, const void *data, size_t size, struct viv_error *error)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%zx\r\n", size), err;

	if (!size)
		return 0;
	err = http_send_bytes(&c->http, head, (size_t)n);
	if (!err)
		err = http_send_bytes(&c->http, data, size);
	if (!err)
		err = http_send_bytes(&c->http, "\r\n", 2);
	c->cut = err;
	return err ? viv_error_set(error, -err, "the connection to vivd broke") : 0;
}

int viv_put_end(struct viv_client *c, struct viv_reply *reply, struct viv_error *error)
{
	*reply = (struct viv_reply){ 0 };
	if (client_head(c, c->cut ? -EPIPE : http_send_bytes(&c->http, "0\r\n\r\n", 5), error) < 0)
		return -1;
	return client_reply(c, reply, error);
}
