/* PATCH /v1/cells/{cell}: changing what can be changed while a cell runs. The body is a merge patch
 * (RFC 7396) of those fields of its spec: what it names is set, null takes away, the rest stays. */
#include <stdlib.h>

#include "api/cells.h"
#include "api/routes.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/change.h"

struct patching {
	struct op op;
};

static void patched(void *arg, struct cell *c, const struct err *f)
{
	struct patching *x = arg;
	struct request *r = op_end(&x->op);

	if (r && c)
		reply_json(r, 200, cell_json(c, request_sees_secrets(r)));
	else if (r)
		reply_err(r, f);
	free(x);
}

/* Members of a member: no field of a spec that can be changed goes deeper. */
static void member_merge(json_t *spec, const char *key, json_t *patch)
{
	json_t *is = json_object_get(spec, key), *to, *v;
	const char *name;

	if (!json_is_object(patch)) {
		json_object_set(spec, key, patch);
		return;
	}
	to = json_is_object(is) ? json_copy(is) : json_object();
	json_object_foreach(patch, name, v) {
		if (json_is_null(v))
			json_object_del(to, name);
		else
			json_object_set(to, name, v);
	}
	json_object_set_new(spec, key, to);
}

/* A new spec; NULL: an error. */
static json_t *spec_merge(const json_t *spec, json_t *patch, struct err *f)
{
	json_t *to = json_copy((json_t *)(uintptr_t)spec), *v;
	const char *key;

	json_object_foreach(patch, key, v) {
		if (!setting_is_live(key)) {
			err_note(f, ERR_UNKNOWN_FIELD,
				 "'%.60s' is nothing that is changed in a cell that is there", key);
			json_decref(to);
			return NULL;
		}
		if (json_is_null(v))
			json_object_del(to, key);
		else
			member_merge(to, key, v);
	}
	if (cellspec_check(to, f) == 0)
		return to;
	json_decref(to);
	return NULL;
}

void cell_patch(struct request *r)
{
	struct cell *c = request_cell(r);
	json_t *patch = c ? request_object(r) : NULL, *spec;
	struct err f = { 0 };
	struct patching *x;

	if (!patch)
		return;
	spec = spec_merge(c->spec, patch, &f);
	if (spec) {
		x = xalloc(sizeof(*x));
		op_begin(r, &x->op);
		cell_change(c, spec, change_names(patch), patched, x);
	} else {
		reply_err(r, &f);
	}
	json_decref(patch);
}
