/* The warm pool (docs/decisions/0026): idle cells that have booted, one list for each image in use,
 * for whoever wants to run something at once.
 *
 * How many wait follows from how many were asked for (poolsize.h). A cell is given to one: its
 * descriptor is the cell, and it leaves our hands with it. Those that wait end when their
 * descriptor does, with vivd, however that ends. */
#ifndef VIV_DAEMON_KEEPERS_POOL_H
#define VIV_DAEMON_KEEPERS_POOL_H

#include "daemon/state/daemon.h"
#include "keeper/client.h"

/* One who waits for a cell; fd -1: there will be none, else the descriptor is the callee's. Called
 * once. */
struct pool_wait {
	struct list link;
	void (*fn)(struct pool_wait *w, int fd, const struct keep_hello *hello);
};

struct pool_figures {
	unsigned ready, booting, ending;
	uint64_t given, missed;
};

/* Listens on RUN/pool.sock. Without it everything starts cold, and a warning says so. */
void pool_open(struct daemon *d);
void pool_close(struct daemon *d);
/* A cell of this image ("host" or a hash), now or as soon as one that boots has done so. False:
 * there is none, and fn is not called. */
bool pool_ask(struct daemon *d, const char *image, struct pool_wait *w);
struct pool_figures pool_figures(const struct daemon *d);

#endif
