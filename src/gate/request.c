/* What a request must be like to be sent on, and the answers to those that are not; see open.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "gate/control.h"
#include "gate/record.h"

void refusal_set(struct refusal *r, unsigned status, const char *code, const char *fmt, ...)
{
	va_list ap;

	*r = (struct refusal){ .status = status, .code = code };
	va_start(ap, fmt);
	vsnprintf(r->message, sizeof(r->message), fmt, ap);
	va_end(ap);
}

void refusal_server(struct opened *o, struct refusal *r)
{
	refusal_set(r, o->broken_status ? o->broken_status : 502, "bad_gateway", "%s: %s", o->name,
		    o->broken);
	if (r->status == 504)
		r->code = "gateway_timeout";
	if (strstr(o->broken, "certificate"))
		snprintf(r->remedy, sizeof(r->remedy),
			 "the operator can add a certificate authority with VIV_CA_FILE");
}

void refusal_write(const struct refusal *r, struct head *h, struct buf *body)
{
	static const struct {
		unsigned status;
		const char *reason;
	} reasons[] = { { 400, "Bad Request" },		 { 403, "Forbidden" },
			{ 414, "URI Too Long" },	 { 421, "Misdirected Request" },
			{ 431, "Headers Too Large" },	 { 501, "Not Implemented" },
			{ 502, "Bad Gateway" },		 { 504, "Gateway Timeout" },
			{ 505, "Version Not Supported" } };
	const char *mark = r->status == 403 ? "denied" : r->status < 500 ? "refused" : "failed";
	char length[24];

	buf_add_text(body, "{\"error\":{");
	json_member_text(body, "code", r->code);
	json_member_text(body, "rule", r->rule[0] ? r->rule : NULL);
	json_member_text(body, "message", r->message);
	json_member_text(body, "remedy", r->remedy[0] ? r->remedy : NULL);
	buf_add_text(body, "}}\n");
	h->status = r->status;
	for (unsigned i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == r->status)
			text_set(&h->reason, reasons[i].reason, strlen(reasons[i].reason));
	snprintf(length, sizeof(length), "%zu", body->len);
	/* These are few and right. */
	(void)!head_add(h, "content-type", 12, "application/json", 16);
	(void)!head_add(h, "content-length", 14, length, strlen(length));
	(void)!head_add(h, "cache-control", 13, "no-store", 8);
	(void)!head_add(h, "x-vivarium", 10, mark, strlen(mark));
}

/* ---- checks ---- */

static bool host_check(struct opened *o, const struct head *h, struct refusal *r)
{
	uint16_t port = o->tls ? 443 : 80;
	unsigned hosts;
	const char *host = head_find(h, "host", &hosts);

	if (hosts > 1 || (!hosts && !h->authority)) {
		refusal_set(r, 400, "bad_request", "a request needs one Host");
		return false;
	}
	if (h->scheme && strcmp(h->scheme, o->tls ? "https" : "http")) {
		refusal_set(r, 400, "bad_request", "a URL of %s on a connection of %s", h->scheme,
			    o->tls ? "https" : "http");
		r->brief = "a URL of another scheme";
		return false;
	}
	if ((host && !authority_is(host, o->name, o->port, port)) ||
	    (h->authority && !authority_is(h->authority, o->name, o->port, port))) {
		refusal_set(r, 421, "misdirected", "a request for %.200s on a connection to %s:%u",
			    h->authority ? h->authority : host, o->name, o->port);
		r->brief = "a request for another host";
		return false;
	}
	return true;
}

/* Headers by which some servers take another method or path than that of the request. */
static const char *override_find(const struct head *h)
{
	static const char *const names[] = { "x-http-method-override", "x-http-method",
					     "x-method-override", "x-original-url",
					     "x-rewrite-url" };
	unsigned n = 0;

	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		(void)head_find(h, names[i], &n);
		if (n)
			return names[i];
	}
	return NULL;
}

static void denied(struct refusal *r, struct opened *o, const struct head *h,
		   const struct net_question *q, const struct decision *d)
{
	struct buf text = { 0 };

	refusal_set(r, 403, "denied",
		    d->rule ? "a rule denies %s %s://%s%.200s" : "no rule allows %s %s://%s%.200s",
		    h->method, o->tls ? "https" : "http", o->name, h->target);
	r->brief = "no rule allows it";
	if (d->rule) {
		rule_print(d->rule, &text);
		snprintf(r->rule, sizeof(r->rule), "%.*s", (int)MIN(text.len, (size_t)500),
			 (const char *)text.p);
		buf_free(&text);
	}
	snprintf(r->remedy, sizeof(r->remedy), "the operator can add: allow net %.100s:%u %s %.80s",
		 o->name, o->port, h->method, q->path);
	gate_deny(0, 0, q, d->rule, "%s", r->message);
}

/* For the record of what the cell uses: requests, where a rule is about them. */
static void used(const struct opened *o, const struct net_question *asked, const struct rule *rule)
{
	struct net_question q = *asked;

	if (!rule->net.nmethods && !rule->net.path)
		q.method = q.path = NULL;
	if (q.name && !ip_special(&o->addr, NULL))
		q.addr = NULL;
	gate_used(&q, rule, false);
}

/* The operator was asked about this request, or about the connection as a whole. */
static bool is_approved(const struct exchange *x, const struct opened *o, const struct decision *d)
{
	return d->verdict == VERDICT_ASK &&
	       (x->hold == HOLD_ALLOWED ||
		(o->approved && !d->rule->net.nmethods && !d->rule->net.path));
}

/* A connection that may be of any protocol may be of HTTP, unless a rule says more about that. */
static struct decision request_decide(struct net_question *q)
{
	struct decision d, any;

	q->protocol = NET_WEB;
	d = policy_net(&settings.policy, q);
	if (d.rule)
		return d;
	q->protocol = NET_TCP;
	any = policy_net(&settings.policy, q);
	if (any.verdict == VERDICT_DENY)
		q->protocol = NET_WEB;
	return any.verdict == VERDICT_DENY ? d : any;
}

bool request_verdict(const struct exchange *x, const struct opened *o, const char *method,
		     const char *target, struct decision *ret, struct net_question *q)
{
	static char path[TARGET_MAX + 1];
	bool opens = policy_opens(&settings.policy);

	*q = (struct net_question){ .name = o->is_name ? o->name : NULL,
				    .addr = &o->addr,
				    .port = o->port,
				    .program = o->program,
				    .method = method,
				    .path = path };
	*ret = (struct decision){ .verdict = VERDICT_ALLOW };
	/* The first one last: that is what people and rules call it. */
	for (unsigned i = opens ? PATH_READINGS : 1; i-- > 0;) {
		struct decision d;

		if (!path_read(target, i, path))
			return false;
		d = request_decide(q);
		if (is_approved(x, o, &d))
			d.verdict = VERDICT_ALLOW;
		if (d.verdict == VERDICT_ALLOW && ret->verdict == VERDICT_ASK)
			continue;
		*ret = d;
		if (d.verdict == VERDICT_DENY)
			return true;
	}
	return true;
}

static enum passage policy_ask(struct exchange *x, struct opened *o, const struct head *h,
			       struct refusal *r)
{
	const char *odd = policy_opens(&settings.policy) ? override_find(h) : NULL;
	struct net_question q;
	struct decision d;

	if (odd) {
		refusal_set(r, 403, "denied",
			    "the header %s would change what the rules are asked about", odd);
		return REQUEST_REFUSED;
	}
	if (!request_verdict(x, o, h->method, h->target, &d, &q)) {
		refusal_set(r, 400, "bad_request", "the path can be read in several ways");
		return REQUEST_REFUSED;
	}
	x->record.rule = d.rule;
	if (d.verdict == VERDICT_ALLOW) {
		used(o, &q, d.rule);
		return REQUEST_PASSES;
	}
	if (d.verdict == VERDICT_ASK && x->hold == HOLD_DENIED) {
		refusal_set(r, 403, "denied", "the operator denies %s %s://%s%.200s", h->method,
			    o->tls ? "https" : "http", o->name, q.path);
		r->brief = "the operator denies it";
		gate_deny(0, 0, &q, d.rule, "%s", r->message);
		return REQUEST_REFUSED;
	}
	if (d.verdict == VERDICT_DENY) {
		denied(r, o, h, &q, &d);
		return REQUEST_REFUSED;
	}
	if (x->hold == HOLD_ASKED)
		return REQUEST_HELD;
	if (o->broken_status) {
		refusal_server(o, r);
		return REQUEST_REFUSED;
	}
	if (!hold_begin(x, o, &q, d.rule, r))
		return REQUEST_REFUSED;
	record_request(x, "ask", d.rule, NULL);
	return REQUEST_HELD;
}

enum passage request_check(struct exchange *x, struct opened *o, struct head *h, struct refusal *r)
{
	const char *wrong;

	if (!strcmp(h->method, "CONNECT") || !h->target) {
		refusal_set(r, 400, "bad_request", "CONNECT is for proxies; this is the server");
		return REQUEST_REFUSED;
	}
	wrong = target_wrong(h->target, h->method);
	if (wrong) {
		refusal_set(r, strlen(h->target) > TARGET_MAX ? 414 : 400, "bad_request", "%s",
			    wrong);
		return REQUEST_REFUSED;
	}
	if (!host_check(o, h, r))
		return REQUEST_REFUSED;
	return policy_ask(x, o, h, r);
}
