/* Permission requests of agents: each is an approval of scope "agent" (approvals.h), answered as
 * any other. The agent's own options are chosen by their kinds: an answer never grants more than it
 * says, so "allow" is not turned into "always allow". */
#include <stdlib.h>
#include <string.h>

#include "daemon/approvals/approvals.h"
#include "daemon/sessions/private.h"
#include "daemon/state/output.h"

#define OPEN_MAX 32 /* of a session */
#define OPTIONS_MAX 16
#define CALL_MAX 65536 /* bytes of a tool call that an approval shows */

unsigned permission_count(const struct session *s)
{
	return (unsigned)json_array_size(live_get(s, "asked"));
}

/* Only what is needed of a call that is too long. */
static json_t *call_cut(const json_t *call)
{
	static const char *const names[] = { "toolCallId", "title", "kind", "status", "locations" };
	char *text = json_dumps(call, JSON_COMPACT);
	bool fits = text && strlen(text) <= CALL_MAX;
	json_t *out;

	free(text);
	if (fits)
		return json_deep_copy(call);
	out = json_object();
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		json_t *v = json_object_get(call, names[i]);

		if (json_is_string(v))
			json_object_set_new(out, names[i],
					    output_text(json_string_value(v), json_string_length(v),
							1000));
	}
	json_object_set_new(out, "truncated", json_true());
	return out;
}

static json_t *options_of(const json_t *list)
{
	json_t *out = json_array();
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		const char *id = json_text(o, "optionId"), *name = json_text(o, "name");
		const char *kind = json_text(o, "kind");

		if (!id || strlen(id) > 256 || !kind || strlen(kind) > 40 || i >= OPTIONS_MAX)
			continue;
		json_array_append_new(out, json_pack("{s:s,s:o,s:s}", "id", id, "name",
						     output_text(name ? name : id,
								 strlen(name ? name : id), 200),
						     "kind", kind));
	}
	return out;
}

void permission_ask(struct session *s, const struct rpc *m, int64_t time)
{
	const json_t *call = json_object_get(m->params, "toolCall");
	json_t *options = options_of(json_object_get(m->params, "options")), *cut;
	const char *title = json_text(call, "title");
	int64_t id;

	if (!json_is_object(call) || !json_array_size(options) || permission_count(s) >= OPEN_MAX) {
		outbox_add(s,
			   permission_count(s) >= OPEN_MAX
				   ? rpc_error(m->id, RPC_INTERNAL, "too many questions are open")
				   : rpc_error(m->id, RPC_INVALID_PARAMS,
					       "'toolCall' and 'options' are needed"),
			   true);
		json_decref(options);
		return;
	}
	cut = call_cut(call);
	id = approval_ask(s->d, s->cell, APPROVAL_AGENT, 0,
			  json_pack("{s:s,s:s,s:o,s:O,s:O}", "scope", "agent", "session", s->id,
				    "title",
				    output_text(title ? title : "", title ? strlen(title) : 0, 500),
				    "tool_call", cut, "options", options));
	if (id) {
		json_array_append_new(live_list(s, "asked"),
				      json_pack("{s:O,s:I,s:O}", "id", m->id, "approval",
						(json_int_t)id, "options", options));
		event_put(s, "permission",
			  json_pack("{s:I,s:O,s:O}", "approval", (json_int_t)id, "tool_call", cut,
				    "options", options),
			  time);
		state_follow(s);
	} else {
		s->d->db.failed = true;
	}
	json_decref(cut);
	json_decref(options);
}

/* ---- answers ---- */

static const char *option_of(const json_t *options, const char *kind)
{
	const json_t *o;
	size_t i;

	json_array_foreach(options, i, o)
		if (json_text(o, "kind") && !strcmp(json_text(o, "kind"), kind))
			return json_text(o, "id");
	return NULL;
}

static const char *option_choose(const json_t *options, const struct answer *a)
{
	const char *id;

	if (a->allow) {
		id = a->always ? option_of(options, "allow_always") : NULL;
		return id ? id : option_of(options, "allow_once");
	}
	id = a->always ? option_of(options, "reject_always") : option_of(options, "reject_once");
	return id ? id : option_of(options, a->always ? "reject_once" : "reject_always");
}

static const char *option_named(const json_t *options, struct answer *a)
{
	const json_t *o;
	size_t i;

	json_array_foreach(options, i, o)
		if (json_text(o, "id") && !strcmp(json_text(o, "id"), a->option)) {
			a->allow = !strncmp(json_text(o, "kind"), "allow", 5);
			return json_text(o, "id");
		}
	return NULL;
}

static struct session *session_of(struct daemon *d, const json_t *approval)
{
	const char *id = json_text(approval, "session");
	struct err e;

	return id ? session_find(d, NULL, id, &e) : NULL;
}

/* Which of the agent's options it is. */
static int answer_check(struct daemon *d, const json_t *approval, struct answer *a, struct err *e)
{
	const json_t *options = json_object_get(approval, "options");
	const char *id = a->option[0] ? option_named(options, a) : option_choose(options, a);

	(void)d;
	if (a->option[0] && !id)
		return err_set(e, ERR_INVALID, "the agent offers no option '%.80s'", a->option);
	if (!id && a->allow)
		return err_set(e, ERR_UNSUPPORTED,
			       "the agent offers no way to allow this once" REMEDY
			       "answer with always, or name one of its options");
	snprintf(a->option, sizeof(a->option), "%s", id ? id : "");
	return 0;
}

/* Within the transaction in which the approval is answered. */
static void answered(struct daemon *d, int64_t id, const json_t *approval, const struct answer *a,
		     const char *by)
{
	struct session *s = session_of(d, approval);
	json_t *asked = s ? live_get(s, "asked") : NULL, *q = NULL, *result;
	size_t i;

	json_array_foreach(asked, i, q)
		if (json_integer_value(json_object_get(q, "approval")) == id)
			break;
	if (i >= json_array_size(asked))
		return;
	session_begin(s);
	result = a->option[0] ? json_pack("{s:{s:s,s:s}}", "outcome", "outcome", "selected",
					  "optionId", a->option)
			      : json_pack("{s:{s:s}}", "outcome", "outcome", "cancelled");
	outbox_add(s, rpc_result(json_object_get(q, "id"), result), true);
	json_decref(result);
	event_put(s, "answered",
		  json_pack("{s:I,s:s,s:s,s:s}", "approval", (json_int_t)id, "outcome",
			    a->allow ? "allowed" : "denied", "option", a->option, "by", by),
		  0);
	json_array_remove(live_list(s, "asked"), i);
	state_follow(s);
	session_end(s, NULL);
}

void permission_drop(struct session *s, bool gone)
{
	json_t *asked = json_incref(live_get(s, "asked")), *q, *result;
	size_t i;

	if (!asked)
		return;
	live_set(s, "asked", NULL);
	result = json_pack("{s:{s:s}}", "outcome", "outcome", "cancelled");
	json_array_foreach(asked, i, q) {
		json_int_t id = json_integer_value(json_object_get(q, "approval"));

		approval_withdraw(s->d, id);
		event_put(s, "answered",
			  json_pack("{s:I,s:s,s:n,s:s}", "approval", id, "outcome", "cancelled",
				    "option", "by", "vivd"),
			  0);
		if (!gone)
			outbox_add(s, rpc_result(json_object_get(q, "id"), result), true);
	}
	json_decref(result);
	json_decref(asked);
}

void permission_open(void)
{
	static const struct approval_owner ops = { .check = answer_check, .answered = answered };

	approvals_owner(APPROVAL_AGENT, &ops);
}
