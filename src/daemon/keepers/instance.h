/* vivd's place: its lock, its sockets, its state directory. */
#ifndef VIV_DAEMON_KEEPERS_INSTANCE_H
#define VIV_DAEMON_KEEPERS_INSTANCE_H

#include "daemon/state/daemon.h"

/* Fills run, state, socket and takes the lock. ERR_CONFLICT: another vivd has it. */
int place_take(struct daemon *d, struct err *e);
/* The listening Unix socket: systemd's, or a new one in place of what a dead vivd left. */
int place_listen(struct daemon *d, struct err *e);
/* To a service manager that waits for it: "READY=1", "STOPPING=1". Keepers do not hear of it. */
void place_notify(const char *text);
/* Removes the socket (unless it is systemd's) and gives the lock back. */
void place_leave(struct daemon *d);

/* A listening TCP socket at ADDR:PORT or [ADDR]:PORT. Addresses other than loopback only if tls is
 * set. */
int tcp_listen(const char *text, bool tls, struct err *e);

#endif
