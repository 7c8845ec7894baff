/* See yvars.h. */
#include "daemon/yaml/yvars.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define NAME_MAX_LEN 128
#define TEXT_MAX (1u << 20)
#define TEXTS_MAX (4u << 20) /* of all texts that have variables, with their values */

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

struct variable {
	char name[NAME_MAX_LEN + 1];
	char how; /* 0, '-' or '?' */
	const char *rest; /* the default or the message */
	size_t size; /* of it */
};

/* What stands between ${ and }; where it ends, or NULL. */
static const char *variable_parse(const char *p, struct variable *ret)
{
	size_t n = strspn(p, name_chars);

	*ret = (struct variable){ 0 };
	if (!n || n > NAME_MAX_LEN || (*p >= '0' && *p <= '9'))
		return NULL;
	memcpy(ret->name, p, n);
	p += n;
	if (*p == '}')
		return p + 1;
	if (p[0] != ':' || (p[1] != '-' && p[1] != '?'))
		return NULL;
	ret->how = p[1];
	ret->rest = p + 2;
	ret->size = strcspn(ret->rest, "}$");
	return ret->rest[ret->size] == '}' ? ret->rest + ret->size + 1 : NULL;
}

static int variable_add(struct buf *b, const struct variable *v, struct ynode *n,
			const struct ydoc *y, const json_t *vars, struct err *f)
{
	const char *value = json_string_value(json_object_get(vars, v->name));
	size_t size = value ? strlen(value) : 0;

	if (v->how == '-' && !size) {
		value = v->rest;
		size = v->size;
	}
	if (v->how == '?' && !size)
		return yaml_wrong(f, y, n, "the variable %s is not set: %.*s", v->name,
				  (int)MIN(v->size, (size_t)200), v->rest);
	if (!value)
		return yaml_wrong(f, y, n,
				  "the variable %s is not set" REMEDY
				  "set it, or write ${%s:-DEFAULT}",
				  v->name, v->name);
	n->variable = true;
	buf_add(b, value, size);
	return 0;
}

static int text_expand(struct buf *b, struct ynode *n, const struct ydoc *y, const json_t *vars,
		       struct err *f)
{
	struct variable v;

	for (const char *p = n->text; *p;) {
		size_t some = strcspn(p, "$");

		buf_add(b, p, some);
		p += some;
		if (!*p)
			break;
		if (p[1] == '$') {
			buf_add(b, p, 1);
			p += 2;
			continue;
		}
		p = p[1] == '{' ? variable_parse(p + 2, &v) : NULL;
		if (!p)
			return yaml_wrong(f, y, n,
					  "a '$' begins ${NAME}, ${NAME:-default} or "
					  "${NAME:?message}" REMEDY
					  "one that means itself is written $$");
		if (!vars)
			return yaml_wrong(f, y, n,
					  "no variables here, since everybody can see this" REMEDY
					  "give "
					  "${%s} in 'env', where a command finds it",
					  v.name);
		if (variable_add(b, &v, n, y, vars, f) < 0)
			return -1;
		if (b->len > TEXT_MAX)
			return yaml_wrong(f, y, n, "this is more than 1 MiB");
	}
	buf_add(b, "", 1);
	return 0;
}

int ynode_expand(struct ynode *n, struct ydoc *y, const json_t *vars, struct err *f)
{
	struct buf b = { 0 };

	if (!strchr(n->text, '$'))
		return 0;
	if (text_expand(&b, n, y, vars, f) < 0) {
		buf_free(&b);
		return -1;
	}
	free(n->text);
	n->text = (char *)b.p;
	y->expanded += b.len;
	if (y->expanded > TEXTS_MAX)
		return yaml_wrong(f, y, n,
				  "with the values of its variables the file has more than 4 MiB");
	return 0;
}
