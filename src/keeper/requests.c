/* What clients of a keeper ask for (wire.h): each request is answered here, or handed to the file
 * that does what it asks for, or passed on to the kernel (pending.c). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "host/isolate.h"
#include "keeper/frozen.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

static void hello(struct client *c, const struct keep_msg *in)
{
	struct keep_msg m = { .type = KEEP_HELLO };
	const struct kproc *first = proc_by_num(KEEP_FIRST);
	/* 'viv run --rm --name' has vivd remove the cell, which is over by then. */
	bool stays = !keeper.detached && keeper.o->rm;

	keeper.word |= in->flags & KEEP_WORD;
	m.hello = (struct keep_hello){
		.version = KEEP_VERSION,
		.state = keeper.state,
		.keeper_pid = stays ? 0 : getpid(),
		.kernel_pid = keeper.kernel->pid,
		.started = keeper.started,
		.next_event = events_next(),
		.first_event = events_first(),
		.flags = (keeper.detached && !keeper.leash ? 0 : KEEP_H_FOREGROUND) |
			 (ports_are_open() ? KEEP_H_PORTS : 0) |
			 (asks_are_open() ? KEEP_H_ASKS : 0) | (door_is_open() ? KEEP_H_DOOR : 0) |
			 (door_has_cells() ? KEEP_H_CELLS : 0) | KEEP_H_WHOLE | KEEP_H_TAGS
	};
	snprintf(m.hello.id, sizeof(m.hello.id), "%s", keeper.id);
	snprintf(m.hello.name, sizeof(m.hello.name), "%s",
		 keeper.rootfs->kept ? keeper.rootfs->cell.name : "");
	snprintf(m.hello.image, sizeof(m.hello.image), "%s",
		 keeper.rootfs->kept ? keeper.rootfs->cell.image
		 : keeper.o->image   ? keeper.o->image
				     : "host");
	snprintf(m.hello.command, sizeof(m.hello.command), "%s", first ? first->command : "");
	client_send(c, in->id, &m, NULL, 0);
}

static void procs_list(struct client *c, const struct keep_msg *in)
{
	struct kproc *p;

	list_for_each(p, &keeper.procs, link) {
		if (p->flags & KEEP_X_QUIET)
			continue;
		struct keep_msg m = { .type = KEEP_PROC, .proc = p->num, .pid = p->pid };

		m.proc_is = (struct keep_proc){ .flags = p->flags,
						.ended = p->ended,
						.status = p->status,
						.timed_out = p->termed,
						.started = p->started };
		snprintf(m.proc_is.command, sizeof(m.proc_is.command), "%s", p->command);
		client_send(c, in->id, &m, NULL, 0);
	}
	client_ok(c, in->id, 0);
}

static void logs(struct client *c, const struct keep_msg *in, const struct kproc *p)
{
	struct keep_msg m = { .type = KEEP_LOGS, .proc = p->num };
	int fds[2];
	unsigned n = p->log ? log_open(p->num, fds) : 0;

	if (!n)
		client_fail(c, in->id, ERR_NOT_FOUND, 0,
			    "the output of this process is not kept; it went to the client that "
			    "started it");
	else
		client_send(c, in->id, &m, fds, n);
}

/* Somebody may have come after vivd decided that nobody uses the cell: that is known here. */
static void sleep_request(struct client *c, const struct keep_msg *in)
{
	if (!(in->flags & KEEP_SLEEP_NOW) &&
	    (procs_are_used() || in->time != ports_used() || keeper.state == KEEP_PAUSED)) {
		client_fail(c, in->id, ERR_BUSY, 0, "somebody uses the cell");
		return;
	}
	if (in->flags & KEEP_SLEEP_FREEZE) {
		frozen_request(c, in);
		return;
	}
	journal_operator("sleep", "");
	ports_leave(c, in->id);
	client_ok(c, in->id, 0);
	cell_stop(keep_grace(in));
}

/* Those that name a process. */
static void proc_request(struct client *c, const struct keep_msg *in)
{
	struct kproc *p = proc_by_num(in->proc);
	struct ctl_msg m = { .id = in->proc, .a = in->a, .b = in->b };

	if (in->type == KEEP_SIGNAL && (in->flags & KEEP_AS_TYPED)) {
		m.type = CTL_SIGNAL;
		control_put(&m, NULL, 0);
		return;
	}
	if (!p) {
		client_fail(c, in->id, ERR_NOT_FOUND, 0, "the cell has no process %u", in->proc);
		return;
	}
	switch (in->type) {
	case KEEP_WAIT:
		proc_wait(c, in->id, p);
		return;
	case KEEP_LOGS:
		logs(c, in, p);
		return;
	case KEEP_ATTACH:
		proc_attach(c, in->id, p);
		return;
	case KEEP_CLOSE_INPUT:
		proc_close_input(p);
		client_ok(c, in->id, 0);
		return;
	case KEEP_SIGNAL:
		m.type = CTL_PROC_SIGNAL;
		m.b = in->flags & KEEP_TO_GROUP ? 1 : 0;
		break;
	default:
		m.type = CTL_RESIZE;
	}
	pass_on(c, in, &m, NULL, 0);
}

void client_request(struct client *c, struct keep_msg *in, const int *fds, unsigned nfds)
{
	struct ctl_msg m = { 0 };
	struct err e;

	in->text[sizeof(in->text) - 1] = 0;
	if (in->type == KEEP_TAKE) {
		take_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_DIAL) {
		dial_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_POLICY) {
		policy_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_PUT) {
		put_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_JOURNAL) {
		journal_request(c, in, fds, nfds);
		return;
	}
	if (in->type == KEEP_EXEC && !keeper.alone && pool_leave(c, in)) {
		bool listed = c == keeper.leash && !keeper.id[0] && id_random(&e) == 0;

		if (listed && journal_begin(&e) < 0) {
			for (unsigned i = 0; i < nfds; i++)
				close(fds[i]);
			/* viv starts a cell of its own, which can run without a journal. */
			client_err(c, in->id, 0, &e);
			return;
		}
		proc_start(c, in->id, &in->exec, fds, nfds);
		/* The command of a 'viv run' is on its way. */
		if (listed)
			serve_listed();
		return;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	switch (in->type) {
	case KEEP_EXEC: /* else answered */
		if (keeper.alone)
			client_fail(c, in->id, ERR_CONFLICT, 0,
				    "the cell was started by 'viv run' in the foreground without a "
				    "name, and runs nothing but its command" REMEDY
				    "start it with --name or --detach");
		break;
	case KEEP_HELLO:
		hello(c, in);
		break;
	case KEEP_WAIT:
	case KEEP_SIGNAL:
	case KEEP_RESIZE:
	case KEEP_LOGS:
	case KEEP_ATTACH:
	case KEEP_CLOSE_INPUT:
		proc_request(c, in);
		break;
	case KEEP_TAKEN:
		if (proc_by_num(in->proc))
			proc_taken(proc_by_num(in->proc), in->n);
		break;
	case KEEP_STOP:
		journal_operator("stop", "");
		client_ok(c, in->id, 0);
		cell_stop(keep_grace(in));
		break;
	case KEEP_SLEEP:
		sleep_request(c, in);
		break;
	case KEEP_KILL:
		journal_operator("kill", "");
		client_ok(c, in->id, 0);
		keeper.reason = KEEP_ASKED;
		kernel_kill();
		break;
	case KEEP_PAUSE:
	case KEEP_RESUME:
		m.type = in->type == KEEP_PAUSE ? CTL_PAUSE : CTL_RESUME;
		if (keeper.state != (in->type == KEEP_RESUME ? KEEP_PAUSED : KEEP_RUNNING) &&
		    !(in->type == KEEP_PAUSE && keeper.state == KEEP_IDLE))
			client_fail(c, in->id, ERR_CONFLICT, 0, "the cell is %s paused",
				    in->type == KEEP_RESUME ? "not" : "stopping, or already");
		else
			pass_on(c, in, &m, NULL, 0);
		break;
	case KEEP_SEAL:
		seal_request(c, in);
		break;
	case KEEP_FORGET:
		forget_request(c, in);
		break;
	case KEEP_ROLLBACK:
		rollback_request(c, in);
		break;
	case KEEP_STATS:
		m.type = CTL_STATS;
		pass_on(c, in, &m, NULL, 0);
		break;
	case KEEP_PROCS:
		procs_list(c, in);
		break;
	case KEEP_ASKS:
		asks_request(c, in);
		break;
	case KEEP_ANSWER:
		answer_request(c, in);
		break;
	case KEEP_PORTS:
		ports_request(c, in);
		break;
	case KEEP_DOOR:
		door_request(c, in);
		break;
	case KEEP_TOOLS:
		tools_request(c, in);
		break;
	case KEEP_DENIED:
		m.type = CTL_DENIED;
		text_clean(in->text, strnlen(in->text, sizeof(in->text)), m.text, sizeof(m.text));
		pass_on(c, in, &m, NULL, 0);
		break;
	case KEEP_LEASE:
		client_lease(c);
		client_ok(c, in->id, 0);
		break;
	case KEEP_LIMITS:
		if (pool_leave(c, in))
			limits_request(c, in);
		break;
	case KEEP_SUBSCRIBE:
		client_subscribe(c, in);
		break;
	default:
		client_fail(c, in->id, ERR_USAGE, 0,
			    "the cell was started by another version of viv");
	}
}
