/* The step 'approve': a question to people, as every approval ('viv approvals'). It survives vivd:
 * its row is written together with the step that asks, and a vivd that comes later looks how it was
 * answered. Denied, the step has failed for good. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/approvals/approvals.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/private.h"

struct asking {
	struct leaf_work work; /* first */
	struct list link;
	struct wf_node *n;
	int64_t approval;
};

static struct list askings = LIST_INIT(askings);

static void asking_free(struct asking *x)
{
	x->n->work_of = NULL;
	list_remove(&x->link);
	free(x);
}

static void asking_stop(struct leaf_work *w)
{
	struct asking *x = (struct asking *)(void *)w;

	if (!run_is_left(x->n->run))
		approval_withdraw(run_daemon(x->n->run), x->approval);
	asking_free(x);
}

static void answer_note(struct wf_node *n, int64_t id, bool allow, struct err *e, json_t **ret)
{
	json_t *o = approval_get(run_daemon(n->run), id);
	const char *by = json_text(o, "by");

	if (allow)
		*ret = json_pack("{s:{s:s,s:s}}", "output", "answer", "allowed", "by",
				 by ? by : "");
	else
		err_note(e, ERR_DENIED, "it was not approved%s%s", by && *by ? " by " : "",
			 by ? by : "");
	json_decref(o);
}

static void decided(struct daemon *d, int64_t id, bool allow)
{
	struct asking *x, *found = NULL;
	json_t *result = NULL;
	struct wf_node *n;
	struct err e = { 0 };

	(void)d;
	list_for_each(x, &askings, link)
		if (x->approval == id)
			found = x;
	if (!found)
		return; /* it is looked up when its run goes on */
	n = found->n;
	asking_free(found);
	answer_note(n, id, allow, &e, &result);
	if (allow)
		leaf_done(n, result);
	else
		leaf_fail(n, &e, true);
}

void approve_open(void)
{
	static const struct approval_owner owner = { .decided = decided };

	approvals_owner(APPROVAL_WORKFLOWS, &owner);
}

static json_t *question_make(const struct wf_node *n)
{
	const json_t *text = json_object_get(n->args, "approve");
	char *dump = json_is_string(text) ? NULL : json_dumps(text, JSON_COMPACT | JSON_ENCODE_ANY);
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "scope", "workflow", "action", "approve",
			      "path", n->path, "workflow_run", n->run->id, "workflow", n->run->name,
			      "text", json_clean(dump ? dump : json_string_value(text)));

	free(dump);
	return o;
}

/* The answer to a question of before; false: it is open, or there is none. */
static bool answer_find(struct wf_node *n, int64_t id)
{
	json_t *o = approval_get(run_daemon(n->run), id), *result = NULL;
	const char *state = json_text(o, "state");
	bool allowed = state && !strcmp(state, "allowed");
	bool over = allowed || (state && !strcmp(state, "denied"));
	struct err e = { 0 };

	json_decref(o);
	if (!over)
		return false;
	answer_note(n, id, allowed, &e, &result);
	if (allowed)
		leaf_done(n, result);
	else
		leaf_fail(n, &e, true);
	return true;
}

static bool is_pending(struct daemon *d, int64_t id)
{
	json_t *o = approval_get(d, id);
	const char *state = json_text(o, "state");
	bool pending = state && !strcmp(state, "pending");

	json_decref(o);
	return pending;
}

void approve_start(struct wf_node *n)
{
	struct daemon *d = run_daemon(n->run);
	int64_t id = json_integer_value(json_object_get(n->live, "approval"));
	struct asking *x;
	struct err e;

	if (id && answer_find(n, id))
		return;
	if (!id || !is_pending(d, id)) {
		db_begin(&d->db);
		id = approval_ask(d, "", APPROVAL_WORKFLOWS, n->run->row, question_make(n));
		rows_told(n->run, n, "waiting");
		if (id)
			(void)!wf_live(n, json_pack("{s:I}", "approval", (json_int_t)id));
		if (db_end(&d->db, NULL) < 0 || !id) {
			err_note(&e, ERR_STORAGE, "the question could not be written");
			leaf_fail(n, &e, false);
			return;
		}
	}
	x = xalloc(sizeof(*x));
	x->work.stop = asking_stop;
	x->n = n;
	x->approval = id;
	n->work_of = x;
	list_init(&x->link);
	list_append(&askings, &x->link);
}
