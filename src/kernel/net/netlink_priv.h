/* What the files of netlink share: answers on their way to the asker's queue. */
#ifndef VIV_KERNEL_NET_NETLINK_PRIV_H
#define VIV_KERNEL_NET_NETLINK_PRIV_H

#include "kernel/net/sock.h"

#define ANSWER_MAX 4096u

struct answer {
	char buf[ANSWER_MAX];
	uint32_t len, start; /* start: of the message that is being made */
	uint32_t seq, port;
	uint16_t flags;
	uint32_t looks; /* at sockets, for the message that is answered */
};

/* A message of type with a zeroed body of size bytes, which is returned; answer_end closes it. */
void *answer_begin(struct answer *a, uint16_t type, size_t size);
void answer_end(struct answer *a);
/* What a cell has fits by far; an attribute that did not would be left out. */
void answer_attr(struct answer *a, uint16_t type, const void *data, size_t len);
void answer_done(struct answer *a);
/* The answer that something failed, or, with 0, that it was done. */
void answer_error(struct answer *a, const struct nlmsghdr *req, int err);
/* Puts what there is into s's queue and empties a: -ENOBUFS. */
int answer_queue(struct sock *s, struct answer *a);

/* A request to NETLINK_SOCK_DIAG (netlink_diag.c); h.nlmsg_len is checked. */
void diag_answer(struct sock *s, struct answer *a, const struct nlmsghdr *h, const char *body);

#endif
