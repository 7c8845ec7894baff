/* See yschema.h. The tables are finite, so the depth of the calls is. */
#include "daemon/yaml/yschema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/yaml/yvars.h"
#include "keeper/run.h"

static const char *const type_names[] = {
	[YKEY_TEXT] = "a text",
	[YKEY_WORD] = "a text or a number",
	[YKEY_BOOL] = "true or false",
	[YKEY_COUNT] = "a whole number, not negative",
	[YKEY_NUMBER] = "a number, not negative",
	[YKEY_SIZE] = "a size such as 4096, 64M or 1G",
	[YKEY_SECONDS] = "a time such as 2.5, 500ms, 10s or 5m",
	[YKEY_WORDS] = "a list of texts, such as [sh, -c, 'echo 1']",
	[YKEY_MAP] = "a map from names to texts",
	[YKEY_OBJECT] = "a map",
	[YKEY_OBJECTS] = "a list of maps",
	[YKEY_NAMED] = "a map",
};

static int type_wrong(struct yread *y, const struct ynode *n, const struct ykey *k)
{
	return yaml_wrong(y->f, &y->doc, n, "'%s' must be %s", k->name, type_names[k->type]);
}

/* ---- texts ---- */

static bool is_number(const char *s)
{
	size_t digits = 0;

	s += *s == '-' || *s == '+';
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'o'))
		return s[2] && strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2);
	if (!strcmp(s, ".inf") || !strcmp(s, ".nan"))
		return true;
	for (; (*s >= '0' && *s <= '9') || *s == '.' || *s == '_'; s++)
		digits += *s >= '0' && *s <= '9';
	if (digits && (*s == 'e' || *s == 'E')) {
		s++;
		s += *s == '-' || *s == '+';
		s += strspn(s, "0123456789");
	}
	return digits && !*s;
}

/* Words that readers of YAML take for true and false, or for nothing. */
static bool is_other(const char *s)
{
	static const char *const words[] = { "",     "~",    "null",  "Null",  "NULL", "true",
					     "True", "TRUE", "false", "False", "FALSE" };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

static int text_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	bool number, other;

	if (n->kind != YNODE_TEXT)
		return type_wrong(y, n, k);
	/* As it stands in the file: what a variable holds is a text. */
	number = n->plain && is_number(n->text);
	other = n->plain && is_other(n->text);
	if (n->plain && !*n->text)
		return yaml_wrong(y->f, &y->doc, n, "'%s' has no value", k->name);
	if (other || (number && k->type == YKEY_TEXT))
		return yaml_wrong(y->f, &y->doc, n, "'%s' must be %s" REMEDY "put it in quotes",
				  k->name, type_names[k->type]);
	if (!y->literal &&
	    ynode_expand(n, &y->doc, k->flags & YKEY_VARS ? y->vars : NULL, y->f) < 0)
		return -1;
	*ret = json_string(n->text);
	return *ret ? 0 : yaml_wrong(y->f, &y->doc, n, "'%s' is not UTF-8", k->name);
}

/* The text of a value that is written without quotes; NULL with an error. */
static const char *plain_read(struct yread *y, struct ynode *n, const struct ykey *k)
{
	if (n->kind != YNODE_TEXT ||
	    (!n->plain && k->type != YKEY_SIZE && k->type != YKEY_SECONDS &&
	     (y->literal || !strchr(n->text, '$')))) {
		type_wrong(y, n, k);
		return NULL;
	}
	if (!y->literal &&
	    ynode_expand(n, &y->doc, k->flags & YKEY_VARS ? y->vars : NULL, y->f) < 0)
		return NULL;
	return n->text;
}

int yread_choice(struct yread *y, struct ynode *n, const char *what, const char *const *words,
		 unsigned nwords)
{
	const char *similar;
	char all[200] = "";

	for (unsigned i = 0; n->kind == YNODE_TEXT && i < nwords; i++)
		if (!strcmp(n->text, words[i]))
			return (int)i;
	similar = n->kind == YNODE_TEXT ? value_similar(n->text, words, nwords, sizeof(*words))
					: NULL;
	if (similar)
		return yaml_wrong(y->f, &y->doc, n, "%s: no such word" REMEDY "did you mean '%s'?",
				  what, similar);
	for (unsigned i = 0; i < nwords; i++) {
		strncat(all, i == 0 ? "" : i + 1 == nwords ? " or " : ", ", 8);
		strncat(all, words[i], 30);
	}
	return yaml_wrong(y->f, &y->doc, n, "%s must be %s", what, all);
}

/* ---- numbers ---- */

static bool number_parse(const struct ykey *k, const char *text, double *ret)
{
	uint64_t bytes;
	int64_t ns;
	char *end;

	if (k->type == YKEY_SIZE) {
		if (!value_size(text, &bytes) || bytes > INT64_MAX)
			return false;
		*ret = (double)bytes;
		return true;
	}
	if (k->type == YKEY_SECONDS && value_duration(text, &ns) && ns >= 0) {
		*ret = (double)ns / NSEC_PER_SEC;
		return true;
	}
	if (!*text ||
	    strspn(text, k->type == YKEY_COUNT ? "0123456789" : "0123456789.") != strlen(text))
		return false;
	errno = 0;
	*ret = strtod(text, &end);
	return !*end && !errno && isfinite(*ret) && *ret < 9e15;
}

static int number_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	const char *text = plain_read(y, n, k);
	double v;

	if (!text)
		return -1;
	if (!number_parse(k, text, &v))
		return type_wrong(y, n, k);
	if (!(k->flags & YKEY_ZERO && v == 0) && (v < k->min || (k->max > 0 && v > k->max)))
		return k->max > 0 ? yaml_wrong(y->f, &y->doc, n,
					       "'%s' must be between %.10g and %.10g", k->name,
					       k->min, k->max)
				  : yaml_wrong(y->f, &y->doc, n, "'%s' must be at least %.10g",
					       k->name, k->min);
	if (k->type == YKEY_COUNT || k->type == YKEY_SIZE)
		*ret = json_integer((json_int_t)v);
	else
		*ret = json_real(v);
	return 0;
}

static int bool_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	const char *text = plain_read(y, n, k);

	if (!text)
		return -1;
	if (strcmp(text, "true") && strcmp(text, "false"))
		return type_wrong(y, n, k);
	*ret = json_boolean(!strcmp(text, "true"));
	return 0;
}

/* ---- lists and maps ---- */

static int words_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	struct ykey item = *k;
	json_t *v;

	item.type = YKEY_WORD;
	if (n->kind != YNODE_LIST)
		return type_wrong(y, n, k);
	*ret = json_array();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (text_read(y, i, &item, &v) < 0)
			return -1;
		json_array_append_new(*ret, v);
	}
	return 0;
}

/* A name that somebody chose, as a key. */
static int name_check_text(struct yread *y, const struct ynode *key)
{
	if (!*key->text)
		return yaml_wrong(y->f, &y->doc, key, "a name is not empty");
	return strstr(key->text, "${")
		       ? yaml_wrong(y->f, &y->doc, key, "a name has no variables in it")
		       : 0;
}

static int map_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	struct ykey item = *k;
	json_t *v;

	item.type = YKEY_WORD;
	if (n->kind != YNODE_MAP)
		return type_wrong(y, n, k);
	*ret = json_object();
	for (struct ynode *i = n->first; i; i = i->next) {
		item.name = i->key->text;
		if (name_check_text(y, i->key) < 0 || text_read(y, i, &item, &v) < 0)
			return -1;
		json_object_set_new(*ret, i->key->text, v);
	}
	return 0;
}

static int objects_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	json_t *v;

	if (n->kind != YNODE_LIST)
		return type_wrong(y, n, k);
	*ret = json_array();
	for (struct ynode *i = n->first; i; i = i->next) {
		v = yschema_read(y, i, k->sub);
		if (!v)
			return -1;
		json_array_append_new(*ret, v);
	}
	return 0;
}

static int named_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	json_t *v;

	if (n->kind != YNODE_MAP)
		return type_wrong(y, n, k);
	*ret = json_object();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (name_check_text(y, i->key) < 0)
			return -1;
		v = ynode_is_null(i) ? json_object() : yschema_read(y, i, k->sub);
		if (!v)
			return -1;
		json_object_set_new(*ret, i->key->text, v);
	}
	return 0;
}

static int value_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	switch (k->type) {
	case YKEY_TEXT:
	case YKEY_WORD:
		return text_read(y, n, k, ret);
	case YKEY_BOOL:
		return bool_read(y, n, k, ret);
	case YKEY_COUNT:
	case YKEY_NUMBER:
	case YKEY_SIZE:
	case YKEY_SECONDS:
		return number_read(y, n, k, ret);
	case YKEY_WORDS:
		return words_read(y, n, k, ret);
	case YKEY_MAP:
		return map_read(y, n, k, ret);
	case YKEY_OBJECT:
		*ret = yschema_read(y, n, k->sub);
		return *ret ? 0 : -1;
	case YKEY_OBJECTS:
		return objects_read(y, n, k, ret);
	case YKEY_NAMED:
		return named_read(y, n, k, ret);
	case YKEY_OWN:
		return k->read(y, n, ret);
	}
	return -1;
}

int ykey_read(struct yread *y, struct ynode *n, const struct ykey *k, json_t **ret)
{
	*ret = NULL;
	if (value_read(y, n, k, ret) == 0)
		return 0;
	json_decref(*ret);
	*ret = NULL;
	return -1;
}

static const struct ykey *key_find(const struct yschema *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->keys[i].name, name))
			return &s->keys[i];
	return NULL;
}

static int key_unknown(struct yread *y, const struct ynode *key, const struct yschema *s)
{
	const char *similar = value_similar(key->text, &s->keys[0].name, s->n, sizeof(s->keys[0]));

	if (!strcmp(key->text, "services") && key_find(s, "cells"))
		return yaml_wrong(y->f, &y->doc, key,
				  "%s has no key 'services'" REMEDY
				  "compose's services are 'cells' here",
				  s->what);
	if (similar)
		return yaml_wrong(y->f, &y->doc, key,
				  "%s has no key '%.60s'" REMEDY "did you mean '%s'?", s->what,
				  key->text, similar);
	return yaml_wrong(y->f, &y->doc, key, "%s has no key '%.60s'", s->what, key->text);
}

static int keys_read(struct yread *y, struct ynode *n, const struct yschema *s, json_t *o)
{
	json_t *v;

	for (struct ynode *i = n->first; i; i = i->next) {
		const struct ykey *k = key_find(s, i->key->text);

		if (!k)
			return key_unknown(y, i->key, s);
		if (ykey_read(y, i, k, &v) < 0)
			return -1;
		json_object_set_new(o, k->name, v);
	}
	for (unsigned i = 0; i < s->n; i++)
		if ((s->keys[i].flags & YKEY_REQUIRED) && !json_object_get(o, s->keys[i].name))
			return yaml_wrong(y->f, &y->doc, n, "%s must have a key '%s'", s->what,
					  s->keys[i].name);
	return s->check ? s->check(y, n, o) : 0;
}

json_t *yschema_read(struct yread *y, struct ynode *n, const struct yschema *s)
{
	json_t *o;

	if (n->kind != YNODE_MAP) {
		yaml_note(y->f, &y->doc, n, "%s must be a map from keys to values", s->what);
		return NULL;
	}
	o = json_object();
	if (keys_read(y, n, s, o) == 0)
		return o;
	json_decref(o);
	return NULL;
}
