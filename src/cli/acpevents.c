/* See acp.h: events of sessions and questions of cells, for the editor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "cli/acp.h"

/* What the editor is offered where it is not the agent that asks. */
static const char acp_options[] =
	"[{\"optionId\":\"allow_once\",\"name\":\"Allow\",\"kind\":\"allow_once\"},"
	"{\"optionId\":\"allow_always\",\"name\":\"Always allow\",\"kind\":\"allow_always\"},"
	"{\"optionId\":\"reject_once\",\"name\":\"Deny\",\"kind\":\"reject_once\"},"
	"{\"optionId\":\"reject_always\",\"name\":\"Always deny\",\"kind\":\"reject_always\"}]";

char *acp_json(const struct json *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n);

	if (!mem)
		return xstrndup("null", 4);
	if (v)
		json_value_print(mem, v, false);
	else
		fputs("null", mem);
	fclose(mem);
	return text;
}

void acp_reply(const char *id, const char *result)
{
	if (!id)
		return;
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result);
}

void acp_error(const char *id, int code, const char *text, const struct err *e)
{
	char all[2048];

	if (!id)
		return;
	snprintf(all, sizeof(all), "%s%s%s%s%s", e ? e->message : text, e && *e->cause ? ": " : "",
		 e ? e->cause : "", e && *e->remedy ? "; " : "", e ? e->remedy : "");
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":", id, code);
	json_quoted(stdout, all);
	printf("}}\n");
}

/* ---- the answer to session/new and the like ---- */

static void choices_print(const struct json *list, const char *id)
{
	const char *before = "";

	for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
		const char *name = member_text(m, "name");

		printf("%s{\"%s\":", before, id);
		json_quoted(stdout, member_text(m, "id"));
		printf(",\"name\":");
		json_quoted(stdout, *name ? name : member_text(m, "id"));
		printf("}");
		before = ",";
	}
}

static void state_print(const struct json *o, const char *before)
{
	const struct json *modes = json_get(o, "modes", JSON_LIST);
	const struct json *models = json_get(o, "models", JSON_LIST);
	const struct json *options = json_get(o, "config_options", JSON_LIST);

	if (modes && modes->first && *member_text(o, "mode")) {
		printf("%s\"modes\":{\"currentModeId\":", before);
		json_quoted(stdout, member_text(o, "mode"));
		printf(",\"availableModes\":[");
		choices_print(modes, "id");
		printf("]}");
		before = ",";
	}
	if (models && models->first && *member_text(o, "model")) {
		printf("%s\"models\":{\"currentModelId\":", before);
		json_quoted(stdout, member_text(o, "model"));
		printf(",\"availableModels\":[");
		choices_print(models, "modelId");
		printf("]}");
		before = ",";
	}
	if (options && options->first) {
		printf("%s\"configOptions\":", before);
		json_value_print(stdout, options, false);
	}
}

void acp_opened(struct acp_session *s, bool is_new)
{
	struct json_doc d = { 0 };
	struct err e;

	if (!s->opening)
		return;
	if (vivd_ask("GET", session_path(&s->s, "").str, NULL, &d, &e) < 0) {
		acp_error(s->opening, -32603, NULL, &e);
	} else {
		printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{", s->opening);
		if (is_new)
			printf("\"sessionId\":\"%s\"", s->s.id);
		state_print(d.root, is_new ? "," : "");
		printf("}}\n");
		json_free(&d);
	}
	free(s->opening);
	s->opening = NULL;
}

/* ---- questions ---- */

static bool was_asked(struct acp *x, int64_t approval)
{
	for (size_t i = 0; i < BUF_COUNT(&x->asked, int64_t); i++)
		if (*BUF_ITEM(&x->asked, int64_t, i) == approval)
			return true;
	buf_add(&x->asked, &approval, sizeof(approval));
	return false;
}

/* Takes doc. call: the agent's tool call; NULL: something else of the cell waits. */
static void ask_send(struct acp *x, const char *session, int64_t approval, struct json_doc *doc,
		     const struct json *call, const struct json *data)
{
	struct acp_ask a = { .id = ++x->last_id, .approval = approval, .doc = *doc };
	const struct json *options = json_get(data, "options", JSON_LIST);

	if (was_asked(x, approval)) {
		json_free(doc);
		return;
	}
	printf("{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"session/request_permission\","
	       "\"params\":{\"sessionId\":\"%s\",\"toolCall\":",
	       (unsigned long long)a.id, session);
	if (call) {
		json_value_print(stdout, call, false);
	} else {
		const char *path = member_text(data, "path"), *name = member_text(data, "name"),
			   *port = member_text(data, "port"), *method = member_text(data, "method");
		char title[8192];

		if (!*name)
			name = member_text(data, "address");
		snprintf(title, sizeof(title), "%s %s%s%s%s%s%s", member_text(data, "action"),
			 method, *method ? " " : "", name, *port ? ":" : "", port, path);
		printf("{\"toolCallId\":\"approval-%lld\",\"kind\":\"other\",\"status\":"
		       "\"pending\","
		       "\"title\":",
		       (long long)approval);
		json_quoted(stdout, title);
		/* All of it, with the arguments of a tool. */
		printf(",\"rawInput\":");
		json_value_print(stdout, data, false);
		printf("}");
	}
	printf(",\"options\":");
	if (call && options) {
		const char *before = "[";

		a.options = options;
		for (const struct json *o = options->first; o; o = o->next) {
			const char *id = member_text(o, "optionId");

			printf("%s{\"optionId\":", before);
			json_quoted(stdout, *id ? id : member_text(o, "id"));
			printf(",\"name\":");
			json_quoted(stdout, member_text(o, "name"));
			printf(",\"kind\":");
			json_quoted(stdout, member_text(o, "kind"));
			printf("}");
			before = ",";
		}
		printf("%s]", options->first ? "" : "[");
	} else {
		printf("%s", acp_options);
	}
	printf("}}\n");
	buf_add(&x->asks, &a, sizeof(a));
}

static void ask_remove(struct acp *x, size_t i)
{
	size_t n = BUF_COUNT(&x->asks, struct acp_ask);
	struct acp_ask *a = BUF_ITEM(&x->asks, struct acp_ask, i);

	json_free(&a->doc);
	memmove(a, a + 1, (n - i - 1) * sizeof(*a));
	x->asks.len -= sizeof(*a);
}

/* Somebody else answered, or nobody asks any more. */
static void ask_gone(struct acp *x, int64_t approval)
{
	for (size_t i = 0; i < BUF_COUNT(&x->asks, struct acp_ask); i++) {
		struct acp_ask *a = BUF_ITEM(&x->asks, struct acp_ask, i);

		if (a->approval != approval)
			continue;
		printf("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
		       "{\"requestId\":%llu}}\n",
		       (unsigned long long)a->id);
		ask_remove(x, i);
		return;
	}
}

static const char *kind_of(const struct acp_ask *a, const char *option)
{
	if (!a->options)
		return option;
	for (const struct json *o = a->options->first; o; o = o->next) {
		const char *id = member_text(o, "optionId");

		if (!strcmp(*id ? id : member_text(o, "id"), option))
			return member_text(o, "kind");
	}
	return "";
}

void acp_answer(struct acp *x, uint64_t id, const struct json *result)
{
	const struct json *outcome = json_get(result, "outcome", JSON_OBJECT);
	const char *option = member_text(outcome, "optionId"), *kind;
	struct acp_ask *a = NULL;
	struct buf b = { 0 };
	char path[64];
	struct err e;
	size_t i;

	for (i = 0; i < BUF_COUNT(&x->asks, struct acp_ask) && !a; i++)
		if (BUF_ITEM(&x->asks, struct acp_ask, i)->id == id)
			a = BUF_ITEM(&x->asks, struct acp_ask, i);
	if (!a)
		return;
	i--;
	kind = strcmp(member_text(outcome, "outcome"), "selected") ? "" : kind_of(a, option);
	snprintf(path, sizeof(path), "/v1/approvals/%lld", (long long)a->approval);
	buf_add_text(&b, "{");
	/* Whatever is no yes, is a no; a turn that is cancelled has answered it already. */
	if (a->options && *kind) {
		json_member_text(&b, "option", option);
	} else {
		json_member_text(&b, "answer", strncmp(kind, "allow", 5) ? "deny" : "allow");
		if (!strcmp(kind, "allow_always") || !strcmp(kind, "reject_always"))
			json_member_add(&b, "always", "true");
	}
	buf_add(&b, "}", 2);
	if (vivd_ask("POST", path, (char *)b.p, NULL, &e) < 0 && e.kind != ERR_CONFLICT &&
	    e.kind != ERR_NOT_FOUND)
		report(&e);
	buf_free(&b);
	ask_remove(x, i);
}

/* ---- vivd's events ---- */

static struct acp_session *session_of_cell(struct acp *x, const char *cell)
{
	for (unsigned i = 0; i < x->n; i++)
		if (!strcmp(x->sessions[i].s.cell, cell))
			return &x->sessions[i];
	return NULL;
}

static bool session_is(const struct acp *x, const char *id)
{
	for (unsigned i = 0; i < x->n; i++)
		if (!strcmp(x->sessions[i].s.id, id))
			return true;
	return false;
}

void acp_news(struct acp *x, const char *line, size_t size)
{
	const struct json *data;
	struct json_doc d;
	struct acp_session *s;
	struct err e;
	const char *type;
	uint64_t id;

	if (!strstr(line, "\"approval.") || json_parse_any(&d, line, size, EVENT_MAX, &e) < 0)
		return;
	type = member_text(d.root, "type");
	data = json_get(d.root, "data", JSON_OBJECT);
	s = session_of_cell(x, member_text(d.root, "cell"));
	if (!strncmp(type, "approval.", 9) && s && json_get_u64(data, "id", &id)) {
		if (strcmp(type, "approval.asked")) {
			ask_gone(x, (int64_t)id);
		} else if (strcmp(member_text(data, "scope"), "agent")) {
			ask_send(x, s->s.id, (int64_t)id, &d, NULL, data);
			return;
		}
	}
	json_free(&d);
}

void acp_questions(struct acp *x, const char *cell)
{
	struct acp_session *s = session_of_cell(x, cell);
	struct buf path = { 0 };
	struct json_doc d = { 0 };
	const struct json *list;
	struct err e;

	buf_add_text(&path, "/v1/approvals");
	query_add(&path, "cell", cell);
	if (s && vivd_ask("GET", (char *)path.p, NULL, &d, &e) == 0) {
		list = json_get(d.root, "approvals", JSON_LIST);
		for (const struct json *a = list ? list->first : NULL; a; a = a->next) {
			bool agent = !strcmp(member_text(a, "scope"), "agent");
			char *text = acp_json(a);
			struct json_doc one;
			uint64_t id;

			if ((!agent || session_is(x, member_text(a, "session"))) &&
			    json_get_u64(a, "id", &id) &&
			    json_parse_any(&one, text, strlen(text), EVENT_MAX, &e) == 0)
				ask_send(x, agent ? member_text(a, "session") : s->s.id,
					 (int64_t)id, &one,
					 json_get(one.root, "tool_call", JSON_OBJECT), one.root);
			free(text);
		}
		json_free(&d);
	}
	buf_free(&path);
}

/* ---- a session's events ---- */

/* A notification that is no update: extensions of the protocol begin with '_'; other methods are
 * between the agent and vivd. The session is known to the editor by our id. */
static void extension_send(const struct acp_session *s, const struct json *update)
{
	const struct json *params = json_get(update, "params", JSON_OBJECT);
	const char *method = member_text(update, "method"), *before = "";

	if (*method != '_')
		return;
	printf("{\"jsonrpc\":\"2.0\",\"method\":");
	json_quoted(stdout, method);
	printf(",\"params\":{");
	for (const struct json *m = params ? params->first : NULL; m; m = m->next) {
		printf("%s", before);
		json_quoted(stdout, m->key);
		printf(":");
		if (!strcmp(m->key, "sessionId"))
			json_quoted(stdout, s->s.id);
		else
			json_value_print(stdout, m, false);
		before = ",";
	}
	printf("}}\n");
}

static void update_send(const struct acp_session *s, const struct json *update)
{
	printf("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
	       "\"%s\",\"update\":",
	       s->s.id);
	json_value_print(stdout, update, false);
	printf("}}\n");
}

/* A prompt of somebody else, or of an earlier time. */
static void prompt_send(const struct acp_session *s, const struct event *ev)
{
	const struct json *blocks = json_get(ev->data, "content", JSON_LIST);
	uint64_t n = 0;

	json_get_u64(ev->data, "prompt", &n);
	for (size_t i = 0; i < BUF_COUNT(&s->prompts, struct acp_prompt); i++)
		if (BUF_ITEM(&s->prompts, struct acp_prompt, i)->number == n)
			return;
	for (const struct json *b = blocks ? blocks->first : NULL; b; b = b->next) {
		printf("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
		       "{\"sessionId\":\"%s\",\"update\":{\"sessionUpdate\":"
		       "\"user_message_chunk\",\"content\":",
		       s->s.id);
		json_value_print(stdout, b, false);
		printf("}}}\n");
	}
}

static void turn_end(struct acp_session *s, const struct event *ev)
{
	static const char *const known[] = { "end_turn", "max_tokens", "max_turn_requests",
					     "refusal", "cancelled" };
	const char *reason = member_text(ev->data, "stop_reason");
	size_t n = BUF_COUNT(&s->prompts, struct acp_prompt);
	uint64_t number = 0;
	char text[256];

	json_get_u64(ev->data, "prompt", &number);
	for (size_t i = 0; i < n; i++) {
		struct acp_prompt *p = BUF_ITEM(&s->prompts, struct acp_prompt, i);
		bool good = false;

		if (p->number != number)
			continue;
		for (unsigned k = 0; k < ARRAY_LEN(known); k++)
			good |= !strcmp(known[k], reason);
		if (good) {
			snprintf(text, sizeof(text), "{\"stopReason\":\"%s\"}", reason);
			acp_reply(p->id, text);
		} else {
			snprintf(text, sizeof(text), "the turn ended: %.60s", reason);
			acp_error(p->id, -32603, text, NULL);
		}
		free(p->id);
		memmove(p, p + 1, (n - i - 1) * sizeof(*p));
		s->prompts.len -= sizeof(*p);
		return;
	}
}

void acp_prompts_end(struct acp_session *s, const char *text)
{
	for (size_t i = 0; i < BUF_COUNT(&s->prompts, struct acp_prompt); i++) {
		struct acp_prompt *p = BUF_ITEM(&s->prompts, struct acp_prompt, i);

		acp_error(p->id, -32603, text, NULL);
		free(p->id);
	}
	s->prompts.len = 0;
	if (s->opening)
		acp_error(s->opening, -32603, text, NULL);
	free(s->opening);
	s->opening = NULL;
}

static void state_change(struct acp_session *s, const struct event *ev)
{
	const char *state = member_text(ev->data, "state"),
		   *reason = member_text(ev->data, "reason");
	char text[512];

	if (!strcmp(state, "idle") && !s->loading)
		acp_opened(s, true);
	if (s->loading || (strcmp(state, "failed") && strcmp(state, "closed")))
		return;
	snprintf(text, sizeof(text), "the session is %s%s%.400s", state, *reason ? ": " : "",
		 reason);
	acp_prompts_end(s, text);
}

/* Takes the event when it is a question. */
static bool question_send(struct acp *x, struct acp_session *s, struct event *ev)
{
	uint64_t id;

	if (s->loading || !json_get_u64(ev->data, "approval", &id))
		return false;
	ask_send(x, s->s.id, (int64_t)id, &ev->doc, json_get(ev->data, "tool_call", JSON_OBJECT),
		 ev->data);
	return true;
}

void acp_event(struct acp *x, struct acp_session *s, const char *line, size_t size)
{
	struct event ev;
	struct err e;
	uint64_t id;

	if (event_read(&ev, line, size, &e) < 0) {
		report(&e);
		return;
	}
	if (ev.seq && ev.seq <= s->last) {
		event_free(&ev);
		return;
	}
	s->last = MAX(s->last, ev.seq);
	if (ev.update && !strcmp(ev.kind, "x_notification"))
		extension_send(s, ev.update);
	else if (ev.update)
		update_send(s, ev.update);
	else if (event_is(&ev, "prompt"))
		prompt_send(s, &ev);
	else if (event_is(&ev, "turn"))
		turn_end(s, &ev);
	else if (event_is(&ev, "state"))
		state_change(s, &ev);
	else if (event_is(&ev, "answered") && json_get_u64(ev.data, "approval", &id))
		ask_gone(x, (int64_t)id);
	else if (event_is(&ev, "error") && !s->loading)
		fprintf(stderr, "viv: the agent's session: %s\n", member_text(ev.data, "message"));
	if (s->loading && ev.seq >= s->load_to) {
		s->loading = false;
		acp_opened(s, false);
		acp_questions(x, s->s.cell);
	}
	if (event_is(&ev, "permission") && question_send(x, s, &ev))
		return;
	event_free(&ev);
}
