/* What viv-keeper does with the disk of a named cell, running or not (job.h, keeper/disk/tool.h):
 * differences, a check, an image of it. */
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/http/keys.h"
#include "api/job.h"
#include "api/routes.h"
#include "api/store.h"
#include "keeper/named.h"

static struct job *disk_job(struct request *r, const struct job_options *o, const char *verb)
{
	struct job_options all = *o;
	struct job *j;

	all.program = "viv-keeper";
	j = job_new(r, &all);
	if (j)
		job_word(j, verb);
	return j;
}

/* A snapshot may be missing, but has to be a name. False: answered. */
static bool snapshot_check(struct request *r, const char *name)
{
	struct err e;

	if (!name || name_check("snapshot", name, &e) == 0)
		return true;
	reply_err(r, &e);
	return false;
}

static void job_ref(struct job *j, const struct cell *c, const char *snapshot)
{
	job_word(j, c->name);
	job_word(j, snapshot ? snapshot : "");
}

/* ---- differences ---- */

struct diff_query {
	char *snapshot, *to, *to_snapshot, *format;
};

static bool diff_query_read(struct request *r, struct diff_query *q)
{
	static const char *const names[] = { "snapshot", "to", "to_snapshot", "format", NULL };
	bool bad = !request_query_only(r, names);

	q->snapshot = bad ? NULL : request_query(r, "snapshot", &bad);
	q->to = bad ? NULL : request_query(r, "to", &bad);
	q->to_snapshot = bad ? NULL : request_query(r, "to_snapshot", &bad);
	q->format = bad ? NULL : request_query(r, "format", &bad);
	if (bad || !snapshot_check(r, q->snapshot) || !snapshot_check(r, q->to_snapshot))
		return false;
	if (q->format && strcmp(q->format, "list") != 0 && strcmp(q->format, "patch") != 0) {
		reply_error(r, ERR_INVALID, "'format' is list or patch");
		return false;
	}
	return true;
}

static void diff_begin(struct request *r, const struct cell *c, const struct diff_query *q)
{
	bool patch = q->format && !strcmp(q->format, "patch");
	const struct job_options o = { .answer = patch ? JOB_BYTES : JOB_LINES,
				       .type = "text/x-diff" };
	const struct cell *to = q->to ? request_kept_named(r, q->to) : c;
	struct job *j;

	if (!to || !(j = disk_job(r, &o, "diff")))
		return;
	job_word(j, patch ? "patch" : "list");
	job_ref(j, c, q->snapshot);
	if (q->to || q->to_snapshot)
		job_ref(j, to, q->to_snapshot);
	job_start(j, r);
}

void cell_diff_get(struct request *r)
{
	struct cell *c = request_kept(r);
	struct diff_query q = { 0 };

	if (c && diff_query_read(r, &q))
		diff_begin(r, c, &q);
	free(q.snapshot);
	free(q.to);
	free(q.to_snapshot);
	free(q.format);
}

/* ---- an image of it ---- */

#define LABELS_MAX 64
#define LABELS_BYTES 16384

/* As lines of K=V, which the importer takes. False: answered. */
static bool labels_read(struct request *r, const json_t *labels, struct buf *to)
{
	const char *key;
	json_t *value;

	if (json_object_size(labels) > LABELS_MAX) {
		reply_error(r, ERR_INVALID, "an image gets at most %d labels", LABELS_MAX);
		return false;
	}
	json_object_foreach((json_t *)(uintptr_t)labels, key, value) {
		const char *text = json_string_value(value);

		if (!*key || strpbrk(key, "=\r\n") || strpbrk(text, "\r\n")) {
			reply_error(r, ERR_INVALID,
				    "a label has a name without '=', and both are one line");
			return false;
		}
		buf_add_text(to, to->len ? "\n" : "");
		buf_add_text(to, key);
		buf_add_text(to, "=");
		buf_add_text(to, text);
		if (to->len > LABELS_BYTES) {
			reply_error(r, ERR_INVALID, "the labels have more than %d bytes",
				    LABELS_BYTES);
			return false;
		}
	}
	return true;
}

void cell_commit_post(struct request *r)
{
	static const struct field fields[] = { { "tag", FIELD_TEXT, true },
					       { "snapshot", FIELD_TEXT, false },
					       { "labels", FIELD_MAP, false },
					       { "progress", FIELD_BOOL, false } };
	struct cell *c = request_kept(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	bool progress = json_is_true(json_object_get(o, "progress"));
	const struct job_options options = { .answer = progress ? JOB_PROGRESS : JOB_OBJECT,
					     .status = 201,
					     .done = image_created };
	const char *snapshot = json_text(o, "snapshot"), *tag = json_text(o, "tag");
	struct buf labels = { 0 };
	struct job *j;

	if (!o)
		return;
	if (!tag_is_valid(tag)) {
		reply_error(r, ERR_INVALID, "'%.200s' cannot be a tag", tag);
	} else if (snapshot_check(r, snapshot) &&
		   labels_read(r, json_object_get(o, "labels"), &labels) &&
		   (progress || key_begin(r)) && (j = disk_job(r, &options, "commit"))) {
		job_note(j, c->id, tag);
		job_ref(j, c, snapshot);
		job_word(j, tag);
		if (labels.len)
			job_word(j, (char *)labels.p);
		job_start(j, r);
	}
	buf_free(&labels);
	json_decref(o);
}

/* ---- a check ---- */

void cell_verify_post(struct request *r)
{
	static const struct field fields[] = { { "snapshot", FIELD_TEXT, false } };
	static const struct job_options options = { .status = 200, .verdict = true };
	struct cell *c = request_kept(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct job *j;

	if (!o)
		return;
	if (snapshot_check(r, json_text(o, "snapshot")) && (j = disk_job(r, &options, "verify"))) {
		job_ref(j, c, json_text(o, "snapshot"));
		job_start(j, r);
	}
	json_decref(o);
}
