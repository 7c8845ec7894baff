/* What a packet of a Unix socket carries besides its bytes: who sent it, from which name, and files
 * (SCM_RIGHTS). */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/unix.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

static struct linux_ucred sender_of(const struct sock *s, const struct sockmsg *m)
{
	if (m->x && m->x->has_cred)
		return m->x->cred;
	if (m->t)
		return (struct linux_ucred){ m->t->proc->pid, m->t->cred.uid, m->t->cred.gid };
	return s->cred;
}

/* Moves the files of the message into the packet. */
static int packet_add_files(struct packet *pk, struct sockmsg *m)
{
	struct sock_extra *x = m->x;
	size_t size;
	int r = 0;

	if (!x || !x->nfiles)
		return 0;
	size = x->nfiles * sizeof(*pk->files);
	pk->files = blob_new(size);
	if (!pk->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nfiles && r == 0; i++) {
		r = unix_file_sent(x->files[i], m->t);
		if (r < 0)
			while (i)
				unix_file_landed(x->files[--i]);
		if (r < 0)
			break;
	}
	if (r < 0) {
		blob_free(pk->files, size);
		pk->files = NULL;
		return r;
	}
	memcpy(pk->files, x->files, size);
	pk->nfiles = x->nfiles;
	x->nfiles = 0;
	return 0;
}

/* A packet of the next n bytes; on failure u is where it was. */
int unix_packet_make(struct unix_sock *u, struct uio *uio, uint32_t n, struct sockmsg *m,
		     struct packet **ret_)
{
	struct packet *pk = packet_new(n);
	uint64_t before = uio->left;
	int r;

	if (!pk)
		return -ENOBUFS;
	r = packet_fill(pk, uio, n);
	if (r == 0)
		r = packet_add_files(pk, m);
	if (r < 0) {
		uio_back(uio, before - uio->left);
		packet_free(pk);
		return r;
	}
	pk->cred = sender_of(&u->s, m);
	pk->from_unix = unix_name_get(u->name);
	pk->stamp = now_real();
	*ret_ = pk;
	return 0;
}

void unix_from_put(struct sockmsg *m, const struct unix_name *n)
{
	m->from.len = 0;
	if (n)
		m->from = n->n;
}

/* The files and the sender of pk; with a peek the packet keeps its own references. */
void unix_packet_take(struct packet *pk, struct sockmsg *m)
{
	struct sock_extra *x = m->x;

	/* Who reads without room for files loses them. */
	if (!x && !(m->flags & MSG_PEEK))
		packet_drop_files(pk);
	if (!x)
		return;
	x->has_cred = true;
	x->cred = pk->cred;
	if (!pk->nfiles)
		return;
	x->nfiles = pk->nfiles;
	memcpy(x->files, pk->files, pk->nfiles * sizeof(*x->files));
	for (uint32_t i = 0; i < pk->nfiles; i++)
		if (m->flags & MSG_PEEK)
			file_get(pk->files[i]);
		else
			unix_file_landed(pk->files[i]);
	if (m->flags & MSG_PEEK)
		return;
	blob_free(pk->files, pk->nfiles * sizeof(*pk->files));
	pk->files = NULL;
	pk->nfiles = 0;
}
