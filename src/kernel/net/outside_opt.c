/* Options of connections to the outside that the host's TCP should know: those that change what
 * goes over the wire or when. The guest's values are remembered as for all sockets (inet_opt.c),
 * also before there is a connection. */
#include <netinet/tcp.h>

#include "host/sockopt.h"
#include "kernel/net/inet.h"
#include "kernel/net/outside.h"

static const struct {
	int level, opt;
} passed[] = {
#define X(level, opt) { level, opt },
	SOCKOPTS_SET(X)
#undef X
};

/* The value that the host is told. False: it has that already. The gate has set TCP_NODELAY and
 * SO_KEEPALIVE. */
static bool value_of(const struct inet_sock *i, int level, int opt, int32_t *ret_)
{
	if (level == IPPROTO_TCP)
		return inet_opt_changed(i, level, opt, ret_) || opt == TCP_NODELAY;
	switch (opt) {
	case SO_KEEPALIVE:
		*ret_ = i->s.keepalive;
		return true;
	case SO_SNDBUF: /* the host doubles it, as we did */
		*ret_ = (int32_t)(i->s.sndbuf / 2);
		return i->s.sndbuf_set;
	case SO_RCVBUF:
		*ret_ = (int32_t)(i->s.rcvbuf / 2);
		return i->s.rcvbuf_set;
	}
	return false; /* SO_LINGER is for the moment of closing */
}

void outside_pass(struct outside *o, int level, int opt)
{
	int32_t v = 0;

	if (o->state != OUT_OPEN || !o->tcp)
		return;
	for (size_t n = 0; n < ARRAY_LEN(passed); n++) {
		if (passed[n].level != level || passed[n].opt != opt || opt == SO_LINGER)
			continue;
		(void)value_of(o->i, level, opt, &v);
		(void)host_setsockopt(o->fd, level, opt, &v, sizeof(v));
	}
}

void outside_pass_all(struct outside *o)
{
	int32_t v;

	for (size_t n = 0; n < ARRAY_LEN(passed) && o->tcp; n++)
		if (value_of(o->i, passed[n].level, passed[n].opt, &v))
			(void)host_setsockopt(o->fd, passed[n].level, passed[n].opt, &v, sizeof(v));
}
