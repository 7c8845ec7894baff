/* /v1/journals, and /v1/cells/{cell}/journal/head: which journals there are and how they end.
 * Journals outlive their cells: {cell} is also the id or the name of one that is gone. A token for
 * one cell sees that cell's journal only. */
#include <stdlib.h>
#include <string.h>

#include "api/journals/private.h"
#include "api/page.h"
#include "api/routes.h"
#include "journal/hash.h"

/* ---- finding one ---- */

struct finding {
	struct op op;
	char id[CELL_ID_LEN + 1], text[CELL_NAME_LEN + 1];
	bool by_name; /* all were looked at */
	void (*fn)(struct request *r, const struct journal_info *j);
};

static void not_found(struct request *r)
{
	reply_error(r, ERR_NOT_FOUND,
		    "there is no journal of a cell '%.80s'" REMEDY
		    "GET /v1/journals lists them; a cell has one if it was made with a journal",
		    r->param[0]);
}

static void found(void *arg, const struct journal_info *list, size_t n, const struct err *e)
{
	struct finding *x = arg;
	struct request *r = op_end(&x->op);
	const struct journal_info *j = NULL;
	unsigned hits = 0;

	for (size_t i = 0; i < n; i++) {
		bool same = !x->by_name || (x->text[0] && !strcmp(list[i].name, x->text));

		hits += same;
		j = same ? &list[i] : j;
	}
	if (r && e)
		reply_err(r, e);
	else if (r && hits > 1)
		reply_error(r, ERR_CONFLICT,
			    "%u cells that are gone had the name '%.64s'" REMEDY
			    "give the id; GET /v1/journals lists them",
			    hits, x->text);
	else if (r && (!j || (r->rights.cell[0] && strcmp(r->rights.cell, j->id) != 0)))
		not_found(r);
	else if (r)
		x->fn(r, j);
	free(x);
}

void journal_find(struct request *r, void (*fn)(struct request *r, const struct journal_info *j))
{
	const char *text = r->param[0];
	struct finding *x;
	struct err f = { 0 };
	const struct cell *c = cell_find(r->d, text, &f);
	const char *id = c ? c->id : r->rights.cell[0] ? NULL : text;

	/* A token goes with its cell: another one's is as if it were not there. */
	if (r->rights.cell[0] && (!c || strcmp(r->rights.cell, c->id) != 0)) {
		not_found(r);
		return;
	}
	if (!c && f.kind == ERR_CONFLICT) {
		reply_err(r, &f);
		return;
	}
	x = xalloc(sizeof(*x));
	x->fn = fn;
	snprintf(x->text, sizeof(x->text), "%s", strlen(text) < sizeof(x->text) ? text : "");
	x->by_name = !c && (strlen(text) != CELL_ID_LEN || !journal_id_is_valid(text));
	op_begin(r, &x->op);
	journals_scan(r->d, x->by_name ? NULL : id, found, x);
}

/* ---- the list ---- */

static json_t *info_json(const struct journal_info *j)
{
	json_t *o = json_pack("{s:s,s:o,s:o,s:I,s:I,s:I,s:b}", "id", j->id, "name",
			      json_clean(j->name), "image", json_clean(j->image), "records",
			      (json_int_t)j->records, "bytes", (json_int_t)j->bytes, "unsealed",
			      (json_int_t)j->unsealed, "running", j->running);

	if (j->first)
		json_object_set_new(o, "first", json_string(time_text(j->first).str));
	if (j->last)
		json_object_set_new(o, "last", json_string(time_text(j->last).str));
	if (j->e.kind)
		json_object_set_new(o, "error", json_err(&j->e));
	return o;
}

struct listing {
	struct op op;
	struct page page;
};

static void listed(void *arg, const struct journal_info *list, size_t n, const struct err *e)
{
	struct listing *x = arg;
	struct request *r = op_end(&x->op);
	json_t *out = json_pack("{s:[]}", "journals");
	bool room = true;

	for (size_t i = 0; r && i < n && room; i++)
		if ((!r->rights.cell[0] || !strcmp(r->rights.cell, list[i].id)) &&
		    (!x->page.cursor || strcmp(list[i].id, x->page.cursor) > 0))
			room = page_add(&x->page, out, "journals", info_json(&list[i]));
	if (r && e)
		reply_err(r, e);
	else if (r)
		reply_json(r, 200, json_incref(out));
	json_decref(out);
	page_free(&x->page);
	free(x);
}

void journals_list(struct request *r)
{
	static const char *const names[] = { "limit", "cursor", NULL };
	struct listing *x;
	struct page page;

	if (!request_query_only(r, names) || !page_read(r, journal_id_is_valid, &page))
		return;
	x = xalloc(sizeof(*x));
	x->page = page;
	op_begin(r, &x->op);
	journals_scan(r->d, NULL, listed, x);
}

/* ---- its head ---- */

static json_t *head_json(uint64_t block, const char *hash, uint64_t records)
{
	return json_pack("{s:I,s:s,s:I}", "block", (json_int_t)block, "hash", hash, "records",
			 (json_int_t)records);
}

static void head_reply(struct request *r, const struct journal_info *j)
{
	struct journal_kept k;
	char hash[HASH_HEX];
	json_t *o;

	hash_hex(j->tip.hash, sizeof(j->tip.hash), hash);
	head_take(r->d, j);
	if (j->e.kind) {
		reply_err(r, &j->e);
		return;
	}
	if (!j->tip.block && !head_kept(r->d, j->id, &k)) {
		reply_error(r, ERR_NOT_FOUND,
			    "the journal has no sealed block yet" REMEDY
			    "blocks are sealed every few seconds while records come");
		return;
	}
	o = head_json(j->tip.block, hash, j->tip.records);
	json_object_set_new(o, "cell", json_string(j->id));
	if (head_kept(r->d, j->id, &k)) {
		json_t *kept = head_json(k.block, k.hash, k.records);

		json_object_set_new(kept, "time", json_string(time_text(k.time).str));
		json_object_set_new(o, "kept", kept);
		if (k.damaged[0])
			json_object_set_new(o, "damaged", json_clean(k.damaged));
	}
	reply_json(r, 200, o);
}

void journal_head_get(struct request *r)
{
	static const char *const names[] = { NULL };

	if (request_query_only(r, names))
		journal_find(r, head_reply);
}

/* ---- removing ---- */

struct removing {
	struct op op;
};

static void removed(void *arg, const struct err *e)
{
	struct removing *x = arg;
	struct request *r = op_end(&x->op);

	if (r && e)
		reply_err(r, e);
	else if (r)
		reply_nothing(r);
	free(x);
}

static void remove_begin(struct request *r, const struct journal_info *j)
{
	struct removing *x;

	if (j->running) {
		reply_error(r, ERR_CONFLICT,
			    "cell %s runs, and its journal is being written" REMEDY "stop it first",
			    j->id);
		return;
	}
	x = xalloc(sizeof(*x));
	op_begin(r, &x->op);
	journal_delete(r->d, j, "asked", removed, x);
}

void journal_delete_one(struct request *r)
{
	/* By its id only: a name may be that of another cell by now. */
	if (strlen(r->param[0]) != CELL_ID_LEN || !journal_id_is_valid(r->param[0]))
		not_found(r);
	else
		journal_find(r, remove_begin);
}
