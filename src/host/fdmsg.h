/* Messages with descriptors over Unix sockets. */
#ifndef VIV_HOST_FDMSG_H
#define VIV_HOST_FDMSG_H

#include "base/base.h"

#define FDMSG_MAX 5 /* descriptors of one message */

/* All n bytes with copies of nfds descriptors: 0, or -errno. flags: MSG_DONTWAIT; a signal never
 * comes of it. */
int must_check fdmsg_send(int fd, const void *buf, size_t n, const int *fds, unsigned nfds,
			  int flags);
/* One message: its length, 0 at the end, or -errno; -EMSGSIZE: it was cut off; -EMFILE: buf has all
 * of it, but there was no room for its descriptors, which are lost. Descriptors are close-on-exec;
 * those above max are closed. */
int64_t must_check fdmsg_recv(int fd, void *buf, size_t n, int *fds, unsigned max,
			      unsigned *ret_nfds, int flags);

#endif
