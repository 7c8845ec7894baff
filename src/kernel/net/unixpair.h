/* Connected pairs of AF_UNIX sockets: what socketpair() makes. */
#ifndef VIV_KERNEL_NET_UNIXPAIR_H
#define VIV_KERNEL_NET_UNIXPAIR_H

#include "kernel/abi/fs.h"
#include "kernel/vfs/vfs.h"

#define UNIXPAIR_MAX_FILES 253 /* SCM_MAX_FD */
#define UNIXPAIR_SNDBUF 212992

struct unixpair;

/* Both ends. type: SOCK_STREAM, SOCK_DGRAM or SOCK_SEQPACKET; flags: O_NONBLOCK. returns refs. */
int must_check unixpair_make(struct task *t, int type, uint32_t flags, struct file **ret_a,
			     struct file **ret_b);
/* The end behind an open file, borrowed; NULL when it is none. */
struct unixpair *unixpair_of(const struct file *f);
/* A pair that keeps messages apart (datagrams, packets). */
bool unixpair_is_message(const struct file *f);

int unixpair_type(const struct unixpair *s);
void unixpair_peer_cred(const struct unixpair *s, struct linux_ucred *out);
/* SO_ERROR: the pending error as a positive number, which is taken. */
int unixpair_take_error(struct unixpair *s);
uint32_t unixpair_readable(const struct unixpair *s); /* FIONREAD, SIOCINQ */
int unixpair_shutdown(struct unixpair *s, int how);
/* SO_SNDBUF, SO_RCVBUF as getsockopt shows them; SO_PASSCRED. */
uint32_t *unixpair_sndbuf(struct unixpair *s);
uint32_t *unixpair_rcvbuf(struct unixpair *s);
bool *unixpair_passcred(struct unixpair *s);

/* What travels beside the bytes. Files are counted references. */
struct unixpair_extra {
	uint32_t nfiles;
	struct file *files[UNIXPAIR_MAX_FILES];
	bool has_cred;
	struct linux_ucred cred;
};

/* Sends bytes of u (for messages: all of it as one) and takes the files of x (which may be NULL) on success only.
 * The count; -EAGAIN, -EPIPE, -ECONNREFUSED, -EMSGSIZE, -ENOBUFS, -EFAULT. */
int64_t unixpair_send(struct unixpair *s, struct uio *u, struct unixpair_extra *x);
/* Receives. peek: what is taken stays. *ret_whole is the length of the message (streams: of what was given); *x,
 * if not NULL, gets the files (its own references) and the sender. The count, 0 at the end, -EAGAIN, -errno. */
int64_t unixpair_recv(struct unixpair *s, struct uio *u, bool peek, uint64_t *ret_whole,
		      struct unixpair_extra *x);

#endif
