/* viv-journal print.
 *
 * vivd runs it for requests of the API: --page prints one object, {"records":[...],"next":SEQ},
 * where next is there if there is more than --limit; --after is the last record of the page
 * before; "damaged" says where a journal cannot be read. --sse prints server-sent events, whose id
 * is the record's number. --ping prints something at once and then now and then, so that proxies
 * and clients see that a stream lives. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "base/report.h"
#include "journal/filter.h"
#include "journal/journal.h"
#include "journal/line.h"
#include "journal/table.h"
#include "journal/verbs.h"

#define POLL_MS 100
#define PING_POLLS 150

struct printing {
	struct filter filter;
	struct processes processes;
	bool json;
	bool page, sse, ping;
	uint64_t after, limit, shown, last; /* limit 0: none; last: that was shown */
	bool more; /* there are more than limit */
	unsigned polls;
	struct err damage; /* of --page; kind 0: none */
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
	struct process *process = processes_follow(&p->processes, j);
	struct jtext program = { 0 };

	if (process && process->program)
		program = process->program->path;
	if (j->seq <= p->after || !filter_takes(&p->filter, j, program))
		return;
	if (p->limit && p->shown == p->limit) {
		p->more = true;
		return;
	}
	if (p->page && p->shown)
		putchar(',');
	if (p->sse)
		printf("id: %llu\ndata: ", (unsigned long long)j->seq);
	p->shown++;
	p->last = j->seq;
	if (p->json)
		line_json(stdout, j, program);
	else
		line_print(stdout, j, program);
	if (p->sse)
		putchar('\n');
}

/* Nobody reads any more. */
static bool is_over(struct printing *x)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	if (x->ping && x->polls++ % PING_POLLS == 0) {
		fputs(x->sse ? ": ping\n\n" : "\n", stdout);
		fflush(stdout);
	}
	return ferror(stdout) || (poll(&p, 1, POLL_MS) > 0 && p.revents & (POLLERR | POLLHUP));
}

static bool table_take(void *arg, const void *data, size_t n)
{
	struct printing *p = arg;

	return table_read(&p->processes, data, n, NULL, NULL);
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
			if (!p->page) {
				fflush(stdout);
				status = report(&e);
			}
			p->damage = last = e;
		} else if (rc > 0) {
			if (j.seq > p->filter.last)
				return status;
			entry_print(p, &j);
			if (ferror(stdout) || p->more)
				return status;
		} else if (!follow || fflush(stdout) || is_over(p)) {
			return status;
		}
	}
}

static void page_end(const struct printing *p)
{
	putchar(']');
	if (p->more)
		printf(",\"next\":\"%llu\"", (unsigned long long)p->last);
	if (p->damage.kind) {
		printf(",\"damaged\":");
		json_quoted(stdout, p->damage.message);
	}
	printf("}\n");
}

int verb_print(int argc, char **argv)
{
	const char *values[5] = { NULL }, *after = NULL, *limit = NULL;
	struct printing p = { 0 };
	bool follow = false;
	const struct word_opt opts[] = {
		{ "kind", &values[0], NULL },	 { "path", &values[1], NULL },
		{ "process", &values[2], NULL }, { "since", &values[3], NULL },
		{ "until", &values[4], NULL },	 { "follow", NULL, &follow },
		{ "json", NULL, &p.json },	 { "after", &after, NULL },
		{ "limit", &limit, NULL },	 { "page", NULL, &p.page },
		{ "sse", NULL, &p.sse },	 { "ping", NULL, &p.ping }
	};
	struct journal_reader *r;
	struct err e;
	int dir, status, n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e);

	if (n < 0 || filter_make(&p.filter, values, &e) < 0)
		return report(&e);
	if ((after && !number_parse(after, &p.after)) || (limit && !number_parse(limit, &p.limit)))
		return fail(ERR_USAGE, "--after and --limit are numbers");
	p.json |= p.page || p.sse;
	if (n != 1)
		return fail(ERR_USAGE, "one directory is needed");
	dir = journal_dir_open(argv[0], &e);
	if (dir < 0)
		return report(&e);
	if (journal_reader_new(dir, 1, &r, &e) < 0) {
		close(dir);
		return report(&e);
	}
	/* What a process runs is known from the records before, or from a table. */
	processes_init(&p.processes, NULL, NULL);
	journal_reader_seek(r, &(struct journal_seek){ .first = MAX(p.filter.first, p.after + 1),
						       .earliest = p.filter.earliest,
						       .latest = p.filter.latest,
						       .table = table_take,
						       .arg = &p });
	if (p.page)
		printf("{\"records\":[");
	status = print_all(&p, r, follow);
	if (p.page)
		page_end(&p);
	processes_fini(&p.processes);
	journal_reader_free(r);
	close(dir);
	return status;
}
