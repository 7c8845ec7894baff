/* What went through the gate, counted for /metrics.
 *
 * The figures come from the records that this process takes out of the rings of kernel and gate on
 * their way to the journal, so they agree with it; a cell without a journal has none. A gate or a
 * kernel that was broken into can lie in its records, and then in the figures of its own cell:
 * decisions that are not known count nowhere, and sums stop at their largest value. */
#include <string.h>

#include "keeper/gate.h"
#include "keeper/journal.h"

static struct keep_gate figures;

static const char *const decisions[GATE_DECISIONS] = { GATE_DECISION_NAMES };

static void add(uint64_t *sum, uint64_t n)
{
	*sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

static void decision_add(uint64_t *counts, struct jtext decision)
{
	for (unsigned i = 0; i < GATE_DECISIONS; i++)
		if (decision.n == strlen(decisions[i]) &&
		    !memcmp(decision.p, decisions[i], decision.n))
			add(&counts[i], 1);
}

static void record_count(enum journal_source source, enum journal_kind kind,
			 const union journal_record *r)
{
	if (source == JOURNAL_KERNEL && kind == J_CLOSE) {
		add(&figures.in, r->CLOSE.in);
		add(&figures.out, r->CLOSE.out);
	}
	if (source != JOURNAL_GATE)
		return;
	if (kind == J_NAME)
		decision_add(figures.names, r->NAME.decision);
	else if (kind == J_CONNECT)
		decision_add(figures.connections, r->CONNECT.decision);
	else if (kind == J_REQUEST)
		decision_add(figures.requests, r->REQUEST.decision);
}

void gate_figures_count(enum journal_source source, const uint8_t *frames, size_t n)
{
	union journal_record record;
	struct journal_frame f;

	/* Frames that the ring's reader has checked. */
	for (size_t at = 0; n - at >= sizeof(f); at += f.size) {
		memcpy(&f, frames + at, sizeof(f));
		if (f.size < sizeof(f) || f.size > n - at)
			return;
		if ((f.kind == J_CLOSE || f.kind == J_NAME || f.kind == J_CONNECT ||
		     f.kind == J_REQUEST) &&
		    journal_decode(frames + at, f.size, &record))
			record_count(source, (enum journal_kind)f.kind, &record);
	}
}

void gate_figures_get(struct keep_gate *ret)
{
	*ret = figures;
	ret->counted = gate_is_granted() && journal_is_on();
}
