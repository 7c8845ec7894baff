/* Starting keepers without waiting for them. The keeper is in a session of its own and goes on when
 * vivd does not. */
#ifndef VIV_DAEMON_KEEPERS_SPAWN_H
#define VIV_DAEMON_KEEPERS_SPAWN_H

#include "base/buf.h"
#include "daemon/state/daemon.h"
#include "keeper/client.h"

/* hello NULL: it could not start, for the reason e; status is the exit status that belongs to it.
 * ready: our end of KEEPER_FD_READY, closed afterwards. Called once, later. */
typedef void (*spawn_fn)(void *arg, const struct keep_hello *hello, int ready, int status,
			 const struct err *e);

/* words: strings, each with its NUL; borrowed. */
void keeper_spawn(struct daemon *d, const struct buf *words, spawn_fn fn, void *arg);
/* The same with sockets for its ports (--woken among the words), which are taken. */
void keeper_spawn_given(struct daemon *d, const struct buf *words, int *fds, unsigned nfds,
			spawn_fn fn, void *arg);

#endif
