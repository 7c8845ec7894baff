/* AF_UNIX sockets: what their files share. */
#ifndef VIV_KERNEL_NET_UNIX_H
#define VIV_KERNEL_NET_UNIX_H

#include "kernel/net/sock.h"

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

/* ---- names (unix_name.c) ---- */
struct unix_name *unix_name_get(struct unix_name *n); /* NULL is fine */
void unix_name_put(struct unix_name *n); /* NULL is fine */
int unix_bind(struct sock *s, struct task *t, const struct sockname *n);
int unix_autobind(struct unix_sock *u); /* 0 when it has a name already */
/* Who is bound to n: borrowed. -ECONNREFUSED, -ENOENT, -EACCES, -EPROTOTYPE, ... */
int unix_find(struct task *t, const struct sockname *n, int type, struct unix_sock **ret_);
void unix_unbind(struct unix_sock *u);
/* -EINVAL unless n is a name of this family. */
int unix_name_check(const struct sockname *n);

/* ---- descriptors on their way (unix_gc.c) ---- */
/* A file goes into a packet: 0, or -ETOOMANYREFS when too many travel. landed: it left the packet. */
int must_check unix_file_sent(struct file *f, struct task *t);
void unix_file_landed(struct file *f);
/* A socket was closed: looks for sockets that only reach each other, when that is worth it. */
void unix_gc(bool force);

#endif
