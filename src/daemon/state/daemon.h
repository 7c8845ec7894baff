/* vivd as a whole: one loop, one database, and lists of what it knows. */
#ifndef VIV_DAEMON_STATE_DAEMON_H
#define VIV_DAEMON_STATE_DAEMON_H

#include <jansson.h>
#include <uv.h>

#include "base/list.h"
#include "daemon/state/db.h"

#define DAEMON_BUCKETS 4096

struct cell;
struct pool;

struct daemon {
	uv_loop_t loop;
	struct db db;
	char run[4096], state[4096], socket[4200];
	int lock; /* of RUN/vivd.lock */
	bool activated; /* the socket is systemd's */
	int64_t started; /* nanoseconds since 1970 */
	uint64_t began; /* the same by uv_hrtime() */
	bool ending;
	void (*end)(struct daemon *d); /* begins the end; set by main */
	/* a keeper that was asked about its cell has answered; set by main */
	void (*settled)(struct daemon *d);
	/* the questions of a cell may have changed, or it has no keeper any more; set by
	 * approvals.c */
	void (*asked)(struct cell *c);
	/* a cell has a keeper; set by tools/door.c */
	void (*linked)(struct cell *c);
	/* a cell speaks HTTP at its door. Takes fd; set by main */
	void (*calling)(const struct cell *c, int fd);
	/* a cell has a keeper, or none any more; set by journal/note.c; NULL: nobody cares */
	void (*met)(struct cell *c);
	/* an event was added, in a transaction; set by journal/note.c; NULL: nobody cares */
	void (*told)(struct daemon *d, const char *type, const char *cell, const json_t *data);
	struct list watches; /* struct event_watch */
	struct list cells; /* struct cell, oldest first */
	struct list dead; /* cells that were removed in this round */
	struct list changed; /* cells whose waits are to be told in the next */
	struct cell *by_id[DAEMON_BUCKETS]; /* chained by next */
	struct cell *by_name[DAEMON_BUCKETS]; /* those with a name, by next_named */
	unsigned ncells;
	int inotify; /* of RUN/cells: keepers that others start; -1: none */
	uv_poll_t sockets; /* of that */
	struct pool *pool; /* NULL: none */
	struct list projects; /* struct project_run: what is being done for projects */
	/* when the directories of names and of sockets were changed last, as far as it was seen */
	struct {
		int64_t names, keepers;
		struct named *list; /* of the store's cells, as they were then */
		unsigned n;
	} looked;
	uv_timer_t flush; /* of what the database has kept */
	uv_timer_t notify; /* those who wait for a cell are told in the next round */
	struct { /* for /metrics, counted since the start */
		uint64_t requests, refused, events, starts, execs;
	} count;
};

/* Nanoseconds since 1970. */
int64_t time_now(void);

struct time_text {
	char str[40];
};
/* RFC 3339, in UTC, with milliseconds. */
struct time_text time_text(int64_t ns);

/* n random bytes as 2n lower-case hex digits and a NUL. */
void random_hex(char *text, size_t n);

#endif
