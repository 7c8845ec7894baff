/* Descriptors that travel, and sockets that only reach each other.
 *
 * A unix socket whose file lies in a packet of another one's queue lives as long as the packet. Two
 * sockets that carry each other and that nobody has open would live for ever; so, as on Linux,
 * sockets that travel are counted (inflight), and those all of whose references are such travels
 * are candidates. From the candidates, those that something outside reaches are taken away again
 * with all that lies in their queues; the queues of the rest are emptied, which ends them.
 *
 * The search is bounded by the number of files that travel, which is bounded itself; it runs at the
 * close of a socket, and only when it is cheap or when the number has doubled since the last
 * time. */
#include <errno.h>
#include <linux/capability.h>

#include "kernel/net/unix.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define FILES_MAX 16384u /* that travel at once in the cell */
#define CHEAP 64u

static struct list travelling = LIST_INIT(travelling); /* sockets with inflight */
static uint32_t files_count, socks_count, socks_after = CHEAP;

int unix_file_sent(struct file *f, struct task *t)
{
	struct unix_sock *u = unix_of(f);

	if (files_count >= FILES_MAX)
		return -ETOOMANYREFS;
	if (t && files_count > t->proc->limits[RLIMIT_NOFILE].cur &&
	    !cred_has_cap(&t->cred, CAP_SYS_RESOURCE) && !cred_has_cap(&t->cred, CAP_SYS_ADMIN))
		return -ETOOMANYREFS;
	files_count++;
	if (u && u->inflight++ == 0) {
		list_append(&travelling, &u->inflight_link);
		socks_count++;
	}
	return 0;
}

void unix_file_landed(struct file *f)
{
	struct unix_sock *u = unix_of(f);

	files_count--;
	if (u && --u->inflight == 0) {
		list_remove(&u->inflight_link);
		socks_count--;
	}
}

/* Calls fn for each socket that lies in a packet of s's queue. */
static void queue_scan(struct sock *s, void (*fn)(struct unix_sock *u))
{
	struct packet *pk;

	list_for_each(pk, &s->queue, link)
		for (uint32_t i = 0; i < pk->nfiles; i++) {
			struct unix_sock *u = unix_of(pk->files[i]);

			if (u)
				fn(u);
		}
}

/* And of those that wait to be accepted from it. */
static void sock_scan(struct unix_sock *u, void (*fn)(struct unix_sock *u))
{
	struct sock *end;

	queue_scan(&u->s, fn);
	list_for_each(end, &u->s.acceptq, accept_link)
		queue_scan(end, fn);
}

static struct list candidates = LIST_INIT(candidates), reached = LIST_INIT(reached);

static void forget_one(struct unix_sock *u)
{
	if (!list_is_empty(&u->gc_link) && u->gc_refs)
		u->gc_refs--;
}

/* u is reached from outside: whatever lies in its queue is, too. */
static void reach(struct unix_sock *u)
{
	if (list_is_empty(&u->gc_link) || u->gc_refs == UINT32_MAX)
		return;
	u->gc_refs = UINT32_MAX;
	list_remove(&u->gc_link);
	list_append(&reached, &u->gc_link);
}

static void garbage_find(void)
{
	struct unix_sock *u, *tmp;

	list_for_each(u, &travelling, inflight_link) {
		if (!u->s.file || u->s.file->refs != u->inflight)
			continue;
		u->gc_refs = u->inflight;
		list_append(&candidates, &u->gc_link);
	}
	list_for_each(u, &candidates, gc_link)
		sock_scan(u, forget_one);
	list_for_each_safe(u, tmp, &candidates, gc_link)
		if (u->gc_refs)
			reach(u);
	/* Grows while it is walked. */
	list_for_each(u, &reached, gc_link)
		sock_scan(u, reach);
	while (!list_is_empty(&reached))
		list_remove(reached.next);
}

/* All packets of s's queue, to the list to. */
static void queue_take(struct sock *s, struct list *to)
{
	struct packet *pk, *tmp;

	list_for_each_safe(pk, tmp, &s->queue, link) {
		list_remove(&pk->link);
		list_remove(&pk->owner_link);
		if (pk->owner)
			pk->owner->sent_true -= pk->truesize;
		pk->owner = NULL;
		list_append(to, &pk->link);
	}
	unix_sk(s)->oob = NULL;
	s->queued = s->queued_true = s->npackets = 0;
}

static void garbage_end(void)
{
	struct list packets = LIST_INIT(packets);
	struct unix_sock *u;
	struct sock *end;

	/* All packets first, so that no socket ends while another one's queue is looked at. */
	list_for_each(u, &candidates, gc_link) {
		queue_take(&u->s, &packets);
		list_for_each(end, &u->s.acceptq, accept_link)
			queue_take(end, &packets);
	}
	while (!list_is_empty(&candidates))
		list_remove(candidates.next);
	while (!list_is_empty(&packets))
		packet_free(list_first(&packets, struct packet, link));
}

void unix_gc(bool force)
{
	static bool busy;

	if (busy || !socks_count || (!force && socks_count > CHEAP && socks_count < socks_after))
		return;
	busy = true;
	garbage_find();
	garbage_end();
	busy = false;
	socks_after = MAX(CHEAP, socks_count * 2);
}
