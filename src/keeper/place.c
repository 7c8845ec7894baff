/* See place.h. */
#include "keeper/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/client.h"
#include "keeper/merge.h"
#include "store/config.h"
#include "store/room.h"

/* ---- the image's configuration ---- */

struct settings {
	char **entrypoint, **cmd;
	unsigned nentrypoint, ncmd;
};

static char *item_text(const struct config_item *it)
{
	char *s = strndup(it->value, it->len);

	return s;
}

static int list_add(char ***list, unsigned *n, char *text)
{
	char **more = text ? realloc(*list, (*n + 2) * sizeof(char *)) : NULL;

	if (!more)
		return fail("out of memory");
	*list = more;
	more[(*n)++] = text;
	more[*n] = NULL;
	return 0;
}

static int setting_apply(struct run_options *o, struct settings *st, const struct config_item *it)
{
	char *text = item_text(it), *path = text;
	int err = 0;

	if (!text)
		return fail("out of memory");
	switch (it->tag) {
	case CONFIG_ENTRYPOINT:
		return list_add(&st->entrypoint, &st->nentrypoint, text);
	case CONFIG_CMD:
		return list_add(&st->cmd, &st->ncmd, text);
	case CONFIG_ENV:
		if (strchr(text, '='))
			run_env_set(o, text);
		break;
	case CONFIG_USER:
		if (o->user_text || !*text)
			break;
		o->user_text = text;
		return 0;
	case CONFIG_WORKDIR:
		if (o->workdir || !*text)
			break;
		/* Some write it without the first slash. */
		if (*text != '/' && asprintf(&path, "/%s", text) < 0)
			err = fail("out of memory");
		o->workdir = path;
		o->workdir_make = true;
		if (path == text)
			return 0;
		break;
	case CONFIG_STOP_SIGNAL:
		if (!o->stop_signal_text)
			o->stop_signal = value_signal(text);
		break;
	default:
		break;
	}
	free(text);
	return err;
}

/* ENTRYPOINT and CMD as docker has them: words of the command line take the place of CMD, --entrypoint that of both. */
static int command_make(struct run_options *o, struct settings *st)
{
	char **words = NULL;
	unsigned n = 0;
	int status = 0;

	if (o->entrypoint) {
		if (*o->entrypoint)
			status = list_add(&words, &n, strdup(o->entrypoint));
	} else if (st->nentrypoint != 1 ||
		   *st->entrypoint[0]) { /* [""] is how docker commit writes none */
		for (unsigned i = 0; i < st->nentrypoint && !status; i++)
			status = list_add(&words, &n, strdup(st->entrypoint[i]));
	}
	if (o->argv) {
		for (char **a = o->argv; *a && !status; a++)
			status = list_add(&words, &n, *a);
	} else if (!o->entrypoint) {
		for (unsigned i = 0; i < st->ncmd && !status; i++)
			status = list_add(&words, &n, strdup(st->cmd[i]));
	}
	o->argv = words;
	return status;
}

static void list_free(char **list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static int config_apply(struct run_options *o, const struct image *im)
{
	struct settings st = { 0 };
	struct config_item it;
	size_t len, at = 0;
	const void *config = index_config(&im->ix, &len);
	int status = 0, r = 0;

	while (!status && (r = config_next(config, len, &at, &it)) == 0)
		status = setting_apply(o, &st, &it);
	if (!status && r != -ENOENT)
		status = fail("the image's configuration is damaged; 'viv image verify' checks the "
			      "store");
	if (!status)
		status = command_make(o, &st);
	list_free(st.entrypoint, st.nentrypoint);
	list_free(st.cmd, st.ncmd);
	return status;
}

/* ---- opening ---- */

static int failed(const struct err *e)
{
	return fail("%s", e->text);
}

static int image_place(struct place *p, const char *name)
{
	struct err e;

	if (!strcmp(name, "host"))
		return 0;
	if (image_open(&p->store, name, &p->image, &e) < 0)
		return failed(&e);
	p->stored = true;
	return 0;
}

static int cell_place(struct place *p, const struct run_options *o)
{
	struct err e;
	int err;

	if (cell_open_or_make(&p->store, o->name, p->stored ? p->image.hash : o->image, &p->cell,
			      &p->disk, &e) < 0)
		return failed(&e);
	p->kept = true;
	err = disk_chain(p->store.fd, &p->disk, p->disk.active, &p->chain);
	if (err)
		return fail("the disk of cell '%s' is damaged (%s)", o->name, strerror(-err));
	err = p->stored ? 0 : image_place(p, p->cell.image);
	if (err)
		return err;
	return place_shorten(p, &e) < 0 ? failed(&e) : 0;
}

static int volumes_place(struct place *p, const struct run_options *o)
{
	for (unsigned i = 0; i < o->nmounts; i++) {
		struct err e;

		if (o->mounts[i].volume &&
		    volume_open_or_make(&p->store, o->mounts[i].volume, o->mounts[i].readonly,
					&p->volumes[i], &e) < 0)
			return failed(&e);
	}
	return 0;
}

int place_settings(const struct place *p, struct run_options *o)
{
	if (p->stored)
		return config_apply(o, &p->image);
	return o->entrypoint ? command_make(o, &(struct settings){ 0 }) : 0;
}

int place_open(struct place *p, struct run_options *o)
{
	bool volumes = false;
	int status = 0;
	struct err e;

	*p = (struct place){ .image.dir = -1, .disk = { .dir = -1, .lock = -1 } };
	for (unsigned i = 0; i < ARRAY_LEN(p->volumes); i++)
		p->volumes[i] = (struct disk){ .dir = -1, .lock = -1 };
	for (unsigned i = 0; i < o->nmounts; i++)
		volumes |= o->mounts[i].volume != NULL;
	if (o->name || volumes || (o->image && strcmp(o->image, "host"))) {
		if (store_open(&p->store, &e) < 0)
			return failed(&e);
		p->used = true;
		room_keep(p->store.fd);
		if (o->image)
			status = image_place(p, o->image);
		if (!status && o->name)
			status = cell_place(p, o);
		if (!status)
			status = volumes_place(p, o);
	}
	return status ? status : place_settings(p, o);
}

void place_close(struct place *p)
{
	if (!p->used)
		return;
	if (p->kept) {
		disk_chain_close(&p->chain);
		disk_close(&p->disk);
	}
	for (unsigned i = 0; i < ARRAY_LEN(p->volumes); i++)
		if (p->volumes[i].dir >= 0)
			disk_close(&p->volumes[i]);
	if (p->stored)
		image_close(&p->image);
	store_close(&p->store);
}
