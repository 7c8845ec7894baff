/* See runfollow.h. */
#include "daemon/cells/runfollow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "store/runspec.h"
#include "store/store.h"

/* What was read, checked like what a client of the API sends. NULL: it is refused. */
static json_t *spec_take(const char *text, struct err *f)
{
	json_t *spec = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!spec)
		err_note(f, ERR_INVALID, "it is not JSON");
	else if (cellspec_check(spec, f) == 0)
		return spec;
	json_decref(spec);
	return NULL;
}

void cell_run_follow(struct cell *c)
{
	int64_t run = c->run;
	json_t *spec = NULL;
	char *text = NULL;
	struct err f = { 0 };
	struct store s;
	int err;

	if (!c->run || c->run == RUN_UNNAMED || store_open(&s, &f) < 0)
		return;
	err = runspec_read(s.fd, c->id, &run, &text);
	store_close(&s);
	if (err)
		run = err == -ENOENT ? RUN_UNKNOWN : RUN_REFUSED;
	if (run == c->run)
		return;
	if (err)
		err_note(&f, ERR_FAILED, "%s", strerror(-err));
	else
		spec = spec_take(text, &f);
	free(text);
	if (!spec && err != -ENOENT)
		log_warn("cell %s: the settings of its last run are not used: %s", c->id,
			 err_line(&f).str);
	if (!spec)
		spec = json_object();
	/* The image is the one that its files stand on, whatever its name means by now. */
	json_object_set(spec, "image", json_object_get(c->spec, "image"));
	json_object_del(spec, "name");
	json_object_del(spec, "auto_remove");
	if (cell_respec(c, spec, run, &f) < 0)
		log_warn("cell %s: the settings of its last run are not kept: %s", c->id,
			 err_line(&f).str);
}
