/* See learn.h. A rule is made for each destination and way of using it:
 *
 *   allow net api.example.org:443             TLS with the right server name, or HTTP
 *   allow net api.example.org:443 tls=any     TLS with another one
 *   allow net db.example.org:5432 tcp         anything else
 *   allow net 10.1.2.3:5432 tcp               where that name led, if the address is not public
 *   allow net api.example.org:443 GET /v1/x   requests, where the gate saw them
 *
 * Ports of one way come together; 443 and 80 together are what a rule without ports means. Of a
 * host with more than PATHS_MAX paths only the methods are kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "policy/learn.h"
#include "policy/policy.h"

#define PATHS_MAX 32

/* How it was used. The order is that of the rules. */
enum way { WAY_WEB, WAY_REQUEST, WAY_TLS_ANY, WAY_TCP, WAY_UDP, WAY_LOOKUP };

struct learn_use {
	char dest[256]; /* a name, or an address as a rule has it */
	enum way way;
	uint16_t port;
	char method[32], path[256]; /* of WAY_REQUEST */
};

void learn_init(struct learn *l)
{
	*l = (struct learn){ 0 };
}

void learn_fini(struct learn *l)
{
	buf_free(&l->uses);
}

static struct learn_use *use_at(const struct learn *l, size_t i)
{
	return BUF_ITEM(&l->uses, struct learn_use, i);
}

/* ---- reading ---- */

/* As a pattern that matches it. */
static void path_copy(char *to, size_t size, const char *path)
{
	size_t n = 0;

	for (; *path && n + 1 < size; path++)
		to[n++] = strchr("*[]{}\\", *path) || (unsigned char)*path <= ' ' || *path == 0x7f
				  ? '?'
				  : *path;
	to[n] = '\0';
}

static enum way way_of(const struct json *v, uint64_t port)
{
	const char *protocol = json_get_text(v, "protocol");

	if (!port || !protocol)
		return WAY_LOOKUP;
	if (!strcmp(protocol, "udp"))
		return WAY_UDP;
	if (!strcmp(protocol, "tcp"))
		return WAY_TCP;
	if (json_get_text(v, "tls"))
		return WAY_TLS_ANY;
	return json_get_text(v, "method") ? WAY_REQUEST : WAY_WEB;
}

/* Is it a host that a rule can have? The text came a long way. */
static bool dest_is_good(const char *dest)
{
	struct policy p;
	struct err e;
	char line[300];
	bool good;

	if (strpbrk(dest, " \t\r\n#") || strlen(dest) > 253)
		return false;
	snprintf(line, sizeof(line), "allow net %s", dest);
	policy_init(&p);
	good = policy_parse(&p, line, strlen(line), "", 0, 0, &e) == 0 && policy_count(&p) == 1 &&
	       (policy_rule(&p, 0)->net.kind == DEST_NAME ||
		(policy_rule(&p, 0)->net.kind == DEST_RANGE &&
		 policy_rule(&p, 0)->net.range.prefix == 128));
	policy_fini(&p);
	return good;
}

static void use_add(struct learn *l, const char *dest, const struct learn_use *like)
{
	struct learn_use u = *like;

	if (!dest || !dest_is_good(dest))
		return;
	snprintf(u.dest, sizeof(u.dest), strchr(dest, ':') ? "[%.200s]" : "%.253s", dest);
	buf_add(&l->uses, &u, sizeof(u));
}

void learn_add(struct learn *l, const char *json, size_t n)
{
	struct learn_use u = { 0 };
	struct json_doc d;
	struct err e;
	uint64_t port = 0;

	if (json_parse(&d, json, n, &e) < 0)
		return;
	if (!json_get_u64(d.root, "port", &port) || port > UINT16_MAX)
		port = 0;
	u.port = (uint16_t)port;
	u.way = way_of(d.root, port);
	if (u.way == WAY_REQUEST) {
		const char *path = json_get_text(d.root, "path");

		snprintf(u.method, sizeof(u.method), "%.31s", json_get_text(d.root, "method"));
		path_copy(u.path, sizeof(u.path), path && *path == '/' ? path : "/**");
		if (u.method[strspn(u.method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")])
			u.way = WAY_WEB;
	}
	use_add(l, json_get_text(d.root, "name"), &u);
	/* A plain address, or where the name led if that has to be listed. */
	if (u.way == WAY_REQUEST)
		u.way = WAY_WEB;
	if (u.way != WAY_LOOKUP)
		use_add(l, json_get_text(d.root, "address"), &u);
	json_free(&d);
}

/* ---- writing ---- */

static int use_compare(const void *a, const void *b)
{
	const struct learn_use *x = a, *y = b;
	int r = strcmp(x->dest, y->dest);

	if (!r)
		r = (int)x->way - (int)y->way;
	if (!r)
		r = strcmp(x->path, y->path);
	if (!r)
		r = (int)x->port - (int)y->port;
	return r ? r : strcmp(x->method, y->method);
}

/* Is what u needs given by another one to the same place? */
static bool use_is_covered(const struct learn *l, size_t i, size_t from, size_t to)
{
	const struct learn_use *u = use_at(l, i);

	for (size_t k = from; k < to; k++) {
		const struct learn_use *o = use_at(l, k);

		if (u->way == WAY_LOOKUP
			    ? o->way != WAY_LOOKUP
			    : o->way == WAY_TCP && u->way < WAY_TCP && o->port == u->port)
			return true;
	}
	return false;
}

static void ports_write(struct buf *to, const struct buf *ports)
{
	unsigned n = (unsigned)BUF_COUNT(ports, uint16_t);
	const uint16_t *p = (const void *)ports->p;
	char text[32];

	/* They are sorted. */
	if (n == 2 && p[0] == 80 && p[1] == 443)
		return;
	for (unsigned i = 0; i < n; i++) {
		unsigned last = i;

		while (last + 1 < n && p[last + 1] == p[last] + 1)
			last++;
		snprintf(text, sizeof(text), last > i ? "%s%u-%u" : "%s%u", i ? "," : ":", p[i],
			 p[last]);
		buf_add_text(to, text);
		i = last;
	}
}

static const char *const way_words[] = {
	[WAY_WEB] = "", [WAY_TLS_ANY] = " tls=any", [WAY_TCP] = " tcp", [WAY_UDP] = " udp"
};

/* The ports of one way of using a place, in rules of POLICY_MAX_PORTS each. */
static void way_write(const struct learn *l, size_t from, size_t to, enum way way, struct buf *out)
{
	struct buf ports = { 0 };
	uint16_t before = 0;

	for (size_t i = from; i <= to; i++) {
		const struct learn_use *u = i < to ? use_at(l, i) : NULL;

		if (u && (u->way != way || u->port == before || use_is_covered(l, i, from, to)))
			continue;
		if (ports.len && (!u || BUF_COUNT(&ports, uint16_t) == POLICY_MAX_PORTS)) {
			buf_add_text(out, "allow net ");
			buf_add_text(out, use_at(l, from)->dest);
			ports_write(out, &ports);
			buf_add_text(out, way_words[way]);
			buf_add_text(out, "\n");
			ports.len = 0;
		}
		if (u)
			buf_add(&ports, &u->port, sizeof(u->port));
		before = u ? u->port : 0;
	}
	buf_free(&ports);
}

/* Requests: one rule for each path and port, with its methods. */
static void requests_write(struct learn *l, size_t from, size_t to, struct buf *out)
{
	unsigned paths = 0;
	char port[16];

	for (size_t i = from; i < to; i++)
		paths += use_at(l, i)->way == WAY_REQUEST &&
			 (i == from || strcmp(use_at(l, i)->path, use_at(l, i - 1)->path) != 0);
	if (paths > PATHS_MAX) {
		for (size_t i = from; i < to; i++)
			use_at(l, i)->path[0] = '\0';
		qsort(use_at(l, from), to - from, sizeof(struct learn_use), use_compare);
	}
	for (size_t i = from; i < to;) {
		const struct learn_use *u = use_at(l, i);
		unsigned n = 0;

		if (u->way != WAY_REQUEST || use_is_covered(l, i, from, to)) {
			i++;
			continue;
		}
		snprintf(port, sizeof(port), ":%u", u->port);
		buf_add_text(out, "allow net ");
		buf_add_text(out, u->dest);
		buf_add_text(out, port);
		for (;
		     i < to && use_at(l, i)->way == WAY_REQUEST && use_at(l, i)->port == u->port &&
		     !strcmp(use_at(l, i)->path, u->path) && n < POLICY_MAX_METHODS;
		     i++) {
			if (n && !strcmp(use_at(l, i)->method, use_at(l, i - 1)->method))
				continue;
			buf_add_text(out, n++ ? "," : " ");
			buf_add_text(out, use_at(l, i)->method);
		}
		if (u->path[0]) {
			buf_add_text(out, " ");
			buf_add_text(out, u->path);
		}
		buf_add_text(out, "\n");
	}
}

void learn_write(struct learn *l, struct buf *to)
{
	size_t n = BUF_COUNT(&l->uses, struct learn_use), end;

	if (n)
		qsort(l->uses.p, n, sizeof(struct learn_use), use_compare);
	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && !strcmp(use_at(l, end)->dest, use_at(l, i)->dest);)
			end++;
		way_write(l, i, end, WAY_WEB, to);
		requests_write(l, i, end, to);
		way_write(l, i, end, WAY_TLS_ANY, to);
		way_write(l, i, end, WAY_TCP, to);
		way_write(l, i, end, WAY_UDP, to);
	}
	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && !strcmp(use_at(l, end)->dest, use_at(l, i)->dest);)
			end++;
		if (use_at(l, i)->way != WAY_LOOKUP)
			continue;
		buf_add_text(to, "# looked up, but never connected to: ");
		buf_add_text(to, use_at(l, i)->dest);
		buf_add_text(to, "\n");
	}
}
