/* viv-journal touched, blame, timeline, diff and export: the questions that a journal answers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "journal/blame.h"
#include "journal/export.h"
#include "journal/filter.h"
#include "journal/journal.h"
#include "journal/show.h"
#include "journal/story.h"
#include "journal/touched.h"
#include "journal/verbs.h"

/* A journal that is asked: what is damaged or missing is reported, and the answer is of the rest.
 */
struct asked {
	int dir;
	struct filter filter; /* of --since and --until */
	struct journal_reader *reader;
	uint64_t last; /* records after it do not count */
	int status; /* of what was reported */
	char told[sizeof(((struct err *)0)->message)];
};

/* The beginning of each verb: takes the options out of argv, which then has the journal's directory
 * and as many more words as the verb wants, fills the filter with --since and --until, and opens
 * the directory. 0, or the status to return. */
static int asked_init(struct asked *a, int argc, char **argv, const struct word_opt *opts,
		      unsigned nopts, int nwords, const char *wants)
{
	struct err e;
	int n;

	*a = (struct asked){ .dir = -1, .last = UINT64_MAX };
	n = words_take(argc, argv, opts, nopts, &e);
	if (n < 0)
		return report(&e);
	filter_init(&a->filter);
	for (unsigned i = 0; i < nopts; i++)
		if (opts[i].value && *opts[i].value &&
		    ((!strcmp(opts[i].name, "since") &&
		      filter_since(&a->filter, *opts[i].value, &e) < 0) ||
		     (!strcmp(opts[i].name, "until") &&
		      filter_until(&a->filter, *opts[i].value, &e) < 0)))
			return report(&e);
	if (n != nwords)
		return fail(ERR_USAGE, "%s needed", wants);
	a->dir = journal_dir_open(argv[0], &e);
	return a->dir < 0 ? report(&e) : 0;
}

static void asked_fini(struct asked *a)
{
	journal_reader_free(a->reader);
	close(a->dir);
}

static int asked_begin(struct asked *a, uint64_t from)
{
	struct err e;

	if (a->reader)
		journal_reader_free(a->reader);
	a->reader = NULL;
	a->told[0] = 0;
	if (journal_reader_new(a->dir, from, &a->reader, &e) == 0)
		return 0;
	a->reader = NULL;
	return report(&e);
}

static bool asked_next(struct asked *a, struct journal_entry *j)
{
	struct err e;
	int rc;

	while ((rc = journal_reader_next(a->reader, j, &e)) < 0) {
		/* Told again: nothing more comes. */
		if (!strcmp(a->told, e.message))
			return false;
		memcpy(a->told, e.message, sizeof(a->told));
		a->status = report(&e);
	}
	return rc > 0 && j->seq <= a->last;
}

/* ---- touched ---- */

static int touched_ask(struct asked *a, const struct filter *f, bool json, bool all)
{
	static struct touched t;
	struct journal_entry j;
	uint64_t from = MAX(f->first, 1);
	bool begun = false;

	/* The first record names the cell. */
	touched_init(&t);
	a->last = f->last;
	if (asked_begin(a, 1)) {
		touched_fini(&t);
		return a->status ? a->status : 1;
	}
	if (from > 1) {
		if (asked_next(a, &j))
			touched_before(&t, &j);
		if (asked_begin(a, from)) {
			touched_fini(&t);
			return 1;
		}
	}
	if (f->earliest > INT64_MIN || f->latest < INT64_MAX)
		journal_reader_range(a->reader, f->earliest, f->latest);
	while (asked_next(a, &j)) {
		/* Between the two, records count whose clock was set: they are of that time. */
		begun = begun || (j.seq >= from && j.wall >= f->earliest);
		if (!begun)
			touched_before(&t, &j);
		else if (j.wall <= f->latest)
			touched_follow(&t, &j);
	}
	if (json)
		touched_json(&t, stdout);
	else
		touched_show(&t, stdout, all);
	touched_fini(&t);
	return a->status;
}

int verb_touched(int argc, char **argv)
{
	const char *since = NULL, *until = NULL;
	bool json = false, all = false;
	const struct word_opt opts[] = { { "since", &since, NULL },
					 { "until", &until, NULL },
					 { "json", NULL, &json },
					 { "all", NULL, &all } };
	struct asked a;
	int status = asked_init(&a, argc, argv, opts, ARRAY_LEN(opts), 1, "one directory is");

	if (status)
		return status;
	status = touched_ask(&a, &a.filter, json, all);
	asked_fini(&a);
	return status;
}

/* ---- diff ---- */

/* The record of a snapshot: the last one of that name; "start" and "end" are the ends of it. */
static int snapshot_find(struct asked *a, const char *name, uint64_t *seq)
{
	struct journal_entry j;

	*seq = 0;
	if (!strcmp(name, "end") || !strcmp(name, "now")) {
		*seq = UINT64_MAX;
		return 0;
	}
	if (!strcmp(name, "start"))
		return 0;
	if (number_parse(name, seq))
		return 0;
	if (asked_begin(a, 1))
		return 1;
	while (asked_next(a, &j))
		if (j.kind == J_OPERATOR && text_equals(j.record->OPERATOR.action, "snapshot") &&
		    text_equals(j.record->OPERATOR.detail, name))
			*seq = j.seq;
	if (*seq)
		return 0;
	return fail(ERR_NOT_FOUND,
		    "the journal has no snapshot '%s'" REMEDY
		    "'viv journal CELL --kind operator' lists them; 'start', 'end' and numbers of "
		    "records can be given as well",
		    name);
}

int verb_diff(int argc, char **argv)
{
	bool json = false, all = false;
	const struct word_opt opts[] = { { "json", NULL, &json }, { "all", NULL, &all } };
	struct asked a;
	uint64_t from, to;
	int status = asked_init(&a, argc, argv, opts, ARRAY_LEN(opts), 3,
				"a directory and two snapshots are");

	if (status)
		return status;
	status = snapshot_find(&a, argv[1], &from);
	if (!status)
		status = snapshot_find(&a, argv[2], &to);
	if (!status && from > to)
		status = fail(ERR_USAGE, "'%s' is after '%s'" REMEDY "give the earlier one first",
			      argv[1], argv[2]);
	if (!status) {
		struct filter *f = &a.filter;

		/* What the snapshot holds is what came before its record. */
		f->first = from == UINT64_MAX ? from : from + 1;
		f->last = to == UINT64_MAX ? to : to - (to ? 1 : 0);
		status = touched_ask(&a, f, json, all);
	}
	asked_fini(&a);
	return status;
}

/* ---- blame ---- */

int verb_blame(int argc, char **argv)
{
	bool json = false, all = false;
	const struct word_opt opts[] = { { "json", NULL, &json }, { "all", NULL, &all } };
	static struct blame b;
	struct journal_entry j;
	struct asked a;
	int status =
		asked_init(&a, argc, argv, opts, ARRAY_LEN(opts), 2, "a directory and a path are");

	if (status)
		return status;
	if (argv[1][0] != '/') {
		asked_fini(&a);
		return fail(ERR_USAGE,
			    "'%s' is not a path from the root of the cell" REMEDY
			    "write it as '/%s' or with the directory that it is in",
			    argv[1], argv[1]);
	}
	blame_init(&b, argv[1], all);
	status = asked_begin(&a, 1);
	while (!status && asked_next(&a, &j))
		blame_files(&b, &j);
	if (!status && blame_find(&b)) {
		status = asked_begin(&a, 1);
		while (!status && asked_next(&a, &j) && blame_processes(&b, &j))
			;
		blame_settle(&b);
	}
	if (!status) {
		status = a.status;
		if (json)
			blame_json(&b, stdout);
		else if (b.name)
			blame_show(&b, stdout);
		else
			status = fail(ERR_NOT_FOUND,
				      "the journal does not know '%s': no process touched it" REMEDY
				      "'viv touched CELL --all' lists what was",
				      argv[1]);
	}
	blame_fini(&b);
	asked_fini(&a);
	return status;
}

/* ---- timeline ---- */

static int page_write(const struct story *s, const char *path)
{
	FILE *to = fopen(path, "we");
	bool bad;

	if (!to)
		return fail(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
	timeline_html(s, to);
	bad = ferror(to);
	if (fclose(to) || bad)
		return fail(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

int verb_timeline(int argc, char **argv)
{
	const char *html = NULL, *since = NULL, *until = NULL;
	bool json = false; /* of errors */
	const struct word_opt opts[] = { { "html", &html, NULL },
					 { "since", &since, NULL },
					 { "until", &until, NULL },
					 { "json", NULL, &json } };
	static struct story s;
	struct journal_entry j;
	struct asked a;
	int status = asked_init(&a, argc, argv, opts, ARRAY_LEN(opts), 1, "one directory is");
	const struct filter *f = &a.filter;

	if (status)
		return status;
	story_init(&s);
	a.last = f->last;
	status = asked_begin(&a, 1);
	/* Once it has begun, the story keeps what it knows of processes. */
	if (!status)
		journal_reader_seek(a.reader, &(struct journal_seek){ .first = f->first,
								      .earliest = f->earliest,
								      .latest = INT64_MAX,
								      .once = true,
								      .table = story_table,
								      .arg = &s });
	while (!status && asked_next(&a, &j))
		if (j.seq >= f->first && j.wall >= f->earliest && j.wall <= f->latest)
			story_follow(&s, &j);
		else
			story_before(&s, &j);
	if (!status) {
		story_end(&s);
		status = a.status;
		if (html && strcmp(html, "-") != 0)
			status = page_write(&s, html) ? 1 : status;
		else if (html)
			timeline_html(&s, stdout);
		else if (json)
			timeline_json(&s, stdout);
		else
			timeline_show(&s, stdout);
	}
	story_fini(&s);
	asked_fini(&a);
	return status;
}

/* ---- export ---- */

int verb_export(int argc, char **argv)
{
	const char *format = "ndjson", *url = NULL, *since = NULL, *until = NULL;
	bool json; /* it is JSON in any case */
	const struct word_opt opts[] = { { "format", &format, NULL },
					 { "json", NULL, &json },
					 { "to", &url, NULL },
					 { "since", &since, NULL },
					 { "until", &until, NULL } };
	const struct export_format *x;
	static struct exporter out;
	struct journal_entry j;
	struct asked a;
	struct err e;
	int status = asked_init(&a, argc, argv, opts, ARRAY_LEN(opts), 1, "one directory is"),
	    rc = 0;

	if (status)
		return status;
	x = export_find(format);
	if (!x) {
		asked_fini(&a);
		return fail(ERR_USAGE, "unknown format '%s'" REMEDY "use ndjson, ocsf or otlp",
			    format);
	}
	exporter_init(&out, x, stdout, url);
	a.last = a.filter.last;
	status = asked_begin(&a, 1);
	if (!status && x->seeks)
		journal_reader_seek(a.reader, &(struct journal_seek){ .first = a.filter.first,
								      .earliest = a.filter.earliest,
								      .latest = a.filter.latest,
								      .table = exporter_table,
								      .arg = &out });
	while (!status && !rc && asked_next(&a, &j))
		rc = exporter_follow(&out, x, &j, filter_takes(&a.filter, &j, (struct jtext){ 0 }),
				     &e);
	if (!status && !rc)
		rc = exporter_end(&out, x, &e);
	if (!status)
		status = rc ? report(&e) : a.status;
	exporter_fini(&out);
	asked_fini(&a);
	return status;
}
