/* Which ports of the host lead into a cell: its keeper listens there, and knows them. */
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/cells/lifepriv.h"
#include "daemon/keepers/link.h"

#define TEXT_MAX 65536

static void answered(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	char text[TEXT_MAX];
	ssize_t n = m && m->type == KEEP_PORTS && nfds ? pread(fds[0], text, sizeof(text), 0) : -1;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	c->ports_asked = false;
	json_decref(c->ports);
	c->ports = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
	c->d->settled(c->d);
}

void cell_ports_ask(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_PORTS };

	c->ports_asked = c->keeper && link_ask(c->keeper, &m, NULL, 0, answered, c) == 0;
}
