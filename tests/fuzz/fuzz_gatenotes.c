/* What a gate that was broken into tells its keeper: every event that becomes of it is an object of
 * JSON in a bounded line, and what is learnt from it is a policy of single hosts. */
/* objects: src/keeper/gatenotes.c src/policy/address.c src/policy/compile.c src/policy/compiled.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/learn.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/policy/query.c src/base/buf.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/seen.c src/base/siphash.c src/base/utf8.c src/base/log.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "keeper/gate.h"
#include "policy/learn.h"
#include "policy/policy.h"
#include "store/useslog.h"

const char fuzz_name[] = "gatenotes";
const size_t fuzz_max = GATECTL_BYTES;

struct keeper keeper;
static struct learn learn;
static int64_t now;

void fuzz_init(void)
{
}

int64_t clock_mono(void)
{
	return now += NSEC_PER_SEC;
}

void useslog_add(const struct disk *d, const char *line)
{
	(void)d, (void)line;
}

void event_add(enum keep_event_kind kind, const struct kproc *p, int a, int b, const char *text)
{
	struct json_doc d;
	struct err e;

	(void)p, (void)b;
	FUZZ_CHECK(a >= 0 && strlen(text) < KEEP_TEXT);
	FUZZ_CHECK(json_parse(&d, text, strlen(text), &e) == 0 && d.root->type == JSON_OBJECT);
	json_free(&d);
	if (kind == KEEP_EV_USE)
		learn_add(&learn, text, strlen(text));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };
	struct policy p;
	struct err e;

	learn_init(&learn);
	/* As an event, and as a record itself. */
	gate_note((const char *)data, size);
	learn_add(&learn, (const char *)data, size);
	learn_write(&learn, &text);
	policy_init(&p);
	FUZZ_CHECK(policy_parse(&p, (const char *)text.p, text.len, "l", 1, 1, &e) == 0);
	for (unsigned i = 0; i < policy_count(&p); i++)
		FUZZ_CHECK(policy_rule(&p, i)->verdict == VERDICT_ALLOW &&
			   (policy_rule(&p, i)->net.kind == DEST_NAME ||
			    policy_rule(&p, i)->net.range.prefix == 128));
	policy_fini(&p);
	buf_free(&text);
	learn_fini(&learn);
}
