/* ACP, as its client: what vivd asks an agent, and what it does with the answers. Version 1 of the
 * protocol. What is not known is kept in the transcript and passed on.
 *
 * A start is initialize, then session/resume or session/load if the agent had a session and can go
 * on with it, else session/new, then the mode and the model that were wanted. An agent that demands
 * authentication is offered the methods that need nobody: those that read a key from its
 * environment. While a session is loaded the agent tells all of it once more; that is not part of
 * the transcript. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "daemon/sessions/private.h"
#include "daemon/state/output.h"

#define START_SECONDS 120

bool session_is_acp(const struct session *s)
{
	return !json_is_false(json_object_get(s->spec, "acp"));
}

/* ---- sending ---- */

void acp_call(struct session *s, const char *what, const char *method, json_t *params,
	      json_t *extra)
{
	char key[24];
	json_t *call = extra ? extra : json_object();

	s->calls++;
	snprintf(key, sizeof(key), "%lld", (long long)s->calls);
	json_object_set_new(call, "what", json_string(what));
	json_object_set_new(live_object(s, "calls"), key, call);
	outbox_add(s, rpc_request(s->calls, method, params), false);
	json_decref(params);
}

void acp_notify(struct session *s, const char *method, json_t *params)
{
	outbox_add(s, rpc_notice(method, params), false);
	json_decref(params);
}

const char *acp_id(const struct session *s)
{
	return json_string_value(live_get(s, "acp"));
}

/* ---- the start ---- */

static void start_failed(struct session *s, const struct err *e)
{
	json_t *error = json_err(e);

	event_put(s, "error", json_incref(error), 0);
	if (s->running)
		turn_end(s, "error", NULL);
	turn_drop(s, "error");
	live_set(s, "error", error);
	process_end(s, SESSION_FAILED);
}

static void start_late(struct session *s)
{
	struct err e;

	err_note(&e, ERR_FAILED,
		 "the agent did not answer %s in time" REMEDY
		 "see whether its command speaks ACP on its standard streams",
		 s->phase == PHASE_INIT ? "'initialize'" : "'session/new'");
	session_begin(s);
	start_failed(s, &e);
	session_end(s, NULL);
}

void acp_watch(struct session *s)
{
	double seconds = json_number_value(json_object_get(s->spec, "start_timeout"));

	if (s->phase < PHASE_INIT || s->phase >= PHASE_READY)
		session_timer(s, -1, NULL);
	else
		session_timer(s, seconds > 0 ? (int64_t)(seconds * 1000) : START_SECONDS * 1000,
			      start_late);
}

static void phase_set(struct session *s, enum phase phase)
{
	s->phase = phase;
	s->live_dirty = true;
	acp_watch(s);
}

void acp_begin(struct session *s)
{
	if (!session_is_acp(s)) {
		s->phase = PHASE_READY;
		s->live_dirty = true;
		state_follow(s);
		return;
	}
	phase_set(s, PHASE_INIT);
	acp_call(s, "initialize", "initialize",
		 json_pack("{s:i,s:{s:{s:b,s:b},s:b},s:{s:s,s:s,s:s}}", "protocolVersion", 1,
			   "clientCapabilities", "fs", "readTextFile", 1, "writeTextFile", 1,
			   "terminal", 1, "clientInfo", "name", "vivarium", "title", "Vivarium",
			   "version", VIV_VERSION),
		 NULL);
}

static bool caps_have(const struct session *s, const char *outer, const char *inner)
{
	const json_t *caps = live_get(s, "caps"), *v = json_object_get(caps, outer);

	if (inner)
		v = json_object_get(v, inner);
	return v && !json_is_false(v) && !json_is_null(v);
}

bool acp_can_load(const struct session *s)
{
	return acp_id(s) &&
	       (caps_have(s, "loadSession", NULL) || caps_have(s, "sessionCapabilities", "resume"));
}

/* {"NAME": VALUE}, or ACP's own list. */
static json_t *env_list(const json_t *env)
{
	json_t *list = json_array(), *v;
	const char *key;

	if (json_is_array(env)) {
		json_decref(list);
		return json_deep_copy(env);
	}
	json_object_foreach((json_t *)(uintptr_t)env, key, v)
		json_array_append_new(list, json_pack("{s:s,s:O}", "name", key, "value", v));
	return list;
}

/* The servers of the session as the agent takes them. */
static json_t *mcp_servers(struct session *s)
{
	json_t *out = json_array();
	const json_t *server;
	size_t i;

	json_array_foreach(json_object_get(s->spec, "mcp_servers"), i, server) {
		const char *type = json_text(server, "type");
		json_t *o = json_copy((json_t *)(uintptr_t)server);
		struct err e;

		if (type && strcmp(type, "stdio") && !caps_have(s, "mcpCapabilities", type)) {
			err_note(&e, ERR_UNSUPPORTED,
				 "the agent takes no MCP servers of type '%.20s', so '%.60s' is "
				 "left out",
				 type, json_text(server, "name") ? json_text(server, "name") : "");
			event_error(s, &e);
			json_decref(o);
			continue;
		}
		if (!type || !strcmp(type, "stdio")) {
			json_object_del(o, "type");
			json_object_set_new(o, "env", env_list(json_object_get(server, "env")));
			if (!json_object_get(o, "args"))
				json_object_set_new(o, "args", json_array());
		} else {
			json_object_set_new(o, "headers",
					    env_list(json_object_get(server, "headers")));
		}
		json_array_append_new(out, o);
	}
	return out;
}

static const char *workdir_of(const struct session *s)
{
	const struct cell *c = cell_by_id(s->d, s->cell);
	const char *dir = json_text(s->spec, "workdir");

	if (!dir && c)
		dir = json_text(c->spec, "workdir");
	return dir && *dir == '/' ? dir : "/";
}

/* session/new, or what goes on with the one that it had. */
static void session_ask(struct session *s)
{
	bool resumes = acp_id(s) && caps_have(s, "sessionCapabilities", "resume");
	bool loads = acp_can_load(s);
	json_t *params = json_pack("{s:s,s:o}", "cwd", workdir_of(s), "mcpServers", mcp_servers(s));
	struct launch l = { 0 };
	struct err e = { 0 };

	phase_set(s, PHASE_NEW);
	if (loads)
		json_object_set_new(params, "sessionId", json_string(acp_id(s)));
	if (launch_make(s, cell_by_id(s->d, s->cell), &l, &e) == 0 && l.prompt) {
		if (l.how == PROMPT_META)
			json_object_set_new(params, "_meta",
					    json_pack("{s:{s:s}}", "systemPrompt", "append",
						      l.prompt));
		if (l.how == PROMPT_FIRST && !loads)
			live_set(s, "preamble", json_string(l.prompt));
	}
	launch_free(&l);
	if (loads)
		live_set(s, "loading", json_true());
	if (!loads && acp_id(s)) {
		err_note(&e, ERR_ENDED,
			 "the agent cannot load its session; it begins anew and knows nothing of "
			 "the "
			 "prompts before");
		event_error(s, &e);
	}
	acp_call(s, loads ? "load" : "new",
		 !loads	   ? "session/new"
		 : resumes ? "session/resume"
			   : "session/load",
		 params, NULL);
}

/* ---- authentication ---- */

/* One that reads a key from the environment, or that the session names. */
static bool method_is_quiet(const struct session *s, const json_t *method)
{
	static const char *const marks[] = { "api-key", "api_key", "apikey", "env", "token" };
	const char *id = json_text(method, "id"), *type = json_text(method, "type");
	const char *wanted = json_text(s->spec, "auth");

	if (!id || (type && !strcmp(type, "terminal")))
		return false;
	if (wanted)
		return !strcmp(wanted, id);
	if (type && !strcmp(type, "env_var"))
		return true;
	for (unsigned i = 0; i < ARRAY_LEN(marks); i++)
		if (strcasestr(id, marks[i]))
			return true;
	return false;
}

/* The next method that was not tried yet. False: there is none. */
static bool auth_next(struct session *s)
{
	size_t tried = (size_t)json_integer_value(live_get(s, "tried"));
	const json_t *methods = live_get(s, "auth");

	for (; tried < json_array_size(methods); tried++) {
		const json_t *method = json_array_get(methods, tried);

		if (!method_is_quiet(s, method))
			continue;
		live_set(s, "tried", json_integer((json_int_t)tried + 1));
		acp_call(s, "authenticate", "authenticate",
			 json_pack("{s:s}", "methodId", json_text(method, "id")), NULL);
		return true;
	}
	return false;
}

/* ---- answers ---- */

static void ready(struct session *s)
{
	phase_set(s, PHASE_READY);
	live_set(s, "error", NULL);
	state_follow(s);
	turn_next(s);
}

/* The mode and the model that were wanted, one after the other. */
static void setup_next(struct session *s)
{
	static const char *const names[] = { "mode", "model" };
	size_t at = (size_t)json_integer_value(live_get(s, "setup"));
	struct err e = { 0 };

	for (; at < ARRAY_LEN(names); at++) {
		const json_t *value = json_object_get(s->spec, names[at]);
		const char *is = json_string_value(live_get(s, names[at]));

		live_set(s, "setup", json_integer((json_int_t)at + 1));
		if (!value || (is && !strcmp(is, json_string_value(value))))
			continue;
		phase_set(s, PHASE_SETUP);
		if (option_send(s, names[at], NULL, value, &e) == 0)
			return;
		event_error(s, &e);
	}
	ready(s);
}

static void initialized(struct session *s, const json_t *result)
{
	const json_t *info = json_object_get(result, "agentInfo");
	json_int_t version = json_integer_value(json_object_get(result, "protocolVersion"));
	json_t *caps = kept_json(json_object_get(result, "agentCapabilities"));
	struct err e;

	if (version != 1) {
		json_decref(caps);
		err_note(&e, ERR_UNSUPPORTED,
			 "the agent speaks version %lld of ACP; vivd speaks version 1",
			 (long long)version);
		start_failed(s, &e);
		return;
	}
	event_put(s, "agent",
		  json_pack("{s:s*,s:s*,s:I,s:O*}", "name", json_text(info, "name"), "version",
			    json_text(info, "version"), "protocol", version, "capabilities", caps),
		  0);
	live_set(s, "caps", caps);
	live_set(s, "auth", kept_json(json_object_get(result, "authMethods")));
	live_set(s, "tried", NULL);
	session_ask(s);
}

static void call_err(const char *method, const json_t *error, struct err *e)
{
	const char *message = json_text(error, "message");
	const json_t *data = json_object_get(error, "data");
	char *text = data ? json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	err_note(e, ERR_FAILED, "the agent refuses %s: %.400s", method,
		 message ? message : "no reason");
	if (text)
		err_cause(e, text);
	free(text);
}

static void session_refused(struct session *s, bool loads, const json_t *error)
{
	struct err e = { 0 };

	if (json_integer_value(json_object_get(error, "code")) == RPC_AUTH_REQUIRED) {
		if (auth_next(s))
			return;
		call_err("the session", error, &e);
		err_remedy(&e,
			   "it needs a login or a key: give it one as a secret, or name the method "
			   "with 'auth'");
		start_failed(s, &e);
		return;
	}
	call_err(loads ? "to load its session" : "a new session", error, &e);
	if (!loads) {
		start_failed(s, &e);
		return;
	}
	/* It may have forgotten it. */
	event_error(s, &e);
	live_set(s, "loading", NULL);
	live_set(s, "acp", NULL);
	session_ask(s);
}

static void session_made(struct session *s, bool loaded, const json_t *result)
{
	const char *id = json_text(result, "sessionId");
	struct err e;

	live_set(s, "loading", NULL);
	if (!loaded && (!id || strlen(id) > 1024)) {
		err_note(&e, ERR_FAILED, "the agent's answer to 'session/new' has no 'sessionId'");
		start_failed(s, &e);
		return;
	}
	if (!loaded)
		live_set(s, "acp", json_string(id));
	acp_state_take(s, result);
	live_set(s, "setup", NULL);
	if (loaded)
		ready(s);
	else
		setup_next(s);
}

static void set_answer(struct session *s, int64_t call, const json_t *extra, const json_t *result,
		       const json_t *error)
{
	const char *name = json_text(extra, "name");
	struct err e = { 0 };

	if (error)
		call_err("the change", error, &e);
	else if (json_is_array(json_object_get(result, "configOptions")))
		acp_state_take(s, result);
	else if (name && strcmp(name, "config"))
		live_set(s, name, json_incref(json_object_get(extra, "value")));
	if (s->phase == PHASE_SETUP) {
		if (error)
			event_error(s, &e);
		setup_next(s);
	}
	setters_end(s, call, error ? &e : NULL);
}

static json_t *usage_of(const json_t *usage)
{
	static const char *const names[][2] = { { "inputTokens", "input_tokens" },
						{ "outputTokens", "output_tokens" },
						{ "totalTokens", "total_tokens" },
						{ "thoughtTokens", "thought_tokens" },
						{ "cachedReadTokens", "cached_read_tokens" },
						{ "cachedWriteTokens", "cached_write_tokens" } };
	json_t *out = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (json_is_integer(json_object_get(usage, names[i][0])))
			json_object_set(out, names[i][1], json_object_get(usage, names[i][0]));
	return out;
}

static void prompt_answer(struct session *s, const json_t *extra, const json_t *result,
			  const json_t *error)
{
	const char *reason = json_text(result, "stopReason");
	const json_t *usage = json_object_get(result, "usage");
	struct err e = { 0 };

	if (json_integer_value(json_object_get(extra, "prompt")) != s->running)
		return;
	if (error) {
		call_err("the prompt", error, &e);
		if (json_integer_value(json_object_get(error, "code")) == RPC_AUTH_REQUIRED)
			err_remedy(&e, "it needs a login or a key: give it one as a secret");
		event_error(s, &e);
		turn_end(s, "error", NULL);
	} else if (json_is_object(usage)) {
		json_t *u = usage_of(usage);

		turn_end(s, reason ? reason : "end_turn", u);
		json_decref(u);
	} else {
		turn_end(s, reason ? reason : "end_turn", NULL);
	}
	s->restarts = 0;
	state_follow(s);
	turn_next(s);
}

static void noise(struct session *s, const char *line, size_t n, const char *why, int64_t time)
{
	event_put(s, "noise",
		  json_pack("{s:o,s:I,s:s*}", "text", output_text(line, n, 1000), "bytes",
			    (json_int_t)n, "reason", why),
		  time);
}

static void answer(struct session *s, const struct rpc *m, const char *line, size_t n, int64_t time)
{
	json_t *calls = live_get(s, "calls"), *extra;
	const char *what;
	int64_t call = json_is_integer(m->id) ? json_integer_value(m->id) : 0;
	char key[24];

	snprintf(key, sizeof(key), "%lld", (long long)call);
	extra = json_incref(json_object_get(calls, key));
	if (!extra) {
		noise(s, line, n, "an answer to nothing", time);
		return;
	}
	json_object_del(calls, key);
	s->live_dirty = true;
	what = json_text(extra, "what");
	if (s->phase == PHASE_ENDING) {
		;
	} else if (!strcmp(what, "initialize")) {
		struct err e = { 0 };

		if (m->error) {
			call_err("'initialize'", m->error, &e);
			start_failed(s, &e);
		} else {
			initialized(s, m->result);
		}
	} else if (!strcmp(what, "authenticate")) {
		if (m->error)
			session_refused(s, false, json_object_get(m->root, "error"));
		else
			session_ask(s);
	} else if (!strcmp(what, "new") || !strcmp(what, "load")) {
		bool loads = !strcmp(what, "load");

		if (m->error)
			session_refused(s, loads, m->error);
		else
			session_made(s, loads, m->result);
	} else if (!strcmp(what, "set")) {
		set_answer(s, call, extra, m->result, m->error);
	} else if (!strcmp(what, "prompt")) {
		prompt_answer(s, extra, m->result, m->error);
	}
	json_decref(extra);
}

/* ---- notifications ---- */

/* Of a session that is loaded, the agent tells all of this once more. */
static bool is_history(const char *kind)
{
	static const char *const kinds[] = { "user_message_chunk",  "agent_message_chunk",
					     "agent_thought_chunk", "tool_call",
					     "tool_call_update",    "plan" };

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

static void usage_take(struct session *s, const json_t *update)
{
	json_t *usage = live_object(s, "usage");

	json_object_set(usage, "context_used", json_object_get(update, "used"));
	json_object_set(usage, "context_size", json_object_get(update, "size"));
	if (json_is_object(json_object_get(update, "cost")))
		json_object_set_new(usage, "cost", kept_json(json_object_get(update, "cost")));
}

void acp_update(struct session *s, const json_t *update, const char *raw, size_t n, int64_t time)
{
	const char *kind = json_text(update, "sessionUpdate");
	struct buf b = { 0 };

	if (!kind)
		kind = "";
	if (json_is_true(live_get(s, "loading")) && is_history(kind))
		return;
	if (!strcmp(kind, "current_mode_update") && json_text(update, "currentModeId"))
		live_set(s, "mode", json_string(json_text(update, "currentModeId")));
	else if (!strcmp(kind, "config_option_update"))
		acp_state_take(s, update);
	else if (!strcmp(kind, "session_info_update") && json_text(update, "title"))
		live_set(s, "title",
			 output_text(json_text(update, "title"), strlen(json_text(update, "title")),
				     500));
	else if (!strcmp(kind, "usage_update"))
		usage_take(s, update);
	buf_add_text(&b, "{\"update\":");
	buf_add(&b, raw, n);
	buf_add_text(&b, "}");
	event_put_raw(s, "update", (char *)b.p, b.len, time);
	buf_free(&b);
}

static void update_take(struct session *s, const struct rpc *m, const char *line, size_t n,
			int64_t time)
{
	const json_t *update = json_object_get(m->params, "update");
	const char *of = json_text(m->params, "sessionId"), *raw;
	char *made = NULL;
	size_t nraw = 0;

	if (!json_is_object(update) || (acp_id(s) && (!of || strcmp(of, acp_id(s))))) {
		noise(s, line, n, "an update of another session", time);
		return;
	}
	/* As it stands. */
	raw = rpc_raw(line, n, "params", "update", &nraw);
	if (!raw) {
		made = json_dumps(update, JSON_COMPACT);
		raw = made ? made : "{}";
		nraw = strlen(raw);
	}
	acp_update(s, update, raw, nraw, time);
	free(made);
}

static void notice(struct session *s, const struct rpc *m, const char *line, size_t n, int64_t time)
{
	if (!strcmp(m->method, "session/update")) {
		update_take(s, m, line, n, time);
		return;
	}
	event_put(s, "update",
		  json_pack("{s:{s:s,s:s,s:O*}}", "update", "sessionUpdate", "x_notification",
			    "method", m->method, "params", m->params),
		  time);
}

void acp_line(struct session *s, const char *line, size_t n, int64_t time)
{
	struct rpc m;

	if (n && line[n - 1] == '\r')
		n--;
	if (!n)
		return;
	rpc_read(line, n, &m);
	switch (m.kind) {
	case RPC_NOISE:
		noise(s, line, n, NULL, time);
		break;
	case RPC_REQUEST:
		if (s->phase != PHASE_ENDING)
			serve_request(s, &m, line, n, time);
		break;
	case RPC_NOTICE:
		notice(s, &m, line, n, time);
		break;
	case RPC_RESULT:
	case RPC_ERROR:
		answer(s, &m, line, n, time);
		break;
	}
	rpc_free(&m);
}
