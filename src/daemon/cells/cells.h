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
struct sleep_ports;
struct usage;
struct visit;

/* On its way into sleep, or out of it. The numbers are in the database. */
enum cell_sleep {
	SLEEP_NO, /* neither; it may be asleep */
	SLEEP_ASKED, /* running: its keeper was asked to stop it unless somebody uses it */
	SLEEP_FALLING, /* stopping, in order to sleep */
	SLEEP_WAKING, /* starting, because somebody uses it */
};

struct cell {
	struct list link;
	struct daemon *d;
	char id[CELL_ID_LEN + 1]; /* a named one's is that of its disk */
	char name[CELL_NAME_LEN + 1]; /* "": none, and it goes soon after its end */
	char parent[CELL_ID_LEN + 1]; /* the id of the cell that made it (family.h); "": none */
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
	bool has_result; /* the last run left one (result.h) */
	struct err *failure; /* of the last run; NULL: none */
	/* why the room that only a removed snapshot needed was not freed; NULL: it was */
	struct err *unmerged;
	uint32_t restarts; /* in a row */
	uint64_t seen; /* the number of its keeper's last event that was taken */
	/* something slow is being done with it (removed, renamed, set back): no other change
	 * meanwhile; its end counts as one */
	bool busy;
	unsigned removing; /* requests that remove it when it has ended: it is not started again */
	bool changing; /* its keeper is being told of other limits (change.h) */
	/* its keeper is being told what its children leave, and is to be told again (family.h) */
	bool leaving, leave_again;
	/* of a child with a name: the sealed layers of its disk, {"DISK/N": [BYTES, FILES]} */
	json_t *layers;
	/* its layers are being changed for a cell; what that may take until they are counted */
	bool layering;
	uint64_t layer_bytes, layer_files;
	struct keeper_link *keeper; /* NULL: none */
	/* its files are being used while it does not run (offline.h); NULL: they are not */
	struct visit *visit;
	int32_t kernel_pid;
	bool calls; /* it may use the API at its door (family.h) */
	bool foreground; /* somebody's 'viv run' stays with it */
	/* of the host, that lead into it, as the API shows them; NULL: none, or not known yet */
	json_t *ports;
	bool ports_asked; /* its keeper has not answered yet */
	/* what its keeper was asked for its open questions (approvals.h) */
	enum { ASKS_KNOWN, ASKS_ASKED, ASKS_AGAIN } asks;
	int64_t noting; /* the row that is on its way to its journal (journal/note.c); 0: none */
	char command[160]; /* of its first process, cut off; as its keeper tells it */
	/* what runs in it (rest.c): all processes, those that mean that somebody uses it, and
	 * agents of sessions; and what vivd does in it */
	uint32_t procs, execs, agents, holds;
	uint64_t idle_due, sleep_due; /* when its times are over, by the loop's clock; 0: not */
	bool resting; /* the timer is for that */
	bool connected; /* somebody was, when its keeper was asked last */
	bool adopting; /* vivd has just started, and looks for its keeper */
	/* its start was under way when the last vivd ended, and nothing says that a keeper came up
	 * (adopt.c); and whoever made it starts it again in that case */
	bool unborn, redone;
	bool idled; /* it is being stopped because nothing ran in it */
	enum cell_sleep sleep;
	uint64_t sleeps; /* how often it fell asleep: it may be woken before anybody looks */
	int64_t sleep_grace; /* nanoseconds for its processes to end, when it was told to sleep */
	const char *why; /* it sleeps or wakes: a constant */
	uint64_t woken; /* when it was woken in this run, by uv_hrtime(); 0: it was not */
	struct sleep_ports *ports_held; /* of a cell without a keeper (sleepports.h); NULL: none */
	struct health *health; /* NULL: it has no checks */
	struct usage *usage; /* NULL: nobody asked yet */
	struct list waits; /* struct cell_wait */
	struct list changed; /* in the daemon's, when those who wait are still to be told */
	struct cell *next, *next_named; /* of the same bucket of ids, of names */
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
/* The same for a child of a cell (family.h); parent NULL: it has none. */
struct cell *cell_new_child(struct daemon *d, const char *parent, const char *id, const char *name,
			    json_t *spec, struct err *f);
/* The same for one that was found in the store. */
struct named;
struct cell *cell_found(struct daemon *d, const struct named *n);
/* A named cell is about to get a disk, of which its row cannot know the id yet: what it is to be is
 * noted before. cell_new ends that; cell_making_end when nothing came of it. A vivd that is killed
 * in between leaves the note for the next one. */
int cell_making(struct daemon *d, const char *parent, const char *name, const json_t *spec,
		struct err *f);
void cell_making_end(struct daemon *d, const char *name);
/* The note on a name, and whose child it is to be; NULL: none. The caller's. */
json_t *cell_making_read(struct daemon *d, const char *name, char parent[CELL_ID_LEN + 1]);
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

/* The failure of its last run, to be set; and there is none any more. */
struct err *cell_failure(struct cell *c);
void cell_failure_clear(struct cell *c);

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
