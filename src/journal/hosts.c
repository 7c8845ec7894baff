/* See hosts.h. */
#include "journal/hosts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "journal/show.h"

void hosts_init(struct hosts *t)
{
	t->nopen = 0;
	tally_init(&t->tally);
	t->numbers = xalloc(HOSTS_NUMBERS * sizeof(*t->numbers));
}

void hosts_fini(struct hosts *t)
{
	tally_fini(&t->tally);
	free(t->numbers);
	t->numbers = NULL;
}

static size_t host_get(struct hosts *t, struct jtext name, uint64_t port, struct jtext protocol,
		       uint64_t seq)
{
	char digits[24] = "";
	struct jtext parts[3] = { name, { digits, 0 }, protocol };
	struct tally_item *it;

	if (port)
		parts[1].n = (uint32_t)snprintf(digits, sizeof(digits), "%" PRIu64, port);
	it = tally_get(&t->tally, parts, 3, seq);
	return it ? (size_t)(it - tally_at(&t->tally, 0)) + 1 : 0;
}

static uint64_t *count_of(struct hosts *t, size_t host, enum host_count which)
{
	static uint64_t nowhere;

	return host ? &tally_at(&t->tally, host - 1)->counts[which] : &nowhere;
}

static void open_remove(struct hosts *t, size_t i)
{
	memmove(&t->open[i], &t->open[i + 1], (--t->nopen - i) * sizeof(t->open[0]));
}

static uint64_t address_hash(struct hosts *t, struct jtext address)
{
	return siphash(t->tally.key, address.n ? address.p : "", address.n);
}

bool decision_allows(struct jtext decision)
{
	return text_equals(decision, "allow") || text_equals(decision, "audit");
}

static size_t follow_connect(struct hosts *t, const struct journal_entry *e)
{
	const struct journal_CONNECT *x = &e->record->CONNECT;
	size_t host = host_get(t, x->name.n ? x->name : x->address, x->port, x->protocol, e->seq);
	struct host_number *number = &t->numbers[x->connection % HOSTS_NUMBERS];
	bool allowed = decision_allows(x->decision);

	/* One that is asked about comes again. */
	if (text_equals(x->decision, "ask"))
		return host;
	*count_of(t, host,
		  allowed			       ? HOST_ALLOWED
		  : text_equals(x->decision, "failed") ? HOST_FAILED
						       : HOST_DENIED) += 1;
	*count_of(t, host, HOST_AUDITED) += text_equals(x->decision, "audit");
	if (!host || !allowed)
		return host;
	*number = (struct host_number){ x->connection, (uint32_t)host };
	if (t->nopen == HOSTS_OPEN)
		open_remove(t, 0);
	t->open[t->nopen++] = (struct host_open){ x->connection, e->pid, (uint32_t)x->port,
						  address_hash(t, x->address), (uint32_t)host };
	return host;
}

static size_t follow_close(struct hosts *t, const struct journal_entry *e)
{
	const struct journal_CLOSE *x = &e->record->CLOSE;
	uint64_t address = address_hash(t, x->address);
	size_t found = SIZE_MAX, host;
	unsigned best = 0;

	for (size_t i = 0; i < t->nopen; i++) {
		const struct host_open *o = &t->open[i];
		unsigned fits = x->connection	     ? (o->number == x->connection)
				: o->port != x->port ? 0
						     : (o->address == address ? 2 : 0) +
							       (o->pid == e->pid ? 1 : 0);

		if (fits > best) {
			best = fits;
			found = i;
		}
	}
	if (found != SIZE_MAX) {
		host = t->open[found].host;
		open_remove(t, found);
	} else {
		host = host_get(t, x->address, x->port, x->protocol, e->seq);
	}
	*count_of(t, host, HOST_IN) += x->in;
	*count_of(t, host, HOST_OUT) += x->out;
	return host;
}

/* The host of a URL, for a request whose connection is not known. */
static struct jtext url_host(struct jtext url)
{
	const char *p = url.p, *end = url.p + url.n, *at = memmem(p, url.n, "://", 3);
	const char *stop;

	p = at ? at + 3 : p;
	for (stop = p; stop < end && !strchr("/?#:", *stop);)
		stop++;
	return (struct jtext){ p, (uint32_t)(stop - p) };
}

static size_t follow_request(struct hosts *t, const struct journal_entry *e)
{
	const struct journal_REQUEST *x = &e->record->REQUEST;
	const struct host_number *number = &t->numbers[x->connection % HOSTS_NUMBERS];
	size_t host = number->host && number->number == x->connection ? number->host : 0;

	if (!host && x->url.n)
		host = host_get(t, url_host(x->url), 0, text_of("http"), e->seq);
	if (!text_equals(x->decision, "ask"))
		*count_of(t, host,
			  text_equals(x->decision, "deny") ? HOST_REQUESTS_DENIED
							   : HOST_REQUESTS) += 1;
	return host;
}

size_t hosts_follow(struct hosts *t, const struct journal_entry *e)
{
	size_t host;

	switch (e->kind) {
	case J_START:
		t->nopen = 0;
		memset(t->numbers, 0, HOSTS_NUMBERS * sizeof(*t->numbers));
		return 0;
	case J_NAME:
		host = host_get(t, e->record->NAME.name, 0, text_of("dns"), e->seq);
		*count_of(t, host, HOST_LOOKUPS) += 1;
		if (text_equals(e->record->NAME.decision, "deny"))
			*count_of(t, host, HOST_DENIED) += 1;
		return host;
	case J_CONNECT:
		return follow_connect(t, e);
	case J_CLOSE:
		return follow_close(t, e);
	case J_REQUEST:
		return follow_request(t, e);
	default:
		return 0;
	}
}
