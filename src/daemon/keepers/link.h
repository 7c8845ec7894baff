/* A connection to the keeper of a cell, inside the loop: requests with answers in any order, and
 * the keeper's events.
 *
 * The keeper is believed in what it says, and still only messages of the fixed size are taken.
 * Nothing waits here: a keeper that does not read makes a request fail with -EAGAIN. */
#ifndef VIV_DAEMON_KEEPERS_LINK_H
#define VIV_DAEMON_KEEPERS_LINK_H

#include "daemon/state/daemon.h"
#include "keeper/client.h"

struct keeper_link;

/* An answer; m NULL: the keeper is gone, or the request was dropped. fds are the callee's to
 * close. */
typedef void (*ask_fn)(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);

struct link_owner {
	void (*event)(void *arg, const struct keep_msg *m); /* a KEEP_EVENT */
	void (*gone)(void *arg); /* the keeper's process has ended; the link is freed after it */
	void *arg;
};

/* Takes fd. keeper_pid: whose end is the keeper's. Events from number since on follow. fd -1: it
 * cannot be asked any more, and only its end is waited for; NULL: it has ended before. */
struct keeper_link *link_new(struct daemon *d, int fd, int keeper_pid, uint64_t since,
			     const struct link_owner *o);
/* Asks. Borrows the descriptors. fn may be called more than once: for KEEP_EXEC first with
 * KEEP_STARTED, then with KEEP_EXITED. 0 or -errno, then fn is not called. */
int must_check link_ask(struct keeper_link *l, struct keep_msg *m, const int *fds, unsigned nfds,
			ask_fn fn, void *arg);
/* Asks for a process. Borrows everything. Also -errno of keep_start_fill. */
int must_check link_exec(struct keeper_link *l, const struct keep_start *s, ask_fn fn, void *arg);
/* Says something that is not answered. */
int must_check link_tell(struct keeper_link *l, struct keep_msg *m);
/* For an answer that nobody waits for. */
void link_ignore(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);
/* No more calls for arg. */
void link_forget(struct keeper_link *l, const void *arg);
/* Without a word to the owner; the cell goes on. */
void link_close(struct keeper_link *l);

#endif
