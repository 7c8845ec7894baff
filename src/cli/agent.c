/* viv agent: the known agents, their images, and what they are told. 'shell' is in agentshell.c. */
#include "cli/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list.h"
#include "cli/vivd.h"

#define WORDS_MAX 64

int agent_ask(const char *name, struct json_doc *ret, struct err *e)
{
	return vivd_ask("GET", vivd_path("/v1/agents/", name, "").str, NULL, ret, e);
}

bool image_is_there(const char *tag)
{
	struct err unused;

	return vivd_ask("GET", vivd_path("/v1/images/", tag, "").str, NULL, NULL, &unused) == 0;
}

/* ---- ls, show ---- */

static const struct json *packages_of(const struct json *agent)
{
	const struct json *p = json_get(agent, "packages", JSON_OBJECT);

	return p ? p->first : NULL;
}

/* The version that its image has, by the image's labels; "": not known. */
static void version_find(const struct json *agent, char *ret, size_t size)
{
	const struct json *first = packages_of(agent), *labels;
	struct json_doc d = { 0 };
	char label[400];
	struct err unused;

	*ret = '\0';
	if (!first || !*json_show(agent, "image_id") ||
	    vivd_ask("GET", vivd_path("/v1/images/", json_show(agent, "image"), "").str, NULL, &d,
		     &unused) < 0)
		return;
	labels = json_get(json_get(d.root, "config", JSON_OBJECT), "labels", JSON_OBJECT);
	snprintf(label, sizeof(label), "vivarium.agent.package.%.300s", first->key);
	snprintf(ret, size, "%s", json_show(labels, label));
	json_free(&d);
}

static void heading_print(void)
{
	printf("%-16s %-20s %-12s %-20s %s\n", "NAME", "TITLE", "VERSION", "IMAGE", "DEFINITION");
}

static void row_print(const struct json *agent)
{
	const struct json *error = json_get(agent, "error", JSON_OBJECT);
	const char *image = json_show(agent, "image");
	char version[64];

	if (error) {
		printf("%-16s ", json_show(agent, "name"));
		text_print(stdout, json_show(error, "message"), 300);
		putchar('\n');
		return;
	}
	version_find(agent, version, sizeof(version));
	printf("%-16s ", json_show(agent, "name"));
	printf("%-20.20s %-12.30s %-20s ", json_show(agent, "title"), *version ? version : "-",
	       !strcmp(image, "host") || *json_show(agent, "image_id") ? image : "not made");
	text_print(stdout, json_show(agent, "source"), 300);
	putchar('\n');
}

static const char *name_of(const struct json *agent)
{
	return json_show(agent, "name");
}

int agent_ls_main(struct args *a, struct err *e)
{
	static const struct listing agents = { .path = "/v1/agents",
					       .member = "agents",
					       .heading = heading_print,
					       .row = row_print,
					       .name = name_of };

	return list_show(a, &agents, e);
}

int agent_show_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	int r = agent_ask(a->words[0], &d, e);

	if (r == 0)
		json_line_print(d.root, !a->json);
	json_free(&d);
	return r;
}

int agent_prompt_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	int r = vivd_ask("GET", cell_path(a->words[0], "/prompt").str, NULL, &d, e);

	if (r == 0 && a->json)
		json_line_print(d.root, false);
	else if (r == 0)
		fputs(json_show(d.root, "text"), stdout);
	json_free(&d);
	return r;
}

/* ---- definitions ---- */

/* A command line as a list of words: separated by blanks, quotes keep them together. */
static int line_add(struct buf *b, const char *name, const char *line, struct err *e)
{
	unsigned n = 0;

	if (!line)
		return 0;
	json_member_add(b, name, "[");
	for (const char *s = line + strspn(line, " \t"); *s; s += strspn(s, " \t")) {
		struct buf word = { 0 };

		buf_add_text(&word, "");
		while (*s && *s != ' ' && *s != '\t') {
			char quote = *s == '\'' || *s == '"' ? *s : '\0';
			size_t len = quote ? strcspn(s + 1, quote == '"' ? "\"" : "'")
					   : strcspn(s, " \t'\"");

			if (quote && !s[1 + len]) {
				buf_free(&word);
				return err_set(e, ERR_USAGE, "--%s: a quote is not closed", name);
			}
			buf_add(&word, s + !!quote, len);
			s += len + 2 * (size_t) !!quote;
		}
		buf_add(&word, "", 1);
		json_member_text(b, NULL, (char *)word.p);
		buf_free(&word);
		if (++n > WORDS_MAX)
			return err_set(e, ERR_USAGE, "--%s has more than %d words", name,
				       WORDS_MAX);
	}
	buf_add_text(b, "]");
	return n ? 0 : err_set(e, ERR_USAGE, "--%s has no words", name);
}

/* NAME@VERSION, of which the version may be missing. */
static void packages_add(struct buf *b, const struct args *a)
{
	const char *p;
	unsigned at = 0;
	bool any = false;

	while ((p = arg_next(a, "package", &at))) {
		const char *version = *p ? strchr(p + 1, '@') : NULL;
		char *name = xstrndup(p, version ? (size_t)(version - p) : strlen(p));

		if (!any)
			json_member_add(b, "packages", "{");
		any = true;
		json_member_text(b, name, version ? version + 1 : "latest");
		free(name);
	}
	if (any)
		buf_add_text(b, "}");
}

static void list_add(struct buf *b, const struct args *a, const char *option, const char *member,
		     const char *before, const char *after)
{
	const char *v;
	unsigned at = 0;
	bool any = false;

	while ((v = arg_next(a, option, &at))) {
		struct buf text = { 0 };

		if (!any)
			json_member_add(b, member, "[");
		any = true;
		buf_add_text(&text, before);
		if (*after)
			json_text_add(&text, v);
		else
			buf_add_text(&text, v);
		buf_add_text(&text, after);
		if (*after)
			json_member_add(b, NULL, (char *)text.p);
		else
			json_member_text(b, NULL, (char *)text.p);
		buf_free(&text);
	}
	if (any)
		buf_add_text(b, "]");
}

static bool defines(const struct args *a)
{
	return arg_value(a, "command") || arg_value(a, "acp") || arg_value(a, "print") ||
	       arg_value(a, "package") || arg_value(a, "network") || arg_value(a, "secret");
}

/* A definition of the user's own, with what the options say. */
static int define(const struct args *a, struct err *e)
{
	const char *base = arg_value(a, "base");
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_text(&b, "name", a->words[0]);
	packages_add(&b, a);
	/* Nothing is installed: it is where it runs. */
	if (!arg_value(a, "package"))
		json_member_text(&b, "image", base ? base : "host");
	list_add(&b, a, "network", "network", "use ", "");
	list_add(&b, a, "secret", "secrets", "{\"name\":", "}");
	r = line_add(&b, "command", arg_value(a, "command"), e);
	if (!r)
		r = line_add(&b, "acp", arg_value(a, "acp"), e);
	if (!r)
		r = line_add(&b, "print", arg_value(a, "print"), e);
	buf_add(&b, "}", 2);
	if (!r)
		r = vivd_ask("PUT", vivd_path("/v1/agents/", a->words[0], "").str, (char *)b.p,
			     NULL, e);
	buf_free(&b);
	return r;
}

/* ---- images ---- */

static int build(const struct args *a, const struct json *agent, bool newest, struct err *e)
{
	struct agent_build b = { .agent = agent, .newest = newest, .quiet = arg_is_on(a, "quiet") };
	const char *include = newest ? NULL : arg_value(a, "include");
	struct json_doc d = { 0 };
	char tag[128];
	int r = 0;

	b.version = newest ? NULL : arg_value(a, "version");
	b.base = arg_value(a, "base");
	if (!b.base) {
		snprintf(tag, sizeof(tag), include ? AGENT_BASE "-%.64s" : AGENT_BASE,
			 json_show(agent, "name"));
		b.base = tag;
		if (include || !image_is_there(tag))
			r = agent_base_make(a, tag, include, e);
	}
	if (!r)
		r = agent_image_make(&b, &d, e);
	if (!r && a->json)
		json_line_print(d.root, false);
	else if (!r)
		printf("%s\n", json_show(agent, "image"));
	json_free(&d);
	return r;
}

int agent_add_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	int r = 0;

	if (arg_value(a, "base") && arg_value(a, "include"))
		return args_wrong(a, e, "--include is for the image that is made without --base");
	if (defines(a))
		r = define(a, e);
	if (!r)
		r = agent_ask(a->words[0], &d, e);
	if (!r && packages_of(d.root))
		r = build(a, d.root, false, e);
	else if (!r && !defines(a))
		r = err_set(e, ERR_CONFLICT,
			    "the agent '%s' has no packages: there is nothing to install",
			    a->words[0]);
	else if (!r && a->json)
		json_line_print(d.root, false);
	else if (!r)
		printf("%s\n", a->words[0]);
	json_free(&d);
	return r;
}

static int update_one(const struct args *a, const char *name, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	int r = agent_ask(name, &d, e);

	(void)arg;
	if (!r && !packages_of(d.root))
		r = err_set(e, ERR_CONFLICT,
			    "the agent '%s' has no packages: there is nothing to update", name);
	if (!r)
		r = build(a, d.root, true, e);
	json_free(&d);
	return r;
}

/* Without words: all that have an image. */
static int update_all(const struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;
	int status = 0, r;

	if (vivd_ask("GET", "/v1/agents", NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "agents", JSON_LIST);
	for (const struct json *i = list ? list->first : NULL; i; i = i->next) {
		if (!*json_show(i, "image_id") || !packages_of(i))
			continue;
		r = update_one(a, json_show(i, "name"), NULL, e) < 0 ? report(e) : 0;
		status = status ? status : r;
	}
	json_free(&d);
	return status;
}

int agent_update_main(struct args *a, struct err *e)
{
	return a->n ? words_each(a, update_one, NULL, e) : update_all(a, e);
}

static int rm_one(const struct args *a, const char *name, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	bool own, image;
	int r = agent_ask(name, &d, e);

	(void)arg;
	if (r < 0) {
		/* A definition that cannot be read can still be removed. */
		if (e->kind != ERR_INVALID_FILE)
			return -1;
		return vivd_ask("DELETE", vivd_path("/v1/agents/", name, "").str, NULL, NULL, e);
	}
	own = strcmp(json_show(d.root, "source"), "built-in") != 0;
	/* An image that it was not installed into is somebody else's. */
	image = *json_show(d.root, "image_id") && packages_of(d.root);
	if (!own && !image)
		r = err_set(e, ERR_NOT_FOUND, "the agent '%s' has no image", name);
	if (!r && image)
		r = vivd_ask("DELETE", vivd_path("/v1/images/", json_show(d.root, "image"), "").str,
			     NULL, NULL, e);
	if (!r && own)
		r = vivd_ask("DELETE", vivd_path("/v1/agents/", name, "").str, NULL, NULL, e);
	if (!r && a->json) {
		printf("{\"agent\":");
		json_quoted(stdout, name);
		printf("}\n");
	} else if (!r) {
		printf("%s\n", name);
	}
	json_free(&d);
	return r;
}

int agent_rm_main(struct args *a, struct err *e)
{
	return words_each(a, rm_one, NULL, e);
}
