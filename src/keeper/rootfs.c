/* See place.h. */
#include "keeper/rootfs.h"

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

static int list_add(char ***list, unsigned *n, char *text, struct err *e)
{
	char **more = text ? realloc(*list, (*n + 2) * sizeof(char *)) : NULL;

	if (!more)
		return err_set(e, ERR_FAILED, "out of memory");
	*list = more;
	more[(*n)++] = text;
	more[*n] = NULL;
	return 0;
}

static int setting_apply(struct run_options *o, struct settings *st, const struct config_item *it,
			 struct err *e)
{
	char *text = item_text(it), *path = text;
	int err = 0;

	if (!text)
		return err_set(e, ERR_FAILED, "out of memory");
	switch (it->tag) {
	case CONFIG_ENTRYPOINT:
		return list_add(&st->entrypoint, &st->nentrypoint, text, e);
	case CONFIG_CMD:
		return list_add(&st->cmd, &st->ncmd, text, e);
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
			err = err_set(e, ERR_FAILED, "out of memory");
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

/* ENTRYPOINT and CMD as docker has them: words of the command line take the place of CMD,
 * --entrypoint that of both. */
static int command_make(struct run_options *o, struct settings *st, struct err *e)
{
	char **words = NULL;
	unsigned n = 0;
	int status = 0;

	if (o->entrypoint) {
		if (*o->entrypoint)
			status = list_add(&words, &n, strdup(o->entrypoint), e);
	} else if (st->nentrypoint != 1 ||
		   *st->entrypoint[0]) { /* [""] is how docker commit writes none */
		for (unsigned i = 0; i < st->nentrypoint && !status; i++)
			status = list_add(&words, &n, strdup(st->entrypoint[i]), e);
	}
	if (o->argv) {
		for (char **a = o->argv; *a && !status; a++)
			status = list_add(&words, &n, *a, e);
	} else if (!o->entrypoint) {
		for (unsigned i = 0; i < st->ncmd && !status; i++)
			status = list_add(&words, &n, strdup(st->cmd[i]), e);
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

static int config_apply(struct run_options *o, const struct image *im, struct err *e)
{
	struct settings st = { 0 };
	struct config_item it;
	size_t len, at = 0;
	const void *config = index_config(&im->ix, &len);
	int status = 0, r = 0;

	while (!status && (r = config_next(config, len, &at, &it)) == 0)
		status = setting_apply(o, &st, &it, e);
	if (!status && r != -ENOENT)
		status = err_set(e, ERR_FAILED,
				 "the image's configuration is damaged" REMEDY
				 "'viv image verify' checks the "
				 "store");
	if (!status)
		status = command_make(o, &st, e);
	list_free(st.entrypoint, st.nentrypoint);
	list_free(st.cmd, st.ncmd);
	return status;
}

/* ---- opening ---- */

static int image_place(struct rootfs *p, const char *name, struct err *e)
{
	if (!strcmp(name, "host"))
		return 0;
	if (image_open(&p->store, name, &p->image, e) < 0)
		return -1;
	p->stored = true;
	return 0;
}

static int cell_place(struct rootfs *p, const struct run_options *o, struct err *e)
{
	int err;

	if (cell_open_or_make(&p->store, o->name, p->stored ? p->image.hash : o->image, &p->cell,
			      &p->disk, e) < 0)
		return -1;
	p->kept = true;
	err = disk_chain(p->store.fd, &p->disk, p->disk.active, &p->chain);
	if (err)
		return err_set(e, ERR_FAILED, "the disk of cell '%s' is damaged (%s)", o->name,
			       strerror(-err));
	if (!p->stored && image_place(p, p->cell.image, e) < 0)
		return -1;
	return place_shorten(p, e);
}

static int volumes_place(struct rootfs *p, const struct run_options *o, struct err *e)
{
	for (unsigned i = 0; i < o->nmounts; i++)
		if (o->mounts[i].volume &&
		    volume_open_or_make(&p->store, o->mounts[i].volume, o->mounts[i].readonly,
					&p->volumes[i], e) < 0)
			return -1;
	return 0;
}

int rootfs_settings(const struct rootfs *p, struct run_options *o, struct err *e)
{
	if (p->stored)
		return config_apply(o, &p->image, e);
	return o->entrypoint ? command_make(o, &(struct settings){ 0 }, e) : 0;
}

int rootfs_open(struct rootfs *p, struct run_options *o, struct err *e)
{
	bool volumes = false;

	*p = (struct rootfs){ .image.dir = -1, .disk = { .dir = -1, .lock = -1 } };
	for (unsigned i = 0; i < ARRAY_LEN(p->volumes); i++)
		p->volumes[i] = (struct disk){ .dir = -1, .lock = -1 };
	for (unsigned i = 0; i < o->nmounts; i++)
		volumes |= o->mounts[i].volume != NULL;
	if (o->name || volumes || (o->image && strcmp(o->image, "host"))) {
		if (store_open(&p->store, e) < 0)
			return -1;
		p->used = true;
		room_keep(p->store.fd);
		if ((o->image && image_place(p, o->image, e) < 0) ||
		    (o->name && cell_place(p, o, e) < 0) || volumes_place(p, o, e) < 0)
			return -1;
	}
	return rootfs_settings(p, o, e);
}

void rootfs_close(struct rootfs *p)
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
