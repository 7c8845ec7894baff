/* What a session runs: the words that it was created with, or those of an agent that is known by
 * name. The one place that knows of definitions of agents. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/agents/def.h"
#include "daemon/agents/prompt.h"
#include "daemon/sessions/private.h"

/* How it is told about its computer: the first way of its definition that sessions have. */
static void prompt_choose(struct launch *l, const json_t *how)
{
	const char *env = json_text(how, "env"), *file = json_text(how, "file");

	l->how = json_text(how, "meta") ? PROMPT_META
		 : env			? PROMPT_ENV
		 : file			? PROMPT_FILE
					: PROMPT_FIRST;
	if (l->how == PROMPT_ENV || l->how == PROMPT_FILE) {
		const char *where = l->how == PROMPT_ENV ? env : file;

		l->where = xstrndup(where, strlen(where));
	}
}

/* The words of a known agent, its settings, and what it is told. */
static int agent_find(struct cell *c, const char *name, struct launch *l, struct err *e)
{
	struct agent_def a = { 0 };
	const json_t *words;

	if (agent_def_load(c->d, name, &a, e) < 0) {
		agent_def_free(&a);
		return -1;
	}
	/* One that does not speak ACP takes each prompt by itself. */
	if (!a.acp && a.print)
		l->acp = false;
	words = l->acp ? a.acp : a.print;
	if (!words) {
		err_note(e, ERR_CONFLICT,
			 l->acp ? "the agent '%s' does not speak ACP: its definition has no 'acp'"
				: "the definition of the agent '%s' has no 'print' for one prompt",
			 a.name);
		agent_def_free(&a);
		return -1;
	}
	json_decref(l->command);
	l->command = json_deep_copy(words);
	json_object_update(l->env, (json_t *)(uintptr_t)a.env);
	if (a.files)
		json_object_update(l->files, (json_t *)(uintptr_t)a.files);
	prompt_choose(l, a.system_prompt);
	l->prompt = agent_prompt_text(c->d, c);
	agent_def_free(&a);
	return 0;
}

static void prompt_add(struct launch *l, const char *text)
{
	char *both = NULL;

	if (!text || !*text)
		return;
	if (asprintf(&both, "%s%s%s", l->prompt ? l->prompt : "", l->prompt ? "\n\n" : "", text) <
	    0)
		return;
	free(l->prompt);
	l->prompt = both;
}

/* What is told goes where the agent looks for it. */
static void prompt_place(struct launch *l)
{
	if (!l->prompt || !l->where)
		return;
	if (l->how == PROMPT_OPTION) {
		json_array_append_new(l->command, json_string(l->where));
		json_array_append_new(l->command, json_string(l->prompt));
	} else if (l->how == PROMPT_ENV) {
		json_object_set_new(l->env, l->where, json_string(l->prompt));
	} else if (l->how == PROMPT_FILE) {
		json_object_set_new(l->files, l->where, json_string(l->prompt));
	}
}

int launch_make(struct session *s, struct cell *c, struct launch *l, struct err *e)
{
	const char *agent = json_text(s->spec, "agent");
	const json_t *text = live_get(s, "oneshot");

	*l = (struct launch){ .acp = session_is_acp(s),
			      .env = json_object(),
			      .files = json_object(),
			      .how = PROMPT_FIRST,
			      .workdir = json_text(s->spec, "workdir"),
			      .user = json_text(s->spec, "user") };
	if (!c)
		return err_set(e, ERR_NOT_FOUND, "the cell is gone");
	l->command = json_deep_copy(json_object_get(s->spec, "command"));
	if (agent && agent_find(c, agent, l, e) < 0)
		return -1;
	if (json_is_false(json_object_get(s->spec, "system_prompt"))) {
		free(l->prompt);
		l->prompt = NULL;
	}
	prompt_add(l, json_text(s->spec, "append_prompt"));
	json_object_set_new(l->env, "VIVARIUM_SESSION", json_string(s->id));
	json_object_update(l->env, json_object_get(s->spec, "env"));
	prompt_place(l);
	if (!l->acp && text)
		json_array_append(l->command, (json_t *)(uintptr_t)text);
	return 0;
}

void launch_free(struct launch *l)
{
	json_decref(l->command);
	json_decref(l->env);
	json_decref(l->files);
	free(l->prompt);
	free(l->where);
	*l = (struct launch){ 0 };
}
