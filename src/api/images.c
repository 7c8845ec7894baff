/* /v1/images: what is read is read here; viv-store does all else (job.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/keys.h"
#include "api/http/server.h"
#include "api/job.h"
#include "api/page.h"
#include "api/routes.h"
#include "api/store.h"
#include "daemon/state/events.h"

bool request_store(struct request *r, struct store *s)
{
	struct err e;

	if (store_open(s, &e) == 0)
		return true;
	reply_err(r, &e);
	return false;
}

static bool cursor_is_valid(const char *cursor)
{
	return !strcmp(cursor, "host") || hash_is_valid(cursor);
}

/* 'host' is the first, and the others follow by their hashes. */
static bool is_on_page(const struct page *p, const char *hash)
{
	return !p->cursor || !strcmp(p->cursor, "host") || strcmp(hash, p->cursor) > 0;
}

void images_list(struct request *r)
{
	static const char *const allowed[] = { "limit", "cursor", NULL };
	char(*hashes)[HASH_TEXT] = NULL;
	struct tag *tags = NULL;
	size_t nhashes = 0, ntags = 0;
	json_t *out;
	struct page page;
	struct store s;
	struct err e;

	if (!request_query_only(r, allowed) || !page_read(r, cursor_is_valid, &page))
		return;
	if (!request_store(r, &s)) {
		page_free(&page);
		return;
	}
	if (image_list(&s, &hashes, &nhashes, &e) < 0 || tag_list(&s, &tags, &ntags, &e) < 0) {
		reply_err(r, &e);
	} else {
		out = json_pack("{s:[]}", "images");
		if (!page.cursor)
			page_add(&page, out, "images",
				 json_pack("{s:s,s:[s]}", "id", "host", "tags", "host"));
		for (size_t i = 0; i < nhashes; i++) {
			json_t *names;

			if (!is_on_page(&page, hashes[i]))
				continue;
			names = json_array();
			for (size_t j = 0; j < ntags; j++)
				if (!strcmp(tags[j].hash, hashes[i]))
					json_array_append_new(names, json_clean(tags[j].name));
			if (!page_add(&page, out, "images",
				      json_pack("{s:s,s:o}", "id", hashes[i], "tags", names)))
				break;
		}
		reply_json(r, 200, out);
	}
	free(hashes);
	free(tags);
	page_free(&page);
	store_close(&s);
}

/* ---- changes ---- */

static struct job *store_job(struct request *r, const struct job_options *o, const char *verb)
{
	struct job_options all = *o;
	struct job *j;

	all.program = "viv-store";
	j = job_new(r, &all);
	if (!j)
		return NULL;
	job_word(j, verb);
	job_word(j, "--json");
	job_word(j, "--progress");
	return j;
}

/* The image of the path is an argument, and no option. */
static void job_image(struct job *j, const struct request *r)
{
	job_word(j, "--");
	job_word(j, r->param[0]);
	job_note(j, "", r->param[0]);
}

void image_created(struct job *j, json_t *result)
{
	json_t *data = json_pack("{s:O*,s:O*,s:s*}", "id", json_object_get(result, "id"), "tag",
				 json_object_get(result, "tag"), "from",
				 job_cell(j)[0] ? job_cell(j) : NULL);

	event_add(job_daemon(j), "image.created", NULL, data);
}

/* What both ways of importing take, with the options of 'viv image import' for them. */
static const struct {
	const char *field, *option;
	bool number;
} import_fields[] = {
	{ "command", "--command", false },
	{ "tag", "--tag", false },
	{ "format", "--format", false },
	{ "ref", "--ref", false },
	{ "owner", "--owner", false },
	{ "max_size", "--max-size", true },
	{ "max_entries", "--max-entries", true },
};

/* From a path of the host. vivd reads what its own user may read, so nobody else may ask for it. */
void images_import_path(struct request *r)
{
	static const struct field fields[] = {
		{ "path", FIELD_TEXT, true },	   { "command", FIELD_TEXT, false },
		{ "tag", FIELD_TEXT, false },	   { "format", FIELD_TEXT, false },
		{ "ref", FIELD_TEXT, false },	   { "owner", FIELD_TEXT, false },
		{ "max_size", FIELD_INT, false },  { "max_entries", FIELD_INT, false },
		{ "progress", FIELD_BOOL, false },
	};
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	bool progress = json_is_true(json_object_get(o, "progress"));
	const struct job_options options = { .answer = progress ? JOB_PROGRESS : JOB_OBJECT,
					     .status = 201,
					     .failed = ERR_NOT_IMPORTED,
					     .done = image_created };
	const char *path = json_text(o, "path");
	struct job *j;

	if (!o)
		return;
	if (!request_is_owner(r)) {
		reply_error(r, ERR_FORBIDDEN,
			    "only vivd's own user, on its socket, can import from a path" REMEDY
			    "send the "
			    "archive with PUT /v1/images");
	} else if (*path != '/') {
		reply_error(r, ERR_INVALID, "'path' must be absolute");
	} else if ((progress || key_begin(r)) && (j = store_job(r, &options, "import"))) {
		for (unsigned i = 0; i < ARRAY_LEN(import_fields); i++) {
			const json_t *v = json_object_get(o, import_fields[i].field);
			char number[24];

			snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(v));
			if (v)
				job_option(j, import_fields[i].option,
					   import_fields[i].number ? number : json_string_value(v));
		}
		job_word(j, "--");
		job_word(j, path);
		job_start(j, r);
	}
	json_decref(o);
}

/* From the body of the request. */
void images_import(struct request *r)
{
	static const char *const names[] = { "command", "tag",	    "format",	   "ref",
					     "owner",	"max_size", "max_entries", NULL };
	static const struct job_options options = {
		.status = 201, .failed = ERR_NOT_IMPORTED, .upload = true, .done = image_created
	};
	struct job *j;
	bool bad = !request_query_only(r, names);
	char *format = bad ? NULL : request_query(r, "format", &bad);
	bool nix = format && !strcmp(format, "nix");

	free(format);
	/* A list of paths, which vivd would read. */
	if (!bad && nix && !request_is_owner(r))
		reply_error(r, ERR_FORBIDDEN,
			    "only vivd's own user, on its socket, can import Nix store paths");
	if (bad || r->response || !(j = store_job(r, &options, "import")))
		return;
	for (unsigned i = 0; i < ARRAY_LEN(import_fields) && !bad; i++) {
		char *v = request_query(r, import_fields[i].field, &bad);

		job_option(j, import_fields[i].option, v);
		free(v);
	}
	if (bad) {
		job_drop(j);
		return;
	}
	job_word(j, "--");
	job_word(j, "-");
	job_start(j, r);
}

/* Everywhere else in the API a hash is the image's id. */
static void inspected(struct job *j, json_t *result)
{
	(void)j;
	json_object_set(result, "id", json_object_get(result, "hash"));
	json_object_del(result, "hash");
}

void image_get(struct request *r)
{
	static const struct job_options options = { .status = 200, .done = inspected };
	struct job *j = store_job(r, &options, "inspect");

	if (!j)
		return;
	job_image(j, r);
	job_start(j, r);
}

void image_tar_get(struct request *r)
{
	static const char *const names[] = { "format", NULL };
	static const struct job_options options = { .answer = JOB_BYTES,
						    .type = "application/x-tar" };
	bool bad = !request_query_only(r, names);
	char *format = bad ? NULL : request_query(r, "format", &bad);
	struct job *j = NULL;

	if (format && strcmp(format, "tar") && strcmp(format, "oci-archive"))
		reply_error(r, ERR_INVALID, "'format' must be tar or oci-archive");
	else if (!bad)
		j = store_job(r, &options, "export");
	if (j) {
		job_option(j, "--format", format);
		job_image(j, r);
		job_start(j, r);
	}
	free(format);
}

static void tagged(struct job *j, json_t *result)
{
	event_add(job_daemon(j), "image.tagged", NULL,
		  json_pack("{s:O*,s:s}", "id", json_object_get(result, "id"), "tag", job_text(j)));
}

void image_tag_post(struct request *r)
{
	static const struct field fields[] = { { "tag", FIELD_TEXT, true } };
	static const struct job_options options = { .status = 200, .done = tagged };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	const char *tag = json_text(o, "tag");
	struct job *j;

	if (!o)
		return;
	if (!tag_is_valid(tag)) {
		reply_error(r, ERR_INVALID, "'%.200s' cannot be a tag", tag);
	} else if ((j = store_job(r, &options, "tag"))) {
		job_image(j, r);
		job_word(j, tag);
		job_note(j, "", tag);
		job_start(j, r);
	}
	json_decref(o);
}

static void removed(struct job *j, json_t *result)
{
	(void)result;
	event_add(job_daemon(j), "image.removed", NULL, json_pack("{s:s}", "image", job_text(j)));
}

void image_delete(struct request *r)
{
	static const char *const names[] = { "force", NULL };
	static const struct job_options options = { .status = 204, .done = removed };
	uint64_t force = 0;
	struct job *j;

	if (!request_query_only(r, names) || !request_query_number(r, "force", 1, &force) ||
	    !(j = store_job(r, &options, "rm")))
		return;
	if (force)
		job_word(j, "--force");
	job_image(j, r);
	job_start(j, r);
}

void images_collected(struct job *j, json_t *result)
{
	event_add(job_daemon(j), "image.collected", NULL, json_incref(result));
}

void images_gc(struct request *r)
{
	static const struct field fields[] = { { "untagged", FIELD_BOOL, false } };
	static const struct job_options options = { .status = 200, .done = images_collected };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct job *j = o ? store_job(r, &options, "gc") : NULL;

	if (j && json_is_true(json_object_get(o, "untagged")))
		job_word(j, "--untagged");
	if (j)
		job_start(j, r);
	json_decref(o);
}

static void verified(struct job *j, json_t *result)
{
	json_t *n = json_object_get(result, "repaired");

	if (json_integer_value(n) > 0)
		event_add(job_daemon(j), "image.repaired", NULL,
			  json_pack("{s:s*,s:O}", "image", job_text(j)[0] ? job_text(j) : NULL,
				    "objects", n));
}

/* Of the image in the path, or of the whole store. */
static void verify_begin(struct request *r, bool all)
{
	static const struct field fields[] = { { "repair", FIELD_BOOL, false },
					       { "progress", FIELD_BOOL, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	bool progress = json_is_true(json_object_get(o, "progress"));
	const struct job_options options = { .answer = progress ? JOB_PROGRESS : JOB_OBJECT,
					     .status = 200,
					     .verdict = true,
					     .done = verified };
	struct job *j = o ? store_job(r, &options, "verify") : NULL;

	if (j && json_is_true(json_object_get(o, "repair")))
		job_word(j, "--repair");
	if (j && !all)
		job_image(j, r);
	if (j)
		job_start(j, r);
	json_decref(o);
}

void image_verify_post(struct request *r)
{
	verify_begin(r, false);
}

void images_verify_post(struct request *r)
{
	verify_begin(r, true);
}
