/* /v1/schedules: what vivd starts by the clock. A token for one cell sees the schedules of that
 * cell, and none that makes cells; only an administrator adds, removes, pauses and resumes them. */
#include "daemon/schedules/schedules.h"

#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/http/text.h"
#include "api/routes.h"

/* What only those may see who may use the cell. */
static json_t *veil(const struct request *r, json_t *o)
{
	if (!request_sees_secrets(r)) {
		json_object_del(o, "env");
		json_object_del(json_object_get(o, "run"), "env");
	}
	return o;
}

/* Takes o; NULL: the error. */
static void answer(struct request *r, unsigned status, json_t *o, const struct err *e)
{
	if (o)
		reply_json(r, status, veil(r, o));
	else
		reply_err(r, e);
}

void schedules_list_get(struct request *r)
{
	static const char *const names[] = { "cell", NULL };
	const char *only = r->rights.cell;
	bool bad = false;
	char *text = request_query_only(r, names) ? request_query(r, "cell", &bad) : NULL;
	struct err e = { 0 };
	struct cell *c = text ? cell_find(r->d, text, &e) : NULL;
	json_t *list, *o;
	size_t i;

	if (r->response || bad) {
		;
	} else if (text && (!c || (*only && strcmp(only, c->id)))) {
		reply_error(r, ERR_NOT_FOUND, "there is no cell '%.80s'", text);
	} else {
		list = schedules_list(r->d, c ? c->id : only);
		json_array_foreach(list, i, o)
			veil(r, o);
		reply_json(r, 200, json_pack("{s:o}", "schedules", list));
	}
	free(text);
}

void schedules_create(struct request *r)
{
	json_t *spec = request_json(r, schedule_fields, nschedule_fields);
	struct err e = { 0 };

	if (spec)
		answer(r, 201, schedule_add(r->d, spec, &e), &e);
}

void schedule_get_one(struct request *r)
{
	struct err e = { 0 };

	answer(r, 200, schedule_get(r->d, r->param[0], r->rights.cell, &e), &e);
}

void schedule_delete(struct request *r)
{
	static const char *const names[] = { "force", NULL };
	uint64_t force = 0;
	struct err e = { 0 };

	if (!request_query_only(r, names) || !request_query_number(r, "force", 1, &force))
		return;
	if (schedule_remove(r->d, r->param[0], r->rights.cell, force, &e) < 0)
		reply_err(r, &e);
	else
		reply_nothing(r);
}

static void pause_set(struct request *r, bool pause)
{
	struct err e = { 0 };
	json_t *o = NULL;

	if (schedule_pause(r->d, r->param[0], r->rights.cell, pause, &e) == 0)
		o = schedule_get(r->d, r->param[0], r->rights.cell, &e);
	answer(r, 200, o, &e);
}

void schedule_pause_post(struct request *r)
{
	pause_set(r, true);
}

void schedule_resume_post(struct request *r)
{
	pause_set(r, false);
}

void schedule_run_post(struct request *r)
{
	struct err e = { 0 };

	answer(r, 201, schedule_run_now(r->d, r->param[0], r->rights.cell, &e), &e);
}

void schedule_runs_get(struct request *r)
{
	struct err e = { 0 };
	json_t *list = schedule_runs(r->d, r->param[0], r->rights.cell, &e);

	answer(r, 200, list ? json_pack("{s:o}", "runs", list) : NULL, &e);
}

void schedule_run_get_one(struct request *r)
{
	struct err e = { 0 };
	uint64_t id = 0;

	if (strcmp(r->param[1], "last") != 0 &&
	    (!text_number(r->param[1], INT64_MAX, &id) || !id)) {
		reply_error(r, ERR_NOT_FOUND, "there is no run '%.40s'", r->param[1]);
		return;
	}
	answer(r, 200, schedule_run_get(r->d, r->param[0], r->rights.cell, (int64_t)id, &e), &e);
}
