/* Cells as clients of the API: connections that come through the door of a cell
 * (daemon/tools/door.c) and begin with something else than '{'.
 *
 * Whoever speaks there is that cell: the identity is that of the keeper's link over which the
 * connection came, and of this run of the cell. It is no token; it cannot be shown elsewhere, and
 * ends with the run. A cell may use the routes that say so (ROUTE_FAMILY), for its descendants, and
 * with ROUTE_SELF for itself; everything else does not exist for it. Before each request is served
 * the cell's keeper is asked for the rules in force, and the scope 'cells' must allow something.
 *
 * All of it is hostile. The first cell of a family has at most CALLER_CONNECTIONS connections, and
 * so as many requests under way, and all below it have CALLER_BELOW; requests beyond their rate
 * wait before they are looked at, so they cost nothing but their place; bodies that came and
 * answers that are not read have common bounds. */
#ifndef VIV_API_HTTP_CALLER_H
#define VIV_API_HTTP_CALLER_H

#include "api/http/request.h"
#include "daemon/cells/cells.h"

#define CALLER_CONNECTIONS 48
#define CALLER_BELOW 96 /* of all cells below the first one of a family */
#define CALLERS_CONNECTIONS 1024 /* of all cells together */
#define CALLER_BYTES (4u << 20) /* of bodies that are not taken yet */
#define CALLER_ANSWERS (32u << 20) /* of answers that are not read yet */
#define CALLER_SPEC (64u << 10) /* of the settings of a new cell */
#define CALLER_BLOCK (8u << 10) /* of a stream, before others have their turn */

/* What a group of cells uses of vivd (daemon/cells/family.h): the first cell of a family, or all
 * below it. It stays while they have connections, and some time longer. */
struct caller {
	struct list link;
	char group[CELL_ID_LEN + 2];
	unsigned connections;
	size_t bytes, answers;
	double room; /* for requests, now */
	double made; /* for new cells */
	double looks; /* for events that are read */
	uint64_t at; /* when these were computed, in ms of the loop */
};

/* Of a cell, for one more connection; NULL: there are too many. */
struct caller *caller_get(const struct cell *cell);
void caller_put(struct caller *c);
/* Whether the request may make a cell now, of which there can be fewer than requests. False: it
 * waits, and its handler, which has done nothing yet, is called again. */
bool caller_makes(struct request *r);
/* The same for a cell that a project of this one makes, which no request waits for. */
bool caller_made(const struct cell *cell);

/* Takes one event of its rate, for a stream of them; true for those that are no cell's. False: it is
 * too fast, and the stream is woken later. */
bool caller_looks(struct request *r);
/* Takes room for an answer of so many bytes until the request is over; false: there is none. */
bool caller_answers(struct request *r, size_t size);
/* The request is over. */
void caller_over(struct request *r);

/* Whether the request, of a cell, may be served now. False: it waits, or was answered. */
bool caller_admits(struct request *r);

#endif
