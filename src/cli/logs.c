/* viv logs and start --attach: kept output, as vivd tells it line by line (api/exec/logs.c), split
 * again into the two streams. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "cli/args.h"
#include "cli/attach.h"
#include "cli/cells.h"
#include "cli/target.h"
#include "cli/vivd.h"

struct reader {
	bool times, json;
	bool in_line[2]; /* by stream: the last byte was no line end */
};

static void bytes_show(struct reader *r, bool err, const char *bytes, size_t len, const char *time)
{
	FILE *to = err ? stderr : stdout;

	for (size_t at = 0; at < len;) {
		const char *nl = r->times ? memchr(bytes + at, '\n', len - at) : NULL;
		size_t n = nl ? (size_t)(nl - bytes) + 1 - at : len - at;

		if (r->times && !r->in_line[err])
			fprintf(to, "%s ", time);
		fwrite(bytes + at, 1, n, to);
		r->in_line[err] = !nl;
		at += n;
	}
	fflush(to);
}

static int record_show(void *arg, const char *line, size_t size)
{
	struct reader *r = arg;
	const struct json *coded, *text;
	struct json_doc d;
	struct err e;
	bool err;

	if (r->json) {
		printf("%s\n", line);
		return fflush(stdout) ? 1 : 0;
	}
	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	err = !strcmp(json_show(d.root, "stream"), "stderr");
	coded = json_get(d.root, "base64", JSON_TEXT);
	text = json_get(d.root, "text", JSON_TEXT);
	if (coded) {
		ssize_t n = base64_decode(coded->text, coded->text, strlen(coded->text));

		bytes_show(r, err, coded->text, (size_t)MAX(n, 0), json_show(d.root, "time"));
	} else if (text) {
		bytes_show(r, err, text->text, strlen(text->text), json_show(d.root, "time"));
	}
	json_free(&d);
	return ferror(err ? stderr : stdout) ? 1 : 0;
}

static int logs_show(const struct target *t, struct reader *r, const char *query, struct err *e)
{
	char tail[256];

	snprintf(tail, sizeof(tail), "/logs?proc=%u%s", t->proc, query);
	return vivd_stream("GET", cell_path(t->cell, tail).str, NULL, record_show, r, e);
}

/* A time as the API takes it; false: it is none. */
static bool since_write(const char *text, char *to, size_t size)
{
	struct timespec now;
	char when[32];
	time_t seconds;
	struct tm tm;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!value_instant(text, now.tv_sec * NSEC_PER_SEC + now.tv_nsec, &ns))
		return false;
	seconds = (time_t)(MAX(ns, 0) / NSEC_PER_SEC);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
	snprintf(to, size, "&since=%s.%09lldZ", when, (long long)(MAX(ns, 0) % NSEC_PER_SEC));
	return true;
}

int logs_main(struct args *a, struct err *e)
{
	struct reader r = { .times = arg_is_on(a, "timestamps"), .json = a->json };
	const char *tail = arg_value(a, "tail"), *since = arg_value(a, "since");
	char query[128] = "";
	struct target t;
	uint32_t wanted = 0;
	size_t n;

	if (tail && strcmp(tail, "all")) {
		if (!value_u32(tail, &wanted))
			return args_wrong(a, e, "--tail '%s': must be a number of lines", tail);
		snprintf(query, sizeof(query), "&tail=%u", wanted);
	}
	n = strlen(query);
	if (since && !since_write(since, query + n, sizeof(query) - n))
		return args_wrong(a, e,
				  "--since '%s': must be a time such as 10m or "
				  "2026-01-31T12:00:00Z",
				  since);
	if (arg_is_on(a, "follow"))
		strcat(query, "&follow=1");
	return target_parse(a->words[0], &t, e) < 0 ? -1 : logs_show(&t, &r, query, e);
}

int start_attached(const char *cell, struct err *e)
{
	struct reader r = { .json = report_is_json() };
	struct json_doc d = { 0 };
	struct target t;
	int status;

	if (target_parse(cell, &t, e) < 0 ||
	    vivd_ask("POST", cell_path(t.cell, "/start").str, NULL, NULL, e) < 0 ||
	    logs_show(&t, &r, "&follow=1", e) < 0 ||
	    vivd_ask("GET", cell_path(t.cell, "/wait").str, NULL, &d, e) < 0)
		return -1;
	status = atoi(json_show(d.root, "exit_code"));
	json_free(&d);
	return status;
}
