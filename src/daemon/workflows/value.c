/* See value.h. Only what JSON itself writes as a number is one: 0x10, .5 and 1_000 are texts. */
#include "daemon/workflows/value.h"

#include <string.h>

static json_t *plain_of(const char *s)
{
	json_t *v;

	if (!*s || !strcmp(s, "null") || !strcmp(s, "~"))
		return json_null();
	if (!strcmp(s, "true") || !strcmp(s, "false"))
		return json_boolean(*s == 't');
	if (*s != '-' && (*s < '0' || *s > '9'))
		return json_string(s);
	v = json_loads(s, JSON_DECODE_ANY, NULL);
	if (json_is_number(v))
		return v;
	json_decref(v);
	return json_string(s);
}

json_t *value_of(const struct ydoc *y, const struct ynode *n, struct err *e)
{
	json_t *ret, *v;

	if (n->kind == YNODE_TEXT) {
		ret = n->plain ? plain_of(n->text) : json_string(n->text);
		if (!ret)
			yaml_note(e, y, n, "this text is not UTF-8");
		return ret;
	}
	ret = n->kind == YNODE_LIST ? json_array() : json_object();
	for (const struct ynode *i = n->first; i; i = i->next) {
		v = value_of(y, i, e);
		if (v && n->kind == YNODE_MAP && json_object_set_new(ret, i->key->text, v) < 0) {
			yaml_note(e, y, i->key, "this key is not UTF-8");
			v = NULL;
		} else if (v && n->kind == YNODE_LIST) {
			json_array_append_new(ret, v);
		}
		if (!v) {
			json_decref(ret);
			return NULL;
		}
	}
	return ret;
}
