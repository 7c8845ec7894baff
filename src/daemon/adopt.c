/* vivd's start: what it knew is compared with what is there. A cell whose keeper runs is adopted, and its events since the last that was
 * taken are asked for. One that should have a keeper and has none ended meanwhile: its record says how, or it was lost with the
 * machine; its policy decides. Cells that others made (named ones of the store, keepers that 'viv run' started) become known. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/fields.h"
#include "daemon/life.h"
#include "daemon/lifepriv.h"
#include "store/named.h"
#include "store/store.h"

/* The keeper's word on its cell, not waited for longer than a moment. */
static bool hello_get(const char *id, struct keep_hello *ret)
{
	const struct timeval wait = { .tv_sec = 2 };
	struct err e;
	int fd = keep_connect(id, &e);
	bool ok;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	ok = keep_hello(fd, ret, &e) == 0 && ret->version == KEEP_VERSION &&
	     ret->state < KEEP_STOPPED;
	close(fd);
	return ok;
}

static void cell_adopt(struct cell *c, const struct keep_hello *h)
{
	enum cell_state is = h->state == KEEP_PAUSED	 ? CELL_PAUSED
			     : h->state == KEEP_STOPPING ? CELL_STOPPING
			     : h->state == KEEP_STARTING ? CELL_STARTING
							 : CELL_RUNNING;

	/* Another run than the one that was known. */
	if (c->started > h->started + NSEC_PER_SEC || c->started < h->started - 60 * NSEC_PER_SEC ||
	    c->seen >= h->next_event)
		c->seen = 0;
	c->started = c->started ? c->started : h->started;
	c->ended = 0;
	c->status = -1;
	c->reason[0] = c->detail[0] = '\0';
	c->state = is;
	db_begin(&c->d->db);
	cell_save(c);
	event_add(c->d, "cell.adopted", c->id,
		  json_pack("{s:s,s:s}", "name", c->name, "state", cell_state_name(is)));
	db_end(&c->d->db, NULL);
	cell_linked(c, h, c->seen + 1);
}

static void known_check(struct daemon *d)
{
	struct cell *c, *tmp;

	list_for_each_safe (c, tmp, &d->cells, link) {
		struct keep_hello h;

		if (hello_get(c->id, &h))
			cell_adopt(c, &h);
		else if (cell_state_is_live(c->state))
			cell_lost(c);
		else if (c->wanted && c->state != CELL_CREATED)
			cell_policy(c);
		else if (!c->name[0] && c->state != CELL_CREATED)
			cell_linger(c);
	}
}

static bool keeper_step(void *arg, const char *id)
{
	struct daemon *d = arg;
	struct keep_hello h;
	struct fault f = { 0 };
	struct cell *c;
	json_t *spec;

	if (cell_by_id(d, id) || !hello_get(id, &h))
		return true;
	h.image[sizeof(h.image) - 1] = h.name[sizeof(h.name) - 1] = '\0';
	spec = json_pack("{s:o}", "image", json_clean(h.image));
	c = cell_new(d, id, h.name, spec, &f);
	if (c)
		cell_adopt(c, &h);
	return true;
}

/* Named cells are the store's: those that vivd does not know, and those that are not there any more. */
static void store_compare(struct daemon *d)
{
	struct named *list = NULL;
	struct cell *c, *tmp;
	struct store s;
	struct err e;
	unsigned n = 0;

	if (store_open(&s, &e) < 0)
		return;
	if (named_list(s.fd, NAMED_CELL, &list, &n)) {
		store_close(&s);
		return;
	}
	list_for_each_safe (c, tmp, &d->cells, link) {
		unsigned i;

		for (i = 0; i < n && strcmp(list[i].disk, c->id); i++)
			;
		if (i < n && strcmp(list[i].name, c->name))
			cell_rename(c, list[i].name, NULL);
		else if (i == n && c->name[0])
			cell_forget(c);
	}
	for (unsigned i = 0; i < n; i++) {
		struct fault f = { 0 };

		if (!cell_by_id(d, list[i].disk))
			cell_new(d, list[i].disk, list[i].name,
				 json_pack("{s:o}", "image", json_clean(list[i].image)), &f);
	}
	free(list);
	store_close(&s);
}

/* A keeper that somebody else started while we run. */
static void on_socket(uv_fs_event_t *h, const char *name, int events, int status)
{
	size_t n = name ? strlen(name) : 0;
	char id[KEEP_ID_LEN + 1];

	(void)events;
	if (status || n <= 5 || n - 5 > KEEP_ID_LEN || strcmp(name + n - 5, ".sock"))
		return;
	memcpy(id, name, n - 5);
	id[n - 5] = '\0';
	if (keep_id_is_valid(id))
		keeper_step(h->data, id);
}

static void sockets_watch(struct daemon *d)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/cells", d->run);
	uv_fs_event_init(&d->loop, &d->sockets);
	d->sockets.data = d;
	if (uv_fs_event_start(&d->sockets, on_socket, path, 0))
		log_warn("cells that others start are not seen before vivd is started again");
}

int cells_open(struct daemon *d, struct err *e)
{
	list_init(&d->cells);
	list_init(&d->dead);
	uv_timer_init(&d->loop, &d->notify);
	d->notify.data = d;
	cells_read(d);
	store_compare(d);
	known_check(d);
	if (keep_each(keeper_step, d, e) < 0)
		return -1;
	sockets_watch(d);
	return 0;
}

void cells_close(struct daemon *d)
{
	struct cell *c;

	list_for_each (c, &d->cells, link) {
		if (c->keeper)
			link_close(c->keeper);
		c->keeper = NULL;
		cell_timer(c, -1, NULL);
	}
	uv_close((uv_handle_t *)&d->notify, NULL);
	uv_close((uv_handle_t *)&d->sockets, NULL);
}
