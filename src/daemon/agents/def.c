/* See def.h: the tables of keys, and what tables cannot say. */
#include "daemon/agents/def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/yaml/yschema.h"
#include "daemon/state/fields.h"
#include "gate/secret.h"
#include "policy/policy.h"
#include "store/store.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *chars, size_t max)
{
	size_t n = strlen(s);

	return n && n <= max && strspn(s, chars) == n;
}

bool agent_name_is_valid(const char *name)
{
	return only(name, LETTERS DIGITS "-_", AGENT_NAME_LEN) && *name != '-' && *name != '_';
}

/* ---- packages ---- */

/* "name" or "@scope/name", as npm has them, and nothing that a command line could take for an
 * option, a path or an address. */
static bool package_is_valid(const char *s)
{
	static const char chars[] = LETTERS DIGITS "-._~";
	const char *slash = strchr(s, '/');

	if (strlen(s) > 214)
		return false;
	if (*s == '@')
		return slash && slash > s + 1 && strspn(s + 1, chars) == (size_t)(slash - s - 1) &&
		       s[1] != '.' && only(slash + 1, chars, 214) && slash[1] != '.';
	return only(s, chars, 214) && *s != '-' && *s != '.' && *s != '_' && *s != '~';
}

static int packages_check(struct yread *y, const struct ynode *at, const json_t *o)
{
	const struct ynode *map = ynode_get(at, "packages");

	if (json_object_size(json_object_get(o, "packages")) > AGENT_MAX_ITEMS)
		return yaml_wrong(y->f, &y->doc, map, "an agent has at most %d packages",
				  AGENT_MAX_ITEMS);
	for (const struct ynode *n = map ? map->first : NULL; n; n = n->next) {
		if (!package_is_valid(n->key->text))
			return yaml_wrong(y->f, &y->doc, n->key,
					  "this is not the name of an npm package");
		if (!only(n->text, LETTERS CAPITALS DIGITS ".-+~^*", 64) || *n->text == '-')
			return yaml_wrong(y->f, &y->doc, n,
					  "this is not a version" REMEDY
					  "write one such as 1.2.3, 22.x or latest");
	}
	return 0;
}

/* ---- commands ---- */

static int command_check(struct yread *y, const struct ynode *at, const char *key)
{
	const struct ynode *list = ynode_get(at, key);
	unsigned n = 0;

	if (!list)
		return 0;
	for (const struct ynode *w = list->first; w; w = w->next, n++)
		if (strlen(w->text) > 4096)
			return yaml_wrong(y->f, &y->doc, w, "a word has at most 4096 bytes");
	if (!n || n > AGENT_MAX_WORDS || !*list->first->text)
		return yaml_wrong(y->f, &y->doc, list, "'%s' must have 1 to %d words", key,
				  AGENT_MAX_WORDS);
	return 0;
}

static int commands_check(struct yread *y, const struct ynode *at, const json_t *o)
{
	if (!json_object_get(o, "command") && !json_object_get(o, "acp") &&
	    !json_object_get(o, "print"))
		return yaml_wrong(y->f, &y->doc, at,
				  "an agent must have a 'command', an 'acp' or a 'print'" REMEDY
				  "'command' is its own terminal program, 'acp' what speaks ACP");
	return command_check(y, at, "command") || command_check(y, at, "acp") ||
			       command_check(y, at, "print")
		       ? -1
		       : 0;
}

/* ---- rules ---- */

static int network_check(struct yread *y, const struct ynode *at, const json_t *o)
{
	const struct ynode *list = ynode_get(at, "network"), *n = list ? list->first : NULL;
	char **words = json_words(json_object_get(o, "network"));
	struct policy p;
	struct err e = { 0 };
	unsigned wrong = 0;
	int r;

	policy_init(&p);
	r = policy_words(&p, words, "network", &wrong, &e);
	policy_fini(&p);
	free(words);
	if (r == 0)
		return 0;
	for (; n && n->next && wrong; wrong--)
		n = n->next;
	return yaml_wrong(y->f, &y->doc, n ? n : list, "%s" REMEDY "%s", err_line(&e).str,
			  "docs/policy.md has the language of rules");
}

/* ---- secrets ---- */

static int list_check(struct yread *y, const struct ynode *list, bool hosts)
{
	struct secret_place place;
	struct secret_host host;
	struct err e = { 0 };
	unsigned count = 0;

	for (const struct ynode *n = list ? list->first : NULL; n; n = n->next)
		if (++count > (hosts ? SECRET_HOSTS_MAX : SECRET_PLACES_MAX) ||
		    (hosts ? secret_host_parse(n->text, &host, &e)
			   : secret_place_parse(n->text, &place, &e)) < 0)
			return yaml_wrong(y->f, &y->doc, n, "%s",
					  e.kind ? err_line(&e).str : "these are too many");
	return 0;
}

static bool variable_is_valid(const char *s)
{
	return only(s, LETTERS CAPITALS DIGITS "_", 128) && !strchr(DIGITS, *s);
}

static int secret_check(struct yread *y, struct ynode *at, json_t *o)
{
	const char *name = json_text(o, "name"), *env = json_text(o, "env"),
		   *prefix = json_text(o, "prefix");

	if (!only(name, LETTERS CAPITALS DIGITS "_-.", 64) || *name == '.' || *name == '-')
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "name"),
				  "this is not a name for a secret" REMEDY
				  "it has up to 64 letters, digits and '_', '-', '.'");
	if (env && !variable_is_valid(env))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "env"),
				  "this is not a name for a variable");
	if (prefix && !only(prefix, LETTERS CAPITALS DIGITS "-_", 64))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "prefix"),
				  "'prefix' has up to 64 letters, digits, '-' and '_'");
	return list_check(y, ynode_get(at, "hosts"), true) ||
			       list_check(y, ynode_get(at, "places"), false)
		       ? -1
		       : 0;
}

static const struct ykey secret_keys[] = {
	{ .name = "name", .type = YKEY_TEXT, .flags = YKEY_REQUIRED },
	{ .name = "env", .type = YKEY_TEXT },
	{ .name = "hosts", .type = YKEY_WORDS },
	{ .name = "places", .type = YKEY_WORDS },
	{ .name = "prefix", .type = YKEY_TEXT },
};
static const struct yschema secret_schema = { "a secret of an agent", secret_keys,
					      ARRAY_LEN(secret_keys), secret_check };

/* ---- paths ---- */

/* Absolute or below "~/", without parts that lead elsewhere or lines that end in it. */
static bool path_is_valid(const char *p, bool home)
{
	if (strlen(p) > 1024)
		return false;
	if (home && p[0] == '~')
		p++;
	if (*p != '/')
		return false;
	for (const char *s = p; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f ||
		    (*s == '/' &&
		     (s[1] == '/' || !strncmp(s + 1, "./", 2) || !strncmp(s + 1, "../", 3) ||
		      !strcmp(s + 1, "..") || !strcmp(s + 1, "."))))
			return false;
	return true;
}

static int path_check(struct yread *y, const struct ynode *at, const char *key)
{
	const struct ynode *n = ynode_get(at, key);

	return !n || path_is_valid(n->text, false)
		       ? 0
		       : yaml_wrong(y->f, &y->doc, n, "'%s' must be an absolute path", key);
}

static int files_check(struct yread *y, const struct ynode *at, const json_t *o)
{
	const struct ynode *map = ynode_get(at, "files");

	if (json_object_size(json_object_get(o, "files")) > AGENT_MAX_ITEMS)
		return yaml_wrong(y->f, &y->doc, map, "an agent has at most %d files",
				  AGENT_MAX_ITEMS);
	for (const struct ynode *n = map ? map->first : NULL; n; n = n->next) {
		if (!path_is_valid(n->key->text, true) ||
		    n->key->text[strlen(n->key->text) - 1] == '/')
			return yaml_wrong(y->f, &y->doc, n->key,
					  "this is not the path of a file" REMEDY
					  "it is absolute, or begins with ~/");
		if (strlen(n->text) > AGENT_FILE_MAX)
			return yaml_wrong(y->f, &y->doc, n, "a file has at most %d bytes",
					  AGENT_FILE_MAX);
	}
	return 0;
}

static int env_check(struct yread *y, const struct ynode *at, const json_t *o)
{
	const struct ynode *map = ynode_get(at, "env");

	if (json_object_size(json_object_get(o, "env")) > AGENT_MAX_ITEMS)
		return yaml_wrong(y->f, &y->doc, map, "an agent has at most %d variables",
				  AGENT_MAX_ITEMS);
	for (const struct ynode *n = map ? map->first : NULL; n; n = n->next)
		if (!variable_is_valid(n->key->text))
			return yaml_wrong(y->f, &y->doc, n->key,
					  "this is not a name for a variable");
	return 0;
}

/* ---- the system prompt ---- */

static int prompt_check(struct yread *y, struct ynode *at, json_t *o)
{
	const struct ynode *n = ynode_get(at, "file");
	const json_t *first = json_object_get(o, "first_prompt");

	if (n && (!path_is_valid(n->text, true) || n->text[strlen(n->text) - 1] == '/'))
		return yaml_wrong(y->f, &y->doc, n,
				  "'file' must be a path that is absolute or begins with ~/");
	n = ynode_get(at, "option");
	if (n && (*n->text != '-' || strlen(n->text) > 100))
		return yaml_wrong(y->f, &y->doc, n,
				  "'option' must be an option such as --append-system-prompt");
	n = ynode_get(at, "env");
	if (n && !variable_is_valid(n->text))
		return yaml_wrong(y->f, &y->doc, n, "this is not a name for a variable");
	n = ynode_get(at, "meta");
	if (n && (!only(n->text, LETTERS CAPITALS DIGITS "._-/", 200) || *n->text == '.' ||
		  strstr(n->text, "..") || n->text[strlen(n->text) - 1] == '.'))
		return yaml_wrong(y->f, &y->doc, n,
				  "'meta' must be names with dots between them, such as "
				  "systemPrompt.append");
	if (first && !json_is_true(first))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "first_prompt"),
				  "'first_prompt' must be true, or not there");
	if (!json_object_size(o))
		return yaml_wrong(y->f, &y->doc, at,
				  "'system_prompt' must say how the agent gets it: 'file', "
				  "'option', 'env', 'meta' or 'first_prompt'");
	return 0;
}

static const struct ykey prompt_keys[] = {
	{ .name = "file", .type = YKEY_TEXT },	       { .name = "option", .type = YKEY_TEXT },
	{ .name = "env", .type = YKEY_TEXT },	       { .name = "meta", .type = YKEY_TEXT },
	{ .name = "first_prompt", .type = YKEY_BOOL },
};
static const struct yschema prompt_schema = { "'system_prompt'", prompt_keys,
					      ARRAY_LEN(prompt_keys), prompt_check };

/* ---- all of it ---- */

static int def_check(struct yread *y, struct ynode *at, json_t *o)
{
	const char *name = json_text(o, "name"), *title = json_text(o, "title"),
		   *image = json_text(o, "image");

	if (!agent_name_is_valid(name))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "name"),
				  "this is not a name for an agent" REMEDY
				  "it has up to %d lower-case letters, digits, '-' and '_', and "
				  "begins with a letter or a digit",
				  AGENT_NAME_LEN);
	if (title && (strlen(title) > 100 || strpbrk(title, "\r\n\t")))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "title"),
				  "'title' must be one line of at most 100 bytes");
	if (image && strcmp(image, "host") && !tag_is_valid(image))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "image"),
				  "this cannot be a tag of an image");
	if (json_array_size(json_object_get(o, "secrets")) > AGENT_MAX_ITEMS)
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "secrets"),
				  "an agent has at most %d secrets", AGENT_MAX_ITEMS);
	if (path_check(y, at, "home") < 0 || path_check(y, at, "workdir") < 0 ||
	    packages_check(y, at, o) < 0 || commands_check(y, at, o) < 0 ||
	    network_check(y, at, o) < 0 || env_check(y, at, o) < 0 || files_check(y, at, o) < 0)
		return -1;
	return 0;
}

static const struct ykey def_keys[] = {
	{ .name = "name", .type = YKEY_TEXT, .flags = YKEY_REQUIRED },
	{ .name = "title", .type = YKEY_TEXT },
	{ .name = "packages", .type = YKEY_MAP },
	{ .name = "command", .type = YKEY_WORDS },
	{ .name = "acp", .type = YKEY_WORDS },
	{ .name = "print", .type = YKEY_WORDS },
	{ .name = "image", .type = YKEY_TEXT },
	{ .name = "network", .type = YKEY_WORDS },
	{ .name = "secrets", .type = YKEY_OBJECTS, .sub = &secret_schema },
	{ .name = "env", .type = YKEY_MAP },
	{ .name = "files", .type = YKEY_MAP },
	{ .name = "system_prompt", .type = YKEY_OBJECT, .sub = &prompt_schema },
	{ .name = "home", .type = YKEY_TEXT },
	{ .name = "workdir", .type = YKEY_TEXT },
};
static const struct yschema def_schema = { "an agent", def_keys, ARRAY_LEN(def_keys), def_check };

static void default_set(json_t *o, const char *key, const char *value)
{
	if (!json_object_get(o, key))
		json_object_set_new(o, key, json_string(value));
}

/* "~/x" below home; home has no '/' at its end, unless it is the root. */
static json_t *path_expand(const char *path, const char *home)
{
	return *path == '~' ? json_sprintf("%s%s", strcmp(home, "/") ? home : "", path + 1)
			    : json_string(path);
}

static void paths_expand(json_t *o)
{
	const char *home = json_text(o, "home");
	json_t *files = json_object_get(o, "files"), *new = json_object(), *v;
	json_t *prompt = json_object_get(o, "system_prompt");
	const char *path;

	json_object_foreach(files, path, v) {
		json_t *to = path_expand(path, home);

		json_object_set(new, json_string_value(to), v);
		json_decref(to);
	}
	if (files)
		json_object_set(o, "files", new);
	json_decref(new);
	path = json_text(prompt, "file");
	if (path)
		json_object_set_new(prompt, "file", path_expand(path, home));
}

static void members_set(struct agent_def *a)
{
	a->name = json_text(a->all, "name");
	a->title = json_text(a->all, "title");
	a->packages = json_object_get(a->all, "packages");
	a->command = json_object_get(a->all, "command");
	a->acp = json_object_get(a->all, "acp");
	a->print = json_object_get(a->all, "print");
	a->image = json_text(a->all, "image");
	a->network = json_object_get(a->all, "network");
	a->secrets = json_object_get(a->all, "secrets");
	a->env = json_object_get(a->all, "env");
	a->files = json_object_get(a->all, "files");
	a->system_prompt = json_object_get(a->all, "system_prompt");
	a->home = json_text(a->all, "home");
	a->workdir = json_text(a->all, "workdir");
}

int agent_def_read(const char *text, size_t size, const char *file, const char *name,
		   struct agent_def *ret, struct err *e)
{
	struct yread y = { .literal = true, .f = e };
	char image[AGENT_NAME_LEN + 16];
	int r;

	*ret = (struct agent_def){ 0 };
	r = ydoc_parse(&y.doc, file, text, size, e);
	if (r == 0 && (!y.doc.root || ynode_is_null(y.doc.root)))
		r = yaml_wrong(e, &y.doc, NULL, "the file is empty" REMEDY "an agent has a name");
	if (r == 0)
		ret->all = yschema_read(&y, y.doc.root, &def_schema);
	if (ret->all && name && strcmp(json_text(ret->all, "name"), name)) {
		yaml_note(e, &y.doc, ynode_get(y.doc.root, "name"),
			  "the name must be '%.40s', as that of the file", name);
		agent_def_free(ret);
	}
	ydoc_free(&y.doc);
	if (!ret->all)
		return -1;
	snprintf(image, sizeof(image), "agent-%s", json_text(ret->all, "name"));
	default_set(ret->all, "title", json_text(ret->all, "name"));
	default_set(ret->all, "image", image);
	default_set(ret->all, "home", "/root");
	default_set(ret->all, "workdir", "/work");
	paths_expand(ret->all);
	members_set(ret);
	return 0;
}

void agent_def_free(struct agent_def *a)
{
	json_decref(a->all);
	*a = (struct agent_def){ 0 };
}
