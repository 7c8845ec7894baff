/* viv-journal print. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "journal/filter.h"
#include "journal/journal.h"
#include "journal/line.h"
#include "journal/processes.h"
#include "journal/verbs.h"

#define POLL_MS 100

struct printing {
	struct filter filter;
	struct processes processes;
	bool json, programs; /* programs: they are wanted */
};

static int filter_make(struct filter *f, const char *const *values, struct err *e)
{
	static int (*const takes[])(struct filter *, const char *,
				    struct err *) = { filter_kinds, filter_path, filter_process,
						      filter_since, filter_until };

	filter_init(f);
	for (unsigned i = 0; i < ARRAY_LEN(takes); i++)
		if (values[i] && takes[i](f, values[i], e) < 0)
			return -1;
	return 0;
}

static void entry_print(struct printing *p, const struct journal_entry *j)
{
	struct jtext program = { 0 };

	if (p->programs) {
		struct process *process = processes_follow(&p->processes, j);

		if (process && process->program)
			program = process->program->path;
	}
	if (!filter_takes(&p->filter, j, program))
		return;
	if (p->json)
		line_json(stdout, j, program);
	else
		line_print(stdout, j, program);
}

/* Nobody reads any more. */
static bool is_over(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return ferror(stdout) || (poll(&p, 1, POLL_MS) > 0 && p.revents & (POLLERR | POLLHUP));
}

static int print_all(struct printing *p, struct journal_reader *r, bool follow)
{
	struct journal_entry j;
	int status = 0, rc;
	struct err e, last = { 0 };

	for (;;) {
		rc = journal_reader_next(r, &j, &e);
		if (rc < 0) {
			/* Told again: nothing more comes. */
			if (last.kind && !strcmp(last.message, e.message))
				return status;
			fflush(stdout);
			status = report(&e);
			last = e;
		} else if (rc > 0) {
			if (j.seq > p->filter.last)
				return status;
			entry_print(p, &j);
			if (ferror(stdout))
				return status;
		} else if (!follow || fflush(stdout) || is_over()) {
			return status;
		}
	}
}

int verb_print(int argc, char **argv)
{
	const char *values[5] = { NULL };
	struct printing p = { 0 };
	bool follow = false;
	const struct word_opt opts[] = {
		{ "kind", &values[0], NULL },	 { "path", &values[1], NULL },
		{ "process", &values[2], NULL }, { "since", &values[3], NULL },
		{ "until", &values[4], NULL },	 { "follow", NULL, &follow },
		{ "json", NULL, &p.json }
	};
	struct journal_reader *r;
	struct err e;
	int dir, status, n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e);

	if (n < 0 || filter_make(&p.filter, values, &e) < 0)
		return report(&e);
	if (n != 1)
		return fail(ERR_USAGE, "one directory is needed");
	dir = journal_dir_open(argv[0], &e);
	if (dir < 0)
		return report(&e);
	/* What a process runs is known from the records before. */
	p.programs = true;
	if (journal_reader_new(dir, 1, &r, &e) < 0) {
		close(dir);
		return report(&e);
	}
	processes_init(&p.processes, NULL, NULL);
	status = print_all(&p, r, follow);
	processes_fini(&p.processes);
	journal_reader_free(r);
	close(dir);
	return status;
}
