/* /v1/previews and /v1/cells/{cell}/previews: ports of cells for browsers. Their addresses are
 * shown to who may use the cell, not to who may only look at it. */
#include "daemon/previews/previews.h"

#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/routes.h"

#define LONGEST (366.0 * 24 * 3600) /* seconds */
#define USUAL 3600.0

static bool sees_urls(const struct request *r)
{
	return r->rights.scope > SCOPE_READ;
}

static const struct field fields[] = {
	{ "port", FIELD_INT, true },
	{ "expires_in", FIELD_NUMBER, false },
};

static int create(struct request *r, const struct cell *c, const json_t *o, struct err *f)
{
	json_int_t port = json_integer_value(json_object_get(o, "port"));
	const json_t *given = json_object_get(o, "expires_in");
	double seconds = given ? json_number_value(given) : USUAL;
	struct preview p;
	json_t *list;

	if (port < 1 || port > UINT16_MAX)
		return err_set(f, ERR_INVALID, "'port' is a number from 1 to 65535");
	if (seconds <= 0 || seconds > LONGEST)
		return err_set(f, ERR_INVALID,
			       "'expires_in' is more than 0 and at most a year, in seconds");
	if (preview_create(r->d, c, (uint16_t)port, time_now() + (int64_t)(seconds * NSEC_PER_SEC),
			   &p, f) < 0)
		return -1;
	list = preview_list(r->d, NULL, p.id, true);
	reply_json(r, 201, json_incref(json_array_get(list, 0)));
	reply_header(r, "Cache-Control", "no-store");
	json_decref(list);
	return 0;
}

void previews_create(struct request *r)
{
	struct cell *c = request_cell(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };

	if (o && create(r, c, o, &f) < 0)
		reply_err(r, &f);
	json_decref(o);
}

void previews_list(struct request *r)
{
	static const char *const names[] = { "cell", NULL };
	const char *only = r->rights.cell[0] ? r->rights.cell : NULL;
	bool bad = false;
	char *text = request_query_only(r, names) ? request_query(r, "cell", &bad) : NULL;
	struct err f = { 0 };
	struct cell *c = text ? cell_find(r->d, text, &f) : NULL;

	if (r->response || bad)
		;
	else if (text && (!c || (only && strcmp(only, c->id))))
		reply_error(r, ERR_NOT_FOUND, "there is no cell '%.80s'", text);
	else
		reply_json(r, 200,
			   json_pack("{s:o}", "previews",
				     preview_list(r->d, c ? c->id : only, NULL, sees_urls(r))));
	free(text);
}

/* The preview of the path, if the token may see it. */
static bool preview_of(struct request *r)
{
	struct preview p;

	if (preview_find(r->d, r->param[0], &p) &&
	    (!r->rights.cell[0] || !strcmp(r->rights.cell, p.cell)))
		return true;
	reply_error(r, ERR_NOT_FOUND,
		    "there is no preview '%.40s'" REMEDY "'viv preview ls' lists them",
		    r->param[0]);
	return false;
}

void preview_get(struct request *r)
{
	json_t *list;

	if (!preview_of(r))
		return;
	list = preview_list(r->d, NULL, r->param[0], sees_urls(r));
	reply_json(r, 200, json_incref(json_array_get(list, 0)));
	json_decref(list);
}

void preview_delete(struct request *r)
{
	struct err f = { 0 };

	if (!preview_of(r))
		return;
	if (preview_remove(r->d, r->param[0], &f) < 0)
		reply_err(r, &f);
	else
		reply_nothing(r);
}
