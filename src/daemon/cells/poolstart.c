/* Starting a cell with what waits in the pool. It is given the words that a keeper of its own would
 * have, and reads them itself: its command is started as ever. Whatever it refuses leads to a start
 * without the pool, of which nobody sees more than the time it takes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/make.h"
#include "daemon/keepers/pool.h"
#include "wire/memfd.h"
#include "keeper/pool.h"

struct pool_start {
	struct pool_wait wait; /* first */
	struct cell *c;
};

static void up(struct cell *c)
{
	if (c->state == CELL_STARTING)
		cell_move(c, IN_UP, NULL);
}

static void taken(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	struct keeper_link *l = c->keeper;

	(void)fds;
	(void)nfds;
	if (m && m->type == KEEP_OK) {
		if (json_array_size(json_object_get(c->spec, "ports")))
			cell_ports_ask(c);
		if (!json_object_get(c->spec, "command")) {
			up(c);
			/* Nothing runs in it from the beginning. */
			cell_idle_reset(c);
		}
		/* Asked to stop meanwhile, when nobody was there to be told. */
		if (c->state == CELL_STOPPING)
			cell_stop_again(c);
		return;
	}
	c->keeper = NULL;
	c->kernel_pid = 0;
	link_close(l);
	cell_start_cold(c);
}

/* 0 or -errno. */
static int take_send(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_TAKE };
	struct buf words = { 0 };
	int fd, err;

	cellspec_words(c, &words);
	fd = memfd_sealed("viv-words", words.p, words.len);
	buf_free(&words);
	if (fd < 0)
		return fd;
	err = link_ask(c->keeper, &m, &fd, 1, taken, c);
	close(fd);
	return err;
}

static void given(struct pool_wait *w, int fd, const struct keep_hello *hello)
{
	struct pool_start *s = (struct pool_start *)w;
	struct cell *c = s->c;

	free(s);
	if (fd < 0) {
		cell_start_cold(c);
		return;
	}
	c->spawning = false;
	cell_linked_by(c, hello, fd, 0);
	if (take_send(c) < 0)
		taken(c, NULL, NULL, 0);
}

bool cell_start_pooled(struct cell *c)
{
	char image[HASH_TEXT];
	struct pool_start *s;
	struct err f;

	/* A name is a disk, which is given to a kernel when it boots. */
	if (c->name[0] || !c->d->pool || !cellspec_fits_warm(c->spec))
		return false;
	if (cell_image(c->spec, image, &f) < 0)
		return false;
	s = xalloc(sizeof(*s));
	s->wait.fn = given;
	s->c = c;
	c->spawning = true;
	if (pool_ask(c->d, image, &s->wait))
		return true;
	c->spawning = false;
	free(s);
	return false;
}
