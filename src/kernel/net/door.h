/* The cell's own socket, /run/viv/sock: a stream that leads to vivd. Who speaks there is this cell,
 * because the keeper, which makes the connection, has no other (docs/decisions/0046-tools.md).
 *
 * A program connects to it as to any Unix socket. The kernel cannot make a socket of the host: it
 * asks the keeper (CTL_DOOR), and has one end of a pair some time later. Until then the connection
 * is open and takes nothing. */
#ifndef VIV_KERNEL_NET_DOOR_H
#define VIV_KERNEL_NET_DOOR_H

#include "base/base.h"

struct ctl_msg;
struct fs;
struct inode;
struct task;
struct unix_sock;
struct waitq;

#define DOOR_MAX 64 /* connections of the cell at once; further ones wait */

/* The file system of /run/viv: the denials; the socket and a directory of commands, if the cell has
 * a door. returns ref, or NULL. */
struct fs *runviv_fs_new(void);

/* Is it the node of the door? */
bool door_is_at(const struct inode *ino);
/* As sock_ops.connect, for a stream that is connected to nothing. */
int must_check door_connect(struct unix_sock *u, struct task *t, struct waitq **ret_q);
/* The keeper's answer: the descriptor, or -1 and m->a says why. Takes fd. */
void door_answer(const struct ctl_msg *m, int fd);

/* An upcall: tells the keeper. */
extern void (*door_tell)(const struct ctl_msg *m);

#endif
