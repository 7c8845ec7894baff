/* A request and its response on an opened connection: checks, secrets, what is filtered; see
 * open.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/record.h"

/* Fields that a trailer cannot have: they say how a message is read or where it goes. */
static const char *const never_trailers[] = { "content-length",	  "transfer-encoding", "host",
					      "content-encoding", "content-type",      "trailer",
					      "connection",	  "upgrade",	       "te",
					      "authorization",	  "set-cookie",	       "cookie" };

static bool fields_fill(struct exchange *x, struct head *h, struct refusal *r)
{
	struct buf to = { 0 };
	struct err e = { 0 };
	int done = secret_target(&x->site, h->target, strlen(h->target), &to, &e);

	if (done > 0) {
		text_set(&h->target, to.p, to.len);
		h->secret = true;
	}
	for (unsigned i = 0; i < h->n && done >= 0; i++) {
		struct field *f = &h->fields[i];

		to.len = 0;
		done = secret_header(&x->site, f->name, strlen(f->name), f->value, strlen(f->value),
				     &to, &e);
		if (done > 0) {
			text_set(&f->value, to.p, to.len);
			f->secret = true;
		}
	}
	if (to.p)
		explicit_bzero(to.p, to.cap);
	buf_free(&to);
	if (done < 0)
		refusal_set(r, 403, "denied", "%s", err_line(&e).str);
	return done >= 0;
}

/* Values of secrets, and what is needed to take them out of the response. */
static bool secrets_put_in(struct exchange *x, struct opened *o, struct head *h, bool has_body,
			   struct refusal *r)
{
	static const char *const dropped[] = { "accept-encoding", "range", "if-range",
					       "sec-websocket-extensions" };

	secret_site_init(&x->site, settings.secrets, o->name, o->port, o->tls);
	if (!x->site.set)
		return true;
	if (!fields_fill(x, h, r))
		return false;
	x->guarded = secret_site_guards(&x->site);
	if (x->guarded) {
		for (unsigned i = 0; i < ARRAY_LEN(dropped); i++)
			head_remove(h, dropped[i]);
		(void)!head_add(h, "accept-encoding", 15, SECRET_ACCEPT_ENCODING,
				strlen(SECRET_ACCEPT_ENCODING));
	}
	if (has_body && secret_site_in_body(&x->site)) {
		x->up.filter = secret_body_new(&x->site, head_find(h, "content-type", NULL));
		head_remove(h, "content-length");
	}
	return true;
}

enum passage exchange_request(struct exchange *x, struct opened *o, struct head *h, bool has_body,
			      struct refusal *r)
{
	enum passage p;

	x->o = o;
	record_request_begin(x, o, h);
	x->record.rule = NULL;
	p = request_check(x, o, h, r);
	if (p == REQUEST_HELD)
		return p;
	hold_end(x, true);
	/* For one that has waited, the server is asked for anew. */
	if (p == REQUEST_PASSES && o->broken_status && !x->since) {
		refusal_server(o, r);
		p = REQUEST_REFUSED;
	}
	if (p == REQUEST_PASSES)
		exchange_remember(x, h);
	if (p == REQUEST_PASSES && !secrets_put_in(x, o, h, has_body, r)) {
		exchange_forget(x);
		p = REQUEST_REFUSED;
	}
	/* In the journal before the server or the client hears of it. */
	if (p == REQUEST_PASSES)
		record_request(x, record_verdict(VERDICT_ALLOW, x->record.rule), x->record.rule,
			       NULL);
	else
		record_request(x, r->status == 403 ? "deny" : "failed",
			       r->rule[0] ? x->record.rule : NULL, r);
	return p;
}

void exchange_fields(struct exchange *x, struct head *h)
{
	struct buf to = { 0 };

	for (unsigned i = 0; i < h->n && x->guarded; i++) {
		struct field *f = &h->fields[i];

		to.len = 0;
		if (scrub_text(&x->site, f->value, strlen(f->value), &to))
			text_set(&f->value, to.p, to.len);
		to.len = 0;
		if (scrub_text(&x->site, f->name, strlen(f->name), &to))
			text_set(&f->name, "x-scrubbed", 10);
	}
	to.len = 0;
	if (x->guarded && h->reason && scrub_text(&x->site, h->reason, strlen(h->reason), &to))
		text_set(&h->reason, to.p, to.len);
	buf_free(&to);
}

bool exchange_response(struct exchange *x, struct head *h, bool has_body, struct err *e)
{
	unsigned n;
	const char *encoding = head_find(h, "content-encoding", &n);

	if (x->guarded && has_body) {
		if (n > 1)
			return err_set(e, ERR_FAILED, "more than one Content-Encoding") == 0;
		x->down.filter = scrub_new(&x->site, encoding, 0, e);
		/* Its own words could be the value. */
		if (!x->down.filter)
			return err_set(e, ERR_FAILED, "an unknown Content-Encoding") == 0;
		head_remove(h, "content-encoding");
		head_remove(h, "content-length");
	}
	exchange_fields(x, h);
	return true;
}

bool exchange_tunnel(struct exchange *x, struct err *e)
{
	if (x->guarded)
		x->down.filter = scrub_new(&x->site, NULL, SCRUB_MASK, e);
	return !x->guarded || x->down.filter;
}

void trailers_check(struct head *h)
{
	for (unsigned i = 0; i < ARRAY_LEN(never_trailers); i++)
		head_remove(h, never_trailers[i]);
}

void exchange_fini(struct exchange *x)
{
	hold_end(x, false);
	exchange_forget(x);
	record_response(x);
	record_request_fini(x);
	scrub_free(x->up.filter);
	scrub_free(x->down.filter);
	buf_free(&x->up.rest);
	buf_free(&x->down.rest);
	secret_site_fini(&x->site);
	*x = (struct exchange){ 0 };
}

/* ---- bodies ---- */

int pump_run(struct pump *p, struct buf *out, size_t limit, struct err *e)
{
	int r = 1;

	while (r > 0 && (p->busy || p->rest.len || p->end) && out->len < limit) {
		size_t taken = 0;

		r = scrub_step(p->filter, p->rest.p, p->rest.len, p->end, &taken, out, e);
		end_drop(&p->rest, taken);
		p->busy = r > 0;
	}
	if (r == 0)
		p->busy = p->end = false;
	return r < 0 ? -1 : !p->busy && !p->rest.len && !p->end;
}

int pump_put(struct pump *p, const void *data, size_t n, bool end, struct buf *out, size_t limit,
	     struct err *e)
{
	if (!p->filter) {
		buf_add(out, data, n);
		return 1;
	}
	buf_add(&p->rest, data, n);
	p->end = end;
	return pump_run(p, out, limit, e);
}
