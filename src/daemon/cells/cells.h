/* Cells as vivd knows them: a row in the database, and this struct in memory with what is only true
 * while vivd runs. Every change of a state goes through cell_move: one transaction with one event.
 * Cells live in the list until they are removed. */
#ifndef VIV_DAEMON_CELLS_CELLS_H
#define VIV_DAEMON_CELLS_CELLS_H

#include <jansson.h>

#include "daemon/cells/cellstate.h"
#include "daemon/state/daemon.h"
#include "daemon/state/events.h"

#define CELL_ID_LEN 32
#define CELL_NAME_LEN 64
/* How long a cell without a name can be asked how it ended. */
#define CELL_LINGER_MS 60000
#define CELL_REMOVE_MS 1000 /* of one with a name, which somebody may want */

struct keeper_link;
struct cell_wait;
struct health;
struct usage;
struct visit;

struct cell {
	struct list link;
	struct daemon *d;
	char id[CELL_ID_LEN + 1]; /* a named one's is that of its disk */
	char name[CELL_NAME_LEN + 1]; /* "": none, and it goes soon after its end */
	json_t *spec;
	int64_t run; /* whose settings these are (runfollow.h); 0: given by a client of vivd */
	enum cell_state state;
	/* to run: for the restart policy after vivd or the machine was started again */
	bool wanted;
	int64_t created, started, ended; /* nanoseconds since 1970; 0: not yet */
	uint64_t began; /* the same as started, by the clock that never jumps (uv_hrtime) */
	int64_t ran_ms; /* how long the last run was */
	bool spawning; /* its keeper was started by us and has not answered yet */
	int status; /* exit status of the last run; -1: none */
	enum cell_reason reason; /* why the last run ended */
	struct err failure; /* of the last run; kind 0: none */
	/* why the room that only a removed snapshot needed was not freed; NULL: it was */
	struct err *unmerged;
	uint32_t restarts; /* in a row */
	uint64_t seen; /* the number of its keeper's last event that was taken */
	/* something slow is being done with it (removed, renamed, set back): no other change
	 * meanwhile; its end counts as one */
	bool busy;
	bool changing; /* its keeper is being told of other limits (change.h) */
	struct keeper_link *keeper; /* NULL: none */
	/* its files are being used while it does not run (offline.h); NULL: they are not */
	struct visit *visit;
	int32_t kernel_pid;
	bool foreground; /* somebody's 'viv run' stays with it */
	/* of the host, that lead into it, as the API shows them; NULL: none, or not known yet */
	json_t *ports;
	bool ports_asked; /* its keeper has not answered yet */
	/* what its keeper was asked for its open questions (approvals.h) */
	enum { ASKS_KNOWN, ASKS_ASKED, ASKS_AGAIN } asks;
	int64_t noting; /* the row that is on its way to its journal (journal/note.c); 0: none */
	char command[160]; /* of its first process, cut off; as its keeper tells it */
	uint32_t procs; /* that run in it; counted for the idle time-out */
	bool idled; /* it is being stopped because nothing ran in it */
	struct health *health; /* NULL: it has no checks */
	struct usage *usage; /* NULL: nobody asked yet */
	struct list waits; /* struct cell_wait */
	struct list changed; /* in the daemon's, when those who wait are still to be told */
	struct cell *next; /* of the same bucket of ids */
	uv_timer_t *timer; /* of a restart, of the end of its record, of idleness; NULL: none */
	int64_t restart_at; /* nanoseconds since 1970; 0: not waiting for one */
};

/* Reads the rows. */
void cells_read(struct daemon *d);
/* Reads the rows and finds the keepers that run (life.c). */
int cells_open(struct daemon *d, struct err *e);
void cells_close(struct daemon *d);

/* Takes note of what others made or started since; before cells are listed, and when one is not
 * known (adopt.c). Keepers of cells that are not known are asked, and their cells come later. */
void cells_look(struct daemon *d);
/* Does so if need be, and gives the milliseconds for which it is worth waiting until this cell (by
 * what cell_find takes; NULL: each one) is known as it is; 0: it is, or its keeper does not answer.
 * d->settled is called when that may have changed. */
uint64_t cells_unsettled(struct daemon *d, const char *cell);

/* Files of cells that nobody knows any more, in RUN/cells: of those whose keeper was killed, or
 * whose removal was under way when vivd was. Their names; clear: they are removed. */
json_t *cells_remains(struct daemon *d, bool clear);

/* By id, name, or the beginning of one id only (4 characters at least). Borrowed; NULL: an error
 * 404 (409 for several). */
struct cell *cell_find(struct daemon *d, const char *text, struct err *f);
struct cell *cell_by_id(struct daemon *d, const char *id);
struct cell *cell_by_name(struct daemon *d, const char *name);

/* A new one with its row. Takes spec. id: of the disk; NULL: a new one. NULL: an error. */
struct cell *cell_new(struct daemon *d, const char *id, const char *name, json_t *spec,
		      struct err *f);
/* The same for one that was found in the store. */
struct named;
struct cell *cell_found(struct daemon *d, const struct named *n);
/* A named cell is about to get a disk, of which its row cannot know the id yet: what it is to be is
 * noted before. cell_new ends that; cell_making_end when nothing came of it. A vivd that is killed
 * in between leaves the note for the next one. */
int cell_making(struct daemon *d, const char *name, const json_t *spec, struct err *f);
void cell_making_end(struct daemon *d, const char *name);
/* The note on a name; NULL: none. The caller's. */
json_t *cell_making_read(struct daemon *d, const char *name);
/* A state change, its row and its event. False: not from this state (409), or it could not be
 * written (507). */
bool cell_move(struct cell *c, enum cell_input in, struct err *f);
/* Writes the row as the struct is now. */
void cell_save(struct cell *c);
/* The row goes, and later the struct: who waits is told before. -1: it could not be written, and
 * stays. */
int cell_forget(struct cell *c, struct err *f);
int cell_rename(struct cell *c, const char *name, struct err *f);
/* Another spec. Takes it; run: whose it is, as in struct cell. */
int cell_respec(struct cell *c, json_t *spec, int64_t run, struct err *f);

/* What is told of it; secrets: the environment too, but for what the spec calls secret. */
json_t *cell_json(const struct cell *c, bool secrets);

/* Somebody who waits for changes. fn is called some time after each one, with gone set when the
 * cell was removed. It may remove and free its own w and no other. */
struct cell_wait {
	struct list link;
	void (*fn)(struct cell_wait *w, struct cell *c, bool gone);
};
void cell_wait_add(struct cell *c, struct cell_wait *w,
		   void (*fn)(struct cell_wait *w, struct cell *c, bool gone));
void cell_wait_remove(struct cell_wait *w);
/* Those who wait are told when whoever changes it now has finished: what they do (start it, remove
 * it) may end it. */
void cell_changed_soon(struct cell *c);

/* One timer for each cell: what it was set for before is off. ms < 0: off. */
void cell_timer(struct cell *c, int64_t ms, uv_timer_cb fn);

#endif
