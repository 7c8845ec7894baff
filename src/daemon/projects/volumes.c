/* See volumes.h. That a volume is a project's is noted before it is made: killed in between, the
 * next run makes it, and it is still the project's. */
#include "daemon/projects/volumes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "daemon/state/events.h"
#include "keeper/named.h"

struct volumes {
	uv_work_t work;
	struct daemon *d;
	unsigned n;
	bool drop;
	volumes_fn fn;
	void *arg;
	struct volume_change {
		char name[CELL_NAME_LEN + 1];
		int status; /* 0, or an enum err_kind */
		bool changed; /* by us */
		struct err e;
	} list[];
};

static void volumes_work(uv_work_t *w)
{
	struct volumes *v = w->data;
	struct store s;
	struct err e;

	if (!v->n)
		return;
	if (store_open(&s, &e) < 0) {
		for (unsigned i = 0; i < v->n; i++) {
			v->list[i].status = ERR_FAILED;
			v->list[i].e = e;
		}
		return;
	}
	for (unsigned i = 0; i < v->n; i++) {
		struct volume_change *c = &v->list[i];
		int err =
			v->drop ? volume_drop(&s, c->name, &c->e) : volume_make(&s, c->name, &c->e);

		c->changed = err == 0;
		/* Somebody else was faster, which is as good. */
		if (err < 0 && c->e.kind != (v->drop ? ERR_NOT_FOUND : ERR_CONFLICT))
			c->status = c->e.kind;
	}
	store_close(&s);
}

static void volumes_done(uv_work_t *w, int status)
{
	struct volumes *v = w->data;

	(void)status;
	for (unsigned i = 0; i < v->n; i++) {
		struct err f = { 0 };

		if (v->list[i].status)
			f = v->list[i].e;
		else if (v->drop)
			project_volume_forget(v->d, v->list[i].name);
		if (v->list[i].changed)
			event_add(v->d, v->drop ? "volume.removed" : "volume.created", NULL,
				  json_pack("{s:s}", "name", v->list[i].name));
		v->fn(v->arg, v->list[i].name, f.kind ? &f : NULL);
	}
	v->fn(v->arg, NULL, NULL);
	free(v);
}

void project_volumes_change(struct daemon *d, const char *project, const json_t *list, bool drop,
			    volumes_fn fn, void *arg)
{
	struct volumes *v =
		xalloc(sizeof(*v) + json_array_size(list) * sizeof(struct volume_change));
	json_t *name;
	size_t i;

	v->d = d;
	v->drop = drop;
	v->fn = fn;
	v->arg = arg;
	v->work.data = v;
	json_array_foreach(list, i, name) {
		snprintf(v->list[v->n++].name, sizeof(v->list[0].name), "%s",
			 json_string_value(name));
		if (!drop)
			project_volume_note(d, project, json_string_value(name), NULL);
	}
	uv_queue_work(&d->loop, &v->work, volumes_work, volumes_done);
}
