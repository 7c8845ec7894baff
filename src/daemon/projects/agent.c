/* See agent.h. */
#include "daemon/projects/agent.h"

#include <string.h>

#include "daemon/agents/def.h"
#include "daemon/secrets/secrets.h"
#include "daemon/state/fields.h"
#include "store/store.h"

/* ---- what the definition adds ---- */

static int image_add(const struct agent_def *a, json_t *spec, struct err *e)
{
	char hash[HASH_TEXT];
	struct store s;
	struct err none;
	int found;

	if (json_object_get(spec, "image"))
		return 0;
	json_object_set_new(spec, "image", json_string(a->image));
	if (!strcmp(a->image, "host"))
		return 0;
	if (store_open(&s, e) < 0)
		return -1;
	found = tag_get(&s, a->image, hash, &none);
	store_close(&s);
	return found == 0
		       ? 0
		       : err_set(e, ERR_NOT_FOUND,
				 "the agent '%s' has no image" REMEDY "'viv agent add %s' makes it",
				 a->name, a->name);
}

/* Those that somebody has set; one suffices. */
static int secrets_add(struct daemon *d, const struct cell *parent, const struct agent_def *a,
		       json_t *spec, struct err *e)
{
	json_t *names, *have, *v;
	const char *first = NULL;
	size_t i, k;

	if (json_object_get(spec, "secrets") || !json_array_size(a->secrets))
		return 0;
	names = json_array();
	have = parent ? json_incref(json_object_get(parent->spec, "secrets"))
		      : secret_names(d->state);
	json_array_foreach(a->secrets, i, v) {
		const char *name = json_text(v, "name");

		first = first ? first : name;
		for (k = 0; k < json_array_size(have); k++)
			if (!strcmp(json_string_value(json_array_get(have, k)), name))
				json_array_append_new(names, json_string(name));
	}
	json_decref(have);
	if (json_array_size(names)) {
		json_object_set_new(spec, "secrets", names);
		return 0;
	}
	json_decref(names);
	return err_set(e, ERR_NOT_FOUND,
		       "the agent '%s' needs a key, and there is no secret '%s'" REMEDY
		       "'viv secret set %s' asks for it; 'secrets: []' in the file does without",
		       a->name, first, first);
}

static void rules_add(const struct agent_def *a, json_t *spec)
{
	json_t *all = json_array(), *own = json_object_get(spec, "policy");

	if (a->network)
		json_array_extend(all, (json_t *)(uintptr_t)a->network);
	if (own)
		json_array_extend(all, own);
	if (json_array_size(all))
		json_object_set(spec, "policy", all);
	json_decref(all);
}

static void env_add(const struct agent_def *a, json_t *spec)
{
	json_t *all = a->env ? json_copy((json_t *)(uintptr_t)a->env) : json_object();

	json_object_update(all, json_object_get(spec, "env"));
	if (json_object_size(all))
		json_object_set(spec, "env", all);
	json_decref(all);
}

static void workdir_add(const struct agent_def *a, json_t *spec)
{
	json_t *mount;
	size_t i;

	if (json_object_get(spec, "workdir"))
		return;
	json_array_foreach(json_object_get(spec, "mounts"), i, mount) {
		const char *target = json_text(mount, "target");

		if (target && !strcmp(target, a->workdir))
			json_object_set_new(spec, "workdir", json_string(target));
	}
}

int group_agent_add(struct daemon *d, const char *parent, const struct project_group *g,
		    json_t *spec, struct err *e)
{
	struct agent_def a;
	int r;

	if (!g->agent)
		return 0;
	r = agent_def_load(d, g->agent, &a, e);
	if (!r)
		r = image_add(&a, spec, e);
	if (!r)
		r = secrets_add(d, *parent ? cell_by_id(d, parent) : NULL, &a, spec, e);
	if (!r) {
		rules_add(&a, spec);
		env_add(&a, spec);
		workdir_add(&a, spec);
	}
	agent_def_free(&a);
	return r;
}

/* ---- its prompt ---- */

struct session *group_session(struct daemon *d, struct project_group *g, const struct cell *c)
{
	struct session *s = g->prompt ? session_by_key(d, c->id, group_prompt_hash(d, g)) : NULL;

	return s && session_is_prompted(s) ? s : NULL;
}

int group_prompt(struct daemon *d, struct project_group *g, struct cell *c, struct err *e)
{
	const char *key = group_prompt_hash(d, g);
	struct session *s = session_by_key(d, c->id, key);
	int64_t prompt, seq;

	/* One without a prompt: vivd was killed after it had made the session. */
	if (s)
		return session_is_prompted(s) ? 0
					      : session_prompt(s,
							       json_pack("[{s:s,s:s}]", "type",
									 "text", "text", g->prompt),
							       "project", &prompt, &seq, e);
	s = session_new(c,
			json_pack("{s:s,s:s,s:s}", "agent", g->agent, "key", key, "prompt",
				  g->prompt),
			"project", e);
	return s ? 0 : -1;
}
