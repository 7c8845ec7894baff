/* AF_UNIX sockets: what their files share. */
#ifndef VIV_KERNEL_NET_UNIX_H
#define VIV_KERNEL_NET_UNIX_H

#include "base/list.h"
#include "kernel/net/route.h"
#include "kernel/net/sock.h"
#include "kernel/vfs/path.h"

struct door;
struct inode;

/* A name that a socket was bound to; never changes. Counted. */
struct unix_name {
	uint32_t refs;
	uint32_t hash;
	struct sockname n;
};

struct unix_sock {
	struct sock s; /* first */
	struct unix_name *name; /* counted; NULL: none */
	struct unix_name *peer_name; /* counted; of the peer when it was connected */
	struct path path; /* counted; of a name in the file system */
	struct inode *node; /* counted; there. Its sock field is this socket */
	struct list hash_link; /* of an abstract name */
	struct door *door; /* it is connected to the cell's own (door.h); NULL: it is not */
	struct packet *oob; /* streams: the urgent byte in its queue; NULL: none, or taken */
	bool connected; /* streams and packets: it is or was */
	bool peer_dead; /* datagrams: its peer went away and it has not noticed */
	struct list clients; /* datagrams: sockets whose peer it is */
	struct list client_link;
	uint32_t inflight; /* how often its file travels in packets */
	struct list inflight_link;
	uint32_t gc_refs; /* see unix_gc.c */
	struct list gc_link;
};

static inline struct unix_sock *unix_sk(const struct sock *s)
{
	return container_of(s, struct unix_sock, s);
}
/* The unix socket behind a file, NULL: it is none. */
struct unix_sock *unix_of(const struct file *f);

/* For door.c, whose sockets are of this kind (unix.c). */
int unix_name_show(struct sock *s, int peer, struct sockname *out);
void unix_release(struct sock *s);

/* ---- packets (unix_packet.c) ---- */
/* One of the next n bytes, with the sender, its name and the files of m; on failure uio is where it
 * was. */
int must_check unix_packet_make(struct unix_sock *u, struct uio *uio, uint32_t n, struct sockmsg *m,
				struct packet **ret_);
/* The files and the sender of pk for who reads m; with a peek the packet keeps its own
 * references. */
void unix_packet_take(struct packet *pk, struct sockmsg *m);
/* The name that m came from: NULL, none. */
void unix_from_put(struct sockmsg *m, const struct unix_name *n);

/* ---- operations of streams (unix_stream.c), of datagrams and sequenced packets (unix_dgram.c)
 * ---- */
int64_t unix_stream_send(struct sock *s, struct uio *u, struct sockmsg *m);
int64_t unix_stream_recv(struct sock *s, struct uio *u, struct sockmsg *m);
bool unix_atmark(struct sock *s);
int64_t unix_dgram_send(struct sock *s, struct uio *uio, struct sockmsg *m);
int64_t unix_dgram_recv(struct sock *s, struct uio *u, struct sockmsg *m);
int unix_dgram_connect(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		       struct waitq **ret_q);
void unix_dgram_disconnect(struct unix_sock *u); /* it has no peer any more */
bool unix_dgram_is_full(const struct unix_sock *from, const struct unix_sock *to);

/* ---- names (unix_name.c) ---- */
struct unix_name *unix_name_get(struct unix_name *n); /* NULL is fine */
void unix_name_put(struct unix_name *n); /* NULL is fine */
int unix_bind(struct sock *s, struct task *t, const struct sockname *n);
int unix_autobind(struct unix_sock *u); /* 0 when it has a name already */
/* Who is bound to n and of s's type, if hooks let s use it: returns ref, as nobody else may hold it
 * but a cycle that the next unix_gc() ends. -ECONNREFUSED, -ENOENT, -EACCES, -EPROTOTYPE, ...
 * -EREMOTE: it is the door of the cell (door.h). */
int must_check unix_find(const struct sock *s, struct task *t, enum destination_use use,
			 const struct sockname *n, struct unix_sock **ret_);
/* Puts what unix_find gave. */
void unix_sock_put(struct unix_sock *u);
void unix_unbind(struct unix_sock *u);
/* -EINVAL unless n is a name of this family. */
int unix_name_check(const struct sockname *n);

/* ---- descriptors on their way (unix_gc.c) ---- */
/* A file goes into a packet: 0, or -ETOOMANYREFS when too many travel. landed: it left the
 * packet. */
int must_check unix_file_sent(struct file *f, struct task *t);
void unix_file_landed(struct file *f);
/* A socket was closed: looks for sockets that only reach each other, when that is worth it. Ends
 * them: a socket that is used across this, across unix_new() and across any file_put() has to be
 * held by its file. */
void unix_gc(bool force);

#endif
