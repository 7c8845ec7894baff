/* The server's connection of an opened one, made once more; see open.h.
 *
 * A request may wait for hours until the operator has answered. No server keeps a connection open
 * for as long, and some network in between may have forgotten it without a word. The name is looked
 * up and its address checked again, as for every connection; the server has to speak the version of
 * HTTP that the client was offered. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gate/record.h"

#define REDIAL_MS 30000 /* all of it */

void server_broken(struct opened *o, unsigned status, const char *why)
{
	o->broken_status = status;
	snprintf(o->broken, sizeof(o->broken), "%.250s", why);
	opened_drop_server(o);
}

void opened_drop_server(struct opened *o)
{
	end_fini(&o->ends[SERVER]);
	o->ends[SERVER] = (struct end){ .w = { .fd = -1, .ready = server_ready } };
	o->told[SERVER] = false;
	o->drop = false;
}

void redial_fini(struct opened *o)
{
	if (o->lookup)
		lookup_cancel(o->lookup);
	o->lookup = NULL;
	alarm_clear(&o->redial_late);
	o->redial = REDIAL_NOT;
}

static void redial_end(struct opened *o, unsigned status, const char *why)
{
	redial_fini(o);
	if (why)
		server_broken(o, status, why);
	else
		o->broken_status = 0;
	o->protocol->redialed(o);
	alarm_set(&o->again, 0);
}

static void redial_late(struct alarm *a)
{
	redial_end(container_of(a, struct opened, redial_late), 504,
		   "the server cannot be reached in time");
}

static void redial_connect(struct opened *o)
{
	int fd = address_socket(&o->addr);
	int err = fd < 0 ? fd : address_connect(fd, &o->addr, o->port);

	if (fd >= 0)
		o->ends[SERVER].w.fd = fd;
	if (err && err != -EINPROGRESS) {
		redial_end(o, 502, strerror(-err));
		return;
	}
	o->redial = REDIAL_CONNECT;
	watch_set(&o->ends[SERVER].w, EPOLLOUT);
}

static void found(void *arg, const struct ip *addrs, unsigned n, uint32_t ttl, bool exists,
		  const char *why)
{
	struct opened *o = arg;
	const struct ip *best = NULL;

	(void)ttl;
	(void)exists;
	o->lookup = NULL;
	for (unsigned i = 0; i < n; i++)
		if (opened_may_reach(o, &addrs[i]) &&
		    (!best || !memcmp(&addrs[i], &o->addr, sizeof(o->addr))))
			best = &addrs[i];
	if (!best) {
		redial_end(o, 502, why ? why : "its address is not allowed any more");
		return;
	}
	o->addr = *best;
	redial_connect(o);
}

void opened_redial(struct opened *o)
{
	opened_drop_server(o);
	o->redial_late.run = redial_late;
	alarm_set(&o->redial_late, REDIAL_MS);
	if (!o->is_name) {
		redial_connect(o);
		return;
	}
	o->redial = REDIAL_LOOKUP;
	o->lookup = lookup_new(o->name, true, true, found, o);
	if (!o->lookup)
		alarm_set(&o->redial_late, 0);
}

/* The server sees another connection. */
static void redial_record(const struct opened *o)
{
	record_connect(&(struct record_connection){ .number = o->number,
						    .pid = o->pid,
						    .program = o->program,
						    .name = o->is_name ? o->name : "",
						    .addr = &o->addr,
						    .port = o->port },
		       "allow", NULL, "made once more");
}

void redial_run(struct opened *o)
{
	struct end *s = &o->ends[SERVER];
	struct err e = { 0 };
	int r;

	if (o->redial == REDIAL_CONNECT) {
		r = address_connect(s->w.fd, &o->addr, o->port);
		if (r == -EALREADY || r == -EINPROGRESS)
			return;
		if (r && r != -EISCONN) {
			redial_end(o, 502, strerror(-r));
			return;
		}
		redial_record(o);
		if (!o->tls) {
			redial_end(o, 0, NULL);
			return;
		}
		if (end_tls_client(s, o->name, o->protocol == &h2_protocol, &e) < 0) {
			redial_end(o, 502, err_line(&e).str);
			return;
		}
		o->redial = REDIAL_TLS;
	}
	if (o->redial != REDIAL_TLS)
		return;
	r = end_handshake(s, &e);
	if (r < 0)
		redial_end(o, 502, err_line(&e).str);
	else if (r && end_is_http2(s) != (o->protocol == &h2_protocol))
		redial_end(o, 502, "the server speaks another version of HTTP than before");
	else if (r)
		redial_end(o, 0, NULL);
}
