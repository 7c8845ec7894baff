/* Workflow files, as anybody may write them, and what their steps print, as any cell may. A file
 * that is read is bounded, and its run ends: leaves give what follows the first byte 0xff of the
 * input, piece by piece, and expressions that are no path give such a piece as well. */
/* objects: src/daemon/workflows/def.c src/daemon/workflows/steps.c src/daemon/workflows/value.c src/daemon/workflows/expr.c src/daemon/workflows/inputs.c src/daemon/workflows/tree.c src/daemon/workflows/engine.c src/daemon/yaml/yaml.c src/daemon/yaml/yvars.c src/daemon/yaml/yschema.c src/daemon/projects/keys.c src/daemon/automation/keys.c src/daemon/schedules/cronexpr.c src/daemon/schedules/tzif.c src/daemon/schedules/when.c src/daemon/projects/file.c src/daemon/cells/cellspec.c src/daemon/cells/cellstate.c src/daemon/state/fields.c src/policy/address.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/spec/args.c src/spec/json.c src/spec/settings.c src/spec/hosts.c src/spec/mounts.c src/spec/ports.c src/spec/envfile.c src/spec/ulimits.c src/spec/values.c src/base/json.c src/base/jsontext.c src/base/limit.c src/store/disk.c src/store/disktree.c src/store/chain.c src/store/collect.c src/store/files.c src/base/crc32c.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c */
/* libraries: -lyaml -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/def.h"
#include "daemon/workflows/engine.h"
#include "fuzz.h"

const char fuzz_name[] = "workflow";
const size_t fuzz_max = 4096;

#define ROUNDS 3000 /* of events, then it is cancelled */
#define PIECE 24

static const uint8_t *given;
static size_t ngiven;
static bool over, later;

/* The nodes for which something is to be done, and the lists of expressions. */
static struct event {
	struct wf_node *n;
	json_t *exprs;
	bool timer;
} events[WF_STEPS_MAX + 1];
static unsigned nevents;

void fuzz_init(void)
{
}

/* The next piece, as the output of a command is read: JSON if it is, else a text. */
static json_t *piece(void)
{
	size_t n = ngiven < PIECE ? ngiven : PIECE;
	json_t *v = json_loadb((const char *)given, n, JSON_DECODE_ANY, NULL);
	char text[PIECE + 1];

	for (size_t i = 0; i < n; i++)
		text[i] = given[i] < 128 && given[i] ? (char)given[i] : '?';
	text[n] = '\0';
	given += n;
	ngiven -= n;
	return v ? v : json_string(text);
}

static void events_drop(struct wf_node *n, bool timer)
{
	for (unsigned i = 0; i < nevents; i++)
		if (events[i].n == n && events[i].timer == timer) {
			json_decref(events[i].exprs);
			events[i--] = events[--nevents];
		}
}

static void op_begin(struct wf_run *r)
{
	(void)r;
}

static int op_end(struct wf_run *r)
{
	(void)r;
	return 0;
}

static void op_node(struct wf_node *n)
{
	FUZZ_CHECK(n->n <= WF_STEPS_MAX && strlen(n->path) < 1024 && n->state < WF_STATES);
}

static void op_run(struct wf_run *r)
{
	FUZZ_CHECK(r->state < WF_RUN_STATES);
}

static void op_told(struct wf_run *r, const struct wf_node *n, const char *what)
{
	(void)r;
	(void)n;
	(void)what;
}

static void op_evaluate(struct wf_node *n, json_t *context, json_t *exprs)
{
	json_decref(context);
	n->work_of = n;
	events[nevents++] = (struct event){ n, exprs, false };
}

static void op_start(struct wf_node *n)
{
	FUZZ_CHECK(n->state == WF_RUNNING && json_is_object(n->args));
	if (n->work_of)
		return;
	n->work_of = n;
	events[nevents++] = (struct event){ n, NULL, false };
}

static void op_stop(struct wf_node *n)
{
	events_drop(n, false);
	n->work_of = NULL;
}

static void op_timer(struct wf_node *n, int64_t at)
{
	events_drop(n, true);
	n->timer = at ? n : NULL;
	if (at)
		events[nevents++] = (struct event){ n, NULL, true };
}

static void op_later(struct wf_run *r)
{
	(void)r;
	later = true;
}

static void op_over(struct wf_run *r)
{
	(void)r;
	over = true;
}

static int64_t op_now(struct wf_run *r)
{
	static int64_t now;

	(void)r;
	return ++now;
}

static const struct wf_ops ops = { .begin = op_begin,
				   .end = op_end,
				   .save = op_node,
				   .save_run = op_run,
				   .attempt = op_node,
				   .told = op_told,
				   .evaluate = op_evaluate,
				   .start = op_start,
				   .stop = op_stop,
				   .timer = op_timer,
				   .later = op_later,
				   .over = op_over,
				   .now = op_now };

static void event_do(struct event e)
{
	struct err err;

	if (e.timer) {
		e.n->timer = NULL;
		wf_timer(e.n);
		return;
	}
	e.n->work_of = NULL;
	if (e.exprs) {
		json_t *values = json_array();

		for (size_t i = 0; i < json_array_size(e.exprs); i++)
			json_array_append_new(values, piece());
		json_decref(e.exprs);
		wf_evaluated(e.n, values, NULL);
	} else if (ngiven && given[0] % 8 == 0) {
		err_note(&err, ERR_FAILED, "as it happens");
		wf_failed(e.n, json_pack("{s:o}", "output", piece()), &err, given[0] % 16 == 0);
	} else {
		wf_finished(e.n, json_pack("{s:o}", "output", piece()));
	}
}

static void run(json_t *doc)
{
	struct wf_run *r = wf_run_new(&ops, NULL, "fuzz", doc, json_object());

	nevents = 0;
	over = later = false;
	wf_begin(r);
	for (unsigned i = 0; i < ROUNDS && !over; i++) {
		struct event e;

		if (later) {
			later = false;
			wf_go_on(r);
			continue;
		}
		FUZZ_CHECK(nevents > 0 && nevents <= WF_STEPS_MAX);
		e = events[--nevents];
		event_do(e);
	}
	if (!over)
		wf_cancel(r, true);
	if (!over)
		wf_cancel(r, false);
	for (unsigned i = 0; i < 1000 && later && !over; i++) {
		later = false;
		wf_go_on(r);
	}
	FUZZ_CHECK(over && wf_run_is_over(r) && !nevents);
	wf_run_free(r);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0xff, size);
	struct def_input in = { .text = (const char *)data,
				.size = end ? (size_t)(end - data) : size,
				.file = "w.yaml" };
	struct err e = { 0 };
	json_t *doc = def_read(&in, &e);

	FUZZ_CHECK(doc ? !e.kind : e.kind && e.message[0]);
	if (!doc)
		return;
	given = data + in.size + (end != NULL);
	ngiven = size - in.size - (end != NULL);
	run(doc);
}
