/* /v1/tools: programs and MCP servers of the operator's that cells can call. */
#include "daemon/tools/tools.h"

#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "daemon/state/fields.h"
#include "daemon/tools/schema.h"
#include "spec/options.h"

#define COMMAND_WORDS 256
#define COMMAND_BYTES 65536

void tools_list(struct request *r)
{
	json_t *all = tools_all(r->d), *list = json_array(), *t;
	size_t i;

	/* Schemas are long; one tool alone shows them. */
	json_array_foreach(all, i, t) {
		json_t *s = tool_shown(t, false, NULL, NULL);

		json_object_set(s, "kind", json_object_get(t, "kind"));
		json_object_set(s, "command", json_object_get(t, "command"));
		json_array_append_new(list, s);
	}
	json_decref(all);
	reply_json(r, 200, json_pack("{s:o}", "tools", list));
}

void tool_get(struct request *r)
{
	struct err e = { 0 };
	json_t *t = tool_load(r->d, r->param[0], &e);

	if (t)
		reply_json(r, 200, t);
	else
		reply_err(r, &e);
}

void tool_delete(struct request *r)
{
	struct err e = { 0 };

	if (tool_remove(r->d, r->param[0], &e) < 0)
		reply_err(r, &e);
	else
		reply_nothing(r);
}

/* ---- adding ---- */

static int command_check(const json_t *command, struct err *e)
{
	const json_t *word;
	size_t i, bytes = 0;

	json_array_foreach(command, i, word) {
		bytes += json_string_length(word) + 1;
		if (strlen(json_string_value(word)) != json_string_length(word))
			return err_set(e, ERR_INVALID, "a word of the command has a NUL byte");
	}
	if (!i || i > COMMAND_WORDS || bytes > COMMAND_BYTES)
		return err_set(e, ERR_INVALID, "the command has no words, or too many");
	if (json_string_value(json_array_get(command, 0))[0] != '/')
		return err_set(e, ERR_INVALID,
			       "the program '%.200s' is not an absolute path" REMEDY
			       "tools are not looked up in vivd's PATH",
			       json_string_value(json_array_get(command, 0)));
	return 0;
}

static int bounds_check(const json_t *o, struct err *e)
{
	json_int_t time = json_integer_value(json_object_get(o, "timeout"));
	json_int_t bytes = json_integer_value(json_object_get(o, "max_output"));
	const char *text = json_text(o, "description");

	if (json_object_get(o, "timeout") && (time < 1 || time > TOOL_TIMEOUT_MAX))
		return err_set(e, ERR_INVALID, "'timeout' is from 1 to %d seconds",
			       TOOL_TIMEOUT_MAX);
	if (json_object_get(o, "max_output") && (bytes < 1 || bytes > TOOL_OUTPUT_MAX))
		return err_set(e, ERR_INVALID, "'max_output' is from 1 to %d bytes",
			       TOOL_OUTPUT_MAX);
	if (text && strlen(text) >= TOOL_TEXT_MAX)
		return err_set(e, ERR_INVALID, "'description' is longer than %d bytes",
			       TOOL_TEXT_MAX - 1);
	return 0;
}

/* What both kinds have; the caller's. NULL: an error. */
static json_t *tool_make(const char *name, const json_t *o, struct err *e)
{
	json_t *command = json_object_get(o, "command"), *mcp = json_object_get(o, "mcp");
	json_t *timeout = json_object_get(o, "timeout"), *bytes = json_object_get(o, "max_output");
	const char *text = json_text(o, "description");

	if (!tool_name_is_valid(name)) {
		err_note(e, ERR_INVALID,
			 "'%.80s' is not a name for a tool" REMEDY
			 "it has up to %d lower-case letters, digits, '-' and '_'",
			 name, TOOL_NAME_MAX);
		return NULL;
	}
	if (!command == !mcp || (mcp && json_object_get(o, "schema"))) {
		err_note(e, ERR_INVALID, "give 'command' with 'schema', or 'mcp' alone");
		return NULL;
	}
	if (command_check(command ? command : mcp, e) < 0 || bounds_check(o, e) < 0)
		return NULL;
	return json_pack("{s:s,s:o,s:s,s:O,s:I,s:I}", "name", name, "description",
			 json_clean(text ? text : ""), "kind", mcp ? "mcp" : "command", "command",
			 command ? command : mcp, "timeout",
			 timeout ? json_integer_value(timeout) : (json_int_t)TOOL_TIMEOUT,
			 "max_output", bytes ? json_integer_value(bytes) : (json_int_t)TOOL_OUTPUT);
}

/* Takes tool. */
static void tool_reply(struct request *r, json_t *tool)
{
	struct err e = { 0 };
	bool is_new;

	if (tool_save(r->d, tool, &is_new, &e) < 0) {
		reply_err(r, &e);
		json_decref(tool);
	} else {
		reply_json(r, is_new ? 201 : 200, tool);
	}
}

/* A server that is asked for its tools. */
struct listing {
	struct op op;
	json_t *tool;
};

static void listed(void *arg, json_t *subs, json_t *skipped, const struct err *e)
{
	struct listing *x = arg;
	struct request *r = op_end(&x->op);

	if (r && subs) {
		json_object_set(x->tool, "subcommands", subs);
		if (json_array_size(skipped))
			json_object_set(x->tool, "skipped", skipped);
		tool_reply(r, json_incref(x->tool));
	} else if (r) {
		reply_err(r, e);
	}
	json_decref(subs);
	json_decref(skipped);
	json_decref(x->tool);
	free(x);
}

/* Takes tool. */
static int mcp_add(struct request *r, json_t *tool, struct err *e)
{
	struct listing *x = xalloc(sizeof(*x));
	char **argv = json_words(json_object_get(tool, "command"));
	int ret;

	x->tool = tool;
	ret = mcp_list(r->d, argv, r->param[0], listed, x, e);
	free(argv);
	if (ret < 0) {
		json_decref(tool);
		free(x);
	} else {
		op_begin(r, &x->op);
	}
	return ret;
}

static int tool_add(struct request *r, const json_t *o, struct err *e)
{
	json_t *tool = tool_make(r->param[0], o, e), *schema;

	if (!tool)
		return -1;
	if (tool_is_mcp(tool))
		return mcp_add(r, tool, e);
	if (!json_object_get(o, "schema")) {
		json_decref(tool);
		return err_set(e, ERR_MISSING_FIELD, "'schema' is missing");
	}
	schema = schema_read(json_object_get(o, "schema"), e);
	if (!schema) {
		json_decref(tool);
		return -1;
	}
	json_object_set_new(tool, "schema", schema);
	tool_reply(r, tool);
	return 0;
}

void tool_put(struct request *r)
{
	static const struct field fields[] = {
		{ "command", FIELD_TEXTS, false }, { "mcp", FIELD_TEXTS, false },
		{ "schema", FIELD_OBJECT, false }, { "description", FIELD_TEXT, false },
		{ "timeout", FIELD_INT, false },   { "max_output", FIELD_INT, false },
	};
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct err e = { 0 };

	if (!o)
		return;
	if (!request_is_owner(r))
		reply_error(r, ERR_FORBIDDEN,
			    "only vivd's own user, on its socket, can add tools: they are programs "
			    "that run as that user");
	else if (tool_add(r, o, &e) < 0)
		reply_err(r, &e);
	json_decref(o);
}
