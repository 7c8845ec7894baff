/* /v1/cells/{cell}/journal: reading a journal. viv-journal does it in a process of its own: what is
 * in a journal comes from a guest that may be hostile, and a long one takes a while. */
#include <stdlib.h>
#include <string.h>

#include "api/job.h"
#include "api/journals/private.h"
#include "api/page.h"
#include "api/http/text.h"
#include "api/routes.h"

#define PROGRAM "viv-journal"
#define PAGE_DEFAULT 100

static bool is_number(const char *text)
{
	uint64_t n;

	return text_number(text, INT64_MAX, &n);
}

/* A job with its first words: verb and directory. NULL: answered. */
static struct job *job_make(struct request *r, const struct journal_info *j, const char *verb,
			    const struct job_options *o)
{
	char path[4200];
	struct job *job;
	struct err e;

	if (journal_path(path, sizeof(path), j->id, &e) < 0) {
		reply_err(r, &e);
		return NULL;
	}
	job = job_new(r, o);
	if (job) {
		job_word(job, verb);
		job_word(job, path);
	}
	return job;
}

/* Adds --NAME=VALUE for what the query has. False: answered. A value stands behind '=', so that
 * nothing in it is an option. */
static bool query_pass(struct request *r, struct job *job, const char *name)
{
	bool bad = false;
	char *value = request_query_bytes(r, name, &bad), *word = NULL;

	if (value && asprintf(&word, "--%s=%s", name, value) >= 0)
		job_word(job, word);
	free(word);
	free(value);
	return !bad;
}

static bool query_true(struct request *r, const char *name, bool *ret)
{
	uint64_t n = 0;

	if (!request_query_number(r, name, 1, &n))
		return false;
	*ret = n;
	return true;
}

static void job_go(struct job *job, struct request *r, bool ok)
{
	if (ok)
		job_start(job, r);
	else
		job_drop(job);
}

/* ---- records ---- */

static const char *const filters[] = { "kind", "path", "process", "since", "until" };

static bool filters_pass(struct request *r, struct job *job)
{
	for (unsigned i = 0; i < ARRAY_LEN(filters); i++)
		if (!query_pass(r, job, filters[i]))
			return false;
	return true;
}

static void page_begin(struct request *r, const struct journal_info *j)
{
	static const struct job_options o = { .program = PROGRAM,
					      .answer = JOB_BYTES,
					      .type = "application/json",
					      .failed = ERR_INVALID };
	struct page page;
	struct job *job;
	char limit[24];

	if (!page_read(r, is_number, &page))
		return;
	job = job_make(r, j, "print", &o);
	if (job) {
		snprintf(limit, sizeof(limit), "%llu",
			 (unsigned long long)(page.limit ? page.limit : PAGE_DEFAULT));
		job_word(job, "--json");
		job_word(job, "--page");
		job_option(job, "--limit", limit);
		job_option(job, "--after", page.cursor);
		job_go(job, r, filters_pass(r, job));
	}
	page_free(&page);
}

static void stream_begin(struct request *r, bool sse, bool follow, const struct journal_info *j)
{
	struct job_options o = { .program = PROGRAM,
				 .answer = sse ? JOB_BYTES : JOB_LINES,
				 .type = "text/event-stream",
				 .stays = follow };
	const char *last = request_header(r, "Last-Event-ID");
	bool bad = false;
	char *cursor = request_query(r, "cursor", &bad);
	struct job *job = NULL;

	if (cursor && !is_number(cursor)) {
		reply_error(r, ERR_INVALID, "'cursor' is the number of a record");
		bad = true;
	}
	if (!bad)
		job = job_make(r, j, "print", &o);
	if (job) {
		job_word(job, "--json");
		job_word(job, sse ? "--sse" : "--json");
		if (follow) {
			job_word(job, "--follow");
			job_word(job, "--ping");
		}
		/* What a browser says when it comes back. */
		job_option(job, "--after", cursor ? cursor : last && is_number(last) ? last : NULL);
		job_go(job, r, filters_pass(r, job));
	}
	free(cursor);
}

static void records_begin(struct request *r, const struct journal_info *j)
{
	const char *accept = request_header(r, "Accept");
	bool sse = accept && strstr(accept, "text/event-stream");
	bool lines = accept && strstr(accept, "application/x-ndjson"), follow = false;

	if (!query_true(r, "follow", &follow))
		return;
	/* Events are a stream by themselves. */
	if (sse || lines || follow)
		stream_begin(r, sse, sse || follow, j);
	else
		page_begin(r, j);
}

void journal_get(struct request *r)
{
	static const char *const names[] = { "kind",  "path",	"process", "since", "until",
					     "limit", "cursor", "follow",  NULL };

	if (request_query_only(r, names))
		journal_find(r, records_begin);
}

/* ---- verifying ---- */

static void verify_begin(struct request *r, const struct journal_info *j)
{
	static const struct job_options o = {
		.program = PROGRAM, .answer = JOB_OBJECT, .status = 200, .verdict = true
	};
	static const struct field fields[] = { { "deep", FIELD_BOOL, false } };
	json_t *body = request_json(r, fields, ARRAY_LEN(fields));
	struct job *job = body ? job_make(r, j, "verify", &o) : NULL;
	struct journal_kept k;
	char head[120];

	if (job) {
		job_word(job, "--json");
		if (json_is_true(json_object_get(body, "deep")))
			job_word(job, "--deep");
		job_option(job, "--cell", j->id);
		head_take(r->d, j);
		if (head_kept(r->d, j->id, &k) && k.block) {
			snprintf(head, sizeof(head), "%llu:%s", (unsigned long long)k.block,
				 k.hash);
			job_option(job, "--head", head);
		}
		job_start(job, r);
	}
	json_decref(body);
}

void journal_verify_post(struct request *r)
{
	static const char *const names[] = { NULL };

	if (request_query_only(r, names))
		journal_find(r, verify_begin);
}

/* ---- questions ---- */

static void touched_begin(struct request *r, const struct journal_info *j)
{
	static const struct job_options o = { .program = PROGRAM,
					      .answer = JOB_BYTES,
					      .type = "application/json",
					      .failed = ERR_INVALID };
	struct job *job = job_make(r, j, "touched", &o);

	if (!job)
		return;
	job_word(job, "--json");
	job_go(job, r, query_pass(r, job, "since") && query_pass(r, job, "until"));
}

void journal_touched_get(struct request *r)
{
	static const char *const names[] = { "since", "until", NULL };

	if (request_query_only(r, names))
		journal_find(r, touched_begin);
}

static void blame_begin(struct request *r, const struct journal_info *j)
{
	static const struct job_options o = { .program = PROGRAM,
					      .answer = JOB_BYTES,
					      .type = "application/json" };
	bool bad = false, all = false;
	char *path = request_query_bytes(r, "path", &bad);
	struct job *job;

	if (bad || !query_true(r, "all", &all)) {
		free(path);
		return;
	}
	if (!path || path[0] != '/') {
		reply_error(r, ERR_INVALID, "'path' is the absolute path of a file in the cell");
		free(path);
		return;
	}
	job = job_make(r, j, "blame", &o);
	if (job) {
		job_word(job, "--json");
		if (all)
			job_word(job, "--all");
		job_word(job, "--");
		job_word(job, path);
		job_start(job, r);
	}
	free(path);
}

void journal_blame_get(struct request *r)
{
	static const char *const names[] = { "path", "all", NULL };

	if (request_query_only(r, names))
		journal_find(r, blame_begin);
}

static void timeline_begin(struct request *r, const struct journal_info *j)
{
	static const struct job_options o = { .program = PROGRAM,
					      .answer = JOB_BYTES,
					      .type = "text/html; charset=utf-8" };
	struct job *job = job_make(r, j, "timeline", &o);

	if (!job)
		return;
	job_word(job, "--json");
	job_word(job, "--html=-");
	job_go(job, r, query_pass(r, job, "since") && query_pass(r, job, "until"));
}

void journal_timeline_get(struct request *r)
{
	static const char *const names[] = { "since", "until", NULL };

	if (request_query_only(r, names))
		journal_find(r, timeline_begin);
}
