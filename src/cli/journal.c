/* viv journal. Finds the journal that is meant, of a cell that runs or is gone, and runs
 * viv-journal on it, which has this process's streams. Listing and pruning are done here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/journaldir.h"
#include "cli/journalwords.h"
#include "cli/list.h"
#include "spec/values.h"
#include "store/store.h"

/* ---- viv-journal ---- */

int journal_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "print", a->words[0], &j, e) < 0)
		return -1;
	option_add(&w, a, "follow", false);
	option_add(&w, a, "kind", true);
	option_add(&w, a, "path", true);
	option_add(&w, a, "process", true);
	option_add(&w, a, "since", true);
	option_add(&w, a, "until", true);
	return words_run(&w, e);
}

int journal_verify_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "verify", a->words[0], &j, e) < 0)
		return -1;
	word_add(&w, "--cell");
	word_add(&w, j.id);
	option_add(&w, a, "deep", false);
	option_add(&w, a, "key", true);
	option_add(&w, a, "head", true);
	return words_run(&w, e);
}

int journal_head_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "head", a->words[0], &j, e) < 0)
		return -1;
	return words_run(&w, e);
}

int journal_prove_main(struct args *a, struct err *e)
{
	struct journal_place j;
	struct words w;

	if (words_begin(&w, a, "prove", a->words[0], &j, e) < 0)
		return -1;
	word_add(&w, a->words[1]);
	return words_run(&w, e);
}

int journal_key_main(struct args *a, struct err *e)
{
	struct store s;
	struct words w;
	int fd;

	if (store_open(&s, e) < 0)
		return -1;
	fd = store_dir(&s, "journals");
	store_close(&s);
	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot make the directory of journals: %s",
			       strerror(errno));
	close(fd);
	if (words_begin(&w, a, "key", NULL, NULL, e) < 0)
		return -1;
	option_add(&w, a, "rotate", false);
	return words_run(&w, e);
}

/* Needs nothing of this machine if the key is given. */
int journal_check_main(struct args *a, struct err *e)
{
	struct words w = { 0 };
	char path[4096];

	word_add(&w, "viv-journal");
	word_add(&w, "check");
	if (a->json)
		word_add(&w, "--json");
	option_add(&w, a, "key", true);
	if (!arg_value(a, "key")) {
		if (journal_path(NULL, path, sizeof(path), e) < 0)
			return -1;
		word_add(&w, "--journals");
		word_add(&w, path);
	}
	word_add(&w, "--");
	word_add(&w, a->words[0]);
	return words_run(&w, e);
}

/* ---- list ---- */

struct time_text {
	char str[40];
};

static struct time_text time_text(int64_t ns, bool iso)
{
	time_t s = (time_t)(ns / NSEC_PER_SEC);
	struct time_text t = { "-" };
	struct tm tm;

	if (ns && gmtime_r(&s, &tm))
		strftime(t.str, sizeof(t.str), iso ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &tm);
	return t;
}

static void place_json(const struct journal_place *j)
{
	printf("{\"id\":\"%s\"", j->id);
	if (*j->name) {
		printf(",\"name\":");
		json_quoted(stdout, j->name);
	}
	if (*j->image) {
		printf(",\"image\":");
		json_quoted(stdout, j->image);
	}
	if (j->created)
		printf(",\"created\":\"%s\"", time_text(j->created, true).str);
	if (j->ended)
		printf(",\"ended\":\"%s\"", time_text(j->ended, true).str);
	printf(",\"running\":%s,\"size\":%llu,\"records\":%llu}\n", j->running ? "true" : "false",
	       (unsigned long long)j->size, (unsigned long long)j->records);
}

static void place_print(const struct journal_place *j)
{
	printf("%-12.12s  ", j->id);
	for (unsigned n = text_print(stdout, *j->name ? j->name : "-", 20); n < 20; n++)
		putchar(' ');
	printf("  %-16s  %-16s  %10llu  %9s\n", time_text(j->created, false).str,
	       j->running ? "running"
	       : j->ended ? time_text(j->ended, false).str
			  : "ended",
	       (unsigned long long)j->records, size_text(j->size).str);
}

int journal_ls_main(struct args *a, struct err *e)
{
	struct buf all = { 0 };

	if (journal_places(&all, e) < 0)
		return -1;
	if (!a->json && !arg_is_on(a, "quiet"))
		printf("%-12s  %-20s  %-16s  %-16s  %10s  %9s\n", "ID", "NAME", "CREATED", "ENDED",
		       "RECORDS", "SIZE");
	for (size_t i = 0; i < BUF_COUNT(&all, struct journal_place); i++) {
		const struct journal_place *j = BUF_ITEM(&all, struct journal_place, i);

		if (a->json)
			place_json(j);
		else if (arg_is_on(a, "quiet"))
			printf("%s\n", j->id);
		else
			place_print(j);
	}
	buf_free(&all);
	return 0;
}

/* ---- prune ---- */

struct limits {
	int64_t older; /* -1: any age */
	uint64_t larger; /* 0: any size */
	uint64_t keep; /* of all together; 0: no limit */
};

static int limits_take(const struct args *a, struct limits *l, struct err *e)
{
	const char *larger = arg_value(a, "larger-than"), *keep = arg_value(a, "keep");

	*l = (struct limits){ .older = -1 };
	if (arg_time(a, "older", &l->older, e) < 0)
		return -1;
	if (larger && !value_size(larger, &l->larger))
		return args_wrong(a, e, "--larger-than '%s': must be a size such as 500M", larger);
	if (keep && !value_size(keep, &l->keep))
		return args_wrong(a, e, "--keep '%s': must be a size such as 10G", keep);
	if (l->older < 0 && !l->larger && !l->keep)
		return args_wrong(a, e, "say which journals: --older, --larger-than or --keep");
	return 0;
}

/* Those to remove; running ones never are. */
static unsigned prune_choose(struct buf *all, const struct limits *l, struct buf *chosen)
{
	int64_t now = (int64_t)time(NULL) * NSEC_PER_SEC;
	uint64_t left = 0;
	size_t n = BUF_COUNT(all, struct journal_place);
	bool by_rule = l->older >= 0 || l->larger;

	/* From the newest to the oldest: what is behind the limit of all goes. */
	for (size_t i = 0; i < n; i++) {
		const struct journal_place *j = BUF_ITEM(all, struct journal_place, i);
		int64_t when = j->ended ? j->ended : j->created;
		bool goes = by_rule && (l->older < 0 || now - when > l->older) &&
			    (!l->larger || j->size > l->larger);

		goes |= l->keep && left + j->size > l->keep;
		if (j->running || !goes)
			left += j->size;
		else
			buf_add(chosen, j, sizeof(*j));
	}
	return (unsigned)BUF_COUNT(chosen, struct journal_place);
}

int journal_prune_main(struct args *a, struct err *e)
{
	struct buf all = { 0 }, chosen = { 0 };
	uint64_t freed = 0;
	struct limits l;
	unsigned n;
	int rc;

	if (limits_take(a, &l, e) < 0 || journal_places(&all, e) < 0)
		return -1;
	n = prune_choose(&all, &l, &chosen);
	for (unsigned i = 0; i < n && !a->json; i++)
		place_print(BUF_ITEM(&chosen, struct journal_place, i));
	if (!n && !a->json)
		printf("There is nothing to remove.\n");
	rc = n ? removal_is_agreed(a, "Remove these journals?", e) : 0;
	for (unsigned i = 0; i < n && rc > 0; i++) {
		const struct journal_place *j = BUF_ITEM(&chosen, struct journal_place, i);

		if (journal_remove(j, e) < 0) {
			rc = -1;
			break;
		}
		freed += j->size;
		if (a->json)
			place_json(j);
	}
	if (rc > 0 && !a->json)
		printf("%u journal%s removed, %s freed\n", n, n == 1 ? "" : "s",
		       size_text(freed).str);
	buf_free(&all);
	buf_free(&chosen);
	return rc < 0 ? -1 : 0;
}
