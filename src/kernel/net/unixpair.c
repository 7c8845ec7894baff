/* Pairs of connected AF_UNIX sockets without names.
 *
 * Each end has a queue of what was sent to it: packets of a header and a blob of bytes. A stream end reads across
 * packets, except that it never goes past one that carries files; message ends read one packet and drop the rest of it.
 * A packet counts against its sender's buffer with Linux's overhead until it is read, which is what makes a sender wait.
 * The bytes of all pairs of the cell together are bounded, too.
 *
 * Descriptors travel as references to open files. A pair that is sent through itself would never be freed, so
 * sockets of this kind are refused as passengers when they are the pair itself; longer cycles (two pairs that carry each
 * other and are then closed) stay until the cell ends and are bounded by the limits on objects.
 * Left out: names, connect and accept (all other sockets), out-of-band data. */
#include "kernel/net/unixpair.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"

#define CHUNK_MAX 32768u              /* a longer write to a stream becomes several packets */
#define OVERHEAD 768u                 /* what Linux counts for the shortest packet */
#define TOTAL_MAX (64ull << 20)
#define MESSAGE_MAX (UNIXPAIR_SNDBUF - 32u)

struct packet {
	struct list link;
	uint32_t len, off;       /* off: read already (streams) */
	uint32_t truesize;
	uint32_t nfiles;
	char *data;              /* blob of len, NULL when it is 0 */
	struct file **files;     /* blob of nfiles, counted; NULL when there are none */
	struct linux_ucred cred; /* of the sender */
};
OBJ_TYPE(packet_type, struct packet, 65536);

struct unixpair {
	struct unixpair *peer;   /* NULL: closed */
	struct file *file;       /* its own, borrowed */
	int type;
	struct list queue;       /* packets to read */
	uint32_t queued;         /* bytes in it */
	uint32_t sent;           /* truesize of what the peer has not read */
	bool rcv_shut, snd_shut;
	bool passcred;
	int err;                 /* pending, positive */
	uint32_t sndbuf, rcvbuf;
	struct linux_ucred cred, peer_cred; /* when it was made; peer_cred is shown by SO_PEERCRED */
	struct waitq q;
};
OBJ_TYPE(unixpair_type_, struct unixpair, 16384);

static const struct file_ops unixpair_fops;
static uint64_t total_bytes;

struct unixpair *unixpair_of(const struct file *f)
{
	return f->ops == &unixpair_fops ? f->priv : NULL;
}

static bool is_message(const struct unixpair *s)
{
	return s->type != SOCK_STREAM;
}

bool unixpair_is_message(const struct file *f)
{
	const struct unixpair *s = unixpair_of(f);

	return s && is_message(s);
}

int unixpair_type(const struct unixpair *s)
{
	return s->type;
}

void unixpair_peer_cred(const struct unixpair *s, struct linux_ucred *out)
{
	*out = s->peer_cred;
}

int unixpair_take_error(struct unixpair *s)
{
	int err = s->err;

	s->err = 0;
	return err;
}

uint32_t unixpair_readable(const struct unixpair *s)
{
	if (!is_message(s) || list_is_empty(&s->queue))
		return s->queued;
	return list_first(&s->queue, struct packet, link)->len;
}

uint32_t *unixpair_sndbuf(struct unixpair *s)
{
	return &s->sndbuf;
}

uint32_t *unixpair_rcvbuf(struct unixpair *s)
{
	return &s->rcvbuf;
}

bool *unixpair_passcred(struct unixpair *s)
{
	return &s->passcred;
}

/* ---- packets ---- */

/* A packet may hold the last reference to a file that is itself a pair with packets: what is to be freed waits on a
 * list for the outermost call, so that a chain of them needs no stack. */
static struct list dead = LIST_INIT(dead);

static void packet_free(struct packet *pk)
{
	static bool busy;

	list_remove(&pk->link);
	list_append(&dead, &pk->link);
	if (busy)
		return;
	busy = true;
	while (!list_is_empty(&dead)) {
		pk = list_first(&dead, struct packet, link);
		list_remove(&pk->link);
		for (uint32_t i = 0; i < pk->nfiles; i++)
			file_put(pk->files[i]);
		if (pk->files)
			blob_free(pk->files, pk->nfiles * sizeof(*pk->files));
		if (pk->data) {
			blob_free(pk->data, pk->len);
			total_bytes -= pk->len;
		}
		obj_free(&packet_type, pk);
	}
	busy = false;
}

/* A packet with len bytes of u. */
static int packet_new(struct uio *u, uint32_t len, struct packet **ret_)
{
	struct packet *pk;

	if (total_bytes + len > TOTAL_MAX)
		return -ENOBUFS;
	pk = obj_new(&packet_type);
	if (!pk)
		return -ENOBUFS;
	list_init(&pk->link);
	if (len) {
		pk->data = blob_new(len);
		if (!pk->data) {
			obj_free(&packet_type, pk);
			return -ENOBUFS;
		}
		pk->len = len;
		total_bytes += len;
		if (uio_take(u, pk->data, len) != len) {
			packet_free(pk);
			return -EFAULT;
		}
	}
	pk->truesize = OVERHEAD + (len > 128 ? ALIGN_UP(len, 512u) : 0);
	*ret_ = pk;
	return 0;
}

/* The packet at the head of s was read to its end. */
static void packet_done(struct unixpair *s, struct packet *pk)
{
	list_remove(&pk->link);
	s->queued -= pk->len;
	if (s->peer) {
		struct unixpair *peer = s->peer;
		bool was_full = peer->sent * 4ull > peer->sndbuf;
		peer->sent -= MIN(pk->truesize, peer->sent);
		if (was_full && peer->sent * 4ull <= peer->sndbuf)
			waitq_wake(&peer->q, POLLOUT | POLLWRNORM | POLLWRBAND);
	}
	packet_free(pk);
}

static int packet_add_files(struct packet *pk, const struct unixpair_extra *x)
{
	size_t size = x->nfiles * sizeof(*pk->files);

	pk->files = blob_new(size);
	if (!pk->files)
		return -ENOMEM;
	memcpy(pk->files, x->files, size);
	pk->nfiles = x->nfiles;
	return 0;
}

/* ---- send ---- */

static int send_check(const struct unixpair *s, const struct unixpair_extra *x)
{
	if (s->type == SOCK_DGRAM && !s->peer)
		return -ECONNREFUSED;
	if (s->snd_shut || !s->peer || s->peer->rcv_shut)
		return -EPIPE;
	for (uint32_t i = 0; x && i < x->nfiles; i++)
		if (x->files[i] == s->file || x->files[i] == s->peer->file)
			return -ETOOMANYREFS;
	return 0;
}

int64_t unixpair_send(struct unixpair *s, struct uio *u, struct unixpair_extra *x)
{
	int64_t moved = 0;
	int r;

	r = send_check(s, x);
	if (r < 0)
		return r;
	if (s->err)
		return -unixpair_take_error(s);
	if (is_message(s) && u->left > MESSAGE_MAX)
		return -EMSGSIZE;
	if (!is_message(s) && !u->left)
		return 0;
	do {
		struct packet *pk;
		uint32_t len = (uint32_t)MIN(u->left, is_message(s) ? MESSAGE_MAX : CHUNK_MAX);
		if (s->sent >= s->sndbuf) {
			r = -EAGAIN;
			break;
		}
		r = packet_new(u, len, &pk);
		if (r < 0)
			break;
		if (x && x->nfiles) {
			r = packet_add_files(pk, x);
			if (r < 0) {
				packet_free(pk);
				uio_back(u, len);
				break;
			}
			x->nfiles = 0; /* they went with the first bytes */
		}
		pk->cred = x && x->has_cred ? x->cred : s->cred;
		s->sent += pk->truesize;
		s->peer->queued += len;
		list_append(&s->peer->queue, &pk->link);
		moved += len;
	} while (u->left);
	if (moved || r == 0)
		waitq_wake(&s->peer->q, POLLIN | POLLRDNORM);
	return moved || r == 0 ? moved : r;
}

/* ---- receive ---- */

static int64_t recv_empty(struct unixpair *s)
{
	int err = s->err;

	if (err) {
		s->err = 0;
		return -err;
	}
	if (s->rcv_shut || (!s->peer && s->type != SOCK_DGRAM))
		return 0;
	return -EAGAIN;
}

/* The files and the sender of pk; with a peek the packet keeps its own references. */
static void recv_extra(struct packet *pk, bool peek, struct unixpair_extra *x)
{
	x->has_cred = true;
	x->cred = pk->cred;
	x->nfiles = pk->nfiles;
	if (!pk->nfiles)
		return;
	memcpy(x->files, pk->files, pk->nfiles * sizeof(*x->files));
	if (peek) {
		for (uint32_t i = 0; i < pk->nfiles; i++)
			file_get(pk->files[i]);
		return;
	}
	blob_free(pk->files, pk->nfiles * sizeof(*pk->files));
	pk->files = NULL;
	pk->nfiles = 0;
}

static int64_t recv_message(struct unixpair *s, struct uio *u, bool peek, uint64_t *ret_whole,
			    struct unixpair_extra *x)
{
	struct packet *pk = list_first(&s->queue, struct packet, link);
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)pk->len);

	*ret_whole = pk->len;
	if (n && uio_put(u, pk->data, n) != n)
		return -EFAULT;
	if (x)
		recv_extra(pk, peek, x);
	if (!peek)
		packet_done(s, pk);
	return n;
}

static int64_t recv_stream(struct unixpair *s, struct uio *u, bool peek, struct unixpair_extra *x)
{
	struct packet *pk, *tmp;
	bool first = true;
	int64_t moved = 0;

	list_for_each_safe(pk, tmp, &s->queue, link) {
		if (!u->left || (!first && pk->nfiles))
			break;
		uint32_t n = (uint32_t)MIN(u->left, (uint64_t)(pk->len - pk->off));
		int64_t r = uio_put(u, pk->data + pk->off, n);
		if (r <= 0)
			break;
		bool files = pk->nfiles;
		if (x && (first || files))
			recv_extra(pk, peek, x);
		first = false;
		moved += r;
		if (!peek) {
			pk->off += (uint32_t)r;
			if (pk->off == pk->len)
				packet_done(s, pk);
		}
		if ((uint32_t)r < n || files)
			break;
	}
	return moved ? moved : -EFAULT;
}

int64_t unixpair_recv(struct unixpair *s, struct uio *u, bool peek, uint64_t *ret_whole,
		      struct unixpair_extra *x)
{
	int64_t r;

	*ret_whole = 0;
	if (!is_message(s) && !u->left)
		return 0;
	if (list_is_empty(&s->queue))
		return recv_empty(s);
	if (is_message(s))
		return recv_message(s, u, peek, ret_whole, x);
	r = recv_stream(s, u, peek, x);
	*ret_whole = r > 0 ? (uint64_t)r : 0;
	return r;
}

/* ---- the ends' states ---- */

int unixpair_shutdown(struct unixpair *s, int how)
{
	bool rd = how == SHUT_RD || how == SHUT_RDWR, wr = how == SHUT_WR || how == SHUT_RDWR;
	const uint32_t all = POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLHUP;

	s->rcv_shut |= rd;
	s->snd_shut |= wr;
	if (s->peer && s->type != SOCK_DGRAM) {
		s->peer->rcv_shut |= wr;
		s->peer->snd_shut |= rd;
		waitq_wake(&s->peer->q, all);
	}
	waitq_wake(&s->q, all);
	return 0;
}

static uint32_t unixpair_poll(struct file *f)
{
	struct unixpair *s = f->priv;
	uint32_t ready = 0;

	if (s->err)
		ready |= POLLERR;
	if (s->rcv_shut && s->snd_shut)
		ready |= POLLHUP;
	if (s->rcv_shut)
		ready |= POLLRDHUP | POLLIN | POLLRDNORM;
	if (!list_is_empty(&s->queue))
		ready |= POLLIN | POLLRDNORM;
	if (s->sent * 4ull <= s->sndbuf)
		ready |= POLLOUT | POLLWRNORM | POLLWRBAND;
	return ready;
}

static struct waitq *unixpair_poll_q(struct file *f)
{
	return &((struct unixpair *)f->priv)->q;
}

static int64_t unixpair_read(struct file *f, struct uio *u, int64_t pos)
{
	uint64_t whole;

	(void)pos;
	return unixpair_recv(f->priv, u, false, &whole, NULL);
}

static int64_t unixpair_write(struct file *f, struct uio *u, int64_t pos)
{
	(void)pos;
	return unixpair_send(f->priv, u, NULL);
}

static int64_t unixpair_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct unixpair *s = f->priv;
	int32_t n;

	if (cmd == FIONREAD)
		n = (int32_t)unixpair_readable(s);
	else if (cmd == TIOCOUTQ)
		n = (int32_t)s->sent;
	else
		return -ENOTTY;
	return guest_put(t->tid, arg, &n);
}

static void unixpair_release(struct file *f)
{
	struct unixpair *s = f->priv, *peer = s->peer;
	bool unread = !list_is_empty(&s->queue);

	s->peer = NULL;
	if (peer) {
		peer->peer = NULL;
		peer->sent = 0;
		if (s->type != SOCK_DGRAM) {
			peer->rcv_shut = peer->snd_shut = true;
			if (unread)
				peer->err = ECONNRESET;
		}
	}
	while (!list_is_empty(&s->queue))
		packet_done(s, list_first(&s->queue, struct packet, link));
	if (peer)
		waitq_wake(&peer->q, POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLHUP |
				     POLLERR);
	waitq_fini(&s->q);
	obj_free(&unixpair_type_, s);
}

static const struct file_ops unixpair_fops = {
	.read = unixpair_read,
	.write = unixpair_write,
	.poll = unixpair_poll,
	.poll_q = unixpair_poll_q,
	.ioctl = unixpair_ioctl,
	.release = unixpair_release,
};

static int end_new(struct task *t, int type, uint32_t flags, struct file **ret_)
{
	struct unixpair *s = obj_new(&unixpair_type_);
	int r;

	if (!s)
		return -ENFILE;
	s->type = type;
	s->sndbuf = s->rcvbuf = UNIXPAIR_SNDBUF;
	s->cred = (struct linux_ucred){ t->proc->pid, t->cred.uid, t->cred.gid };
	s->peer_cred = (struct linux_ucred){ t->proc->pid, t->cred.euid, t->cred.egid };
	list_init(&s->queue);
	waitq_init(&s->q);
	r = file_new_anon("socket:", S_IFSOCK | 0777, &unixpair_fops, s, O_RDWR | (flags & O_NONBLOCK),
			  ret_);
	if (r < 0) {
		obj_free(&unixpair_type_, s);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	s->file = *ret_;
	return 0;
}

int unixpair_make(struct task *t, int type, uint32_t flags, struct file **ret_a, struct file **ret_b)
{
	int r = end_new(t, type, flags, ret_a);

	if (r < 0)
		return r;
	r = end_new(t, type, flags, ret_b);
	if (r < 0) {
		file_put(*ret_a);
		return r;
	}
	struct unixpair *x = (*ret_a)->priv, *y = (*ret_b)->priv;
	x->peer = y;
	y->peer = x;
	return 0;
}
