/* The listener of previews: at 127.0.0.1 only, whatever vivd's API listens at. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "base/buf.h"
#include "daemon/previews/proxy.h"

#define SWEEP_MS 1000

static uv_tcp_t *listener; /* NULL: nobody listens */
static uv_timer_t sweep;
static struct daemon *daemon_of;

static void listener_closed(uv_handle_t *h)
{
	free(h);
}

static void on_sweep(uv_timer_t *t)
{
	(void)t;
	if (conns_count())
		conns_close("", time_now());
}

static void on_connection(uv_stream_t *s, int status)
{
	if (!status)
		conn_accept(daemon_of, s);
}

int preview_listen(struct daemon *d, uint16_t port, uint16_t *ret_port, struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int len = sizeof(a), err;
	uv_tcp_t *new = xalloc(sizeof(*new));

	daemon_of = d;
	uv_tcp_init(&d->loop, new);
	err = uv_tcp_bind(new, (struct sockaddr *)&a, 0);
	if (!err)
		err = uv_listen((uv_stream_t *)new, 512, on_connection);
	if (!err)
		err = uv_tcp_getsockname(new, (struct sockaddr *)&a, &len);
	if (err) {
		uv_close((uv_handle_t *)new, listener_closed);
		return err_set(e, ERR_FAILED, "cannot serve previews at 127.0.0.1:%u: %s", port,
			       uv_strerror(err));
	}
	*ret_port = ntohs(a.sin_port);
	uv_timer_init(&d->loop, &sweep);
	uv_timer_start(&sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	uv_unref((uv_handle_t *)&sweep);
	listener = new;
	return 0;
}

void preview_listen_end(void)
{
	if (!listener)
		return;
	uv_close((uv_handle_t *)listener, listener_closed);
	listener = NULL;
	uv_close((uv_handle_t *)&sweep, NULL);
	conns_close(NULL, 0);
}

void preview_drop(const char *id)
{
	conns_close(id, 0);
}
