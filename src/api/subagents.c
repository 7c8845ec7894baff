/* What a cell is told of agents, and which it can have in its descendants (docs/subcells.md): those
 * whose image the caller's rules about cells allow. Others do not exist for it.
 *
 * Of a definition a cell gets what it needs to make a cell for the agent, with the secrets that it
 * has itself. "lacks" says what an agent would miss in any cell that the caller can make: hosts
 * that the caller's own rules deny, and secrets, if it has none of those that the agent can use. */
#include <string.h>

#include "api/cells.h"
#include "api/subagents.h"
#include "api/subcells.h"
#include "daemon/agents/def.h"
#include "daemon/tools/tools.h"

static bool image_is_allowed(const struct request *r, const char *image)
{
	return r->grants && image && subcell_image_is_allowed(r->grants, image);
}

/* Those of an agent's secrets that the cell has. */
static json_t *secrets_of(const struct cell *c, const json_t *wanted)
{
	const json_t *has = json_object_get(c->spec, "secrets"), *s, *h;
	json_t *list = json_array();
	size_t i, k;

	json_array_foreach(wanted, i, s)
		json_array_foreach(has, k, h)
			if (!strcmp(json_string_value(h), json_text(s, "name")))
				json_array_append_new(list, json_pack("{s:s}", "name",
								      json_text(s, "name")));
	return list;
}

/* Takes a definition; NULL: there is none for this cell. */
static json_t *agent_told(const struct request *r, json_t *def)
{
	static const char *const told[] = { "name", "title",   "image",	  "image_id",
					    "env",  "network", "workdir", "home" };
	const struct cell *c = cell_by_id(r->d, r->rights.cell);
	const json_t *wanted = json_object_get(def, "secrets");
	const char *source = json_text(def, "source");
	json_t *o, *lacks, *hosts, *secrets;

	if (!c || !image_is_allowed(r, json_text(def, "image"))) {
		json_decref(def);
		return NULL;
	}
	o = json_object();
	for (unsigned i = 0; i < ARRAY_LEN(told); i++)
		if (json_object_get(def, told[i]))
			json_object_set(o, told[i], json_object_get(def, told[i]));
	/* Paths are the host's. */
	json_object_set_new(o, "source",
			    json_string(source && !strcmp(source, "built-in") ? source
									      : "operator"));
	secrets = secrets_of(c, wanted);
	hosts = grants_denied(r->grants, json_object_get(def, "network"));
	lacks = json_object();
	if (json_array_size(hosts))
		json_object_set(lacks, "hosts", hosts);
	if (json_array_size(wanted) && !json_array_size(secrets)) {
		json_t *names = json_array();
		const json_t *s;
		size_t i;

		json_array_foreach(wanted, i, s)
			json_array_append(names, json_object_get(s, "name"));
		json_object_set_new(lacks, "secrets", names);
	}
	if (json_array_size(secrets))
		json_object_set(o, "secrets", secrets);
	if (json_object_size(lacks))
		json_object_set(o, "lacks", lacks);
	json_decref(secrets);
	json_decref(hosts);
	json_decref(lacks);
	json_decref(def);
	return o;
}

json_t *subagents_told(const struct request *r, json_t *defs)
{
	json_t *list = json_array(), *def, *o;
	size_t i;

	json_array_foreach(defs, i, def) {
		o = agent_told(r, json_incref(def));
		if (o)
			json_array_append_new(list, o);
	}
	json_decref(defs);
	return list;
}

json_t *subagent_told(const struct request *r, json_t *def, struct err *e)
{
	const char *name = json_text(def, "name");
	char shown[AGENT_NAME_LEN + 1];
	json_t *o;

	snprintf(shown, sizeof(shown), "%s", name ? name : "");
	o = agent_told(r, def);
	if (!o)
		agent_missing(shown, e);
	return o;
}

int subagent_check(const struct request *r, const char *name, struct err *e)
{
	struct agent_def a = { 0 };
	int ret = agent_def_load(r->d, name, &a, e);

	/* Why one cannot be read is the operator's business. */
	if (ret < 0 || !image_is_allowed(r, a.image))
		ret = agent_missing(name, e);
	agent_def_free(&a);
	return ret;
}
