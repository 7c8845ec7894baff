/* Sockets: what all families share.
 *
 * A sock is the state behind an open file of kind "socket:"; it is embedded first in the struct of
 * its family (unix.h, inet.h, netlink.c) and reached through const ops. No op blocks: what cannot
 * go on gives -EAGAIN and the caller parks on the sock's queue, or on the one that the op names.
 * Everything stays inside the cell: no host socket exists.
 *
 * What was sent and not yet read lies in the RECEIVER's queue as packets (packet.c). A unix packet
 * is charged to its sender until it is read; TCP and UDP are bounded by the receiver's queue. All
 * packets together are bounded by NET_MEM_MAX.
 *
 * A sock without a file is one that waits in a listener's accept queue; the listener owns it. */
#ifndef VIV_KERNEL_NET_SOCK_H
#define VIV_KERNEL_NET_SOCK_H

#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/list.h"
#include "kernel/abi/fs.h"
#include "kernel/task/waitq.h"

struct file;
struct task;
struct uio;

#define SOCK_BUF_DEFAULT 212992u
#define SOCK_MAX_FILES 253 /* SCM_MAX_FD */
#define SOCK_BACKLOG_MAX 4096u
#define NET_MEM_MAX (128ull << 20)

#define SOCK_POLL_ALL \
	(POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLWRBAND | POLLHUP | POLLERR)
#define SOCK_POLL_IN (POLLIN | POLLRDNORM)
#define SOCK_POLL_OUT (POLLOUT | POLLWRNORM | POLLWRBAND)

struct inet_sock;
struct sock;
struct unix_name;

/* An address as it lies in guest memory. */
struct sockname {
	uint32_t len;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_nl nl;
		char raw[sizeof(struct sockaddr_storage)];
	} u;
};

/* IPv6; an IPv4 address as ::ffff:a.b.c.d. */
struct ipaddr {
	uint8_t b[16];
};

/* ---- packets (packet.c) ---- */

struct packet {
	struct list link; /* in the receiver's queue */
	struct list owner_link; /* in its sender's list of what is not yet read */
	struct sock *owner; /* charged with it; NULL: nobody, or closed */
	uint32_t len, off, cap; /* off: read already (streams) */
	uint32_t truesize; /* with Linux's overhead */
	char *data; /* blob of cap, NULL when it is 0 */
	uint32_t nfiles;
	struct file **files; /* blob of nfiles, counted; NULL when there are none */
	struct linux_ucred cred; /* of the sender */
	struct unix_name *from_unix; /* counted; NULL: none */
	struct ipaddr from, to;
	uint16_t from_port;
	uint8_t ttl, tos; /* as the sender set them */
	int64_t stamp; /* CLOCK_REALTIME when it was sent */
	bool peeked;
	uint8_t ee[16]; /* in an error queue: struct sock_extended_err */
};

/* Room for cap bytes; NULL: out of buffers. */
struct packet *must_check packet_new(uint32_t cap);
/* Adds n bytes of u: 0 or -EFAULT (some of u may be used). */
int must_check packet_fill(struct packet *pk, struct uio *u, uint32_t n);
/* The packet is in no queue. Its files may be the last references to sockets that hold packets:
 * safe at any depth. */
void packet_free(struct packet *pk);
void packet_drop_files(struct packet *pk);
uint64_t net_mem_used(void);

/* At the end of to's queue, charged to owner (NULL: nobody). Wakes nobody. */
void sock_enqueue(struct sock *to, struct packet *pk, struct sock *owner);
/* Takes pk off s's queue and uncharges its owner, which is woken when it can write again. */
void sock_dequeue(struct sock *s, struct packet *pk);
void sock_queue_purge(struct sock *s);

/* ---- messages ---- */

/* What travels beside the bytes. Files are counted references. */
struct sock_extra {
	uint32_t nfiles;
	struct file *files[SOCK_MAX_FILES];
	bool has_cred;
	struct linux_ucred cred;
	bool has_stamp;
	int64_t stamp;
	bool has_ee; /* MSG_ERRQUEUE: what happened, and dest is who said so */
	uint8_t ee[16];
	bool has_dest; /* of a datagram: where it was sent to */
	struct ipaddr dest;
	uint8_t ttl, tos;
};

/* One send or receive. */
struct sockmsg {
	unsigned flags; /* MSG_* of the call */
	struct task *t; /* the caller; NULL when bytes move without one (splice) */
	const struct sockname *to; /* send: NULL: none given */
	struct sock_extra *x; /* may be NULL */
	struct sockname from; /* recv: len 0: none */
	uint64_t whole; /* recv: length of the whole message */
	unsigned out_flags; /* recv: MSG_TRUNC, MSG_OOB */
	struct waitq *wait_q; /* with -EAGAIN: also wait there */
	bool end; /* recv: MSG_WAITALL goes no further */
	uint32_t skip; /* of the packet that sock_next_packet chose: where to begin */
};

/* ---- the sock ---- */

/* A value of an option on its way to the guest. */
struct optval {
	/* what the guest gave as its length: each level has its own rules for a wrong one */
	int32_t room;
	bool byte; /* IP: a small number goes into one byte when there is no room for all four */
	uint32_t len;
	union {
		int32_t i;
		char raw[256];
	} u;
};

struct sock_ops {
	/* Gives it a name. Optional: -EOPNOTSUPP. */
	int (*bind)(struct sock *s, struct task *t, const struct sockname *n);
	/* 0; -EINPROGRESS (just begun) and -EALREADY: wait on s->q and call again; -EAGAIN: wait on
	 * *ret_q and call again. With nonblock what is done at once may be told as begun, as Linux
	 * does. Optional: -EOPNOTSUPP. */
	int (*connect)(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		       struct waitq **ret_q);
	/* Optional: -EOPNOTSUPP. */
	int (*listen)(struct sock *s, struct task *t, uint32_t backlog);
	/* The next connection: a sock that has no file yet, the caller's from now on. -EAGAIN.
	 * Optional: -EOPNOTSUPP. */
	int (*accept)(struct sock *s, struct sock **ret_);
	/* Its own name (which 0), its peer's (1), or its peer's though that may be gone (2):
	 * -ENOTCONN. */
	int (*name)(struct sock *s, int which, struct sockname *out);
	/* Moves what is possible now. The count (files of x that were taken are cleared from x),
	 * -EAGAIN, -errno. */
	int64_t (*send)(struct sock *s, struct uio *u, struct sockmsg *m);
	int64_t (*recv)(struct sock *s, struct uio *u, struct sockmsg *m);
	int (*shutdown)(struct sock *s, int how);
	uint32_t (*poll)(struct sock *s);
	/* FIONREAD. -EINVAL. */
	int64_t (*readable)(struct sock *s);
	uint32_t (*unsent)(struct sock *s); /* SIOCOUTQ */
	/* Options of levels other than SOL_SOCKET: -ENOPROTOOPT. Optional: -EOPNOTSUPP. Those of
	 * SOL_SOCKET are told to setopt after they were set, whatever it says; getopt is asked for
	 * SO_ERROR if the sock has no error of its own. */
	int (*setopt)(struct sock *s, struct task *t, int level, int opt, const void *v,
		      uint32_t len);
	int (*getopt)(struct sock *s, int level, int opt, struct optval *out);
	/* SIOCATMARK: is the next byte the one after the urgent mark? Optional: -ENOTTY. */
	bool (*atmark)(struct sock *s);
	/* What is refused before control messages are looked at: 0, -errno; 1: they are not looked
	 * at. Optional. */
	int (*send_check)(struct sock *s, const struct sockmsg *m);
	/* Two new socks become a pair. Optional: -EOPNOTSUPP. */
	void (*pair)(struct sock *a, struct sock *b);
	/* The file is gone, or the listener that owned it: undoes everything and frees the
	 * memory. */
	void (*release)(struct sock *s);
};

struct sock {
	const struct sock_ops *ops;
	struct file *file; /* its own, borrowed; NULL: not accepted yet */
	uint16_t family;
	uint8_t type;
	uint16_t protocol;
	struct list all_link; /* of its family, for /proc/net */
	uint64_t ino; /* of the file, 0 without */
	uint32_t uid;
	struct waitq q; /* readiness */
	struct waitq space_q; /* somebody may send or connect to it again */

	struct list queue; /* packets to read */
	uint32_t queued; /* bytes in it not yet read */
	uint32_t queued_true, npackets;
	struct list sent; /* packets it is charged with */
	uint32_t sent_true;
	uint32_t sndbuf, rcvbuf;
	bool sndbuf_set, rcvbuf_set;

	int err; /* pending, positive */
	bool rcv_shut, snd_shut;
	struct sock *peer; /* NULL: none, or closed */

	bool listening;
	uint32_t backlog, acceptq_len;
	struct list acceptq;
	struct list accept_link; /* in a listener's acceptq or its list of waiting connects */

	int64_t rcvtimeo, sndtimeo; /* ns; 0: for ever */
	int64_t rcvtimeo_secs,
		sndtimeo_secs; /* as told when they are beyond what is ever waited for, else 0 */
	int32_t peek_off; /* SO_PEEK_OFF: where the next peek begins; -1: at the start */
	bool reuseaddr, reuseport, keepalive, broadcast, oobinline, passcred, dontroute;
	bool stamp, stampns, linger_on, passsec, rxq_ovfl, zerocopy, debug, no_check;
	int32_t linger_secs, priority, mark, rcvlowat, busy_poll, incoming_cpu;
	struct linux_ucred cred, peer_cred; /* of its maker; shown by SO_PEERCRED */
	bool has_peer_cred;
};

/* The sock behind an open file, borrowed; NULL when it is none. */
struct sock *sock_of(const struct file *f);
static inline bool sock_is_stream(const struct sock *s)
{
	return s->type == SOCK_STREAM;
}

/* socket(): a sock without a file. Linux's errors for what there is not. */
int must_check sock_make(struct task *t, int family, int type, int protocol, struct sock **ret_);
/* Gives it a file; on failure it is released. flags: O_NONBLOCK. returns ref. */
int must_check sock_file(struct sock *s, uint32_t flags, struct file **ret_);
/* For families: sets what all have in memory that is zeroed; t NULL: of nobody yet. */
void sock_init(struct sock *s, const struct sock_ops *ops, struct task *t, int family, int type,
	       int protocol);
/* For families' release: wakes everybody, empties the queue, forgets what it sent. */
void sock_fini(struct sock *s);
/* The pending error as a positive number, which is taken. */
int sock_take_err(struct sock *s);
void sock_set_err(struct sock *s, int err);
/* An urgent byte came: POLLPRI, and SIGURG for the file's owner. */
void sock_tell_urgent(struct sock *s);
/* SO_PEEK_OFF: the offset that a receive with these flags begins at, and what a receive of n bytes
 * does to it. */
static inline uint32_t sock_peek_at(const struct sock *s, unsigned flags)
{
	return flags & MSG_PEEK && s->peek_off > 0 ? (uint32_t)s->peek_off : 0;
}
void sock_peek_moved(struct sock *s, unsigned flags, uint32_t n);
/* Bytes of a message that the buffer holds: recv side of all message sockets. Copies, tells the
 * rest in m, dequeues. */
/* The message that a receive is about, SO_PEEK_OFF counted; sets m->skip. NULL: there is none. */
struct packet *sock_next_packet(struct sock *s, struct sockmsg *m);
int64_t sock_recv_packet(struct sock *s, struct uio *u, struct sockmsg *m, struct packet *pk);

/* Walks all socks of a family's list for /proc/net. */
extern struct list sock_all_unix, sock_all_inet, sock_all_netlink;

/* Families. */
int unix_make(struct task *t, int type, int protocol, struct sock **ret_);
int inet_make(struct task *t, int family, int type, int protocol, struct sock **ret_);
int netlink_make(struct task *t, int type, int protocol, struct sock **ret_);

/* SIOCGIF* (netif.c): -ENOTTY when cmd is none of them. */
int64_t netif_ioctl(struct task *t, unsigned cmd, uint64_t arg);
/* What went over lo, for /proc/net/dev. */
extern uint64_t net_lo_bytes, net_lo_packets;

#endif
