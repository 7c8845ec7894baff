/* The tools as a whole: which there are, their schemas and the check of arguments, both made from
 * the same rows; see mcp.h. Arguments that are wrong are a result of the tool that says so, which
 * a model reads and can correct; only a tool that does not exist is an error of the protocol. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/mcp/mcp.h"

static const struct {
	const struct tool *list;
	const unsigned *n;
} groups[] = {
	{ cell_tools, &ncell_tools },	{ exec_tools, &nexec_tools },
	{ file_tools, &nfile_tools },	{ disk_tools, &ndisk_tools },
	{ agent_tools, &nagent_tools }, { session_tools, &nsession_tools },
};

static bool is_offered(const struct tool *t)
{
	return !(mcp.read_only && (t->flags & TOOL_WRITES)) &&
	       !(mcp.cell && (t->flags & TOOL_CELLS));
}

const struct tool *tool_find(const char *name)
{
	for (unsigned g = 0; g < ARRAY_LEN(groups); g++)
		for (unsigned i = 0; i < *groups[g].n; i++)
			if (!strcmp(groups[g].list[i].name, name))
				return is_offered(&groups[g].list[i]) ? &groups[g].list[i] : NULL;
	return NULL;
}

/* With --cell there is nothing to choose. */
static bool is_cell(const struct tool_arg *a)
{
	return !strcmp(a->name, "cell");
}

static bool is_required(const struct tool_arg *a)
{
	return a->required && !(mcp.cell && is_cell(a));
}

/* ---- schemas ---- */

static void bounds_write(FILE *to, const struct tool_arg *a)
{
	fprintf(to, ",\"minimum\":%.17g", a->min);
	if (a->max > 0)
		fprintf(to, ",\"maximum\":%.17g", a->max);
}

static void choices_write(FILE *to, const struct tool_arg *a)
{
	fputs("\"type\":\"string\",\"enum\":[", to);
	for (unsigned i = 0; i < ARRAY_LEN(a->choices) && a->choices[i]; i++) {
		fputs(i ? "," : "", to);
		json_quoted(to, a->choices[i]);
	}
	fputc(']', to);
}

static void type_write(FILE *to, const struct tool_arg *a)
{
	switch (a->type) {
	case ARG_TEXT:
		fputs("\"type\":\"string\"", to);
		if (a->required)
			fputs(",\"minLength\":1", to);
		if (a->max > 0)
			fprintf(to, ",\"maxLength\":%.17g", a->max);
		break;
	case ARG_TEXTS:
		fputs("\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1", to);
		break;
	case ARG_MAP:
		fputs("\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}", to);
		break;
	case ARG_COUNT:
	case ARG_NUMBER:
		fputs(a->type == ARG_COUNT ? "\"type\":\"integer\"" : "\"type\":\"number\"", to);
		bounds_write(to, a);
		break;
	case ARG_BOOL:
		fputs("\"type\":\"boolean\"", to);
		break;
	case ARG_CHOICE:
		choices_write(to, a);
		break;
	}
}

static void args_write(FILE *to, const struct tool *t)
{
	const char *comma = "";

	fputs("{\"type\":\"object\",\"properties\":{", to);
	for (unsigned i = 0; i < t->nargs; i++) {
		if (mcp.cell && is_cell(&t->args[i]))
			continue;
		fputs(comma, to);
		json_quoted(to, t->args[i].name);
		fputs(":{", to);
		type_write(to, &t->args[i]);
		fputs(",\"description\":", to);
		json_quoted(to, t->args[i].about);
		fputc('}', to);
		comma = ",";
	}
	fputs("},\"required\":[", to);
	comma = "";
	for (unsigned i = 0; i < t->nargs; i++) {
		if (!is_required(&t->args[i]))
			continue;
		fputs(comma, to);
		json_quoted(to, t->args[i].name);
		comma = ",";
	}
	fputs("],\"additionalProperties\":false}", to);
}

static const char *truth(bool b)
{
	return b ? "true" : "false";
}

static void tool_write(FILE *to, const struct tool *t)
{
	fputs("{\"name\":", to);
	json_quoted(to, t->name);
	fputs(",\"title\":", to);
	json_quoted(to, t->title);
	fputs(",\"description\":", to);
	json_quoted(to, t->about);
	fputs(",\"inputSchema\":", to);
	args_write(to, t);
	if (t->output)
		fprintf(to, ",\"outputSchema\":%s", t->output);
	fprintf(to,
		",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":%s,"
		"\"idempotentHint\":%s,\"openWorldHint\":%s}}",
		truth(!(t->flags & TOOL_WRITES)), truth(t->flags & TOOL_DESTROYS),
		truth(t->flags & TOOL_REPEATABLE), truth(t->flags & TOOL_OUTSIDE));
}

void tools_write(FILE *to)
{
	const char *comma = "";

	fputs("{\"tools\":[", to);
	for (unsigned g = 0; g < ARRAY_LEN(groups); g++)
		for (unsigned i = 0; i < *groups[g].n; i++) {
			if (!is_offered(&groups[g].list[i]))
				continue;
			fputs(comma, to);
			tool_write(to, &groups[g].list[i]);
			comma = ",";
		}
	fputs("]}", to);
}

/* ---- arguments ---- */

static bool number_read(const struct json *v, double *ret)
{
	char *end;

	if (v->type != JSON_NUMBER)
		return false;
	*ret = strtod(v->text, &end);
	return !*end && isfinite(*ret);
}

static bool is_count(const char *s)
{
	return strlen(s) <= 15 && strspn(s, "0123456789") == strlen(s);
}

static bool all_texts(const struct json *v)
{
	for (v = v->first; v; v = v->next)
		if (v->type != JSON_TEXT)
			return false;
	return true;
}

static bool is_choice(const struct tool_arg *a, const char *text)
{
	for (unsigned i = 0; i < ARRAY_LEN(a->choices) && a->choices[i]; i++)
		if (!strcmp(a->choices[i], text))
			return true;
	return false;
}

/* What it must be; NULL: it is. */
static const char *arg_wrong(const struct tool_arg *a, const struct json *v)
{
	double n;

	switch (a->type) {
	case ARG_TEXT:
		if (v->type != JSON_TEXT || !text_is_utf8(v->text, strlen(v->text)))
			return "a text";
		if (a->required && !*v->text)
			return "a text that is not empty";
		return a->max > 0 && (double)strlen(v->text) > a->max ? "a shorter text" : NULL;
	case ARG_TEXTS:
		return v->type == JSON_LIST && v->first && all_texts(v)
			       ? NULL
			       : "a list of texts that is not empty";
	case ARG_MAP:
		return v->type == JSON_OBJECT && all_texts(v) ? NULL
							      : "an object whose values are texts";
	case ARG_COUNT:
	case ARG_NUMBER:
		if (!number_read(v, &n) || (a->type == ARG_COUNT && !is_count(v->text)))
			return a->type == ARG_COUNT ? "a whole number" : "a number";
		return n < a->min || (a->max > 0 && n > a->max)
			       ? "a number within the bounds of the schema"
			       : NULL;
	case ARG_BOOL:
		return v->type == JSON_BOOL ? NULL : "true or false";
	case ARG_CHOICE:
		return v->type == JSON_TEXT && is_choice(a, v->text) ? NULL
								     : "one of the schema's values";
	}
	return "something else";
}

static const struct tool_arg *arg_find(const struct tool *t, const char *name)
{
	for (unsigned i = 0; i < t->nargs; i++)
		if (!strcmp(t->args[i].name, name))
			return &t->args[i];
	return NULL;
}

int tool_check(const struct tool *tool, const struct json *args, struct err *e)
{
	for (const struct json *v = args ? args->first : NULL; v; v = v->next) {
		const struct tool_arg *a = arg_find(tool, v->key);
		const char *wrong = a ? arg_wrong(a, v) : NULL;

		if (!a)
			return err_set(e, ERR_UNKNOWN_FIELD, "%s has no argument '%.100s'",
				       tool->name, v->key);
		if (wrong)
			return err_set(e, ERR_WRONG_TYPE, "'%s' must be %s", a->name, wrong);
		for (const struct json *w = args->first; w != v; w = w->next)
			if (!strcmp(w->key, v->key))
				return err_set(e, ERR_INVALID, "'%s' is given twice", a->name);
	}
	for (unsigned i = 0; i < tool->nargs; i++) {
		bool there = false;

		for (const struct json *v = args ? args->first : NULL; v; v = v->next)
			there |= !strcmp(v->key, tool->args[i].name);
		if (!there && is_required(&tool->args[i]))
			return err_set(e, ERR_MISSING_FIELD, "the argument '%s' is missing",
				       tool->args[i].name);
	}
	return arg_find(tool, "cell") ? cell_is_ours(arg_cell(args), e) : 0;
}

const char *arg_cell(const struct json *args)
{
	const char *cell = json_get_text(args, "cell");

	return cell ? cell : mcp.cell ? mcp.cell : "";
}

int cell_is_ours(const char *cell, struct err *e)
{
	if (!mcp.cell || !strcmp(cell, mcp.cell))
		return 0;
	return err_set(e, ERR_DENIED,
		       "this server is for the cell '%s' only" REMEDY "leave 'cell' out", mcp.cell);
}

bool arg_flag(const struct json *args, const char *name)
{
	const struct json *v = json_get(args, name, JSON_BOOL);

	return v && !strcmp(v->text, "true");
}

uint64_t arg_count(const struct json *args, const char *name, uint64_t otherwise)
{
	uint64_t n = otherwise;

	json_get_u64(args, name, &n);
	return n;
}

/* ---- results ---- */

static void result_write(FILE *out, const char *text, size_t len, const char *data, bool error)
{
	fputs("{\"content\":[{\"type\":\"text\",\"text\":", out);
	json_bytes(out, text, len);
	fputs("}]", out);
	if (data && *data && !error)
		fprintf(out, ",\"structuredContent\":%s", data);
	fprintf(out, ",\"isError\":%s}", truth(error));
}

static void error_write(FILE *out, const struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	fprintf(f, "%s: %s", err_code(e), e->message);
	if (e->cause[0])
		fprintf(f, ": %s", e->cause);
	if (e->remedy[0])
		fprintf(f, "\n%s", e->remedy);
	fclose(f);
	result_write(out, text, size, NULL, true);
	free(text);
}

int tool_call(struct task *t, FILE *out)
{
	const struct tool *tool = t->what;
	const struct json *args = json_get(t->params, "arguments", JSON_OBJECT);
	char *text = NULL, *data = NULL;
	size_t text_size = 0, data_size = 0;
	struct answer a;
	int r;

	for (const struct json *v = t->params->first; v; v = v->next)
		if (!strcmp(v->key, "arguments") && v->type != JSON_OBJECT)
			return rpc_fail(&t->rpc, RPC_PARAMS, "'arguments' must be an object");
	a.text = open_memstream(&text, &text_size);
	a.data = open_memstream(&data, &data_size);
	if (!a.text || !a.data)
		return rpc_fail(&t->rpc, RPC_INTERNAL, "out of memory");
	r = tool_check(tool, args, &t->e);
	if (!r)
		r = tool->run(t, args, &a, &t->e);
	fclose(a.text);
	fclose(a.data);
	if (r < 0)
		error_write(out, &t->e);
	else
		result_write(out, text, text_size, data, false);
	free(text);
	free(data);
	return 0;
}
