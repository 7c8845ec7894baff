/* Numbered events; the last KEEP_EVENTS are kept, so that who comes late, or again, misses nothing. */
#include "keeper/keeper.h"

#include <stdio.h>
#include <string.h>

static struct keep_msg ring[KEEP_EVENTS];
static uint64_t next = 1;

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

void event_add(enum keep_event_kind kind, const struct kproc *p, int a, int b, const char *text)
{
	struct keep_msg *m = &ring[next % KEEP_EVENTS];

	memset(m, 0, sizeof(*m));
	m->type = KEEP_EVENT;
	m->kind = kind;
	m->n = next++;
	m->time = clock_real();
	m->a = a;
	m->b = b;
	if (p) {
		m->proc = p->num;
		m->pid = p->pid;
	}
	snprintf(m->text, sizeof(m->text), "%s", text ? text : "");
	clients_events();
}
