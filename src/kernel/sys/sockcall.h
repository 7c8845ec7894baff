/* What the files of socket calls share, and reading and writing of sockets for rw.c. */
#ifndef VIV_KERNEL_SYS_SOCKCALL_H
#define VIV_KERNEL_SYS_SOCKCALL_H

#include "kernel/net/sock.h"
#include "kernel/sys/file_util.h"

/* The socket behind fd, or the one that an earlier run of the call kept: -EBADF, -ENOTSOCK. Both
 * borrowed. */
int must_check sock_at(struct task *t, int fd, struct file **ret_f, struct sock **ret_);
/* An address argument: 0, -EINVAL, -EFAULT. */
int must_check sockname_in(struct task *t, uaddr_t addr, int len, struct sockname *out);
/* Gives an address to the guest: as much as *len_addr has room for, and the whole length. */
int must_check sockname_out(struct task *t, uaddr_t addr, uaddr_t len_addr,
			    const struct sockname *n);
/* Waits for events on s's queue, and on q too when it is not NULL, for at most timeout ns since the
 * call began (0: for ever). WAITING, or expired when the time is over. */
int64_t sock_wait(struct task *t, struct file *f, struct sock *s, struct waitq *q, uint32_t events,
		  int64_t timeout, int64_t expired);

/* One send of u with m, from what call.done tells on; one receive. They wait as the file and
 * m->flags say. */
int64_t sock_send(struct task *t, struct file *f, struct sock *s, struct uio *u, struct sockmsg *m);
int64_t sock_recv(struct task *t, struct file *f, struct sock *s, struct uio *u, struct sockmsg *m);

/* read() and write() of a socket. */
int64_t sock_read_call(struct task *t, struct file *f, struct uio *u, bool nowait);
int64_t sock_write_call(struct task *t, struct file *f, struct uio *u, bool nowait);

/* ---- control messages (sockcmsg.c) ---- */
#define CONTROL_MAX 20480u /* optmem_max, about */
/* Those of a sendmsg; on failure what was taken so far is the caller's to drop. */
int must_check control_in(struct task *t, struct sock *s, uaddr_t addr, uint64_t len,
			  struct sock_extra *x);
/* Those of a recvmsg: takes the files of x. *ret_len: how much was written; *flags gets
 * MSG_CTRUNC. */
int must_check control_out(struct task *t, struct sock *s, uaddr_t addr, uint64_t len,
			   struct sock_extra *x, unsigned msg_flags, uint64_t *ret_len,
			   unsigned *flags);
void extra_drop(struct sock_extra *x);

#endif
