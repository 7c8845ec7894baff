/* /v1/agents: the known agents (daemon/agents/def.h); /v1/cells/{cell}/prompt: what one is told
 * about its cell. */
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/routes.h"
#include "api/subagents.h"
#include "daemon/agents/def.h"
#include "daemon/agents/prompt.h"
#include "daemon/state/events.h"
#include "store/store.h"

/* Which of the agents have an image. */
static void images_add(json_t *const *agents, size_t n)
{
	char hash[HASH_TEXT];
	struct store s;
	struct err e;

	if (store_open(&s, &e) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *tag = json_text(agents[i], "image");

		if (tag && tag_get(&s, tag, hash, &e) == 0)
			json_object_set_new(agents[i], "image_id", json_string(hash));
	}
	store_close(&s);
}

void agents_list(struct request *r)
{
	json_t *list = agent_defs(r->d), **all = xalloc((json_array_size(list) + 1) * sizeof(*all));
	json_t *a;
	size_t i;

	json_array_foreach(list, i, a)
		all[i] = a;
	images_add(all, json_array_size(list));
	free(all);
	if (r->rights.family)
		list = subagents_told(r, list);
	reply_json(r, 200, json_pack("{s:o}", "agents", list));
}

static void agent_reply(struct request *r, unsigned status)
{
	struct err e = { 0 };
	json_t *a = agent_def_shown(r->d, r->param[0], &e);

	if (!a && r->rights.family)
		agent_missing(r->param[0], &e);
	if (!a) {
		reply_err(r, &e);
		return;
	}
	images_add(&a, 1);
	if (r->rights.family)
		a = subagent_told(r, a, &e);
	if (a)
		reply_json(r, status, a);
	else
		reply_err(r, &e);
}

void agent_get(struct request *r)
{
	agent_reply(r, 200);
}

void agent_put(struct request *r)
{
	json_t *o = request_object(r);
	struct err e = { 0 };
	bool is_new = false;
	char *text;

	if (!o)
		return;
	if (!json_object_get(o, "name"))
		json_object_set_new(o, "name", json_string(r->param[0]));
	/* JSON is YAML, too. */
	text = json_dumps(o, JSON_INDENT(2));
	if (agent_def_save(r->d, r->param[0], text, strlen(text), &is_new, &e) < 0) {
		reply_err(r, &e);
	} else {
		event_add(r->d, is_new ? "agent.created" : "agent.changed", NULL,
			  json_pack("{s:s}", "name", r->param[0]));
		agent_reply(r, is_new ? 201 : 200);
	}
	free(text);
	json_decref(o);
}

void agent_delete(struct request *r)
{
	struct err e = { 0 };

	if (agent_def_remove(r->d, r->param[0], &e) < 0) {
		reply_err(r, &e);
		return;
	}
	event_add(r->d, "agent.removed", NULL, json_pack("{s:s}", "name", r->param[0]));
	reply_nothing(r);
}

void prompt_get(struct request *r)
{
	struct cell *c = request_cell(r);
	char *text;

	if (!c)
		return;
	text = agent_prompt_text(r->d, c);
	reply_json(r, 200, json_pack("{s:s}", "text", text));
	free(text);
}
