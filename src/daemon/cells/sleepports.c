/* See sleepports.h. */
#include "daemon/cells/sleepports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/sleep.h"
#include "daemon/state/fields.h"
#include "keeper/portsocket.h"

#define AGAIN_MS 1000 /* after a wake that could not begin */

struct port_poll {
	uv_poll_t poll; /* first */
	struct cell *c;
};

struct sleep_ports {
	unsigned n;
	int fds[PORTS_MAX];
	struct port_poll *polls[PORTS_MAX]; /* NULL: nobody looks at it */
	uv_timer_t *again;
	struct cell_waker waker;
	bool waking;
};

static void handle_closed(uv_handle_t *h)
{
	free(h);
}

static struct sleep_ports *ports_of(struct cell *c)
{
	if (!c->ports_held)
		c->ports_held = xalloc(sizeof(*c->ports_held));
	return c->ports_held;
}

/* ---- somebody comes ---- */

static void polls_stop(struct sleep_ports *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->polls[i]) {
			uv_close((uv_handle_t *)&p->polls[i]->poll, handle_closed);
			p->polls[i] = NULL;
		}
	if (p->again)
		uv_close((uv_handle_t *)p->again, handle_closed);
	p->again = NULL;
}

static void on_again(uv_timer_t *t)
{
	struct cell *c = t->data;

	polls_stop(c->ports_held);
	sleep_ports_follow(c);
}

static void woken(struct cell_waker *w, struct cell *c, const struct err *e)
{
	struct sleep_ports *p = container_of(w, struct sleep_ports, waker);

	p->waking = false;
	if (!e)
		return;
	log_warn("a connection does not wake its cell: %s", err_line(e).str);
	/* Whoever waits in the queue is not looked at all the time. */
	if (!c || c->state != CELL_SLEEPING)
		return;
	p->again = xalloc(sizeof(*p->again));
	uv_timer_init(&c->d->loop, p->again);
	p->again->data = c;
	uv_timer_start(p->again, on_again, AGAIN_MS, 0);
}

static void on_port(uv_poll_t *h, int status, int events)
{
	struct cell *c = ((struct port_poll *)h)->c;
	struct sleep_ports *p = c->ports_held;

	(void)status;
	(void)events;
	polls_stop(p);
	if (p->waking)
		return;
	p->waking = true;
	cell_wake(c, &p->waker, "port", woken);
}

static void polls_start(struct cell *c, struct sleep_ports *p)
{
	for (unsigned i = 0; i < p->n && !p->waking; i++) {
		struct port_poll *x;

		if (p->polls[i])
			continue;
		x = xalloc(sizeof(*x));
		x->c = c;
		if (uv_poll_init(&c->d->loop, &x->poll, p->fds[i])) {
			free(x);
			continue;
		}
		p->polls[i] = x;
		uv_poll_start(&x->poll, UV_READABLE, on_port);
	}
}

/* ---- the sockets ---- */

void sleep_ports_take(struct cell *c, int *fds, unsigned nfds)
{
	struct sleep_ports *p = ports_of(c);

	for (unsigned i = 0; i < nfds; i++)
		if (p->n < PORTS_MAX)
			p->fds[p->n++] = fds[i];
		else
			close(fds[i]);
}

unsigned sleep_ports_give(struct cell *c, int fds[PORTS_MAX])
{
	struct sleep_ports *p = c->ports_held;
	unsigned n = p ? p->n : 0;

	if (!n)
		return 0;
	polls_stop(p);
	memcpy(fds, p->fds, n * sizeof(*fds));
	p->n = 0;
	sleep_ports_free(c);
	return n;
}

void sleep_ports_free(struct cell *c)
{
	struct sleep_ports *p = c->ports_held;

	if (!p)
		return;
	polls_stop(p);
	if (p->waking)
		cell_wake_cancel(&p->waker);
	while (p->n)
		close(p->fds[--p->n]);
	free(p);
	c->ports_held = NULL;
}

/* One of a list, as KEEP_PORTS has them. */
static json_t *port_json(const struct ip *addr, unsigned host, unsigned cell, bool udp)
{
	return json_pack("{s:s,s:i,s:i,s:s}", "address", ip_text(addr).str, "host_port", (int)host,
			 "cell_port", (int)cell, "protocol", udp ? "udp" : "tcp");
}

/* What the settings say, where no keeper has said more. */
static json_t *ports_wanted(const struct cell *c)
{
	json_t *list = json_array(), *text;
	struct published r;
	struct err e;
	size_t i;

	json_array_foreach(json_object_get(c->spec, "ports"), i, text) {
		if (ports_parse("ports", json_string_value(text), &r, &e) < 0)
			continue;
		for (unsigned k = 0; k < r.count && json_array_size(list) < PORTS_MAX; k++)
			json_array_append_new(list, port_json(&r.addr, r.host ? r.host + k : 0,
							      r.cell + k, r.udp));
	}
	return list;
}

static int port_listen(json_t *o, struct err *e)
{
	uint16_t port = (uint16_t)json_integer_value(json_object_get(o, "host_port"));
	const char *protocol = json_text(o, "protocol"), *address = json_text(o, "address");
	struct ip ip;
	int fd;

	if (!protocol || !address || !ip_parse(address, &ip))
		return err_set(e, ERR_FAILED, "a port of the cell is damaged");
	fd = port_socket_open(&ip, &port, !strcmp(protocol, "udp"), e);
	if (fd >= 0)
		json_object_set_new(o, "host_port", json_integer(port));
	return fd;
}

/* Those that no keeper handed over. The first that cannot be opened ends it: they are known by
 * their order, and its next keeper says what is wrong with it. */
static void ports_listen(struct cell *c)
{
	struct sleep_ports *p;
	struct err e;
	char *text;
	int fd;

	if (!c->ports || !json_array_size(c->ports)) {
		json_decref(c->ports);
		c->ports = ports_wanted(c);
	}
	p = ports_of(c);
	while (p->n < json_array_size(c->ports) && p->n < PORTS_MAX) {
		fd = port_listen(json_array_get(c->ports, p->n), &e);
		if (fd < 0) {
			log_warn("cell %s sleeps, and its ports do not wake it: %s", c->id,
				 err_line(&e).str);
			event_add(c->d, "warning", c->id,
				  json_pack("{s:s}", "text", err_line(&e).str));
			break;
		}
		p->fds[p->n++] = fd;
	}
	text = json_dumps(c->ports, JSON_COMPACT);
	db_run(&c->d->db, NULL, "UPDATE cells SET ports=? WHERE id=?", "tt", text ? text : "",
	       c->id);
	free(text);
}

void sleep_ports_follow(struct cell *c)
{
	if (c->state == CELL_SLEEPING && json_array_size(json_object_get(c->spec, "ports"))) {
		if (!ports_of(c)->waking)
			ports_listen(c);
		polls_start(c, c->ports_held);
	} else if (c->ports_held && (c->state == CELL_STARTING || c->state == CELL_STOPPING)) {
		polls_stop(c->ports_held);
	} else {
		sleep_ports_free(c);
	}
}

void sleep_ports_change(struct cell *c)
{
	sleep_ports_free(c);
	json_decref(c->ports);
	c->ports = NULL;
	sleep_ports_follow(c);
}
