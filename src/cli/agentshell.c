/* viv agent shell: an agent's own terminal program in a cell with its image, rules, secrets,
 * settings and a description of the cell.
 *
 * The cell goes when the program ends, unless it has a name or works on a copy; one of a name that
 * exists is used as it is, and gets settings files only where it has none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/agent.h"
#include "cli/agentcell.h"
#include "cli/exec.h"
#include "cli/vivd.h"

/* What a description of a cell begins with (daemon/agents/prompt.c). */
#define PROMPT_HEAD "# The computer that you work on\n"

struct shell {
	const struct args *a;
	const struct json *agent;
	struct agent_cell cell;
	char *prompt; /* NULL: none is given */
};

/* ---- what the agent finds there ---- */

static int prompt_make(struct shell *s, struct err *e)
{
	const char *more = arg_value(s->a, "append-prompt");
	struct buf b = { 0 };
	struct json_doc d = { 0 };

	if (!arg_is_on(s->a, "no-system-prompt")) {
		if (vivd_ask("GET", cell_path(s->cell.id, "/prompt").str, NULL, &d, e) < 0)
			return -1;
		buf_add_text(&b, json_show(d.root, "text"));
		json_free(&d);
	}
	if (more) {
		buf_add_text(&b, b.len ? "\n" : PROMPT_HEAD "\n");
		buf_add_text(&b, more);
		buf_add_text(&b, "\n");
	}
	s->prompt = b.len ? (char *)b.p : NULL;
	return 0;
}

static struct buf file_path(const struct shell *s, const char *path, const char *replace)
{
	struct buf b = { 0 };

	buf_add_text(&b, cell_path(s->cell.id, "/files").str);
	query_add(&b, "path", path);
	query_add(&b, "replace", replace);
	if (replace)
		query_add(&b, "parents", "1");
	return b;
}

static int file_put(const struct shell *s, const char *path, const char *text, bool replace,
		    struct err *e)
{
	struct buf at = file_path(s, path, replace ? "1" : "0");
	struct viv_reply reply = { 0 };
	struct viv_error error;
	struct viv_client *c;
	int r = vivd_connect(&c, e);

	if (!r &&
	    (viv_put_begin(c, (char *)at.p, &error) < 0 ||
	     viv_put_data(c, text, strlen(text), &error) < 0 || viv_put_end(c, &reply, &error) < 0))
		r = viv_error_get(&error, e);
	else if (!r && reply.status >= 300)
		r = vivd_refusal(&reply, e);
	viv_reply_free(&reply);
	buf_free(&at);
	return r;
}

/* Is what is there a description that viv wrote? */
static bool is_ours(const struct shell *s, const char *path)
{
	struct buf at = file_path(s, path, NULL);
	char head[sizeof(PROMPT_HEAD)] = "";
	struct viv_error error;
	struct viv_client *c;
	size_t n = 0;
	struct err unused;
	long got;

	if (vivd_get((char *)at.p, &c, &unused) == 0)
		while (n < sizeof(head) - 1 &&
		       (got = viv_get_data(c, head + n, sizeof(head) - 1 - n, &error)) > 0)
			n += (size_t)got;
	/* The rest was not read. */
	vivd_disconnect();
	buf_free(&at);
	return !strcmp(head, PROMPT_HEAD);
}

/* Files that are there already are the user's. */
static int files_put(const struct shell *s, struct err *e)
{
	const struct json *files = json_get(s->agent, "files", JSON_OBJECT);
	const char *path = json_show(json_get(s->agent, "system_prompt", JSON_OBJECT), "file");

	for (const struct json *f = files ? files->first : NULL; f; f = f->next)
		if (f->text && file_put(s, f->key, f->text, false, e) < 0 && e->kind != ERR_EXISTS)
			return err_wrap(e, "cannot write '%s' in the cell", f->key);
	if (!s->prompt || !*path || file_put(s, path, s->prompt, false, e) == 0)
		return 0;
	if (e->kind != ERR_EXISTS)
		return err_wrap(e, "cannot write '%s' in the cell", path);
	if (is_ours(s, path))
		return file_put(s, path, s->prompt, true, e);
	warn("'%s' is there already in the cell and was left as it is: the agent is not told about "
	     "its cell",
	     path);
	return 0;
}

/* ---- the program ---- */

static int program_run_in(const struct shell *s, struct err *e)
{
	const struct json *command = json_get(s->agent, "command", JSON_LIST),
			  *how = json_get(s->agent, "system_prompt", JSON_OBJECT);
	const char *option = json_show(how, "option"), *variable = json_show(how, "env"),
		   *env[2] = { NULL, NULL };
	char *words[ARGS_MAX], *text = NULL;
	unsigned n = 0;

	for (const struct json *w = command->first; w && n < ARGS_MAX / 2; w = w->next)
		words[n++] = w->text;
	if (s->prompt && *option) {
		words[n++] = xstrndup(option, strlen(option));
		words[n++] = s->prompt;
	} else if (s->prompt && *variable && asprintf(&text, "%s=%s", variable, s->prompt) > 0) {
		env[0] = text;
	}
	for (int i = 1; i < s->a->n && n < ARGS_MAX - 1; i++)
		words[n++] = s->a->words[i];
	words[n] = NULL;
	return cell_exec(s->cell.id, words, env, json_show(s->agent, "workdir"), e);
}

/* It is there, whatever the image has. */
static int workdir_make(const struct shell *s, struct err *e)
{
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, cell_path(s->cell.id, "/files/mkdir").str);
	query_add(&b, "path", json_show(s->agent, "workdir"));
	query_add(&b, "parents", "1");
	r = vivd_ask("POST", (char *)b.p, NULL, NULL, e);
	buf_free(&b);
	return r < 0 && e->kind == ERR_EXISTS ? 0 : r;
}

int agent_shell_main(struct args *a, struct err *e)
{
	struct shell s = { .a = a };
	struct agent_cell *c = &s.cell;
	struct json_doc d = { 0 };
	int status = -1;

	if (agent_ask(a->words[0], &d, e) < 0)
		return -1;
	s.agent = d.root;
	if (!json_get(d.root, "command", JSON_LIST))
		return err_set(e, ERR_CONFLICT,
			       "the agent '%s' has no terminal program (no 'command')",
			       a->words[0]);
	*c = (struct agent_cell){ .agent = a->words[0],
				  .def = d.root,
				  .name = arg_value(a, "name"),
				  .unnamed = !arg_is_on(a, "on-copy"),
				  .no_secrets = arg_is_on(a, "no-secrets"),
				  .start = true };
	/* If viv is killed, nobody else removes it. */
	c->idle = c->name ? NULL : "60";
	if (agent_cell_places(c, a, e) == 0 && agent_cell_get(c, e) == 0 &&
	    workdir_make(&s, e) == 0 && prompt_make(&s, e) == 0 && files_put(&s, e) == 0)
		status = program_run_in(&s, e);
	if (status < 0)
		status = report(e);
	if (*c->id && c->copied)
		fprintf(stderr,
			"viv: the changes are in the copy: 'viv merge %s' brings them back, 'viv "
			"merge "
			"--discard %s; viv rm -f %s' throws them away\n",
			c->shown, c->shown, c->shown);
	else if (c->made && !c->name)
		agent_cell_drop(c);
	return status;
}
