/* Numbered events; the last KEEP_EVENTS are kept, so that who comes late, or again, misses nothing.
 * The very last is left in a file for who comes after the end. */
#include "keeper/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static struct keep_msg ring[KEEP_EVENTS];
static uint64_t next = 1;
static int left = -1; /* RUN/cells/ID.end, locked */

uint64_t events_next(void)
{
	return next;
}

uint64_t events_first(void)
{
	return next > KEEP_EVENTS ? next - KEEP_EVENTS : 1;
}

const struct keep_msg *event_get(uint64_t n)
{
	return &ring[n % KEEP_EVENTS];
}

static struct keep_msg *event_new(enum keep_event_kind kind, int a, int b)
{
	struct keep_msg *m = &ring[next % KEEP_EVENTS];

	memset(m, 0, sizeof(*m));
	m->type = KEEP_EVENT;
	m->kind = kind;
	m->n = next++;
	m->time = clock_real();
	m->a = a;
	m->b = b;
	return m;
}

void event_add(enum keep_event_kind kind, const struct kproc *p, int a, int b, const char *text)
{
	struct keep_msg *m = event_new(kind, a, b);

	if (p) {
		m->proc = p->num;
		m->pid = p->pid;
		m->flags = p->flags;
	}
	snprintf(m->text, sizeof(m->text), "%s", text ? text : "");
	clients_events();
}

void event_end(int status, enum keep_reason reason, const struct err *e)
{
	struct keep_msg *m = event_new(KEEP_EV_END, status, (int)reason);

	if (e->kind)
		keep_text_set(m->text, e);
	else
		snprintf(m->text, sizeof(m->text), "exit status %d", status);
	clients_events();
}

void event_leave(void)
{
	struct err e;
	char name[KEEP_ID_LEN + 8];
	int dir;

	if (!(keeper.leave || keeper.word) || !keeper.id[0] || (dir = keep_cells_dir(&e)) < 0)
		return;
	snprintf(name, sizeof(name), "%s.end", keeper.id);
	left = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* Not closed: the lock goes with us. */
	if (left >= 0) {
		flock(left, LOCK_EX);
		(void)!write(left, event_get(next - 1), sizeof(struct keep_msg));
	}
	close(dir);
}

void run_release(void)
{
	if (left >= 0)
		close(left);
	left = -1;
}
