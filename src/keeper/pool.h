/* Taking a cell from vivd's pool (docs/decisions/0026): vivd listens on RUN/pool.sock
 * (SOCK_SEQPACKET), is asked once on a connection, and answers with the descriptor of a booted,
 * idle cell's keeper, or without one. Whoever has the descriptor has the cell (wire/keeper.h). */
#ifndef VIV_KEEPER_POOL_H
#define VIV_KEEPER_POOL_H

#include "base/base.h"

#define POOL_SOCKET "pool.sock"
#define POOL_VERSION 1
#define POOL_IMAGE 80 /* "host", or the hash of an image */

#define POOL_ANY_CGROUP 1 /* the caller does not mind in which cgroup the cell is counted */

struct pool_ask {
	uint32_t version, flags;
	uint64_t around, cgroup; /* of the caller: pool_surroundings() */
	char image[POOL_IMAGE];
};

struct pool_answer {
	uint32_t version;
	uint32_t given; /* and with it comes a descriptor */
};

/* What a cell has from the process that started it, as two numbers that are the same for two
 * processes if all of it is: processors, limits, groups, priority, the view of the file system, the
 * default level of journals; and the cgroup, by itself. */
void pool_surroundings(uint64_t *ret_around, uint64_t *ret_cgroup);

/* A connection to the keeper of an idle cell with this image, blocking and close-on-exec; -1: there
 * is none, for whatever reason. Never waits for longer than a cell takes to start. */
int pool_take(const char *image, unsigned flags);

#endif
