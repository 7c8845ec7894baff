/* The keeper's event loop, and its channels: sockets with messages of one size that carry
 * descriptors. What does not fit is kept, up to a bound; nothing here ever waits for the other
 * side. */
#ifndef VIV_KEEPER_CHANNEL_H
#define VIV_KEEPER_CHANNEL_H

#include "base/list.h"
#include "host/fdmsg.h"

#define CHANNEL_BYTES 512 /* of a struct keep_msg, and of a struct ctl_msg */
#define CHANNEL_FDS FDMSG_MAX

/* Something with a descriptor that is waited for. */
struct source {
	int fd; /* -1: closed */
	uint32_t events; /* EPOLLIN, EPOLLOUT */
	bool held; /* it is not watched at all */
	void (*fn)(struct source *s, uint32_t events);
};

/* One epoll for each keeper. 0 or -errno. */
int must_check sources_init(void);
int must_check source_add(struct source *s, int fd, uint32_t events,
			  void (*fn)(struct source *, uint32_t));
void source_change(struct source *s, uint32_t events);
/* Whether it is left alone, also when its other side is gone, which is told with no events at all.
 */
void source_hold(struct source *s, bool held);
/* Forgets it, and closes its descriptor; nothing of it is called any more. */
void source_close(struct source *s);
/* Waits until deadline (CLOCK_MONOTONIC ns; 0: for ever) and calls what is ready. */
void sources_wait(int64_t deadline);
int64_t clock_mono(void);
int64_t clock_real(void);

struct channel {
	struct source src; /* first */
	struct list out;
	unsigned nout, max;
	void (*in)(struct channel *c, void *msg, int *fds, unsigned nfds); /* takes fds */
	void (*idle)(struct channel *c); /* everything is sent; may be NULL */
	void (*gone)(struct channel *c); /* the other side is, or does not read; may free c */
};

/* Takes the descriptor. max: messages that wait at most. 0 or -errno. */
int must_check channel_init(struct channel *c, int fd, unsigned max);
/* Takes the descriptors, in any case. False: there is no room, and the message is lost. */
bool channel_send(struct channel *c, const void *msg, const int *fds, unsigned nfds);
void channel_close(struct channel *c);

#endif
