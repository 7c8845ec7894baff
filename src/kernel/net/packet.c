/* Packets: what was sent and not yet read.
 *
 * A packet is a header and a blob of bytes, possibly with open files. The bytes of all packets of
 * the cell together are bounded. A packet that is charged to its sender hangs in that sender's list
 * as well, so that either may go first. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/sock.h"
#include "kernel/net/unix.h"
#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"

#define OVERHEAD 768u /* what Linux counts for the shortest packet */

OBJ_TYPE(packet_type, struct packet, 131072);
static uint64_t mem_used;

uint64_t net_mem_used(void)
{
	return mem_used;
}

struct packet *packet_new(uint32_t cap)
{
	struct packet *pk;

	if (mem_used + cap + sizeof(*pk) > NET_MEM_MAX)
		return NULL;
	pk = obj_new(&packet_type);
	if (!pk)
		return NULL;
	list_init(&pk->link);
	list_init(&pk->owner_link);
	if (cap) {
		pk->data = blob_new(cap);
		if (!pk->data) {
			obj_free(&packet_type, pk);
			return NULL;
		}
		pk->cap = cap;
	}
	pk->truesize = OVERHEAD + (cap > 128 ? ALIGN_UP(cap, 512u) : 0);
	mem_used += cap + sizeof(*pk);
	return pk;
}

int packet_fill(struct packet *pk, struct uio *u, uint32_t n)
{
	if (n && uio_take(u, pk->data + pk->len, n) != n)
		return -EFAULT;
	pk->len += n;
	return 0;
}

/* A packet may hold the last reference to a socket that has packets itself: what is to be freed
 * waits on a list for the outermost call, so that a chain of them needs no stack. */
static struct list dead = LIST_INIT(dead);

void packet_drop_files(struct packet *pk)
{
	struct file **files = pk->files;
	uint32_t n = pk->nfiles;

	pk->files = NULL;
	pk->nfiles = 0;
	for (uint32_t i = 0; i < n; i++) {
		unix_file_landed(files[i]);
		file_put(files[i]);
	}
	if (files)
		blob_free(files, n * sizeof(*files));
}

void packet_free(struct packet *pk)
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
		packet_drop_files(pk);
		if (pk->data)
			blob_free(pk->data, pk->cap);
		unix_name_put(pk->from_unix);
		mem_used -= pk->cap + sizeof(*pk);
		obj_free(&packet_type, pk);
	}
	busy = false;
}

void sock_enqueue(struct sock *to, struct packet *pk, struct sock *owner)
{
	list_append(&to->queue, &pk->link);
	to->queued += pk->len;
	to->queued_true += pk->truesize;
	to->npackets++;
	pk->owner = owner;
	if (!owner)
		return;
	owner->sent_true += pk->truesize;
	list_append(&owner->sent, &pk->owner_link);
}

void sock_dequeue(struct sock *s, struct packet *pk)
{
	struct sock *owner = pk->owner;

	list_remove(&pk->link);
	list_remove(&pk->owner_link);
	s->queued -= pk->len - pk->off;
	s->queued_true -= pk->truesize;
	s->npackets--;
	if (owner) {
		bool was_full = owner->sent_true * 4ull > owner->sndbuf;

		owner->sent_true -= pk->truesize;
		if (was_full && owner->sent_true * 4ull <= owner->sndbuf)
			waitq_wake(&owner->q, SOCK_POLL_OUT);
	}
	packet_free(pk);
}

void sock_queue_purge(struct sock *s)
{
	while (!list_is_empty(&s->queue))
		sock_dequeue(s, list_first(&s->queue, struct packet, link));
}
