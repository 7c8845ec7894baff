/* Requests that wait for an answer of the operator, because a rule says "ask"; see open.h.
 *
 * The question has the method, the host and the path of the request, without its query: that is
 * what a rule can say, and a query may have something private in it. Requests that ask the same at
 * the same time share a question (keeper/asks.c). As many may wait as there can be asks
 * (GATECTL_ASKS_MAX), each with its head; what is beyond that is refused. A request is held for as
 * long as its client is there.
 *
 * What may be sent is remembered until the response is complete, so that it can be decided once
 * more when the policy changes. That is bounded, too: what was not remembered is then ended. */
#include <stdlib.h>
#include <string.h>

#include "gate/control.h"
#include "gate/record.h"

#define REMEMBER_MAX (8u << 20) /* bytes, of all requests */

static size_t remembered;

/* ---- asking ---- */

static void answered(struct ask *a, const char *json, size_t n)
{
	struct exchange *x = container_of(a, struct exchange, ask);
	struct opened *o = x->o;

	x->hold = answer_allows(json, n) ? HOLD_ALLOWED : HOLD_DENIED;
	o->holds--;
	if (o->dead || o->state != OPENED_RUNS)
		return;
	o->protocol->decided(o, x);
	alarm_set(&o->again, 0);
}

bool hold_begin(struct exchange *x, struct opened *o, const struct net_question *q,
		const struct rule *rule, struct refusal *r)
{
	struct net_question asked = *q;

	/* The address behind a name is nothing that a rule would say. */
	if (q->name)
		asked.addr = NULL;
	x->o = o;
	x->ask.answered = answered;
	if (control_ask(&x->ask, &asked, rule)) {
		x->hold = HOLD_ASKED;
		x->since = now_ms();
		o->holds++;
		return true;
	}
	refusal_set(r, 403, "denied",
		    "%s %s://%s%.200s needs an approval, and too many wait for one already, or "
		    "its path is too long",
		    q->method, o->tls ? "https" : "http", o->name, q->path);
	r->brief =
		"it needs an approval, and too many wait for one already, or its path is too long";
	gate_deny(0, 0, q, rule, "%s", r->message);
	return false;
}

void hold_end(struct exchange *x, bool decided)
{
	if (x->hold != HOLD_ASKED)
		return;
	x->hold = HOLD_NOT;
	x->o->holds--;
	if (decided)
		control_decided(&x->ask);
	else
		control_withdraw(&x->ask);
}

/* ---- changes of the policy ---- */

void exchange_remember(struct exchange *x, const struct head *h)
{
	size_t n = strlen(h->method) + strlen(h->target);

	x->passed = true;
	if (n > REMEMBER_MAX - remembered)
		return;
	remembered += n;
	x->method = xstrndup(h->method, strlen(h->method));
	x->target = xstrndup(h->target, strlen(h->target));
}

void exchange_forget(struct exchange *x)
{
	if (x->target)
		remembered -= strlen(x->method) + strlen(x->target);
	free(x->method);
	free(x->target);
	x->method = x->target = NULL;
	x->passed = false;
}

bool exchange_review(struct exchange *x, const struct head *held, struct refusal *r)
{
	const char *method = x->passed ? x->method : held->method;
	const char *target = x->passed ? x->target : held->target;
	struct net_question q;
	struct decision d;

	if (!x->passed && x->hold != HOLD_ASKED)
		return false;
	if (!target) {
		refusal_set(r, 403, "denied", "the policy has changed: a request was ended");
		return true;
	}
	if (!request_verdict(x, x->o, method, target, &d, &q))
		return true;
	if (!x->passed)
		return d.verdict != VERDICT_ASK;
	if (d.verdict == VERDICT_ALLOW)
		return false;
	refusal_set(r, 403, "denied", "the policy has changed: %s %s://%s%.200s was ended", method,
		    x->o->tls ? "https" : "http", x->o->name, q.path);
	r->brief = "the policy has changed: a request was ended";
	gate_deny(0, 0, &q, d.rule, "%s", r->message);
	record_denial(x->o->pid, &q, d.rule, r->brief);
	return true;
}
