/* What the gate says that happened, made into events.
 *
 * The gate may have been broken into. Of a note only known members count, each is checked, and the
 * event is written anew. Denials come at a bounded rate; those in between are counted. Of uses,
 * each is told once, and no more than SEEN_MAX in the life of a cell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "base/seen.h"
#include "base/utf8.h"
#include "keeper/gate.h"
#include "policy/address.h"
#include "store/useslog.h"

#define DENIALS_BURST 50
#define DENIALS_EVERY (2 * NSEC_PER_SEC)

static uint64_t lost; /* denials that no event tells of */
static int64_t denials_from;
static struct seen uses; /* that were told */

/* ---- members ---- */

/* Adds a member if there is room for it and for what ends the object. */
static void member_add(struct buf *b, const char *name, const char *text)
{
	size_t len = b->len;

	if (!text)
		return;
	json_member_text(b, name, text);
	if (b->len + 2 > KEEP_TEXT)
		b->len = len;
}

/* The same with a text of the cell's: one line of max bytes at most. */
static void member_clean(struct buf *b, const struct json *from, const char *name, size_t max)
{
	const char *text = json_get_text(from, name);
	char line[256];

	if (!text)
		return;
	text_clean(text, strlen(text), line, MIN(max, sizeof(line)));
	member_add(b, name, line);
}

static bool name_is_good(const char *s)
{
	size_t n = strlen(s);

	return n && n < 254 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == n;
}

/* Where to: false if it is nowhere. */
static bool place_add(struct buf *b, const struct json *from)
{
	const char *name = json_get_text(from, "name"), *address = json_get_text(from, "address");
	const char *protocol = json_get_text(from, "protocol");
	struct ip a;
	uint64_t port;

	name = name && name_is_good(name) ? name : NULL;
	address = address && ip_parse(address, &a) ? address : NULL;
	member_add(b, "name", name);
	member_add(b, "address", address);
	if (json_get_u64(from, "port", &port) && port && port <= UINT16_MAX)
		json_member_number(b, "port", port);
	if (protocol &&
	    (!strcmp(protocol, "web") || !strcmp(protocol, "tcp") || !strcmp(protocol, "udp")))
		member_add(b, "protocol", protocol);
	return name || address;
}

/* ---- kinds ---- */

static void denial_take(const struct json *note)
{
	int64_t now = clock_mono();
	struct buf b = { 0 };

	denials_from = MAX(denials_from, now - DENIALS_BURST * DENIALS_EVERY);
	if (denials_from + DENIALS_EVERY > now) {
		lost++;
		return;
	}
	denials_from += DENIALS_EVERY;
	buf_add_text(&b, "{");
	(void)place_add(&b, note);
	member_clean(&b, note, "reason", 160);
	member_clean(&b, note, "program", 120);
	member_clean(&b, note, "rule", 160);
	member_clean(&b, note, "method", 24);
	member_clean(&b, note, "path", 120);
	buf_add_text(&b, "}");
	event_add(KEEP_EV_DENIED, NULL, (int)MIN(lost, (uint64_t)INT32_MAX), 0, (const char *)b.p);
	lost = 0;
	buf_free(&b);
}

static void use_take(const struct json *note, bool name_only)
{
	const char *tls = json_get_text(note, "tls");
	struct buf b = { 0 };
	bool good;

	buf_add_text(&b, "{");
	good = place_add(&b, note);
	if (!name_only) {
		if (json_get(note, "audit", JSON_BOOL) &&
		    !strcmp(json_get(note, "audit", JSON_BOOL)->text, "true"))
			json_member_add(&b, "audit", "true");
		member_add(&b, "tls", tls && !strcmp(tls, "any") ? tls : NULL);
		member_clean(&b, note, "method", 24);
		member_clean(&b, note, "path", 160);
	}
	buf_add_text(&b, "}");
	if (good && seen_add(&uses, b.p, b.len)) {
		event_add(KEEP_EV_USE, NULL, uses.n == SEEN_MAX, 0, (const char *)b.p);
		/* No vivd need be there to hear it. */
		if (keeper.rootfs && keeper.rootfs->kept && !keeper.detached)
			useslog_add(&keeper.rootfs->disk, (const char *)b.p);
	}
	buf_free(&b);
}

void gate_note(const char *json, size_t n)
{
	struct json_doc d;
	struct err e;
	const char *kind;
	uint64_t count;

	if (json_parse(&d, json, n, &e) < 0)
		return;
	kind = json_get_text(d.root, "kind");
	if (kind && !strcmp(kind, "denial"))
		denial_take(d.root);
	else if (kind && (!strcmp(kind, "use") || !strcmp(kind, "name")))
		use_take(d.root, *kind == 'n');
	else if (kind && !strcmp(kind, "lost") && json_get_u64(d.root, "count", &count))
		lost += MIN(count, (uint64_t)INT32_MAX);
	json_free(&d);
}
