/* /v1/tokens. */
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "daemon/cells/cells.h"

#define LONGEST (10.0 * 366 * 24 * 3600) /* seconds that a token can be good for */

void tokens_list(struct request *r)
{
	reply_json(r, 200, json_pack("{s:o}", "tokens", token_list(r->d, NULL)));
}

void token_get(struct request *r)
{
	json_t *list = token_list(r->d, r->param[0]);
	json_t *t = json_array_get(list, 0);

	if (t)
		reply_json(r, 200, json_incref(t));
	else
		reply_error(r, ERR_NOT_FOUND,
			    "there is no token '%.40s'" REMEDY "'viv token ls' lists them",
			    r->param[0]);
	json_decref(list);
}

static const struct field fields[] = {
	{ "name", FIELD_TEXT, false },
	{ "scope", FIELD_TEXT, true },
	{ "cell", FIELD_TEXT, false },
	{ "expires_in", FIELD_NUMBER, false },
};

static int create(struct request *r, const json_t *o, struct err *f)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const char *cell = json_string_value(json_object_get(o, "cell"));
	double seconds = json_number_value(json_object_get(o, "expires_in"));
	char text[TOKEN_TEXT], id[TOKEN_ID_LEN + 1];
	enum scope scope;
	json_t *list, *t;

	if (!scope_parse(json_string_value(json_object_get(o, "scope")), &scope))
		return err_set(f, ERR_INVALID, "'scope' is admin, cell or read");
	if ((scope == SCOPE_CELL) != (cell != NULL) && scope != SCOPE_READ)
		return err_set(f, ERR_INVALID,
			       cell ? "a token of scope admin is for all cells" REMEDY
				      "leave 'cell' out"
				    : "a token of scope cell needs a 'cell'");
	if (name && strlen(name) > TOKEN_NAME_MAX)
		return err_set(f, ERR_INVALID, "'name' has at most %d bytes", TOKEN_NAME_MAX);
	if (seconds > LONGEST)
		return err_set(f, ERR_INVALID, "'expires_in' is at most ten years in seconds");
	if (cell) {
		struct cell *c = cell_find(r->d, cell, f);

		if (!c)
			return -1;
		cell = c->id;
	}
	if (token_create(r->d, name ? name : "", scope, cell,
			 seconds > 0 ? time_now() + (int64_t)(seconds * NSEC_PER_SEC) : 0, text,
			 f) < 0)
		return -1;
	memcpy(id, text + 4, TOKEN_ID_LEN);
	id[TOKEN_ID_LEN] = '\0';
	list = token_list(r->d, id);
	t = json_incref(json_array_get(list, 0));
	json_decref(list);
	json_object_set_new(t, "token", json_string(text));
	reply_json(r, 201, t);
	reply_header(r, "Cache-Control", "no-store");
	return 0;
}

void tokens_create(struct request *r)
{
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct err f = { 0 };

	if (!o)
		return;
	if (create(r, o, &f) < 0)
		reply_err(r, &f);
	json_decref(o);
}

void token_delete(struct request *r)
{
	struct err f = { 0 };

	if (token_revoke(r->d, r->param[0], &f) < 0)
		reply_err(r, &f);
	else
		reply_nothing(r);
}
