/* Requests that the kernel of the cell answers: they are numbered and passed on to it, and its
 * answer goes to the client that asked. The kernel is not believed: an answer to no request is
 * dropped, and one that never answers keeps a bounded number of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/gate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define PENDING_MAX 4096 /* requests that a kernel which reads and does not answer can keep */

/* A request that was passed on to the kernel. */
struct pending {
	struct list link;
	uint32_t request, id;
	uint32_t type; /* enum keep_type */
	struct client *client; /* NULL: went away */
	int fd; /* that is kept until the answer; -1: none */
};

bool pass_on_kept(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
		  unsigned nfds, int kept)
{
	struct pending *p = keeper.npending < PENDING_MAX ? malloc(sizeof(*p)) : NULL;

	m->request = ++keeper.last_request;
	if (!p) {
		for (unsigned i = 0; i < nfds; i++)
			close(fds[i]);
	}
	if (!p || !control_put(m, fds, nfds)) {
		client_fail(c, in->id, p ? ERR_ENDED : ERR_OVERLOADED, 0,
			    "the cell does not answer");
		free(p);
		return false;
	}
	*p = (struct pending){
		.request = m->request, .id = in->id, .type = in->type, .client = c, .fd = kept
	};
	list_init(&p->link);
	list_append(&keeper.pending, &p->link);
	keeper.npending++;
	return true;
}

bool pass_on(struct client *c, const struct keep_msg *in, struct ctl_msg *m, const int *fds,
	     unsigned nfds)
{
	return pass_on_kept(c, in, m, fds, nfds, -1);
}

static void done_answer(const struct pending *p, int err)
{
	if (p->fd >= 0) {
		inbound_done(p->fd, err);
		return;
	}
	if (p->type == KEEP_LIMITS || p->type == KEEP_TAKE) {
		(p->type == KEEP_LIMITS ? limits_answer : take_answer)(p->client, p->id, err);
		return;
	}
	if (p->type == KEEP_POLICY) {
		policy_taken(err);
		return;
	}
	switch (-err) {
	case 0:
		if (p->type == KEEP_PAUSE || p->type == KEEP_RESUME)
			state_set(p->type == KEEP_PAUSE	    ? KEEP_PAUSED
				  : proc_by_num(KEEP_FIRST) ? KEEP_RUNNING
							    : KEEP_IDLE);
		if (p->type == KEEP_PAUSE || p->type == KEEP_RESUME)
			journal_operator(p->type == KEEP_PAUSE ? "pause" : "resume", "");
		client_ok(p->client, p->id, 0);
		break;
	case ESRCH:
		client_fail(p->client, p->id, ERR_NOT_FOUND, 0, "the process has ended");
		break;
	case ECONNREFUSED:
		client_fail(p->client, p->id, ERR_NOT_FOUND, 0,
			    "no program in the cell listens at this port");
		break;
	case ENOTTY:
		client_fail(p->client, p->id, ERR_CONFLICT, 0, "the process has no terminal");
		break;
	case EBUSY:
		client_fail(p->client, p->id, ERR_CONFLICT, 0,
			    "the cell is paused" REMEDY "'viv resume' lets it go on");
		break;
	default:
		client_fail(p->client, p->id, ERR_FAILED, 0, "%s", strerror(-err));
	}
}

void pending_answer(const struct ctl_msg *m)
{
	struct pending *p, *found = NULL;

	list_for_each(p, &keeper.pending, link)
		if (p->request == m->request)
			found = p;
	if (!found)
		return;
	if (m->type == CTL_STATS) {
		struct keep_msg out = { .type = KEEP_STATS, .stats = m->stats };

		out.stats.inbound_at = (uint64_t)ports_used();
		gate_figures_get(&out.stats.gate);
		client_send(found->client, found->id, &out, NULL, 0);
	} else {
		done_answer(found, m->a);
	}
	list_remove(&found->link);
	keeper.npending--;
	free(found);
}

void pending_client_gone(const struct client *c)
{
	struct pending *p;

	list_for_each(p, &keeper.pending, link)
		if (p->client == c)
			p->client = NULL;
}

void pending_end(void)
{
	struct pending *p, *tmp;

	list_for_each_safe(p, tmp, &keeper.pending, link) {
		client_fail(p->client, p->id, ERR_ENDED, 0, "the cell ended while it was asked");
		if (p->fd >= 0)
			inbound_done(p->fd, -ECONNREFUSED);
		list_remove(&p->link);
		free(p);
	}
}
