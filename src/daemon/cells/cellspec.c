/* See cellspec.h. The settings themselves are those of src/spec; here they are kept as the JSON
 * that they came in. */
#include "daemon/cells/cellspec.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/cells/cells.h"
#include "daemon/state/fields.h"

/* The settings as the table has them; the caller's, by run_options_fini(). */
static int spec_read(const json_t *spec, struct run_options *ret, struct err *e)
{
	char *text = json_dumps(spec, JSON_COMPACT);
	int err = text ? run_options_read(ret, text, strlen(text), e)
		       : err_set(e, ERR_INVALID, "the settings of a cell must be an object");

	free(text);
	return err;
}

int cellspec_check(const json_t *spec, struct err *f)
{
	struct run_options o = { 0 };
	int err = spec_read(spec, &o, f);

	run_options_fini(&o);
	return err;
}

int cellspec_attenuate(const json_t *parent, json_t **child, struct err *f)
{
	struct run_options has = { 0 }, gets = { 0 };
	struct buf text = { 0 };
	json_t *made = NULL;
	int err = spec_read(parent, &has, f);

	if (!err)
		err = spec_read(*child, &gets, f);
	if (!err)
		err = spec_attenuate(&has, &gets, f);
	if (!err) {
		buf_add_text(&text, "{");
		run_options_write(&gets, 0, &text);
		buf_add_text(&text, "}");
		made = json_loadb((char *)text.p, text.len, 0, NULL);
		if (!made)
			err = err_set(f, ERR_INVALID, "the settings of the cell cannot be written");
	}
	if (made) {
		json_decref(*child);
		*child = made;
	}
	buf_free(&text);
	run_options_fini(&has);
	run_options_fini(&gets);
	return err;
}

struct restart cellspec_restart(const json_t *spec)
{
	const json_t *o = json_object_get(spec, "restart");
	struct restart r = { RESTART_NO, 0 };

	if (o && restart_parse(json_text(o, "policy"), &r.policy))
		r.max = (uint32_t)json_integer_value(json_object_get(o, "max"));
	return r;
}

bool cellspec_fits_warm(const json_t *spec)
{
	struct run_options o = { 0 };
	struct err e;
	bool fits = spec_read(spec, &o, &e) == 0 && run_fits_warm(&o);

	run_options_fini(&o);
	return fits;
}

/* ---- words for a keeper ---- */

static void word(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text) + 1);
}

static void option(struct buf *b, const char *name, const char *value)
{
	word(b, name);
	word(b, value);
}

/* The settings with these flags (S_); 0: all. */
static void spec_words(const json_t *spec, unsigned what, struct buf *b)
{
	struct run_options o = { 0 };
	struct buf text = { 0 };
	struct err e;

	/* They were checked when they came; what an older vivd took and we do not is for the keeper
	 * to refuse, with a reason. */
	if (spec_read(spec, &o, &e) == 0) {
		buf_add_text(&text, "{");
		run_options_write(&o, what, &text);
		buf_add(&text, "}", 2);
		option(b, "--spec", (char *)text.p);
	} else {
		char *whole = json_dumps(spec, JSON_COMPACT);

		option(b, "--spec", whole ? whole : "");
		free(whole);
	}
	buf_free(&text);
	run_options_fini(&o);
}

void cellspec_words(const struct cell *c, struct buf *b)
{
	option(b, c->name[0] ? "--name" : "--id", c->name[0] ? c->name : c->id);
	if (c->parent[0])
		option(b, "--parent", c->parent);
	word(b, "--leave");
	if (!json_object_get(c->spec, "command"))
		word(b, "--idle");
	spec_words(c->spec, 0, b);
}

void cellspec_visit_words(const json_t *spec, const char *name, struct buf *b)
{
	option(b, "--name", name);
	spec_words(spec, S_PLACE, b);
	word(b, "--idle");
	word(b, "--visit");
}

void cellspec_merge_words(const char *name, struct buf *b)
{
	option(b, "--name", name);
	word(b, "--merge");
}
