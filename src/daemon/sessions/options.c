/* What an agent offers to choose from, modes, models and options of its own, and changes of them.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/sessions/private.h"

#define SET_MS 30000
#define KEPT_MAX 65536 /* bytes of a list of options that is shown */
#define CALLS_MAX 64 /* of ours that are open */

struct setter {
	struct list link;
	struct session *s;
	uv_timer_t timer;
	int64_t call;
	session_fn fn;
	void *arg;
};

/* ---- what agents say of their options ---- */

json_t *kept_json(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_t *copy = text && strlen(text) <= KEPT_MAX ? json_deep_copy(v) : NULL;

	free(text);
	return copy;
}

/* [{id,name}] of a list whose items have their id under another name. */
static json_t *choices(const json_t *list, const char *id)
{
	json_t *out = json_array(), *kept_out;
	const json_t *item, *inner;
	size_t i, k;

	json_array_foreach(list, i, item) {
		const json_t *group = json_object_get(item, "options");

		json_array_foreach(group, k, inner)
			if (json_text(inner, id))
				json_array_append_new(out,
						      json_pack("{s:s,s:s}", "id",
								json_text(inner, id), "name",
								json_text(inner, "name")
									? json_text(inner, "name")
									: json_text(inner, id)));
		if (json_text(item, id))
			json_array_append_new(
				out, json_pack("{s:s,s:s,s:s*}", "id", json_text(item, id), "name",
					       json_text(item, "name") ? json_text(item, "name")
								       : json_text(item, id),
					       "description", json_text(item, "description")));
	}
	kept_out = kept_json(out);
	json_decref(out);
	return kept_out;
}

static void options_take(struct session *s, const json_t *options)
{
	const json_t *o;
	size_t i;

	live_set(s, "config_options", kept_json(options));
	json_array_foreach(options, i, o) {
		const char *category = json_text(o, "category");
		const char *value = json_text(o, "currentValue");
		bool mode = category && !strcmp(category, "mode");

		if (!category || !value || (!mode && strcmp(category, "model")))
			continue;
		if (json_is_true(live_get(s, mode ? "mode_native" : "model_native")))
			continue;
		live_set(s, mode ? "mode" : "model", json_string(value));
		live_set(s, mode ? "modes" : "models",
			 choices(json_object_get(o, "options"), "value"));
	}
}

void acp_state_take(struct session *s, const json_t *o)
{
	const json_t *modes = json_object_get(o, "modes"), *models = json_object_get(o, "models");
	const json_t *options = json_object_get(o, "configOptions");

	if (json_is_object(modes) && json_text(modes, "currentModeId")) {
		live_set(s, "mode_native", json_true());
		live_set(s, "mode", json_string(json_text(modes, "currentModeId")));
		live_set(s, "modes", choices(json_object_get(modes, "availableModes"), "id"));
	}
	if (json_is_object(models) && json_text(models, "currentModelId")) {
		live_set(s, "model_native", json_true());
		live_set(s, "model", json_string(json_text(models, "currentModelId")));
		live_set(s, "models",
			 choices(json_object_get(models, "availableModels"), "modelId"));
	}
	if (json_is_array(options))
		options_take(s, options);
}

/* ---- changing them ---- */

/* The option of a category; NULL: none. */
static const char *option_of(const struct session *s, const char *category)
{
	const json_t *o;
	size_t i;

	json_array_foreach(live_get(s, "config_options"), i, o)
		if (json_text(o, "category") && !strcmp(json_text(o, "category"), category))
			return json_text(o, "id");
	return NULL;
}

static bool choice_is_known(const json_t *list, const char *id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_text(item, "id") && !strcmp(json_text(item, "id"), id))
			return true;
	return !json_array_size(list);
}

/* Within a transaction. what: mode, model or config. */
int option_send(struct session *s, const char *what, const char *option, const json_t *value,
		struct err *e)
{
	const char *text = json_string_value(value), *native;
	char list[16], flag[24];
	json_t *params;

	if (strcmp(what, "config")) {
		snprintf(list, sizeof(list), "%ss", what);
		snprintf(flag, sizeof(flag), "%s_native", what);
		native = json_is_true(live_get(s, flag)) ? what : NULL;
		option = native ? NULL : option_of(s, what);
		if (!native && !option)
			return err_set(e, ERR_UNSUPPORTED, "the agent has no %ss to choose from",
				       what);
		if (!choice_is_known(live_get(s, list), text))
			return err_set(e, ERR_INVALID,
				       "the agent has no %s '%.80s'" REMEDY
				       "GET the session to see them",
				       what, text);
	}
	if (option) {
		params = json_pack("{s:s,s:s,s:O}", "sessionId", acp_id(s), "configId", option,
				   "value", value);
		if (json_is_boolean(value))
			json_object_set_new(params, "type", json_string("boolean"));
	} else {
		params = json_pack("{s:s,s:s}", "sessionId", acp_id(s),
				   !strcmp(what, "mode") ? "modeId" : "modelId", text);
	}
	acp_call(s, "set",
		 option			 ? "session/set_config_option"
		 : !strcmp(what, "mode") ? "session/set_mode"
					 : "session/set_model",
		 params, json_pack("{s:s,s:O}", "name", what, "value", value));
	return 0;
}

static void setter_closed(uv_handle_t *h)
{
	free(h->data);
}

static void setter_free(struct setter *x)
{
	list_remove(&x->link);
	uv_close((uv_handle_t *)&x->timer, setter_closed);
}

static void setter_late(uv_timer_t *t)
{
	struct setter *x = t->data;
	struct err e;

	err_note(&e, ERR_FAILED, "the agent does not answer" REMEDY "cancel its turn, or close it");
	x->fn(x->arg, x->s, &e);
	setter_free(x);
}

int session_set(struct session *s, const char *what, const char *option, const json_t *value,
		session_fn fn, void *arg, struct err *e)
{
	struct setter *x;

	if (s->phase != PHASE_READY || !session_is_acp(s))
		return err_set(e, ERR_WRONG_STATE,
			       session_is_acp(s)
				       ? "the agent does not run; the session is %s" REMEDY
					 "prompt it, or wait until it is idle"
				       : "the agent does not speak ACP and has no settings",
			       state_name(s->state));
	if (json_object_size(live_get(s, "calls")) >= CALLS_MAX)
		return err_set(e, ERR_OVERLOADED,
			       "the agent has not answered earlier requests" REMEDY
			       "try again later");
	session_begin(s);
	if (option_send(s, what, option, value, e) < 0) {
		session_end(s, NULL);
		return -1;
	}
	x = xalloc(sizeof(*x));
	x->s = s;
	uv_timer_init(&s->d->loop, &x->timer);
	x->timer.data = x;
	uv_timer_start(&x->timer, setter_late, SET_MS, 0);
	x->call = s->calls;
	x->fn = fn;
	x->arg = arg;
	list_init(&x->link);
	list_append(&s->setters, &x->link);
	if (session_end(s, e) == 0)
		return 0;
	setter_free(x);
	return -1;
}

void session_forget(struct session *s, const void *arg)
{
	struct setter *x, *tmp;

	list_for_each_safe(x, tmp, &s->setters, link)
		if (x->arg == arg)
			setter_free(x);
}

void setters_end(struct session *s, int64_t call, const struct err *e)
{
	struct setter *x, *tmp;

	list_for_each_safe(x, tmp, &s->setters, link)
		if (!call || x->call == call) {
			x->fn(x->arg, s, e);
			setter_free(x);
		}
}

void setters_drop(struct session *s)
{
	struct err e;

	err_note(&e, ERR_CLOSED, "the agent ended before it answered");
	setters_end(s, 0, &e);
}
