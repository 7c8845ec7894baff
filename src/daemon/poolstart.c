/* Starting a cell with what waits in the pool. It gets its id by KEEP_TAKE and its command, if it has one, as the first process; all is sent at once.
 * Whatever goes wrong before the keeper has agreed leads to a start without the pool, of which nobody sees more than the time it takes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cellspec.h"
#include "daemon/life.h"
#include "daemon/lifepriv.h"
#include "daemon/pool.h"
#include "keeper/pool.h"
#include "store/store.h"

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
		if (!json_object_get(c->spec, "command"))
			up(c);
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

static void started(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	(void)fds;
	(void)nfds;
	/* A command that cannot run ends the cell, which tells why. */
	if (m && m->type == KEEP_STARTED)
		up(arg);
}

/* The command as the keeper would start it: 0 or -errno. */
static int command_send(struct cell *c, const json_t *command)
{
	struct keep_msg m = { .type = KEEP_EXEC,
			      .exec = { .flags = KEEP_X_FIRST | KEEP_X_LOG | KEEP_X_DETACH } };
	size_t n = json_array_size(command), i;
	char **argv = xalloc((n + 1) * sizeof(*argv));
	struct execspec s = { .flags = EXECSPEC_CELL_ENV, .argv = argv };
	json_t *v;
	int fd, err;

	json_array_foreach(command, i, v) argv[i] = (char *)(uintptr_t)json_string_value(v);
	fd = execspec_write(&s);
	free(argv);
	if (fd < 0)
		return fd;
	err = link_ask(c->keeper, &m, &fd, 1, started, c);
	close(fd);
	return err;
}

static void given(struct pool_wait *w, int fd, const struct keep_hello *hello)
{
	struct pool_start *s = (struct pool_start *)w;
	struct cell *c = s->c;
	const json_t *command = json_object_get(c->spec, "command");
	const char *image = json_text(c->spec, "image");
	double seconds = json_number_value(json_object_get(c->spec, "timeout"));
	struct keep_msg m = { .type = KEEP_TAKE };

	free(s);
	if (fd < 0) {
		cell_start_cold(c);
		return;
	}
	snprintf(m.take.id, sizeof(m.take.id), "%s", c->id);
	snprintf(m.take.image, sizeof(m.take.image), "%.79s", image ? image : "host");
	m.take.leave = 1;
	m.take.has_command = command != NULL;
	m.take.timeout_ns = (int64_t)(seconds * NSEC_PER_SEC);
	c->spawning = false;
	cell_linked_by(c, hello, fd, 0);
	if (link_ask(c->keeper, &m, NULL, 0, taken, c) < 0) {
		taken(c, NULL, NULL, 0);
		return;
	}
	/* Then it ends at once, as a cell does whose command cannot be run. */
	if (command && command_send(c, command) < 0)
		cell_stop_again(c);
}

bool cell_start_pooled(struct cell *c)
{
	const char *name = json_text(c->spec, "image");
	char image[POOL_IMAGE] = "host";
	bool stored = name && strcmp(name, "host");
	struct pool_start *s;
	struct store store;
	struct err e;

	/* The command of an image of the store may have an entry point before it. */
	if (c->name[0] || !c->d->pool || !cellspec_is_plain(c->spec) ||
	    (stored && json_object_get(c->spec, "command")))
		return false;
	if (stored) {
		bool found;

		if (store_open(&store, &e) < 0)
			return false;
		found = image_find(&store, name, image, &e) == 0;
		store_close(&store);
		if (!found)
			return false;
	}
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
