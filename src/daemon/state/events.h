/* The one ordered stream of what happened. Events are numbered from 1 and kept in the database, the
 * last EVENTS_KEPT of them, so that a reader who comes back can go on where it was.
 *
 * Types: cell.created, cell.state, cell.renamed, cell.removed, cell.updated, cell.restarting,
 * cell.adopted, cell.health, cell.forked, cell.rolledback, cell.denied, policy.changed,
 * snapshot.created, snapshot.removed, snapshot.unmerged, image.created, image.tagged,
 * image.removed, image.collected, image.repaired, volume.created, volume.removed, process.started,
 * process.exited, limit, oom, warning, approval.asked, approval.answered, approval.withdrawn,
 * tool.added, tool.removed, tool.called, cron.added, cron.removed, cron.paused, cron.resumed,
 * cron.fired, cron.done, cron.failed, cron.skipped, token.created, token.revoked, secret.created,
 * secret.changed, secret.removed, workflow.started, workflow.step, workflow.waiting, workflow.done,
 * workflow.failed, workflow.cancelled, journal.damaged, journal.removed, daemon.started,
 * daemon.stopping. */
#ifndef VIV_DAEMON_STATE_EVENTS_H
#define VIV_DAEMON_STATE_EVENTS_H

#include <jansson.h>

#include "daemon/state/daemon.h"

#define EVENTS_KEPT 10000

/* Within the caller's transaction, if there is one. cell: its id, or NULL. Takes data; NULL:
 * none. */
void event_add(struct daemon *d, const char *type, const char *cell, json_t *data);
/* At the start, with the database open. */
void events_open(struct daemon *d);
/* The number of the newest; 0: there was none yet. */
int64_t events_last(struct daemon *d);

/* A reader. fn is called when there may be news; it must not add events. */
struct event_watch {
	struct list link;
	void (*fn)(struct event_watch *w);
};
void event_watch_add(struct daemon *d, struct event_watch *w, void (*fn)(struct event_watch *w));
void event_watch_remove(struct event_watch *w);

/* The next event after number *seq, of this cell (id; "": of all), as one line of JSON without a
 * newline (free() it), and moves *seq; NULL: none yet. When the next ones are not kept any more,
 * their numbers come first: {"type":"gap","from":..,"to":..}. */
char *event_next(struct daemon *d, int64_t *seq, const char *cell);
/* The same for a cell that asks: of itself, and of its descendants that there are. */
char *event_next_family(struct daemon *d, int64_t *seq, const char *cell);

#endif
