/* Talking to keepers. One connection can carry any number of requests; these functions are for the
 * simple case, in which a program waits for each answer. Who has an event loop uses keep_send and
 * keep_recv with KEEP_NOWAIT and polls the descriptor.
 *
 * Functions with a struct err return 0 or -1; ERR_NOT_FOUND: there is no such cell. */
#ifndef VIV_KEEPER_CLIENT_H
#define VIV_KEEPER_CLIENT_H

#include "base/err.h"
#include "wire/execspec.h"
#include "spec/options.h"
#include "wire/keeper.h"

#define KEEP_NOWAIT 1

/* ---- where keepers are ---- */

/* RUN, made if it is not there: $XDG_RUNTIME_DIR/vivarium, /run/vivarium for root, else "run" in
 * the store. A descriptor. */
int keep_run_dir(struct err *e);
/* RUN/cells, likewise. */
int keep_cells_dir(struct err *e);
/* A connection to the keeper of the cell with this id, close-on-exec. flags: KEEP_NOWAIT: it is not
 * waited for until a keeper that takes no connections does (ERR_CONFLICT), and the connection is
 * non-blocking. */
int keep_connect(const char *id, int flags, struct err *e);
/* Somebody listens for this id in the directory RUN/cells. */
bool keep_is_heard(int dir, const char *id);
/* Its keeper was killed: removes the socket that it left, and nothing else. Does not wait: while
 * somebody else has the directory, it stays. */
void keep_bury(const char *id);
/* Calls fn with the id of every cell that has a socket, in no order; its keeper may be gone. fn
 * returns false to stop. */
int keep_each(bool (*fn)(void *arg, const char *id), void *arg, struct err *e);
/* The id of the running cell that is meant by text: a whole id, a name, or the beginning of one id
 * only. */
int keep_find(const char *text, char ret_id[KEEP_ID_LEN + 1], struct err *e);

/* ---- messages ---- */

/* 0 or -errno. flags: KEEP_NOWAIT, then -EAGAIN when there is no room. Borrows the descriptors. */
int must_check keep_send(int fd, const struct keep_msg *m, const int *fds, unsigned nfds,
			 int flags);
/* 0 or -errno; -EPIPE: the keeper is gone; -EAGAIN with KEEP_NOWAIT. fds (room for KEEP_MAX_FDS)
 * are the caller's to close; fds NULL: they are closed here. */
int must_check keep_recv(int fd, struct keep_msg *ret, int *fds, unsigned *ret_nfds, int flags);
/* Is sig, which is blocked, pending? It stays so. */
bool keep_signal_waits(int sig);
/* Waits until there is a message: 0. signals (stay_signals) stay where they are for whoever has the
 * answer; but one that ends a program does so when nothing came in a moment: its number. */
int must_check keep_await(int fd, int signals);
/* Sends a request (which gets its id here) and waits for the answer of type want; others than its
 * own are dropped. */
int keep_ask(int fd, struct keep_msg *m, const int *fds, unsigned nfds, uint32_t want,
	     struct keep_msg *ret, struct err *e);
/* How an answer is waited for. */
struct keep_wait {
	int signals; /* as for keep_await; -1: none */
	int deadline_ms; /* how long, without signals; 0: as long as it takes */
	int signal; /* returned: the one that did not want to wait; 0: none */
	void (*other)(void *arg,
		      struct keep_msg *m); /* gets other messages; NULL: they are dropped */
	void *arg;
};
/* The same. On failure ret->type is KEEP_FAIL if that was the answer. */
int keep_ask_by(int fd, struct keep_msg *m, const int *fds, unsigned nfds, uint32_t want,
		struct keep_wait *w, struct keep_msg *ret, struct err *e);

/* ---- requests ---- */

/* A process that is to be started. */
struct keep_start {
	struct execspec spec;
	int made; /* such a spec, written before (execspec_write); borrowed. 0: spec counts */
	struct keep_exec exec;
	int fds[3]; /* without KEEP_X_LOG; borrowed */
	int program; /* with KEEP_X_PROGRAM; borrowed */
};
/* The request for it. fds[0] is made here, and the caller's to close; the others are those of s.
 * How many descriptors it has, or -errno (execspec_write). */
int must_check keep_start_fill(const struct keep_start *s, struct keep_msg *m,
			       int fds[KEEP_MAX_FDS]);
/* Starts it. Its end comes as KEEP_EXITED with the id in ret->id, unless it is detached. -1 with
 * w->signal: that signal did not want to wait. */
int keep_exec(int fd, const struct keep_start *s, struct keep_wait *w, struct keep_msg *ret,
	      struct err *e);
/* Both fail if there is no answer after a while: a kernel that was broken into need not give one. */
int keep_seal(int fd, const char *name, uint32_t *ret_layer, struct err *e);
int keep_forget(int fd, const char *snapshot, struct err *e);

/* ---- starting a keeper (spawn.c) ---- */

/* of a viv-keeper at its start: words, each with its NUL, in a sealed memory file */
#define KEEPER_FD_WORDS 3
/* and where it says that its cell runs: one struct keep_msg, KEEP_HELLO or KEEP_FAIL */
#define KEEPER_FD_READY 4

/* Starts a viv-keeper in a session of its own with the words of 'viv run' after 'run' (a memory
 * file carries them, so that nobody sees them in a list of processes), and waits until its cell
 * runs or has failed. Further words, which only a keeper knows: --idle, --id ID, --leave (its log
 * files, and ID.end with the last event, locked until it is gone, stay in RUN/cells for whoever
 * collects them), --visit (with --idle: it has no name in RUN/cells; who started it is its only
 * client, over the socket on which it said that it runs, and the cell ends when that is closed),
 * --pool (wire.h: KEEP_TAKE), --merge (no cell runs: what the disk keeps and nobody needs is
 * removed; then it says KEEP_FAIL, with status 0 if all is well). It prints its warnings on
 * standard error until then, and its errors; a text of "" means that. ret: id, name, pids and
 * state. */
int keep_spawn(char *const words[], struct keep_hello *ret, struct err *e);

#endif
